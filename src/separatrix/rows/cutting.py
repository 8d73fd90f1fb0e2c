"""The sizes of blocks: where each block of rows begins and ends.

The cuts depend only on the rows, so every source of the same rows sums the same blocks.

Dense rows are cut after a fixed number of rows. CSR rows are cut where the entries before a row pass a multiple of the
size of a block, and after a fixed number of rows as well. Both can be decided while rows are being read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.rows.csr import is_sparse

# The fewest rows in a dense block, unless that makes the block larger than four times its size in bytes: each block
# repeats the work that is done once per column.
FEWEST_ROWS_PER_BLOCK = 64
# An entry of CSR rows has a value of eight bytes and an index of four.
BYTES_PER_SPARSE_ENTRY = 12
# A block of CSR rows has at least this many bytes of entries per column, so that merging sums by column is cheap.
FEWEST_BYTES_PER_SPARSE_COLUMN = 256
# A CSR row counts as at least this many bytes, since the score of a row takes time even if the row has few entries.
BYTES_PER_SPARSE_ROW = 16


def block_rows(block_bytes: int, n_features: int) -> int:
    """The number of rows of a dense block of about ``block_bytes``.

    >>> block_rows(1 << 20, 16), block_rows(1 << 20, 10_000), block_rows(1 << 20, 10**6)
    (8192, 52, 1)
    """
    fit = block_bytes // max(1, n_features * 8)
    return max(1, fit, min(FEWEST_ROWS_PER_BLOCK, 4 * fit))


def cuts(X: Any, block_bytes: int, rows_before: int = 0, entries_before: int = 0) -> Integers:
    """The places in X (m, d) at which a block ends, in increasing order: some of 1, …, m.

    ``rows_before`` and, for CSR rows, ``entries_before``: the numbers of rows and of stored entries that precede X.

    >>> cuts(np.zeros((40, 2)), 64).tolist(), cuts(np.zeros((20, 2)), 64, rows_before=20).tolist()
    ([16, 32], [12])
    """
    m, d = X.shape
    if not is_sparse(X):
        return multiples(rows_before, m, block_rows(block_bytes, d))
    filled = (entries_before + X.indptr.astype(np.int64)) * BYTES_PER_SPARSE_ENTRY
    size = max(block_bytes, FEWEST_BYTES_PER_SPARSE_COLUMN * d)
    by_entries = np.searchsorted(filled, np.arange((filled[0] // size + 1) * size, filled[-1] + 1, size))
    by_rows = multiples(rows_before, m, max(1, block_bytes // BYTES_PER_SPARSE_ROW))
    return np.union1d(by_entries, by_rows).astype(np.int64)


def multiples(before: int, m: int, size: int) -> Integers:
    """The k of 1, …, m for which before + k is a multiple of ``size``."""
    return np.arange(size - before % size, m + 1, size)
