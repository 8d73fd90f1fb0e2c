"""Sums over CSR rows that read each entry once, and dual coordinate descent for the logistic loss over them.

The score of a row and its contribution to the sum are computed while the row is in the cache. Rows are those of (data,
indices, indptr) in raw units; their entries may be in any order and may repeat. Sums are in float64 and in a fixed
order. Indices are converted to unsigned numbers: for a signed index Numba checks each time whether it counts from the
end, which takes as long as the sum itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, uintp

from separatrix.core.kernels.dense_rows import LANES, LOSSES_AT_A_TIME, sum_losses


@njit(nogil=True, cache=True, fastmath=LANES)
def score(data: Any, indices: Any, left: Any, right: Any, w: Any) -> Any:
    """w·x of the row with the entries ``left``, …, ``right`` − 1, both unsigned."""
    z = 0.0
    for k in range(left, right):
        z += data[k] * w[uintp(indices[k])]
    return z


@njit(nogil=True, cache=True)
def logistic_pass(
    data: Any,
    indices: Any,
    indptr: Any,
    begin: Any,
    end: Any,
    t: Any,
    weight: Any,
    w: Any,
    b: Any,
    gradient: Any,
) -> Any:
    """Add Σ s ℓ′ x to ``gradient`` (d,), and return Σ s ℓ and Σ s ℓ′, for ℓ = log(1 + e^{−t z}), z = w·x + b.

    The rows are ``begin`` to ``end``.
    """
    value, first = 0.0, 0.0
    r, e, log = np.zeros(LOSSES_AT_A_TIME), np.empty(LOSSES_AT_A_TIME), np.empty(LOSSES_AT_A_TIME)
    for start in range(begin, end, LOSSES_AT_A_TIME):
        stop = min(start + LOSSES_AT_A_TIME, end)
        for p in range(stop - start):
            i = uintp(start + p)
            r[p] = 0.0 if weight[i] == 0.0 else score(data, indices, uintp(indptr[i]), uintp(indptr[i + uintp(1)]), w)
        added = sum_losses(r, t, weight, start, stop, b, e, log)
        value += added[0]
        first += added[1]
        for p in range(stop - start):
            i = uintp(start + p)
            if weight[i] != 0.0:
                for k in range(uintp(indptr[i]), uintp(indptr[i + uintp(1)])):
                    gradient[uintp(indices[k])] += r[p] * data[k]
    return value, first


@njit(nogil=True, cache=True)
def moments_pass(
    data: Any, indices: Any, indptr: Any, share: Any, place: Any, first: Any, square: Any, by_class: Any
) -> None:
    """Add Σ share x to ``first`` (d,), Σ share x² to ``square`` (d,), and Σ share x of each class to ``by_class``.

    ``place`` (m,): the line of ``by_class`` (K − 1, d) for each row; −1 for a row of the first class.
    """
    for i in range(len(indptr) - 1):
        s, at = share[i], place[i]
        left, right = uintp(indptr[i]), uintp(indptr[i + 1])
        for k in range(left, right):
            j = uintp(indices[k])
            x = s * data[k]
            first[j] += x
            square[j] += x * data[k]
        if at >= 0:
            own = by_class[at]
            for k in range(left, right):
                own[uintp(indices[k])] += s * data[k]


# --- Dual coordinate descent over CSR rows, from which a center c is subtracted

# Newton's method ends after a step shorter than this, relative to 1 + m, which leaves an error of about its square, or
# after this many steps.
MARGIN_STEP_TOLERANCE, MOST_MARGIN_STEPS = 1e-6, 60


@njit(nogil=True, cache=True)
def row_lengths(
    data: Any, indices: Any, indptr: Any, inverse: Any, center: Any, row: Any, square: Any, along: Any
) -> None:
    """Write Σ_j x_ij²/q_j to ``square`` and Σ_j c_j x_ij/q_j to ``along``, both (n,), where ``inverse`` is 1/q, (d,).

    ``row`` is a work array (d,) of zeros, which holds x_i/q, so that repeated entries are summed before they are
    squared. It is zero again at the end.
    """
    for i in range(uintp(len(square))):
        left, right = uintp(indptr[i]), uintp(indptr[i + uintp(1)])
        for k in range(left, right):
            j = uintp(indices[k])
            row[j] += data[k] * inverse[j]
        a, b = 0.0, 0.0
        for k in range(left, right):
            j = uintp(indices[k])
            a += data[k] * row[j]
            b += data[k] * inverse[j] * center[j]
        for k in range(left, right):
            row[uintp(indices[k])] = 0.0
        square[i], along[i] = a, b


@njit(nogil=True, cache=True)
def new_margin(m: Any, u: Any, K: Any) -> Any:
    """The root of f(m) = m − K σ(−m) − u by Newton's method, from a guess.

    f increases; it is concave for m > 0 and convex for m < 0. So on the root's side of 0 Newton's iterates are monotone
    from the second on. A step across 0 is stopped at 0.
    """
    side = 1.0 if -0.5 * K - u < 0.0 else -1.0
    m = max(side * m, 0.0)  # mirrored: |m| on the root's side
    for _ in range(MOST_MARGIN_STEPS):
        e = math.exp(-m)
        p = (e if side > 0.0 else 1.0) / (1.0 + e)  # σ(−side·m)
        step = side * (side * m - K * p - u) / (1.0 + K * e / ((1.0 + e) * (1.0 + e)))
        before = m
        m = max(m - step, 0.0)
        if abs(m - before) <= MARGIN_STEP_TOLERANCE * (1.0 + m):
            break
    return side * m


@njit(nogil=True, cache=True)
def epoch(
    data: Any,
    indices: Any,
    indptr: Any,
    runs: Any,
    length: Any,
    t: Any,
    weight: Any,
    inverse: Any,
    square: Any,
    along: Any,
    center_square: Any,
    b: Any,
    alpha: Any,
    v: Any,
    A: Any,
    cv: Any,
) -> Any:
    """Update each α_i in turn, in place. Return A, c·v and Σ α (1 − α/s), the curvature along the intercept.

    Rows are visited in random ``runs`` of ``length`` neighbours, since these are adjacent in memory: visiting single
    rows at random takes twice as long at 75 entries per row.
    v = Σ α_i t_i x_i/q, (d,), and A = Σ α_i t_i, so w = v − A c/q, and the score of a centred row is
    v·x_i − A c·x_i/q − c·v + A c·c/q + b.
    """
    curvature, n = 0.0, uintp(len(alpha))
    for o in range(len(runs)):
        first = uintp(runs[o]) * uintp(length)
        for i in range(first, min(first + uintp(length), n)):
            s = weight[i]
            if s == 0.0:
                continue
            left, right = uintp(indptr[i]), uintp(indptr[i + uintp(1)])
            m = t[i] * (score(data, indices, left, right, v) + (b - cv + A * (center_square - along[i])))
            Q = max(square[i] - 2.0 * along[i] + center_square, 0.0)
            m = new_margin(m, m - Q * alpha[i], Q * s)
            e = math.exp(-abs(m))
            new = s * (e if m >= 0.0 else 1.0) / (1.0 + e)
            change = t[i] * (new - alpha[i])
            alpha[i] = new
            curvature += s * e / ((1.0 + e) * (1.0 + e))
            A += change
            cv += change * along[i]
            for k in range(left, right):
                j = uintp(indices[k])
                v[j] += change * data[k] * inverse[j]
    return A, cv, curvature
