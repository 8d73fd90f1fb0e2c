r"""The cost of the mistakes of a two-class model, and the threshold with the lowest cost (docs/tour.md, D4).

    cost per row = c_fp FP/n + c_fn FN/n

The interval of the cost combines Wilson's intervals of both shares by the method of variance estimates recovery (Zou
and Donner, Construction of confidence limits about effect measures: a general approach, Stat. Med. 27, 2008). The
negative correlation of the two shares is left out, which makes the interval slightly longer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import ParameterError
from separatrix.evaluation.decisions import cost_threshold
from separatrix.evaluation.proportions import Interval, wilson_interval


@dataclass(frozen=True)
class Costs:
    """The costs of both mistakes: ``false_positive`` predicts the second class wrongly, ``false_negative`` misses it.

    >>> Costs.of({"FP": 1, "FN": 4}).threshold
    0.2
    """

    false_positive: float
    false_negative: float

    @classmethod
    def of(cls, cost: Any) -> Costs:
        """From a dict with the keys FP and FN."""
        if not isinstance(cost, Mapping) or set(cost) != {"FP", "FN"}:
            raise ParameterError("cost", f"got {cost!r}", 'give the costs of both mistakes, as in {"FP": 1, "FN": 5}')
        for name in ("FP", "FN"):
            value = cost[name]
            if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
                raise ParameterError("cost", f"{name} is {value!r}", "give a number")
            if not (math.isfinite(value) and value >= 0):
                raise ParameterError("cost", f"{name} is {value!r}", "give a finite cost >= 0")
        if cost["FP"] == cost["FN"] == 0:
            raise ParameterError("cost", "both costs are zero", "give at least one cost > 0")
        return cls(float(cost["FP"]), float(cost["FN"]))

    @property
    def threshold(self) -> float:
        """The probability of the second class from which predicting it has the lower expected cost."""
        return cost_threshold(self.false_positive, self.false_negative)

    @property
    def unit(self) -> float:
        """The power of two next to the larger cost. In this unit, sums and squares of costs do not overflow."""
        return math.ldexp(1.0, math.frexp(max(self.false_positive, self.false_negative))[1] - 1)

    def mean(self, n_false_positive: Any, n_false_negative: Any, n_rows: int) -> Any:
        """The cost per row."""
        false_positive, false_negative = self.false_positive / self.unit, self.false_negative / self.unit
        return (false_positive * n_false_positive + false_negative * n_false_negative) / n_rows * self.unit

    def interval(self, n_false_positive: int, n_false_negative: int, n_rows: int, level: float = 0.95) -> Interval:
        """The interval of the cost per row.

        >>> low, high = Costs(1.0, 5.0).interval(0, 0, 100)
        >>> low, 0.0 < high < 0.2
        (0.0, True)
        """
        middle, below, above = 0.0, 0.0, 0.0
        for cost, count in ((self.false_positive, n_false_positive), (self.false_negative, n_false_negative)):
            low, high = wilson_interval(count, n_rows, level)
            middle += cost / self.unit * count / n_rows
            below += (cost / self.unit * (count / n_rows - low)) ** 2
            above += (cost / self.unit * (high - count / n_rows)) ** 2
        largest = max(self.false_positive, self.false_negative) / self.unit
        low, high = max(middle - math.sqrt(below), 0.0), min(middle + math.sqrt(above), largest)
        return Interval(low * self.unit, high * self.unit)


@dataclass(frozen=True)
class CostFigures:
    """What the mistakes on n rows cost.

    Parameters
    ----------
    costs : Costs
        The costs of both mistakes.
    threshold : float
        The probability of the second class from which it is predicted.
    n_rows, n_false_positive, n_false_negative : int
        All rows, and both mistakes at this threshold.
    best_threshold : float
        The threshold with the lowest cost on these rows; of equal ones, the nearest to ``costs.threshold``.
    best_false_positive, best_false_negative : int
        Both mistakes at that threshold.
    null : float
        The cost per row of always predicting one class, the cheaper of the two.
    level : float, default 0.95
        The confidence level of the intervals.

    Examples
    --------
    >>> p, positive = np.array([0.1, 0.3, 0.4, 0.8]), np.array([False, True, False, True])
    >>> found = cost_figures(Costs(1.0, 5.0), p, positive)
    >>> round(found.threshold, 3), found.mean, found.null
    (0.167, 0.25, 0.5)
    >>> round(found.best_threshold, 3), found.best_mean
    (0.167, 0.25)
    """

    costs: Costs
    threshold: float
    n_rows: int
    n_false_positive: int
    n_false_negative: int
    best_threshold: float
    best_false_positive: int
    best_false_negative: int
    null: float
    level: float = 0.95

    @property
    def mean(self) -> float:
        """The cost per row, an estimate of the expected cost."""
        return float(self.costs.mean(self.n_false_positive, self.n_false_negative, self.n_rows))

    @property
    def interval(self) -> Interval:
        return self.costs.interval(self.n_false_positive, self.n_false_negative, self.n_rows, self.level)

    @property
    def best_mean(self) -> float:
        """The cost per row at ``best_threshold``. Other rows will cost more, since these rows chose the threshold."""
        return float(self.costs.mean(self.best_false_positive, self.best_false_negative, self.n_rows))

    @property
    def best_interval(self) -> Interval:
        """The interval of ``best_mean``, which does not allow for the choice of the threshold."""
        return self.costs.interval(self.best_false_positive, self.best_false_negative, self.n_rows, self.level)

    def plain(self) -> dict[str, Any]:
        """All figures, in the types of JSON."""
        return {
            "false_positive": self.costs.false_positive,
            "false_negative": self.costs.false_negative,
            "threshold": self.threshold,
            "mean": self.mean,
            "interval": list(self.interval),
            "best_threshold": self.best_threshold,
            "best_mean": self.best_mean,
            "best_interval": list(self.best_interval),
            "null": self.null,
        }

    def __str__(self) -> str:
        low, high = self.interval
        here = f"cost {self.mean:.4g} per row ({low:.4g} to {high:.4g}) if P ≥ {self.threshold:.4g}"
        best = f"the lowest on these rows is {self.best_mean:.4g} if P ≥ {self.best_threshold:.4g}"
        return f"{here}; {best}; always the same class: {self.null:.4g}"


def cost_figures(
    costs: Costs, p: Array, positive: AnyArray, threshold: float | None = None, level: float = 0.95
) -> CostFigures:
    """The cost of deciding by a threshold, by default that of the costs.

    ``p`` (n,) holds the probabilities of the second class, ``positive`` (n,) is true for its rows.
    """
    n, own, other = len(p), np.sort(p[positive]), np.sort(p[~positive])

    def mistakes(thresholds: Array) -> tuple[AnyArray, AnyArray]:
        """The false positives and the false negatives at each threshold."""
        return len(other) - np.searchsorted(other, thresholds), np.searchsorted(own, thresholds)

    at = costs.threshold if threshold is None else float(threshold)
    fp, fn = (int(count[0]) for count in mistakes(np.array([at])))
    # Between two neighbouring probabilities all thresholds are the same, so one of each interval is enough.
    distinct = np.unique(np.concatenate([[0.0], p, [1.0]]))
    candidates = np.concatenate([[costs.threshold, at, 0.0], 0.5 * (distinct[:-1] + distinct[1:])])
    false_positives, false_negatives = mistakes(candidates)
    means = costs.mean(false_positives, false_negatives, n)
    best = int(np.lexsort((np.abs(candidates - costs.threshold), means))[0])
    null = min(costs.mean(len(other), 0, n), costs.mean(0, len(own), n))
    lowest = (float(candidates[best]), int(false_positives[best]), int(false_negatives[best]))
    return CostFigures(costs, at, n, fp, fn, *lowest, float(null), level)
