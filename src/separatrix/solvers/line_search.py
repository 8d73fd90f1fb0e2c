"""Line search along a descent direction.

Bisection for the weak Wolfe conditions (Lewis and Overton 2013, Algorithm 2.6): with φ(α) = E(W + αV),
    φ(α) ≤ φ(0) + c₁ α φ′(0)          E decreases enough, and, if ``curvature`` c₂ is given,
    φ′(α) ≥ c₂ φ′(0)                  the step is long enough.
Near the optimum rounding hides the first condition, so a rise by a few units in the last place is accepted.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.problem import Evaluation

# c₁, the constant of the sufficient decrease condition: the usual value (Nocedal and Wright 2006, section 3.1).
SUFFICIENT_DECREASE = 1e-4
# The most step lengths that are tried along one direction.
MOST_TRIALS = 40
# The relative rise of E that counts as rounding: eight units in the last place.
VALUE_ROUNDING = 8 * float(np.finfo(np.float64).eps)


class Valued(Protocol):
    """Anything with a value and a gradient: an objective, or its compiled sums."""

    def value_gradient(self, W: Array) -> Evaluation: ...


def search(
    problem: Valued, W: Array, at: Evaluation, V: Array, first: float = 1.0, curvature: float | None = None
) -> tuple[Array, Evaluation] | None:
    """The accepted point and E there; None if no step along V lowers E."""
    slope = float((at.gradient * V).sum())
    if not slope < 0:
        return None
    low, high, alpha = 0.0, np.inf, first
    for _ in range(MOST_TRIALS):
        trial = W + alpha * V
        there = problem.value_gradient(trial)
        if not there.value <= at.value + SUFFICIENT_DECREASE * alpha * slope + VALUE_ROUNDING * abs(at.value):
            high = alpha
        elif curvature is not None and np.sum(there.gradient * V) < curvature * slope:
            low = alpha
        else:
            return trial, there
        if np.isinf(high):
            alpha = 2 * alpha
        else:
            alpha = 0.5 * (low + high)
    return None
