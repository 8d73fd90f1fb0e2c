"""Newton's method for a query engine: the sums that a step needs, as expressions, and the step itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

MOST_STEPS = 25
TOLERANCE = 1e-9


def pairs(d: int) -> list[tuple[int, int]]:
    """The entries of a symmetric matrix of size d + 1, by row and column; column 0 stands for the intercept."""
    return [(j, k) for j in range(d + 1) for k in range(j, d + 1)]


def newton(sums: Callable[[np.ndarray], Sequence[float]], d: int, C: float) -> np.ndarray:
    """(b, w) by Newton steps. ``sums(v)``: Σ (p − y) x̄, then Σ p (1 − p) x̄ x̄ᵀ by ``pairs``, at v = (b, w)."""
    v, penalty = np.zeros(d + 1), np.full(d + 1, 1.0 / C)
    penalty[0] = 0.0
    for _ in range(MOST_STEPS):
        found = np.asarray(sums(v), dtype=np.float64)
        gradient, H = found[: d + 1] + penalty * v, np.diag(penalty)
        for (j, k), value in zip(pairs(d), found[d + 1 :], strict=True):
            H[j, k] += value
            H[k, j] = H[j, k]
        step = np.linalg.solve(H, gradient)
        v = v - step
        if gradient @ step < TOLERANCE * H[0, 0]:
            break
    return v
