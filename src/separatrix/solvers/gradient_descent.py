r"""Gradient descent, as in lecture 002. TEXTBOOK R5, R12.

Problem   min_W E(W)
Given     a start W, a learning rate η
Returns   the last W, or the best one where the step is too large
Step      with the unit direction of steepest descent v̂ = −∇E/‖∇E‖
          fixed          W ← W − η ∇E             the lecture's final form
          proportional   W ← W + η_t v̂,  η_t = η ‖∇E‖   the same, as the lecture arrives at it
          normalised     W ← W + η v̂             every step of length η
Stops     by the driver's rules; by itself where E grows past what a convergent run can: η is too large

It works in the columns' own units, so that η has the same meaning as in the lecture. Without an η, 1/L is taken, with L
the Lipschitz constant of ∇E: the largest step for which descent is certain at every step is 2/L.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.objectives.bounds import largest_curvature
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.solvers.state import Halt, Need, State

# A run diverges if its objective exceeds this many times the larger of its start and the null model.
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
        raise ParameterError("eta", f"got {eta!r}", "give a positive learning rate, or None to have it chosen")


@dataclass(frozen=True)
class DescentMemory:
    """The learning rate, E at the start, and the best weights so far with E and its gradient there."""

    eta: float
    first: float
    best_W: Array
    best_at: Evaluation


@dataclass(frozen=True)
class GradientDescent:
    """W ← W − η ∇E, or with steps of equal length.

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
            came = f"{self.name!r} needs a learning rate for a loss whose slope has no Lipschitz constant"
            raise ParameterError("solver", came, "give GradientDescent(eta=...), or use 'auto'")
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
        hopeless = at.value > DIVERGENCE_FACTOR * max(memory.first, problem.null_value)
        still = at.value == state.at.value and not np.any(move)
        halt = Halt.DIVERGED if hopeless else Halt.STALLED if still else None
        return State(W, at, state.iteration + 1, memory, halt)

    def solution(self, problem: Objective, state: State[DescentMemory]) -> State[DescentMemory]:
        if state.halt is not Halt.DIVERGED:
            return state
        return replace(state, W=state.memory.best_W, at=state.memory.best_at)
