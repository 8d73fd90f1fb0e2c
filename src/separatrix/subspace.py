"""The directions of W that the data and the penalty determine.

Three things leave directions on which the objective does not depend: collinear columns, a missing intercept,
and for K score functions the shift of all of them alike. Newton steps and bounds live on the rest:
W = Q Θ Zᵀ, with Q an orthonormal basis of the contrasts between classes and Z one of the identified columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Array


@dataclass(frozen=True)
class Subspace:
    """Q (K, K − 1 or 1) or None for one score function; Z (d + 1, r) or None where all columns are identified."""

    Q: Array | None
    Z: Array | None
    rank: int

    def reduce(self, G: Array) -> Array:
        """Qᵀ G Z as a vector: a gradient in the coordinates Θ."""
        G = G if self.Q is None else self.Q.T @ G
        return (G if self.Z is None else G @ self.Z).ravel()

    def expand(self, theta: Array) -> Array:
        """Q Θ Zᵀ, (K, d + 1)."""
        T = theta.reshape(1 if self.Q is None else self.Q.shape[1], -1)
        T = T if self.Z is None else T @ self.Z.T
        return T if self.Q is None else self.Q @ T

    def remainder(self, G: Array) -> Array:
        """The part of G outside the subspace."""
        return G - self.expand(self.reduce(G))

    def reduce_hessian(self, H: Array) -> Array:
        """(Q ⊗ Z)ᵀ H (Q ⊗ Z)."""
        if self.Z is None and self.Q is None:
            return H
        K = 1 if self.Q is None else len(self.Q)
        width = len(H) // K
        T = H.reshape(K, width, K, width)
        if self.Z is not None:
            T = np.einsum("kilj,ia,jb->kalb", T, self.Z, self.Z, optimize=True)
        if self.Q is not None:
            T = np.einsum("kalb,kc,le->caeb", T, self.Q, self.Q, optimize=True)
        size = T.shape[0] * T.shape[1]
        return np.ascontiguousarray(T).reshape(size, size)


def contrasts(K: int) -> Array:
    """An orthonormal basis (K, K − 1) of the vectors that sum to zero (Helmert).

    >>> Q = contrasts(3)
    >>> bool(np.allclose(Q.T @ Q, np.eye(2)) and np.allclose(Q.sum(axis=0), 0))
    True
    """
    Q = np.zeros((K, K - 1))
    for j in range(1, K):
        Q[:j, j - 1] = 1.0
        Q[j, j - 1] = -j
        Q[:, j - 1] /= np.sqrt(j * (j + 1))
    return Q


def identified(curvature: Array, K: int) -> Subspace:
    """The subspace on which a (d + 1)² matrix of curvature is positive, to working precision.

    >>> identified(np.array([[1.0, 1.0], [1.0, 1.0]]), 1).rank
    1
    """
    Q = contrasts(K) if K > 1 else None
    d = np.sqrt(np.diag(curvature))
    seen = np.flatnonzero(d > 0)  # a column without curvature is left out exactly, not up to rounding
    d = d[seen]
    values, vectors = np.linalg.eigh(curvature[np.ix_(seen, seen)] / d / d[:, None])
    tolerance = 8 * len(curvature) * np.finfo(np.float64).eps * max(1.0, float(values[-1]))
    kept = values > tolerance
    rank = int(kept.sum())
    if rank == len(curvature):
        return Subspace(Q, None, rank)
    Z = np.zeros((len(curvature), rank))
    Z[seen], _ = np.linalg.qr(vectors[:, kept] * d[:, None])  # the curvature's range: no part in its null space
    return Subspace(Q, Z, rank)
