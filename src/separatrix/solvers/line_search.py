"""How far to go along a direction of descent.

Bisection for the weak Wolfe conditions (Lewis and Overton 2013, Algorithm 2.6): with φ(α) = E(W + αV),
    φ(α) ≤ φ(0) + c₁ α φ′(0)          it goes down enough, and, where ``curvature`` c₂ is given,
    φ′(α) ≥ c₂ φ′(0)                  it goes far enough.
Near the optimum the first is lost in rounding; a rise by a few units in the last place counts as none.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.problem import Evaluation

ENOUGH = 1e-4
MOST_TRIALS = 40
ROUNDING = 8 * float(np.finfo(np.float64).eps)


class Valued(Protocol):
    """What can be gone down on: an objective, or its sums by other loops."""

    def value_gradient(self, W: Array) -> Evaluation: ...


def search(
    problem: Valued, W: Array, at: Evaluation, V: Array, first: float = 1.0, curvature: float | None = None
) -> tuple[Array, Evaluation] | None:
    """The point found and E there; None where no step along V goes down."""
    slope = float((at.gradient * V).sum())
    if not slope < 0:
        return None
    low, high, alpha = 0.0, np.inf, first
    for _ in range(MOST_TRIALS):
        trial = W + alpha * V
        there = problem.value_gradient(trial)
        if not there.value <= at.value + ENOUGH * alpha * slope + ROUNDING * abs(at.value):
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
