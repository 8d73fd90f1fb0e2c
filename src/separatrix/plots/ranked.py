"""The base class of ROC and precision-recall plots.

Up to three classes are drawn in one plot. The confidence bands of more would hide each other, so each gets a panel.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes

from separatrix.diagnostics import Interval, Ranking, rank, rankings
from separatrix.evaluation.answers import answers
from separatrix.plots import legends
from separatrix.plots.display import BROAD, Display, panels, share_axes
from separatrix.plots.style import Theme, plain

# Largest number of curves in one plot; with more, each has a panel.
MOST_CURVES_TOGETHER = 3
# Largest number of panels in all, and in one line.
MOST_PANELS, MOST_PANELS_IN_LINE = 24, 6


@dataclass(eq=False)
class RankingDisplay(Display):
    """One curve with a confidence band for each class; subclasses define how a curve is drawn."""

    x_name: ClassVar[str]
    y_name: ClassVar[str]
    area_name: ClassVar[str]

    curves: Sequence[Ranking]
    band: str = "pointwise"
    level: float = 0.95

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, band: str = "pointwise", level: float = 0.95, ax: Any = None
    ) -> Self:
        """Draw the curves of a fitted classifier.

        Parameters
        ----------
        model : estimator
            A fitted classifier.
        X, y
            Labelled rows, preferably not those of the fit.
        band : "pointwise" or "simultaneous", default "pointwise"
            The kind of the confidence bands.
        level : float, default 0.95
            The level of the confidence bands and intervals.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        display
        """
        return cls(rankings(answers(model, X, y)), band, level).plot(ax)

    @classmethod
    def from_predictions(
        cls, y: Any, score: Any, *, of: Any = 1, band: str = "pointwise", level: float = 0.95, ax: Any = None
    ) -> Self:
        """Draw the curve of given scores.

        Parameters
        ----------
        y : array (n,)
            Labels.
        score : array (n,)
            Scores that grow with the probability of the class ``of``.
        of : label, default 1
            The class to be found.
        band : "pointwise" or "simultaneous", default "pointwise"
            The kind of the confidence band.
        level : float, default 0.95
            The level of the confidence band and interval.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        display
        """
        return cls([rank(np.asarray(score), np.asarray(y) == of, of)], band, level).plot(ax)

    @property
    def together(self) -> bool:
        """Whether all curves are drawn in one plot."""
        return len(self.curves) <= MOST_CURVES_TOGETHER

    @property
    def shown(self) -> Sequence[Ranking]:
        """The curves drawn: all of them, or those with the smallest areas if there are too many."""
        worst = np.argsort([self.area(curve)[0] for curve in self.curves], kind="stable")[:MOST_PANELS]
        return [self.curves[k] for k in np.sort(worst)]

    @property
    def size(self) -> tuple[float, float]:
        if self.together:
            return 4.6, 4.0 + legends.height(["x" * 40] * len(self.curves), 4.6, title=True)
        count = len(self.shown)
        lines = -(-count // MOST_PANELS_IN_LINE)
        return BROAD, 0.6 + (BROAD / min(count, MOST_PANELS_IN_LINE) + 0.25) * lines

    @abstractmethod
    def area(self, curve: Ranking) -> tuple[float, Interval]:
        """The area below a curve, and its confidence interval."""

    def _draw(self, ax: Axes, theme: Theme) -> None:
        if self.together:
            self._ground(ax, theme)
            for k, curve in enumerate(self.curves):
                name = self.area_name if len(self.curves) == 1 else plain(curve.of, 18)
                says = self._draw_one(ax, curve, theme.of_class(k), f"{name} {self._areas(curve)}")
            share_axes(ax)
            legends.below(ax, title=says if self.curves else None)
        else:
            for panel, curve in zip(panels(ax, len(self.shown), MOST_PANELS_IN_LINE), self.shown, strict=True):
                self._ground(panel, theme)
                self._draw_one(panel, curve, theme.of_class(0), "")
                share_axes(panel)
                panel.set_title(f"{plain(curve.of, 20)}\n{self._areas(curve)}", fontsize=7.0, loc="center", pad=3.0)
        ax.set_xlabel(self.x_name)
        ax.set_ylabel(self.y_name)

    def _areas(self, curve: Ranking) -> str:
        area, (low, high) = self.area(curve)
        return f"{area:.3f} ({low:.3f} to {high:.3f})"

    def _ground(self, ax: Axes, theme: Theme) -> None:
        """Draw the background of all curves; by default nothing."""

    @abstractmethod
    def _draw_one(self, ax: Axes, curve: Ranking, colour: str, label: str) -> str:
        """Draw one curve with its band, and return a description of the band."""
