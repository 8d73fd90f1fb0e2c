"""Columns of numbers written side by side as rows, the copy that turns Arrow's columns into X.

The columns are found in the structs of Arrow's C data interface, by which other libraries read its memory:

    struct ArrowArray {
        int64 length, null_count, offset, n_buffers, n_children;
        void **buffers; struct ArrowArray **children; …
    };

Each member takes eight bytes, so that a struct can be read as whole numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from separatrix.core.kernels.dense_rows import LANES

# Rows that are written at a time, so that their cache lines stay in the first cache until all columns are there.
ROWS_AT_A_TIME = 256
# Columns that are read at the same time: their entries of a row are neighbours in memory. A million rows of 20 columns
# take 18 ms, and 34 ms if columns are read one at a time.
COLUMNS_AT_A_TIME = 4
LARGEST = float(np.finfo(np.float64).max)
# The members of an ArrowArray.
NULL_COUNT, OFFSET, BUFFERS, CHILDREN, MEMBERS = 1, 2, 5, 6, 7


def _as_pointer(typing_context: Any, address: Any, X: Any) -> Any:
    """The address as a pointer to numbers of the type of X."""

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.inttoptr(given[0], context.get_value_type(signature.return_type))

    return types.CPointer(X.dtype)(address, X), made  # type: ignore[no-untyped-call]


_pointer: Any = intrinsic(_as_pointer)


@njit(nogil=True, cache=True)
def column_addresses(batch: Any, places: Any, width: Any) -> Any:
    """Where the numbers of columns ``places`` (d,) begin, if the ArrowArray at the address ``batch`` is their table.

    The numbers have ``width`` bytes. The address of a column is 0 if values may be missing, or if its place is −1.
    """
    found = np.zeros_like(places)
    table = carray(_pointer(batch, places), MEMBERS)
    for j in range(len(places)):
        if places[j] >= 0:
            columns = carray(_pointer(table[CHILDREN], places), places[j] + 1)
            column = carray(_pointer(columns[places[j]], places), MEMBERS)
            if column[NULL_COUNT] == 0:
                values = carray(_pointer(column[BUFFERS], places), 2)[1]
                found[j] = values + width * (table[OFFSET] + column[OFFSET])
    return found


@njit(nogil=True, cache=True, fastmath=LANES)
def interleaved(addresses: Any, X: Any) -> Any:
    """Write d columns, which begin at ``addresses`` (d,) and have the type of X, to X (m, d).

    Returns whether all entries are finite and small enough for their sums. They are compared with the largest number:
    older compilers take 0 · x for zero, even if x is not finite.
    """
    m, d = X.shape
    finite = True
    for start in range(0, m, ROWS_AT_A_TIME):
        stop = min(m, start + ROWS_AT_A_TIME)
        j = 0
        while j + COLUMNS_AT_A_TIME <= d:
            p, q = carray(_pointer(addresses[j], X), m), carray(_pointer(addresses[j + 1], X), m)
            r, s = carray(_pointer(addresses[j + 2], X), m), carray(_pointer(addresses[j + 3], X), m)
            for i in range(start, stop):
                X[i, j], X[i, j + 1], X[i, j + 2], X[i, j + 3] = p[i], q[i], r[i], s[i]
                finite &= abs(p[i] + q[i] + r[i] + s[i]) <= LARGEST
            j += COLUMNS_AT_A_TIME
        for k in range(j, d):
            p = carray(_pointer(addresses[k], X), m)
            for i in range(start, stop):
                X[i, k] = p[i]
                finite &= abs(p[i]) <= LARGEST
    return finite
