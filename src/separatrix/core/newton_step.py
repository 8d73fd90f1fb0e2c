"""The step of Newton's method: its direction −(∇²E)⁻¹ ∇E, and its length, by halving until E decreases enough.

The full step is nearly always taken. Near the optimum rounding hides the decrease of E, so a rise by a few units in the
last place is accepted. All searches along a direction share the condition (Armijo's) and the limits that stand here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from separatrix.core.base.arrays import EPS, Array
from separatrix.core.linear_algebra import Factor
from separatrix.core.objective_sums import Evaluation

if TYPE_CHECKING:
    from separatrix.core.problem import Objective


# The share of the predicted decrease that E must decrease by: the usual value (Nocedal and Wright 2006, section 3.1).
SUFFICIENT_DECREASE = 1e-4
# The most step lengths that are tried along one direction.
MOST_TRIALS = 40
# The relative rise of E that counts as rounding: eight units in the last place.
VALUE_ROUNDING = 8 * EPS

Point = TypeVar("Point")


class Valued(Protocol):
    """Anything with a value and a gradient: an objective, or its compiled sums."""

    def value_gradient(self, W: Array) -> Evaluation: ...


def newton_direction(problem: Objective, gradient: Array, factor: Factor) -> Array:
    """−(∇²E)⁻¹ ∇E on the identified directions, (K, d + 1)."""
    space = problem.subspace
    return -space.expand(factor.solve(space.reduce(gradient)))


def damped_step(
    problem: Valued, W: Array, at: Evaluation, V: Array, slope: float | None = None, trials: int = MOST_TRIALS
) -> tuple[Array, Evaluation] | None:
    """The first of W + V, W + V/2, … at which E has decreased enough, and E there; None if there is none.

    ``slope``: the predicted change of E for the whole step, by default ⟨∇E, V⟩.
    """
    slope = float(np.vdot(at.gradient, V)) if slope is None else slope
    if not slope < 0:
        return None
    whole = W + V  # nearly always accepted
    there = problem.value_gradient(whole)
    if there.value <= at.value + SUFFICIENT_DECREASE * slope + VALUE_ROUNDING * abs(at.value):
        return whole, there

    def evaluated(alpha: float) -> tuple[float, tuple[Array, Evaluation]]:
        trial = W + alpha * V
        there = problem.value_gradient(trial)
        return there.value, (trial, there)

    accepted = backtracked(evaluated, at.value, slope, first=0.5, trials=trials - 1)
    return None if accepted is None else accepted[1]


def backtracked(
    evaluated: Callable[[float], tuple[float, Point]],
    value: float,
    slope: float,
    first: float = 1.0,
    trials: int = MOST_TRIALS,
    rounding: float = VALUE_ROUNDING,
) -> tuple[float, Point] | None:
    """The first step length of ``first``, ``first``/2, … with a sufficient decrease, and the point there; None if none.

    Nocedal and Wright 2006, Algorithm 3.1.

    ``evaluated`` returns φ(α), which may be infinite, and whatever was computed with it. ``value``: φ(0); ``slope``:
    φ′(0), or 0 to accept any decrease; ``rounding``: the relative rise of φ that counts as rounding.

    >>> backtracked(lambda alpha: ((alpha - 0.25) ** 2, "here"), 0.0625, -0.5)
    (0.25, 'here')
    """
    alpha = first
    for _ in range(trials):
        there, point = evaluated(alpha)
        if there <= value + SUFFICIENT_DECREASE * alpha * slope + rounding * abs(value):
            return alpha, point
        alpha *= 0.5
    return None
