"""The base class of ROC and precision-recall plots.

Two classes have one curve. The confidence bands of several would hide each other, so each class then gets a panel.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes

from separatrix.base.arrays import Integers
from separatrix.base.theme import Theme
from separatrix.diagnostics import Answers, Interval, Ranking, rank, rankings
from separatrix.evaluation.answers import answers
from separatrix.plots import legends
from separatrix.plots.display import BROAD, PLOTS, Display, panel_heights, panels, share_axes
from separatrix.plots.style import SMALL_TEXT, plain, shortened

# Largest number of panels in all.
MOST_PANELS = 24
# With at most this many panels the plot has the normal width and two panels in a line; with more, it is as wide as a
# page and has five.
MOST_NARROW_PANELS, NARROW_LINE, BROAD_LINE = 4, 2, 5


@dataclass(eq=False)
class RankingDisplay(Display):
    """One curve with a confidence band for each class; subclasses define how a curve is drawn."""

    x_name: ClassVar[str]
    y_name: ClassVar[str]
    area_name: ClassVar[str]
    # The text alternative names the height of a curve at these places, between these two words.
    places_told: ClassVar[tuple[float, ...]]
    words_told: ClassVar[tuple[str, str]]

    curves: Sequence[Ranking]
    band: str = "pointwise"
    level: float = 0.95
    numbers: Sequence[int] | None = None

    @classmethod
    @PLOTS.refusing_tables
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
        return cls.of(answers(model, X, y), band, level).plot(ax)

    @classmethod
    def of(cls, found: Answers, band: str = "pointwise", level: float = 0.95) -> Self:
        """The curves of a model's answers; call ``plot`` to draw them.

        Parameters
        ----------
        found : Answers
            The model's answers on some rows, with their classes.
        band : {"pointwise", "simultaneous"}
            The kind of the confidence band.
        level : float
            The confidence level.

        Returns
        -------
        Display
        """
        curves, labels = rankings(found), found.classes.tolist()
        return cls(curves, band, level, [labels.index(curve.of) for curve in curves])

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
        """Whether there is one curve only, which needs no panels."""
        return len(self.curves) <= 1

    @property
    def chosen(self) -> Integers:
        """The numbers of the curves drawn: all of them, or those with the smallest areas if there are too many."""
        areas = [self.area(curve)[0] for curve in self.curves]
        return np.sort(np.argsort(areas, kind="stable")[:MOST_PANELS])

    @property
    def shown(self) -> Sequence[Ranking]:
        """The curves drawn."""
        return [self.curves[k] for k in self.chosen]

    @property
    def alternative(self) -> str:
        told = [
            self.told(curve) if self.together else f"{shortened(curve.of, 40)}: {self.told(curve)}"
            for curve in self.shown
        ]
        return f"{self.y_name} against {self.x_name}. {'. '.join(told)}.".capitalize()

    @property
    def size(self) -> tuple[float, float]:
        if self.together:
            return 4.6, 4.0 + legends.height(["x" * 40], 4.6, title=True)
        width = 4.6 if self._in_line == NARROW_LINE else BROAD
        lines = -(-len(self.chosen) // self._in_line)
        return width, 0.85 + 0.92 * (width - 0.5) / self._in_line * panel_heights(lines)

    @property
    def narrow(self) -> bool:
        """Whether the plot has the normal width."""
        return self.size[0] < BROAD

    @property
    def _in_line(self) -> int:
        return NARROW_LINE if len(self.chosen) <= MOST_NARROW_PANELS else BROAD_LINE

    @abstractmethod
    def area(self, curve: Ranking) -> tuple[float, Interval]:
        """The area below a curve, and its confidence interval."""

    @abstractmethod
    def _highest(self, curve: Ranking, place: float) -> float:
        """The greatest height of the curve among the thresholds that are at least as good as ``place`` on the axis."""

    def told(self, curve: Ranking) -> str:
        """The area of a curve, and its height at three places, in words.

        Parameters
        ----------
        curve : Ranking
            The curve.

        Returns
        -------
        str
        """
        heights = ", ".join(f"{100 * self._highest(curve, at):.0f} % at {100 * at:g} %" for at in self.places_told)
        height, place = self.words_told
        return f"{self.area_name} {self._areas(curve)}; {height} {heights} {place}"

    def _draw(self, ax: Axes, theme: Theme) -> None:
        if self.together:
            self._ground(ax, theme)
            for curve in self.curves:
                says = self._draw_one(ax, theme, curve, theme.ink, f"{self.area_name} {self._areas(curve)}")
            share_axes(ax)
            legends.below(ax, title=says if self.curves else None)
        else:
            numbers = range(len(self.curves)) if self.numbers is None else self.numbers
            small = panels(ax, len(self.chosen), self._in_line)
            for panel, k in zip(small, self.chosen.tolist(), strict=True):
                curve = self.curves[k]
                self._ground(panel, theme)
                self._draw_one(panel, theme, curve, theme.of_class(numbers[k]), "")
                share_axes(panel)
                panel.set_title(f"{plain(curve.of, 20)}\n{self._areas(curve)}", fontsize=SMALL_TEXT, pad=3.0)
        ax.set_xlabel(self.x_name)
        ax.set_ylabel(self.y_name)

    def _areas(self, curve: Ranking) -> str:
        area, (low, high) = self.area(curve)
        return f"{area:.3f} ({low:.3f} to {high:.3f})"

    def _ground(self, ax: Axes, theme: Theme) -> None:
        """Draw the background of all curves; by default nothing."""

    @abstractmethod
    def _draw_one(self, ax: Axes, theme: Theme, curve: Ranking, colour: str, label: str) -> str:
        """Draw one curve with its band, and return a description of the band."""
