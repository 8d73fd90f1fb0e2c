"""Columns of numbers written side by side as rows, the copy that turns Arrow's columns into X."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from separatrix.kernels.fast_math import LANES

# Rows that are written at a time, so that their cache lines stay in the first cache until all columns are there.
ROWS_AT_A_TIME = 256
# Columns that are read at the same time: their entries of a row are neighbours in memory.
COLUMNS_AT_A_TIME = 4
LARGEST = float(np.finfo(np.float64).max)


def _as_pointer(typing_context: Any, address: Any, X: Any) -> Any:
    """The address as a pointer to numbers of the type of X."""

    def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.inttoptr(given[0], context.get_value_type(signature.return_type))

    return types.CPointer(X.dtype)(address, X), made  # type: ignore[no-untyped-call]


_pointer: Any = intrinsic(_as_pointer)


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
