r"""The minimum of a quadratic model with absolute values, to rounding error.

Problem   min_u g·(u − w) + ½ (u − w)ᵀH(u − w) + Σ_j a_j |u_j|, H positive semidefinite, a ≥ 0
Given     H, the gradient g at w, w, a
Returns   u, with exact zeros
Step      sweeps of coordinate descent, which find the signs; then Newton steps on the face where signs are fixed. A
          step that would change the sign of a weight ends where that weight is exactly zero, and the next step is on
          the face without that weight, until a full step is made
Stops     when the gain of a step is negligible compared with the first gains

The Newton steps continue to the minimum of a face. Otherwise a sweep might move a weight off zero and a single Newton
step might move it back, in an endless cycle. From the minimum of a face, no sweep leads back to the same face.

Coordinate descent: Friedman, Hastie and Tibshirani 2010. The face's step: an active-set method, Nocedal and Wright
(2006), section 16.5.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import EPS, AnyArray, Array
from separatrix.objectives.factor import Factor
from separatrix.objectives.penalty import shortest

# The most rounds of sweeps and face steps.
MOST_SWEEP_ROUNDS = 60
# The most sweeps of a round; a round also ends after SETTLED_SWEEPS sweeps without a change of sign. A sweep costs less
# than a hundredth of the factor of a face.
MOST_SWEEPS_PER_ROUND, SETTLED_SWEEPS = 100, 4
# A gain below this share of the first gain counts as zero. The share is a square because gains are proportional to
# squared steps.
SMALLEST_GAIN_SHARE = 64 * EPS**2
# The search ends after MOST_IDLE_ROUNDS consecutive rounds that each gain less than SMALLEST_ROUND_GAIN times the total
# gain so far: near a minimum with many flat directions, rounding errors keep moving the weights.
SMALLEST_ROUND_GAIN, MOST_IDLE_ROUNDS = 1e-13, 2
# The faces of one round are factored until this would take more than about this many multiplications; at least one face
# is always factored.
FACTOR_WORK_PER_ROUND = 3e7
# If the possible gain of a single coordinate grows by more than this factor, the step has diverged.
LARGEST_GAIN_GROWTH = 1e6
# A step along a nearly flat direction is shortened to where the rounding error of the slope reaches this share of it.
LARGEST_SLOPE_ROUNDING = 0.1
# Cholesky pivots below this, for a matrix scaled to a unit diagonal, are treated as rounding errors.
SMALLEST_PIVOT = 1e-14


def minimise(H: Array, g: Array, w: Array, a: Array, accuracy: float = 0.0, free: AnyArray | None = None) -> Array:
    """The minimum u, to ``accuracy`` times the first step.

    Weights without curvature and weights that are not ``free`` keep their values.

    >>> minimise(np.eye(2), np.array([-3.0, 0.5]), np.zeros(2), np.ones(2)).tolist()
    [2.0, 0.0]
    """
    from separatrix.kernels.coordinate import sweep_matrix

    if free is not None and not np.all(free):
        u = w.copy()
        u[free] = minimise(np.ascontiguousarray(H[np.ix_(free, free)]), g[free], w[free], a[free], accuracy)
        return u
    u, G, h = w.copy(), g.copy(), np.diag(H)
    free = h > 0
    first = gain = total = sweep_matrix(H, G, u, a, 1, 1, 0.0)
    idle = 0
    for _ in range(MOST_SWEEP_ROUNDS):
        # The size of the terms of G, which determines its rounding error: a gain of that size counts as none.
        size = np.abs(g) + a + np.abs(H) @ np.abs(u - w)
        rounding = float(np.max((4 * EPS * size[free]) ** 2 / h[free], initial=0.0))
        enough = max(max(SMALLEST_GAIN_SHARE, accuracy**2) * first, rounding)
        if gain <= enough or idle == MOST_IDLE_ROUNDS:
            break
        gain = sweep_matrix(H, G, u, a, MOST_SWEEPS_PER_ROUND, SETTLED_SWEEPS, enough)
        if gain <= enough and accuracy > 0:
            break
        swept = u.copy()
        gain = max(gain, _to_face_minimum(H, G, u, a, free, size))
        total, idle = total + gain, idle + 1 if gain <= SMALLEST_ROUND_GAIN * total else 0
        G[:] = g + H @ (u - w)  # recomputed, since sweeps accumulate rounding errors
        possible = _possible(h, G, u, a, free)
        if (
            not possible <= LARGEST_GAIN_GROWTH * first
        ):  # rounding made a curvature negative, so the step led away from the minimum
            return swept
        gain = max(gain, possible)
    return u


def moving(K: int, unpenalised: AnyArray, fit_intercept: bool) -> AnyArray:
    """Which of the weights (K, d + 1), flattened, a model changes.

    E does not depend on a common shift of all classes in an unpenalised column, so there the first class is fixed.

    >>> moving(2, np.array([True, False]), True).tolist()
    [False, True, True, True]
    """
    free = np.ones((K, len(unpenalised)), dtype=bool)
    if K > 1:
        free[0] = ~unpenalised
    free[:, 0] &= fit_intercept
    return free.ravel()


def _possible(h: Array, G: Array, u: Array, a: Array, free: AnyArray) -> float:
    """The largest gain, approximately, that a step in a single coordinate can achieve."""
    slope = shortest(u, G, a)[free]
    with np.errstate(over="ignore"):
        return float(np.max(0.5 * slope * (slope / h[free]), initial=0.0))


def _to_face_minimum(H: Array, G: Array, u: Array, a: Array, free: AnyArray, size: Array) -> float:
    """Move u to the minimum on the face, which shrinks when a sign would change. Returns the gain; changes u and G.

    ``size``: the size of the terms of G.
    """
    face = np.flatnonzero(free & ((u != 0) | (a == 0)))
    gained = 0.0
    for _ in range(1 + int(FACTOR_WORK_PER_ROUND / max(1, len(face)) ** 3)):
        if len(face) == 0:
            break
        slope = G[face] + a[face] * np.sign(u[face])
        step = _newton(H[np.ix_(face, face)], slope, size[face])
        downhill = float(slope @ step)
        if not downhill < 0:
            break
        turned = (a[face] > 0) & (np.sign(u[face] + step) != np.sign(u[face]))
        reach = np.where(turned, -u[face] / np.where(turned, step, 1.0), np.inf)
        share = min(1.0, float(reach.min()), _sure(H, face, slope, step))
        to = np.where(reach <= share, 0.0, u[face] + share * step)
        moved = to - u[face]
        u[face] = to
        G += H[:, face] @ moved
        gained -= share * (1 - 0.5 * share) * downhill
        if not np.any(reach <= share):
            break
        face = face[reach > share]
    return gained


def _sure(H: Array, face: AnyArray, slope: Array, step: Array) -> float:
    """The share of a step at which rounding errors of the gradient reach LARGEST_SLOPE_ROUNDING times the slope."""
    noise = EPS * float(np.max(np.abs(H[np.ix_(face, face)]) @ np.abs(step)))
    return LARGEST_SLOPE_ROUNDING * float(np.max(np.abs(slope))) / noise if noise > 0 else 1.0


def _newton(H: Array, g: Array, size: Array) -> Array:
    """The Newton step −H⁻¹ g; if H is singular, as with duplicate columns, the step is long along its null space.

    ``size``: the size of the terms of g, which determines its rounding error. Pivoted Cholesky splits H into blocks
    (A, B; Bᵀ, S), where A is regular and the Schur complement S − BᵀA⁻¹B is only rounding error; the complement is
    replaced by SMALLEST_PIVOT.
    """
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    factor = Factor.of(H)
    if factor is not None:
        return -factor.solve(g)
    d = np.sqrt(np.diag(H))
    scaled, b, rounding = H / d / d[:, None], g / d, 64 * EPS * size / d
    L, order, rank, _ = dpstrf(scaled, tol=SMALLEST_PIVOT, lower=1)
    known, flat = order[:rank] - 1, order[rank:] - 1
    A = np.tril(L[:rank, :rank])

    def solve(right: Array) -> Array:
        return np.asarray(solve_triangular(A, solve_triangular(A, right, lower=True), lower=True, trans=1))

    B, step = scaled[np.ix_(known, flat)], np.empty_like(b)
    left = b[flat] - B.T @ solve(b[known])
    left = np.where(np.abs(left) <= rounding[flat] + np.abs(B).T @ rounding[known], 0.0, left)
    step[flat] = -left / SMALLEST_PIVOT
    step[known] = -solve(b[known] + B @ step[flat])
    return step / d
