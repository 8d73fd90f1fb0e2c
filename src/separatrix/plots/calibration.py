"""A calibration plot: observed shares against predicted probabilities, with the number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes

from separatrix.base.theme import BAND, Theme
from separatrix.diagnostics import wilson
from separatrix.evaluation.calibration import Cut, Reliability, reliability
from separatrix.plots import legends
from separatrix.plots.display import PLOTS, Display, share_axes
from separatrix.plots.style import REFERENCE, THIN, plain


@final
@dataclass(eq=False)
class CalibrationDisplay(Display):
    """The observed share of a class against its predicted probability, in bins, with Wilson intervals.

    A histogram above the plot shows how many rows each bin has.

    Parameters
    ----------
    found : Reliability
        The numbers, from ``separatrix.evaluation.calibration.reliability``.
    level : float, default 0.95
        The level of the confidence intervals.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> shown = CalibrationDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    >>> shown.found.count.sum().item(), shown.ax_.get_xlabel()
    (4, 'predicted probability of 1')
    """

    found: Reliability
    level: float = 0.95

    @classmethod
    @PLOTS.refusing_tables
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        of: Any = None,
        n_bins: int = 10,
        cut: Cut = "width",
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Draw the calibration of a fitted classifier.

        Parameters
        ----------
        model : estimator
            A fitted classifier with probabilities.
        X, y
            Labelled rows, preferably not those of the fit.
        of : label or None
            The class whose probability to look at; as for ``reliability``.
        n_bins : int, default 10
            The number of bins.
        cut : str, default "width"
            How to choose the bins; as for ``reliability``.
        level : float, default 0.95
            The level of the confidence intervals.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        CalibrationDisplay
        """
        return cls(reliability(model, X, y, of, n_bins, cut), level).plot(ax)

    @property
    def size(self) -> tuple[float, float]:
        return 4.6, 4.3

    @property
    def alternative(self) -> str:
        found = self.found
        bins = [
            f"{p:.2f} predicted, {f:.2f} observed, {n:,} rows"
            for p, f, n in zip(found.predicted, found.observed, found.count.tolist(), strict=True)
        ]
        return f"Expected calibration error {found.expected_error:.3f}. By bins of the prediction: {'; '.join(bins)}."

    def _draw(self, ax: Axes, theme: Theme) -> None:
        found, colour = self.found, theme.ink
        low, high = wilson(np.round(found.observed * found.count), found.count, self.level)
        ax.plot([0, 1], [0, 1], color=theme.muted, linewidth=THIN, linestyle=REFERENCE, label="as predicted")
        ax.vlines(found.predicted, low, high, color=colour, linewidth=THIN)
        label = f"observed, {100 * self.level:g} % Wilson intervals"
        size = 12.0 + 48.0 * np.sqrt(found.count / found.count.max())
        ax.scatter(found.predicted, found.observed, s=size, color=colour, label=label, zorder=3)
        share_axes(ax)
        what = plain(found.of[1:-1] if found.of[:1] in ("'", '"') else found.of, 24)  # ``of`` quotes a label of text
        ax.set_xlabel(f"predicted probability of {what}")
        ax.set_ylabel("observed share")
        legends.below(ax)
        above = ax.inset_axes((0.0, 1.03, 1.0, 0.17), sharex=ax)
        left, right = found.edges.T
        above.bar(left, found.count, right - left, align="edge", color=colour, alpha=2 * BAND, linewidth=0)
        above.set_yticks([int(found.count.max())])
        above.tick_params(axis="x", labelbottom=False, length=0)
        above.tick_params(axis="y", length=0)
        above.set_ylabel("rows")
        above.spines["left"].set_visible(False)
