"""Line search for quasi-Newton methods, by bisection for the weak Wolfe conditions.

Lewis and Overton 2013, Algorithm 2.6. With φ(α) = E(W + αV), the conditions are
    φ(α) ≤ φ(0) + c₁ α φ′(0)          E decreases enough, and
    φ′(α) ≥ c₂ φ′(0)                  the step is long enough.
The second condition makes sᵀy > 0 for the pairs of L-BFGS. The search may lengthen as well as shorten the step.
Newton's method, whose full step is long enough, uses ``damped_newton`` instead, which only halves the step. Near the
optimum the first condition is hidden by rounding, so an increase of E by a few units in the last place is accepted.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.damped_newton import MOST_TRIALS, SUFFICIENT_DECREASE, VALUE_ROUNDING, Valued
from separatrix.objectives.problem import Evaluation

# c₂, the constant of the curvature condition: the usual value for quasi-Newton methods (Nocedal and Wright 2006,
# section 3.1).
SUFFICIENT_CURVATURE = 0.9


def wolfe_search(
    problem: Valued, W: Array, at: Evaluation, V: Array, first: float = 1.0
) -> tuple[Array, Evaluation] | None:
    """The accepted point and E there; None if no step along V lowers E. ``first``: the step length to begin with."""
    slope = float((at.gradient * V).sum())
    if not slope < 0:
        return None
    low, high, alpha = 0.0, np.inf, first
    for _ in range(MOST_TRIALS):
        trial = W + alpha * V
        there = problem.value_gradient(trial)
        if not there.value <= at.value + SUFFICIENT_DECREASE * alpha * slope + VALUE_ROUNDING * abs(at.value):
            high = alpha
        elif np.sum(there.gradient * V) < SUFFICIENT_CURVATURE * slope:
            low = alpha
        else:
            return trial, there
        if np.isinf(high):
            alpha = 2 * alpha
        else:
            alpha = 0.5 * (low + high)
    return None
