r"""Gradient descent, as in lecture 002 of docs/tour.md (docs/tour.md, R5, R12).

Problem   min_W E(W)
Given     initial weights W and a learning rate η
Returns   the last W, or the best W of a run that diverged
Step      with the unit direction of steepest descent v̂ = −∇E/‖∇E‖
          fixed          W ← W − η ∇E                   the final form in the lecture
          proportional   W ← W + η_t v̂,  η_t = η ‖∇E‖   the same step, as the lecture derives it
          normalised     W ← W + η v̂                    every step has length η
Stops     by the rules of the driver, or with ``Halt.DIVERGED`` if E grows far above its first value: η is too large

The columns are not scaled, so that η has the same meaning as in the lecture. The default is η = 1/L, where L is the
Lipschitz constant of ∇E. For every η < 2/L each step decreases E.
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


@dataclass(frozen=True)
class GradientDescent:
    """W ← W − η ∇E, or steps of length η in the same direction.

    Parameters
    ----------
    eta : float, optional
        The learning rate; by default the reciprocal of the largest curvature.
    step_rule : str, default "fixed"
        The name of the step rule.

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
        hopeless = at.value > DIVERGENCE_FACTOR * max(memory.first, problem.null_value)
        still = at.value == state.at.value and not np.any(move)
        halt = Halt.DIVERGED if hopeless else Halt.STALLED if still else None
        return State(W, at, state.iteration + 1, memory, halt)

    def solution(self, problem: Objective, state: State[DescentMemory]) -> State[DescentMemory]:
        if state.halt is not Halt.DIVERGED:
            return state
        return replace(state, W=state.memory.best_W, at=state.memory.best_at)
