"""A block of rows, dense or CSR, in the coordinates of a frame. No other module distinguishes dense from CSR products.

All other code works with homogeneous rows x̄ = (1, x) in the coordinates of the frame, so a weight matrix W is always
(K, d + 1), with the intercepts in column 0.
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

# A column's offset is large if it exceeds this many times its scale: then X·w − c·w loses digits that (X − c)·w keeps.
LARGE_OFFSET = 64.0
# If every offset is at most this many times its scale, sums of raw products that are centred afterwards lose at most
# one digit.
LARGEST_RAW_PRODUCT_OFFSET = 4.0
# Numbers with binary exponents below this have squares far from overflow (2^1024) and underflow.
LARGEST_SQUARED_EXPONENT = 250
# With scales beyond 2 to this power, weights in raw units can leave the range of float64 although their scores do not.
LARGEST_RAW_EXPONENT = 900
LARGEST_FLOAT = float(np.finfo(np.float64).max)
# The rounding error of a larger w·center is visible in the scores at 1e-12, so a larger one is computed exactly.
LARGEST_ROUNDED_SHIFT = 4096.0
# CSR rows with more than this share of nonzero entries are multiplied faster as a dense array.
DENSEST_SPARSE_PRODUCT = 0.06
# Rows are multiplied in pieces of this many bytes, so that the second product with a piece finds it in a core's own
# cache.
PIECE_BYTES = 1 << 20
# A piece has at least this many rows, however wide they are.
FEWEST_ROWS_PER_PIECE = 64
# With fewer rows per column than this, centring the rows first is cheaper than centring the products of raw columns.
RAW_PRODUCT_ROWS_PER_COLUMN = 8
# Up to this many rows, caching the framed rows is cheaper than converting weights to raw units in every pass.
MOST_CACHED_ROWS = 1 << 16
# Rows with fewer columns than this are cached column by column: a loop over so few entries costs more than the entries.
FEWEST_COLUMNS_BY_ROW = 16
# Up to this many entries several weighted products are computed in one call: the call costs more than its arithmetic.
MOST_BATCHED_ENTRIES = 1 << 16
# Rows that are copied and framed at a time, which limits the size of the temporary copy.
ROWS_PER_COPY = 1024
# The most entries of a CSR block that may be converted to a dense array, where centring requires it.
LARGEST_DENSE_BLOCK = 1 << 22
# This attribute marks arrays that ``as_csr`` returned, so that each is checked once: a check takes a third of a product
# X w.
_CANONICAL = "separatrix_canonical"


def is_sparse(X: object) -> bool:
    """Whether X is a SciPy sparse matrix or array, without importing SciPy."""
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
    everywhere, its weight stays 0, and the contribution of a given weight to the scores goes to the intercept.
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
        """Which columns have a large offset relative to their scale, (d,) booleans."""
        return np.asarray(np.abs(self.center) > LARGE_OFFSET * self.scale)

    @cached_property
    def has_large_offset(self) -> bool:
        return bool(np.any(self.is_far))

    @cached_property
    def is_near(self) -> bool:
        """Whether all offsets are small, so that centring sums of raw products loses at most one digit."""
        return bool(np.all(np.abs(self.center) <= LARGEST_RAW_PRODUCT_OFFSET * self.scale))

    @cached_property
    def squares_safely(self) -> bool:
        """Whether squares of raw entries are far from overflow and underflow."""
        exponents = np.frexp(np.concatenate([self.scale[np.isfinite(self.scale)], self.center[self.center != 0]]))[1]
        return bool(np.all(np.abs(exponents) < LARGEST_SQUARED_EXPONENT))

    @cached_property
    def is_extreme(self) -> bool:
        """Whether weights for raw rows may leave float64's range; rows are then framed before they are multiplied."""
        exponents = np.abs(np.frexp(self.scale[np.isfinite(self.scale)])[1])
        return bool(np.any(exponents > LARGEST_RAW_EXPONENT))

    def to_original(self, W: Array) -> Array:
        """Weights for raw rows from weights for framed rows; out-of-range values become the largest float."""
        original = np.empty_like(W)
        if self.is_extreme:
            with np.errstate(over="ignore"):
                original[:, 1:] = np.clip(W[:, 1:] / self.scale, -LARGEST_FLOAT, LARGEST_FLOAT)
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
        """b ± w·center; in exact arithmetic where cancellation would lose digits of the scores."""
        if not self.has_large_offset and not self.is_extreme:
            moved = w @ self.center
            if min(moved.tolist()) >= -LARGEST_ROUNDED_SHIFT and max(moved.tolist()) <= LARGEST_ROUNDED_SHIFT:
                return b + sign * moved
        center = [Fraction(c) for c in self.center.tolist()]
        exact = [
            Fraction(intercept) + sign * sum((Fraction(x) * c for x, c in zip(row, center, strict=True)), Fraction(0))
            for intercept, row in zip(b.tolist(), w.tolist(), strict=True)
        ]
        return np.array([_as_float(total) for total in exact])


