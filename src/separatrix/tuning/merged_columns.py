r"""Sparse rows with fewer columns and the same ridge fits: the columns that only one row uses become one column.

The weights of the columns J that have a nonzero entry in row i alone act on the score of row i alone. Among all of
them that add c to that score, the penalty ½ Σ_{j∈J} q_j w_j² is at least ½ c²/v² with v² = Σ_{j∈J} x_ij²/q_j. So one
column with the entry v in row i and q = 1 stands for all of J, in the fit to any of the rows. Columns of zeros have the
weight zero and are left out. In a table of text most columns are of these two kinds, since most words are rare.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array


def merged_columns(X: Any, q: Array) -> tuple[Any, Array]:
    """CSR rows with the scores and penalties of the CSR rows X (n, d), and the penalty factor of each of their columns.

    ``q``: the penalty factor of each column of X, (d,), all positive.

    >>> from scipy.sparse import csr_array
    >>> rows, factors = merged_columns(csr_array([[3.0, 4.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]]), np.ones(4))
    >>> rows.toarray().tolist(), factors.tolist()
    ([[1.0, 5.0], [1.0, 0.0]], [1.0, 1.0])
    """
    from scipy.sparse import csr_array, hstack

    uses = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    shared, single = np.flatnonzero(uses > 1), np.flatnonzero(uses == 1)
    own = X[:, single]
    largest = float(np.max(np.abs(own.data), initial=0.0)) or 1.0
    lengths = largest * np.sqrt(np.asarray((own / largest).power(2) @ (1.0 / q[single])))  # no square overflows
    rows = np.flatnonzero(lengths)
    merged = csr_array((lengths[rows], (rows, np.arange(len(rows)))), shape=(X.shape[0], len(rows)))
    whole = csr_array(hstack([X[:, shared], merged]))
    kind = X.indices.dtype  # kept, since loops are compiled for each kind of index
    whole.indices, whole.indptr = whole.indices.astype(kind), whole.indptr.astype(kind)
    return whole, np.concatenate([q[shared], np.ones(len(rows))])
