"""C Σ_i ℓ(y_i, W x̄_i) + ½(1 − l1_ratio)‖w‖² + l1_ratio ‖w‖₁ in the rows' own units, by code of the benchmark's own.

Blocks of rows in float64, pairwise sums within a block, exact ones (Shewchuk 1997) over blocks: relative suboptimality
of 1e-8 is far above its rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

# About 8 MB of a dense block.
ENTRIES = 1_000_000


def blocks(X: Any) -> Iterator[slice]:
    size = max(1, ENTRIES // X.shape[1]) if isinstance(X, np.ndarray) else 20_000
    for start in range(0, X.shape[0], size):
        yield slice(start, min(start + size, X.shape[0]))


def scores(X: Any, W: np.ndarray) -> np.ndarray:
    """x̄ Wᵀ, (m, K or 1), with intercepts in column 0 of W."""
    return np.asarray(X.astype(np.float64, copy=False) @ W[:, 1:].T) + W[:, 0]


def losses(z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """ℓ by row: logistic of one score, softmax of several."""
    if z.shape[1] == 1:
        return np.logaddexp(0.0, np.where(y == 1, -z[:, 0], z[:, 0]))
    top = z.max(axis=1)
    own = z[np.arange(len(y)), y]
    return np.log(np.sum(np.exp(z - top[:, None]), axis=1)) + (top - own)


def objective(X: Any, y: np.ndarray, W: np.ndarray, C: float, l1_ratio: float = 0.0) -> float:
    """The objective at W (K or 1, d + 1); C = ∞: Σ ℓ alone. Not a number of W: infinity.

    >>> round(objective(np.array([[1.0]]), np.array([1]), np.array([[0.0, 2.0]]), C=3.0), 6)
    2.380784
    """
    if not np.all(np.isfinite(W)):
        return math.inf
    total = math.fsum(float(np.sum(losses(scores(X[rows], W), y[rows]))) for rows in blocks(X))
    if math.isinf(C):
        return total
    w = W[:, 1:]
    return C * total + 0.5 * (1.0 - l1_ratio) * float(np.sum(w**2)) + l1_ratio * float(np.sum(np.abs(w)))


def largest_slope(X: Any, y: np.ndarray) -> float:
    """The least L1 strength 1/C at which all weights are zero: max_j |Σ_i x_ij (y_i − ȳ)|."""
    return float(np.max(np.abs(X.T @ (y - y.mean()))))
