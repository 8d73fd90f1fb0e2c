r"""Precision, recall, F₁ and lift of each class, from counts of rows (docs/tour.md, E2).

precision = right/predicted,    recall = right/rows,    F₁ = 2 right/(predicted + rows),    lift = precision/(rows/n)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.evaluation.f1_and_lift import f1_interval, lift_interval
from separatrix.evaluation.proportions import Interval, wilson_interval


@dataclass(frozen=True)
class ClassFigures:
    """How well one class is predicted.

    Parameters
    ----------
    label : object
        The label of the class.
    n_rows, n_predicted, n_right : int
        The numbers of rows of the class, of rows that are predicted to be of the class, and of rows that are both.
    n_total : int
        All rows.
    level : float, default 0.95
        The confidence level of the intervals.

    Examples
    --------
    >>> found = ClassFigures("yes", n_rows=10, n_predicted=8, n_right=6, n_total=40)
    >>> found.precision, found.recall, round(found.f1, 3), found.lift
    (0.75, 0.6, 0.667, 3.0)
    >>> print(found)
    'yes': precision 0.75, recall 0.6, F1 0.6667, lift 3 (10 rows)
    """

    label: Any
    n_rows: int
    n_predicted: int
    n_right: int
    n_total: int
    level: float = 0.95

    @property
    def precision(self) -> float:
        """The fraction of correct rows among those predicted to be of the class; NaN if there are none."""
        return _ratio(self.n_right, self.n_predicted)

    @property
    def precision_interval(self) -> Interval:
        """Wilson's interval; (0, 1) if no row is predicted to be of the class."""
        return wilson_interval(self.n_right, self.n_predicted, self.level)

    @property
    def recall(self) -> float:
        """The share of the rows of the class that are predicted to be of it; NaN if there are none."""
        return _ratio(self.n_right, self.n_rows)

    @property
    def recall_interval(self) -> Interval:
        """Wilson's interval; (0, 1) if no row is of the class."""
        return wilson_interval(self.n_right, self.n_rows, self.level)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; NaN if the class neither occurs nor is predicted."""
        return _ratio(2 * self.n_right, self.n_predicted + self.n_rows)

    @property
    def f1_interval(self) -> Interval:
        """The interval for F₁ from Wilson's interval for F* (Lam et al. 2023); (0, 1) if there is no F₁."""
        return f1_interval(self.n_rows, self.n_predicted, self.n_right, self.level)

    @property
    def lift(self) -> float:
        """The precision divided by the frequency of the class among all rows; NaN if the precision is NaN."""
        return _ratio(self.n_right * self.n_total, self.n_predicted * self.n_rows)

    @property
    def lift_interval(self) -> Interval:
        """The interval by the delta method on the log scale; (0, ∞) if there is no lift."""
        return lift_interval(self.n_rows, self.n_predicted, self.n_right, self.n_total, self.level)

    def plain(self) -> dict[str, Any]:
        """All figures, as values that JSON can hold."""
        return {
            "label": self.label,
            "rows": self.n_rows,
            "predicted": self.n_predicted,
            "precision": self.precision,
            "precision_interval": list(self.precision_interval),
            "recall": self.recall,
            "recall_interval": list(self.recall_interval),
            "f1": self.f1,
            "f1_interval": list(self.f1_interval),
            "lift": self.lift,
            "lift_interval": list(self.lift_interval),
        }

    def __str__(self) -> str:
        figures = f"precision {self.precision:.4g}, recall {self.recall:.4g}, F1 {self.f1:.4g}, lift {self.lift:.4g}"
        return f"{self.label!r}: {figures} ({self.n_rows} row{'s' * (self.n_rows != 1)})"


def figures_by_class(
    codes: Integers, chosen: Integers, classes: AnyArray, level: float = 0.95
) -> tuple[ClassFigures, ...]:
    """The figures of each class; ``codes`` and ``chosen`` (n,) are the true and the predicted classes as numbers.

    >>> [one.recall for one in figures_by_class(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array(["a", "b"]))]
    [0.5, 1.0]
    """
    return tuple(
        ClassFigures(
            label,
            n_rows=int(np.sum(codes == k)),
            n_predicted=int(np.sum(chosen == k)),
            n_right=int(np.sum((codes == k) & (chosen == k))),
            n_total=len(codes),
            level=level,
        )
        for k, label in enumerate(classes.tolist())
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
