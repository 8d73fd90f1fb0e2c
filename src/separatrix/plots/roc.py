"""The ROC curve with its confidence band: true positive rate against false positive rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from matplotlib.axes import Axes

from separatrix.base.theme import BAND, Theme
from separatrix.diagnostics import Interval, Ranking
from separatrix.plots.display import thinned
from separatrix.plots.ranked import RankingDisplay
from separatrix.plots.style import REFERENCE, THIN


@final
@dataclass(eq=False)
class RocDisplay(RankingDisplay):
    """The curve (FP/N, TP/P) over all thresholds of the score; with K classes, each one against the rest.

    The legend shows the area with DeLong's interval. ``evaluation/ranking.py`` has the methods and their references.

    Parameters
    ----------
    curves : list of Ranking
        One for each class.
    band : "pointwise" or "simultaneous", default "pointwise"
        The kind of the confidence bands.
    level : float, default 0.95
        The level of the confidence bands and intervals.
    numbers : list of int or None
        The class number of each curve, which chooses its colour; by default 0, 1, ….

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> shown = RocDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    >>> shown.curves[0].auc, shown.ax_.get_ylabel()
    (0.75, 'true positive rate')
    """

    x_name: ClassVar[str] = "false positive rate"
    y_name: ClassVar[str] = "true positive rate"
    area_name: ClassVar[str] = "area"
    places_told: ClassVar[tuple[float, ...]] = (0.01, 0.05, 0.2)
    words_told: ClassVar[tuple[str, str]] = ("true positives", "false positives")

    def area(self, curve: Ranking) -> tuple[float, Interval]:
        """The area below the curve, and DeLong's confidence interval.

        Parameters
        ----------
        curve : Ranking
            A curve of the display.

        Returns
        -------
        area : float
        interval : Interval
        """
        return curve.auc, curve.auc_interval(self.level)

    def _highest(self, curve: Ranking, place: float) -> float:
        """The highest true positive rate with at most this false positive rate."""
        return float(np.max(curve.tpr[curve.fpr <= place], initial=0.0))

    def _ground(self, ax: Axes, theme: Theme) -> None:
        ax.plot([0, 1], [0, 1], color=theme.muted, linewidth=THIN, linestyle=REFERENCE)

    def _draw_one(self, ax: Axes, theme: Theme, curve: Ranking, colour: str, label: str) -> str:
        band = curve.band(self.band, self.level)
        x = np.concatenate([[0.0], band.false_low, [1.0], band.false_high[::-1]])
        y = np.concatenate([[0.0], band.true_high, [1.0], band.true_low[::-1]])
        kept = thinned(x, y)
        ax.fill(x[kept], y[kept], color=colour, alpha=BAND, linewidth=0)
        kept = thinned(curve.fpr, curve.tpr)
        ax.plot(curve.fpr[kept], curve.tpr[kept], color=colour, label=label)
        return band.says
