"""The ROC curve and the precision-recall curve with their confidence bands."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from matplotlib.axes import Axes

from separatrix.core.base.arrays import Integers
from separatrix.output.plots import display
from separatrix.output.theme import BAND, Theme
from separatrix.statistics.intervals import Interval
from separatrix.statistics.measures import Answers, answers
from separatrix.statistics.ranking import Ranking, rank, rankings

# --- What both plots share

# Largest number of panels in all.
MOST_PANELS = 24
# With at most this many panels the plot has the normal width and two panels in a line; with more, it is as wide as a
# page and has five.
MOST_NARROW_PANELS, NARROW_LINE, BROAD_LINE = 4, 2, 5


@dataclass(eq=False)
class RankingDisplay(display.Display):
    """One curve with a confidence band for each class; subclasses define how a curve is drawn.

    Two classes have one curve. The confidence bands of several would hide each other, so each class then gets a panel.
    """

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
    @display.PLOTS.refusing_tables
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
            self.told(curve) if self.together else f"{display.shortened(curve.of, 40)}: {self.told(curve)}"
            for curve in self.shown
        ]
        return f"{self.y_name} against {self.x_name}. {'. '.join(told)}.".capitalize()

    @property
    def size(self) -> tuple[float, float]:
        if self.together:
            return 4.6, 4.0 + self._legend_height(["x" * 40], 4.6, title=True)
        width = 4.6 if self._in_line == NARROW_LINE else display.BROAD
        lines = -(-len(self.chosen) // self._in_line)
        return width, 0.85 + 0.92 * (width - 0.5) / self._in_line * display.panel_heights(lines)

    @property
    def narrow(self) -> bool:
        """Whether the plot has the normal width."""
        return self.size[0] < display.BROAD

    @property
    def _in_line(self) -> int:
        return NARROW_LINE if len(self.chosen) <= MOST_NARROW_PANELS else BROAD_LINE

    @abstractmethod
    def area(self, curve: Ranking) -> tuple[float, Interval]:
        """The area below a curve, or its average precision, and the confidence interval.

        Parameters
        ----------
        curve : Ranking
            A curve of the display.

        Returns
        -------
        area : float
        interval : Interval
        """

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
            display.share_axes(ax)
            self._legend(ax, title=says if self.curves else None)
        else:
            numbers = range(len(self.curves)) if self.numbers is None else self.numbers
            small = display.panels(ax, len(self.chosen), self._in_line)
            for panel, k in zip(small, self.chosen.tolist(), strict=True):
                curve = self.curves[k]
                self._ground(panel, theme)
                self._draw_one(panel, theme, curve, theme.of_class(numbers[k]), "")
                display.share_axes(panel)
                panel.set_title(
                    f"{display.plain(curve.of, 20)}\n{self._areas(curve)}", fontsize=display.SMALL_TEXT, pad=3.0
                )
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


# --- The ROC curve


@final
@dataclass(eq=False)
class RocDisplay(RankingDisplay):
    """The curve (FP/N, TP/P) over all thresholds of the score; with K classes, each one against the rest.

    The legend shows the area with DeLong's interval. ``statistics/ranking.py`` has the methods and their references.

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
        return curve.auc, curve.auc_interval(self.level)

    def _highest(self, curve: Ranking, place: float) -> float:
        """The highest true positive rate with at most this false positive rate."""
        return float(np.max(curve.tpr[curve.fpr <= place], initial=0.0))

    def _ground(self, ax: Axes, theme: Theme) -> None:
        ax.plot([0, 1], [0, 1], color=theme.muted, linewidth=display.THIN, linestyle=display.REFERENCE)

    def _draw_one(self, ax: Axes, theme: Theme, curve: Ranking, colour: str, label: str) -> str:
        band = curve.band(self.band, self.level)
        x = np.concatenate([[0.0], band.false_low, [1.0], band.false_high[::-1]])
        y = np.concatenate([[0.0], band.true_high, [1.0], band.true_low[::-1]])
        kept = display.thinned(x, y)
        ax.fill(x[kept], y[kept], color=colour, alpha=BAND, linewidth=0)
        kept = display.thinned(curve.fpr, curve.tpr)
        ax.plot(curve.fpr[kept], curve.tpr[kept], color=colour, label=label)
        return band.says


# --- The precision-recall curve


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
        return curve.average_precision, curve.average_precision_interval(self.level)

    def _highest(self, curve: Ranking, place: float) -> float:
        """The highest precision with at least this recall."""
        return float(np.max(curve.precision[1:][curve.tpr[1:] >= place], initial=0.0))

    def _draw_one(self, ax: Axes, theme: Theme, curve: Ranking, colour: str, label: str) -> str:
        band = curve.band(self.band, self.level)
        recall, precision = curve.tpr[1:], curve.precision[1:]
        low, high = band.precision_low[1:], band.precision_high[1:]
        kept = display.thinned(recall, precision)
        ax.fill_between(recall[kept], low[kept], high[kept], color=colour, alpha=BAND, linewidth=0)
        share = curve.positives / (curve.positives + curve.negatives)
        ax.axhline(share, color=theme.muted, linewidth=display.THIN, linestyle=display.REFERENCE)
        ax.plot(recall[kept], precision[kept], color=colour, label=label)
        return band.says
