r"""Weights in raw units whose last bits are chosen so that rounding the intercept loses little.

The intercept in raw units is b = W₀ − Σ_j w_j c_j. With centres c_j of 1e15, b is of that size too, and its last bit
changes every score by 0.1. The last bit of a weight w_j also changes b by 2⁻⁵² |w_j c_j|, but k such steps change the
column's part of the centred scores only by a relative k 2⁻⁵². Among a few thousand k there is one for which the rounded
b is a thousand times nearer to its exact value.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from separatrix.base.arrays import Array
from separatrix.rows.frame import LARGEST_FLOAT, Frame

# An intercept whose rounding error is at most this is left as it is.
LARGEST_INTERCEPT_ERROR = 1e-12
# The search changes a weight by at most this many units in the last place in each direction.
MOST_LAST_BIT_STEPS = 4096


def raw_weights(frame: Frame, W: Array) -> Array:
    """Weights for raw rows, (K, d + 1), from weights for framed rows.

    >>> frame, W = Frame(np.array([1e15 + 2.5]), np.array([1.0])), np.array([[0.0, 0.3]])
    >>> plain, chosen = frame.to_original(W), raw_weights(frame, W)
    >>> [float(abs(frame.from_original(raw)[0, 0])) < 1e-4 for raw in (plain, chosen)]
    [False, True]
    """
    raw = frame.to_original(W)
    if not frame.has_large_offset:
        return raw
    for given, row in zip(W, raw, strict=True):
        if np.max(np.abs(row)) < LARGEST_FLOAT / 2:
            _settle(frame, float(given[0]), row)
    return raw


def _settle(frame: Frame, target: float, row: Array) -> None:
    """Change the last bits of one weight of ``row``, and its intercept, in place."""
    off = Fraction(target) - _at_centre(frame, row)
    step = np.spacing(np.abs(row[1:])) * np.abs(frame.center)
    j = int(np.argmax(np.where(row[1:] != 0, step, 0.0)))
    if abs(off) <= LARGEST_INTERCEPT_ERROR or row[j + 1] == 0 or step[j] <= LARGEST_INTERCEPT_ERROR:
        return
    # The change of b by one step of the weight and by one step of the intercept, as integers over a common denominator.
    weight_step = Fraction(float(np.spacing(abs(row[j + 1])))) * Fraction(float(frame.center[j]))
    intercept_step = Fraction(float(np.spacing(abs(row[0]))))
    unit = max(off.denominator, weight_step.denominator, intercept_step.denominator)
    rest, a, b = (int(x * unit) for x in (off, weight_step, intercept_step))
    half = b // 2

    def left(k: int) -> int:
        return abs((rest - k * a + half) % b - half)

    k = min(range(-MOST_LAST_BIT_STEPS, MOST_LAST_BIT_STEPS + 1), key=left)
    row[j + 1] += k * np.spacing(abs(row[j + 1]))
    row[0] = float(Fraction(row[0]) + Fraction(target) - _at_centre(frame, row))


def _at_centre(frame: Frame, row: Array) -> Fraction:
    """b + w·center, exactly."""
    total = Fraction(float(row[0]))
    for w, c in zip(row[1:].tolist(), frame.center.tolist(), strict=True):
        total += Fraction(w) * Fraction(c)
    return total
