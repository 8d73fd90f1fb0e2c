"""The null model: the best constant scores, zero for every column. Its value is the unit in which gaps are measured.

Its second derivatives need no pass of their own: with p the classes' shares they are Σ ⊗ X̄ᵀX̄/n, Σ = Σ_k p_k ℓ″(k, z).
The slopes of a loss at constant scores make the dual points of a duality bound feasible.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, AnyArray, Array
from separatrix.core.linear_algebra import Factor
from separatrix.core.losses import Loss
from separatrix.core.newton_step import damped_step, newton_direction

if TYPE_CHECKING:
    from separatrix.core.problem import Objective


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

    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> rows, ridge = labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), Penalty(1.0, np.ones(1))
    >>> constant_slopes(build_objective(rows, 2, ridge, loss="squared")).along.tolist()
    [-1600.0, -4.0, -2.0, 2.0, 4.0, 1600.0]
    """
    loss, sums, share = problem.loss, problem.framed.mean_class_sums, problem.framed.mean_class_sums[:, 0]
    scores = float(problem.null_weights[0, 0] if problem.offsets is None else 0.0) + np.array(CONSTANT_SCORES)
    targets = np.tile(problem.targets, len(scores))
    slopes = loss.derivative(targets, np.repeat(scores, 2)).reshape(-1, 2)
    conjugate = loss.conjugate(targets, slopes.ravel()).reshape(-1, 2)
    with np.errstate(invalid="ignore"):  # a conjugate may be infinite for a class without weight
        mean = conjugate @ share
    return ConstantSlopes(slopes @ share, slopes @ sums, mean)


# The interval that contains the best constant is divided into 64 parts, ten times: 2**-60 of it is below its rounding.
DIVISIONS, PARTS = 10, 64


def null_value(problem: Objective) -> float:
    """E of the best constants, zero without an intercept."""
    if problem.offsets is not None:
        return _value_with_offset(problem)
    if not (problem.loss.traits.proper or np.any(problem.loss.value(problem.targets, np.zeros(2)))):
        return 0.0  # no cost is below zero
    share = problem.framed.mean_class_sums[:, 0]
    if problem.fit_intercept and problem.loss.traits.canonical:  # the loss of constant probabilities is their entropy
        return -sum((p * log(p) for p in share.tolist() if 0 < p < 1), -0.0)
    c = problem.null_weights[:, 0]
    if np.count_nonzero(share) < 2:
        return 0.0
    z = np.tile(c, (problem.n_classes, 1))
    return float(share @ problem.loss.value(problem.targets, z if problem.loss.traits.multiclass else z[:, 0]))


def null_weights(problem: Objective) -> Array:
    """The best constants (approximate with an offset), and zero for every column, (K or 1, d + 1)."""
    W, share = np.zeros(problem.shape), np.clip(problem.framed.mean_class_sums[:, 0], EPS, 1 - EPS)
    if problem.offsets is not None:
        W[:] = problem.offsets
    if problem.fit_intercept:
        W[:, 0] = best_constants(problem.loss, problem.targets, share) - W[:, 1:] @ problem.framed.mean_row[1:]
    return W


def _value_with_offset(problem: Objective) -> float:
    """E of the best constants with an offset, by Newton's method in the constants alone."""
    constants = np.zeros_like(problem.pinned)
    constants[0] = problem.fit_intercept
    alone, W = problem.with_(pinned=problem.pinned | ~constants), problem.null_weights
    at = alone.value_gradient(W)
    for _ in range(30):  # the most Newton steps
        g = alone.subspace.reduce(at.gradient)
        factor = alone.factor(W) if len(g) and problem.has_hessian else None
        if factor is None or not np.any(np.abs(g) > EPS):
            break
        reached = damped_step(alone, W, at, newton_direction(alone, at.gradient, factor))
        if reached is None or not reached[1].value < at.value:
            break
        W, at = reached
    return at.value


def best_constants(loss: Loss, targets: AnyArray, share: Array) -> Array | float:
    """The constant scores, (K,) or one number, that minimise Σ_k p_k ℓ(t_k, c) for the classes' shares p, all positive.

    A link has them in closed form: its probabilities are the shares. Without one, c is where the mean slope changes its
    sign, by bisection; where all of an interval is best, its end nearer to the larger class.

    >>> from separatrix.core.losses import LOSSES
    >>> round(float(best_constants(LOSSES["squared"], np.array([-1.0, 1.0]), np.array([0.25, 0.75]))), 9)
    0.5
    """
    if loss.traits.multiclass:
        z: Array = np.log(share) - np.log(share).mean()
        return z
    if loss.traits.link is not None:
        return loss.traits.link.inverse(float(share[1]))
    classes, shares = tuple(targets.tolist()), tuple(share.tolist())
    if isinstance(loss, Hashable):
        return _best_constant(loss, classes, shares)
    return _best_constant.__wrapped__(loss, classes, shares)


