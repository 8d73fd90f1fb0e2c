"""A forest plot of the effect of each column on the scores, with confidence intervals if any, the largest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes

from separatrix.base.arrays import Array, Integers
from separatrix.base.number_text import number_text
from separatrix.base.theme import Theme
from separatrix.diagnostics import Coefficients, coefficients
from separatrix.plots import legends
from separatrix.plots.display import PLOTS, TICK_MULTIPLES, Display
from separatrix.plots.style import STRONG, THIN, marker, plain, shortened

# Largest number of columns drawn by default.
MOST_COEFFICIENTS_DRAWN = 25
# Largest number of points of all classes together.
MOST_MARKERS = 36
# The axis ends at most at this multiple of the largest value; intervals beyond it end in an arrow.
LARGEST_AXIS_RATIO = 2.5


@final
@dataclass(eq=False)
class CoefficientDisplay(Display):
    """Coefficients per step of their column: odds ratios with confidence intervals, or weights of a penalised fit.

    Parameters
    ----------
    found : Coefficients
        The numbers, from ``separatrix.diagnostics.coefficients``.
    top : int, default 25
        The largest number of columns to draw.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 0], [4, 0], [5, 1], [3, 1]], [0, 0, 1, 0, 1, 1, 0]
    >>> model = LogisticRegression(C=np.inf).fit(X, y)
    >>> shown = CoefficientDisplay.from_estimator(model, X, y, ax=Figure().subplots())
    >>> [tick.get_text() for tick in shown.ax_.get_yticklabels()], shown.ax_.get_xlabel()
    (['x0, +1.59', 'x1, 0 to 1'], 'odds ratio of 1 against 0')
    """

    found: Coefficients
    top: int = MOST_COEFFICIENTS_DRAWN

    @classmethod
    @PLOTS.refusing_tables
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        names: Any = None,
        top: int = MOST_COEFFICIENTS_DRAWN,
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Draw the coefficients of a fitted model.

        Parameters
        ----------
        model : estimator
            A fitted linear classifier, or a pipeline that ends in one.
        X, y
            The data of the fit.
        names : list of str or None
            Names of the columns; by default those of the fit.
        top : int, default 25
            The largest number of columns to draw.
        level : float, default 0.95
            The level of the confidence intervals.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        CoefficientDisplay
        """
        return cls(coefficients(model, X, y, names=names, level=level), top).plot(ax)

    @property
    def shown(self) -> Integers:
        """The numbers of the columns drawn, the largest first, without those whose weights are all zero."""
        chosen = self.found.largest(min(self.top, max(4, MOST_MARKERS // len(self.found.classes))))
        used = np.any(self.found.value[:, chosen] != 0, axis=0)
        return chosen[used] if used.any() else chosen

    @property
    def size(self) -> tuple[float, float]:
        q = len(self.found.classes)
        height = 0.21 if q == 1 else 0.16 + 0.07 * q
        return 4.6, 1.0 + height * max(3, len(self.shown)) + legends.height(self._named if q > 1 else [], 4.6)

    @property
    def _named(self) -> list[str]:
        return [plain(label, 24) for label in self.found.classes]

    @property
    def alternative(self) -> str:
        found = self.found
        what = found.ratio or "weight"
        with np.errstate(over="ignore"):
            value, low, high = (np.exp(a) if found.ratio else a for a in (found.value, found.low, found.high))
        parts = []
        for j in self.shown.tolist():
            numbers = [
                f"{label} {number_text(at, 3)}"
                + ("" if np.isnan(least) else f" ({number_text(least, 3)} to {number_text(most, 3)})")
                for label, at, least, most in zip(found.classes, value[:, j], low[:, j], high[:, j], strict=True)
            ]
            parts.append(f"{shortened(found.names[j], 40)}, {found.step_of(j)}: {', '.join(numbers)}")
        return f"The {what} of each column, the largest first. {'; '.join(parts)}."

    def _draw(self, ax: Axes, theme: Theme) -> None:
        found, chosen = self.found, self.shown
        q, limit = len(found.classes), self._limit(chosen)
        ax.axvline(0.0, color=theme.ink, linewidth=THIN)
        for k in range(q):
            place = np.arange(float(len(chosen))) + (0.62 * (k / (q - 1) - 0.5) if q > 1 else 0.0)
            self._draw_class(ax, theme, k, place, chosen, limit)
        ax.set_yticks(range(len(chosen)), [f"{plain(found.names[j])}, {found.step_of(int(j))}" for j in chosen])
        ax.set_ylim(len(chosen) - 0.4, -0.6)
        ax.set_xlim(-limit, limit)
        ax.tick_params(axis="y", length=0)
        ax.grid(True, axis="x")
        ax.spines["left"].set_visible(False)
        self._label(ax, limit)
        legends.below(ax)

    def _draw_class(self, ax: Axes, theme: Theme, k: int, place: Array, chosen: Integers, limit: float) -> None:
        found = self.found
        value, low, high = (a[k, chosen] for a in (found.value, found.low, found.high))
        for y, at, least, most in zip(place, value, low, high, strict=True):
            # With two classes, the colour is that of the class whose score a larger value of the column raises.
            colour = theme.of_class(k if len(found.classes) > 1 else int(at >= 0))
            if np.isfinite(least) and np.isfinite(most):
                _draw_interval(ax, y, (least, most), limit, colour)
            if np.isfinite(at):
                ax.plot([at], [y], marker=marker(k), color=colour, markersize=5, linestyle="none")
            elif np.isinf(at):
                ax.plot([np.sign(at) * limit], [y], marker=">" if at > 0 else "<", color=colour, markersize=7)
        if len(found.classes) > 1:
            look = {"marker": marker(k), "color": theme.of_class(k), "linestyle": "none", "markersize": 5}
            ax.plot([], [], label=self._named[k], **look)  # type: ignore[arg-type]

    def _limit(self, chosen: Integers) -> float:
        """The end of the axis: beyond every value, and beyond the ends of intervals that are not too far out."""
        values, ends = self.found.value[:, chosen], np.abs([self.found.low[:, chosen], self.found.high[:, chosen]])
        largest = float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0)) or 1.0
        reach = float(np.max(ends[np.isfinite(ends)], initial=0.0))
        return 1.08 * max(largest, min(reach, LARGEST_AXIS_RATIO * largest))

    def _label(self, ax: Axes, limit: float) -> None:
        found = self.found
        against = "" if found.reference is None else f" against {plain(found.reference, 16)}"
        of = f" of {plain(found.classes[0], 16)}" if len(found.classes) == 1 else " of each class"
        if found.ratio is None:
            ax.set_xlabel(f"weight per step, score{of}{against}", loc="right")
            return
        ax.set_xlabel(f"{found.ratio}{of}{against}", loc="right")
        nice = [multiple * 10.0**power for power in range(-12, 13) for multiple in TICK_MULTIPLES]
        inside = [ratio for ratio in nice if abs(np.log(ratio)) <= limit]
        middle = inside.index(1.0)
        every = max(1, -(-middle // (3 if limit < np.log(1000.0) else 1)))
        kept = inside[middle % every :: every]
        ax.set_xticks(np.log(kept), [number_text(ratio) for ratio in kept])


def _draw_interval(ax: Axes, y: float, interval: tuple[float, float], limit: float, colour: str) -> None:
    """A horizontal line, with an arrow at an end that lies beyond the axis."""
    low, high = interval
    ends = np.clip([low, high], -limit, limit)
    ax.plot(ends, [y, y], color=colour, linewidth=STRONG, solid_capstyle="butt")
    for end, beyond in zip(ends, (low < -limit, high > limit), strict=True):
        if beyond:
            ax.plot([end], [y], marker="<" if end < 0 else ">", color=colour, markersize=4, clip_on=False)
