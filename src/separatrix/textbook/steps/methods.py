"""How a solver's run divides into single updates, and what each update used. One class for each kind of solver.

A step of the online perceptron and of stochastic descent is an epoch. Here the same solvers make smaller steps: one
update, or one batch. All other solvers take one step for each update.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.concurrency import one_blas_thread
from separatrix.objectives.bounds import bound
from separatrix.objectives.problem import Objective
from separatrix.rows import Order
from separatrix.rows.raw_weights import raw_weights
from separatrix.solvers.gradient_descent import GradientDescent
from separatrix.solvers.newton import Newton
from separatrix.solvers.separating.kozinec import Kozinec
from separatrix.solvers.separating.max_margin import NearestPoint
from separatrix.solvers.separating.perceptron import BatchUpdates, OnlineUpdates, WorstUpdates
from separatrix.solvers.state import State
from separatrix.solvers.stochastic import StochasticDescent
from separatrix.textbook.steps.recorded_runs import RecordedRun

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

    def cost(self, state: State[Any]) -> float:
        """The cost at a state."""
        return state.at.value

    def gradient(self, before: State[Any], used: Used, added: Array) -> Array | None:
        """The gradient of the cost that an update followed, in the units of the columns; None if it followed none."""
        return user_gradient(self.problem, before.at.gradient)

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
        return Used(wrong_rows(self.problem, before.W, self.zero), self.solver.eta)


class RowSteps(BatchSteps):
    """A perceptron that updates with one row: the one with the smallest margin."""

    def __init__(self, run: RecordedRun) -> None:
        super().__init__(run)
        self.by_rows = not self.weighted

    def used(self, before: State[Any], after: State[Any]) -> Used:
        return self._with_row(before.memory.known_survey.row)

    def _with_row(self, row: int) -> Used:
        solver = self.solver
        rows = np.array([row])
        block = self.problem.rows.resident()
        assert block is not None
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
        memory, size = before.memory, solver.batch_size
        order = Order(size, solver.draw, solver.seed, memory.epoch).rows(self.problem.n_rows)
        rows = order[memory.batch * size : (memory.batch + 1) * size]
        return Used(rows, memory.eta / (1.0 + solver.decay * memory.epoch))

    def epoch(self, state: State[Any]) -> int | None:
        return int(state.memory.epoch + (state.memory.batch > 0))

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
        row = old.extremes.positive.row if plus else old.extremes.negative.row
        point, moved = (old.alpha, new.alpha) if plus else (old.beta, new.beta)
        block = self.problem.rows.resident()
        assert block is not None
        away = block.take(np.array([row])).homogeneous()[0, 1:] - point
        k = float((moved - point) @ away) / float(away @ away)
        frame = self.problem.rows.frame
        alpha, beta = (frame.center + frame.scale * place for place in (new.alpha, new.beta))
        return Used(np.array([row]), k, hull=HullPoints(alpha, beta, 1.0 / float(frame.scale[0]) ** 2))


def wrong_rows(problem: Objective, W: Array, zero: str) -> Integers:
    """The rows that weights in the coordinates of the problem get wrong."""
    block = problem.rows.resident()
    assert block is not None
    z = block.scores(W)
    return np.flatnonzero(mistaken(z, block.t, zero))


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


def user_weights(problem: Objective, W: Array) -> Array:
    """The weights in the units of the columns, (K or 1, d + 1), intercepts first."""
    return raw_weights(problem.rows.frame, W)


def user_gradient(problem: Objective, gradient: Array) -> Array:
    """∂E/∂W for the weights in the units of the columns, from that in the coordinates of the problem.

    With w' = scale · w and b' = b + w·center, ∂E/∂w = scale ∂E/∂w' + center ∂E/∂b'.
    """
    frame = problem.rows.frame
    scale = np.where(np.isinf(frame.scale), 0.0, frame.scale)
    moved = gradient.copy()
    moved[:, 1:] = gradient[:, 1:] * scale + gradient[:, :1] * frame.center
    return moved
