"""Some rows, dense or CSR, seen through a frame. The only place that knows which.

Everything above speaks of homogeneous rows x̄ = (1, x) in the coordinates of the frame, so a weight matrix W
is always (K, d + 1) with the intercepts in column 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers, Matrix
from separatrix.base.cached import cached_property

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Past this ratio of a column's offset to its spread, X·w − c·w loses digits that (X − c)·w keeps.
LARGE_OFFSET = 64.0
# Up to this ratio sums of squares may be taken about zero; and scales up to two to this power have squares with room.
NEAR_OFFSET, SQUARED_SAFELY = 4.0, 250
# Past two to this power weights for raw rows leave the range of float64 long before their scores do.
FAR = 900
LARGEST = float(np.finfo(np.float64).max)
# Past this size of w·center its rounding shows in the scores, at 1e-12.
CANCELS = 4096.0
# CSR rows with more than this share of entries are multiplied faster when written out.
FULL = 0.06
# Rows that are multiplied at once: two products of a piece find it in a core's own cache. But no fewer rows than this.
PIECE_BYTES, FEWEST_ROWS = 1 << 20, 64
# Of fewer rows a column, moving the products of raw columns costs more than writing the rows out does.
MANY_ROWS = 8
# Up to so many rows that are read many times, writing them out costs less than turning weights into raw units does.
FEW_ROWS = 1 << 16
# Rows of fewer entries than this are written out by columns.
NARROW = 16
# Up to so many entries rows are multiplied by several weights at once: there a call takes longer than what it does.
FEW_PRODUCTS = 1 << 16
# Rows copied at once: a copy of a copy must not be large.
CHUNK = 1024
# Entries of a CSR block that may be written out where centring it needs that.
LARGEST_DENSE_BLOCK = 1 << 22
# Marks what ``as_csr`` has returned, so that it is looked through once: a look costs a third of a product X w.
_CANONICAL = "separatrix_canonical"


def is_sparse(X: object) -> bool:
    """Whether X is a SciPy sparse matrix or array, asked without importing SciPy."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def power_of_two(scale: Array) -> Array:
    """The power of two at or below each positive scale, 1 where a scale is 0: dividing by it is exact.

    >>> power_of_two(np.array([0.0, 0.3, 1.0, 5.0])).tolist()
    [1.0, 0.25, 1.0, 4.0]
    """
    exponent = np.frexp(scale)[1] - 1
    return np.where(scale > 0, np.ldexp(1.0, exponent), 1.0)


@dataclass(frozen=True)
class Frame:
    """x ↦ (x − center)/scale, applied implicitly so that sparse rows stay sparse.

    ``center``, ``scale``: (d,); scales are powers of two. A scale of infinity hides a constant column: it reads 0
    everywhere, its weight stays 0, and what a given weight adds to the score goes to the intercept.
    """

    center: Array
    scale: Array

    @classmethod
    def identity(cls, n_features: int) -> Frame:
        return cls(np.zeros(n_features), np.ones(n_features))

    @cached_property
    def is_identity(self) -> bool:
        return bool(np.all(self.center == 0) and np.all(self.scale == 1))

    @cached_property
    def is_far(self) -> AnyArray:
        """Which columns have an offset that dwarfs their spread, (d,) of truth values."""
        return np.asarray(np.abs(self.center) > LARGE_OFFSET * self.scale)

    @cached_property
    def has_large_offset(self) -> bool:
        return bool(np.any(self.is_far))

    @cached_property
    def is_near(self) -> bool:
        """Whether rows lie about zero: then sums of products that are moved there afterwards lose a digit at most."""
        return bool(np.all(np.abs(self.center) <= NEAR_OFFSET * self.scale))

    @cached_property
    def squares_safely(self) -> bool:
        """Whether squares of raw entries are far from overflow and underflow."""
        exponents = np.frexp(np.concatenate([self.scale[np.isfinite(self.scale)], self.center[self.center != 0]]))[1]
        return bool(np.all(np.abs(exponents) < SQUARED_SAFELY))

    @cached_property
    def is_extreme(self) -> bool:
        """Whether weights for raw rows may leave float64's range: then rows are framed before they are multiplied."""
        exponents = np.abs(np.frexp(self.scale[np.isfinite(self.scale)])[1])
        return bool(np.any(exponents > FAR))

    def to_original(self, W: Array) -> Array:
        """Weights for raw rows from weights for framed rows; the largest float where one is out of range."""
        original = np.empty_like(W)
        if self.is_extreme:
            with np.errstate(over="ignore"):
                original[:, 1:] = np.clip(W[:, 1:] / self.scale, -LARGEST, LARGEST)
        else:
            original[:, 1:] = W[:, 1:] / self.scale
        original[:, 0] = self._shifted(W[:, 0], original[:, 1:], -1)
        return original

    def from_original(self, W: Array) -> Array:
        """Weights for framed rows from weights for raw rows."""
        framed = np.empty_like(W)
        framed[:, 1:] = W[:, 1:] * np.where(np.isinf(self.scale), 0.0, self.scale)
        framed[:, 0] = self._shifted(W[:, 0], W[:, 1:], +1)
        return framed

    def _shifted(self, b: Array, w: Array, sign: int) -> Array:
        """The sum b ± w·center; exactly where it cancels digits that scores need, as it does beside a large offset."""
        if not self.has_large_offset and not self.is_extreme:
            moved = w @ self.center
            if min(moved.tolist()) >= -CANCELS and max(moved.tolist()) <= CANCELS:
                return b + sign * moved
        center = [Fraction(c) for c in self.center.tolist()]
        exact = [
            Fraction(intercept) + sign * sum((Fraction(x) * c for x, c in zip(row, center, strict=True)), Fraction(0))
            for intercept, row in zip(b.tolist(), w.tolist(), strict=True)
        ]
        return np.array([_as_float(total) for total in exact])


