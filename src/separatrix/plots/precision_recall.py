"""The precision-recall curve with its confidence band."""

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
class PrecisionRecallDisplay(RankingDisplay):
    """The curve (TP/P, TP/(TP + FP)) over all thresholds of the score; with K classes, each one against the rest.

    The legend shows the average precision with its interval. The dashed line is the class's share of the rows, which is
    the precision of random scores.

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
    >>> shown = PrecisionRecallDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    >>> round(shown.curves[0].average_precision, 3), shown.ax_.get_xlabel()
    (0.833, 'recall')
    """

    x_name: ClassVar[str] = "recall"
    y_name: ClassVar[str] = "precision"
    area_name: ClassVar[str] = "average precision"
    places_told: ClassVar[tuple[float, ...]] = (0.5, 0.8, 0.95)
    words_told: ClassVar[tuple[str, str]] = ("precision", "recall")

    def area(self, curve: Ranking) -> tuple[float, Interval]:
        """The average precision, and its confidence interval.

        Parameters
        ----------
        curve : Ranking
            A curve of the display.

        Returns
        -------
        area : float
        interval : Interval
        """
        return curve.average_precision, curve.average_precision_interval(self.level)

    def _highest(self, curve: Ranking, place: float) -> float:
        """The highest precision with at least this recall."""
        return float(np.max(curve.precision[1:][curve.tpr[1:] >= place], initial=0.0))

    def _draw_one(self, ax: Axes, theme: Theme, curve: Ranking, colour: str, label: str) -> str:
        band = curve.band(self.band, self.level)
        recall, precision = curve.tpr[1:], curve.precision[1:]
        low, high = band.precision_low[1:], band.precision_high[1:]
        kept = thinned(recall, precision)
        ax.fill_between(recall[kept], low[kept], high[kept], color=colour, alpha=BAND, linewidth=0)
        share = curve.positives / (curve.positives + curve.negatives)
        ax.axhline(share, color=theme.muted, linewidth=THIN, linestyle=REFERENCE)
        ax.plot(recall[kept], precision[kept], color=colour, label=label)
        return band.says
