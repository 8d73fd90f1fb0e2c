"""Single updates of a fit, and their arithmetic written as on a blackboard.

An estimator is fitted once, under a watcher that records for each run of a solver its problem and its first and last
state. From the first state the solver can make the same steps again, one by one, because states are immutable and steps
depend on nothing else. A step of the online perceptron and of stochastic descent is an epoch. Here the same solvers
make smaller steps: one update, or one batch. All other solvers take one step for each update.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.messages import number_text
from separatrix.core.base.watching import Part, Stage, watch, watched
from separatrix.core.gap_bounds import bound
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block
from separatrix.core.rows.protocol import Order
from separatrix.core.solvers.convex_hulls import Kozinec, NearestPoint
from separatrix.core.solvers.driver import Iteration
from separatrix.core.solvers.gradient_descent import GradientDescent, StochasticDescent
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.perceptron_updates import BatchUpdates, OnlineUpdates, WorstUpdates
from separatrix.core.solvers.state import State

# --- The step


@dataclass(frozen=True, eq=False)
class Step:
    """One update: the rows it used, what it added to the weights, and the quality of the new weights.

    ``steps`` returns a sequence of these. ``print(step)`` writes it as on a blackboard. With two classes, or one class
    against the rest, weights ``w`` have the shape (d,) and ``b``, ``z`` and ``m`` are numbers. A softmax model has K
    scores: ``w`` (K, d), ``b``, ``z`` and ``t`` (K,), ``m`` None.

    Attributes
    ----------
    number : int
        k, the number of updates so far. 0 is the start.
    kind : "start", "update" or "answer"
        An answer is the last item if the fitted weights are not those of the last update: a mean, a pocket, or the
        weights after final Newton steps.
    method : str
        The name of the solver.
    part : int
        The row of ``coef_`` that the run finds: with K classes, one run follows the other. 0 for two classes.
    epoch : int or None
        The epoch, counted from 1, for methods with epochs.
    rows : array of int, or None
        The numbers of the rows that the update used, None for all rows.
    x, t, z, m : array (d,), float, float, float
        If the update used a single row: the row, its target, and its score and margin before the update; else None.
    z_after, m_after : float
        The score and margin of that row after the update.
    mistake : bool
        Whether that row was on the wrong side before the update.
    eta : float or None
        The step size: the learning rate; for Newton's method the share of the full step; for Kozinec's algorithm the
        share of the way to the row that the point moves. None if the method has none.
    w_before, b_before, w, b : array (d,) and float
        The weights before and after the update, in the form of ``coef_`` and ``intercept_``.
    w_added, b_added : array (d,) and float
        The amounts that were added to the weights.
    w_gradient, b_gradient : array (d,) and float, or None
        The gradient of the cost before the update, for methods that follow it.
    cost, cost_before : float
        The cost over all rows, after and before the update.
    cost_name : str
        "E_p": the perceptron's Σ max(0, −m). "E": the objective, as ``certificate_.objective``. "½‖α − β‖": half the
        distance of two points of the classes' hulls.
    wrong, n_rows : int
        The number of rows on the wrong side after the update, and the number of all rows.
    wrong_rows : array (wrong,) of int
        The numbers of the rows on the wrong side.
    bound : float or None
        A proven bound on the run.
    bound_name : str
        The quantity that ``bound`` limits. "mistakes": the perceptron makes at most this many updates. "gap": E exceeds
        its minimum by at most this. "margin": no hyperplane has a larger one.
    margin : float or None
        For methods that search for a margin: the smallest signed distance of a row to the hyperplane, negative if the
        row is misclassified.
    hull : HullPoints or None
        For Kozinec's algorithm: its points ``alpha`` and ``beta``, and ``factor`` with w = factor · (α − β).
    weighted : bool
        For perceptrons: whether classes have weights, so that a row of weight s adds s times as much.
    status : str
        For an answer: the certificate's sentence. Otherwise empty.

    Examples
    --------
    >>> import separatrix as sx
    >>> first = sx.steps(sx.Perceptron(shuffle=False), [[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])[1]
    >>> first.kind, first.mistake, first.w.tolist(), first.b
    ('update', True, [-1.0], -1.0)
    >>> print(first)
    Step 1: row 0, x = (1), t = −1
      z = w·x + b = 0·1 + 0 = 0
      m = t z = (−1)·0 = 0: wrong
      w ← w + η t x = (0) + 1·(−1)·(1) = (−1)
      b ← b + η t = 0 + 1·(−1) = −1
      E_p = 11, 2 of 4 rows wrong; at most 260 mistakes
    """

    number: int
    kind: Literal["start", "update", "answer"]
    method: str
    part: int
    epoch: int | None
    rows: Integers | None
    x: Array | None
    t: Any
    z: Any
    m: float | None
    z_after: Any
    m_after: float | None
    mistake: bool | None
    eta: float | None
    w_before: Array
    b_before: Any
    w: Array
    b: Any
    w_added: Array
    b_added: Any
    w_gradient: Array | None
    b_gradient: Any
    cost: float
    cost_before: float
    cost_name: str
    wrong: int
    wrong_rows: Integers
    n_rows: int
    bound: float | None
    bound_name: str
    margin: float | None = None
    hull: HullPoints | None = None
    weighted: bool = False
    status: str = ""

    @property
    def row(self) -> int | None:
        """The number of the row that the update used; None if it used several or all."""
        return int(self.rows[0]) if self.rows is not None and len(self.rows) == 1 else None

    @property
    def gain(self) -> float | None:
        """How much the margin of the row rose, η‖x̄‖² for a perceptron; None without a single row."""
        return None if self.m is None or self.m_after is None else self.m_after - self.m

    def to_dict(self) -> dict[str, Any]:
        """All fields as numbers, strings, lists and None, for JSON.

        Returns
        -------
        dict
        """
        found = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {**found, "row": self.row, "gain": self.gain}

    def __str__(self) -> str:
        return written(self)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, HullPoints):
        return {"alpha": value.alpha.tolist(), "beta": value.beta.tolist(), "factor": value.factor}
    return value


# --- The runs inside a fit

# The stages around the runs of a fit that has one run for each row of its weights.
PARTS_OF_A_FIT = ("class", "model")


@dataclass
class RecordedRun:
    """One run: its solver, its problem, the stages around it, its first state, and the last one the solver made."""

    method: Any
    problem: Objective
    within: tuple[Stage, ...]
    first: State[Any]
    last: State[Any]


@dataclass
class _Recorder:
    """A watcher that records the runs, and passes every stage on to the watcher around it."""

    around: Any
    runs: list[RecordedRun] = field(default_factory=list)
    has_others: bool = False

    def __call__(self, stage: Stage, within: tuple[Stage, ...]) -> None:
        if self.around is not None:
            self.around(stage)
        if not isinstance(stage, Iteration):
            return
        if stage.problem is None or stage.method is None:
            self.has_others = True
            return
        run = self.runs[-1] if self.runs else None
        if run is None or run.problem is not stage.problem or run.within != within:
            run = RecordedRun(stage.method, stage.problem, within, stage.state, stage.state)
            self.runs.append(run)
        if not stage.final:
            run.last = stage.state


def recorded_fit(model: Any, X: Any, y: Any, sample_weight: Any = None) -> list[RecordedRun]:
    """Fit the model, and return the runs that its weights come from.

    >>> from separatrix import Perceptron
    >>> model = Perceptron()
    >>> (run,) = recorded_fit(model, [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> run.method.name, run.last.memory.mistakes == model.mistakes_
    ('online perceptron', True)
    """
    recorder = _Recorder(watched())
    with watch(recorder):
        model.fit(X, y, **_weight_settings(model, sample_weight))
    runs = [run for run in recorder.runs if not run.within] or [run for run in recorder.runs if _is_part(run)]
    if not runs:
        why = "a method that gives no states" if recorder.has_others else "a formula, without steps"
        problem = f"{type(last_estimator(model)).__name__} with these settings is fitted by {why}"
        remedy = "give an estimator that a solver fits, such as Perceptron, KozinecClassifier or LogisticRegression"
        raise ParameterError("estimator", problem, remedy)
    _refuse_others(model, runs, len(y))
    return runs


def _weight_settings(model: Any, sample_weight: Any) -> dict[str, Any]:
    """The arguments of ``fit`` that give the weights to the estimator, or to the last one of a pipeline."""
    if sample_weight is None:
        return {}
    fitted = last_estimator(model)
    if not has_fit_parameter(fitted, "sample_weight"):
        raise ParameterError("sample_weight", f"{type(fitted).__name__} takes none", "leave it out")
    if fitted is model:
        return {"sample_weight": sample_weight}
    return {f"{model.steps[-1][0]}__sample_weight": sample_weight}


def _is_part(run: RecordedRun) -> bool:
    return len(run.within) == 1 and isinstance(run.within[0], Part) and run.within[0].what in PARTS_OF_A_FIT


def last_estimator(model: Any) -> Any:
    """The estimator at the end of a pipeline, or the estimator itself."""
    return model[-1] if hasattr(model, "named_steps") else model


def _refuse_others(model: Any, runs: list[RecordedRun], n_rows: int) -> None:
    """Refuse fits whose weights are not those of the runs, row by row, or whose runs left rows out."""
    for run in runs:
        if run.problem.n_rows != n_rows:
            problem = f"its fit makes steps with {run.problem.n_rows} of {n_rows} rows"
            raise ParameterError("estimator", problem, "give the estimator inside it, and rows of two classes")
    coef = getattr(last_estimator(model), "coef_", None)
    made = sum(run.problem.shape[0] for run in runs)
    if coef is None or len(coef) != made:
        problem = f"{type(last_estimator(model)).__name__} combines {len(runs)} fits, and its weights are not theirs"
        raise ParameterError("estimator", problem, "give the estimator inside it, and rows of two classes")


# --- The updates of each method

# Bounds that need second derivatives are computed at every step of tables of at most this many rows × parameters, where
# they take about a millisecond.
MOST_ENTRIES_FOR_BOUND = 1_000_000


@dataclass(frozen=True)
class HullPoints:
    """The points α of the class + and β of the class −, in the units of the columns, and w = factor · (α − β)."""

    alpha: Array
    beta: Array
    factor: float


@dataclass(frozen=True)
class Used:
    """What an update used: the rows (None: all of them), the step size, and the direction in which it went.

    ``added``: what was added to the weights, if the rule gives it without rounding, (1, d + 1). ``hull``: for methods
    that move points of the classes' hulls.
    """

    rows: Integers | None = None
    eta: float | None = None
    added: Array | None = None
    hull: HullPoints | None = None


class WholeSteps:
    """A method whose every step is an update by all rows, and which descends the objective E.

    ``cost_name``, ``bound_name``: what the cost and the bound of a `Step` are. ``zero``: whether a score of zero is a
    mistake, or positive. ``by_rows``: whether the convergence theorem of the perceptron bounds the updates.
    ``weighted``: whether the updates of a perceptron are weighted.
    """

    cost_name, bound_name, zero, by_rows = "E", "gap", "positive", False
    weighted = False

    def __init__(self, run: RecordedRun) -> None:
        self.run, self.problem = run, run.problem

    @property
    def block(self) -> Block:
        """The rows, which are in memory."""
        block = self.problem.rows.resident()
        assert block is not None
        return block

    def cost(self, state: State[Any]) -> float:
        """The cost at a state."""
        return state.at.value

    def gradient(self, before: State[Any], used: Used, added: Array) -> Array | None:
        """The gradient of the cost that an update followed, in the units of the columns; None if it followed none."""
        # With w' = scale · w and b' = b + w·center, ∂E/∂w = scale ∂E/∂w' + center ∂E/∂b'.
        frame, moved = self.problem.rows.frame, before.at.gradient.copy()
        moved[:, 1:] *= np.where(np.isinf(frame.scale), 0.0, frame.scale)
        moved[:, 1:] += before.at.gradient[:, :1] * frame.center
        return moved

    def bound(self, state: State[Any]) -> float | None:
        """What is proven at a state: here, the most by which E exceeds its minimum; None if nothing is known."""
        problem = self.problem
        with one_blas_thread:
            return bound(problem, state.W, state.at, problem.n_rows * problem.size <= MOST_ENTRIES_FOR_BOUND).value

    def margin(self, state: State[Any]) -> float | None:
        """The smallest distance of a row to the hyperplane, if the method searches for a margin."""
        return None

    def next(self, state: State[Any]) -> State[Any] | None:
        """The state after the next update; None if the run ended at ``state``."""
        if state.iteration >= self.run.last.iteration:
            return None
        return self._stepped(self.run.method, state)

    def _stepped(self, solver: Any, state: State[Any], budget: int | None = None) -> State[Any] | None:
        with one_blas_thread:
            after: State[Any] = solver.step(self.problem, state, budget)
        return None if after.iteration == state.iteration else after  # a solver that halts stays where it is

    def used(self, before: State[Any], after: State[Any]) -> Used:
        """What the update from one state to the next used."""
        return Used()

    def epoch(self, state: State[Any]) -> int | None:
        """The number of epochs that have begun; None for a method without epochs."""
        return None


class GradientSteps(WholeSteps):
    """Gradient descent: the learning rate is η."""

    def used(self, before: State[Any], after: State[Any]) -> Used:
        return Used(eta=before.memory.eta)


class NewtonSteps(WholeSteps):
    """Newton's method: η is the share of the full step that the line search took."""

    def used(self, before: State[Any], after: State[Any]) -> Used:
        direction = after.memory.direction
        squared = float(np.vdot(direction, direction))
        return Used(eta=float(np.vdot(after.W - before.W, direction)) / squared if squared > 0 else None)


class BatchSteps(WholeSteps):
    """The batch perceptron: all mistakes at once. Its cost is E_p = Σ max(0, −m)."""

    cost_name, bound_name = "E_p", "mistakes"

    def __init__(self, run: RecordedRun) -> None:
        super().__init__(run)
        self.solver: Any = run.method
        self.zero = self.solver.zero
        self.weighted = self.solver.weighted

    def cost(self, state: State[Any]) -> float:
        return state.at.value * self.problem.total_weight

    def gradient(self, before: State[Any], used: Used, added: Array) -> Array | None:
        return before.at.gradient * self.problem.total_weight

    def bound(self, state: State[Any]) -> float | None:
        return None

    def used(self, before: State[Any], after: State[Any]) -> Used:
        wrong = mistaken(self.block.scores(before.W), self.block.t, self.zero)
        return Used(np.flatnonzero(wrong), self.solver.eta)


class RowSteps(BatchSteps):
    """A perceptron that updates with one row: the one with the smallest margin."""

    def __init__(self, run: RecordedRun) -> None:
        super().__init__(run)
        self.by_rows = not self.weighted

    def used(self, before: State[Any], after: State[Any]) -> Used:
        return self._with_row(before.memory.known_survey.row)

    def _with_row(self, row: int) -> Used:
        solver, block, rows = self.solver, self.block, np.array([row])
        step = block.take(rows).homogeneous() * (solver.eta * block.weight[row] * block.t[row])
        step[:, 0] *= self.problem.fit_intercept
        return Used(rows, solver.eta, step)


class OnlineSteps(RowSteps):
    """The online perceptron, update by update."""

    def __init__(self, run: RecordedRun) -> None:
        super().__init__(run)
        self.solver = replace(self.solver, by_update=True, survey_from=0)

    def next(self, state: State[Any]) -> State[Any] | None:
        made, last = state.memory.mistakes, self.run.last.memory
        while state.memory.epoch < last.epoch and state.memory.mistakes < last.mistakes:
            after = self._stepped(self.solver, state)
            if after is None or after.memory.mistakes > made:
                return after
            state = after
        return None

    def used(self, before: State[Any], after: State[Any]) -> Used:
        n = self.problem.n_rows
        place = (after.memory.position - 1) % n
        epoch = after.memory.epoch - (after.memory.position == 0)
        order = Order(1, "shuffled" if self.solver.shuffle else "given", self.solver.seed, epoch).rows(n)
        return self._with_row(int(order[place]))

    def epoch(self, state: State[Any]) -> int | None:
        return int(state.memory.epoch + (state.memory.position > 0))


class StochasticSteps(WholeSteps):
    """Stochastic gradient descent, batch by batch."""

    def next(self, state: State[Any]) -> State[Any] | None:
        if state.memory.epoch >= self.run.last.memory.epoch:
            return None
        return self._stepped(self.run.method, state, 1)

    def used(self, before: State[Any], after: State[Any]) -> Used:
        solver: Any = self.run.method
        memory, order = before.memory, solver.order(self.problem.n_rows, before.memory.epoch)
        return Used(order[memory.position : memory.position + solver.batch_size], solver.eta_at(memory))

    def epoch(self, state: State[Any]) -> int | None:
        return int(state.memory.epoch + (state.memory.position > 0))

    def gradient(self, before: State[Any], used: Used, added: Array) -> Array | None:
        """The gradient over the batch."""
        return None if used.eta is None else -added / used.eta


class HullSteps(WholeSteps):
    """A method that brings points of the classes' hulls together. Half their distance bounds every margin."""

    cost_name, bound_name, zero = "½‖α − β‖", "margin", "mistake"

    def gradient(self, before: State[Any], used: Used, added: Array) -> Array | None:
        return None

    def bound(self, state: State[Any]) -> float | None:
        return float(state.memory.upper)

    def margin(self, state: State[Any]) -> float | None:
        return float(state.memory.lower)


class KozinecSteps(HullSteps):
    """Kozinec's algorithm: η is how far α or β goes towards the row."""

    def used(self, before: State[Any], after: State[Any]) -> Used:
        old, new = before.memory, after.memory
        plus = bool(np.any(new.alpha != old.alpha))
        row = int(old.ends[0 if plus else 1])
        point, moved = (old.alpha, new.alpha) if plus else (old.beta, new.beta)
        away = self.block.take(np.array([row])).homogeneous()[0, 1:] - point
        k = float((moved - point) @ away) / float(away @ away)
        frame = self.problem.rows.frame
        alpha, beta = (frame.center + frame.scale * place for place in (new.alpha, new.beta))
        return Used(np.array([row]), k, hull=HullPoints(alpha, beta, 1.0 / float(frame.scale[0]) ** 2))


def mistaken(z: Array, t: Any, zero: str) -> Any:
    """Which rows with scores z (n, K or 1) are wrong; ``zero``: whether a score of zero is a mistake, or positive."""
    if z.shape[1] > 1:
        return np.argmax(z, axis=1) != t
    m = t * z[:, 0]
    return (m < 0) | ((z[:, 0] == 0) & ((zero == "mistake") | (t < 0)))


# The class of each solver's steps. Other solvers have WholeSteps.
METHODS: dict[type, Callable[[RecordedRun], WholeSteps]] = {
    OnlineUpdates: OnlineSteps,
    BatchUpdates: BatchSteps,
    WorstUpdates: RowSteps,
    Kozinec: KozinecSteps,
    NearestPoint: HullSteps,
    GradientDescent: GradientSteps,
    StochasticDescent: StochasticSteps,
    Newton: NewtonSteps,
}


def method_of(run: RecordedRun) -> WholeSteps:
    """The steps of a run's solver."""
    return METHODS.get(type(run.method), WholeSteps)(run)


# --- The blackboard

# The most columns and rows that are written out; of more, the first and the last ones are.
MOST_PRINTED_TERMS, MOST_ROWS = 6, 8


def written(step: Step) -> str:
    """The step as text of several lines: the numbers in the formula, then the result."""
    if step.kind == "start":
        lines = [f"Start: {_weights(step.w, step.b)}"]
    elif step.kind == "answer":
        lines = [f"Answer: {_weights(step.w, step.b)}", f"  {step.status}"]
    else:
        lines = BOARDS.get(step.method, _descent)(step)
    return "\n".join([*lines, f"  {_summary(step)}"])


def number(value: float) -> str:
    """A number with a proper minus sign, and powers of ten instead of exponents.

    >>> number(-0.30000001), number(2.5e-7)
    ('−0.3', '2.5·10⁻⁷')
    """
    digits, _, exponent = number_text(float(value)).replace("-", "−").partition("e")
    return digits if not exponent else f"{digits}·10{_raised(exponent)}"


def _raised(exponent: str) -> str:
    """An exponent such as "−07" as a superscript."""
    size = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(abs(int(exponent.replace("−", "-")))))
    return f"⁻{size}" if exponent.startswith("−") else size


def factor(value: float) -> str:
    """A number inside a product: in parentheses if it is negative.

    >>> factor(-2.0), factor(2.0)
    ('(−2)', '2')
    """
    return f"({number(value)})" if value < 0 else number(value)


def vector(values: Array) -> str:
    """A vector; of many entries the first ones and the last one.

    >>> vector(np.array([1.0, -2.5])), vector(np.arange(9.0))
    ('(1, −2.5)', '(0, 1, 2, 3, 4, …, 8)')
    """
    return f"({', '.join(_some([number(value) for value in values], MOST_PRINTED_TERMS))})"


def _some(texts: list[str], most: int) -> list[str]:
    return texts if len(texts) <= most else [*texts[: most - 1], "…", texts[-1]]


def _weights(w: Array, b: Any) -> str:
    if w.ndim == 1:
        return f"w = {vector(w)}, b = {number(b)}"
    return "; ".join(_some([f"w{_sub(k)} = {vector(w[k])}, b{_sub(k)} = {number(b[k])}" for k in range(len(w))], 3))


def _sub(k: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(k + 1))


def _sign(t: float) -> str:
    return "+1" if t > 0 else "−1"


def _score(step: Step) -> str:
    """Z = w·x + b, written out."""
    assert step.x is not None
    terms = [f"{factor(w)}·{factor(x)}" for w, x in zip(step.w_before, step.x, strict=True)]
    return (
        f"  z = w·x + b = {' + '.join(_some(terms, MOST_PRINTED_TERMS))} + {factor(step.b_before)} = {number(step.z)}"
    )


def _margin(step: Step) -> str:
    return f"  m = t z = ({_sign(step.t)})·{factor(step.z)} = {number(step.m or 0.0)}"


def _single_row(step: Step) -> list[str]:
    """A perceptron's update by one row."""
    assert step.x is not None
    assert step.eta is not None
    title = f"Step {step.number}: row {step.row}, x = {vector(step.x)}, t = {_sign(step.t)}"
    lines = [title, _score(step), f"{_margin(step)}: {'wrong' if step.mistake else 'right, nothing is added'}"]
    size, of = _size(step)
    lines.append(
        f"  w ← w + {of} x = {vector(step.w_before)} + {number(size)}·({_sign(step.t)})·{vector(step.x)} "
        f"= {vector(step.w)}"
    )
    if step.b_added:
        lines.append(f"  b ← b + {of} = {number(step.b_before)} + {number(size)}·({_sign(step.t)}) = {number(step.b)}")
    return lines


def _size(step: Step) -> tuple[float, str]:
    """η and its name; with class weights s, η s."""
    assert step.x is not None
    assert step.eta is not None
    largest = int(np.argmax(np.abs(step.x)))
    size = step.eta
    if step.b_added:
        size = abs(step.b_added)
    elif step.x[largest]:
        size = abs(step.w_added[largest] / step.x[largest])
    return (step.eta, "η t") if np.isclose(size, step.eta, rtol=1e-12) else (size, "η s t")


def _batch(step: Step) -> list[str]:
    """The batch perceptron's update by all mistakes."""
    assert step.rows is not None
    assert step.eta is not None
    rows = ", ".join(_some([str(row) for row in step.rows], MOST_ROWS))
    verb = "is" if len(step.rows) == 1 else "are"
    title = f"Step {step.number}: {len(step.rows)} of {step.n_rows} rows {verb} wrong{': ' if rows else ''}{rows}"
    of = "s t" if step.weighted else "t"
    return [
        title,
        f"  w ← w + η Σ {of} x = {vector(step.w_before)} + {number(step.eta)}·{vector(step.w_added / step.eta)} "
        f"= {vector(step.w)}",
        f"  b ← b + η Σ {of} = {number(step.b_before)} + {number(step.eta)}·{factor(step.b_added / step.eta)} "
        f"= {number(step.b)}",
    ]


def _kozinec(step: Step) -> list[str]:
    """A point of a hull moves towards a row."""
    assert step.hull is not None
    assert step.x is not None
    assert step.eta is not None
    alpha, beta, times = step.hull.alpha, step.hull.beta, step.hull.factor
    name, point = ("α", alpha) if step.t > 0 else ("β", beta)
    difference = "α − β" if times == 1 else f"{number(times)}·(α − β)"
    return [
        f"Step {step.number}: row {step.row}, x = {vector(step.x)}, t = {_sign(step.t)}, is the furthest from {name} "
        "towards the other class",
        f"  {name} ← (1 − k) {name} + k x = {vector(point)} with k = {number(step.eta)}",
        f"  w = {difference} = {vector(step.w)}, b = {number(step.b)}: the bisector of "
        f"α = {vector(alpha)} and β = {vector(beta)}",
    ]


def _descent(step: Step) -> list[str]:
    """A step of a method that minimises E."""
    used = "all rows"
    if step.rows is not None:
        used = f"row{'s' * (len(step.rows) != 1)} {', '.join(_some([str(row) for row in step.rows], MOST_ROWS))}"
    if step.x is not None:
        used += f", x = {vector(step.x)}"
    if step.w.ndim > 1:
        return [f"Step {step.number}: {used}", f"  {_weights(step.w, step.b)}"]
    lines = [f"Step {step.number}: {used}{'' if step.t is None else f', t = {_sign(step.t)}'}"]
    if step.x is not None:
        lines += [_score(step), _margin(step)]
    if step.w_gradient is not None:
        E = _error(step)
        lines.append(f"  ∇{E} = {_gradient(step)}{vector(step.w_gradient)}, ∂{E}/∂b = {number(step.b_gradient)}")
    return [*lines, *_moved(step)]


def _error(step: Step) -> str:
    """The name of the error that a step follows: E_i of its row, E_B of its batch, or E of all rows."""
    if step.rows is None:
        return "E"
    return "E_B" if step.row is None else "E_i"


def _gradient(step: Step) -> str:
    """The gradient of a row's error as a multiple of the row plus the penalty's part, with a sign of equality."""
    if step.x is None or step.w_gradient is None or not step.b_gradient:
        return ""
    penalty = step.w_gradient - step.b_gradient * step.x
    is_free = np.allclose(penalty, 0.0, atol=1e-9 * float(np.abs(step.w_gradient).max()))
    return f"{number(step.b_gradient)}·{vector(step.x)}{'' if is_free else f' + {vector(penalty)}'} = "


def _moved(step: Step) -> list[str]:
    """The old weights, what is added, the new weights."""
    w, b, eta = vector(step.w_before), number(step.b_before), step.eta
    if step.method == "newton" and eta is not None:
        rule, add_w, add_b = f" + α v, v = −(∇²E)⁻¹∇E, α = {number(eta)}:", vector(step.w_added), factor(step.b_added)
    elif eta is not None and step.w_gradient is not None and _is_plain(step):
        rule = f" − η ∇{_error(step)}, η = {number(eta)}:" if step.rows is not None else " − η ∇E ="
        add_w, add_b = (f"{number(eta)}·{vector(-step.w_gradient)}", f"{number(eta)}·{factor(-step.b_gradient)}")
    else:
        rule, add_w, add_b = " + step =", vector(step.w_added), factor(step.b_added)
        if step.method == "gradient-descent":  # the rule "normalised"
            rule = " − η ∇E/‖∇E‖ ="
    return [f"  w ← w{rule} {w} + {add_w} = {vector(step.w)}", f"  b ← {b} + {add_b} = {number(step.b)}"]


def _is_plain(step: Step) -> bool:
    """Whether the step is −η times the gradient."""
    assert step.w_gradient is not None
    assert step.eta is not None
    return np.allclose(step.w_added, -step.eta * step.w_gradient, rtol=1e-6, atol=1e-12)


def _summary(step: Step) -> str:
    """The cost, the rows on the wrong side, and what is proven."""
    found = f"{step.cost_name} = {number(step.cost)}, {step.wrong} of {step.n_rows} rows wrong"
    if step.bound_name == "margin" and step.margin is not None:
        found = f"smallest distance {number(step.margin)}, {step.wrong} of {step.n_rows} rows wrong"
    return found if step.bound is None else f"{found}; {BOUNDS[step.bound_name](step.bound)}"


def most_mistakes(bound: float) -> int:
    """The most mistakes that a bound allows.

    The bound is attained in some examples, where rounding may put it just below a whole number.
    """
    return int(np.floor(bound * (1.0 + 1e-9)))


def _mistakes(bound: float) -> str:
    most = most_mistakes(bound)
    return f"at most {number(most)} mistake{'s' * (most != 1)}"


BOUNDS: dict[str, Callable[[float], str]] = {
    "mistakes": _mistakes,
    "gap": lambda bound: f"at most {number(bound)} above the minimum",
    "margin": lambda bound: f"no margin exceeds {number(bound)}",
}

# How a solver's updates are written, by its name. Others are written as steps of descent.
BOARDS: dict[str, Callable[[Step], list[str]]] = {
    "online perceptron": _single_row,
    "worst-example perceptron": _single_row,
    "batch perceptron": _batch,
    "kozinec": _kozinec,
}
