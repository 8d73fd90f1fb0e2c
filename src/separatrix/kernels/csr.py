"""Fused sums over CSR rows: the score of a row and its contribution to the sum, while the row is in the cache.

The rows are ``begin`` to ``end`` of (data, indices, indptr) in raw units; their entries may be in any order and may
repeat. Sums are in float64 and in a fixed order. Indices are converted to unsigned numbers: for a signed index Numba
checks each time whether it counts from the end, which takes as long as the sum itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uintp

from separatrix.kernels.fast_math import LANES
from separatrix.kernels.logistic_losses import LOSSES_AT_A_TIME, sum_losses


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
    """Add Σ s ℓ′ x to ``gradient`` (d,), and return Σ s ℓ and Σ s ℓ′, for ℓ = log(1 + e^{−t z}), z = w·x + b."""
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
def square_pass(
    data: Any, indices: Any, indptr: Any, begin: Any, end: Any, weight: Any, unit: Any, squares: Any
) -> Any:
    """Add Σ s (x/unit)² by column to ``squares`` (d,)."""
    for i in range(uintp(begin), uintp(end)):
        for k in range(uintp(indptr[i]), uintp(indptr[i + uintp(1)])):
            j = uintp(indices[k])
            x = data[k] / unit[j]
            squares[j] += weight[i] * x * x


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
