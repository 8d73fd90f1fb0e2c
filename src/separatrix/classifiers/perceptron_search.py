"""One run of the perceptron: stopping rules, early stopping on validation rows, and averaging of the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import ParameterError
from separatrix.base.messages import Classifier, Message, Parameter, Setting
from separatrix.base.watching import part
from separatrix.classifiers.separator import Search
from separatrix.losses.margin import ZeroOne
from separatrix.objectives.bound import Bound
from separatrix.objectives.problem import Objective
from separatrix.proofs.verdicts import Separable
from separatrix.rows import memory_rows
from separatrix.solvers import Run, State, Status, run
from separatrix.solvers.separating.epoch_walks import walked_together
from separatrix.solvers.separating.inseparability import ProvenInseparable
from separatrix.solvers.separating.mistakes import evaluation, survey
from separatrix.solvers.separating.rules import AllCorrect, NoImprovement, OutOfSteps
from separatrix.solvers.separating.search_memories import PerceptronMemory
from separatrix.solvers.separating.separation_objective import build_separation_objective
from separatrix.solvers.stopping import Record, Rule
from separatrix.textbook.novikoff import theorem

# With more updates than this, a run takes hours.
WITHIN_REACH = 1e10
# If the run did not separate the rows, the weights are averaged over at least this many epochs in random order, and
# over more epochs on small tables, until this many rows are visited. `python -m benchmarks.defaults` compares the
# accuracy by cross-validation with scikit-learn's; on columns of very different scales it grows with the epochs.
LEAST_MEAN_EPOCHS = 100
LEAST_MEAN_VISITS = 300_000
# Rows outside memory are read again in every epoch, so the weights are averaged over this many epochs only.
MEAN_EPOCHS_OUTSIDE_MEMORY = 10
# Consecutive epochs are computed in one call if they visit at most this many rows in all. A call takes about a
# millisecond, and a run can be stopped between two calls.
MOST_VISITS_AT_ONCE = 100_000


@dataclass(frozen=True)
class Plan:
    """The settings of a run: the solver, when to stop, and which weights to return.

    ``mean_after``: if the run ends with misclassified rows, return the mean of the weights over epochs in random order,
    from the same start. ``aside``: indices of validation rows for early stopping; they are not trained on. ``by_rows``:
    each update uses a single row, so that the convergence theorem bounds the number of updates.
    """

    solver: Any
    max_iter: int
    tol: float | None = None
    patience: int = 5
    mean_after: bool = False
    aside: Integers | None = None
    by_rows: bool = True

    def search(self, problem: Objective, start: Array) -> Search[PerceptronMemory]:
        """Run the solver on the problem's rows, starting from the weights ``start`` of shape (1, d + 1)."""
        if self.aside is not None:
            return self._until_no_better(problem, start)
        solver = self.solver
        # With a pocket, averaging or a penalty, the weights are useful even for inseparable rows, so a proof of
        # inseparability does not end the run.
        ends = not (solver.pocket or solver.average or solver.alpha > 0)
        proof = ProvenInseparable(solver.zero, ends)
        advice = partial(_advice, start=start[0], eta=solver.eta, by_rows=self.by_rows)
        out_of_steps = OutOfSteps(self.max_iter, proof, solver.pocket, advice)
        rules: list[Rule[PerceptronMemory]] = [AllCorrect(), proof, *self._no_improvement(), out_of_steps]
        outcome: Run[PerceptronMemory] = run(solver, problem, start, rules, 0.0)
        status, known = outcome.status, proof.known(problem)
        if known is not None and status.code != known.code:
            status = replace(status, sentence=Message(status.sentence, "; ", known.sentence))
        found = Search(outcome.state.W, status, outcome.state, outcome.trace, problem, proof.verdict)
        if solver.average and not self._needs_mean(found):
            return replace(found, status=_told_of_mean(found.status, found.state, "all epochs"))
        return found

    def _no_improvement(self) -> list[Rule[PerceptronMemory]]:
        if self.tol is None:
            return []
        measure, what = (_share_wrong, "the share of mistakes") if self.solver.pocket else (_cost, "the mean cost")
        return [NoImprovement(self.tol, self.patience, measure, what)]

    def _needs_mean(self, found: Search[PerceptronMemory]) -> bool:
        return self.mean_after and self.aside is None and found.state.memory.errors > 0

    def with_means(self, found: Sequence[Search[PerceptronMemory]], starts: Array) -> list[Search[PerceptronMemory]]:
        """The searches; where rows are misclassified, the weights are replaced by their mean over epochs.

        The epochs visit the rows in random order, from the same starts (K or 1, d + 1): the averaged perceptron. Freund
        and Schapire, Large margin classification using the perceptron algorithm, Machine Learning 37, 1999. The early
        weights are part of the mean, which keeps it from fitting the training rows too closely.
        """
        searches = list(found)
        averaged = [k for k, search in enumerate(searches) if self._needs_mean(search)]
        if not averaged:
            return searches
        problems = [searches[k].problem for k in averaged]
        rows, n_rows = problems[0].rows, problems[0].n_rows
        epochs = min(MEAN_EPOCHS_OUTSIDE_MEMORY if rows.resident() is None else mean_epochs(n_rows), self.max_iter)
        walker = replace(self.solver, shuffle=True, average=True, survey_from=epochs + 1)
        with one_blas_thread:
            states = [walker.init(searches[k].problem, starts[k : k + 1].copy()) for k in averaged]
            together = max(1, MOST_VISITS_AT_ONCE // max(1, n_rows))
            for epoch in range(0, epochs, together):
                with part("epoch", epoch + 1, epochs, "for the mean of the weights"):
                    states = walked_together(walker, problems, states, min(together, epochs - epoch))
            for k, problem, state in zip(averaged, problems, states, strict=True):
                searches[k] = _with_mean(searches[k], walker.solution(problem, state), epochs)
        return searches

    def _until_no_better(self, problem: Objective, start: Array) -> Search[PerceptronMemory]:
        """Train without the validation rows, and return the weights with the lowest error rate on these rows."""
        rows, aside = problem.rows.resident(), self.aside
        assert rows is not None  # the problem was built from rows in memory
        assert aside is not None
        kept = np.setdiff1d(np.arange(rows.n_rows), aside)
        own = build_separation_objective(
            memory_rows(rows.X[kept], rows.t[kept], weight=rows.weight[kept]), problem.fit_intercept
        )
        judge = _Aside(self.solver, rows.X[aside], rows.t[aside])
        what = f"the error rate on the {len(aside)} validation rows"
        stop = NoImprovement(0.0 if self.tol is None else self.tol, self.patience, judge, what)
        outcome: Run[PerceptronMemory] = run(self.solver, own, start, [stop, _StillBetter(self.max_iter)], 0.0)
        W = outcome.state.W if judge.W is None else judge.W
        with one_blas_thread:
            found = survey(problem, W, self.solver.zero)
        memory = outcome.state.memory.surveyed(found)
        state = replace(outcome.state, W=W, at=evaluation(problem, found), memory=memory)
        return Search(W, outcome.status, state, outcome.trace, problem)


@dataclass(frozen=True)
class _StillBetter:
    """A stopping rule: ``max_iter`` steps were made without early stopping."""

    max_iter: int

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        if state.iteration < self.max_iter:
            return None
        sentence = Message(
            "stopped at ",
            Setting("max_iter", self.max_iter),
            " while the error rate on the validation rows was still falling: raise ",
            Parameter("max_iter"),
            ", or lower n_iter_no_change",
        )
        return Status("max_iter", sentence, False)


@dataclass
class _Aside:
    """Computes the error rate of a state's weights on the validation rows, and stores the best weights so far."""

    solver: Any
    X: Any
    t: Array
    W: Array | None = None
    share: float = field(default=np.inf)

    def __call__(self, problem: Objective, state: State[PerceptronMemory]) -> float:
        W = self.solver.answer(state)
        z = np.asarray(self.X @ W[0, 1:] + W[0, 0])
        share = float(np.mean(ZeroOne(self.solver.zero).value(self.t, z)))
        if share < self.share:
            self.W, self.share = W, share
        return share


def mean_epochs(n_rows: int) -> int:
    """The number of epochs over which the weights are averaged if the rows are not separated.

    >>> mean_epochs(150), mean_epochs(569), mean_epochs(1_000_000)
    (2000, 528, 100)
    """
    return max(LEAST_MEAN_EPOCHS, -(-LEAST_MEAN_VISITS // max(1, n_rows)))


def _share_wrong(problem: Objective, state: State[PerceptronMemory]) -> float:
    return state.memory.best_errors / problem.total_weight


def _cost(problem: Objective, state: State) -> float:
    """The mean cost over the last epoch, each row at the time of its visit; for other updates, that of the weights."""
    return state.at.value if state.met is None else state.met


def _with_mean(
    found: Search[PerceptronMemory], state: State[PerceptronMemory], epochs: int
) -> Search[PerceptronMemory]:
    """The search with the weights of ``state``, which are their mean over the epochs, unless float64 overflowed."""
    if not (np.all(np.isfinite(state.W)) and np.isfinite(state.at.value)):
        return found
    memory = state.memory._replace(mistakes=found.state.memory.mistakes)
    state = replace(state, iteration=found.state.iteration, memory=memory)
    more = f"{epochs} epoch{'' if epochs == 1 else 's'} in random order"
    return replace(found, W=state.W, state=state, status=_told_of_mean(found.status, state, more))


def _told_of_mean(status: Status, state: State[PerceptronMemory], along: str) -> Status:
    wrong = state.memory.errors
    left = f"which misclassifies {wrong} row{'' if wrong == 1 else 's'}"
    mean = f"; the result is the mean of the weights over {along}, {left}"
    return replace(status, sentence=Message(status.sentence, mean))


def rows_aside(codes: Integers, n_classes: int, fraction: float, seed: int) -> Integers:
    """Draw about ``fraction`` of the rows of each class as validation rows. Each class keeps at least one training row.

    >>> codes = np.repeat([0, 1], [20, 10])
    >>> np.bincount(codes[rows_aside(codes, 2, 0.1, 0)]).tolist()
    [2, 1]
    """
    rng = np.random.default_rng(seed)
    chosen = []
    for k in range(n_classes):
        own = np.flatnonzero(codes == k)
        chosen.append(rng.permutation(own)[: min(round(fraction * len(own)), len(own) - 1)])
    found = np.sort(np.concatenate(chosen))
    if not len(found):
        problem = f"{fraction:g} of {len(codes)} rows gives no validation rows"
        raise ParameterError("validation_fraction", problem, "raise it, or use early_stopping=False")
    return found


def _advice(problem: Objective, verdict: Separable, start: Array, eta: float, by_rows: bool) -> str:
    """Advice if separable rows were not separated within ``max_iter``, based on Novikoff's bound."""
    if not by_rows:
        return Message(
            "the rows are separable: raise ",
            Parameter("max_iter"),
            ", or update after each row (",
            Setting("update", "online"),
            ")",
        )
    try:
        most = theorem(problem, verdict.v, start, eta).bound_from_start
    except (OverflowError, ZeroDivisionError):
        most = np.inf
    if most <= WITHIN_REACH:
        ends = f"the rows are separable, so the perceptron converges after at most {most:.2g} mistakes: raise "
        return Message(ends, Parameter("max_iter"))
    return Message(
        f"the rows are separable, but Novikoff's theorem allows {most:.2g} mistakes before convergence: scale the "
        "columns, or use ",
        Classifier("MaxMarginClassifier"),
    )
