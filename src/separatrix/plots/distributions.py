"""A plot of how the most important columns are distributed in each class, a panel for each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.labels import known_codes
from separatrix.base.number_text import number_text
from separatrix.base.theme import GROUND, Theme
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.diagnostics.coefficients import coefficients, column_names
from separatrix.diagnostics.distributions import Distribution, column_of, distribution
from separatrix.diagnostics.importance import important_columns
from separatrix.plots import legends
from separatrix.plots.display import BROAD, PLOTS, Display, panel_heights, panels
from separatrix.plots.style import SMALL_TEXT, STRONG, THIN, marker, plain, shortened
from separatrix.scorers.scorer import taken_apart

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
        The columns, from ``separatrix.diagnostics.distributions.distribution``.
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
        return BROAD, 0.75 + PANEL * panel_heights(lines) + legends.height(self._names, BROAD)

    @property
    def _in_line(self) -> int:
        """The number of panels per row. Up to four panels are in one row."""
        return IN_LINE if len(self.found) > MOST_IN_LINE else max(2, len(self.found))

    @property
    def _names(self) -> list[str]:
        return [plain(self.classes.tolist()[k], 24) for k in self.shown]

    def _draw(self, ax: Axes, theme: Theme) -> None:
        for panel, one in zip(panels(ax, len(self.found), self._in_line), self.found, strict=True):
            self._draw_one(panel, one, theme)
        for k, name in zip(self.shown.tolist(), self._names, strict=True):
            ax.plot([], [], color=theme.of_class(k), linewidth=STRONG, marker=marker(k), markersize=4.0, label=name)
        legends.below(ax)

    def _draw_one(self, panel: Axes, one: Distribution, theme: Theme) -> None:
        if len(self.shown) > MOST_HISTOGRAMS:
            self._draw_quantiles(panel, one, theme)
            return
        for k in self.shown.tolist():
            heights = np.concatenate([[0.0], np.repeat(one.shares[k], 2), [0.0]])
            x = np.repeat(one.edges, 2)
            panel.fill_between(x, heights, color=theme.of_class(k), alpha=GROUND, linewidth=0)
            panel.plot(x, heights, color=theme.of_class(k), linewidth=STRONG)
        panel.set_ylim(0.0, None)
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
        if one.levels is not None:
            panel.set_xticks(np.arange(len(one.levels)), [number_text(level) for level in one.levels])
        else:
            low, high = float(one.edges[0]), float(one.edges[-1])
            ticks = [low, 0.5 * (low + high), high]
            panel.set_xticks(ticks, [number_text(tick, 3).replace("-", "\N{MINUS SIGN}") for tick in ticks])
        panel.set_title(plain(one.name, 30), fontsize=SMALL_TEXT, pad=3.0)

    def _draw_quantiles(self, panel: Axes, one: Distribution, theme: Theme) -> None:
        for place, k in enumerate(self.shown.tolist()):
            low, left, middle, right, high = one.quantiles[k].tolist()
            look: dict[str, Any] = {"color": theme.of_class(k), "solid_capstyle": "butt"}
            panel.plot([low, high], [place, place], linewidth=THIN, **look)
            panel.plot([left, right], [place, place], linewidth=3 * STRONG, alpha=0.45, **look)
            panel.plot([middle], [place], marker=marker(k), color=theme.of_class(k), markersize=4.0)
        panel.set_ylim(len(self.shown) - 0.5, -0.5)
        panel.set_yticks([])
        panel.spines["left"].set_visible(False)
        panel.xaxis.set_major_locator(MaxNLocator(3))
        panel.xaxis.set_major_formatter(ScalarFormatter())
        panel.set_title(plain(one.name, 30), fontsize=SMALL_TEXT, pad=3.0)
