r"""A quadratic model with absolute values, minimised to rounding.

Problem   min_u g·(u − w) + ½ (u − w)ᵀH(u − w) + Σ_j a_j |u_j|, H positive semidefinite, a ≥ 0
Given     H, the gradient g at w, w, a
Returns   u, with exact zeros
Step      sweeps of coordinate descent, which find the signs; then Newton's steps on the face where signs stay, whose
          error is that of solving; where one would change a sign it ends there, at an exact zero, and the next is on
          the face without that weight, until a whole step is made
Stops     where a step gains nothing against the first ones' gains

Sweeps move a weight off zero by itself; if the step with all others takes it back to zero at once and ends, the two
undo each other for ever. From the minimum of a face no sweep can lead back to the same face.

Coordinate descent: Friedman, Hastie and Tibshirani 2010. The face's step: an active-set method, Nocedal and Wright
(2006), section 16.5.
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import EPS, AnyArray, Array
from separatrix.objectives.factor import Factor
from separatrix.objectives.penalty import shortest

# Sweeps between two steps on a face: so many at most, or until so many in a row have changed no sign. A sweep costs
# less than a hundredth of the face's factor.
ROUNDS, SWEEPS, SETTLED = 60, 100, 4
# A gain below this share of the first is none: gains are squares of steps.
NOTHING = 64 * EPS**2
# So many rounds in a row that gain less than this share of all gains end it: near a minimum of many flat directions
# rounding keeps on moving weights.
LITTLE, PATIENCE = 1e-13, 2
# Steps between two rounds of sweeps: as many as take about this many multiplications to factor, and one at least.
FACTOR_WORK = 3e7
# A step after which single coordinates may gain so many times what they could at first went to nowhere.
RUNAWAY = 1e6
# A step along what is nearly flat is cut where rounding has grown to this share of the slope.
SURE = 0.1
# What curvature, of columns of length one, is rounding.
FLAT = 1e-14


def minimise(H: Array, g: Array, w: Array, a: Array, accuracy: float = 0.0, free: AnyArray | None = None) -> Array:
    """u above, or near it: steps have fallen to ``accuracy`` times the first.

    Weights without curvature stay where they are, and those that are not ``free``.

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
    for _ in range(ROUNDS):
        # What G is a sum of, which says what of it is rounding: a gain of that is none.
        size = np.abs(g) + a + np.abs(H) @ np.abs(u - w)
        rounding = float(np.max((4 * EPS * size[free]) ** 2 / h[free], initial=0.0))
        enough = max(max(NOTHING, accuracy**2) * first, rounding)
        if gain <= enough or idle == PATIENCE:
            break
        gain = sweep_matrix(H, G, u, a, SWEEPS, SETTLED, enough)
        if gain <= enough and accuracy > 0:
            break
        swept = u.copy()
        gain = max(gain, _to_face_minimum(H, G, u, a, free, size))
        total, idle = total + gain, idle + 1 if gain <= LITTLE * total else 0
        G[:] = g + H @ (u - w)  # what the sweeps have rounded off
        possible = _possible(h, G, u, a, free)
        if not possible <= RUNAWAY * first:  # a curvature that rounding made negative: no minimum is that way
            return swept
        gain = max(gain, possible)
    return u


def moving(K: int, unpenalised: AnyArray, fit_intercept: bool) -> AnyArray:
    """Which of the weights (K, d + 1), one after the other, a model moves.

    Nothing depends on a shift common to all classes where no penalty holds it: there the first class stays where it is.

    >>> moving(2, np.array([True, False]), True).tolist()
    [False, True, True, True]
    """
    free = np.ones((K, len(unpenalised)), dtype=bool)
    if K > 1:
        free[0] = ~unpenalised
    free[:, 0] &= fit_intercept
    return free.ravel()


def _possible(h: Array, G: Array, u: Array, a: Array, free: AnyArray) -> float:
    """The most that a step in one coordinate may gain, about."""
    slope = shortest(u, G, a)[free]
    with np.errstate(over="ignore"):
        return float(np.max(0.5 * slope * (slope / h[free]), initial=0.0))


def _to_face_minimum(H: Array, G: Array, u: Array, a: Array, free: AnyArray, size: Array) -> float:
    """Go to the least point on the face, which shrinks where a sign would change; u and G change. What was gained.

    ``size``: of the terms that G is a sum of.
    """
    face = np.flatnonzero(free & ((u != 0) | (a == 0)))
    gained = 0.0
    for _ in range(1 + int(FACTOR_WORK / max(1, len(face)) ** 3)):
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
    """How much of a step may be made before what rounding adds to the gradient is as large as the slope was."""
    noise = EPS * float(np.max(np.abs(H[np.ix_(face, face)]) @ np.abs(step)))
    return SURE * float(np.max(np.abs(slope))) / noise if noise > 0 else 1.0


def _newton(H: Array, g: Array, size: Array) -> Array:
    """−H⁻¹ g; where H is singular, as with columns that are copies, a long step along what has no curvature but slope.

    ``size``: of the terms that g is a sum of, which says what of it is rounding. Pivoted Cholesky splits the
    weights into those whose curvature is known and the others: (A, B; Bᵀ, S), where S − BᵀA⁻¹B is rounding and is
    replaced by FLAT.
    """
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    factor = Factor.of(H)
    if factor is not None:
        return -factor.solve(g)
    d = np.sqrt(np.diag(H))
    scaled, b, rounding = H / d / d[:, None], g / d, 64 * EPS * size / d
    L, order, rank, _ = dpstrf(scaled, tol=FLAT, lower=1)
    known, flat = order[:rank] - 1, order[rank:] - 1
    A = np.tril(L[:rank, :rank])

    def solve(right: Array) -> Array:
        return np.asarray(solve_triangular(A, solve_triangular(A, right, lower=True), lower=True, trans=1))

    B, step = scaled[np.ix_(known, flat)], np.empty_like(b)
    left = b[flat] - B.T @ solve(b[known])
    left = np.where(np.abs(left) <= rounding[flat] + np.abs(B).T @ rounding[known], 0.0, left)
    step[flat] = -left / FLAT
    step[known] = -solve(b[known] + B @ step[flat])
    return step / d
