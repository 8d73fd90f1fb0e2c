r"""A quadratic model with absolute values, minimised to rounding.

Problem   min_u g·(u − w) + ½ (u − w)ᵀH(u − w) + Σ_j a_j |u_j|, H positive semidefinite, a ≥ 0
Given     H, the gradient g at w, w, a
Returns   u, with exact zeros
Step      sweeps of coordinate descent, which find the signs; then Newton's step on the face where signs stay, whose
          error is that of solving; where it would change a sign it ends there, at an exact zero
Stops     where a step gains nothing against the first ones' gains

Coordinate descent: Friedman, Hastie and Tibshirani 2010. The face's step: an active-set method, Nocedal and Wright
(2006), section 16.5.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import EPS, AnyArray, Array
from separatrix.factor import Factor
from separatrix.penalty import shortest

# Sweeps between two steps on a face: so many at most, or until so many in a row have changed no sign. A sweep costs
# less than a hundredth of the face's factor.
ROUNDS, SWEEPS, SETTLED = 60, 100, 4
# A gain below this share of the first is none: gains are squares of steps.
NOTHING = 64 * EPS**2


def minimise(H: Array, g: Array, w: Array, a: Array, accuracy: float = 0.0) -> Array:
    """u above, or near it: steps have fallen to ``accuracy`` times the first. Without curvature, weights stay.

    >>> minimise(np.eye(2), np.array([-3.0, 0.5]), np.zeros(2), np.ones(2)).tolist()
    [2.0, 0.0]
    """
    from separatrix.kernels.coordinate import sweep_matrix

    u, G, h = w.copy(), g.copy(), np.diag(H)
    free = h > 0
    first = gain = sweep_matrix(H, G, u, a, 1, 1, 0.0)
    rounding = (4 * EPS * (np.abs(g) + a)[free]) ** 2 / h[free]
    enough = max(max(NOTHING, accuracy**2) * first, float(np.max(rounding, initial=0.0)))
    for _ in range(ROUNDS):
        if gain <= enough:
            break
        gain = sweep_matrix(H, G, u, a, SWEEPS, SETTLED, enough)
        if gain <= enough and accuracy > 0:
            break
        gain = _to_face_minimum(H, G, u, a, free)
        G[:] = g + H @ (u - w)  # what the sweeps have rounded off
        gain = max(gain, _possible(h, G, u, a, free))
    return u


def _possible(h: Array, G: Array, u: Array, a: Array, free: AnyArray) -> float:
    """The most that a step in one coordinate may gain, about."""
    slope = shortest(u, G, a)[free]
    return float(np.max(0.5 * slope * (slope / h[free]), initial=0.0))


def _to_face_minimum(H: Array, G: Array, u: Array, a: Array, free: AnyArray) -> float:
    """Go to the least point with the same signs, or as far as they last; u and G change. What was gained."""
    face = np.flatnonzero(free & ((u != 0) | (a == 0)))
    if len(face) == 0:
        return 0.0
    slope = G[face] + a[face] * np.sign(u[face])
    factor = _factor(H[np.ix_(face, face)])
    if factor is None:
        return 0.0
    step = -factor.solve(slope)
    downhill = float(slope @ step)
    if not downhill < 0:
        return 0.0
    turned = (a[face] > 0) & (np.sign(u[face] + step) != np.sign(u[face]))
    reach = np.where(turned, -u[face] / np.where(turned, step, 1.0), np.inf)
    share = min(1.0, float(reach.min()))
    to = np.where(reach <= share, 0.0, u[face] + share * step)
    moved = to - u[face]
    u[face] = to
    G += H[:, face] @ moved
    return -float(share * (1 - 0.5 * share) * downhill)


def _factor(H: Array) -> Factor | None:
    """Of H, or of H with a little more on its diagonal where it is singular, as with columns that are copies."""
    for more in (0.0, 1e-12, 1e-8):
        factor = Factor.of(H + np.diag(more * np.diag(H)))
        if factor is not None:
            return factor
    return None
