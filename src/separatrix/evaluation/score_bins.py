r"""Counts of rows in bins of their score, for the area under the ROC curve of tables outside memory.

A bin holds the scores that agree in the leading bits of their float64 representation, so bins are narrow near zero and
wide far from it, whatever the unit of the scores. As long as there are few distinct scores, each has its own bin, and
the area is exact. Otherwise low bits are dropped until there are at most MOST_BINS bins. Then only the order of rows in
the same bin is unknown: with P_b rows of the class and N_b others in bin b,

    |AUC − area that counts pairs of the same bin half| ≤ ½ Σ_b P_b N_b / (P N)

The bins do not depend on the order in which rows are added or counts are merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.evaluation.proportions import Interval
from separatrix.evaluation.ranking import Ranking

# The largest number of bins. With two megabytes of counts, the area of 20 million rows of two overlapping normal
# classes is bounded within about 1e-4.
MOST_BINS = 1 << 16
# The number of scores that are collected before they are counted.
MOST_PENDING = 4 * MOST_BINS
# All bits of a float64 but its sign.
WITHOUT_SIGN = np.iinfo(np.int64).max


def positions(z: Array) -> Integers:
    """The position of each double in the order of all doubles, with 0 at position 0.

    >>> positions(np.array([-1.0, -0.0, 0.0, 5e-324])).tolist()[1:]
    [0, 0, 1]
    """
    bits = np.ascontiguousarray(z, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & WITHOUT_SIGN))


def doubles(position: Integers) -> Array:
    """The doubles at these positions."""
    size = np.abs(position).view(np.float64)
    return np.where(position >= 0, size, -size)


@dataclass
class ScoreCounts:
    """For each bin the rows of the class (``own``) and the others. ``level``: how many low bits are dropped.

    ``pending`` lists rows that are not counted yet, each by its bin and by whether it is of the class.
    """

    level: int
    bins: Integers
    own: Integers
    others: Integers
    pending: list[tuple[Integers, AnyArray]]

    @classmethod
    def none(cls) -> ScoreCounts:
        """No rows."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(0, nothing, nothing, nothing, [])

    def add(self, z: Array, is_own: AnyArray) -> ScoreCounts:
        """The counts with more rows, which have the scores z."""
        self.pending.append((positions(z) >> self.level, is_own))
        waiting = sum(len(bins) for bins, _ in self.pending)
        return self.counted() if waiting > MOST_PENDING else self

    def counted(self) -> ScoreCounts:
        """The same counts with all pending rows counted, in at most MOST_BINS bins."""
        bins = np.concatenate([self.bins, *(bins for bins, _ in self.pending)])
        one_own = [np.asarray(is_own, dtype=np.int64) for _, is_own in self.pending]
        own = np.concatenate([self.own, *one_own])
        others = np.concatenate([self.others, *(1 - one for one in one_own)])
        return _coarsened(self.level, bins, own, others)

    def merge(self, other: ScoreCounts) -> ScoreCounts:
        """The sum of these counts and those of other rows."""
        a, b = self.counted(), other.counted()
        level = max(a.level, b.level)
        bins = np.concatenate([a.bins >> (level - a.level), b.bins >> (level - b.level)])
        return _coarsened(level, bins, np.concatenate([a.own, b.own]), np.concatenate([a.others, b.others]))


def _coarsened(level: int, bins: Integers, own: Integers, others: Integers) -> ScoreCounts:
    """Counts of distinct bins, from counts in any order; low bits are dropped as long as there are too many bins."""
    order = np.argsort(bins, kind="stable")
    bins, own, others = bins[order], own[order], others[order]
    while True:
        starts = np.flatnonzero(np.concatenate([[True], bins[1:] != bins[:-1]])) if len(bins) else np.empty(0, np.int64)
        if len(starts) <= MOST_BINS:
            break
        level, bins = level + 1, bins >> 1
    if not len(starts):
        return ScoreCounts(level, bins, own, others, [])
    return ScoreCounts(level, bins[starts], np.add.reduceat(own, starts), np.add.reduceat(others, starts), [])


@dataclass(frozen=True)
class BinnedRanking:
    """The ROC curve of one class at the edges of the bins, and bounds on the area under the exact curve.

    Parameters
    ----------
    ranking : Ranking
        The rows above each edge. Its ``auc`` counts pairs of rows of the same bin half.
    auc_bounds : Interval
        The exact area lies in this interval. Both ends are equal if every distinct score has its own bin.
    """

    ranking: Ranking
    auc_bounds: Interval

    @property
    def is_exact(self) -> bool:
        """Whether every distinct score has its own bin."""
        return self.auc_bounds.low == self.auc_bounds.high


def binned_ranking(counts: ScoreCounts, of: Any) -> BinnedRanking | None:
    """The ranking by binned scores; None unless there are rows of the class and others.

    >>> counts = ScoreCounts.none().add(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    >>> found = binned_ranking(counts, "yes")
    >>> found.ranking.auc, found.auc_bounds, found.is_exact
    (0.75, Interval(low=0.75, high=0.75), True)
    """
    found = counts.counted()
    above, others = (np.concatenate([[0], np.cumsum(of[::-1])]) for of in (found.own, found.others))
    if not above[-1] or not others[-1]:
        return None
    edges = doubles(found.bins[::-1] << found.level)
    ranking = Ranking(of, np.concatenate([[np.inf], edges]), above, others)
    area = ranking.auc
    if found.level == 0:
        return BinnedRanking(ranking, Interval(area, area))
    pairs = float(above[-1]) * float(others[-1])
    unknown = 0.5 * float(np.sum(found.own.astype(np.float64) * found.others)) / pairs
    slack = unknown + 4 * len(found.bins) * float(np.finfo(np.float64).eps)  # the rounding of both sums
    return BinnedRanking(ranking, Interval(max(area - slack, 0.0), min(area + slack, 1.0)))
