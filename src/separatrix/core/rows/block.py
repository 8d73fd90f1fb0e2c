"""A block of rows, dense or CSR, in the coordinates of a frame, and the places at which blocks begin and end.

All products of dense and of CSR rows are computed here. Other code works with homogeneous rows x̄ = (1, x) in the
coordinates of the frame, so a weight matrix W is always (K, d + 1), with the intercepts in column 0.

The places at which blocks end depend only on the rows, so every source of the same rows sums the same blocks. Dense
rows are cut after a fixed number of rows. CSR rows are cut where the entries before a row pass a multiple of the size
of a block, and after a fixed number of rows as well. Both can be decided while rows are being read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, Matrix, pieces, rows_per_piece
from separatrix.core.base.lazy import cached_property
from separatrix.core.rows.frame import Frame

if TYPE_CHECKING:
    from scipy.sparse import csr_array


# --- CSR rows, without copies and without changes of the caller's arrays

# This attribute marks arrays that ``as_csr`` returned, so that each is checked once: a check takes a third of the time
# of a product X w.
_CANONICAL = "separatrix_canonical"


def is_sparse(X: object) -> bool:
    """Whether X is a SciPy sparse matrix or array, without importing SciPy."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def as_csr(X: Any) -> csr_array[Any, tuple[int, int]]:
    """X as a CSR array with sorted indices and without duplicate entries. X is not copied if it already is one.

    SciPy sorts indices and sums duplicate entries in place when an operation needs that, possibly in the caller's
    arrays. The arrays that this function returns never need it.

    >>> from scipy.sparse import csr_array
    >>> X = csr_array(([5.0, 1.0, 2.0], [1, 0, 0], [0, 3]), shape=(1, 2))
    >>> as_csr(X).data.tolist(), X.data.tolist()
    ([3.0, 5.0], [5.0, 1.0, 2.0])
    """
    from scipy.sparse import csr_array

    if getattr(X, _CANONICAL, False):
        return X  # type: ignore[no-any-return]
    rows = csr_array(X)  # a new object, since flags cached in X may be outdated
    if not rows.has_canonical_format:
        rows = rows.copy() if getattr(X, "format", None) == "csr" else rows
        rows.sum_duplicates()
    setattr(rows, _CANONICAL, True)
    return rows


def transposed(X: Any) -> Any:
    """Xᵀ of CSR rows on the same arrays. ``X.T`` calls a constructor that copies arrays that are views."""
    from scipy.sparse import csc_array

    turned = csc_array((X.shape[1], X.shape[0]), dtype=X.dtype)
    turned.data, turned.indices, turned.indptr = X.data, X.indices, X.indptr
    return turned


def csr_rows(X: Any, start: int, stop: int) -> csr_array[Any, tuple[int, int]]:
    """Rows start, …, stop − 1 of a CSR array as a view; slicing would copy them."""
    from scipy.sparse import csr_array

    if start == 0 and stop == X.shape[0]:
        return X  # type: ignore[no-any-return]
    first, last = X.indptr[start], X.indptr[stop]
    rows = csr_array((stop - start, X.shape[1]), dtype=X.dtype)
    # The arrays are assigned, because the constructor copies a small view of a larger array.
    rows.data, rows.indices = X.data[first:last], X.indices[first:last]
    rows.indptr = X.indptr[start : stop + 1] - first
    return rows


def stacked(parts: Sequence[Any]) -> Any:
    """Arrays, or CSR rows, one below the other."""
    if not is_sparse(parts[0]):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return as_csr(vstack(parts, format="csr"))


# --- Where blocks begin and end


def block_rows(block_bytes: int, n_features: int) -> int:
    """The number of rows of a dense block of about ``block_bytes``.

    >>> block_rows(1 << 20, 16), block_rows(1 << 20, 10_000), block_rows(1 << 20, 10**6)
    (8192, 52, 1)
    """
    fit = block_bytes // max(1, n_features * 8)
    # Each block repeats the work that is done once per column, so it has at least 64 rows, unless these take more than
    # four times its size.
    return max(1, fit, min(64, 4 * fit))


