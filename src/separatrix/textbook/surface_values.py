"""The mean loss and the penalty over a grid of two weights.

Rows are taken in groups whose scores at a line of the grid fit into the processor's cache: temporary arrays that do not
would take several times as long as the arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.cached import cached_property
from separatrix.losses import LOSSES
from separatrix.losses.margin import Logistic
from separatrix.losses.traits import MarginLoss
from separatrix.objectives.problem import Objective
from separatrix.textbook.tabulated_loss import TabulatedLoss, tabulated

# The number of scores that are computed at once: 96 kB. Arrays of 128 kB and more would come from the operating system
# each time, which takes longer than the arithmetic.
SCORES_AT_ONCE = 12_288


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

    @cached_property
    def _table(self) -> TabulatedLoss | None:
        """The table of a costly loss; None for others and where margins are large."""
        loss, block = self.problem.loss, self.problem.rows.resident()
        if not (isinstance(loss, MarginLoss) and loss.traits.costly) or block is None:
            return None
        first, second = (np.abs(axis).max() for axis in (self.first, self.second))
        x1, (_, c), (_, e) = np.abs(block.homogeneous()), *self.entries
        reach = np.abs(block.scores(self._held)[:, 0]) + first * x1[:, c] + second * x1[:, e]
        most = float(reach.max())
        return tabulated(loss, -most, most, block.n_rows * len(self.first) * len(self.second))

    def loss(self, gradient: bool) -> tuple[Array, Array | None]:
        """The mean loss (points, points), and its derivatives by both entries (2, points, points) if asked for."""
        block = self.problem.rows.resident()
        assert block is not None  # the rows are in memory
        n = len(self.first)
        value, slopes = np.zeros((n, n)), np.zeros((2, n, n)) if gradient else None
        size = max(1, SCORES_AT_ONCE // n)
        share, x1, Z = block.weight / block.weight.sum(), block.homogeneous(), block.scores(self._held)
        sums = self._softmax if self.problem.loss.traits.multiclass else self._one_score
        for own in self._groups(block.t):
            for start in range(0, len(own), size):
                rows = own[start : start + size]
                sums(share[rows], block.t[rows], x1[rows], Z[rows], value, slopes)
        return value, slopes

    def _groups(self, t: Array) -> list[Integers]:
        """The numbers of all rows; for a loss that is not one of the margin, those of each target, as it is faster."""
        if self.problem.loss.traits.multiclass or isinstance(self.problem.loss, MarginLoss):
            return [np.arange(len(t))]
        return [np.flatnonzero(t == target) for target in np.unique(t)]

    def _one_score(self, share: Array, t: Array, x1: Array, Z: Array, value: Array, slopes: Array | None) -> None:
        """Add the loss of these rows, a function of one score, to ``value``, and its derivatives to ``slopes``.

        If it is not a function of the margin, the rows have the same target.
        """
        loss = self.problem.loss
        x, u = x1[:, self.entries[0][1]], x1[:, self.entries[1][1]]
        across = Z + np.outer(x, self.first)
        if isinstance(loss, MarginLoss):  # computed from margins, which are linear in the weights like scores
            across, x, u = t[:, None] * across, t * x, t * u
            of, with_slope = loss.of_margin, loss.value_slope
        else:
            of, with_slope = partial(loss.value, t[0]), partial(loss.value_derivative, t[0])
        by_entry = np.stack([share * x, share * u])
        if self._table is not None:
            self._table.add(across, self.second, u, share, value, by_entry, slopes)
            return
        z = np.empty_like(across)
        for i, height in enumerate(self.second):
            np.add(across, (height * u)[:, None], out=z)
            if slopes is None:
                value[i] += share @ of(z)
            else:
                here, slope = with_slope(z)
                value[i] += share @ here
                slopes[:, i] += by_entry @ slope

    def _softmax(self, share: Array, t: Array, x1: Array, Z: Array, value: Array, slopes: Array | None) -> None:
        """Add −ln P(class) of these rows to ``value``, and its derivatives to ``slopes``.

        With z the score of the first entry's class k and r = ln Σ e^z over the other classes, −ln P is
        r + ℓ(r − z) − z_t with ℓ the logistic loss. So there is one function to compute at each point of the grid, and
        not K. The rest is constant along a line, or linear in the first entry.
        """
        logistic = LOSSES["logistic"]
        assert isinstance(logistic, Logistic)
        (k, c), (m, e) = self.entries
        x, u, codes = x1[:, c], x1[:, e], t.astype(np.int64)
        lift = np.outer(self.second, u)  # the second entry's part of the scores of class m
        across, r, share_m = Z[:, k, None] + np.outer(x, self.first), *self._other_classes(Z, lift)
        level = r - lift if m == k else r
        value -= (share * (codes == k)) @ across
        value += (r @ share - share @ _own_scores(Z, codes, k) - lift @ (share * (codes == m)))[:, None]
        margin = np.empty_like(across)
        # −slope is P_k, and P_m = (1 − P_k) share_m for another class m.
        by_entry = np.empty((2, *r.shape))
        by_entry[0], by_entry[1] = -share * x, share * u * (-1.0 if m == k else share_m)
        if slopes is not None:
            slopes[0] -= (share * x) @ (codes == k)
            slopes[1] += (share_m @ (share * u) - (share * u) @ (codes == m))[:, None]
        for i in range(len(self.second)):
            np.subtract(level[i, :, None], across, out=margin)
            if slopes is None:
                value[i] += share @ logistic.of_margin(margin)
                continue
            here, slope = logistic.value_slope(margin)
            value[i] += share @ here
            slopes[:, i] += by_entry[:, i] @ slope

    def _other_classes(self, Z: Array, lift: Array) -> tuple[Array, Array]:
        """r = ln Σ e^z over all classes but k, and the share of class m in that sum, (points, rows) each.

        The share is zero if the second entry belongs to class k.
        """
        (k, _), (m, _) = self.entries
        rest = np.logaddexp.reduce(np.delete(Z, [k, m], axis=1), axis=1)
        if m == k:
            return np.broadcast_to(rest, lift.shape), np.zeros_like(lift)
        raised = Z[:, m] + lift
        r = np.logaddexp(rest, raised)
        with np.errstate(under="ignore"):
            return r, np.exp(raised - r)

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


def _own_scores(Z: Array, codes: Integers, but: int) -> Array:
    """The score of each row's own class, (rows,); zero for the rows of class ``but``."""
    return np.where(codes == but, 0.0, Z[np.arange(len(codes)), codes])
