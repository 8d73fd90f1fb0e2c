"""The slopes of a loss at constant scores, which make the dual points of ``duality_bound`` feasible."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from separatrix.base.arrays import Array

if TYPE_CHECKING:
    from separatrix.objectives.problem import Objective

# Distances from the best constant score whose slopes may cancel the intercept's part of a gradient. The slopes of a
# logistic loss at the two ends are exactly 0 and 1.
CONSTANT_SCORES = (-800.0, -2.0, -1.0, 1.0, 2.0, 800.0)


class ConstantSlopes(NamedTuple):
    """For slopes u of the loss at each constant score: Σ_k p_k u_k, the gradient G_u (d + 1,), and Σ_k p_k ℓ*(u_k).

    p_k is the share of class k. The three arrays have a row for each score.
    """

    along: Array
    gradients: Array
    conjugate: Array


def constant_slopes(problem: Objective) -> ConstantSlopes:
    """The slopes of a convex loss of one score at CONSTANT_SCORES around the best constant score.

    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.rows import labelled_rows
    >>> rows, ridge = labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), Penalty(1.0, np.ones(1))
    >>> constant_slopes(build_objective(rows, 2, ridge, loss="squared")).along.tolist()
    [-1600.0, -4.0, -2.0, 2.0, 4.0, 1600.0]
    """
    loss, sums, share = problem.loss, problem.mean_class_sums, problem.mean_class_sums[:, 0]
    scores = float(problem.null_weights[0, 0] if problem.offsets is None else 0.0) + np.array(CONSTANT_SCORES)
    targets = np.tile(problem.targets, len(scores))
    slopes = loss.derivative(targets, np.repeat(scores, 2)).reshape(-1, 2)
    conjugate = loss.conjugate(targets, slopes.ravel()).reshape(-1, 2)
    with np.errstate(invalid="ignore"):  # a conjugate may be infinite for a class without weight
        mean = conjugate @ share
    return ConstantSlopes(slopes @ share, slopes @ sums, mean)