def cuts(X: Any, block_bytes: int, rows_before: int = 0, entries_before: int = 0) -> Integers:
    """The places in X (m, d) at which a block ends, in increasing order: some of 1, …, m.

    ``rows_before`` and, for CSR rows, ``entries_before``: the numbers of rows and of stored entries that precede X.

    >>> cuts(np.zeros((40, 2)), 64).tolist(), cuts(np.zeros((20, 2)), 64, rows_before=20).tolist()
    ([16, 32], [12])
    """
    m, d = X.shape
    if not is_sparse(X):
        return multiples(rows_before, m, block_rows(block_bytes, d))
    filled = (entries_before + X.indptr.astype(np.int64)) * 12  # a value of eight bytes and an index of four
    size = max(block_bytes, 256 * d)  # so that merging sums by column is cheap
    by_entries = np.searchsorted(filled, np.arange((filled[0] // size + 1) * size, filled[-1] + 1, size))
    # The score of a row takes time even if the row has few entries.
    by_rows = multiples(rows_before, m, max(1, block_bytes // 16))
    return np.union1d(by_entries, by_rows).astype(np.int64)


def block_edges(X: Any, block_bytes: int) -> list[int]:
    """The rows at which the blocks of a whole table X begin, and the number of its rows."""
    if is_sparse(X):
        return sorted({0, *cuts(X, block_bytes).tolist(), X.shape[0]})
    return dense_edges(X.shape[0], X.shape[1], block_bytes)


def dense_edges(n_rows: int, n_features: int, block_bytes: int) -> list[int]:
    """``block_edges`` of dense rows.

    >>> dense_edges(40, 2, 64)
    [0, 16, 32, 40]
    """
    return [*range(0, n_rows, block_rows(block_bytes, n_features)), n_rows]


def multiples(before: int, m: int, size: int) -> Integers:
    """The k of 1, …, m for which before + k is a multiple of ``size``."""
    return np.arange(size - before % size, m + 1, size)


# --- Blocks

# CSR rows with more than this share of nonzero entries are multiplied faster as a dense array.
DENSEST_SPARSE_PRODUCT = 0.06
# Rows are multiplied in pieces of this many bytes, so that the second product with a piece finds it in a core's own
# cache.
PIECE_BYTES = 1 << 20
# With fewer rows per column than this, centring the rows first is cheaper than centring the products of raw columns.
RAW_PRODUCT_ROWS_PER_COLUMN = 8
# Rows with fewer columns than this are cached column by column: a loop per row costs more than its few entries.
FEWEST_COLUMNS_BY_ROW = 16
# Up to this many entries several weighted products are computed in one call: the call costs more than its arithmetic.
MOST_BATCHED_ENTRIES = 1 << 16
# Rows that are copied and framed at a time, which limits the size of the temporary copy.
ROWS_PER_COPY = 1024
# The most entries of a CSR block that may be converted to a dense array, where centring requires it.
LARGEST_DENSE_BLOCK = 1 << 22


def is_centred_first(frame: Frame, is_sparse: bool, n_rows: int) -> bool:
    """Whether rows are centred before products. Large offsets need that; for CSR rows the dense copy must be small.

    Otherwise products include the columns' offsets and are centred afterwards, which costs digits.
    """
    small = not is_sparse or n_rows * len(frame.scale) <= LARGEST_DENSE_BLOCK
    return small and (frame.has_large_offset or frame.is_extreme)


@dataclass(frozen=True)
class Block:
    """Rows ``start, start + 1, …``: X (m, d), targets t (m,), weights (m,).

    ``kept``: the block outlives a pass, so its framed rows are cached across passes.
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
    def by_sign(self) -> tuple[Integers, Integers]:
        """The indices of the rows with targets t < 0, and of those with t > 0."""
        return (self.t < 0).nonzero()[0], (self.t > 0).nonzero()[0]

    @cached_property
    def _double(self) -> Any:
        """X, with dense float32 converted to float64 once per block."""
        return self.X if is_sparse(self.X) else np.asarray(self.X, dtype=np.float64)

    @cached_property
    def _framed(self) -> Any:
        """X in the frame's coordinates: a dense copy, or a CSR array that is scaled but not centred."""
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
        """Whether rows are centred before products."""
        return is_centred_first(self.frame, is_sparse(self.X), self.n_rows)

    def scores(self, W: Array) -> Array:
        """X̄ Wᵀ, (m, K), with the scores of one class contiguous in memory."""
        if self.keeps_framed_array:
            return np.asarray((W @ self.framed_array.T).T)
        explicit = self._explicit
        X: Any = self._framed if explicit else self._double
        raw = W if explicit or self.frame.is_identity else self.frame.to_original(W)
        if is_sparse(X):
            return np.asarray(X @ raw[:, 1:].T + raw[:, 0])
        # With few classes a third faster than X Wᵀ, and sums over classes then add contiguous arrays.
        scores = raw[:, 1:] @ X.T
        scores += raw[:, :1]
        return np.asarray(scores.T)

    def score_sizes(self, W: Array) -> Array:
        """|X̄| |W|ᵀ, (m, K): the sum of the sizes of a score's terms, to which its rounding error is proportional."""
        X, size = self._framed, np.abs(W)
        total = np.asarray(abs(X) @ size[:, 1:].T + size[:, 0])
        if is_sparse(X):
            total += size[:, 1:] @ np.abs(self.frame.center / self.frame.scale)
        return total

    def adjoint(self, R: Array) -> Array:
        """Rᵀ X̄, (K, d + 1), for R (m, K)."""
        total = R.sum(axis=0)
        if self.keeps_framed_array:
            whole = np.asarray(R.T @ self.framed_array)
            whole[:, 0] = total  # exact: rows that balance each other sum to zero
            return whole
        if self._explicit:
            product = R.T @ self._framed
        else:
            product = np.asarray(transposed(self.X) @ R).T if is_sparse(self.X) else R.T @ self._double
            if not self.frame.is_identity:
                product = (product - np.outer(total, self.frame.center)) / self.frame.scale
        return np.column_stack([total, product])

    def sandwich(self, h: Array) -> Array:
        """X̄ᵀ diag(h) X̄, (d + 1, d + 1)."""
        if not is_sparse(self.X) and (h >= 0).all():
            if self.frame.is_near and not self.kept and self.n_rows > RAW_PRODUCT_ROWS_PER_COLUMN * self.X.shape[1]:
                return self.raw_products(h[:, None])[1]
            if self.kept:
                return self.kept_sandwich(h)
            X, root = self.homogeneous(), np.sqrt(h)[:, None]
            first = h @ X
            half = np.multiply(X, root, out=X)
            H = np.asarray(half.T @ half)
            H[0] = H[:, 0] = first
            return H
        X, d = self._framed, self.X.shape[1]
        if is_sparse(X) and X.nnz > DENSEST_SPARSE_PRODUCT * X.shape[0] * d and X.shape[0] * d <= LARGEST_DENSE_BLOCK:
            X = X.toarray() - self.frame.center / self.frame.scale
        H = np.empty((d + 1, d + 1))
        H[0, 0] = h.sum()
        if is_sparse(X):  # centred after the products are summed
            weighted = X.multiply(h[:, None]).tocsr()
            first, second = np.asarray(weighted.sum(axis=0)).ravel(), (X.T @ weighted).toarray()
            c, total = self.frame.center / self.frame.scale, h.sum()
            H[0, 1:] = first - total * c
            H[1:, 1:] = second - np.outer(c, first) - np.outer(first, c) + total * np.outer(c, c)
        elif np.all(h >= 0) or np.all(h <= 0):  # a symmetric product, which is half the work
            half = X * np.sqrt(np.abs(h))[:, None]
            sign = 1.0 if h.sum() >= 0 else -1.0
            H[0, 1:], H[1:, 1:] = h @ X, sign * (half.T @ half)
        else:
            H[0, 1:], H[1:, 1:] = h @ X, X.T @ (X * h[:, None])
        H[1:, 0] = H[0, 1:]
        return H

    def kept_sandwich(self, h: Array) -> Array:
        """``sandwich`` of the cached rows for h ≥ 0."""
        X = self.framed_array
        # Few entries are multiplied in two calls, although a symmetric product is half the work.
        if X.size <= 1 << 12:
            product: Array = (X.T * h).dot(X)
            return product
        half = X * np.sqrt(h)[:, None]
        H: Array = half.T @ half  # NumPy recognises AᵀA and calls the symmetric product, which is half the work
        H[0] = H[:, 0] = h @ X  # exact: rows that balance each other sum to zero, which √h·√h does not keep
        return H

    def sandwiches(self, by: Array) -> Iterator[Array]:
        """X̄ᵀ diag(h) X̄ for each row h of ``by`` (q, m). Products of few rows are computed in one call."""
        if not self.keeps_framed_array or by.size * (self.X.shape[1] + 1) > MOST_BATCHED_ENTRIES:
            return (self.sandwich(h) for h in by)
        X = self.framed_array
        parts = (X.T * by[:, None, :]) @ X
        return iter(0.5 * (parts + parts.transpose(0, 2, 1)))  # they are symmetric up to rounding

    def raw_products(self, by: Array) -> tuple[Array, Array]:
        """byᵀ X̄, (K, d + 1), and X̄ᵀ diag(Σ_k by_k) X̄, for by (m, K) ≥ 0, of dense rows that are nearly centred.

        The products of raw columns are computed and then centred, so no framed copy is made. Both products read a piece
        of rows while it is in cache.
        """
        scale, c = self.frame.scale, self.frame.center
        unsafe = not self.frame.squares_safely
        if unsafe:  # exact, since scales are powers of two
            c, scale = c / scale, np.ones_like(scale)
        h = by[:, 0] if by.shape[1] == 1 else by.sum(axis=1)
        alike, d = np.all(h == 1), len(c)
        first, second = np.zeros((by.shape[1], d)), np.zeros((d, d))
        for rows in pieces(self.n_rows, rows_per_piece(PIECE_BYTES // 8, d, fewest=64)):
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
        turned = transposed(X)
        total, first = h.sum(), np.asarray(turned @ h)
        turned.data = turned.data**2
        second = np.asarray(turned @ h)
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

    def dense_pieces(self) -> Iterator[Block]:
        """The block itself if it is dense; otherwise its rows as dense blocks that are small enough for memory."""
        if not is_sparse(self.X):
            yield self
            return
        for rows in pieces(self.n_rows, rows_per_piece(LARGEST_DENSE_BLOCK, self.X.shape[1])):
            part = self.take(rows)
            X: Any = part.X
            yield replace(part, X=X.toarray())

    def homogeneous_row(self, k: int) -> Array:
        """Row k of ``homogeneous()``, (d + 1,)."""
        if self.keeps_framed_array:
            return np.asarray(self.framed_array[k])
        return np.asarray(self.take(np.array([k])).homogeneous()[0])

    @cached_property
    def framed_array(self) -> Array:
        """Cached `homogeneous()`; rows with few columns are stored column by column (FEWEST_COLUMNS_BY_ROW)."""
        if is_sparse(self.X) or self.X.shape[1] >= FEWEST_COLUMNS_BY_ROW:
            return self.homogeneous()
        X: Any = self.X
        columns = np.empty((X.shape[1] + 1, self.n_rows))
        columns[0] = 1.0
        np.subtract(X.T, self.frame.center[:, None], out=columns[1:])
        columns[1:] /= self.frame.scale[:, None]
        return columns.T

    @cached_property
    def keeps_framed_array(self) -> bool:
        """Whether products use the cached framed rows: for few dense rows that are read many times."""
        # With more rows, converting weights to raw units in every pass is cheaper than caching the framed rows.
        return self.kept and not is_sparse(self.X) and self.n_rows <= 1 << 16

    def framed_copy(self, rows: Integers) -> Block:
        """A dense copy of these rows in the frame's coordinates, for repeated use. CSR rows keep the frame."""
        if is_sparse(self.X):
            return self.take(rows)
        X = np.empty((len(rows), self.X.shape[1]))
        for chosen in pieces(len(rows), ROWS_PER_COPY):
            X[chosen] = self.take(rows[chosen])._framed
        return Block(X, self.t[rows], self.weight[rows], self.start, Frame.identity(self.X.shape[1]))

    def take(self, rows: Integers | slice) -> Block:
        """The rows with these indices in the block, in this order. A slice of dense rows is a view."""
        return Block(self.X[rows], self.t[rows], self.weight[rows], self.start, self.frame)


def joined(blocks: Sequence[Block]) -> Block:
    """The rows of blocks, one below the other, in the coordinates of the first."""
    X, t, weight = (stacked([getattr(block, name) for block in blocks]) for name in ("X", "t", "weight"))
    return Block(X, t, weight, blocks[0].start, blocks[0].frame)
