r"""Class differences, which decide separation. They are generated on demand, for each row i and each class k ≠ y_i:

    a_ik = (e_{y_i} − e_k) ⊗ x̄_i,    a_ik·W = z_{y_i} − z_k.

Only differences of scores matter, so the scores of the first class are fixed at zero and W has K − 1 rows. For two
classes that leaves a_i = t_i x̄_i. The difference a_ik has the number c = (K − 1) i + (rank of k among the other
classes). Such a difference is called a row of A.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.core.base.arrays import EPS, AnyArray, Array, Integers, pieces, rows_per_piece
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import in_order
from separatrix.core.exact_arithmetic import signs, span
from separatrix.core.rows.block import Block, csr_rows, is_sparse
from separatrix.core.rows.frame import power_of_two
from separatrix.core.rows.protocol import BLOCK_BYTES, count_pass

# The smallest normal float64.
TINY = float(np.finfo(np.float64).tiny)
# Number of class differences expanded at once, which bounds the memory they take.
ROWS_EXPANDED_AT_ONCE = 4096
# Number of rows joined into one before taking column maxima: NumPy takes the maxima of longer rows 2.4 times faster.
ROWS_JOINED_FOR_MAXIMA = 16


def chunks(numbers: Integers) -> list[Integers]:
    """The numbers of differences in parts of at most ROWS_EXPANDED_AT_ONCE."""
    return [numbers[part] for part in pieces(len(numbers), ROWS_EXPANDED_AT_ONCE)]


def subtracted(X: Any, c: Array) -> Any:
    """X (n, d) minus c in every row, for c that is zero in the columns where a sparse X omits entries."""
    if not is_sparse(X):
        return X - c
    from scipy.sparse import csr_array

    return csr_array((X.data - c[X.indices], X.indices, X.indptr), shape=X.shape)


@dataclass(frozen=True)
class Differences:
    """The class differences of X (n, d), dense or CSR, with class codes (n,) below K, with or without an intercept.

    ``is_part``: X has only some of the rows, so reading it is no pass over all of them.

    >>> D = Differences(np.array([[5.0], [7.0]]), np.array([0, 2]), 3)
    >>> D.take(np.arange(4)).tolist()  # x̄ = (1, 5) of class 0 against 1 and 2, x̄ = (1, 7) of class 2 against 0 and 1
    [[-1.0, -5.0, 0.0, 0.0], [0.0, 0.0, -1.0, -5.0], [0.0, 0.0, 1.0, 7.0], [-1.0, -7.0, 1.0, 7.0]]
    """

    X: Any
    codes: Integers
    K: int
    fit_intercept: bool = True
    is_part: bool = False

    @classmethod
    def of_block(cls, block: Block, n_classes: int, fit_intercept: bool = True) -> Differences:
        """The class differences of rows with the targets of ``class_targets``."""
        codes = (block.t > 0).astype(np.int64) if n_classes == 2 else block.t
        return cls(block.X, codes, n_classes, fit_intercept)

    @property
    def count(self) -> int:
        return int(self.X.shape[0]) * (self.K - 1)

    @property
    def block_width(self) -> int:
        """The number of weights of one class."""
        return int(self.X.shape[1]) + self.fit_intercept

    @property
    def width(self) -> int:
        return (self.K - 1) * self.block_width

    def named(self, which: Integers) -> tuple[Integers, Integers]:
        """The row i and the class k of each difference, given by its number."""
        if self.K == 2:
            return which, (self.codes[which] == 0).astype(np.int64)
        i, place = np.divmod(which, self.K - 1)
        return i, place + (place >= self.codes[i])

    def numbers(self, rows: Integers, against: Integers) -> Integers:
        """The number of the difference of each row i and class k ≠ y_i."""
        return np.asarray(rows * (self.K - 1) + against - (against > self.codes[rows]), dtype=np.int64)

    def weights(self, v: AnyArray) -> AnyArray:
        """v (width,) as weights (K, d + 1), intercepts first. The first class and missing intercepts are zero."""
        W = np.zeros((self.K, self.X.shape[1] + 1), dtype=v.dtype)
        W[1:, 1 - self.fit_intercept :] = v.reshape(self.K - 1, -1)
        return W

    def flat(self, W: AnyArray) -> AnyArray:
        """The weights (K, d + 1) minus those of the first class, as v (width,). Score differences do not change."""
        return np.asarray((W[1:] - W[:1])[:, 1 - self.fit_intercept :].ravel())

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """The smallest and the largest entry of each column, both (d,); zero without rows."""
        self._count_pass()
        low, high = np.full(self.X.shape[1], np.inf), np.full(self.X.shape[1], -np.inf)
        for lowest, highest in in_order(_ends, self._parts()):
            low, high = np.minimum(low, lowest), np.maximum(high, highest)
        return (low, high) if self.X.shape[0] else (np.zeros_like(low), np.zeros_like(high))

    @cached_property
    def unit(self) -> Array:
        """A power of two near the largest entry of each column, (width,); NaN for a column with non-finite entries."""
        low, high = self.ends
        largest = np.maximum(high, -low)
        is_finite = np.isfinite(largest)
        if is_finite.all():
            column = power_of_two(largest)
        else:
            column = np.where(is_finite, power_of_two(np.nan_to_num(largest)), np.nan)
        one = np.concatenate([np.ones(int(self.fit_intercept)), column])
        return one if self.K == 2 else np.tile(one, self.K - 1)

    @cached_property
    def bits(self) -> int:
        """The bits that the entries of one class's columns span, from the highest to the lowest bit set, summed over
        the columns. With many rows it is estimated from a sample.
        """
        n, rows = self.X.shape[0], self.X
        if n > ROWS_EXPANDED_AT_ONCE:
            rows = rows[np.sort(np.random.default_rng(0).choice(n, ROWS_EXPANDED_AT_ONCE, replace=False))]
        low, high = span(np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64))
        return int(np.sum(high - low)) + self.fit_intercept

    def _count_pass(self) -> None:
        if not self.is_part:
            count_pass()

    def _parts(self) -> Iterator[tuple[int, Any]]:
        """Blocks of X with the number of their first row; the cuts depend on the data alone."""
        n, X = self.X.shape[0], self.X
        filled = X.nnz if is_sparse(X) else X.size
        for part in pieces(n, rows_per_piece(BLOCK_BYTES // 8 * n, max(n, filled))):
            yield part.start, csr_rows(X, part.start, part.stop) if is_sparse(X) else X[part]

    def margins(self, v: Array) -> Array:
        """All a_ik·v, (count,)."""
        self._count_pass()
        W = self.weights(v)

        def part(given: tuple[int, Any]) -> Array:
            start, X = given
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                z = np.asarray(X @ W[1:, 1:].T) + W[1:, 0]
                y = self.codes[start : start + len(z)]
                if self.K == 2:
                    return np.where(y == 1, z[:, 0], -z[:, 0])
                z = np.column_stack([np.zeros(len(z)), z])
                others = y[:, None] != np.arange(self.K)
                return np.asarray((z[np.arange(len(z)), y][:, None] - z)[others])

        return np.concatenate(list(in_order(part, self._parts())))

    def rounding(self, v: Array) -> float:
        """A bound on the rounding error of a margin, for any row: entries are below twice the unit of their column."""
        with np.errstate(over="ignore", under="ignore"):
            largest = float(np.max(np.abs(v) * self.unit, initial=0.0))
            return 4 * (self.block_width + 4) ** 2 * EPS * largest + self._least(v)

    def _least(self, v: Array) -> float:
        """A bound on the error of a margin by underflow, of its products and of weights that were rounded to v."""
        return self.width * TINY * (1 + float(self.unit[np.abs(v) < TINY].max(initial=0.0)))

    def take(self, which: Integers) -> Any:
        """The given rows, dense, or CSR where X is CSR."""
        if self.K == 2 and not is_sparse(self.X):
            return self._signed(which)
        i, k = self.named(which)
        y, X = self.codes[i], self.X[i]
        own, other = (y > 0).nonzero()[0], (k > 0).nonzero()[0]
        if not is_sparse(X):
            rows: Any = np.zeros((len(i), self.K - 1, self.block_width))
            rows[own, y[own] - 1, self.fit_intercept :] = X[own]
            rows[other, k[other] - 1, self.fit_intercept :] = -X[other]
            if self.fit_intercept:
                rows[own, y[own] - 1, 0] = 1.0
                rows[other, k[other] - 1, 0] = -1.0
            return rows.reshape(len(i), self.width)
        from scipy.sparse import coo_array, csr_array

        places: list[Any] = []
        columns: list[Any] = []
        values: list[Any] = []
        for sign, chosen, block in ((1.0, own, y[own] - 1), (-1.0, other, k[other] - 1)):
            part = X[chosen].tocoo()
            places += [chosen[part.row], chosen] if self.fit_intercept else [chosen[part.row]]
            first = block * self.block_width
            columns += [first[part.row] + part.col + self.fit_intercept] + [first] * self.fit_intercept
            values += [sign * part.data] + [np.full(len(chosen), sign)] * self.fit_intercept
        at = (np.concatenate(places), np.concatenate(columns))
        rows = coo_array((np.concatenate(values), at), shape=(len(i), self.width))
        return csr_array(rows)

    def _signed(self, which: Integers) -> Array:
        """``take`` for dense rows of two classes: t_i x̄_i."""
        t = np.where(self.codes[which] > 0, 1.0, -1.0)
        rows = np.empty((len(which), self.width))
        if self.fit_intercept:
            rows[:, 0] = t
        np.multiply(self.X[which], t[:, None], out=rows[:, self.fit_intercept :])
        return rows

    def dense(self, which: Integers) -> Array:
        rows = self.take(which)
        return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)

    def not_positive(
        self, v: Array, exactly: list[Any] | None = None, left: AnyArray | None = None, m: Array | None = None
    ) -> Integers:
        """The rows for which a·v > 0 could not be proven, the worst first.

        A margin above its rounding error is proven positive. The other margins are computed exactly, unless one of
        them is negative by more than its rounding error: then all unproven rows are returned without an exact check.

        ``exactly``: the exact numbers that v was rounded from, if it was. ``left``: a mask of the rows to check.
        ``m``: the margins of v, if they are known.
        """
        m, rounding = self.margins(v) if m is None else m, 2 * self.rounding(v)
        unsure = ~((m > rounding) & (m < np.inf))
        low = np.flatnonzero(unsure if left is None else left & unsure)
        if len(low) == 0 or not np.all(m[low] >= -rounding):
            return np.asarray(low[np.argsort(m[low], kind="stable")], dtype=np.int64)
        exact = [Fraction(x) for x in v.tolist()] if exactly is None else exactly
        return np.concatenate([part[self._not_positive(part, v, exact)] for part in chunks(low)])

    def _not_positive(self, which: Integers, v: Array, exact: list[Any]) -> AnyArray:
        """Which of these rows have a·v ≤ 0: by a rounding error bound for each row, and exactly where that fails."""
        A = self.take(which)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            m, size = np.asarray(A @ v), np.asarray(abs(A) @ np.abs(v))
            rounding = 2 * (self.width + 4) * EPS * size + self._least(v)
        wrong = ~(m > rounding)
        unsure = np.flatnonzero(~(np.abs(m) > rounding))
        wrong[unsure] = np.array(signs(self.dense(which[unsure]), exact), dtype=np.int64) <= 0
        return np.asarray(wrong)


def _ends(given: tuple[int, Any]) -> tuple[Array, Array]:
    """The smallest and the largest entry of each column; NaN and infinity are kept."""
    _, X = given
    if is_sparse(X):
        low, high = (side.toarray().ravel() for side in (X.min(axis=0), X.max(axis=0)))
        return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    rows, columns = X.shape
    whole = rows - rows % ROWS_JOINED_FOR_MAXIMA
    low = high = X
    if X.flags.c_contiguous and whole and columns:
        sides = X[:whole].reshape(-1, ROWS_JOINED_FOR_MAXIMA * columns)
        low, high = (
            np.vstack([side.reshape(ROWS_JOINED_FOR_MAXIMA, columns), X[whole:]])
            for side in (sides.min(axis=0), sides.max(axis=0))
        )
    return np.asarray(low.min(axis=0), dtype=np.float64), np.asarray(high.max(axis=0), dtype=np.float64)
