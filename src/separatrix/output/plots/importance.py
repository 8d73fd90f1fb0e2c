"""Plots of what matters: coefficients, the distributions of columns, the most influential rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from separatrix.classifiers.fit_input import rows_to_score
from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.labels import as_label_array, known_codes
from separatrix.core.base.messages import number_text
from separatrix.core.scorer import taken_apart
from separatrix.output.plots.display import (
    BROAD,
    PLOTS,
    SMALL_TEXT,
    STRONG,
    THIN,
    TICK_MULTIPLES,
    Display,
    marker,
    panel_heights,
    panels,
    plain,
    shortened,
)
from separatrix.output.theme import GROUND, Theme
from separatrix.statistics.coefficients import (
    Coefficients,
    Distribution,
    coefficients,
    column_names,
    column_of,
    distribution,
    important_columns,
)
from separatrix.statistics.influence import Influence, influential

# --- Coefficients

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
        The numbers, from ``separatrix.statistics.coefficients``.
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
        return 4.6, 1.0 + height * max(3, len(self.shown)) + self._legend_height(self._named if q > 1 else [], 4.6)

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
        self._legend(ax)

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


# --- Distributions

# The largest number of columns that are drawn, the largest number of panels in a single row, and the panels per
# row if there are more.
MOST_DISTRIBUTIONS_DRAWN, MOST_IN_LINE, IN_LINE = 6, 4, 3
# The largest number of classes in a panel (the classes with the most rows), and the largest number with histograms.
MOST_CLASSES_IN_PANEL, MOST_HISTOGRAMS = 10, 3
# The height of a panel in inches.
PANEL = 1.5


@final
@dataclass(eq=False)
class DistributionDisplay(Display):
    """Histograms of columns by class: the share of the rows of each class in each bin.

    Histograms of more than three classes would hide each other. Each class then has a line from its 5 % to its 95 %
    quantile, which is thicker between the quartiles and marks the median.

    Parameters
    ----------
    found : list of Distribution
        The columns, from ``separatrix.statistics.coefficients.distribution``.
    classes : array (K,)
        The labels.
    shown : array of int
        The numbers of the classes that are drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 0], [4, 0], [5, 1]], [0, 0, 1, 0, 1, 1]
    >>> shown = DistributionDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    >>> [one.name for one in shown.found]
    ['x0', 'x1']
    """

    found: Sequence[Distribution]
    classes: AnyArray
    shown: Integers

    @classmethod
    @PLOTS.refusing_tables
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, names: Any = None, top: int = MOST_DISTRIBUTIONS_DRAWN, ax: Any = None
    ) -> Self:
        """Draw the columns with the largest weights per step, or without weights those whose class means differ most.

        Parameters
        ----------
        model : estimator
            A fitted classifier of this package, or a pipeline that ends in one.
        X, y
            Labelled rows.
        names : list of str or None
            Names of the columns; by default those of the fit.
        top : int, default 6
            The largest number of columns to draw.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        DistributionDisplay
        """
        model, X, encoded = taken_apart(model, X)
        rows, known = rows_to_score(model, X)
        labels = column_names(rows.shape[1], known or encoded, names)
        classes = np.asarray(model.classes_)
        codes = known_codes(y, classes)
        weights = coefficients(model, X, y, names=labels) if hasattr(model, "coef_") else None
        chosen = important_columns(rows, codes, len(classes), weights, top)
        return cls.of(rows, codes, classes, labels, chosen).plot(ax)

    @classmethod
    def of(cls, X: Any, codes: Integers, classes: AnyArray, names: Sequence[str], columns: Integers) -> Self:
        """The display of given columns of rows X, not drawn yet; call ``plot`` to draw it.

        Parameters
        ----------
        X : array or sparse matrix (n, d)
            The rows.
        codes : array (n,)
            The class of each row, as an index into ``classes``.
        classes : array (K,)
            The labels of the classes.
        names : sequence of str
            The names of the columns.
        columns : array of int
            The columns to show.

        Returns
        -------
        DistributionDisplay
        """
        K = len(classes)
        found = [distribution(column_of(X, j), codes, K, names[j]) for j in columns.tolist()]
        rows = np.bincount(codes, minlength=K)
        largest = np.argsort(-rows, kind="stable")[:MOST_CLASSES_IN_PANEL]
        return cls(found, classes, np.sort(largest[rows[largest] > 0]))

    @property
    def alternative(self) -> str:
        labels = [shortened(label, 40) for label in self.classes.tolist()]
        told = [
            f"{shortened(one.name, 40)}: "
            + ", ".join(f"{labels[k]} {number_text(one.median[k])}" for k in self.shown.tolist())
            for one in self.found
        ]
        return f"Medians by class. {'; '.join(told)}."

    @property
    def size(self) -> tuple[float, float]:
        lines = -(-len(self.found) // self._in_line)
        return BROAD, 0.75 + PANEL * panel_heights(lines) + self._legend_height(self._names, BROAD)

    @property
    def _in_line(self) -> int:
        """The number of panels per row. Up to four panels are in one row."""
        return IN_LINE if len(self.found) > MOST_IN_LINE else max(2, len(self.found))

    @property
    def _names(self) -> list[str]:
        return [plain(self.classes.tolist()[k], 24) for k in self.shown]

    def _draw(self, ax: Axes, theme: Theme) -> None:
        for panel, one in zip(panels(ax, len(self.found), self._in_line), self.found, strict=True):
            if len(self.shown) > MOST_HISTOGRAMS:
                self._draw_quantiles(panel, one, theme)
            else:
                self._draw_histograms(panel, one, theme)
            panel.set_yticks([])
            panel.spines["left"].set_visible(False)
            panel.set_title(plain(one.name, 30), fontsize=SMALL_TEXT, pad=3.0)
        for k, name in zip(self.shown.tolist(), self._names, strict=True):
            ax.plot([], [], color=theme.of_class(k), linewidth=STRONG, marker=marker(k), markersize=4.0, label=name)
        self._legend(ax)

    def _draw_histograms(self, panel: Axes, one: Distribution, theme: Theme) -> None:
        for k in self.shown.tolist():
            heights = np.concatenate([[0.0], np.repeat(one.shares[k], 2), [0.0]])
            x = np.repeat(one.edges, 2)
            panel.fill_between(x, heights, color=theme.of_class(k), alpha=GROUND, linewidth=0)
            panel.plot(x, heights, color=theme.of_class(k), linewidth=STRONG)
        panel.set_ylim(0.0, None)
        if one.levels is not None:
            panel.set_xticks(np.arange(len(one.levels)), [number_text(level) for level in one.levels])
        else:
            low, high = float(one.edges[0]), float(one.edges[-1])
            ticks = [low, 0.5 * (low + high), high]
            panel.set_xticks(ticks, [number_text(tick, 3).replace("-", "\N{MINUS SIGN}") for tick in ticks])

    def _draw_quantiles(self, panel: Axes, one: Distribution, theme: Theme) -> None:
        for place, k in enumerate(self.shown.tolist()):
            low, left, middle, right, high = one.quantiles[k].tolist()
            look: dict[str, Any] = {"color": theme.of_class(k), "solid_capstyle": "butt"}
            panel.plot([low, high], [place, place], linewidth=THIN, **look)
            panel.plot([left, right], [place, place], linewidth=3 * STRONG, alpha=0.45, **look)
            panel.plot([middle], [place], marker=marker(k), color=theme.of_class(k), markersize=4.0)
        panel.set_ylim(len(self.shown) - 0.5, -0.5)
        panel.xaxis.set_major_locator(MaxNLocator(3))
        panel.xaxis.set_major_formatter(ScalarFormatter())


# --- Influential rows


@final
@dataclass(eq=False)
class InfluenceDisplay(Display):
    """Cook's distance of the most influential rows, coloured by class, with the leverage next to each.

    Parameters
    ----------
    found : Influence
        The numbers, from ``separatrix.statistics.influence.influential``.
    labels : list
        The labels of these rows.
    codes : list of int
        The class numbers of these rows.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [9.0]], [0, 0, 1, 1, 0]
    >>> shown = InfluenceDisplay.from_estimator(LogisticRegression().fit(X, y), X, y, ax=Figure().subplots())
    >>> shown.ax_.get_yticklabels()[0].get_text()
    'row 4'
    """

    found: Influence
    labels: Sequence[Any]
    codes: Sequence[int]

    @classmethod
    @PLOTS.refusing_tables
    def from_estimator(cls, model: Any, X: Any, y: Any, *, top: int = 10, ax: Any = None) -> Self:
        """Draw the most influential rows of a fit.

        Parameters
        ----------
        model : estimator
            A fitted LogisticRegression or LeastSquaresClassifier, or a pipeline that ends in one.
        X, y
            The data of the fit.
        top : int, default 10
            How many rows to draw.
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        InfluenceDisplay
        """
        return cls.of(influential(model, X, y, top), model, y).plot(ax)

    @classmethod
    def of(cls, found: Influence, model: Any, y: Any) -> Self:
        """A display of an ``Influence`` that is already computed; call ``plot`` to draw it.

        Parameters
        ----------
        found : Influence
            The influential rows, from ``influential``.
        model : classifier
            The fitted model.
        y : array (n,)
            The labels of all rows of the fit.

        Returns
        -------
        InfluenceDisplay
        """
        labels = as_label_array(y)[found.rows].tolist()
        return cls(found, labels, known_codes(labels, np.asarray(model.classes_)).tolist())

    @property
    def size(self) -> tuple[float, float]:
        named = [plain(label, 24) for label in dict.fromkeys(self.labels)]
        return 4.6, 1.0 + 0.24 * max(4, len(self.found.rows)) + self._legend_height(named, 4.6)

    @property
    def alternative(self) -> str:
        parts = zip(self.found.rows.tolist(), self.labels, self.found.distance, self.found.leverage, strict=True)
        told = [
            f"row {row} of {shortened(label, 40)} {number_text(at, 3)}, leverage {h:.2g}" for row, label, at, h in parts
        ]
        return f"Cook's distance, the largest first: {'; '.join(told)}."

    def _draw(self, ax: Axes, theme: Theme) -> None:
        found, place = self.found, np.arange(len(self.found.rows))
        largest = float(np.max(found.distance[np.isfinite(found.distance)], initial=0.0)) or 1.0
        distance = np.minimum(found.distance, 1.1 * largest)
        named = set[int]()
        for y, at, leverage, label, k in zip(place, distance, found.leverage, self.labels, self.codes, strict=True):
            colour, name = theme.of_class(k), None if k in named else plain(label, 24)
            named.add(k)
            ax.plot([0, at], [y, y], color=theme.muted, linewidth=THIN)
            ax.plot([at], [y], marker=marker(k), color=colour, markersize=5.5, linestyle="none", label=name)
            ax.annotate(
                f"leverage {leverage:.2g}",
                (at, y),
                (6, 0),
                textcoords="offset points",
                va="center",
                fontsize=SMALL_TEXT,
                color=theme.muted,
            )
        ax.set_yticks(place, [f"row {row}" for row in found.rows])
        ax.set_ylim(len(place) - 0.4, -0.6)
        ax.set_xlim(0, 1.32 * float(distance.max(initial=0.0) or 1.0))
        ax.tick_params(axis="y", length=0)
        ax.grid(True, axis="x")
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.set_xlabel("Cook's distance")
        self._legend(ax)
