"""A plot of the rows whose deletion would change a fit the most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from separatrix.base.labels import as_label_array, known_codes
from separatrix.base.number_text import number_text
from separatrix.base.theme import Theme
from separatrix.diagnostics import Influence, influential
from separatrix.plots import legends
from separatrix.plots.display import PLOTS, Display
from separatrix.plots.style import SMALL_TEXT, THIN, marker, plain, shortened


@final
@dataclass(eq=False)
class InfluenceDisplay(Display):
    """Cook's distance of the most influential rows, coloured by class, with the leverage next to each.

    Parameters
    ----------
    found : Influence
        The numbers, from ``separatrix.diagnostics.influential``.
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
        return 4.6, 1.0 + 0.24 * max(4, len(self.found.rows)) + legends.height(named, 4.6)

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
        legends.below(ax)
