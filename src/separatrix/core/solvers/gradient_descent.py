"""Gradient descent: with all rows, and stochastic, with one row or a batch of rows (docs/tour.md, R5, R6, R12).

Problem   min_W E(W)
Given     a start W and a learning rate η; for the stochastic form a batch size, a schedule, a patience and a seed
Returns   the last W; on request the best W of ``StochasticDescent``. ``GradientDescent`` that diverged: the best W
Step      ``GradientDescent``     W ← W − η ∇E, or a step of length η in the same direction
          ``StochasticDescent``   W ← W − η ∇E_B for each batch B of rows in an epoch
Stops     by the driver's rules; by itself if E grows far above its first value (η is too large), or if the epochs of
          the patience pass without a lower E

Both are those of lectures 002 and 004 in docs/tour.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import sqrt
from typing import ClassVar

import numpy as np

from separatrix.core.base.arrays import Array, Integers, pieces, rows_per_piece
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.messages import many
from separatrix.core.gap_bounds import largest_curvature
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective
from separatrix.core.rows.hold_out import row_hashes
from separatrix.core.rows.sampling import chosen_rows
from separatrix.core.solvers.state import Halt, Need, Solver, State

# A run counts as diverged if its objective exceeds this multiple of the larger of its first value and the null model's.
DIVERGENCE_FACTOR = 10.0


def _fixed(gradient: Array, eta: float) -> Array:
    return -eta * gradient


def _proportional(gradient: Array, eta: float) -> Array:
    length = float(np.linalg.norm(gradient))
    return (eta * length) * (-gradient / length) if length > 0 else np.zeros_like(gradient)


def _normalised(gradient: Array, eta: float) -> Array:
    length = float(np.linalg.norm(gradient))
    return -eta * gradient / length if length > 0 else np.zeros_like(gradient)


STEPS: dict[str, Callable[[Array, float], Array]] = {
    "fixed": _fixed,
    "proportional": _proportional,
    "normalised": _normalised,
}


def check_eta(eta: float | None) -> None:
    if eta is not None and not (np.isfinite(eta) and eta > 0):
        raise ParameterError("eta", f"got {eta!r}", "give a positive learning rate, or None for the default 1/L")


@dataclass(frozen=True)
class DescentMemory:
    """The learning rate, the first value of E, and the best weights so far with the value and gradient of E there."""

    eta: float
    first: float
    best_W: Array
    best_at: Evaluation


def _is_far_above(value: float, memory: DescentMemory, problem: Objective) -> bool:
    """Whether E has grown far above its first value. From zero, as the perceptron's at W = 0, it may grow."""
    return value > DIVERGENCE_FACTOR * max(memory.first, problem.null_value) > 0


@dataclass(frozen=True)
class GradientDescent:
    """W ← W − η ∇E, or steps of length η in the same direction.

    The columns are not scaled, so that η has the same meaning as in the lecture. For every η < 2/L, where L is the
    Lipschitz constant of ∇E, each step decreases E.

    Parameters
    ----------
    eta : float, optional
        The learning rate; by default the reciprocal of the largest curvature, 1/L.
    step_rule : {"fixed", "proportional", "normalised"}
        The step rule: W ← W − η ∇E, which is the final form in the lecture; the same step as the lecture derives it,
        W ← W + η_t v̂ with v̂ = −∇E/‖∇E‖ and η_t = η ‖∇E‖; or W ← W + η v̂, so that every step has length η.

    Examples
    --------
    >>> GradientDescent(eta=0.1, step_rule="normalised").step_rule
    'normalised'
    """

    eta: float | None = None
    step_rule: str = "fixed"
    name: ClassVar[str] = "gradient-descent"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.RIDGE})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_eta(self.eta)
        if self.step_rule not in STEPS:
            raise ParameterError("step_rule", f"got {self.step_rule!r}", f"choose one of {', '.join(STEPS)}")

    def init(self, problem: Objective, start: Array) -> State[DescentMemory]:
        steepest = largest_curvature(problem)
        if self.eta is None and not np.isfinite(steepest):
            fault = (
                f"{self.name!r} has no default learning rate for a loss whose derivative is not Lipschitz continuous"
            )
            raise ParameterError("solver", fault, "give GradientDescent(eta=...), or use 'auto'")
        at = problem.value_gradient(start)
        eta = self.eta if self.eta is not None else 1.0 / max(steepest, 1e-300)
        return State(start, at, memory=DescentMemory(eta, at.value, start, at))

    def step(self, problem: Objective, state: State[DescentMemory], budget: int | None = None) -> State[DescentMemory]:
        memory = state.memory
        move = STEPS[self.step_rule](state.at.gradient, memory.eta)
        with np.errstate(over="ignore", invalid="ignore"):
            W = state.W + move
            at = problem.value_gradient(W)
        if not (np.isfinite(at.value) and np.all(np.isfinite(at.gradient))):
            return replace(state, halt=Halt.DIVERGED)
        if at.value < memory.best_at.value:
            memory = DescentMemory(memory.eta, memory.first, W, at)
        hopeless = _is_far_above(at.value, memory, problem)
        still = at.value == state.at.value and not np.any(move)
        halt = Halt.DIVERGED if hopeless else Halt.STALLED if still else None
        return State(W, at, state.iteration + 1, memory, halt)

    def solution(self, problem: Objective, state: State[DescentMemory]) -> State[DescentMemory]:
        if state.halt is not Halt.DIVERGED:
            return state
        return replace(state, W=state.memory.best_W, at=state.memory.best_at)


