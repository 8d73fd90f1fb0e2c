"""The base class of all displays: a display holds numbers, and ``plot`` draws them.

As in scikit-learn, ``plot`` sets ``ax_`` and ``figure_``. A display is made by ``from_estimator`` from a fitted model
and rows, or directly from its numbers, which are computed without matplotlib.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from separatrix.base.arrays import Array, Integers
from separatrix.base.theme import Theme
from separatrix.plots.style import SMALL_TEXT, style
from separatrix.rows.in_memory import InMemory

# Cells along each side of the unit square: a curve keeps one vertex in each cell, since more would not be visible.
CURVE_CELLS = 600
# Width in inches of a figure as wide as a page.
BROAD = 9.4
# The space between two rows of panels, for tick labels and a title, as a fraction of the height of a panel.
PANEL_GAP = 0.28
# Ticks on an axis of ratios are these multiples of powers of ten.
TICK_MULTIPLES = (1, 2, 5)

PLOTS = InMemory(
    "from_estimator", "a plot draws or sorts single rows", "draw a sample of the rows, or use the figures of evaluate"
)


class Display(ABC):
    """Numbers that can be drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes on which the display was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    """

    ax_: Axes
    figure_: Figure

    def __init_subclass__(cls) -> None:
        # A dataclass does not replace a method of the class itself, so a display prints one line in a notebook.
        cls.__repr__ = Display.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: plot(ax) draws it again>"

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return 4.6, 3.7

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        self
        """
        with style() as theme:
            if ax is None:
                from matplotlib import pyplot

                ax = pyplot.subplots(figsize=self.size, layout="constrained")[1]
            self.ax_, self.figure_ = ax, ax.figure
            self._draw(ax, theme)
        return self

    @property
    @abstractmethod
    def alternative(self) -> str:
        """A description of the plot in words (its text alternative)."""

    @abstractmethod
    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Draw on ``ax`` in the colours of ``theme``."""


def last_step(model: Any) -> Any:
    """The last step of a pipeline, or the classifier itself.

    >>> last_step("a model")
    'a model'
    """
    return model.steps[-1][1] if hasattr(model, "steps") else model


def thinned(x: Array, y: Array) -> Integers:
    """Which vertices of a curve in the unit square to draw: the first in each cell, and the last of all.

    >>> thinned(np.linspace(0.0, 1e-5, 1000), np.zeros(1000)).tolist()
    [0, 999]
    """
    cell = np.floor(CURVE_CELLS * np.column_stack([x, y])).astype(np.int64)
    changed = np.any(np.diff(cell, axis=0) != 0, axis=1)
    return np.unique(np.concatenate([[0], 1 + np.flatnonzero(changed), [len(x) - 1]]))


def share_axes(ax: Axes) -> None:
    """Set both axes to the unit square, with a small margin."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.grid(True)


def panel_heights(lines: int) -> float:
    """The height of a given number of rows of panels, as a multiple of the height of one panel.

    >>> panel_heights(1)
    1.0
    """
    return lines + PANEL_GAP * (lines - 1)


def panels(ax: Axes, count: int, in_line: int) -> list[Axes]:
    """Small axes of the unit square inside ``ax``. ``ax`` keeps only its labels; outer panels have tick labels.

    >>> small = panels(Figure().subplots(), 5, 3)
    >>> len(small), [bool(panel.get_yticklabels()[0].get_text()) for panel in small]
    (5, [True, False, False, True, False])
    """
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.xaxis.labelpad, ax.yaxis.labelpad = 14.0, 20.0
    across, down, small = min(count, in_line), -(-count // in_line), []
    height = 1 / panel_heights(down)
    for k in range(count):
        i, j = divmod(k, across)
        place = (j / across, 1 - height * (1 + i * (1 + PANEL_GAP)), 0.92 / across, height)
        panel = ax.inset_axes(place)
        panel.set_xticks([0.0, 0.5, 1.0], ["0", "", "1"] if k + across >= count else [""] * 3)
        panel.set_yticks([0.0, 0.5, 1.0], ["0", "", "1"] if j == 0 else [""] * 3)
        panel.tick_params(labelsize=SMALL_TEXT, length=2.0)
        small.append(panel)
    return small
