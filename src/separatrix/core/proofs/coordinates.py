"""Columns far from zero or of extreme size are decided in coordinates of their own, and the verdict is converted back.

With x_j = c_j + 2^{e_j} x'_j, without rounding, the scores agree, w'·x' + b' = w·x + b, for w'_j = 2^{e_j} w_j and
b' = b + w·c. So the same rows lie on the hyperplane, they depend on each other with the same λ, and the other rows lie
on the same sides. Only the weights differ: those of given columns may leave the range of float64, or their intercept
may fall between two floats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.exact_arithmetic import EXPONENT_OF_ZERO, fractions, smallest, span
from separatrix.core.proofs.class_differences import Differences, subtracted
from separatrix.core.proofs.row_claims import all_weights, flattened
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, Separable, Verdict, smallest_distance
from separatrix.core.rows.block import is_sparse

# A column is moved if its distance from zero exceeds this many times its range, or if that of its middle half does.
# Random tables of columns with up to 100 000 000 different values are all decided at 4096 times, and not all tables of
# 1000 values at 16 384 times.
SMALLEST_OFFSET = 256
# Columns with larger exponents are rescaled, so that products and quotients of three columns stay in range.
LARGEST_UNSCALED_EXPONENT = 300
# The exponent of the smallest positive float64.
EXPONENT_OF_SMALLEST_FLOAT = -1074
# Numbers from half of 2^LOWEST to twice 2^HIGHEST are floats of full precision.
LOWEST_WEIGHT_EXPONENT, HIGHEST_WEIGHT_EXPONENT = -1021, 1022
# The weights are multiplied by one of these until the intercept, rounded to a float, still separates. Without them 37
# of 1116 random separable tables with whole numbers up to 2^53 are in doubt.
FACTORS = tuple(2.0 ** (-k / 64) for k in range(64))
LARGEST_FLOAT = float(np.finfo(np.float64).max)
OUT_OF_RANGE = (
    "some hyperplane separates, but columns are of sizes so far apart that its weights leave the range of floating "
    "point; multiply columns by powers of two"
)
BETWEEN_FLOATS = (
    "some hyperplane separates, but no intercept that was tried is between the classes after rounding to float64; "
    "subtract a constant from the columns that are far from zero"
)


def nearest_entries(low: Array, high: Array) -> Array:
    """For columns far from zero, given their smallest and largest entries, the entry nearest to zero; else zero.

    All entries lie within a factor of two of it, so that no difference from it is rounded: Sterbenz, Floating-Point
    Computation (1974), theorem 4.3.1. Such a column of a sparse matrix stores all its entries. Without the subtraction,
    the differences between rows of columns such as Unix times, which decide separation, are lost in the tolerance of
    the linear programs.

    >>> nearest_entries(np.array([1e9, 0.0]), np.array([1e9 + 3, 7.0])).tolist()
    [1000000000.0, 0.0]
    """
    nearest = np.where(low > 0, low, np.where(high < 0, high, 0.0))
    with np.errstate(over="ignore"):
        return np.where((low <= high) & (SMALLEST_OFFSET * (high - low) < np.abs(nearest)), nearest, 0.0)


def medians(D: Differences) -> Array:
    """For columns of which most entries are far from zero, the median, if no difference from it is rounded; else zero.

    A few entries may be elsewhere, such as a 0 that marks a missing time.

    >>> X = np.array([[0.0], [1e9], [1e9 + 1], [1e9 + 2], [1e9 + 3]])
    >>> medians(Differences(X, np.array([0, 0, 0, 1, 1]), 2)).tolist()
    [1000000001.0]
    """
    c = np.zeros(D.X.shape[1])
    for j in range(len(c)):
        column = D.X[:, [j]]
        x = np.asarray(column.toarray() if is_sparse(column) else column, dtype=np.float64).ravel()
        low, median, high = np.quantile(x, (0.25, 0.5, 0.75), method="lower")
        is_stored = not is_sparse(column) or column.nnz == len(x)
        if SMALLEST_OFFSET * (high - low) < abs(median) and is_stored and _is_exact(x, median):
            c[j] = median
    return c


def _is_exact(x: Array, c: float) -> bool:
    """Whether no difference x_i − c is rounded: Knuth's formula for the rounding error of a difference."""
    with np.errstate(over="ignore", invalid="ignore"):
        difference = x - c
        back = x - difference
        return not np.any((x - (difference + back)) + (back - c))


