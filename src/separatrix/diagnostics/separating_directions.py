r"""Directions that separate the classes of rows best (Fisher).

Fisher's axes maximise vᵀ S_B v / vᵀ S_W v, the scatter between the classes by the scatter within them. S_W is shrunk
towards a multiple of the identity by d/(d + n), since with few rows per column it separates rows by chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import EPS, Array

# Singular values below this share of the largest count as zero.
RELATIVE_RANK_TOLERANCE = 1e-9


def fisher_axes(U: Array, codes: Any, n_classes: int) -> Array:
    """Fisher's axes of points U (n, q), as columns, the most separating first. Without several classes, as given."""
    n, q = U.shape
    counts = np.bincount(codes, minlength=n_classes)
    sums = np.zeros((n_classes, q))
    np.add.at(sums, codes, U)
    means = sums[counts > 0] / counts[counts > 0, None]
    centred = U - (sums / np.maximum(counts, 1)[:, None])[codes]
    within = _shrunk(centred.T @ centred / n, n, float(np.mean(U**2)))
    apart = (means - U.mean(axis=0)) * np.sqrt(counts[counts > 0, None] / n)
    L = np.linalg.cholesky(within)
    half = np.linalg.solve(L, apart.T)
    vectors = np.linalg.svd(half)[0]
    return np.asarray(np.linalg.solve(L.T, vectors))


def _shrunk(S: Array, n: int, size: float) -> Array:
    """A scatter matrix, divided by its mean variance and shrunk towards the identity.

    ``size``: the mean square of the columns. A variance that is smaller than its rounding error counts as zero; if all
    do, as with one row in each class, the identity is left.
    """
    q = len(S)
    share, mean = q / (q + n), float(np.trace(S)) / q
    if not mean > n * EPS * size:
        return np.eye(q)
    return np.asarray((1 - share) * (S / mean) + (share + RELATIVE_RANK_TOLERANCE) * np.eye(q))


def without(v: Array, kept: list[Array]) -> Array:
    """The part of v orthogonal to the directions kept."""
    for known in kept:
        v = v - (known @ v) * known
    return v
