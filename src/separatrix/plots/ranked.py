"""What the two curves of a ranking share: their numbers, how they are made of a model or of scores, how they are set.

Up to three classes are drawn together. Bands of more would hide each other, so each has a panel of its own.
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

# Classes drawn together; panels at most, and in a line.
TOGETHER, MOST_PANELS, IN_LINE = 3, 24, 6


@dataclass(eq=False)
class RankingDisplay(Display):
    """One ranking a class, a band around each; abstract: how it is drawn is the curve's own."""

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
        """From a fitted classifier, and rows X with labels y."""
        return cls(rankings(answers(model, X, y)), band, level).plot(ax)

    @classmethod
    def from_predictions(
        cls, y: Any, score: Any, *, of: Any = 1, band: str = "pointwise", level: float = 0.95, ax: Any = None
    ) -> Self:
        """From scores that grow with the chance of the class ``of``, and labels y."""
        return cls([rank(np.asarray(score), np.asarray(y) == of, of)], band, level).plot(ax)

    @property
    def together(self) -> bool:
        """Whether all curves are drawn in one picture."""
        return len(self.curves) <= TOGETHER

    @property
    def shown(self) -> Sequence[Ranking]:
        """The curves drawn: all, or of many those of the least areas, in their order."""
        worst = np.argsort([self.area(curve)[0] for curve in self.curves], kind="stable")[:MOST_PANELS]
        return [self.curves[k] for k in np.sort(worst)]

    @property
    def size(self) -> tuple[float, float]:
        if self.together:
            return 4.6, 4.0 + legends.height(["x" * 40] * len(self.curves), 4.6, title=True)
        count = len(self.shown)
        return BROAD, 0.6 + (BROAD / min(count, IN_LINE) + 0.25) * -(-count // IN_LINE)

    @abstractmethod
    def area(self, curve: Ranking) -> tuple[float, Interval]:
        """The area below a curve, with its interval."""

    def _draw(self, ax: Axes, theme: Theme) -> None:
        if self.together:
            self._ground(ax, theme)
            for k, curve in enumerate(self.curves):
                name = self.area_name if len(self.curves) == 1 else plain(curve.of, 18)
                says = self._draw_one(ax, curve, theme.of_class(k), f"{name} {self._areas(curve)}")
            share_axes(ax)
            legends.below(ax, title=says if self.curves else None)
        else:
            for panel, curve in zip(panels(ax, len(self.shown), IN_LINE), self.shown, strict=True):
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
        """What lies below all curves: nothing, unless a curve says otherwise."""

    @abstractmethod
    def _draw_one(self, ax: Axes, curve: Ranking, colour: str, label: str) -> str:
        """One curve with its band, and what the band is in words."""
