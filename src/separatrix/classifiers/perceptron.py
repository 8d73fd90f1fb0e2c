"""The perceptron as defined in the lectures (docs/tour.md, P1–P8, P11–P14, D1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length

from separatrix.classifiers.base import ClassifierTraits
from separatrix.classifiers.description import SEARCHED, SEPARATION, Description
from separatrix.classifiers.fit_input import (
    FitInput,
    class_weights,
    column_names,
    refuse_steps_outside_memory,
    rows_to_fit,
    seed_of,
    validate,
)
from separatrix.classifiers.hyperplane_search import Facts, Search, SeparatingClassifier
from separatrix.classifiers.sklearn_settings import check_jobs, refuse_perceptron_settings, settings_of_work
from separatrix.core.base.arrays import Array, check_choice, check_count, check_flag, check_positive
from separatrix.core.base.codec import COUNT, Maybe, array
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import encode, known_codes
from separatrix.core.base.messages import Classifier, Message, Parameter, Setting
from separatrix.core.base.watching import part
from separatrix.core.certificate import Recomputed
from separatrix.core.novikoff import theorem
from separatrix.core.problem import Objective
from separatrix.core.proofs.verdicts import Separable
from separatrix.core.rows.labelled_table import MemoryTable
from separatrix.core.rows.protocol import Rows
from separatrix.core.rows.targets import Coding
from separatrix.core.rows.views import one_against_rest
from separatrix.core.separation_claims import NO_BOUND, SeparationClaim
from separatrix.core.solvers.driver import Run, run
from separatrix.core.solvers.perceptron_updates import UPDATES
from separatrix.core.solvers.separation_problem import (
    PerceptronMemory,
    build_separation_objectives,
    survey,
)
from separatrix.core.solvers.separation_stopping import INSEPARABLE, AllCorrect, OutOfSteps, ProvenInseparable
from separatrix.core.solvers.state import State
from separatrix.core.solvers.stopping import Status, Stopping

# What the warning offers where a proof ended the run.
_OPTIONS = (
    Setting("stop_on_proof", False),
    " goes on to ",
    Parameter("max_iter"),
    ", ",
    Setting("average", True),
    " returns the mean of the weights, ",
    Setting("pocket", True),
    " those with the fewest mistakes",
)

DESCRIPTION = Description(
    about="Rosenblatt's perceptron",
    claims={"separation": SEPARATION},
    fitted={**SEARCHED, "mistakes_": COUNT, "walking_": Maybe(array("scores", "1+d"))},
    traced=True,
)


class Perceptron(SeparatingClassifier):
    r"""w ← w + η t_i x̄_i for rows on the wrong side, until there are none; x̄ = (1, x) (docs/tour.md, P1–P8).

    On separable rows the updates end after at most R²‖w*‖²/γ² mistakes (``novikoff_bound``), with weights that separate
    the classes. On other rows they would never end. The fit then looks for rows that prove that no hyperplane separates
    the classes, and stops with the last weights; the certificate's status names these rows. The last weights depend on
    where the updates stopped. ``stop_on_proof=False`` goes on with the updates, ``average=True`` returns the mean of
    the weights, and ``pocket=True`` the best weights seen.

    The weights depend on the start and on the order of the rows. A row that is never misclassified causes no update.
    Columns are not scaled.

    Rows outside memory (``scan``) are visited in the order of the file, with the same updates as in memory. There
    ``shuffle`` mixes them within a buffer, and a pocket needs ``update="batch"`` or ``"worst"``.

    With more than two classes there is one perceptron for each class against the rest. There is no ``sample_weight``;
    to weight rows, use ``class_weight`` or ``LogisticRegression``.

    Parameters
    ----------
    update : "online", "batch" or "worst", default "online"
        Update after each misclassified row in turn ("online"), with all of them at once ("batch"), or with the row that
        has the smallest margin ("worst").
    stop_on_proof : bool, default True
        Whether a proof that the rows are not separable ends the run. If not, the updates go on until ``max_iter``, and
        the proof is part of the status. With a pocket or a mean they always do.
    average : bool, default False
        Return the mean of the weights after each row of the run (for "batch" and "worst", after each step), instead of
        the last weights. ``partial_fit`` gives the means of all calls the same weight.
    pocket : bool, default False
        Return the weights of the run with the fewest mistakes on all rows (the pocket algorithm). For "online", the
        mistakes are counted after every update, which takes up to one pass each time. ``partial_fit`` keeps the pocket
        between calls, and compares it with the new weights on the rows of the call.
    eta0 : float, default 1.0
        The learning rate η. From a start at zero it only rescales w.
    max_iter : int, default 1000
        The maximum number of steps. A step is an epoch for "online", and an update for the others.
    shuffle : bool, default False
        Visit the rows in a new random order in each epoch; for "online".
    start : "zero" or array (K or 1, n_features + 1), default "zero"
        The weights to start from. An array has the intercepts in column 0.
    fit_intercept : bool, default True
        Whether to learn an intercept.
    class_weight : None, "balanced" or dict, default None
        Multiplies η for the rows of a class: by the factor of its label, or by n/(K n_k). Mistakes and the cost count
        every row once.
    random_state : int, RandomState or None
        The seed for ``shuffle``.

    Other Parameters
    ----------------
    zero : "mistake" or "positive", default "mistake"
        A mistake is t z ≤ 0 (lectures 000, 004), or f(z) ≠ t with f(0) = +1 (001, 003).
    warm_start : bool, default False
        Start from the weights of the last fit if the classes and columns are the same.
    verbose : int, default 0
        Above 0, print a line for every step.
    n_jobs : int or None, default None
        The number of threads, −1 for all cores; None leaves it to ``separatrix.threads``. The fit is the same, bit by
        bit, for any number.
    penalty, tol, early_stopping : None, None and False
        scikit-learn's perceptron has a penalty, a tolerance and validation rows; no lecture has them. Values that ask
        for them are refused, but ``tol=0.001``, scikit-learn's default, is accepted and has no effect.
    alpha, l1_ratio, n_iter_no_change, validation_fraction : float, float, int and float
        They have no effect without the three above, as in scikit-learn.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    mistakes_ : int
        The number of updates over all classes.
    certificate_ : Certificate
        The evidence.
    trace_ : tuple of Record
        One record per step. ``value`` is the cost E_p/n of the weights after the step. For "online", ``met`` is the
        mean cost of the rows in the epoch, each computed just before the row is processed, and ``value`` is computed
        after every epoch on tables of up to 20 000 entries; on larger tables it is NaN except at the end.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> X, y = [[1], [2], [3], [4], [5], [6], [7], [8]], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> model = Perceptron().fit(X, y)
    >>> model.intercept_.tolist(), model.coef_.tolist(), model.mistakes_
    ([-23.0], [[5.0]], 87)

    Row by row, as on a blackboard: t x̄ is added for a mistake, and nothing for a row on the correct side.

    >>> step = Perceptron()
    >>> for x, label in zip(X[2:6], y[2:6]):
    ...     step = step.partial_fit([x], [label], classes=[0, 1])
    ...     print(x, label, step.intercept_.tolist(), step.coef_[0].tolist(), step.mistakes_)
    [3] 0 [-1.0] [-3.0] 1
    [4] 0 [-1.0] [-3.0] 1
    [5] 1 [0.0] [2.0] 2
    [6] 1 [0.0] [2.0] 2
    """

    # The weights after the last step, which differ from ``coef_`` if a pocket or a mean is returned.
    walking_: Array | None
    # Whether the first call of ``partial_fit`` was given all classes. If not, the weights of a class that has not
    # appeared yet, (2, d + 1): those that updates change, and those that would be returned.

    # The result depends on the order of the rows, and there are no row weights.
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(order_free=False, repeatable=False)

    def __init__(
        self,
        update: Literal["online", "batch", "worst"] = "online",
        *,
        zero: Literal["mistake", "positive"] = "mistake",
        stop_on_proof: bool = True,
        average: bool = False,
        pocket: bool = False,
        eta0: float = 1.0,
        max_iter: int = 1000,
        shuffle: bool = False,
        start: Any = "zero",
        fit_intercept: bool = True,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
        penalty: None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        tol: float | None = None,
        n_iter_no_change: int = 5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
    ) -> None:
        self.update = update
        self.zero = zero
        self.stop_on_proof = stop_on_proof
        self.average = average
        self.pocket = pocket
        self.eta0 = eta0
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.start = start
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on inseparable rows the last weights depend on where the run stopped
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to rows.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a ``scan``
            Rows. Those of a scan are read once in every step.
        y : array (n,)
            Class labels. A scan has its own.

        Returns
        -------
        self
        """
        solver = self._solver()
        task = validate(self, X, y)
        self._refuse_outside_memory(task)
        starts, every, searches = self._starts(task), self._rows(task), []
        with settings_of_work(self):
            for k, problem in enumerate(build_separation_objectives(every, bool(self.fit_intercept), task.names)):
                with part("class", k + 1, len(every)):
                    searches.append(self._search(solver, problem, starts[k : k + 1]))
        self.mistakes_ = sum(search.state.memory.mistakes for search in searches)
        self.walking_ = None
        facts = self._theorem_facts(searches[0], starts) if task.n_classes == 2 else {}
        self._keep(task, searches, facts)
        self._warn_if_unmet()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Make one step over these rows (an epoch for "online"), from the weights so far.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            Rows.
        y : array (n,)
            Class labels.
        classes : array, optional
            All labels that will occur; without it, those of the first call. Others are refused.

        Returns
        -------
        self
        """
        solver = self._solver()
        first = not hasattr(self, "scorer_")
        task = self._rows_of_step(X, y, classes, first)
        starts, answers, done = (self._starts(task), None, 0) if first else (*self._so_far(), self.n_iter_)
        every = self._rows(task)
        walked, searches = [], []
        with settings_of_work(self):
            problems = build_separation_objectives(every, bool(self.fit_intercept), task.names)
            for k, problem in enumerate(problems):
                answer = None if answers is None else answers[k : k + 1]
                last, search = self._one_step(solver, problem, starts[k : k + 1], answer, done)
                walked.append(last)
                searches.append(search)
        self.walking_ = np.vstack(walked)
        self.has_sample_weight_ = False
        self.mistakes_ = (0 if first else self.mistakes_) + sum(search.state.memory.mistakes for search in searches)
        self._keep(task, searches, {})
        self.n_iter_ = done + 1
        return self

    def _solver(self) -> Any:
        """The solver for the update rule, after a check of all settings."""
        check_choice("update", self.update, UPDATES)
        check_choice("zero", self.zero, ("mistake", "positive"))
        for name in ("stop_on_proof", "average", "pocket", "shuffle", "fit_intercept", "warm_start"):
            check_flag(name, getattr(self, name))
        check_positive("eta0", self.eta0)
        check_count("max_iter", self.max_iter)
        check_jobs("n_jobs", self.n_jobs)
        refuse_perceptron_settings(self)
        if self.average and self.pocket:
            raise ParameterError("average", "got True together with a pocket", "choose one of the two")
        settings: dict[str, Any] = {
            "eta": float(self.eta0),
            "zero": self.zero,
            "weighted": self.class_weight is not None,
        }
        settings |= {"pocket": bool(self.pocket), "average": bool(self.average)}
        if self.update == "online":
            settings |= {"shuffle": bool(self.shuffle), "seed": seed_of(self.random_state)}
            # The pocket compares weights by the mistakes on all rows, so these are counted from the first epoch on.
            settings["survey_from"] = 0 if self.pocket else int(self.max_iter)
        return UPDATES[self.update](**settings)

    def _refuse_outside_memory(self, task: FitInput) -> None:
        """Refuse a pocket that needs rows in memory, and weights, which the perceptron does not take."""
        if task.is_in_memory:
            return
        if self.pocket and self.update == "online":
            problem = "after each online update it counts the mistakes on all rows, and these are not in memory"
            raise ParameterError("pocket", problem, Message("use ", Setting("update", "batch", "worst")))
        totals = task.table.totals
        if not np.array_equal(totals.weight, totals.rows):
            remedy = ("leave them out, or use ", Parameter("class_weight"), " or ", Classifier("LogisticRegression"))
            raise ParameterError("weight", "the scan has weights, and the perceptron takes none", Message(*remedy))

    def _search(self, solver: Any, problem: Objective, start: Array) -> Search[PerceptronMemory]:
        """Run the solver on the problem's rows from ``start`` (1, d + 1), until separation, a proof or ``max_iter``."""
        # A mean or a pocket is useful for inseparable rows, too, so a proof does not end its run.
        proof = ProvenInseparable(solver.zero, ends=bool(self.stop_on_proof) and not (self.average or self.pocket))
        last = OutOfSteps(int(self.max_iter), proof, solver.pocket, partial(self._advice, start=start[0]))
        outcome: Run[PerceptronMemory] = run(solver, problem, start, Stopping([AllCorrect(), proof, last]))
        state, status, known = outcome.state, outcome.status, proof.known(problem)
        told: list[Any] = [status.sentence]
        if known is not None and status.code != known.code:
            told += ["; ", known.sentence]
        wrong = f"{state.memory.errors} row{'' if state.memory.errors == 1 else 's'}"
        if self.average:
            told.append(f"; the result is the mean of the weights over all steps, which misclassifies {wrong}")
        elif proof.ends and status.code == INSEPARABLE:
            options = _OPTIONS if state.iteration < self.max_iter else _OPTIONS[4:]  # else it cannot go on
            told += [f"; the result is the last weights, which misclassify {wrong} (", *options, ")"]
        status = replace(status, sentence=Message(*told))
        # An epoch that only confirms the weights has the number of the epoch before.
        trace = tuple({record.iteration: record for record in outcome.trace}.values())
        why = f"{solver.name}: the method of this classifier"
        return Search(state.W, status, state, trace, problem, solver.name, why, proof.verdict)

    def _advice(self, problem: Objective, verdict: Separable, start: Array) -> Message:
        """Advice if separable rows were not separated within ``max_iter``, based on Novikoff's bound."""
        if self.update == "batch":
            sooner = Setting("update", "online")
            return Message(
                "the rows are separable: raise ", Parameter("max_iter"), ", or update after each row (", sooner, ")"
            )
        try:
            most = theorem(problem, verdict.v, start, float(self.eta0)).bound_from_start
        except (OverflowError, ZeroDivisionError):
            most = np.inf
        if most <= 1e10:  # more updates take hours
            ends = f"the rows are separable, so the perceptron converges after at most {most:.2g} mistakes: raise "
            return Message(ends, Parameter("max_iter"))
        far = (
            f"the rows are separable, but Novikoff's theorem allows {most:.2g} mistakes before convergence: scale the "
        )
        return Message(far, "columns, or use ", Classifier("MaxMarginClassifier"))

    def _theorem_facts(self, search: Search[PerceptronMemory], starts: Array) -> Facts:
        """The bounds of Novikoff's theorem for a known separator: the fitted weights, or the proof of separability.

        The theorem is about unweighted updates by single rows. It does not apply to batch updates and class weights.
        """
        if self.update == "batch" or self.class_weight is not None:
            return {}
        if search.state.memory.errors == 0 and search.state.memory.known_survey.smallest > 0:
            separator, whose = search.W[0], "these weights"
        elif isinstance(search.verdict, Separable):
            separator, whose = search.verdict.v, "a separator known from a linear program"
        else:
            return {}
        try:
            found = theorem(search.problem, separator, starts[0], float(self.eta0))
        except (OverflowError, ZeroDivisionError):  # rows or learning rates near the limits of float64
            return {}
        sentence = (
            f"at most {found.bound:.4g} mistakes from w = 0, {found.bound_from_start:.4g} from this start "
            f"(R = {found.R:.4g}, γ/‖w*‖ = {found.gamma / found.length:.4g}, w*: {whose})"
        )
        return {"theorem": sentence}

    def _without(self, W: Array) -> Array:
        """W, without an intercept where none is fitted."""
        W = W.copy()
        W[:, 0] *= bool(self.fit_intercept)
        return W

    def _rows(self, task: FitInput) -> list[Rows]:
        """The rows of every problem, weighted by the class weights."""
        factors = None
        if self.class_weight is not None:
            factors = class_weights(self.class_weight, task.classes, task.table.totals.weight)
        return one_against_rest(task.table.rows(Coding(task.n_classes == 2, factors)), task.n_classes)

    def _starts(self, task: FitInput) -> Array:
        """The start in raw units, (K or 1, d + 1)."""
        shape = (1 if task.n_classes == 2 else task.n_classes, task.n_features + 1)
        before = task.before if self.warm_start else None
        if before is not None and before.W.shape == shape and before.classes.tolist() == task.classes.tolist():
            return self._without(before.W)
        if isinstance(self.start, str) and self.start == "zero":
            return np.zeros(shape)
        try:
            W = np.array(self.start, dtype=np.float64)
        except (TypeError, ValueError):
            W = np.full(shape, np.nan)
        if W.shape != shape or not np.all(np.isfinite(W)):
            remedy = f"give 'zero' or finite weights of shape {shape}, intercepts first"
            raise ParameterError("start", f"got {self.start!r}", remedy)
        return self._without(W)

    def _rows_of_step(self, X: Any, y: Any, classes: Any, first: bool) -> FitInput:
        """The checked rows of one call of ``partial_fit``, with the classes of the first call."""
        refuse_steps_outside_memory(X=X, y=y, classes=classes)
        X = rows_to_fit(self, X, reset=first)
        check_consistent_length(X, y)
        known = encode(y if classes is None else classes)[0] if first else self.classes_
        if len(known) < 2:
            problem = f"there is one class only, {known.tolist()[0]!r}"
            raise ParameterError("classes", problem, "give all of at least two")
        if isinstance(self.class_weight, str):
            problem = f"got {self.class_weight!r}, which needs all rows at once"
            raise ParameterError("class_weight", problem, "give partial_fit a factor for each label")
        table = MemoryTable(X, known_codes(y, known), np.ones(X.shape[0]), len(known))
        return FitInput(table, known, column_names(self))

    def _so_far(self) -> tuple[Array, Array]:
        """The weights to start from and those that were returned, (K or 1, d + 1) each."""
        answer: Array = self.scorer_.W
        walking = getattr(self, "walking_", None)
        return self._without(answer if walking is None else walking), answer

    def _one_step(
        self, solver: Any, problem: Objective, start: Array, answer: Array | None, done: int
    ) -> tuple[Array, Search[PerceptronMemory]]:
        """One step from ``start``; ``answer``: the weights returned so far, from a pocket or a mean."""
        state: State[PerceptronMemory] = solver.init(problem, start.copy())
        memory = state.memory._replace(epoch=done)
        if solver.pocket and answer is not None:
            memory = memory._replace(best_W=answer, best_errors=survey(problem, answer, solver.zero).errors)
        if solver.average and answer is not None:  # earlier steps count as if each had had as many rows as this one
            seen = done * problem.n_rows if self.update == "online" else done
            memory = memory._replace(seen=seen, u=seen * (start - answer)[0])
        state = solver.step(problem, replace(state, memory=memory))
        walked, state = state.W, solver.solution(problem, state)
        wrong = state.memory.errors
        status = Status("max_iter", f"one more step over {problem.n_rows} rows leaves {wrong} wrong", wrong == 0)
        why = f"{solver.name}: the method of this classifier, one step per call"
        return walked, Search(state.W, status, state, (), problem, solver.name, why)

    def _keep(self, task: FitInput, searches: Sequence[Search[PerceptronMemory]], facts: Facts) -> None:
        self._keep_searches(task, searches)
        values = [search.state.at for search in searches]
        slope = float(np.linalg.norm([np.linalg.norm(value.gradient) for value in values]))
        at = Recomputed(sum(value.value for value in values), 0.0, NO_BOUND, slope)
        claim = SeparationClaim(self.scorer_, bool(self.fit_intercept), self.zero)
        wrong = sum(search.state.memory.errors for search in searches)
        facts = {"mistakes": self.mistakes_, "wrong": wrong, "margin": _margin(searches), **facts}
        self._certify(task, searches, claim, at, facts)


def _margin(searches: Sequence[Search[PerceptronMemory]]) -> float:
    """The smallest signed distance of a row to its hyperplane."""
    lengths = [float(np.linalg.norm(search.W[0, 1:])) for search in searches]
    smallest = [search.state.memory.known_survey.smallest for search in searches]
    return min(m / length if length > 0 else 0.0 for m, length in zip(smallest, lengths, strict=True))
