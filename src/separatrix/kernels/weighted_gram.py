"""Σ h x xᵀ over rows of few columns, stored as X (d, n), one tile of rows at a time that fits the first-level cache.

BLAS spends much of its time on packing such matrices: for 21 × 20 000 these loops take half as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from separatrix.kernels.fast_math import LANES

# Rows in a tile, and columns of each factor that are multiplied with each other at a time.
TILE, COLUMNS_PER_PRODUCT = 128, 3


@njit(nogil=True, cache=True, fastmath=LANES)
def weighted_square(X: Any, begin: Any, end: Any, h: Any) -> Any:
    """Σ h x xᵀ over rows ``begin`` to ``end``, (d, d), with h (end − begin,)."""
    d = X.shape[0]
    padded = (d + COLUMNS_PER_PRODUCT - 1) // COLUMNS_PER_PRODUCT * COLUMNS_PER_PRODUCT
    A, B = np.zeros((padded, TILE)), np.zeros((padded, TILE))
    H = np.zeros((padded, padded))
    for start in range(begin, end, TILE):
        m = min(TILE, end - start)
        weight = h[start - begin : start - begin + m]
        for j in range(d):
            x, a, b = X[j, start : start + m], A[j], B[j]
            for i in range(m):
                a[i] = weight[i] * x[i]
                b[i] = x[i]
            for i in range(m, TILE):
                a[i] = 0.0
        for j in range(0, padded, COLUMNS_PER_PRODUCT):
            for k in range(0, j + 1, COLUMNS_PER_PRODUCT):
                _add_products(A[j], A[j + 1], A[j + 2], B[k], B[k + 1], B[k + 2], H, j, k)
    for j in range(d):
        for k in range(j):
            H[k, j] = H[j, k]
    return H[:d, :d].copy()


@njit(nogil=True, cache=True, fastmath=LANES)
def _add_products(a0: Any, a1: Any, a2: Any, b0: Any, b1: Any, b2: Any, H: Any, j: Any, k: Any) -> None:
    """Nine dot products at once, so that each column is read for three of them."""
    s00 = s01 = s02 = s10 = s11 = s12 = s20 = s21 = s22 = 0.0
    for i in range(TILE):
        s00 += a0[i] * b0[i]
        s01 += a0[i] * b1[i]
        s02 += a0[i] * b2[i]
        s10 += a1[i] * b0[i]
        s11 += a1[i] * b1[i]
        s12 += a1[i] * b2[i]
        s20 += a2[i] * b0[i]
        s21 += a2[i] * b1[i]
        s22 += a2[i] * b2[i]
    H[j, k] += s00
    H[j, k + 1] += s01
    H[j, k + 2] += s02
    H[j + 1, k] += s10
    H[j + 1, k + 1] += s11
    H[j + 1, k + 2] += s12
    H[j + 2, k] += s20
    H[j + 2, k + 1] += s21
    H[j + 2, k + 2] += s22
