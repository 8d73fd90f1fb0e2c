"""Tails of the normal and the χ² distribution, accurate over the range of float64."""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array


def two_sided(z: Array) -> Array:
    """2 Φ(−|z|).

    >>> two_sided(np.array([0.0, 1.959963984540054])).round(6).tolist()
    [1.0, 0.05]
    """
    from scipy.special import ndtr

    with np.errstate(under="ignore"):
        return np.asarray(2.0 * ndtr(-np.abs(z)))


def quantile(level: float) -> float:
    """The z with P(|Z| ≤ z) = level.

    >>> round(quantile(0.95), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(-ndtri(0.5 * (1.0 - level)))


def chi_squared_tail(statistic: float, df: int) -> float:
    """P(χ² ≥ statistic); NaN for no degrees of freedom.

    >>> round(chi_squared_tail(3.841458820694124, 1), 6)
    0.05
    """
    from scipy.special import chdtrc

    return float(chdtrc(df, max(statistic, 0.0))) if df > 0 and np.isfinite(statistic) else float("nan")