# --- Stochastic gradient descent

# The learning rate of epoch k = 1, 2, …, divided by η.
SCHEDULES: dict[str, Callable[[int], float]] = {
    "constant": lambda k: 1.0,
    "inverse-root": lambda k: 1.0 / sqrt(k),
    "inverse": lambda k: 1.0 / k,
}
# The streams of hashes of the epochs begin here. Those with smaller numbers draw samples and hold out rows.
FIRST_EPOCH_STREAM = 16
# Of rows outside memory, those with this many entries (128 MB) are in memory at a time, and each such part of an epoch
# takes a pass. Sparse rows are assumed to have SPARSE_WIDTH entries.
ENTRIES_AT_A_TIME, SPARSE_WIDTH = 1 << 24, 256


def row_eta(problem: Objective) -> float:
    """The default learning rate of stochastic descent: 0.1/L, with L the mean curvature of a row's error.

    For the logistic loss, L is the mean of ‖x̄‖²/4, plus the curvature of the penalty. With η = 1/L, single rows of
    classes that cannot be told apart would keep E about 0.5 above its minimum, and with η = 0.1/L about 0.05.
    """
    steepest = (problem.loss.traits.lipschitz or 1.0) * float(np.sum(problem.framed.root_second_moments**2))
    return 0.1 / max(steepest + float(np.max(problem.root_penalty) ** 2), 1e-300)


@dataclass(frozen=True)
class StochasticMemory(DescentMemory):
    """The memory of gradient descent, with the epochs so far, the rows used since, and the epochs without a lower E.

    The best weights are the best at the start or at the end of an epoch.
    """

    epoch: int = 0
    position: int = 0
    idle: int = 0


