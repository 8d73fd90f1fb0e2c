r"""Reduce the columns of sparse rows without changing ridge fits, by merging columns that are nonzero in only one row.

Let J be the columns whose only nonzero entry is in row i. Their weights affect only the score of row i. If they add c
to that score, the penalty ½ Σ_{j∈J} q_j w_j² is at least ½ c²/v² with v² = Σ_{j∈J} x_ij²/q_j. Therefore one column with
the entry v in row i and q = 1 can replace all columns of J, in a fit to any subset of the rows. Columns of zeros have
weight zero and are dropped. In text data most columns are of these two kinds, since most words are rare.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array


def merged_columns(X: Any, q: Array) -> tuple[Any, Array]:
    """CSR rows with merged columns that give the same ridge fits as X (n, d), and the penalty factors of their columns.

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
    kind = X.indices.dtype  # keep the index dtype: a new one would compile the loops again
    whole.indices, whole.indptr = whole.indices.astype(kind), whole.indptr.astype(kind)
    return whole, np.concatenate([q[shared], np.ones(len(rows))])
