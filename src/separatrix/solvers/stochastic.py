r"""Stochastic and minibatch gradient descent, as in lectures 002 and 004 (docs/tour.md, R6).

Problem   min_W E(W)
Given     a start W, a learning rate η, a batch size, the order in which rows are drawn, a patience
Returns   the best W at the end of any epoch
Step      for each batch B of an epoch:  W ← W − η_e · ∇ of the mean loss over B (penalty included),
          η_e = η/(1 + decay · e) in epoch e. A row of weight s counts s/s̄ times, s̄ the mean weight. With batches of
          one row of mean weight and no penalty, from W = 0, the first step adds η t x̄/2 to W
Stops     by the driver's rules; by itself if E has not improved for ``patience`` epochs, or diverges

E is computed over all rows at the end of each step for the trace, the patience and the bound. The random order of rows
depends only on the seed and the epoch, so a run that starts from a state continues with the same batches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows import Order
from separatrix.solvers.gradient_descent import DIVERGENCE_FACTOR, DescentMemory, check_eta
from separatrix.solvers.state import Halt, Need, State

Draw = Literal["given", "shuffled", "replacement"]


@dataclass(frozen=True)
class StochasticMemory(DescentMemory):
    """The memory of gradient descent, with the epoch, the next batch, and the number of epochs without improvement."""

    epoch: int = 0
    batch: int = 0
    idle: int = 0


@dataclass(frozen=True)
class StochasticDescent:
    """W ← W − η ∇ of the mean loss over one row or a minibatch.

    Parameters
    ----------
    eta : float, optional
        The learning rate. By default, the reciprocal of the mean curvature of a row's loss.
    batch_size : int
        The number of rows in a batch.
    draw : {"given", "shuffled", "replacement"}
        How rows are drawn in an epoch: in their given order, shuffled, or at random with replacement. Rows outside
        memory are shuffled within a buffer, in another order than in memory, and cannot be drawn with replacement.
    decay : float
        The learning rate in epoch e is eta/(1 + decay · e).
    patience : int
        The run ends after this many epochs without improvement.
    improvement : float
        The smallest gain of an epoch that counts as improvement, relative to the null model's objective.
    seed : int
        The seed of the random order of rows.

    Examples
    --------
    >>> StochasticDescent(eta=0.1, batch_size=32, draw="shuffled").patience
    10
    """

    eta: float | None = None
    batch_size: int = 1
    draw: Draw = "replacement"
    decay: float = 0.0
    patience: int = 10
    improvement: float = 1e-4
    seed: int = 0
    name: ClassVar[str] = "sgd"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.RIDGE})
    by_sums: ClassVar[bool] = False
    converges: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_eta(self.eta)
        for setting, least in (("batch_size", 1), ("patience", 1), ("decay", 0), ("improvement", 0)):
            if not getattr(self, setting) >= least:
                raise ParameterError(setting, f"got {getattr(self, setting)!r}", f"give at least {least}")
        if self.draw not in get_args(Draw):
            raise ParameterError("draw", f"got {self.draw!r}", f"choose one of {', '.join(get_args(Draw))}")

    def init(self, problem: Objective, start: Array) -> State[StochasticMemory]:
        at = problem.value_gradient(start)
        eta = self.eta
        if eta is None:
            steepest = (problem.loss.traits.lipschitz or 1.0) * float(np.sum(problem.root_second_moments**2))
            eta = 1.0 / max(steepest + float(np.max(problem.root_penalty) ** 2), 1e-300)
        return State(start, at, memory=StochasticMemory(eta, at.value, start, at))

    def step(
        self, problem: Objective, state: State[StochasticMemory], budget: int | None = None
    ) -> State[StochasticMemory]:
        memory = state.memory
        eta = memory.eta / (1.0 + self.decay * memory.epoch)
        order = Order(self.batch_size, self.draw, self.seed, memory.epoch)
        W, rows_left = state.W, np.inf if budget is None else budget
        next_batch: int | None = None
        with np.errstate(over="ignore", invalid="ignore"):
            for k, block in enumerate(problem.rows.blocks(order)):
                if k < memory.batch:
                    continue
                if rows_left <= 0:
                    next_batch = k
                    break
                W = W - eta * problem.block_value_gradient(W, block).gradient
                rows_left -= block.n_rows
            at = problem.value_gradient(W)
        if not (np.isfinite(at.value) and np.all(np.isfinite(at.gradient))):
            return replace(state, halt=Halt.DIVERGED)
        memory = self._remembered(problem, memory, W, at, next_batch)
        return State(W, at, state.iteration + 1, memory, self._halt(problem, memory, at))

    def _remembered(
        self, problem: Objective, memory: StochasticMemory, W: Array, at: Evaluation, next_batch: int | None
    ) -> StochasticMemory:
        """The memory after a step to W that ended before ``next_batch``, or at the end of the epoch if that is None."""
        gain = memory.best_at.value - at.value
        best_W, best_at = (W, at) if gain > 0 else (memory.best_W, memory.best_at)
        epoch, idle = memory.epoch, memory.idle
        if next_batch is None:
            epoch, idle = epoch + 1, 0 if gain > self.improvement * problem.null_value else idle + 1
        return StochasticMemory(memory.eta, memory.first, best_W, best_at, epoch, next_batch or 0, idle)

    def _halt(self, problem: Objective, memory: StochasticMemory, at: Evaluation) -> Halt | None:
        if at.value > DIVERGENCE_FACTOR * max(memory.first, problem.null_value):
            return Halt.DIVERGED
        return Halt.PATIENCE if memory.idle >= self.patience else None

    def solution(self, problem: Objective, state: State[StochasticMemory]) -> State[StochasticMemory]:
        return replace(state, W=state.memory.best_W, at=state.memory.best_at)
