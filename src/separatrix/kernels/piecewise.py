"""Sums over rows of a function that is a polynomial on each of many short intervals, for all points of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uintp

# The degree of the polynomials. It is a constant, so that the compiler unrolls the loops over their coefficients.
DEGREE = 7


@njit(nogil=True, cache=True, fastmath={"contract"})
def add_pieces(
    across: Any,
    second: Any,
    u: Any,
    share: Any,
    low: Any,
    per_unit: Any,
    values: Any,
    value: Any,
    slopes: Any = None,
    by_entry: Any = None,
    slope: Any = None,
) -> None:
    """Add Σ_r share_r ℓ(m) to ``value`` (q, n), where m = across_rj + second_i u_r; ``across`` is (rows, n).

    ``values`` (pieces, DEGREE + 1) has the coefficients of ℓ on each piece as a polynomial in v in [−1, 1], lowest
    first. The pieces begin at ``low``, and ``per_unit`` of them are one unit long. With ``slopes``, the same for ℓ′,
    also Σ_r by_entry_er ℓ′(m) is added to ``slope`` (2, q, n). The compiler makes separate code for both cases. The
    sums are added in loops of their own, which it vectorises; so the gradient takes three quarters of the time.
    """
    n = across.shape[1]
    here, slope_here = np.empty(n), np.empty(n)
    for i in range(len(second)):
        for r in range(across.shape[0]):
            lift = second[i] * u[r]
            for j in range(n):
                place = (across[r, j] + lift - low) * per_unit
                piece = uintp(place)
                v = 2.0 * (place - piece) - 1.0
                found = values[piece, uintp(DEGREE)]
                for k in range(DEGREE - 1, -1, -1):
                    found = found * v + values[piece, uintp(k)]
                here[j] = found
                if slopes is not None:
                    found = slopes[piece, uintp(DEGREE)]
                    for k in range(DEGREE - 1, -1, -1):
                        found = found * v + slopes[piece, uintp(k)]
                    slope_here[j] = found
            for j in range(n):
                value[i, j] += share[r] * here[j]
            if slopes is not None:
                for j in range(n):
                    slope[0, i, j] += by_entry[0, r] * slope_here[j]
                    slope[1, i, j] += by_entry[1, r] * slope_here[j]
