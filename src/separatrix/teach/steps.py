"""``steps``: the updates of a fit as a sequence whose items are computed on demand.

All numbers are in the units of the columns. For a perceptron, the quantities of its convergence proofs come with their
bounds (docs/tour.md, P6, P12, P16).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

import numpy as np
from sklearn.base import clone

from separatrix.core.base.arrays import Array, check_count
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.messages import many
from separatrix.core.novikoff import Theorem, as_vector, theorem, widest_separator
from separatrix.core.proofs.verdicts import Separable, Verdict
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.frame import raw_weights
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.solvers.perceptron_updates import BatchUpdates, OnlineUpdates, WorstUpdates
from separatrix.core.solvers.state import State
from separatrix.teach.step_arithmetic import Step, Used, WholeSteps, last_estimator, method_of, mistaken, recorded_fit

# --- The updates of a fit

STEPS = InMemory("steps", "it follows the updates row by row")


class Steps(Sequence[Step]):
    """The updates of a fit: ``steps[k]`` has the weights after k updates. ``steps`` returns one.

    A step is computed when it is first requested, and the states before it are stored, so that going back is cheap.
    ``len(steps)``, ``steps[-1]`` and a loop compute all steps; the estimator's ``max_iter`` limits their number.

    Parameters
    ----------
    estimator, X, y, sample_weight, keep
        As for ``steps``.

    Attributes
    ----------
    model : estimator
        The fitted estimator. The last step has its weights.
    place : int
        The number k of the current step, which ``next`` and ``back`` change.
    known : int
        The number of the last step that has been computed.
    ended : bool
        Whether all steps have been computed, so that ``len`` costs nothing.

    Examples
    --------
    >>> import separatrix as sx
    >>> run = sx.steps(sx.Perceptron(), [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> run.next().row, run.next().row, run.back().row, run.known, run.ended
    (0, 2, 0, 2, False)
    >>> for after in list(run.proof())[:3]:
    ...     print(after)
    k = 0: w*·w = 0 ≥ 0, ‖w‖² = 0 ≤ 0, ‖w − αŵ‖² = 8381 ≤ 8381
    k = 1: w*·w = 3 ≥ 1, ‖w‖² = 2 ≤ 17, ‖w − αŵ‖² = 8281 ≤ 8364
    k = 2: w*·w = 4 ≥ 2, ‖w‖² = 4 ≤ 34, ‖w − αŵ‖² = 8249 ≤ 8347
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, keep: int) -> None:
        self._made_of = (estimator, X, y, sample_weight, keep)
        self.model = clone(estimator)
        self._runs = recorded_fit(self.model, X, y, sample_weight)
        self._methods = [method_of(run) for run in self._runs]
        self._theorems: dict[int, Theorem | None] = {}
        self._history = History(self._start(0), self._after, keep)
        self.place = 0

    @property
    def known(self) -> int:
        return self._history.known

    @property
    def ended(self) -> bool:
        return self._history.ended

    @property
    def now(self) -> Step:
        """The current step, which ``next`` and ``back`` change."""
        return self[self.place]

    def next(self) -> Step:
        """Go one step forward.

        Returns
        -------
        Step

        Raises
        ------
        IndexError
            At the end.
        """
        found = self[self.place + 1]
        self.place += 1
        return found

    def back(self) -> Step:
        """Go one step back.

        Returns
        -------
        Step

        Raises
        ------
        IndexError
            At the start.
        """
        if self.place == 0:
            raise IndexError("this is the start")
        self.place -= 1
        return self.now

    def theorem(self, part: int = 0) -> Theorem | None:
        """The convergence theorem for a run of the perceptron, by the separator of maximum margin.

        Parameters
        ----------
        part : int, default 0
            The number of the run, if there is one for each class.

        Returns
        -------
        Theorem or None
            None if the theorem does not apply: the classes are not known to be separable, or the updates do not add
            single, unweighted rows.
        """
        if part not in self._theorems:
            self._theorems[part] = self._proved(part)
        return self._theorems[part]

    def proof(self, separator: Any = None, part: int = 0) -> Iterator[ProofStep]:
        """Follow the quantities of the perceptron's convergence proofs, update by update, with their bounds.

        Parameters
        ----------
        separator : array (d + 1,), optional
            w* as (b, w), any separating hyperplane; by default the one of maximum margin for the rows (1, x).
        part : int, default 0
            The number of the run, if there is one for each class.

        Returns
        -------
        iterator of ProofStep
            After k = 0, 1, … updates, for any start and for online, batch and worst-example updates.

        Raises
        ------
        ParameterError
            If the run is not that of a perceptron without class weights, or the classes are not separable.
        """
        run = self._runs[part]
        refuse_other_updates(run.method)
        width = run.problem.shape[1]
        w_star = widest_separator(run.problem) if separator is None else as_vector("separator", separator, width)
        proved = theorem(run.problem, w_star, run.first.W[0], float(run.method.eta))
        steps = (step for step in self if step.part == part and step.kind != "answer")
        return followed(steps, proved, float(run.method.eta))

    def __len__(self) -> int:
        while not self.ended:
            self._history.at(self.known + 1)
        return self.known + 1

    @overload
    def __getitem__(self, k: int) -> Step: ...
    @overload
    def __getitem__(self, k: slice) -> list[Step]: ...
    def __getitem__(self, k: int | slice) -> Step | list[Step]:
        if isinstance(k, slice):
            return [self._step(place) for place in range(*k.indices(len(self)))]
        return self._step(k if k >= 0 else len(self) + k)

    def __iter__(self) -> Iterator[Step]:
        place = 0
        while (moment := self._history.at(place)) is not None:
            yield self._read(moment)
            place += 1

    def __repr__(self) -> str:
        far = f"{many(self.known, 'update')}{'' if self.ended else ' so far'}"
        return f"<Steps of {type(last_estimator(self.model)).__name__}: {far}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickling fits the estimator again; the current step stays the same."""
        return Steps, self._made_of, {"place": self.place}

    def _step(self, place: int) -> Step:
        moment = self._history.at(place) if place >= 0 else None
        if moment is None:
            raise IndexError(f"there are steps 0 to {len(self) - 1}, and no step {place}")
        return self._read(moment)

    def _read(self, moment: Moment) -> Step:
        method, certificate = self._methods[moment.part], last_estimator(self.model).certificate_
        return read(method, moment, self._answer(moment.part), self._bound(moment), str(certificate.status))

    def _bound(self, moment: Moment) -> float | None:
        """What is proven at a moment; at the fitted weights, what the certificate says."""
        method, certificate = self._methods[moment.part], last_estimator(self.model).certificate_
        if method.by_rows:
            found = self.theorem(moment.part)
            return None if found is None else found.bound_from_start
        if method.bound_name == "gap" and len(self._runs) == 1 and (moment.kind == "answer" or self._is_fitted(moment)):
            known: float | None = certificate.bound
            return known
        return method.bound(moment.state)

    def _start(self, part: int) -> Moment:
        first = self._runs[part].first
        return Moment(part, 0, "start", first, first)

    def _after(self, moment: Moment) -> Moment | None:
        """The next moment: the next update, the answer of the run, or the start of the next run."""
        part, state = moment.part, moment.state
        if moment.kind != "answer":
            following = self._methods[part].next(state)
            if following is not None:
                return Moment(part, moment.number + 1, "update", state, following)
            if not self._is_fitted(moment):
                return Moment(part, moment.number, "answer", state, state)
        return self._start(part + 1) if part + 1 < len(self._runs) else None

    def _is_fitted(self, moment: Moment) -> bool:
        """Whether the weights at a moment are the fitted ones."""
        W = raw_weights(self._runs[moment.part].problem.rows.frame, moment.state.W)
        return np.array_equal(W, self._answer(moment.part))

    def _answer(self, part: int) -> Array:
        """The fitted weights that a run has found, (K or 1, d + 1)."""
        fitted = last_estimator(self.model)
        W = np.column_stack([fitted.intercept_, fitted.coef_])
        return W if len(self._runs) == 1 else W[part : part + 1]

    def _proved(self, part: int) -> Theorem | None:
        method, run = self._methods[part], self._runs[part]
        if not method.by_rows:
            return None
        if run.last.memory.errors and not isinstance(self._verdict(part), Separable):
            return None
        try:
            separator = widest_separator(run.problem)
        except ParameterError:  # with a score of zero on the right side, rows may touch
            return None
        return theorem(run.problem, separator, run.first.W[0], float(run.method.eta))

    def _verdict(self, part: int) -> Verdict | None:
        """What the fit has proven about the separability of a part's classes; None if nothing."""
        fitted = last_estimator(self.model)
        if hasattr(fitted, "estimators_"):  # a scheme: each of its models has made one run
            fitted, part = fitted.estimators_[part], 0
        verdict: Verdict | None = fitted.verdicts_[part]
        return verdict


@STEPS.refusing_tables
def steps(estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, keep: int = 1000) -> Steps:
    """Fit an estimator, and return every update of its solver, one by one.

    Parameters
    ----------
    estimator : estimator
        An estimator that is fitted by a solver: ``Perceptron``, ``KozinecClassifier``, ``MaxMarginClassifier``,
        ``LogisticRegression``, ``LinearSVC``, or a pipeline that ends with one. It is not changed; a copy is fitted.
    X : array (n, d), dense or sparse
        The rows.
    y : array (n,)
        The labels.
    sample_weight : array (n,), optional
        Weights of the rows, if the estimator takes them.
    keep : int, default 1000
        The maximum number of states to store. Steps that are no longer stored are computed again.

    Returns
    -------
    Steps
        A sequence of `Step`: ``steps[0]`` is the start, ``steps[k]`` the k-th update with the weights after it. The
        last step has the weights of the fitted estimator, ``steps.model``. If these are not the weights of the last
        update (a pocket, a mean, final Newton steps), the last step is an "answer". With one model for each class,
        the runs follow one another, each from its start.

    Raises
    ------
    ParameterError
        If the weights are computed in closed form, so that there are no steps.

    Notes
    -----
    For the online perceptron, each update is a step, while its ``max_iter`` counts epochs. For ``StochasticDescent``,
    each row or batch is a step, while ``max_iter`` counts epochs. For a pipeline, the columns are those that its last
    estimator receives.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[2.0, 1.0], [1.0, 3.0], [-1.0, -0.5], [0.5, -2.0]], [1, 1, 0, 0]
    >>> run = sx.steps(sx.Perceptron(), X, y)
    >>> print(run.next())
    Step 1: row 0, x = (2, 1), t = +1
      z = w·x + b = 0·2 + 0·1 + 0 = 0
      m = t z = (+1)·0 = 0: wrong
      w ← w + η t x = (0, 0) + 1·(+1)·(2, 1) = (2, 1)
      b ← b + η t = 0 + 1·(+1) = 1
      E_p = 0, 1 of 4 rows wrong; at most 5 mistakes
    >>> run.back().w.tolist(), len(run), run.model.mistakes_
    ([0.0, 0.0], 3, 2)
    >>> descent = sx.solvers.GradientDescent(eta=0.5)
    >>> walk = sx.steps(sx.LogisticRegression(solver=descent), X, y)
    >>> walk[1].w.tolist(), walk[1].b, round(walk[1].cost, 4)
    ([0.21875, 0.40625], 0.0, 0.3959)
    """
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise ParameterError("estimator", f"got {estimator!r}", "give an estimator, such as Perceptron()")
    check_count("keep", keep)
    return Steps(estimator, X, y, sample_weight, int(keep))


# --- From two states of a run to a step


class Moment(NamedTuple):
    """A place in the sequence of steps: the run, the number of its updates so far, and the states before and after.

    For an answer, both states are the last one of the run.
    """

    part: int
    number: int
    kind: Literal["start", "update", "answer"]
    before: State[Any]
    state: State[Any]


class _Row(NamedTuple):
    """A single row: x, t, its scores and margins before and after, and whether it was on the wrong side before."""

    x: Array | None = None
    t: Any = None
    z: Any = None
    m: float | None = None
    z_after: Any = None
    m_after: float | None = None
    mistake: bool | None = None


def read(method: WholeSteps, moment: Moment, answer: Array, bound: float | None, status: str) -> Step:
    """The step at a moment.

    Parameters
    ----------
    method : WholeSteps
        The method of the run.
    moment : Moment
        The place in the run.
    answer : array (K or 1, d + 1)
        The fitted weights.
    bound : float or None
        What is proven at this moment.
    status : str
        Why the fit ended, for an answer.

    Returns
    -------
    Step
    """
    problem, is_answer = method.problem, moment.kind == "answer"
    before = raw_weights(problem.rows.frame, moment.before.W)
    after = answer if is_answer else raw_weights(problem.rows.frame, moment.state.W)
    used = method.used(moment.before, moment.state) if moment.kind == "update" else Used(np.zeros(0, dtype=np.int64))
    added = after - before if used.added is None else used.added
    gradient = method.gradient(moment.before, used, added) if moment.kind == "update" else None
    block = method.block
    z = _scores(block, after)
    wrong = np.flatnonzero(mistaken(z, block.t, method.zero))
    cost = _cost_of_answer(method, moment.state, answer) if is_answer else method.cost(moment.state)
    margin = method.margin(moment.state)
    if margin is not None and is_answer:
        margin = float(np.min(block.t * z[:, 0]) / np.linalg.norm(answer[0, 1:]))
    w_gradient, b_gradient = (None, None) if gradient is None else _split(gradient)
    (w_before, b_before), (w, b), (w_added, b_added) = _split(before), _split(after), _split(added)
    return Step(
        number=moment.number,
        kind=moment.kind,
        method=method.run.method.name,
        part=moment.part,
        epoch=method.epoch(moment.state),
        rows=used.rows,
        **_row(block, used, before, z, method.zero)._asdict(),
        eta=used.eta,
        w_before=w_before,
        b_before=b_before,
        w=w,
        b=b,
        w_added=w_added,
        b_added=b_added,
        w_gradient=w_gradient,
        b_gradient=b_gradient,
        cost=cost,
        cost_before=method.cost(moment.before),
        cost_name=method.cost_name,
        wrong=len(wrong),
        wrong_rows=wrong,
        n_rows=block.n_rows,
        bound=bound,
        bound_name=method.bound_name,
        margin=margin,
        hull=used.hull,
        weighted=method.weighted,
        status=status if is_answer else "",
    )


def _scores(block: Block, W: Array) -> Array:
    """The scores of all rows under weights in the units of the columns, (n, K or 1)."""
    X: Any = block.X
    return np.asarray(X @ W[:, 1:].T) + W[:, 0]


def _row(block: Block, used: Used, before: Array, z_after: Array, zero: str) -> _Row:
    """The row that an update used, if it was a single one."""
    if used.rows is None or len(used.rows) != 1:
        return _Row()
    i = int(used.rows[0])
    X: Any = block.X
    x = np.asarray(X[[i]].toarray()[0] if is_sparse(X) else X[i], dtype=np.float64)
    z = before[:, 1:] @ x + before[:, 0]
    wrong = bool(mistaken(z[None, :], block.t[[i]], zero)[0])
    if len(z) > 1:
        return _Row(x, (np.arange(len(z)) == block.t[i]).astype(float), z, None, z_after[i], None, wrong)
    t, then = float(block.t[i]), float(z_after[i, 0])
    return _Row(x, t, float(z[0]), t * float(z[0]), then, t * then, wrong)


def _split(W: Array) -> tuple[Array, Any]:
    """(w, b): (d,) and a number for one score, (K, d) and (K,) for several."""
    return (W[0, 1:], float(W[0, 0])) if len(W) == 1 else (W[:, 1:], W[:, 0])


def _cost_of_answer(method: WholeSteps, last: State[Any], answer: Array) -> float:
    """The cost of the fitted weights; for hull methods, whose cost belongs to two points, that of the last state."""
    if method.bound_name == "margin":
        return method.cost(last)
    problem = method.problem
    at = problem.value_gradient(problem.rows.frame.from_original(answer))
    return method.cost(State(last.W, at))


# --- The quantities of the convergence proofs


class ProofStep(NamedTuple):
    """The quantities of the proofs after k updates, with weights (b, w).

    Attributes
    ----------
    mistakes : int
        k, the number of updates.
    projection, projection_bound : float
        w*·w_k, and its lower bound.
    squared_length, squared_length_bound : float
        ‖w_k‖², and its upper bound.
    cosine, cosine_bound : float
        cos∠(w_k, w*), and the lower bound that follows from the two above; NaN for w_k = 0.
    squared_distance, squared_distance_bound : float
        ‖w_k − αŵ‖², and its upper bound.
    """

    mistakes: int
    projection: float
    projection_bound: float
    squared_length: float
    squared_length_bound: float
    cosine: float
    cosine_bound: float
    squared_distance: float
    squared_distance_bound: float

    def __str__(self) -> str:
        return (
            f"k = {self.mistakes}: w*·w = {self.projection:.4g} ≥ {self.projection_bound:.4g}, "
            f"‖w‖² = {self.squared_length:.4g} ≤ {self.squared_length_bound:.4g}, "
            f"‖w − αŵ‖² = {self.squared_distance:.4g} ≤ {self.squared_distance_bound:.4g}"
        )


def followed(steps: Iterable[Step], theorem: Theorem, eta: float) -> Iterator[ProofStep]:
    """The quantities after each update of one run.

    For rows t_i x̄_i with ‖x̄_i‖ ≤ R and t_i w*·x̄_i ≥ γ, an update by s wrong rows with the learning rate η gives

        w*·w_k        ≥ w*·w_{k−1} + η s γ
        ‖w_k‖²        ≤ ‖w_{k−1}‖² + η² s² R²
        ‖w_k − αŵ‖²   ≤ ‖w_{k−1} − αŵ‖² + η² R² (s² − 2s),    ŵ = w*/‖w*‖, α = ηR²‖w*‖/γ

    since misclassified rows have margins of at most 0. With one row per update, s = 1, these are the lemmas of lecture
    004 and the proof of lecture 001, from any start. The run must end, because no cosine exceeds 1 and no squared
    length is negative.
    """
    w_star, unit = theorem.separator, theorem.separator / theorem.length
    goal = eta * theorem.R**2 * theorem.length / theorem.gamma * unit
    low = high = far = np.nan
    for step in steps:
        w = np.concatenate([[step.b], step.w])
        projection, squared, away = float(w_star @ w), float(w @ w), float((w - goal) @ (w - goal))
        if step.kind == "start":
            low, high, far = projection, squared, away
        else:
            s = len(step.rows) if step.rows is not None else step.n_rows
            low += eta * s * theorem.gamma
            high += (eta * s * theorem.R) ** 2
            far += (eta * theorem.R) ** 2 * (s * s - 2 * s)
        cosine = _cosine(projection, squared, theorem)
        # A negative bound on w*·w says nothing about the cosine, because w may be shorter than its bound.
        bound = _cosine(low, high, theorem) if low >= 0 else -1.0
        yield ProofStep(step.number, projection, low, squared, high, cosine, bound, away, far)


def _cosine(projection: float, squared_length: float, theorem: Theorem) -> float:
    """The cosine from w*·w and ‖w‖²; NaN for w = 0."""
    if squared_length <= 0:
        return float("nan")
    return projection / (theorem.length * math.sqrt(squared_length))


def refuse_other_updates(solver: Any) -> None:
    """Raise an error for runs other than those of a perceptron whose updates add unweighted rows."""
    if not isinstance(solver, OnlineUpdates | BatchUpdates | WorstUpdates):
        raise ParameterError("estimator", f"the proofs are not about {solver.name!r}", "use Perceptron")
    if solver.weighted:
        problem = "class weights change the updates, and the proofs are about plain ones"
        raise ParameterError("estimator", problem, "use class_weight=None")


# --- Items that are computed on demand

T = TypeVar("T")


class History(Generic[T]):
    """The sequence first, advance(first), advance(advance(first)), … until ``advance`` returns None.

    At most ``keep`` of the most recently requested items are stored, and as many landmarks: every item whose number is
    a multiple of the stride, which doubles when there are too many. An item that is not stored is computed again from
    the landmark before it, so ``advance`` must always return the same result.

    >>> halves = History(16, lambda n: n // 2 if n > 1 else None, keep=2)
    >>> [halves.at(k) for k in (4, 0, 3, 5)], halves.known, halves.ended
    ([1, 16, 2, None], 4, True)
    """

    def __init__(self, first: T, advance: Callable[[T], T | None], keep: int) -> None:
        self._advance, self._keep, self._stride = advance, keep, 1
        self._landmarks, self._recent = {0: first}, OrderedDict({0: first})
        self.known, self.ended = 0, False

    def at(self, k: int) -> T | None:
        """Item k, which is computed if it is not stored; None if the sequence ends before it."""
        if k in self._recent:
            self._recent.move_to_end(k)
            return self._recent[k]
        if self.ended and k > self.known:
            return None
        place, item = self._nearest_before(k)
        while place < k:
            following = self._advance(item)
            if following is None:
                self.ended, self.known = True, place
                return None
            place, item = place + 1, following
            self._store(place, item)
        return item

    def _nearest_before(self, k: int) -> tuple[int, T]:
        if k - 1 in self._recent:
            return k - 1, self._recent[k - 1]
        place = min(k, self.known) // self._stride * self._stride
        later = [near for near in self._recent if place < near <= k]
        if later:
            return max(later), self._recent[max(later)]
        return place, self._landmarks[place]

    def _store(self, place: int, item: T) -> None:
        self.known = max(self.known, place)
        self._recent[place] = item
        self._recent.move_to_end(place)
        if len(self._recent) > self._keep:
            self._recent.popitem(last=False)
        if place % self._stride == 0:
            self._landmarks[place] = item
        if len(self._landmarks) > self._keep:
            self._stride *= 2
            self._landmarks = {k: kept for k, kept in self._landmarks.items() if k % self._stride == 0}
