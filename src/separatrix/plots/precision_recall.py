"""The precision-recall curve with its confidence band: how many of those taken for a class are of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from matplotlib.axes import Axes

from separatrix.diagnostics import Interval, Ranking
from separatrix.plots.display import thinned
from separatrix.plots.ranked import RankingDisplay


@final
@dataclass(eq=False)
class PrecisionRecallDisplay(RankingDisplay):
    """(TP/P, TP/(TP + FP)) at every cut of the score; K classes one versus the rest, past three each in a panel.

    ``band``: "pointwise" or "simultaneous", at ``level``; the legend has the average precision with its interval.
    The dashed line is the class's share of the rows: the precision of a score that knows nothing.

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

    def area(self, curve: Ranking) -> tuple[float, Interval]:
        return curve.average_precision, curve.average_precision_interval(self.level)

    def _draw_one(self, ax: Axes, curve: Ranking, colour: str, label: str) -> str:
        found = curve.band(self.band, self.level)
        recall, precision = curve.tpr[1:], curve.precision[1:]
        low, high = found.precision_low[1:], found.precision_high[1:]
        kept = thinned(recall, precision)
        ax.fill_between(recall[kept], low[kept], high[kept], color=colour, alpha=0.16, linewidth=0)
        share = curve.positives / (curve.positives + curve.negatives)
        ax.axhline(share, color=colour, linewidth=0.9, linestyle=(0, (3, 3)))
        ax.plot(recall[kept], precision[kept], color=colour, label=label)
        return found.says
