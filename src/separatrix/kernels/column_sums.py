"""Sums by column over dense rows in one pass; rows in float64 or float32, sums in float64 and in a fixed order."""

from __future__ import annotations

from typing import Any

from numba import njit

from separatrix.kernels.fast_math import LANES


@njit(nogil=True, cache=True, fastmath=LANES)
def moments_pass(X: Any, share: Any, place: Any, first: Any, square: Any, by_class: Any) -> Any:
    """Add Σ share x to ``first`` (d,), Σ share x² to ``square`` (d,), and Σ share x of each class to ``by_class``.

    ``place`` (m,): the line of ``by_class`` (K − 1, d) for each row; −1 for a row of the first class.
    """
    for i in range(X.shape[0]):
        s, k = share[i], place[i]
        for j in range(X.shape[1]):
            x = s * X[i, j]
            first[j] += x
            square[j] += x * X[i, j]
        if k >= 0:
            for j in range(X.shape[1]):
                by_class[k, j] += s * X[i, j]