@dataclass(frozen=True)
class StochasticDescent:
    """W ← W − η ∇E_B(W), with E_B the mean error of a single row or a minibatch B, penalty included.

    In an epoch each row is used once, in random order. From W = 0, a row without a penalty adds η t x̄/2. A row of
    weight s counts s/s̄ times, where s̄ is the mean weight. The columns are not scaled, so that an update is that of the
    lectures, and η has the same meaning; columns of very different sizes should be standardised first.

    With a constant η, W keeps moving around the minimum, the farther from it the larger η is. With a falling η it
    approaches the minimum, but slowly. So a fit rarely meets its tolerance, and its certificate bounds by how much E
    exceeds the minimum at the last W. A step of the driver is an epoch; E is then computed over all rows.

    The order of rows depends only on hashes of their numbers, on the seed and on the epoch. So rows in memory, in files
    and on a cluster are used in the same order, and a run that starts from a state goes on with the same batches. An
    epoch reads rows outside memory once for every 16 million of their entries, and holds these entries and the order of
    all rows in memory.

    Parameters
    ----------
    eta : float, optional
        The learning rate. By default, a tenth of the reciprocal of the mean curvature of a row's error.
    batch_size : int
        The number of rows in a batch.
    schedule : {"constant", "inverse-root", "inverse"}
        The learning rate in epoch k = 1, 2, …: η, η/√k or η/k.
    patience : int
        The run ends after this many epochs in which E was not lower than ever before.
    best : bool
        Whether the run returns the best weights at the end of any epoch, instead of the last ones.
    seed : int
        The seed of the random order of rows.

    Examples
    --------
    >>> StochasticDescent(eta=0.1, batch_size=32, schedule="inverse").patience
    10
    """

    eta: float | None = None
    batch_size: int = 1
    schedule: str = "constant"
    patience: int = 10
    best: bool = False
    seed: int = 0
    name: ClassVar[str] = "sgd"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.RIDGE})
    by_sums: ClassVar[bool] = False
    converges: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_eta(self.eta)
        for setting in ("batch_size", "patience"):
            if not getattr(self, setting) >= 1:
                raise ParameterError(setting, f"got {getattr(self, setting)!r}", "give at least 1")
        if self.schedule not in SCHEDULES:
            raise ParameterError("schedule", f"got {self.schedule!r}", f"choose one of {', '.join(SCHEDULES)}")

    def order(self, n_rows: int, epoch: int) -> Integers:
        """The numbers of the rows in the order in which an epoch, counted from 0, uses them."""
        return np.argsort(row_hashes(0, n_rows, self.seed, FIRST_EPOCH_STREAM + epoch))

    def eta_at(self, memory: StochasticMemory) -> float:
        """The learning rate of the next update."""
        return memory.eta * SCHEDULES[self.schedule](memory.epoch + 1)

    def init(self, problem: Objective, start: Array) -> State[StochasticMemory]:
        at = problem.value_gradient(start)
        eta = self.eta if self.eta is not None else row_eta(problem)
        return State(start, at, memory=StochasticMemory(eta, at.value, start, at))

    def step(
        self, problem: Objective, state: State[StochasticMemory], budget: int | None = None
    ) -> State[StochasticMemory]:
        """The state after the rest of the epoch, or after the batches that hold the next ``budget`` rows."""
        memory, W, eta = state.memory, state.W, self.eta_at(state.memory)
        batches = None if budget is None else max(1, -(-budget // self.batch_size))
        end = problem.n_rows if batches is None else min(problem.n_rows, memory.position + batches * self.batch_size)
        order = self.order(problem.n_rows, memory.epoch)[memory.position : end]
        if problem.rows.resident() is not None:  # other rows count their passes themselves
            problem.rows.counter.add()
        width = SPARSE_WIDTH if problem.rows.is_sparse else problem.rows.n_features
        batches_at_a_time = rows_per_piece(ENTRIES_AT_A_TIME, width * self.batch_size)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in pieces(len(order), batches_at_a_time * self.batch_size):
                rows = chosen_rows(problem.rows, order[part])
                for batch in pieces(rows.n_rows, self.batch_size):
                    W = W - eta * problem.block_value_gradient(W, rows.take(batch)).gradient
            at = problem.value_gradient(W)
        if not (np.isfinite(at.value) and np.all(np.isfinite(at.gradient))):
            return replace(state, halt=Halt.DIVERGED)
        if end < problem.n_rows:
            return State(W, at, state.iteration + 1, replace(memory, position=end))
        lower = at.value < memory.best_at.value
        best_W, best_at = (W, at) if lower else (memory.best_W, memory.best_at)
        idle = 0 if lower else memory.idle + 1
        diverged = _is_far_above(at.value, memory, problem)
        halt = Halt.DIVERGED if diverged else Halt.PATIENCE if idle >= self.patience else None
        memory = StochasticMemory(memory.eta, memory.first, best_W, best_at, memory.epoch + 1, 0, idle)
        return State(W, at, state.iteration + 1, memory, halt)

    def solution(self, problem: Objective, state: State[StochasticMemory]) -> State[StochasticMemory]:
        return replace(state, W=state.memory.best_W, at=state.memory.best_at) if self.best else state


def settings_of_descent(solver: Solver, state: State[DescentMemory]) -> str:
    """The settings of a solver with a learning rate, with the η that it used, and its epochs.

    >>> W = np.zeros((1, 2))
    >>> at = Evaluation(0.5, W)
    >>> settings_of_descent(GradientDescent(), State(W, at, memory=DescentMemory(0.25, 0.5, W, at)))
    "eta=0.25, step_rule='fixed'"
    """
    memory = state.memory
    settings = {one.name: repr(getattr(solver, one.name)) for one in fields(solver)}  # type: ignore[arg-type]
    settings["eta"] = f"{memory.eta:.4g}"
    after = f"; {many(memory.epoch, 'epoch')}" if isinstance(memory, StochasticMemory) else ""
    return ", ".join(f"{name}={value}" for name, value in settings.items()) + after
