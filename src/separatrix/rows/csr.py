"""Operations on SciPy's CSR rows that neither copy arrays nor change the caller's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