@lru_cache(maxsize=64)
def _best_constant(loss: Loss, classes: tuple[float, ...], shares: tuple[float, ...]) -> float:
    """``best_constants`` of a loss without a link. Every objective of a run asks for it, so it is cached."""
    targets, share = np.array(classes), np.array(shares)
    larger = 1.0 if share[1] >= share[0] else -1.0

    def slopes(sizes: Array) -> Array:
        """The mean slopes at scores of these sizes, away from zero towards the larger class."""
        each = loss.derivative(np.tile(targets, len(sizes)), np.repeat(larger * sizes, 2))
        return np.asarray(larger * (each.reshape(-1, 2) @ share))

    far = 1.0
    while slopes(np.array([far]))[0] < 0 and far < 1e3:  # the best score may be infinite
        far *= 2.0
    low, high = 0.0, far
    for _ in range(DIVISIONS):
        inner = low + (high - low) / PARTS * np.arange(1.0, PARTS)
        falling = int(np.searchsorted(slopes(inner) >= 0, True))  # the slope of a convex loss rises
        low, high = (low, *inner.tolist(), high)[falling : falling + 2]
    return larger * high if low > 0 else 0.0


def null_curvature(base: Objective) -> Array:
    """Σ_k p_k ℓ″(k, z) at the best constants, in the coordinates of the contrasts between classes, (c, c).

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 1, 1]), 2), 2, ridge)
    >>> null_curvature(problem).round(4).tolist()
    [[0.1875]]
    """
    return _curvature_at(base, base.null_weights[:, 0])


def _curvature_at(base: Objective, constants: Array) -> Array:
    """``null_curvature`` at any constant scores, (K or 1,)."""
    Q, share = base.subspace.Q, base.framed.class_sums[:, 0] / base.total_weight
    if Q is None:
        z = np.full(len(share), constants[0])
        return np.array([[share @ base.loss.curvature_product(base.targets, z, np.ones(len(share)))]])
    z = np.tile(constants, (len(share), 1))
    along = [np.tile(q, (len(share), 1)) for q in Q.T]
    return np.array([share @ base.loss.curvature_product(base.targets, z, dz) for dz in along]) @ Q


def null_hessian(base: Objective) -> Array:
    """The second derivatives of the mean loss at the null model, on the identified directions, (c r, c r).

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), 2, ridge)
    >>> null_hessian(problem).tolist()
    [[0.25, 0.0], [0.0, 0.3125]]
    """
    G, Z = base.columns.sample_gram, base.subspace.Z
    return np.asarray(np.kron(null_curvature(base), G if Z is None else Z.T @ G @ Z), dtype=np.float64)


def factor_at_zero(base: Objective) -> Factor | None:
    """A factor of ∇²E at W = 0, without a pass; None if the Gram matrix is not known.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 1, 1]), 2), 2, ridge)
    >>> g, zero = np.array([1.0, 2.0]), np.zeros((1, 2))
    >>> bool(np.allclose(factor_at_zero(problem).solve(g), problem.factor(zero).solve(g)))
    True
    """
    Z = base.subspace.Z
    if not base.framed.sample_is_all:  # the subspace was found without all rows
        return None
    K = base.shape[0]
    if base.loss.traits.canonical:  # all probabilities are equal, and the curvature is the same along every contrast
        curvature = 0.25 if K == 1 else 1.0 / K
    else:
        curvature = float(_curvature_at(base, np.zeros(K))[0, 0])
    H = curvature * base.columns.gram
    diagonal = H.ravel()[:: len(H) + 1]  # a view
    diagonal += base.root_penalty**2
    H = H if Z is None else Z.T @ H @ Z
    if K == 1:
        return Factor.of(H)
    blocks = np.zeros((K - 1, len(H), K - 1, len(H)))
    for k in range(K - 1):
        blocks[k, :, k, :] = H
    return Factor.of(blocks.reshape((K - 1) * len(H), -1))
