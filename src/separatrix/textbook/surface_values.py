"""The mean loss and the penalty over a grid of two weights.

Rows are taken in groups whose scores at a line of the grid fit into the processor's cache: temporary arrays that do not
would take several times as long as the arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array
from separatrix.losses import LOSSES
from separatrix.losses.margin import Logistic
from separatrix.objectives.problem import Objective

# The number of scores that are computed at once: 64 kB.
SCORES_AT_ONCE = 8192


@dataclass(frozen=True)
class SurfaceGrid:
    """Two entries (score, column) of the weights over a grid, the other entries held at ``base`` (K or 1, d + 1)."""

    problem: Objective
    base: Array
    entries: tuple[tuple[int, int], tuple[int, int]]
    first: Array
    second: Array

    @property
    def _held(self) -> Array:
        """The weights with zeros in the two entries."""
        held = self.base.copy()
        for k, c in self.entries:
            held[k, c] = 0.0
        return held

    def loss(self, gradient: bool) -> tuple[Array, Array | None]:
        """The mean loss (points, points), and its derivatives by both entries (2, points, points) if asked for."""
        block = self.problem.rows.resident()
        assert block is not None  # the rows are in memory
        n = len(self.first)
        value, slopes = np.zeros((n, n)), np.zeros((2, n, n)) if gradient else None
        size = max(1, SCORES_AT_ONCE // n)
        share, x1, Z = block.weight / block.weight.sum(), block.homogeneous(), block.scores(self._held)
        sums = self._softmax if self.problem.loss.traits.multiclass else self._one_score
        for start in range(0, block.n_rows, size):
            rows = slice(start, start + size)
            sums(share[rows], block.t[rows], x1[rows], Z[rows], value, slopes)
        return value, slopes

    def _one_score(self, share: Array, t: Array, x1: Array, Z: Array, value: Array, slopes: Array | None) -> None:
        """Add the loss of these rows, a function of one score, to ``value``, and its derivatives to ``slopes``."""
        loss = self.problem.loss
        x, u = x1[:, self.entries[0][1]], x1[:, self.entries[1][1]]
        across, t = Z + np.outer(x, self.first), t[:, None]
        z = np.empty_like(across)
        for i, height in enumerate(self.second):
            np.add(across, (height * u)[:, None], out=z)
            value[i] += share @ loss.value(t, z)
            if slopes is not None:
                slope = loss.derivative(t, z)
                slopes[0, i] += (share * x) @ slope
                slopes[1, i] += (share * u) @ slope

    def _softmax(self, share: Array, t: Array, x1: Array, Z: Array, value: Array, slopes: Array | None) -> None:
        """Add −ln P(class) of these rows to ``value``, and its derivatives to ``slopes``.

        With z the score of the first entry's class and r = ln Σ e^z over the other classes, −ln P = r + ℓ(r − z) − z_t,
        with ℓ the logistic loss. So there is one function to compute at each point of the grid, and not K.
        """
        logistic = LOSSES["logistic"]
        assert isinstance(logistic, Logistic)
        (k, c), (m, e) = self.entries
        x, u, codes = x1[:, c], x1[:, e], t.astype(np.int64)
        own, other, rows = (codes == k).astype(float), (codes == m).astype(float), np.arange(len(codes))
        across = Z[:, k, None] + np.outer(x, self.first)
        rest = np.logaddexp.reduce(np.delete(Z, k, axis=1), axis=1)
        for i, height in enumerate(self.second):
            lift = height * u
            held = Z.copy()
            held[:, m] += lift
            z = across + lift[:, None] if m == k else across
            r = rest if m == k else np.logaddexp.reduce(np.delete(held, k, axis=1), axis=1)
            margin = r[:, None] - z
            # z_t is the row's own score: that of class k varies along the line, the others do not.
            value[i] += share @ logistic.of_margin(margin) - (share * own) @ z
            value[i] += float(share @ (r - (1 - own) * held[rows, codes]))
            if slopes is not None:
                p = -logistic.slope(margin)
                slopes[0, i] += (share * x) @ (p - own[:, None])
                within = p if m == k else (1 - p) * np.exp(held[:, m] - r)[:, None]
                slopes[1, i] += (share * u) @ (within - other[:, None])

    def penalty(self, strength: float, l1_ratio: float) -> tuple[Array, Array]:
        """strength Σ (α |w| + ½ (1 − α) w²) over the grid, and its derivatives by both entries."""

        def of(w: Array) -> Array:
            return np.asarray(strength * (l1_ratio * np.abs(w) + 0.5 * (1 - l1_ratio) * w * w))

        def slope(w: Array) -> Array:
            return np.asarray(strength * (l1_ratio * np.sign(w) + (1 - l1_ratio) * w))

        n, rest = len(self.first), float(of(self._held[:, 1:]).sum())
        along, up = (axis * (entry[1] > 0) for axis, entry in zip((self.first, self.second), self.entries, strict=True))
        value = rest + of(along)[None, :] + of(up)[:, None]
        bends = np.stack([np.broadcast_to(slope(along), (n, n)), np.broadcast_to(slope(up)[:, None], (n, n))])
        return value, bends
