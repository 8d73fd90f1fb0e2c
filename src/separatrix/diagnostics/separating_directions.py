r"""Directions that separate the classes of rows best (Fisher).

Fisher's axes maximise vᵀ S_B v / vᵀ S_W v, the scatter between the classes by the scatter within them. S_W is shrunk
towards a multiple of the identity by d/(d + n), since with few rows per column it separates rows by chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.rows import Block

# Largest number of columns for which the scatter matrix is formed. With more, it counts as a multiple of the identity.
MOST_SCATTER_COLUMNS = 300
# A direction along the boundary on which the class means differ by less than this many standard deviations separates
# nothing, and the largest principal direction is drawn.
LEAST_DIFFERENCE = 1e-6
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


def best_along(block: Block, codes: Any, w: Array) -> Array | None:
    """The unit vector that separates the first class from the others best, of those that show something new.

    These are orthogonal to w, so along the boundary, and uncorrelated with the score within the classes: others would
    show the score a second time. None if the class means do not differ along any of them.
    """
    first = codes == 0
    n, n_first = len(codes), int(np.sum(first))
    if n_first in (0, n):
        return None
    shares = np.column_stack([first / n_first, ~first / (n - n_first)])
    means = block.adjoint(shares)[:, 1:]
    z = block.scores(np.concatenate([[0.0], w])[None, :])[:, 0]
    shared = block.adjoint(((z - np.where(first, *(means @ w))) / n)[:, None])[0, 1:]  # S_W w
    kept = [w]
    left = without(shared, kept)
    if np.linalg.norm(left) > RELATIVE_RANK_TOLERANCE * np.linalg.norm(shared) and len(w) > 2:
        kept.append(left / np.linalg.norm(left))
    v: Array = without(means[1] - means[0], kept)
    if not np.linalg.norm(v) > LEAST_DIFFERENCE:
        return None
    if len(v) <= MOST_SCATTER_COLUMNS:
        weights = np.array([n_first / n, 1 - n_first / n])
        second = block.sandwich(np.full(n, 1.0 / n))[1:, 1:]
        within = second - (means.T * weights) @ means
        size = float(np.trace(second)) / len(v)
        free = np.linalg.svd(np.array(kept))[2][len(kept) :]  # an orthonormal basis of the vectors allowed
        v = np.asarray(np.linalg.solve(_shrunk(free @ within @ free.T, n, size), free @ v) @ free, dtype=np.float64)
    return np.asarray(v / np.linalg.norm(v))


def without(v: Array, kept: list[Array]) -> Array:
    """The part of v orthogonal to the directions kept."""
    for known in kept:
        v = v - (known @ v) * known
    return v
