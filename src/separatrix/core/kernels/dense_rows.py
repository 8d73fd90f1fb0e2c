"""The logistic loss with SIMD instructions, and sums over dense rows that read each entry once.

The sums are those of the logistic loss and its gradient, of entries by column, and of a function given
piece by piece. Rows are float64 or float32; sums are in float64 and in a fixed order, so that every run has the same
rounding errors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, types, uintp
from numba.extending import intrinsic

# Flags that allow the compiler to vectorise a sum by reordering its additions. Infinity and NaN keep their meaning, and
# the order of additions is fixed at compilation.
LANES = {"reassoc", "contract", "nsz"}
# Without these flags. If a function has no ``fastmath`` setting of its own, Numba compiles it with the flags of its
# first caller.
NO_FAST_MATH = False

# --- The logistic loss and its slope for several rows at a time

# The number of rows whose losses are computed together. The rows are read twice, so they should stay in a cache of the
# processor: 32 rows of 20 columns take 5 kB, of 512 columns 131 kB.
LOSSES_AT_A_TIME = 32

# log 2 in two parts: the first has few digits, so that its product with a whole number below 2^11 is exact.
LOG_2, LOG_2_HIGH, LOG_2_LOW = math.log(2.0), 0.6931471803691238, 1.9082149292705877e-10
PER_LOG_2 = 1.0 / LOG_2
# Adding this to a number rounds it to a whole number k, and leaves k + 1023, the exponent of 2^k, in the lowest bits.
ROUNDING = 1.5 * 2.0**52 + 1023.0
# Below this, e^x is set to zero: e^-708 = 3.3e-308 is close to the smallest normal number.
LOWEST = -708.0
# The e at which both forms of log(1 + e) have the same |s|.
MIDDLE = math.sqrt(2.0) - 1.0
# The coefficients of e^r from r² to r¹³, and of 2 artanh(s)/s from s² to s²².
E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13 = (1.0 / math.factorial(k) for k in range(2, 14))
A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11 = (2.0 / (2 * k + 1) for k in range(1, 12))


def _same_bits(result: Any) -> Any:
    """An intrinsic that reinterprets the bits of a number as a number of another type."""

    def typed(context: Any, number: Any) -> Any:
        def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return builder.bitcast(given[0], context.get_value_type(signature.return_type))

        return result(number), made

    return intrinsic(typed)


_as_float, _as_whole = _same_bits(types.float64), _same_bits(types.int64)


@njit(nogil=True, cache=True, fastmath=NO_FAST_MATH, error_model="numpy")
def exponentials(m: Any, e: Any, log: Any) -> None:
    """Set ``e`` to e^{−|m|}, accurate to 2 units in the last place, and ``log`` to log(1 + e^{−|m|}), accurate to 3.

    e^x is 2^k e^r with |r| ≤ log(2)/2, by the Taylor series of e^r. log(1 + e) is 2 artanh(s) with s = e/(2 + e), or
    log 2 + 2 artanh(s) with s = (e − 1)/(e + 3), whichever |s| is smaller, by the Taylor series of artanh. For exp and
    log1p the compiler calls the C library, one number after the other; these calls took half of the time of a pass over
    rows of 20 columns. The compiler may not reorder sums here, which would lose the small parts of x − k log 2 and of
    log(1 + e).
    """
    for i in range(LOSSES_AT_A_TIME):
        x = -abs(m[i])
        inside = LOWEST if x < LOWEST else x
        shifted = inside * PER_LOG_2 + ROUNDING
        k = shifted - ROUNDING
        r = (inside - k * LOG_2_HIGH) - k * LOG_2_LOW
        high = ((((E13 * r + E12) * r + E11) * r + E10) * r + E9) * r + E8
        tail = (((((high * r + E7) * r + E6) * r + E5) * r + E4) * r + E3) * r + E2
        power = ((tail * r + 1.0) * r + 1.0) * _as_float(_as_whole(shifted) << 52)
        odds = 0.0 if x < LOWEST else power
        above = odds > MIDDLE
        s = (odds - 1.0 if above else odds) / (odds + 3.0 if above else odds + 2.0)
        q = s * s
        high = ((((A11 * q + A10) * q + A9) * q + A8) * q + A7) * q + A6
        tail = ((((high * q + A5) * q + A4) * q + A3) * q + A2) * q + A1
        e[i] = odds
        log[i] = (LOG_2 if above else 0.0) + ((s + s) + s * (q * tail))


@njit(nogil=True, cache=True, fastmath=NO_FAST_MATH, error_model="numpy")
def sum_losses(r: Any, t: Any, weight: Any, begin: Any, end: Any, b: Any, e: Any, log: Any) -> Any:
    """Σ s ℓ and Σ s ℓ′ over rows ``begin`` to ``end``, for ℓ = log(1 + e^{−t z}), z = w·x + b.

    ``r`` has w·x of each row, and s ℓ′ afterwards. ``e`` and ``log`` are overwritten; all three have LOSSES_AT_A_TIME
    entries, and those of ``r`` that belong to no row are set to zero. A row with zero weight adds nothing, even if its
    score is not finite. The order of the additions is fixed in the source: otherwise the compiler could choose another
    one in each caller, and the sums would depend on the type of the rows.
    """
    n = end - begin
    for p in range(n):
        r[p] = t[begin + p] * (r[p] + b)
    for p in range(n, LOSSES_AT_A_TIME):
        r[p] = 0.0
    exponentials(r, e, log)
    for p in range(n):
        m, s = r[p], weight[begin + p]
        log[p] = s * (log[p] + max(-m, 0.0)) if s != 0.0 else 0.0
        r[p] = -t[begin + p] * s * (e[p] if m >= 0.0 else 1.0) / (1.0 + e[p]) if s != 0.0 else 0.0
    for p in range(n, LOSSES_AT_A_TIME):
        log[p] = 0.0
    v0, v1, v2, v3 = 0.0, 0.0, 0.0, 0.0
    r0, r1, r2, r3 = 0.0, 0.0, 0.0, 0.0
    for p in range(0, LOSSES_AT_A_TIME, 4):
        v0, v1, v2, v3 = v0 + log[p], v1 + log[p + 1], v2 + log[p + 2], v3 + log[p + 3]
        r0, r1, r2, r3 = r0 + r[p], r1 + r[p + 1], r2 + r[p + 2], r3 + r[p + 3]
    return (v0 + v1) + (v2 + v3), (r0 + r1) + (r2 + r3)


# --- Sums over dense rows

# Rows with more columns than this are read 8 at a time and not 32, so that they are still in the second cache (often
# 1 MB) when they are read again.
MOST_COLUMNS_OF_SHORT_ROWS, LONG_ROWS_AT_A_TIME = 512, 8


@njit(nogil=True, cache=True, fastmath=LANES)
def logistic_pass(
    X: Any, begin: Any, end: Any, t: Any, weight: Any, w: Any, b: Any, gradient: Any, center: Any = None
) -> Any:
    """Add Σ s ℓ′ x to ``gradient`` (d,), and return Σ s ℓ and Σ s ℓ′, for ℓ = log(1 + e^{−t z}), z = w·x + b.

    The rows are ``begin`` to ``end`` of X in raw units. The score of a row and its contribution to the gradient are
    computed while the row is in the cache. Four rows are multiplied at a time, so that w and the gradient are read once
    for four rows. If fewer are left, the last row is repeated with a contribution of zero. ``center`` (d,) is
    subtracted from every row first. The compiler makes separate code for both cases, so without a center nothing is
    subtracted.
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


# The degree of the polynomials of ``add_pieces``. It is a constant, so that the compiler unrolls the loops over their
# coefficients.
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

    ℓ is a polynomial on each of many short intervals, and (i, j) are the points of a grid. ``values`` (pieces, DEGREE +
    1) has the coefficients of ℓ on each piece as a polynomial in v in [−1, 1], lowest first. The pieces begin at
    ``low``, and ``per_unit`` of them are one unit long. With ``slopes``, the same for ℓ′, also Σ_r by_entry_er ℓ′(m) is
    added to ``slope`` (2, q, n). The compiler makes separate code for both cases. The sums are added in loops of their
    own, which it vectorises; so the gradient takes three quarters of the time.
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
