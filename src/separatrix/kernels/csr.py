"""Sums over CSR rows, fused: a row's score, what follows from it, and its share of the sum while it is in cache.

Rows ``begin`` to ``end`` of (data, indices, indptr) in raw units, in any order within a row, repeated or not; sums run
in one fixed order, in float64 whatever the rows. Places are read as unsigned numbers: for signed ones Numba asks each
time whether to count from the end, which costs as much as the sum.
"""

from __future__ import annotations

import math
from typing import Any

from numba import njit, uintp

from separatrix.kernels.fast_math import LANES


@njit(nogil=True, cache=True, fastmath=LANES)
def score(data: Any, indices: Any, left: Any, right: Any, w: Any) -> Any:
    """w·x of the row whose entries are ``left``, …, ``right`` − 1, both unsigned."""
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
    """Adds Σ s ℓ′ x to ``gradient`` (d,); returns Σ s ℓ and Σ s ℓ′, for ℓ = log(1 + e^{−t z}), z = w·x + b."""
    value, first = 0.0, 0.0
    for i in range(uintp(begin), uintp(end)):
        if weight[i] == 0.0:
            continue
        left, right = uintp(indptr[i]), uintp(indptr[i + uintp(1)])
        m = t[i] * (b + score(data, indices, left, right, w))
        e = math.exp(-abs(m))
        value += weight[i] * (math.log1p(e) + max(-m, 0.0))
        r = -t[i] * weight[i] * (e if m >= 0.0 else 1.0) / (1.0 + e)
        first += r
        for k in range(left, right):
            gradient[uintp(indices[k])] += r * data[k]
    return value, first


@njit(nogil=True, cache=True)
def square_pass(
    data: Any, indices: Any, indptr: Any, begin: Any, end: Any, weight: Any, unit: Any, squares: Any
) -> Any:
    """Adds Σ s (x/unit)² by column to ``squares`` (d,)."""
    for i in range(uintp(begin), uintp(end)):
        for k in range(uintp(indptr[i]), uintp(indptr[i + uintp(1)])):
            j = uintp(indices[k])
            x = data[k] / unit[j]
            squares[j] += weight[i] * x * x


@njit(nogil=True, cache=True)
def moments_pass(
    data: Any, indices: Any, indptr: Any, share: Any, place: Any, first: Any, square: Any, by_class: Any
) -> None:
    """Adds Σ share x to ``first`` (d,), Σ share x² to ``square`` (d,), and of each class Σ share x to ``by_class``.

    ``place`` (m,): a row's place in ``by_class`` (K − 1, d); −1 for a row of the first class.
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
