r"""The length of Newton's first step from W = 0 on a small dense table.

All probabilities are equal at W = 0, so the curvature of a logistic loss is largest there, and Newton's first step V is
too short: the minimum of φ(α) = E(αV) is often at α between 1.2 and 2.5. The scores of αV are α times those of V, so
φ′ at several α takes one pass. The longer step usually saves one of five Newton steps, sometimes two.

The first estimate of the minimum is the zero of the rational function (−a + cα)/(1 + kα) that has the slope φ′(0) = −a,
its derivative φ″(0) = a (V is a Newton step) and φ′(1) = −b: with k = b/(a − b) it is at α = 1/(1 − k). One secant step
improves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from separatrix.base.arrays import Array

if TYPE_CHECKING:
    from separatrix.objectives.dense_table import DenseTable

# The largest first estimate, and the largest multiple: if classes are separated, φ may have no minimum.
LARGEST_ESTIMATE, LARGEST_MULTIPLE = 2.0, 8.0


def first_multiple(table: DenseTable, V: Array, slope: float) -> float:
    """A multiple α of Newton's step V from W = 0, between 1 and LARGEST_MULTIPLE, near the minimum of E(αV).

    ``slope``: φ′(0) = ⟨∇E(0), V⟩. The result is 1 if E no longer falls at V.

    >>> import numpy as np
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.rows import labelled_rows
    >>> rows = labelled_rows(np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1]), 2)
    >>> table = build_objective(rows, 2, Penalty(0.1, np.ones(1))).dense_table
    >>> zero = np.zeros((1, 2))
    >>> gradient = table.value_gradient(zero).gradient
    >>> V = -np.linalg.solve(table.hessian(zero), gradient[0])[None, :]
    >>> alpha = first_multiple(table, V, float(np.vdot(gradient, V)))
    >>> alpha > 1.1, table.value_gradient(alpha * V).value < table.value_gradient(V).value
    (True, True)
    """
    slope_at = table.slope_along(V)
    at_one = slope_at(1.0)
    if not slope < at_one < 0:
        return 1.0
    k = at_one / (slope - at_one)
    estimate = min(1 / (1 - k), LARGEST_ESTIMATE) if k < 1 else LARGEST_ESTIMATE
    there = slope_at(estimate)
    if not there > at_one:  # rounding, or scores so large that E is a straight line
        return estimate
    return min(max(1.0, estimate - there * (estimate - 1) / (there - at_one)), LARGEST_MULTIPLE)
