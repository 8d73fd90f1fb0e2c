r"""When the optimality bound of a fit proves that the likelihood has a maximum.

E is convex, g is its gradient at W, and H is the Hessian at W of a subset of the rows. Along W + s v, with ‖v‖_H = 1,
the slope starts at g·v ≥ −λ, where λ² = gᵀH⁻¹g. The second derivative of the subset is 1 at s = 0 and at least e^{−Rs}
afterwards, because scores change by at most R per unit of s (self-concordance of the logistic loss). The second
derivative of the other rows is not negative. Hence

    slope(s) ≥ −λ + (1 − e^{−Rs})/R.

If λR < 1, this is positive for all s above a threshold that is the same for all v. Then E increases outside a ball, in
every direction that the columns determine, and has its minimum inside. If E has a direction of recession there is no
minimum, so λR ≥ 1 at every W. The affine bound (``curvature_bound.affine``) has a value only if λR < 1: **if the bound
has a value, an optimum exists.**

In floating point this holds as long as the smallest curvature of H is well above rounding error. When a fit diverges to
infinity, each step reduces both the curvature and g by a factor e, until cancellation dominates both. If the
relative curvature is at least SMALLEST_RELATIVE_CURVATURE, λR has about eight correct digits. If it is smaller, if
there is no bound (the fit stopped early), or if the loss has no such bound (probit, complementary log-log), the fit
does not decide whether a maximum exists, and the rows have to be tested for separation.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.bound import Bound
from separatrix.objectives.factor import Factor
from separatrix.objectives.problem import Objective

# Smallest ratio of the smallest to the largest curvature at which a fit is trusted not to diverge, assuming that the
# columns have similar spread.
SMALLEST_RELATIVE_CURVATURE = 1e-8


def flat(factor: Factor | None) -> bool:
    """Whether the smallest curvature is so small relative to the largest that the maximum may be at infinity.

    >>> flat(Factor.of(np.diag([1.0, 1e-3]))), flat(Factor.of(np.diag([1.0, 1e-9])))
    (False, True)
    """
    if factor is None:
        return True
    pivots = (factor.d * np.diag(factor.lower)) ** 2
    return bool(pivots.min(initial=np.inf) < SMALLEST_RELATIVE_CURVATURE * pivots.max(initial=0.0))


def exists(problem: Objective, W: Array, bound: Bound, factor: Factor | None = None) -> bool:
    """Whether the bound at W, in the coordinates of ``problem``, proves that an optimum exists.

    ``factor`` is the factor of the Hessian that the bound was computed with, if the caller still has it.

    >>> from separatrix.objectives.curvature_bound import affine
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