def _as_float(x: Fraction) -> float:
    """x rounded; the largest float where it is out of range."""
    return float(min(max(x, -Fraction(LARGEST)), Fraction(LARGEST)))


@dataclass(frozen=True)
class Block:
    """Rows ``start, start + 1, …``: X (m, d), targets t (m,), weights (m,).

    ``kept``: it outlives a pass, so that what is written out of it serves the next one, too.
    """

    X: Matrix
    t: AnyArray
    weight: Array
    start: int
    frame: Frame
    kept: bool = False

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def _double(self) -> Any:
        """X with dense float32 written out as float64: in cache, once for all that a pass does with a block."""
        return self.X if is_sparse(self.X) else np.asarray(self.X, dtype=np.float64)

    @cached_property
    def _framed(self) -> Any:
        """X in the frame's coordinates: a dense copy, or CSR that is scaled but not centred."""
        X: Any = self._double
        if is_sparse(X):
            if self._explicit:
                X = X.toarray()
            elif np.all(self.frame.scale == 1):
                return X
            else:
                from scipy.sparse import csr_array

                return csr_array((X.data / self.frame.scale[X.indices], X.indices, X.indptr), shape=X.shape)
        if self.frame.is_identity:
            return np.asarray(X, dtype=np.float64)
        framed = X - self.frame.center
        framed /= self.frame.scale
        return framed

    @property
    def _explicit(self) -> bool:
        """Whether rows are centred one by one, which a large offset needs, and CSR allows where it stays small."""
        small = not is_sparse(self.X) or self.n_rows * self.X.shape[1] <= LARGEST_DENSE_BLOCK
        return small and (self.frame.has_large_offset or self.frame.is_extreme)

    def offsets_read(self) -> Array:
        """The offset of each column as products read it, in units of its scale: zero where rows are centred first."""
        offset = np.abs(self.frame.center / self.frame.scale)
        return np.zeros_like(offset) if self._explicit else offset

    def scores(self, W: Array) -> Array:
        """X̄ Wᵀ, (m, K), the scores of a class side by side in memory."""
        if self._is_written_out:
            return np.asarray((W @ self._written.T).T)
        explicit = self._explicit
        X: Any = self._framed if explicit else self._double
        raw = W if explicit or self.frame.is_identity else self.frame.to_original(W)
        if is_sparse(X):
            return np.asarray(X @ raw[:, 1:].T + raw[:, 0])
        scores = raw[:, 1:] @ X.T  # of few classes a third faster than X Wᵀ, and sums over classes run over whole rows
        scores += raw[:, :1]
        return np.asarray(scores.T)

    def score_sizes(self, W: Array) -> Array:
        """|X̄| |W|ᵀ, (m, K): what a score is a sum of, so that rounding can be told from a sign."""
        X, size = self._framed, np.abs(W)
        total = np.asarray(abs(X) @ size[:, 1:].T + size[:, 0])
        if is_sparse(X):
            total += size[:, 1:] @ np.abs(self.frame.center / self.frame.scale)
        return total

    def adjoint(self, R: Array) -> Array:
        """Rᵀ X̄, (K, d + 1), for R (m, K)."""
        total = R.sum(axis=0)
        if self._is_written_out:
            whole = np.asarray(R.T @ self._written)
            whole[:, 0] = total  # of rows that balance each other exactly zero
            return whole
        if self._explicit:
            product = R.T @ self._framed
        else:
            product = np.asarray(_transposed(self.X) @ R).T if is_sparse(self.X) else R.T @ self._double
            if not self.frame.is_identity:
                product = (product - np.outer(total, self.frame.center)) / self.frame.scale
        return np.column_stack([total, product])

    def sandwich(self, h: Array) -> Array:
        """X̄ᵀ diag(h) X̄, (d + 1, d + 1)."""
        d = self.X.shape[1]
        if not is_sparse(self.X) and (h >= 0).all():
            if self.frame.is_near and not self.kept and self.n_rows > MANY_ROWS * d:
                return self.raw_products(h[:, None])[1]
            X, root = self._written if self.kept else self.homogeneous(), np.sqrt(h)[:, None]
            first = h @ X  # of rows that balance each other exactly zero, which no root squared is
            half = X * root if self.kept else np.multiply(X, root, out=X)
            H = np.asarray(half.T @ half)  # NumPy sees AᵀA and calls the symmetric product: half the work
            H[0] = H[:, 0] = first
            return H
        H = np.empty((d + 1, d + 1))
        X = self._framed
        H[0, 0] = h.sum()
        if is_sparse(X) and X.nnz > FULL * X.shape[0] * d and X.shape[0] * d <= LARGEST_DENSE_BLOCK:
            X = X.toarray() - self.frame.center / self.frame.scale
        if is_sparse(X):
            weighted = X.multiply(h[:, None]).tocsr()
            first = np.asarray(weighted.sum(axis=0)).ravel()
            second = (X.T @ weighted).toarray()
            c = self.frame.center / self.frame.scale
            H[0, 1:] = first - H[0, 0] * c
            H[1:, 1:] = second - np.outer(c, first) - np.outer(first, c) + H[0, 0] * np.outer(c, c)
        elif np.all(h >= 0) or np.all(h <= 0):
            half = X * np.sqrt(np.abs(h))[:, None]
            sign = 1.0 if h.sum() >= 0 else -1.0
            H[0, 1:] = h @ X
            H[1:, 1:] = sign * (half.T @ half)
        else:
            H[0, 1:] = h @ X
            H[1:, 1:] = X.T @ (X * h[:, None])
        H[1:, 0] = H[0, 1:]
        return H

    def sandwiches(self, by: Array) -> Iterator[Array]:
        """X̄ᵀ diag(h) X̄ for each row h of ``by`` (q, m): those of few rows all at once."""
        if not self._is_written_out or by.size * (self.X.shape[1] + 1) > FEW_PRODUCTS:
            return (self.sandwich(h) for h in by)
        X = self._written
        parts = (X.T * by[:, None, :]) @ X
        return iter(0.5 * (parts + parts.transpose(0, 2, 1)))  # rounding alone leaves them unsymmetric

    def raw_products(self, by: Array) -> tuple[Array, Array]:
        """byᵀ X̄, (K, d + 1), and X̄ᵀ diag(Σ_k by_k) X̄, for by (m, K) ≥ 0, of dense rows that are nearly centred.

        Products of raw columns, then moved: no framed copy. A piece of rows at a time, in cache for both.
        """
        scale, c = self.frame.scale, self.frame.center
        unsafe = not self.frame.squares_safely
        if unsafe:  # the same bits: scales are powers of two
            c, scale = c / scale, np.ones_like(scale)
        h = by[:, 0] if by.shape[1] == 1 else by.sum(axis=1)
        alike, d = np.all(h == 1), len(c)
        first, second = np.zeros((by.shape[1], d)), np.zeros((d, d))
        size = max(FEWEST_ROWS, PIECE_BYTES // (8 * max(1, d)))
        for start in range(0, self.n_rows, size):
            rows = slice(start, start + size)
            X = self._double[rows] / self.frame.scale if unsafe else self._double[rows]
            half = X if alike else X * np.sqrt(h[rows])[:, None]
            second += half.T @ half
            first += by[rows].T @ X
        weight = by.sum(axis=0)
        total, whole = weight.sum(), first.sum(axis=0)
        shifted = np.outer(c, whole - (0.5 * total) * c)
        second -= shifted
        second -= shifted.T
        H = np.empty((d + 1, d + 1))
        H[0, 0] = total
        H[0, 1:] = H[1:, 0] = (whole - total * c) / scale
        H[1:, 1:] = second / scale / scale[:, None]
        return np.column_stack([weight, (first - np.outer(weight, c)) / scale]), H

    def squares(self, h: Array) -> Array:
        """Σ_i h_i x̄_i², by column, (d + 1)."""
        X = self._framed
        if not is_sparse(X):
            return np.concatenate([[h.sum()], h @ X**2])
        c = self.frame.center / self.frame.scale
        total, first, second = h.sum(), np.asarray(X.T @ h), np.asarray(X.multiply(X).T @ h)
        return np.concatenate([[total], second - 2 * c * first + total * c**2])

    def homogeneous(self) -> Array:
        """X̄ in the frame's coordinates, dense, (m, d + 1)."""
        X: Any = self.X
        written = np.empty((self.n_rows, X.shape[1] + 1))
        written[:, 0] = 1.0
        if is_sparse(X):
            framed = self._framed
            dense = framed.toarray() - self.frame.center / self.frame.scale if is_sparse(framed) else framed
            written[:, 1:] = dense
            return written
        np.subtract(X, self.frame.center, out=written[:, 1:])
        written[:, 1:] /= self.frame.scale
        return written

    @cached_property
    def _written(self) -> Array:
        """The same, kept; rows of few entries by columns, since a loop over few entries costs more than they do."""
        if is_sparse(self.X) or self.X.shape[1] >= NARROW:
            return self.homogeneous()
        X: Any = self.X
        columns = np.empty((X.shape[1] + 1, self.n_rows))
        columns[0] = 1.0
        np.subtract(X.T, self.frame.center[:, None], out=columns[1:])
        columns[1:] /= self.frame.scale[:, None]
        return columns.T

    @cached_property
    def _is_written_out(self) -> bool:
        """Whether products are taken of the rows as they are written out: of few rows, that are read many times."""
        return self.kept and not is_sparse(self.X) and self.n_rows <= FEW_ROWS

    def written_out(self, rows: Integers) -> Block:
        """These rows in the frame's coordinates, to be used often: a dense copy; CSR rows stay as they are."""
        if is_sparse(self.X):
            return self.take(rows)
        X = np.empty((len(rows), self.X.shape[1]))
        for start in range(0, len(rows), CHUNK):
            chosen = slice(start, start + CHUNK)
            X[chosen] = self.take(rows[chosen])._framed
        return Block(X, self.t[rows], self.weight[rows], self.start, Frame.identity(self.X.shape[1]))

    def take(self, rows: Integers | slice) -> Block:
        """The rows with these numbers inside the block, in this order; of a slice no copy, where rows are dense."""
        return Block(self.X[rows], self.t[rows], self.weight[rows], self.start, self.frame)


def as_csr(X: Any) -> csr_array[Any, tuple[int, int]]:
    """X as a CSR array with sorted indices and no entry twice; without a copy where X is that already.

    SciPy sorts indices and sums repeated entries in place, whenever an operation wants them so, in arrays that may be
    the caller's. What comes from here leaves it nothing to do.

    >>> from scipy.sparse import csr_array
    >>> X = csr_array(([5.0, 1.0, 2.0], [1, 0, 0], [0, 3]), shape=(1, 2))
    >>> as_csr(X).data.tolist(), X.data.tolist()
    ([3.0, 5.0], [5.0, 1.0, 2.0])
    """
    from scipy.sparse import csr_array

    if getattr(X, _CANONICAL, False):
        return X  # type: ignore[no-any-return]
    rows = csr_array(X)  # another object: flags kept in X may be older than its indices
    if not rows.has_canonical_format:
        rows = rows.copy() if getattr(X, "format", None) == "csr" else rows
        rows.sum_duplicates()
    setattr(rows, _CANONICAL, True)
    return rows


def _transposed(X: Any) -> Any:
    """Xᵀ of CSR rows, by the same arrays: the constructor behind ``X.T`` copies what is a part of a larger array."""
    from scipy.sparse import csc_array

    turned = csc_array((X.shape[1], X.shape[0]), dtype=X.dtype)
    turned.data, turned.indices, turned.indptr = X.data, X.indices, X.indptr
    return turned


def csr_rows(X: Any, start: int, stop: int) -> csr_array[Any, tuple[int, int]]:
    """Rows start, …, stop − 1 of a CSR array; a view, where slicing would copy."""
    from scipy.sparse import csr_array

    if start == 0 and stop == X.shape[0]:
        return X  # type: ignore[no-any-return]
    first, last = X.indptr[start], X.indptr[stop]
    rows = csr_array((stop - start, X.shape[1]), dtype=X.dtype)
    # Its arrays are put in by hand: the constructor copies what is a small part of a larger array.
    rows.data, rows.indices = X.data[first:last], X.indices[first:last]
    rows.indptr = X.indptr[start : stop + 1] - first
    return rows
