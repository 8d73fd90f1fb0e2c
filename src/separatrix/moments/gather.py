r"""Sums of (1, x, xxᵀ) by class: all that least squares, Fisher, LDA and QDA need of the rows.

Of each class k: its weight S_k, its mean m_k, and its scatter Σ_i s_i (x_i − m_k)(x_i − m_k)ᵀ, an unnormalised sum as
lecture 001 has its S_i. Inside a block rows are centred first, then multiplied, and what the centring missed by
rounding is taken off again; blocks are merged by Chan, Golub and LeVeque (1983). So nothing cancels, however far the
rows lie from zero or the classes from each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.arrays import Array, Integers
from separatrix.rows import Block, Frame, Rows, memory_rows, standard_frame, summarise
from separatrix.rows.block import LARGEST_DENSE_BLOCK, power_of_two

# A spread that is this small beside the column's, or lost to rounding, calls for rows centred one by one.
LOST_SPREAD = 2.0**-52
# Within a class, a mean square deviation this small beside the column's variance is rounding: the column is constant.
ROUNDING = 1e-24


@dataclass
class Moments:
    """In the coordinates of ``frame``: weight (K,), n_rows (K,), mean (K, d), scatter (K, d, d), or (1, d, d) pooled.

    >>> found = gather(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1]), 2)
    >>> found.weight.tolist(), found.raw_mean.tolist(), found.raw_scatter.tolist()
    ([2.0, 1.0], [[1.0], [5.0]], [[[2.0]], [[0.0]]])
    """

    frame: Frame
    weight: Array
    n_rows: Integers
    mean: Array
    scatter: Array

    @property
    def total_weight(self) -> float:
        return float(self.weight.sum())

    @property
    def shares(self) -> Array:
        """S_k/S."""
        return np.asarray(self.weight / self.weight.sum())

    @property
    def center(self) -> Array:
        """The mean of all rows, (d,)."""
        return np.asarray(self.shares @ self.mean)

    @property
    def within(self) -> Array:
        """S_W = Σ_k S_k-scatter, (d, d)."""
        return np.asarray(self.scatter.sum(axis=0))

    @property
    def between(self) -> Array:
        """Σ_k S_k (m_k − m)(m_k − m)ᵀ, (d, d)."""
        apart = self.mean - self.center
        return np.asarray(apart.T @ (apart * self.weight[:, None]))

    @property
    def raw_mean(self) -> Array:
        """Means in the columns' own units, (K, d)."""
        return np.asarray(self.frame.center + self.mean * self.frame.scale)

    @property
    def raw_scatter(self) -> Array:
        """Scatter in the columns' own units."""
        return np.asarray(self.scatter * self.frame.scale * self.frame.scale[:, None])


@dataclass(frozen=True)
class ClassMoments:
    """The partial sum behind ``Moments``; targets are class numbers. ``pooled``: one scatter, d² and not K d²."""

    n_classes: int
    frame: Frame
    pooled: bool = False

    def zero(self) -> Moments:
        K, d = self.n_classes, len(self.frame.center)
        scatter = np.zeros((1 if self.pooled else K, d, d))
        return Moments(self.frame, np.zeros(K), np.zeros(K, dtype=np.int64), np.zeros((K, d)), scatter)

    def add(self, total: Moments, block: Block) -> Moments:
        size = max(1, LARGEST_DENSE_BLOCK // max(1, block.X.shape[1]))  # so that CSR rows may be written out
        for k in range(self.n_classes):
            own = np.flatnonzero((block.t == k) & (block.weight > 0))
            for start in range(0, len(own), size):
                self._absorb(total, k, block.take(own[start : start + size]))
        return total

    def _absorb(self, total: Moments, k: int, rows: Block) -> None:
        weight, mean, scatter = _centred(rows)
        before, after = total.weight[k], total.weight[k] + weight
        delta = mean - total.mean[k]
        target = total.scatter[0 if self.pooled else k]
        target += scatter
        target += np.outer(delta, delta) * (before * (weight / after))
        total.mean[k] += delta * (weight / after)
        total.weight[k] = after
        total.n_rows[k] += rows.n_rows

    def merge(self, a: Moments, b: Moments) -> Moments:
        weight = a.weight + b.weight
        share = np.divide(b.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = b.mean - a.mean
        spread = a.weight * share
        a.scatter += b.scatter
        if self.pooled:
            a.scatter[0] += delta.T @ (delta * spread[:, None])
        else:
            for k in np.flatnonzero(spread):
                a.scatter[k] += np.outer(delta[k], delta[k]) * spread[k]
        a.mean += delta * share[:, None]
        a.weight = weight
        a.n_rows = a.n_rows + b.n_rows
        return a


def _centred(rows: Block) -> tuple[float, Array, Array]:
    """Weight, mean and scatter of some rows of one class, in the coordinates of their frame."""
    s, frame = rows.weight, rows.frame
    total = float(s.sum())
    about = frame.center + frame.scale * (rows.adjoint(s[:, None])[0, 1:] / total)
    # The rows' own spread, so that the block can tell whether their offset is large beside it.
    spread = replace(rows, frame=Frame(about, frame.scale)).squares(s)[1:] / total
    ratio = np.where(spread > LOST_SPREAD**2, power_of_two(np.sqrt(np.maximum(spread, 0.0))), LOST_SPREAD)
    H = replace(rows, frame=Frame(about, frame.scale * ratio)).sandwich(s)
    missed = H[0, 1:] / total
    scatter = (H[1:, 1:] - total * np.outer(missed, missed)) * np.outer(ratio, ratio)
    return total, (about - frame.center) / frame.scale + ratio * missed, scatter


def moments_of(rows: Rows, n_classes: int, pooled: bool = False) -> Moments:
    """The moments of rows in any home, in the coordinates of their frame: one pass."""
    return rows.fold(ClassMoments(n_classes, rows.frame, pooled))


def gather(
    X: Any,
    codes: Integers,
    n_classes: int,
    weight: Array | None = None,
    pooled: bool = False,
    names: list[str] | None = None,
    spread: float = 0.0,
) -> Moments:
    """The moments of rows in memory, in standard coordinates: two passes. Refuses NaN and infinity by place.

    ``spread``: the least scale of a coordinate in raw units, for what is to be added to variances.
    """
    rows = memory_rows(X, codes, weight)
    summary = summarise(rows, names)
    curvature = np.full(rows.n_features, (spread / 2) ** 2)
    frame = standard_frame(summary, curvature, centred=True, hide_constant=False)
    found = moments_of(rows.seen_through(frame), n_classes, pooled)
    for scatter in found.scatter:
        constant = np.diag(scatter) <= ROUNDING * found.total_weight
        scatter[constant, :] = scatter[:, constant] = 0.0
    return found