@dataclass(frozen=True)
class Coordinates:
    """x_j = c_j + 2^{e_j} x'_j, with ``c`` (d,) and ``exponent`` (d,); both zero for columns that stay as they are.

    >>> D = Differences(np.array([[2.0**900, 1e9], [0.0, 1e9 + 3]]), np.array([0, 1]), 2)
    >>> coordinates = Coordinates.of(D)
    >>> coordinates.moved(D).X.tolist()
    [[0.5, 0.0], [0.0, 3.0]]
    >>> coordinates.whole(np.array([-1, 0, 1], dtype=object)).tolist()
    [-1000000001, 0, 1]
    """

    c: Array
    exponent: Integers

    @classmethod
    def of(cls, D: Differences, most: bool = False) -> Coordinates:
        """Coordinates in which the entries are near zero and neither huge nor tiny; ``most``: all but a few entries.

        Columns are moved only if there is an intercept, and scaled only as far as no bit is lost.
        """
        c = np.zeros(D.X.shape[1])
        if D.fit_intercept:
            c = medians(D) if most else nearest_entries(*D.ends)
        moved, exponent = _subtracted(D, c), np.zeros(len(c), dtype=np.int64)
        size = np.frexp(moved.unit[D.width - len(c) :])[1]
        for j in np.flatnonzero(np.abs(size) > LARGEST_UNSCALED_EXPONENT):
            column = moved.X[:, [j]]
            low, high = span(column.toarray() if is_sparse(column) else column)
            exponent[j] = min(int(high[0]), int(low[0]) - EXPONENT_OF_SMALLEST_FLOAT)
        return cls(c, exponent)

    @property
    def are_given(self) -> bool:
        """Whether no column is changed."""
        return not (self.c.any() or self.exponent.any())

    def moved(self, D: Differences) -> Differences:
        """The differences of rows x in the coordinates x'; D itself if no column is changed."""
        D = _subtracted(D, self.c)
        if not self.exponent.any():
            return D
        if not is_sparse(D.X):
            return replace(D, X=np.ldexp(D.X, -self.exponent))
        from scipy.sparse import csr_array

        X: Any = D.X
        data = np.ldexp(X.data, -self.exponent[X.indices])
        return replace(D, X=csr_array((data, X.indices, X.indptr), shape=X.shape))

    def exactly(self, W: AnyArray, back: bool = True) -> AnyArray:
        """Weights (..., d + 1) of x' as weights of x, in fractions; or, not ``back``, those of x as weights of x'."""
        W = np.array([Fraction(v) for v in W.ravel().tolist()], dtype=object).reshape(W.shape)
        c = np.array(fractions(self.c), dtype=object)
        unit = np.array([Fraction(2) ** int(e) for e in self.exponent], dtype=object)
        if back:
            W[..., 1:] /= unit
            W[..., 0] -= W[..., 1:] @ c
        else:
            W[..., 0] += W[..., 1:] @ c
            W[..., 1:] *= unit
        return W

    def rounded(self, W: Array, back: bool = True) -> Array:
        """``exactly``, rounded to floats."""
        return W if self.are_given else rounded_fractions(self.exactly(W, back))

    def whole(self, W: AnyArray, back: bool = True) -> AnyArray:
        """``exactly``, multiplied by the number that gives the smallest integers."""
        if self.are_given:
            return W
        W = self.exactly(W, back)
        below = lcm(*(x.denominator for x in W.ravel()))
        return np.array(smallest([int(x * below) for x in W.ravel()]), dtype=object).reshape(W.shape)

    def told(self, verdict: Verdict, given: Differences, moved: Differences) -> Verdict:
        """The verdict on the rows x', converted to the rows as they were given."""
        if self.are_given or isinstance(verdict, Doubtful):
            return verdict
        if isinstance(verdict, Separable):
            return self._separable(verdict, moved)
        signed = given.dense(given.numbers(verdict.rows, verdict.against))
        if isinstance(verdict, Inseparable):
            return replace(verdict, signed=signed)
        own, *further = (self.whole(v) for v in (verdict.direction, *verdict.further))
        return replace(verdict, signed=signed, direction=own, further=tuple(further))

    def _separable(self, verdict: Separable, moved: Differences) -> Separable | Doubtful:
        """The verdict with weights of x that are floats; doubtful if all that are tried have rows on the wrong side."""
        W = self.exactly(verdict.v)
        size = np.array([[_exponent(x) for x in row] for row in np.atleast_2d(W)])
        least, most, slope = int(size[size > EXPONENT_OF_ZERO].min()), int(size.max()), int(size[:, 1:].max())
        if most - least > HIGHEST_WEIGHT_EXPONENT - LOWEST_WEIGHT_EXPONENT:
            return Doubtful(OUT_OF_RANGE, verdict.fit_intercept)
        # The largest slope becomes about 1, if the other weights allow it.
        W = W / Fraction(2) ** max(min(slope, least - LOWEST_WEIGHT_EXPONENT), most - HIGHEST_WEIGHT_EXPONENT)
        for factor in FACTORS if self.c.any() else FACTORS[:1]:
            v = rounded_fractions(W * Fraction(factor))
            exact = np.asarray(flattened(moved, self.exactly(v, back=False)))
            near = rounded_fractions(exact)
            m = moved.margins(near)
            if len(moved.not_positive(near, exact.tolist(), m=m)) == 0:
                return Separable(v, smallest_distance(moved, all_weights(v, moved.K), m), verdict.about)
        return Doubtful(BETWEEN_FLOATS, verdict.fit_intercept)


def _exponent(x: Fraction) -> int:
    """e with 2^(e − 1) < |x| < 2^(e + 1); for zero a number below all exponents."""
    return x.numerator.bit_length() - x.denominator.bit_length() if x else EXPONENT_OF_ZERO


def _subtracted(D: Differences, c: Array) -> Differences:
    return replace(D, X=subtracted(D.X, c)) if c.any() else D


def rounded_fractions(exact: AnyArray) -> Array:
    """Fractions as floats, infinite where they are too large."""
    found = [float(x) if abs(x) <= LARGEST_FLOAT else np.inf for x in exact.ravel()]
    return np.array(found, dtype=np.float64).reshape(exact.shape)
