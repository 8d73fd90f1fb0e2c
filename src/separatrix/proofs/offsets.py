r"""Columns far from zero, such as Unix times: a value c_j is subtracted from them, and the verdict is converted back.

With x_j = c_j + x'_j and an intercept, the scores agree, w·x' + b' = w·x + b, for b' = b + w·c. So the same rows lie on
the hyperplane, they depend on each other with the same λ, and the other rows lie on the same sides. Without the
subtraction, the differences between rows, which decide separation, are lost in the tolerance of the linear programs.

c_j is the entry of the column that is nearest to zero. All entries lie within a factor of two of it, so that no
difference is rounded: Sterbenz, Floating-Point Computation (1974), theorem 4.3.1. Such a column of a sparse matrix
stores all its entries. If a few entries are elsewhere, such as a 0 that marks a missing time, c_j is the median, and
every difference is checked; this is done only if the verdict is in doubt otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.proofs.asked_rows import flattened
from separatrix.proofs.class_differences import Differences, subtracted
from separatrix.proofs.rational import fractions, smallest
from separatrix.proofs.separable import smallest_distance
from separatrix.proofs.verdicts import Doubtful, Inseparable, Separable, Verdict
from separatrix.rows.csr import is_sparse

# A column is moved if its distance from zero exceeds this many times its range, or if that of its middle half does.
# Random tables of columns with up to 100 000 000 different values are all decided at 4096 times, and not all tables of
# 1000 values at 16 384 times.
SMALLEST_OFFSET = 256
# The weights are multiplied by one of these until the intercept, rounded to a float, still separates. Without them 37
# of 1116 random separable tables with whole numbers up to 2^53 are in doubt.
FACTORS = tuple(2.0 ** (-k / 64) for k in range(64))
LARGEST_FLOAT = float(np.finfo(np.float64).max)
BETWEEN_FLOATS = (
    "some hyperplane separates, but no intercept that was tried is between the classes after rounding to float64; "
    "subtract a constant from the columns that are far from zero"
)


@dataclass(frozen=True)
class Offsets:
    """The values ``c`` (d,) to subtract from the columns, zero for those that stay.

    >>> offsets = Offsets.between(np.array([1e9, 0.0]), np.array([1e9 + 3, 7.0]))
    >>> offsets.c.tolist(), offsets.whole(np.array([-1, 1, 1], dtype=object)).tolist()
    ([1000000000.0, 0.0], [-1000000001, 1, 1])
    """

    c: Array

    @classmethod
    def between(cls, low: Array, high: Array, fit_intercept: bool = True) -> Offsets:
        """The offsets of columns with these smallest and largest entries; none without an intercept."""
        nearest = np.where(low > 0, low, np.where(high < 0, high, 0.0))
        with np.errstate(over="ignore"):
            is_far = (low <= high) & (SMALLEST_OFFSET * (high - low) < np.abs(nearest))
        return cls(np.where(is_far & fit_intercept, nearest, 0.0))

    @classmethod
    def of(cls, D: Differences) -> Offsets:
        """The offsets of the rows of D."""
        return cls.between(*D.ends, D.fit_intercept)

    @classmethod
    def of_most(cls, D: Differences) -> Offsets:
        """The offsets of columns of which most entries are far from zero: the medians, if no difference is rounded.

        >>> X = np.array([[0.0], [1e9], [1e9 + 1], [1e9 + 2], [1e9 + 3]])
        >>> Offsets.of_most(Differences(X, np.array([0, 0, 0, 1, 1]), 2)).c.tolist()
        [1000000001.0]
        """
        c = np.zeros(D.X.shape[1])
        for j in range(len(c) if D.fit_intercept else 0):
            column = D.X[:, [j]]
            x = np.asarray(column.toarray() if is_sparse(column) else column, dtype=np.float64).ravel()
            low, median, high = np.quantile(x, (0.25, 0.5, 0.75), method="lower")
            is_stored = not is_sparse(column) or column.nnz == len(x)
            if SMALLEST_OFFSET * (high - low) < abs(median) and is_stored and _is_exact(x, median):
                c[j] = median
        return cls(c)

    def moved(self, D: Differences) -> Differences:
        """The differences of the rows without the offsets; D itself if there are none."""
        return replace(D, X=subtracted(D.X, self.c)) if self.c.any() else D

    def exactly(self, W: AnyArray) -> AnyArray:
        """Weights (..., d + 1) of the columns as given as weights of the moved columns, in fractions."""
        return self._shifted(W, 1)

    def nearly(self, W: Array) -> Array:
        """The same, rounded to floats."""
        return _rounded(self.exactly(W)) if self.c.any() else W

    def given(self, W: Array) -> Array:
        """Weights of the moved columns as weights of the columns as given, rounded to floats."""
        return _rounded(self._shifted(W, -1)) if self.c.any() else W

    def whole(self, W: AnyArray, sign: int = -1) -> AnyArray:
        """Integer weights of the moved columns as weights of the columns as given, in the smallest integers.

        With ``sign`` = 1 it converts in the other direction.
        """
        if not self.c.any():
            return W
        W = self._shifted(W, sign)
        below = lcm(*(x.denominator for x in W.ravel()))
        return np.array(smallest([int(x * below) for x in W.ravel()]), dtype=object).reshape(W.shape)

    def _shifted(self, W: AnyArray, sign: int) -> AnyArray:
        W = np.array([Fraction(x) for x in W.ravel().tolist()], dtype=object).reshape(W.shape)
        W[..., 0] += sign * (W[..., 1:] @ np.array(fractions(self.c), dtype=object))
        return W

    def told(self, verdict: Verdict, D: Differences) -> Verdict:
        """The verdict on the moved rows D, converted to the rows as they were given."""
        if not self.c.any() or isinstance(verdict, Doubtful):
            return verdict
        if isinstance(verdict, Separable):
            return self._separable(verdict, D)
        blocks: Array = verdict.signed.reshape(len(verdict.signed), D.K - 1, D.block_width).copy()
        blocks[..., 1:] += blocks[..., :1] * self.c  # the sums are entries as they were given, so they are not rounded
        signed = blocks.reshape(verdict.signed.shape)
        if isinstance(verdict, Inseparable):
            return replace(verdict, signed=signed)
        own, *further = (self.whole(v) for v in (verdict.direction, *verdict.further))
        return replace(verdict, signed=signed, direction=own, further=tuple(further))

    def _separable(self, verdict: Separable, D: Differences) -> Separable | Doubtful:
        """The verdict with an intercept that is a float; doubtful if each one tried has rows on the wrong side."""
        largest = np.abs(verdict.v[..., 1:]).max() or 1.0
        for factor in FACTORS:
            v = self.given(factor * (verdict.v / largest))
            if not np.all(np.isfinite(v)):
                break
            exact = np.asarray(flattened(D, self.exactly(v)))
            near = _rounded(exact)
            m = D.margins(near)
            if len(D.not_positive(near, exact.tolist(), m=m)) == 0:
                return Separable(v, smallest_distance(D, D.weights(near), m), verdict.about)
        return Doubtful(BETWEEN_FLOATS, verdict.fit_intercept)


def _is_exact(x: Array, c: float) -> bool:
    """Whether no difference x_i − c is rounded: Knuth's formula for the rounding error of a difference."""
    with np.errstate(over="ignore", invalid="ignore"):
        difference = x - c
        back = x - difference
        return not np.any((x - (difference + back)) + (back - c))


def _rounded(exact: AnyArray) -> Array:
    """Fractions as floats, infinite where they are too large."""
    found = [float(x) if abs(x) <= LARGEST_FLOAT else np.inf for x in exact.ravel()]
    return np.array(found, dtype=np.float64).reshape(exact.shape)
