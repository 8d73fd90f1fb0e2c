"""Searches for the length α of a step V: a damped Newton step, and a line search for quasi-Newton methods.

With φ(α) = E(W + αV), the weak Wolfe conditions on α are
    φ(α) ≤ φ(0) + c₁ α φ′(0)          E decreases enough (Armijo), and
    φ′(α) ≥ c₂ φ′(0)                  the step is long enough.
Newton's method, whose full step is long enough, needs the first one only: ``damped_step`` halves α until it holds.
Quasi-Newton methods need both: ``wolfe_search`` may lengthen the step, too. Near the optimum rounding hides the
decrease of E, so a rise by a few units in the last place is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from separatrix.core.base.arrays import EPS, Array
from separatrix.core.linear_algebra import Factor
from separatrix.core.objective_sums import Evaluation

if TYPE_CHECKING:
    from separatrix.core.problem import Objective


# c₁ and c₂: the usual values for quasi-Newton methods (Nocedal and Wright 2006, section 3.1).
SUFFICIENT_DECREASE, SUFFICIENT_CURVATURE = 1e-4, 0.9
# The most step lengths that are tried along one direction.
MOST_TRIALS = 40
# The relative rise of E that counts as rounding: eight units in the last place.
VALUE_ROUNDING = 8 * EPS
# After this many trials, a search whose whole bracket is hidden by rounding is given up.
TRIALS_WITHIN_ROUNDING = 4

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


class ValuedTogether(Valued, Protocol):
    """A problem whose values and gradients at several points are computed in one pass.

    ``most_together``: how many points are worth it; one where rows cost little to read.
    """

    @property
    def most_together(self) -> int: ...
    def value_gradients(self, Ws: Sequence[Array]) -> list[Evaluation]: ...


def wolfe_search(
    problem: ValuedTogether, W: Array, at: Evaluation, V: Array, first: float = 1.0
) -> tuple[Array, Evaluation] | None:
    """The accepted point and E there; None if no step along V lowers E. ``first``: the step length to begin with.

    Lewis and Overton 2013, Algorithm 2.6: bisection for the weak Wolfe conditions, the second of which makes sᵀy > 0
    for the pairs of L-BFGS. Rows outside memory are read once for several trials, those that bisection may try next.
    This does not change which step is accepted.
    """
    slope = float((at.gradient * V).sum())
    if not slope < 0:
        return None
    rounding = VALUE_ROUNDING * abs(at.value)
    low, high, alpha = 0.0, np.inf, first
    known: dict[float, Evaluation] = {}
    for trial in range(MOST_TRIALS):
        if alpha not in known:  # The first step is nearly always accepted.
            lengths = [alpha] if trial == 0 else _coming(low, high, alpha)[: problem.most_together]
            known = dict(zip(lengths, problem.value_gradients([W + length * V for length in lengths]), strict=True))
        there = known[alpha]
        if not there.value <= at.value + SUFFICIENT_DECREASE * alpha * slope + rounding:
            high = alpha
        elif np.sum(there.gradient * V) < SUFFICIENT_CURVATURE * slope:
            low = alpha
        else:
            return W + alpha * V, there
        # Rounding hides what a shorter step would gain: by the slope, at most −slope · high.
        if trial >= TRIALS_WITHIN_ROUNDING and -slope * high <= rounding:
            return None
        alpha = 2 * alpha if np.isinf(high) else 0.5 * (low + high)
    return None


def _coming(low: float, high: float, alpha: float) -> list[float]:
    """The step lengths that may be tried from alpha on, in the order in which they are likely to be needed.

    >>> _coming(0.0, 1.0, 0.5), _coming(1.0, np.inf, 2.0)
    ([0.5, 0.25, 0.125, 0.75], [2.0, 4.0, 8.0])
    """
    if np.isinf(high):
        return [alpha, 2 * alpha, 4 * alpha]
    shorter = 0.5 * (low + alpha)
    return [alpha, shorter, 0.5 * (low + shorter), 0.5 * (alpha + high)]
