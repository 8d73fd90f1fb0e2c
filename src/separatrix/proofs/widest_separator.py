r"""The hyperplane that keeps furthest from the rows at hand, for rows in memory that are too many for one program.

    given      rows a_c by number
    each round maximise s subject to a_c·v ≥ s on a working set, |v| ≤ 1, rows and columns scaled to about 1; then look
               for rows with a_c·v < s among all rows
    returns    v with the largest s, proven positive on all rows; None if there is none or a program fails

A v that maximises s on a random sample of r rows of width w has on average at most w/(r + 1) of all other rows on the
wrong side of s. If these join the sample, a few rounds suffice: Clarkson, Las Vegas algorithms for linear and integer
programming when the dimension is small, Journal of the ACM 42 (1995), section 2. The v of ``row_working_set`` ends its
search at any s > 0, and would have many more rows on the wrong side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.linear_programs import widest
from separatrix.proofs.row_working_set import SMALLEST_WORKING_SET
from separatrix.rows.csr import is_sparse
from separatrix.rows.frame import power_of_two

# Rows of the first working set, and rows that enter in a round (twice: the worst and others), for each direction.
FIRST_ROWS_PER_COLUMN, ENTERING_ROWS_PER_COLUMN = 10, 8
# Rows stay in the working set while their margin is below this multiple of s.
STAYING_MARGIN = 3.0
# A margin below s by less than this share counts as s: the tolerance of the programs is 1e-7.
TOLERATED_SHARE = 1e-6
# Below this s the program's tolerance decides, and ``separability`` looks for a proof by other means.
SMALLEST_S = 1e-6
MOST_PROGRAMS = 100


def widest_separator(D: Differences) -> Array | None:
    """v (width,) with a·v > 0 proven for all rows of D and the largest margin, or None.

    >>> widest_separator(Differences(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), 2)).round(3).tolist()
    [-1.0, 0.5]
    >>> widest_separator(Differences(np.array([[0.0], [1.0], [3.0]]), np.array([0, 1, 0]), 2)) is None
    True
    """
    unit = D.unit
    A: Any = _scaled(D.take(np.arange(D.count)), unit)
    n, w = A.shape
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.choice(n, min(n, max(SMALLEST_WORKING_SET, FIRST_ROWS_PER_COLUMN * w)), replace=False))
    for _ in range(MOST_PROGRAMS):
        found = widest(A[chosen])
        if found is None or found.s < SMALLEST_S:
            return None
        m = np.asarray(A @ found.v)
        low = np.flatnonzero(m < (1 - TOLERATED_SHARE) * found.s)
        low = low[~np.isin(low, chosen)]
        if len(low) == 0:
            v = found.v / unit
            return v if len(D.not_positive(v)) == 0 else None
        kept = chosen[(found.weights > 0) | (m[chosen] < STAYING_MARGIN * found.s)]
        worst, most = low[np.argsort(m[low], kind="stable")], ENTERING_ROWS_PER_COLUMN * w
        rest = worst[most:]
        spread = rest[np.unique(np.linspace(0, len(rest) - 1, min(len(rest), most)).astype(np.int64))]
        chosen = np.concatenate([kept, worst[:most], spread])
    return None


def _scaled(A: Any, unit: Array) -> Any:
    """A with the largest entry of each column, then of each row, near 1."""
    if is_sparse(A):
        from scipy.sparse import csr_array

        A = csr_array((A.data / unit[A.indices], A.indices, A.indptr), shape=A.shape)
        largest = np.asarray(abs(A).max(axis=1).toarray(), dtype=np.float64).ravel()
        return csr_array((A.data / np.repeat(power_of_two(largest), np.diff(A.indptr)), A.indices, A.indptr), A.shape)
    A = A / unit
    return A / power_of_two(np.abs(A).max(axis=1))[:, None]
