"""One search of the perceptron: its rules for stopping, rows set aside for that, and the mean of a further walk."""

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
from separatrix.solvers.separating.memory import PerceptronMemory
from separatrix.solvers.separating.mistakes import evaluation, survey
from separatrix.solvers.separating.rules import (
    AllCorrect,
    NoImprovement,
    OutOfSteps,
    ProvenInseparable,
    build_separation_objective,
)
from separatrix.solvers.stopping import Record, Rule
from separatrix.textbook.novikoff import theorem

# More mistakes than these take hours.
WITHIN_REACH = 1e10
# Epochs in random order whose mean answers where the walk did not separate the rows: with 20 instead, the accuracy on
# iris in 5-fold cross-validation is 0.80 and not 0.83; with more it does not rise.
MEAN_EPOCHS = 100


@dataclass(frozen=True)
class Plan:
    """How to search: the solver, when to stop, and what to answer with.

    ``mean_after``: where the walk leaves mistakes, answer with the mean of a further walk in random order. ``aside``:
    row numbers that are set aside, and stop the search when they are no longer predicted better.
    """

    solver: Any
    max_iter: int
    tol: float | None = None
    patience: int = 5
    mean_after: bool = False
    aside: Integers | None = None
    by_rows: bool = True

    def search(self, problem: Objective, start: Array) -> Search[PerceptronMemory]:
        """Run the solver from ``start``, (1, d + 1), over the problem's rows."""
        if self.aside is not None:
            return self._until_no_better(problem, start)
        solver = self.solver
        # A separator is not all that these look for, so a proof that there is none does not end them.
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
        if self.mean_after and outcome.state.memory.errors:
            return self._with_mean(found)
        if solver.average:
            return replace(found, status=_told_of_mean(found.status, found.state, "its walk"))
        return found

    def _no_improvement(self) -> list[Rule[PerceptronMemory]]:
        if self.tol is None:
            return []
        measure, what = (_share_wrong, "the share of mistakes") if self.solver.pocket else (_cost, "the mean cost")
        return [NoImprovement(self.tol, self.patience, measure, what)]

    def _with_mean(self, found: Search[PerceptronMemory]) -> Search[PerceptronMemory]:
        """The same search, answered with the mean of the weights along a further walk in random order."""
        epochs = min(MEAN_EPOCHS, self.max_iter)
        walker = replace(self.solver, shuffle=True, average=True, survey_from=epochs + 1)
        problem = found.problem
        with one_blas_thread:
            state: State[PerceptronMemory] = walker.init(problem, found.W)
            for epoch in range(epochs):
                with part("epoch", epoch + 1, epochs, "for the mean of the weights"):
                    state = walker.step(problem, state)
            state = walker.solution(problem, state)
        if not (np.all(np.isfinite(state.W)) and np.isfinite(state.at.value)):  # rows at the ends of float64
            return found
        memory = state.memory._replace(mistakes=found.state.memory.mistakes)
        state = replace(state, iteration=found.state.iteration, memory=memory)
        more = f"{epochs} more epoch{'' if epochs == 1 else 's'} in random order"
        return replace(found, W=state.W, state=state, status=_told_of_mean(found.status, state, more))

    def _until_no_better(self, problem: Objective, start: Array) -> Search[PerceptronMemory]:
        """Train without the rows set aside; answer with the weights that get most of those right."""
        rows, aside = problem.rows.resident(), self.aside
        assert rows is not None  # posed in memory
        assert aside is not None
        kept = np.setdiff1d(np.arange(rows.n_rows), aside)
        own = build_separation_objective(
            memory_rows(rows.X[kept], rows.t[kept], weight=rows.weight[kept]), problem.fit_intercept
        )
        judge = _Aside(self.solver, rows.X[aside], rows.t[aside])
        what = f"the share of mistakes among the {len(aside)} rows set aside"
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
    """So many steps have been made, and the rows set aside have not ended the search."""

    max_iter: int

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        if state.iteration < self.max_iter:
            return None
        sentence = Message(
            "stopped at ",
            Setting("max_iter", self.max_iter),
            " while rows set aside were still predicted better: raise ",
            Parameter("max_iter"),
            ", or lower n_iter_no_change",
        )
        return Status("max_iter", sentence, False)


@dataclass
class _Aside:
    """The share of rows set aside that a state's weights get wrong; remembers the best weights."""

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


def _share_wrong(problem: Objective, state: State[PerceptronMemory]) -> float:
    return state.memory.best_errors / problem.total_weight


def _cost(problem: Objective, state: State) -> float:
    """As an epoch met the rows where it walks over them; else of the weights themselves."""
    return state.at.value if state.met is None else state.met


def _told_of_mean(status: Status, state: State[PerceptronMemory], along: str) -> Status:
    wrong = state.memory.errors
    left = f"which leaves {wrong} row{'' if wrong == 1 else 's'} wrong"
    mean = f"; the answer is the mean of the weights over {along}, {left}"
    return replace(status, sentence=Message(status.sentence, mean))


def rows_aside(codes: Integers, n_classes: int, fraction: float, seed: int) -> Integers:
    """About ``fraction`` of the rows of every class, by the seed; each class keeps a row to train on.

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
        came = f"{fraction:g} of {len(codes)} rows leaves none to judge by"
        raise ParameterError("validation_fraction", came, "raise it, or leave early_stopping out")
    return found


def _advice(problem: Objective, verdict: Separable, start: Array, eta: float, by_rows: bool) -> str:
    """What to do about separable rows that it did not separate in time: by the most mistakes the theorem allows."""
    if not by_rows:
        return Message(
            "the rows are separable: raise ",
            Parameter("max_iter"),
            ", or take single rows (",
            Setting("update", "online"),
            ")",
        )
    try:
        most = theorem(problem, verdict.v, start, eta).bound_from_start
    except (OverflowError, ZeroDivisionError):
        most = np.inf
    if most <= WITHIN_REACH:
        ends = f"the rows are separable, so the search ends after at most {most:.2g} mistakes: raise "
        return Message(ends, Parameter("max_iter"))
    return Message(
        f"the rows are separable, but the theorem allows {most:.2g} mistakes before the search ends: scale the "
        "columns, or use ",
        Classifier("MaxMarginClassifier"),
    )
