"""Sums over dense rows, fused: a row's score, what follows from it, and its share of the sum while it is in cache.

Rows ``begin`` to ``end`` of X in raw units, float64 or float32; sums are in float64, in one fixed order.
"""

from __future__ import annotations

import math
from typing import Any

from numba import njit

# Lets a sum run in several lanes side by side; infinity and NaN stay what they are.
LANES = {"reassoc", "contract", "nsz"}


@njit(nogil=True, cache=True, fastmath=LANES)
def logistic_pass(X: Any, begin: Any, end: Any, t: Any, weight: Any, w: Any, b: Any, gradient: Any) -> Any:
    """Adds Σ s ℓ′ x to ``gradient`` (d,); returns Σ s ℓ and Σ s ℓ′, for ℓ = log(1 + e^{−t z}), z = w·x + b."""
    value, first = 0.0, 0.0
    d = X.shape[1]
    for i in range(begin, end):
        z = 0.0
        for j in range(d):
            z += X[i, j] * w[j]
        m = t[i] * (z + b)
        e = math.exp(-abs(m))
        value += weight[i] * (math.log1p(e) + max(-m, 0.0))
        r = -t[i] * weight[i] * (e if m >= 0.0 else 1.0) / (1.0 + e)
        first += r
        for j in range(d):
            gradient[j] += r * X[i, j]
    return value, first
