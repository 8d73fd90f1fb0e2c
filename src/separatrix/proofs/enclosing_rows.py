r"""Few rows whose hull contains the origin, by Wolfe's algorithm: a quick proof of overlap for tables of few columns.

Problem   the shortest vector in the convex hull of the rows of B (n, w), each divided by its length
Returns   w + 1 rows with positive weights that sum to zero, proven by ``surely_positive``; None if none were found
Stops     when no row is nearer to the origin along the current vector, or after MOST_EXCHANGES steps

A linear program finds such rows as well, but setting it up takes several times as long as these steps on few columns.

Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).
"""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array, Integers, all_true
from separatrix.proofs.enclosure import surely_positive

# With more columns the linear program is as fast.
MOST_DIRECTIONS = 8
MOST_EXCHANGES = 60
# A vector of unit rows shorter than this may be zero; a weight below SMALLEST_WEIGHT is dropped.
NEARLY_ZERO, SMALLEST_WEIGHT = 1e-9, 1e-12
NO_WEIGHT = np.zeros(1)


def enclosing_rows(B: Array) -> tuple[Integers, Array] | None:
    """The indices of w + 1 rows whose positive combination is proven to be zero, and approximate weights.

    None says nothing about the rows: they may be separable, or the proof may need exact arithmetic.

    >>> rows, weights = enclosing_rows(np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0], [2.0, 0.1]]))
    >>> rows.tolist(), weights.round(3).tolist()
    ([0, 1, 2], [0.414, 0.293, 0.293])
    """
    w = B.shape[1]
    length = np.sqrt(np.einsum("ij,ij->i", B, B))
    if not 0 < w <= MOST_DIRECTIONS or len(B) <= w or not all_true((length > 0) & np.isfinite(length)):
        return None
    P = B / length[:, None]
    chosen, mu = [0], np.ones(1)
    for _ in range(MOST_EXCHANGES):
        x = mu @ P[chosen]
        scores = P @ x
        if float(x @ x) <= NEARLY_ZERO**2:
            return _proven(B, np.array(chosen), mu)
        k = int(scores.argmin())
        if scores[k] > 0 or k in chosen:  # x separates, or rounding hides any progress
            return None
        shortest = _shortest(P, [*chosen, k], np.concatenate([mu, NO_WEIGHT]))
        if shortest is None:
            return None
        chosen, mu = shortest
    return None


def _shortest(P: Array, chosen: list[int], mu: Array) -> tuple[list[int], Array] | None:
    """The rows and weights of the shortest vector in the hull of these rows, starting from the weights mu."""
    while True:
        A, own = np.ones((len(chosen) + 1, len(chosen) + 1)), P[chosen]
        A[0, 0], A[1:, 1:] = 0.0, own @ own.T
        right = np.zeros(len(A))
        right[0] = 1.0
        try:
            share = np.asarray(np.linalg.solve(A, right)[1:], dtype=np.float64)
        except np.linalg.LinAlgError:
            return None
        losing = (~(share > SMALLEST_WEIGHT)).nonzero()[0]
        if not len(losing):
            return chosen, share
        reach = mu[losing] / np.maximum(mu[losing] - share[losing], np.finfo(np.float64).tiny)
        first = int(losing[np.argmin(reach)])
        mu = np.maximum(mu + float(np.clip(reach.min(), 0.0, 1.0)) * (share - mu), 0.0)
        mu[first] = 0.0
        kept = np.flatnonzero(mu > 0)
        if not len(kept):
            return None
        chosen, mu = [chosen[i] for i in kept.tolist()], mu[kept]


def _proven(B: Array, rows: Integers, mu: Array) -> tuple[Integers, Array] | None:
    order = np.argsort(rows)
    rows, mu = rows[order], mu[order]
    return (rows, mu) if len(rows) == B.shape[1] + 1 and surely_positive(B[rows]) else None
