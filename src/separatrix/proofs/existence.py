r"""When a fit's own bound proves that the likelihood has a maximum.

E is convex, g its gradient at W and H the Hessian there of some of the rows. Along W + s v, with ‖v‖_H = 1, the slope
starts at g·v ≥ −λ, λ² = gᵀH⁻¹g. Those rows' second derivative is 1 at s = 0 and at least e^{−Rs} after, since scores
change by at most R a unit of s (self-concordance of the logistic loss), and the other rows' is not negative. So

    slope(s) ≥ −λ + (1 − e^{−Rs})/R,

which is positive from some s on, the same for all v, if λR < 1. Then E rises outside of a ball in every direction that
the columns determine, and has its minimum inside. With a direction to infinity there is none, so λR ≥ 1 at every W.
That is the affine bound's condition (``bounds.affine``): **where it has a value, an optimum exists.**

In floating point that holds as long as H's smallest curvature is more than rounding: on the way to infinity curvature
falls by e at every step and g with it, until both are what is left of larger numbers. A share FLAT of the largest
leaves λR some eight digits. Where less is left, where there is no bound (stopped short), and for losses without one
(probit, complementary log-log), the fit says nothing, and rows are asked.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.bound import Bound
from separatrix.objectives.factor import Factor
from separatrix.objectives.problem import Objective

# Curvature below this share of the largest may be that on the way to infinity, in columns of like spread.
FLAT = 1e-8


def flat(factor: Factor | None) -> bool:
    """Whether some curvature is so small beside the largest that a maximum may be at infinity.

    >>> flat(Factor.of(np.diag([1.0, 1e-3]))), flat(Factor.of(np.diag([1.0, 1e-9])))
    (False, True)
    """
    if factor is None:
        return True
    pivots = (factor.d * np.diag(factor.lower)) ** 2
    return bool(pivots.min(initial=np.inf) < FLAT * pivots.max(initial=0.0))


def exists(problem: Objective, W: Array, bound: Bound, factor: Factor | None = None) -> bool:
    """Whether the bound at W, in the problem's coordinates, proves that there is an optimum.

    ``factor``: of the second derivatives that the bound was proven by, where they are still at hand.

    >>> from separatrix.objectives.bounds import affine
    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> X, W = np.array([[0.0], [1.0], [2.0], [3.0]]), np.zeros((1, 2))
    >>> for codes in ([0, 1, 1, 0], [0, 0, 1, 1]):
    ...     problem = build_objective(labelled_rows(X, np.array(codes), 2, np.ones(4)), 2, Penalty(0.0, np.ones(1)))
    ...     exists(problem, W, affine(problem, W, problem.value_gradient(W)))
    True
    False
    """
    if bound.value is None or bound.kind != "self-concordance":
        return False
    if factor is not None:
        return not flat(factor)
    twin = problem.standard
    if twin is not None:
        problem, W = twin, twin.rows.frame.from_original(problem.rows.frame.to_original(W))
    return not flat(problem.factor(W, problem.sampled.block))
