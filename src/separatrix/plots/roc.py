"""The ROC curve with its confidence band: how many of a class are found, against how many others are taken for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from matplotlib.axes import Axes

from separatrix.plots.display import share_axes, thinned
from separatrix.plots.ranked import MOST_BANDS, MOST_CURVES, RankingDisplay
from separatrix.plots.style import Theme, plain


@final
@dataclass(eq=False)
class RocDisplay(RankingDisplay):
    """(FP/N, TP/P) at every cut of the score; K classes one versus the rest.

    ``band``: "pointwise" or "simultaneous", at ``level``; the legend has the area with DeLong's interval. The methods
    and their papers: ``diagnostics/ranking.py``.

    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> shown = RocDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    >>> shown.curves[0].auc, shown.ax_.get_ylabel()
    (0.75, 'true positive rate')
    """

    def _draw(self, ax: Axes, theme: Theme) -> None:
        ax.plot([0, 1], [0, 1], color=theme.muted, linewidth=0.9, linestyle=(0, (3, 3)))
        says = ""
        for k, curve in enumerate(self.curves[:MOST_CURVES]):
            colour = theme.of_class(k)
            if len(self.curves) <= MOST_BANDS:
                found = curve.band(self.band, self.level)
                says = found.says
                x = np.concatenate([[0.0], found.false_low, [1.0], found.false_high[::-1]])
                y = np.concatenate([[0.0], found.true_high, [1.0], found.true_low[::-1]])
                kept = thinned(x, y)
                ax.fill(x[kept], y[kept], color=colour, alpha=0.16, linewidth=0)
            kept = thinned(curve.fpr, curve.tpr)
            low, high = curve.auc_interval(self.level)
            name = "area" if len(self.curves) == 1 else plain(curve.of, 14)
            legend = f"{name} {curve.auc:.3f} ({low:.3f} to {high:.3f})"
            ax.plot(curve.fpr[kept], curve.tpr[kept], color=colour, label=legend)
        share_axes(ax)
        ax.set_xlabel("false positive rate")
        ax.set_ylabel("true positive rate")
        ax.legend(loc="lower right", title=says or None, title_fontsize=7.5)
