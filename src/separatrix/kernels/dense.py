"""Fused sums over dense rows: the score of a row and its contribution to the sum, while the row is in the cache.

The rows are ``begin`` to ``end`` of X in raw units, float64 or float32; sums are in float64 and in a fixed order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from separatrix.kernels.fast_math import LANES
from separatrix.kernels.logistic_losses import LOSSES_AT_A_TIME, sum_losses

# Rows with more columns than this are read 8 at a time and not 32, so that they are still in the second cache (often
# 1 MB) when they are read again.
MOST_COLUMNS_OF_SHORT_ROWS, LONG_ROWS_AT_A_TIME = 512, 8


@njit(nogil=True, cache=True, fastmath=LANES)
def logistic_pass(
    X: Any, begin: Any, end: Any, t: Any, weight: Any, w: Any, b: Any, gradient: Any, center: Any = None
) -> Any:
    """Add Σ s ℓ′ x to ``gradient`` (d,), and return Σ s ℓ and Σ s ℓ′, for ℓ = log(1 + e^{−t z}), z = w·x + b.

    Four rows are multiplied at a time, so that w and the gradient are read once for four rows. If fewer are left, the
    last row is repeated with a contribution of zero. ``center`` (d,) is subtracted from every row first. The compiler
    makes separate code for both cases, so without a center nothing is subtracted.
    """
    value, first = 0.0, 0.0
    d = X.shape[1]
    step = LOSSES_AT_A_TIME if d <= MOST_COLUMNS_OF_SHORT_ROWS else LONG_ROWS_AT_A_TIME
    r, e, log = np.zeros(LOSSES_AT_A_TIME), np.empty(LOSSES_AT_A_TIME), np.empty(LOSSES_AT_A_TIME)
    for start in range(begin, end, step):
        stop = min(start + step, end)
        last = stop - 1
        for i in range(start, stop, 4):
            i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
            z0, z1, z2, z3 = 0.0, 0.0, 0.0, 0.0
            if center is None:
                for j in range(d):
                    z0 += X[i, j] * w[j]
                    z1 += X[i1, j] * w[j]
                    z2 += X[i2, j] * w[j]
                    z3 += X[i3, j] * w[j]
            else:
                for j in range(d):
                    z0 += (X[i, j] - center[j]) * w[j]
                    z1 += (X[i1, j] - center[j]) * w[j]
                    z2 += (X[i2, j] - center[j]) * w[j]
                    z3 += (X[i3, j] - center[j]) * w[j]
            p = i - start
            r[p], r[p + 1], r[p + 2], r[p + 3] = z0, z1, z2, z3
        added = sum_losses(r, t, weight, start, stop, b, e, log)
        value += added[0]
        first += added[1]
        for i in range(start, stop, 4):
            i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
            p = i - start
            r0, r1, r2, r3 = r[p], r[p + 1], r[p + 2], r[p + 3]
            if center is None:
                for j in range(d):
                    gradient[j] += r0 * X[i, j] + r1 * X[i1, j] + r2 * X[i2, j] + r3 * X[i3, j]
            else:
                for j in range(d):
                    c = center[j]
                    gradient[j] += r0 * (X[i, j] - c) + r1 * (X[i1, j] - c) + r2 * (X[i2, j] - c) + r3 * (X[i3, j] - c)
    return value, first


@njit(nogil=True, cache=True)
def count_beyond(X: Any, base: Any, far: Any, count: Any) -> None:
    """Set ``count`` (n,) to the number of entries of each row that differ from ``base`` by more than ``far``."""
    for i in range(X.shape[0]):
        beyond = 0
        for j in range(X.shape[1]):
            beyond += abs(X[i, j] - base[j]) > far[j]
        count[i] = beyond


@njit(nogil=True, cache=True)
def places_beyond(X: Any, base: Any, far: Any, count: Any, places: Any) -> None:
    """Write row and column of each entry that ``count_beyond`` counts to ``places`` (2, entries), row after row."""
    k = 0
    for i in range(X.shape[0]):
        if count[i] > 0:
            for j in range(X.shape[1]):
                if abs(X[i, j] - base[j]) > far[j]:
                    places[0, k], places[1, k] = i, j
                    k += 1
