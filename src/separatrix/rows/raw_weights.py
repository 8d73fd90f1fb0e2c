r"""Weights in raw units whose last bits are chosen so that the intercept keeps its digits.

With b = W₀ − Σ_j w_j c_j, centres c_j of 1e15 make b of that size, and its last bit is worth 0.1 in every score. The
last bit of a weight is worth as much there, 2⁻⁵² |w_j c_j|, and nothing elsewhere: k steps of it change what the column
adds to the centred scores by k 2⁻⁵² of itself. Among a few thousand k there is one with which b, rounded, is a thousand
times nearer to what it should be.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from separatrix.base.arrays import Array
from separatrix.rows.block import LARGEST, Frame

# What an intercept may be off by before anything is done about it; and steps of a weight that are tried either way.
ENOUGH, STEPS = 1e-12, 4096


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
        if np.max(np.abs(row)) < LARGEST / 2:
            _settle(frame, float(given[0]), row)
    return raw


def _settle(frame: Frame, target: float, row: Array) -> None:
    """Change the last bits of a weight of ``row``, and its intercept, in place."""
    off = Fraction(target) - _at_centre(frame, row)
    step = np.spacing(np.abs(row[1:])) * np.abs(frame.center)
    j = int(np.argmax(np.where(row[1:] != 0, step, 0.0)))
    if abs(off) <= ENOUGH or row[j + 1] == 0 or step[j] <= ENOUGH:
        return
    # In whole numbers: what a step of the weight and one of the intercept are worth.
    one = Fraction(float(np.spacing(abs(row[j + 1])))) * Fraction(float(frame.center[j]))
    last = Fraction(float(np.spacing(abs(row[0]))))
    unit = max(off.denominator, one.denominator, last.denominator)
    rest, a, b = (int(x * unit) for x in (off, one, last))
    half = b // 2

    def left(k: int) -> int:
        return abs((rest - k * a + half) % b - half)

    k = min(range(-STEPS, STEPS + 1), key=left)
    row[j + 1] += k * np.spacing(abs(row[j + 1]))
    row[0] = float(Fraction(row[0]) + Fraction(target) - _at_centre(frame, row))


def _at_centre(frame: Frame, row: Array) -> Fraction:
    """b + w·center, exactly."""
    total = Fraction(float(row[0]))
    for w, c in zip(row[1:].tolist(), frame.center.tolist(), strict=True):
        total += Fraction(w) * Fraction(c)
    return total
