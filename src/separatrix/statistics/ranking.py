"""ROC and precision-recall curves with confidence intervals and bands, also from bins of scores.

Rows are sorted by score in descending order and cut at every distinct value. Above a cut are TP of the P rows of the
class and FP of the N other rows.

    ROC   (FP/N, TP/P), its area the probability that a row of the class scores above a row of another class
    PR    (TP/P, TP/(TP + FP)), its area Σ (ΔTP/P) TP/(TP + FP), the average precision

Area under ROC: DeLong, DeLong and Clarke-Pearson, Comparing the areas under two or more correlated receiver operating
characteristic curves, Biometrics 44 (1988), on the logit scale. Where every pair is in order their variance is zero;
then min(P, N) disjoint pairs, which are independent, give Clopper and Pearson's exact interval. Average precision:
the binomial variance of Boyd, Eng and Page, Area under the precision-recall curve: point estimates and confidence
intervals, ECML PKDD (2013), in Wilson's interval: on the logit scale it would be useless near 1.

Bands. "pointwise": at each cut both rates by Wilson's interval, each at level √L, so that the rectangle holds the true
point with probability L (Pepe, The Statistical Evaluation of Medical Tests, 2003, section 2.2); precision by Wilson's
interval at level L. "simultaneous": both distribution functions at once lie within √(ln(2/(1 − √L))/2m) of what is
seen, for m rows (Massart 1990), so the whole curve does (Campbell, Statistics in Medicine 13, 1994).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, check_choice
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import cached_property
from separatrix.statistics.intervals import Interval, check_level, exact, on_logits, wilson, wilson_interval
from separatrix.statistics.measures import Answers


@dataclass(frozen=True)
class RateBand:
    """The ranges of both rates and of the precision at every cut, and a description of the band."""

    false_low: Array
    false_high: Array
    true_low: Array
    true_high: Array
    precision_low: Array
    precision_high: Array
    says: str


@dataclass(frozen=True)
class Ranking:
    """The number of rows above each cut: ``true_positives`` of the class ``of``, ``false_positives`` of the others.

    Both ascend. ``thresholds`` descend; the first is infinite.

    >>> found = rank(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]), "yes")
    >>> found.fpr.tolist(), found.tpr.tolist(), found.auc
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], 0.75)
    >>> round(found.average_precision, 4)
    0.8333
    """

    of: Any
    thresholds: Array
    true_positives: Integers
    false_positives: Integers

    @property
    def positives(self) -> int:
        return int(self.true_positives[-1])

    @property
    def negatives(self) -> int:
        return int(self.false_positives[-1])

    @property
    def tpr(self) -> Array:
        """The true positive rate, also the recall."""
        return np.asarray(self.true_positives / self.positives)

    @property
    def fpr(self) -> Array:
        return np.asarray(self.false_positives / self.negatives)

    @property
    def precision(self) -> Array:
        """TP/(TP + FP); 1 if no row is above the cut."""
        said = self.true_positives + self.false_positives
        return np.asarray(np.where(said > 0, self.true_positives / np.maximum(said, 1), 1.0))

    @cached_property
    def _placements(self) -> tuple[Array, Array, Array, Array]:
        """DeLong's components for the rows between two cuts.

        The first two arrays have the share of other rows that score below the rows of the class, and the number of
        these. The last two have the share of rows of the class that score above the other rows, and the number of
        these. Ties count half.
        """
        gained, lost = np.diff(self.true_positives), np.diff(self.false_positives)
        beaten = 1.0 - (self.false_positives[:-1] + 0.5 * lost) / self.negatives
        beating = (self.true_positives[:-1] + 0.5 * gained) / self.positives
        return beaten, gained, beating, lost

    @cached_property
    def auc(self) -> float:
        """The area under the ROC curve."""
        beaten, gained, _, _ = self._placements
        return float(np.sum(beaten * gained) / self.positives)

    def auc_interval(self, level: float = 0.95) -> Interval:
        """DeLong's interval for the area, on the logit scale; Clopper and Pearson's if its variance is zero."""
        check_level(level)
        area, pairs = self.auc, min(self.positives, self.negatives)
        beaten, gained, beating, lost = self._placements
        variance = _variance(beaten, gained, area) / self.positives + _variance(beating, lost, area) / self.negatives
        if not (0.0 < area < 1.0 and variance > 0.0):
            return exact(round(area * pairs), pairs, level)
        return on_logits(area, float(np.sqrt(variance)) / (area * (1.0 - area)), level)

    @property
    def average_precision(self) -> float:
        return float(np.sum(np.diff(self.tpr) * self.precision[1:]))

    def average_precision_interval(self, level: float = 0.95) -> Interval:
        """Wilson's interval for a share of the rows of the class."""
        return wilson_interval(self.average_precision * self.positives, self.positives, level)

    def band(self, kind: str = "pointwise", level: float = 0.95) -> RateBand:
        """Ranges of the rates and of the precision at every cut."""
        check_level(level)
        check_choice("band", kind, BANDS)
        return BANDS[kind](self, level)


