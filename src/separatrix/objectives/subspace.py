"""The directions of W that the data and the penalty determine.

The objective does not depend on some directions in three cases: collinear columns, a missing intercept, and for K score
functions a common shift of all of them. Newton steps and bounds are restricted to the other directions:
W = Q Θ Zᵀ, with Q an orthonormal basis of the contrasts between classes and Z one of the identified columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import EPS, AnyArray, Array, all_true
from separatrix.objectives.factor import is_positive_definite

# Relative eigenvalues of a Gram matrix below this may be rounding errors; they are computed again without squaring.
SMALLEST_SQUARED_EIGENVALUE = 1e-8


@dataclass(frozen=True)
class Subspace:
    """Q (K, K − 1 or 1) or None for one score function; Z (d + 1, r) or None if all columns are identified.

    ``others_null``: whether every direction of the columns outside Z is zero on all rows; None if that is not known.
    """

    Q: Array | None
    Z: Array | None
    rank: int
    others_null: bool | None = None

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

    def outside(self) -> Array:
        """An orthonormal basis of the columns' directions that are not identified, (d + 1 − r, d + 1)."""
        if self.Z is None:
            return np.empty((0, 0))
        full = np.linalg.svd(self.Z, full_matrices=True)[0]
        return np.ascontiguousarray(full[:, self.Z.shape[1] :].T)

    def reduce_rows(self, rows: Array) -> Array:
        """Rows over (K, d + 1) in the coordinates Θ: rows (Q ⊗ Z)."""
        T = rows.reshape(len(rows), 1 if self.Q is None else len(self.Q), -1)
        T = T if self.Z is None else T @ self.Z
        T = T if self.Q is None else np.einsum("nkj,kc->ncj", T, self.Q)
        return np.ascontiguousarray(T).reshape(len(rows), -1)

    def reduce_hessian(self, H: Array) -> Array:
        """(Q ⊗ Z)ᵀ H (Q ⊗ Z)."""
        if self.Z is None and self.Q is None:
            return H
        K = 1 if self.Q is None else len(self.Q)
        width = len(H) // K
        if self.Z is not None and self.Z.shape[1] == 0:
            return np.empty((0, 0))
        if self.Z is not None:
            H, width = self.Z.T @ (H.reshape(-1, width) @ self.Z).reshape(K, width, -1), self.Z.shape[1]
        if self.Q is not None:
            H, K = self.Q.T @ (self.Q.T @ H.reshape(K, -1)).reshape(-1, K, width), K - 1
        return H.reshape(K * width, K * width)


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


def identified(curvature: Array) -> Subspace | None:
    """The columns' directions on which a (d + 1)² matrix of curvature is positive; None if rounding hides them.

    Squaring columns halves their digits: an eigenvalue below SMALLEST_SQUARED_EIGENVALUE may or may not be zero.

    >>> identified(np.diag([1.0, 0.0, 2.0])).rank
    2
    """
    d, Z = np.sqrt(curvature.diagonal()), None
    if not all_true(d > 0):  # a column without curvature is left out exactly
        seen = np.flatnonzero(d > 0)
        d, Z, curvature = d[seen], np.eye(len(curvature))[:, seen], curvature[np.ix_(seen, seen)]
    scaled = curvature / d
    scaled /= d[:, None]
    scaled.ravel()[:: len(d) + 1] -= SMALLEST_SQUARED_EIGENVALUE
    # The factor exists if all eigenvalues exceed the subtracted value.
    return Subspace(None, Z, len(d)) if is_positive_definite(scaled) else None


def split_by_gap(curvature: Array) -> Subspace | None:
    """The same if a gap separates rounding errors from other eigenvalues: a guess to be verified on the rows.

    >>> split_by_gap(np.array([[1.0, 1.0], [1.0, 1.0]])).rank
    1
    """
    d = np.sqrt(np.diag(curvature))
    seen = np.flatnonzero(d > 0)
    d = d[seen]
    values, vectors = np.linalg.eigh(curvature[np.ix_(seen, seen)] / d / d[:, None])
    largest = values[-1] if len(seen) else 0.0
    kept = values > SMALLEST_SQUARED_EIGENVALUE * largest
    if np.any(values[~kept] > 64 * len(curvature) * EPS * largest):
        return None
    return _spanned(vectors[:, kept], d, seen, len(curvature))


def _spanned(directions: Array, d: Array, seen: AnyArray, width: int) -> Subspace:
    """The range of a curvature from its eigenvectors for columns scaled to length one, after undoing the scaling."""
    rank = directions.shape[1]
    if rank == width:
        return Subspace(None, None, rank)
    Z = np.zeros((width, rank))
    Z[seen], _ = np.linalg.qr(directions * d[:, None])
    return Subspace(None, Z, rank)


def identified_by_root(root: Array, noise: float) -> Subspace:
    """``identified`` from a root of the curvature, whose singular values are accurate.

    ``noise``: the relative error of the columns; smaller singular values count as zero.

    >>> identified_by_root(np.array([[1.0, 1.0], [0.0, 1e-10]]), 1e-14).rank
    2
    """
    d = np.linalg.norm(root, axis=0)
    seen = np.flatnonzero(d > 0)
    width = root.shape[1]
    if len(seen) == 0:
        return Subspace(None, np.zeros((width, 0)), 0)
    d = d[seen]
    _, values, vectors = np.linalg.svd(root[:, seen] / d, full_matrices=False)
    return _spanned(vectors[values > noise * values[0]].T, d, seen, width)


def row_rank(A: Array, noise: float) -> int:
    """The rank of a matrix with fewer rows than columns; relative singular values up to ``noise`` count as zero.

    >>> row_rank(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]), 1e-12)
    1
    """
    length = np.sqrt(np.einsum("ij,ij->j", A, A))
    A = A / np.where(length > 0, length, 1.0)
    products = A @ A.T
    largest = np.max(np.sum(np.abs(products), axis=1), initial=0.0)  # no eigenvalue is larger
    products[np.diag_indices_from(products)] -= SMALLEST_SQUARED_EIGENVALUE * largest
    try:
        np.linalg.cholesky(products)  # succeeds if all eigenvalues exceed the subtracted value
        return len(A)
    except np.linalg.LinAlgError:
        sigma = np.linalg.svd(A, compute_uv=False)
    return int(np.sum(sigma > noise * sigma.max(initial=0.0)))
