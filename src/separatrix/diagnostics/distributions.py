"""The distribution of a column in each class: shares of rows in common bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.rows.csr import is_sparse

# The number of bins of a column with many values.
BINS = 24
# A column with at most this many distinct values has a bin for each.
MOST_DISTINCT = 8
# Bins end at these quantiles of all rows. Values beyond them count to the outer bins, so outliers do not squash them.
ENDS = (0.005, 0.995)
# The quantiles of each class.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Distribution:
    """One column by class. ``distribution`` returns one.

    Attributes
    ----------
    name : str
        The column.
    edges : array (bins + 1,)
        The ends of the bins.
    levels : array (bins,) or None
        The distinct values, if the column has few.
    shares : array (K, bins)
        The share of the rows of each class in each bin; 0 for a class without rows.
    quantiles : array (K, 5)
        The quantiles ``QUANTILES`` of each class; NaN for a class without rows.
    """

    name: str
    edges: Array
    levels: Array | None
    shares: Array
    quantiles: Array

    @property
    def median(self) -> Array:
        """The median of each class, (K,)."""
        return np.asarray(self.quantiles[:, 2])

    @property
    def overlap(self) -> float:
        """The share that the two classes with the least overlap have in common, from 0 to 1."""
        present = self.shares[self.shares.sum(axis=1) > 0]
        pairs = [np.minimum(a, b).sum() for i, a in enumerate(present) for b in present[i + 1 :]]
        return float(min(pairs, default=1.0))


def distribution(x: Array, codes: Integers, n_classes: int, name: str) -> Distribution:
    """The distribution of the values x (n,) in each class.

    >>> found = distribution(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0, 1, 1, 1]), 2, "smoker")
    >>> found.levels.tolist(), found.shares.round(2).tolist()
    ([0.0, 1.0], [[1.0, 0.0], [0.33, 0.67]])
    """
    distinct = np.unique(x)
    levels = distinct if len(distinct) <= MOST_DISTINCT else None
    if levels is not None:
        edges, place = np.arange(len(levels) + 1.0) - 0.5, np.searchsorted(levels, x)
    else:
        low, high = np.quantile(x, ENDS)
        if not high > low:
            low, high = float(distinct[0]), float(distinct[-1])
        edges = np.linspace(low, high, BINS + 1)
        place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, BINS - 1)
    bins = len(edges) - 1
    counts = np.bincount(codes * bins + place, minlength=n_classes * bins).reshape(n_classes, bins)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = counts.sum(axis=1)
    none = np.full(len(QUANTILES), np.nan)
    quantiles = [np.quantile(x[codes == k], QUANTILES) if rows[k] else none for k in range(n_classes)]
    return Distribution(name, edges, levels, shares, np.array(quantiles))


def column_of(X: Any, j: int) -> Array:
    """Column j of dense or sparse rows.

    >>> column_of(np.array([[1.0, 2.0]]), 1).tolist()
    [2.0]
    """
    x = X[:, [j]].toarray()[:, 0] if is_sparse(X) else X[:, j]
    return np.asarray(x, dtype=np.float64)
