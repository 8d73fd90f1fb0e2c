"""Exact arithmetic on rows of floats: every float64 is a fraction, so signs and sums can be computed exactly."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array

# The exponent assigned to zero. It is below any sum of float64 exponents that occurs here.
EXPONENT_OF_ZERO = -10_000


def integers(A: Array) -> AnyArray:
    """A as Python integers: each column is multiplied by a power of two that makes it integer, without rounding.

    >>> integers(np.array([[0.5, 3.0], [0.25, 1.0]])).tolist()
    [[2, 3], [1, 1]]
    """
    whole = np.empty(A.shape, dtype=object)
    for j in range(A.shape[1]):
        ratios = [float(x).as_integer_ratio() for x in A[:, j]]
        unit = max((below for _, below in ratios), default=1)
        whole[:, j] = [above * (unit // below) for above, below in ratios]
    return whole


def fractions(v: AnyArray) -> list[Fraction]:
    """Floats, or other numbers, as exact fractions.

    >>> fractions(np.array([0.5]))
    [Fraction(1, 2)]
    """
    return [Fraction(x) for x in v.tolist()]


def signs(A: Array, v: list[Any]) -> list[int]:
    """The exact sign of a·v for each row a of floats; v has integers or fractions.

    >>> signs(np.array([[1.0, 1e-30, -1.0], [0.1, 0.2, -0.3]]), [1, 1, 1])
    [1, 1]
    """
    below = lcm(*(Fraction(c).denominator for c in v))
    whole = [int(c * below) for c in v]
    mantissa, exponent = np.frexp(A)
    numbers = np.ldexp(mantissa, 53).astype(np.int64).tolist()
    exponent = np.where(mantissa == 0, exponent.max(initial=0), exponent)
    shifts = (exponent - exponent.min(initial=0)).tolist()
    row_signs = []
    for row, by in zip(numbers, shifts, strict=True):
        total = sum((a * c) << s for a, c, s in zip(row, whole, by, strict=True) if a)
        row_signs.append((total > 0) - (total < 0))
    return row_signs


def sums_to_zero(A: Array, multipliers: tuple[int, ...]) -> bool:
    """Whether Σ λ_i a_i = 0 exactly, for integers λ.

    >>> sums_to_zero(np.array([[0.1, 2.0], [-0.2, -4.0]]), (2, 1))
    True
    """
    return not np.any(np.array(multipliers, dtype=object) @ integers(A))


def smallest(multipliers: list[int]) -> list[int]:
    """The integers divided by their greatest common divisor.

    >>> smallest([4, 6])
    [2, 3]
    """
    common = gcd(*multipliers)
    return [m // common for m in multipliers] if common > 1 else multipliers
