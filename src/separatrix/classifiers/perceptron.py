"""The perceptron, as the lectures have it. TEXTBOOK P1–P8, P11–P14, D1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length

from separatrix.arrays import Array
from separatrix.certificate import Recomputed
from separatrix.claims.separation import NO_BOUND, SeparationClaim, targets
from separatrix.classifiers.given import (
    Given,
    check_choice,
    check_count,
    check_flag,
    check_positive,
    column_names,
    given,
    rows_to_fit,
    seed_of,
)
from separatrix.classifiers.linear import ClassifierTraits
from separatrix.classifiers.separating import Facts, Search, SeparatingClassifier
from separatrix.errors import ParameterError
from separatrix.labels import encode, known_codes
from separatrix.novikoff import Theorem, theorem
from separatrix.objective import Objective
from separatrix.proofs.verdicts import Separable
from separatrix.solvers import State, Status, run
from separatrix.solvers.perceptron import UPDATES
from separatrix.solvers.separating import AllCorrect, OutOfSteps, ProvenInseparable, pose_each
from separatrix.solvers.stopping import Rule
from separatrix.watching import part

# More mistakes than these take hours.
WITHIN_REACH = 1e10


class Perceptron(SeparatingClassifier):
    r"""w ← w + η t_i x̄_i for rows on the wrong side, until there are none; x̄ = (1, x). TEXTBOOK P1–P8.

    On separable rows it ends after at most R²‖w*‖²/γ² mistakes (``novikoff_bound``). On others it never would; then
    rows that prove it are looked for, and named in the certificate's status. The answer depends on the start and on the
    order of rows, not on their number beyond the mistakes. Columns are used as they are.

    More than two classes: one perceptron a class, against the rest. It takes no sample_weight; for rows that count
    more than others take ``LogisticRegression``.

    Parameters
    ----------
    update : "online", "batch" or "worst", default "online"
        Each mistake in turn, circling through the rows; all mistakes at once; the row with the smallest margin.
    zero : "mistake" or "positive", default "mistake"
        A mistake is t z ≤ 0 (lectures 000, 004), or f(z) ≠ t with f(0) = +1 (001, 003).
    pocket : bool, default False
        Answer with the weights that made the fewest mistakes on all rows among all that were passed through. Online
        this looks at every update's weights, at up to a pass each.
    eta0 : float, default 1.0
        The learning rate η; from a start at zero it only rescales w.
    max_iter : int, default 1000
        Steps: epochs for "online", updates for the others.
    shuffle : bool, default False
        Walk in a new random order in each epoch; for "online".
    start : "zero" or array (K or 1, n_features + 1), default "zero"
        Intercepts in column 0.
    fit_intercept : bool, default True
    random_state : int, RandomState or None
        For ``shuffle``.
    warm_start : bool, default False
        Start from the last fit's weights where the classes and columns are the same.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    mistakes_ : int
        Updates made, over all classes.
    certificate_, trace_ : the evidence, and every step's E_p; for "online" without a pocket as the epoch met the rows,
        but for the last, which is of the weights that are returned

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> X, y = [[1], [2], [3], [4], [5], [6], [7], [8]], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> model = Perceptron().fit(X, y)
    >>> model.intercept_.tolist(), model.coef_.tolist(), model.mistakes_
    ([-23.0], [[5.0]], 87)

    Row by row, as on the blackboard: t x̄ is added for a mistake, nothing for a row on its own side.

    >>> step = Perceptron()
    >>> for x, label in zip(X[2:6], y[2:6]):
    ...     step = step.partial_fit([x], [label], classes=[0, 1])
    ...     print(x, label, step.intercept_.tolist(), step.coef_[0].tolist(), step.mistakes_)
    [3] 0 [-1.0] [-3.0] 1
    [4] 0 [-1.0] [-3.0] 1
    [5] 1 [0.0] [2.0] 2
    [6] 1 [0.0] [2.0] 2
    """

    # What it finds depends on the order of rows, and it takes no weights.
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(order_free=False, repeatable=False)

    def __init__(
        self,
        update: str = "online",
        *,
        zero: str = "mistake",
        pocket: bool = False,
        eta0: float = 1.0,
        max_iter: int = 1000,
        shuffle: bool = False,
        start: Any = "zero",
        fit_intercept: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.update = update
        self.zero = zero
        self.pocket = pocket
        self.eta0 = eta0
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.start = start
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X (n, d), dense or sparse, with any labels y (n,)."""
        solver = self._solver()
        task = given(self, X, y)
        starts = self._starts(task)
        searches, facts = [], dict[str, str | float | int]()
        every = targets(task.codes, task.n_classes)
        for k, problem in enumerate(pose_each(task.X, every, bool(self.fit_intercept), task.names)):
            proof = ProvenInseparable(solver.zero)
            counts = "best_errors" if self.pocket else "errors"
            advice = partial(_advice, start=starts[k], eta=float(self.eta0), by_rows=self.update != "batch")
            rules: list[Rule] = [AllCorrect(), proof, OutOfSteps(self.max_iter, proof, counts, advice)]
            with part("class", k + 1, len(every)):
                outcome = run(solver, problem, starts[k : k + 1], rules, 0.0)
            state = outcome.state
            searches.append(Search(state.W, outcome.status, state, outcome.trace, problem, proof.verdict))
            if task.n_classes == 2:
                facts |= self._theorem_facts(searches[0], starts, proof)
        self.mistakes_ = sum(search.state.memory["mistakes"] for search in searches)
        self.walking_: Array | None = None
        self._keep(task, searches, f"{solver.name}: asked for", facts)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """One step over these rows (an epoch for "online"), from the weights so far.

        ``classes``: all labels there will be; needed in the first call unless y has them all.
        """
        solver = self._solver()
        first = not hasattr(self, "scorer_")
        X = rows_to_fit(self, X, reset=first)
        check_consistent_length(X, y)
        known = encode(y if classes is None else classes)[0] if first else self.classes_
        if len(known) < 2:
            raise ParameterError(
                "classes", f"there is one class only, {known.tolist()[0]!r}", "give all of at least two"
            )
        task = Given(X, known_codes(y, known), known, np.ones(X.shape[0]), column_names(self))
        walking = getattr(self, "walking_", None)  # a pocket answers with its best weights, and walks on with others
        starts = self._starts(task) if first else self._without(self.scorer_.W if walking is None else walking)
        done = 0 if first else self.n_iter_
        every = targets(task.codes, task.n_classes)
        problems = enumerate(pose_each(task.X, every, bool(self.fit_intercept), task.names))
        walked, searches = zip(
            *[self._one_step(solver, problem, starts[k : k + 1], done) for k, problem in problems], strict=True
        )
        self.walking_ = np.vstack(walked)
        self.mistakes_ = (0 if first else self.mistakes_) + sum(s.state.memory["mistakes"] for s in searches)
        self._keep(task, searches, f"{solver.name}: asked for, step by step", {}, asked_to_end=False)
        self.n_iter_ = done + 1
        return self

    def _without(self, W: Array) -> Array:
        """W, without an intercept where none is fitted."""
        W = W.copy()
        W[:, 0] *= bool(self.fit_intercept)
        return W

    def _one_step(self, solver: Any, problem: Objective, start: Array, done: int) -> tuple[Array, Search]:
        state: State = solver.init(problem, start.copy())
        state = solver.step(problem, replace(state, memory={**state.memory, "epoch": done}))
        walked, state = state.W, solver.solution(problem, state)
        wrong = state.memory["errors"]
        status = Status("max_iter", f"one more step over {problem.rows.n_rows} rows leaves {wrong} wrong", wrong == 0)
        return walked, Search(state.W, status, state, (), problem)

    def _solver(self) -> Any:
        check_choice("update", self.update, UPDATES)
        check_choice("zero", self.zero, ("mistake", "positive"))
        for flag in ("pocket", "shuffle", "fit_intercept", "warm_start"):
            check_flag(flag, getattr(self, flag))
        check_positive("eta0", self.eta0)
        check_count("max_iter", self.max_iter)
        kind: Any = UPDATES[self.update]
        settings = {"eta": float(self.eta0), "zero": self.zero, "pocket": bool(self.pocket)}
        settings |= {"shuffle": bool(self.shuffle), "seed": seed_of(self.random_state)}
        settings |= {"survey_from": 0 if self.pocket else int(self.max_iter)}  # a pocket compares what it surveys
        known = {field.name for field in fields(kind)}
        return kind(**{name: value for name, value in settings.items() if name in known})

    def _starts(self, task: Given) -> Array:
        """The start in raw units, (K or 1, d + 1)."""
        shape = (1 if task.n_classes == 2 else task.n_classes, task.X.shape[1] + 1)
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
            do = f"give 'zero' or finite weights of shape {shape}, intercepts first"
            raise ParameterError("start", f"got {self.start!r}", do)
        return self._without(W)

    def _theorem_facts(self, search: Search, starts: Array, proof: ProvenInseparable) -> Facts:
        """The theorem's bounds by the separator that is known: these weights, or the proof's.

        The theorem is about one row an update, so it says nothing of a batch.
        """
        if self.update == "batch":
            return {}
        if search.state.memory["errors"] == 0 and search.state.memory["smallest"] > 0:
            separator, whose = search.W[0], "these weights"
        elif isinstance(proof.verdict, Separable):
            separator, whose = proof.verdict.v, "a separator known from a linear program"
        else:
            return {}
        try:
            found: Theorem = theorem(search.problem, separator, starts[0], float(self.eta0))
        except (OverflowError, ZeroDivisionError):  # rows or rates at the ends of float64
            return {}
        sentence = (
            f"at most {found.bound:.4g} mistakes from w = 0, {found.bound_from_start:.4g} from this start "
            f"(R = {found.R:.4g}, γ/‖w*‖ = {found.gamma / found.length:.4g}, w*: {whose})"
        )
        return {"theorem": sentence}

    def _keep(self, task: Given, searches: Sequence[Search], why: str, facts: Facts, asked_to_end: bool = True) -> None:
        self._keep_searches(task, searches)
        values = [search.state.at for search in searches]
        at = Recomputed(
            sum(value.value for value in values),
            0.0,
            NO_BOUND,
            float(np.linalg.norm([np.linalg.norm(value.gradient) for value in values])),
        )
        claim = SeparationClaim(self.scorer_, bool(self.fit_intercept), self.zero)  # type: ignore[arg-type]
        wrong = sum(search.state.memory["errors"] for search in searches)
        facts = {"mistakes": self.mistakes_, "wrong": wrong, "margin": _margin(searches), **facts}
        self._certify(task, searches, claim, at, why, facts, asked_to_end)


def _advice(problem: Objective, verdict: Separable, start: Array, eta: float, by_rows: bool) -> str:
    """What to do about separable rows that it did not separate in time: by the most mistakes the theorem allows."""
    if not by_rows:
        return "the rows are separable: raise max_iter, or take single rows (update='online')"
    try:
        most = theorem(problem, verdict.v, start, eta).bound_from_start
    except (OverflowError, ZeroDivisionError):
        most = np.inf
    if most <= WITHIN_REACH:
        return f"the rows are separable, so it ends, after at most {most:.2g} mistakes: raise max_iter"
    return (
        f"the rows are separable, but the theorem allows it {most:.2g} mistakes before it ends: scale the columns, or "
        "take MaxMarginClassifier"
    )


def _margin(searches: Sequence[Search]) -> float:
    """The smallest signed distance of a row to its hyperplane."""
    lengths = [float(np.linalg.norm(search.W[0, 1:])) for search in searches]
    smallest = [search.state.memory["smallest"] for search in searches]
    return min(m / length if length > 0 else 0.0 for m, length in zip(smallest, lengths, strict=True))