def _as_float(x: Fraction) -> float:
    """x rounded to float64; out-of-range values become the largest float."""
    return float(min(max(x, -Fraction(LARGEST_FLOAT)), Fraction(LARGEST_FLOAT)))


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
        """Whether rows are centred before products. Large offsets need that; for CSR the dense copy must be small."""
        small = not is_sparse(self.X) or self.n_rows * self.X.shape[1] <= LARGEST_DENSE_BLOCK
        return small and (self.frame.has_large_offset or self.frame.is_extreme)

    def offsets_read(self) -> Array:
        """Each column's offset in products, in units of its scale: zero if rows are centred first."""
        offset = np.abs(self.frame.center / self.frame.scale)
        return np.zeros_like(offset) if self._explicit else offset

    def scores(self, W: Array) -> Array:
        """X̄ Wᵀ, (m, K), with the scores of one class contiguous in memory."""
        if self._is_written_out:
            return np.asarray((W @ self._written.T).T)
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
        """|X̄| |W|ᵀ, (m, K): the sum of the sizes of a score's terms, which tells a score from its rounding error."""
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
            whole[:, 0] = total  # exact: rows that balance each other sum to zero
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
        if not is_sparse(self.X) and (h >= 0).all():
            return self._dense_sandwich(h)
        X, d = self._framed, self.X.shape[1]
        if is_sparse(X) and X.nnz > DENSEST_SPARSE_PRODUCT * X.shape[0] * d and X.shape[0] * d <= LARGEST_DENSE_BLOCK:
            X = X.toarray() - self.frame.center / self.frame.scale
        H = np.empty((d + 1, d + 1))
        H[0, 0] = h.sum()
        if is_sparse(X):
            H[0, 1:], H[1:, 1:] = self._sparse_products(X, h)
        else:
            H[0, 1:], H[1:, 1:] = h @ X, _signed_products(X, h)
        H[1:, 0] = H[0, 1:]
        return H

    def _dense_sandwich(self, h: Array) -> Array:
        """``sandwich`` of dense rows for h ≥ 0."""
        if self.frame.is_near and not self.kept and self.n_rows > RAW_PRODUCT_ROWS_PER_COLUMN * self.X.shape[1]:
            return self.raw_products(h[:, None])[1]
        X, root = self._written if self.kept else self.homogeneous(), np.sqrt(h)[:, None]
        first = h @ X  # exact: rows that balance each other sum to zero, which √h·√h does not keep
        half = X * root if self.kept else np.multiply(X, root, out=X)
        # NumPy recognises AᵀA and calls the symmetric product, which is half the work.
        H = np.asarray(half.T @ half)
        H[0] = H[:, 0] = first
        return H

    def _sparse_products(self, X: Any, h: Array) -> tuple[Array, Array]:
        """hᵀ X and Xᵀ diag(h) X for CSR rows, centred after they are summed."""
        weighted = X.multiply(h[:, None]).tocsr()
        first, second = np.asarray(weighted.sum(axis=0)).ravel(), (X.T @ weighted).toarray()
        c, total = self.frame.center / self.frame.scale, h.sum()
        return first - total * c, second - np.outer(c, first) - np.outer(first, c) + total * np.outer(c, c)

    def sandwiches(self, by: Array) -> Iterator[Array]:
        """X̄ᵀ diag(h) X̄ for each row h of ``by`` (q, m). Products of few rows are computed in one call."""
        if not self._is_written_out or by.size * (self.X.shape[1] + 1) > MOST_BATCHED_ENTRIES:
            return (self.sandwich(h) for h in by)
        X = self._written
        parts = (X.T * by[:, None, :]) @ X
        return iter(0.5 * (parts + parts.transpose(0, 2, 1)))  # they are symmetric but for rounding

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
        size = max(FEWEST_ROWS_PER_PIECE, PIECE_BYTES // (8 * max(1, d)))
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
    def _is_written_out(self) -> bool:
        """Whether products use the cached framed rows: for few dense rows that are read many times."""
        return self.kept and not is_sparse(self.X) and self.n_rows <= MOST_CACHED_ROWS

    def written_out(self, rows: Integers) -> Block:
        """A dense copy of these rows in the frame's coordinates, for repeated use. CSR rows keep the frame."""
        if is_sparse(self.X):
            return self.take(rows)
        X = np.empty((len(rows), self.X.shape[1]))
        for start in range(0, len(rows), ROWS_PER_COPY):
            chosen = slice(start, start + ROWS_PER_COPY)
            X[chosen] = self.take(rows[chosen])._framed
        return Block(X, self.t[rows], self.weight[rows], self.start, Frame.identity(self.X.shape[1]))

    def take(self, rows: Integers | slice) -> Block:
        """The rows with these indices in the block, in this order. A slice of dense rows is a view."""
        return Block(self.X[rows], self.t[rows], self.weight[rows], self.start, self.frame)


def _signed_products(X: Array, h: Array) -> Array:
    """Xᵀ diag(h) X for dense rows; if all h have one sign, as a symmetric product, which is half the work."""
    if not (np.all(h >= 0) or np.all(h <= 0)):
        return np.asarray(X.T @ (X * h[:, None]))
    half = X * np.sqrt(np.abs(h))[:, None]
    sign = 1.0 if h.sum() >= 0 else -1.0
    return np.asarray(sign * (half.T @ half))


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


def _transposed(X: Any) -> Any:
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
