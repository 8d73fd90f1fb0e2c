"""The precision-recall curve with its confidence band: how many of those taken for a class are of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from matplotlib.axes import Axes

from separatrix.plots.display import share_axes, thinned
from separatrix.plots.ranked import MOST_BANDS, MOST_CURVES, RankingDisplay
from separatrix.plots.style import Theme, plain


@final
@dataclass(eq=False)
class PrecisionRecallDisplay(RankingDisplay):
    """(TP/P, TP/(TP + FP)) at every cut of the score; K classes one versus the rest.

    ``band``: "pointwise" or "simultaneous", at ``level``; the legend has the average precision with its interval.
    The dashed line is the class's share of the rows: the precision of a score that knows nothing.

    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> shown = PrecisionRecallDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    >>> round(shown.curves[0].average_precision, 3), shown.ax_.get_xlabel()
    (0.833, 'recall')
    """

    def _draw(self, ax: Axes, theme: Theme) -> None:
        says = ""
        for k, curve in enumerate(self.curves[:MOST_CURVES]):
            colour = theme.of_class(k)
            recall, precision = curve.tpr[1:], curve.precision[1:]
            kept = thinned(recall, precision)
            if len(self.curves) <= MOST_BANDS:
                found = curve.band(self.band, self.level)
                says = found.says
                low, high = found.precision_low[1:], found.precision_high[1:]
                ax.fill_between(recall[kept], low[kept], high[kept], color=colour, alpha=0.16, linewidth=0)
                share = curve.positives / (curve.positives + curve.negatives)
                ax.axhline(share, color=colour, linewidth=0.9, linestyle=(0, (3, 3)))
            least, most = curve.average_precision_interval(self.level)
            name = "average precision" if len(self.curves) == 1 else plain(curve.of, 14)
            legend = f"{name} {curve.average_precision:.3f} ({least:.3f} to {most:.3f})"
            ax.plot(recall[kept], precision[kept], color=colour, label=legend)
        share_axes(ax)
        ax.set_xlabel("recall")
        ax.set_ylabel("precision")
        ax.legend(loc="lower left", title=says or None, title_fontsize=7.5)