def _variance(values: Array, counts: Array, mean: float) -> float:
    """The unbiased variance of values that occur ``counts`` times; 0 for one row."""
    n = int(counts.sum())
    return float(np.sum(counts * (values - mean) ** 2)) / (n - 1) if n > 1 else 0.0


def _pointwise(found: Ranking, level: float) -> RateBand:
    each = float(np.sqrt(level))
    false_low, false_high = wilson(found.false_positives, found.negatives, each)
    true_low, true_high = wilson(found.true_positives, found.positives, each)
    said = found.true_positives + found.false_positives
    precision = wilson(found.true_positives, said, level)
    says = f"pointwise {100 * level:g} % band (Wilson intervals)"
    return RateBand(false_low, false_high, true_low, true_high, *precision, says)


def _simultaneous(found: Ranking, level: float) -> RateBand:
    def within(rate: Array, n: int) -> tuple[Array, Array]:
        width = float(np.sqrt(np.log(2.0 / (1.0 - np.sqrt(level))) / (2.0 * n)))
        return np.maximum(rate - width, 0.0), np.minimum(rate + width, 1.0)

    false_low, false_high = within(found.fpr, found.negatives)
    true_low, true_high = within(found.tpr, found.positives)
    P, N = found.positives, found.negatives
    low = P * true_low / np.maximum(P * true_low + N * false_high, np.finfo(np.float64).tiny)
    high = P * true_high / np.maximum(P * true_high + N * false_low, np.finfo(np.float64).tiny)
    says = f"simultaneous {100 * level:g} % band (Kolmogorov–Smirnov, Massart's bound)"
    return RateBand(false_low, false_high, true_low, true_high, low, high, says)


BANDS: dict[str, Callable[[Ranking, float], RateBand]] = {"pointwise": _pointwise, "simultaneous": _simultaneous}


def rank(score: Array, positive: Any, of: Any = 1) -> Ranking:
    """The ranking of rows by their score. ``positive`` (n,): which rows are of the class ``of``.

    >>> rank(np.array([1.0, 1.0, 0.0]), np.array([True, False, False])).true_positives.tolist()
    [0, 1, 1]
    """
    is_of = np.asarray(positive, dtype=bool)
    if is_of.all() or not is_of.any():
        problem = "all rows are of the class" if is_of.all() else "no row is of the class"
        raise ParameterError("positive", f"{problem} {of!r}", "give rows of it and rows of others")
    order = np.argsort(-np.asarray(score, dtype=np.float64), kind="stable")
    ranked, hits = np.asarray(score, dtype=np.float64)[order], np.cumsum(is_of[order])
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    above = np.concatenate([[0], hits[last]])
    others = np.concatenate([[0], 1 + last]) - above
    return Ranking(of, np.concatenate([[np.inf], ranked[last]]), above, others)


def rankings(found: Answers) -> list[Ranking]:
    """The ranking of the second of two classes, or of each of several classes against the rest.

    Classes that have no row, or all rows, are left out.

    >>> from separatrix import LogisticRegression
    >>> from separatrix.statistics.measures import answers
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> [one.of for one in rankings(answers(LogisticRegression().fit(X, y), X, y))]
    ['yes']
    """
    wanted = [1] if found.n_classes == 2 else range(found.n_classes)
    counts = np.bincount(found.codes, minlength=found.n_classes)
    labels = found.classes.tolist()
    return [rank(found.Z[:, k], found.codes == k, labels[k]) for k in wanted if 0 < counts[k] < found.n_rows]


# --- Counts of rows in bins of their score, for tables outside memory

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
    """For each bin of scores the rows of the class (``own``) and the others. ``level``: how many low bits are dropped.

    A bin holds the scores that agree in the leading bits of their float64 representation, so bins are narrow near zero
    and wide far from it, whatever the unit of the scores. As long as there are few distinct scores, each has its own
    bin. Otherwise low bits are dropped until there are at most ``MOST_BINS`` bins. The bins do not depend on the order
    in which rows are added or counts are merged.

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

    If each distinct score has its own bin, the area is exact. Otherwise only the order of rows in the same bin is
    unknown: with P_b rows of the class and N_b others in bin b,

        |AUC − area that counts pairs of the same bin half| ≤ ½ Σ_b P_b N_b / (P N)

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
