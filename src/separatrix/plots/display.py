"""What all displays share: numbers first, drawn by ``plot``, which sets ``ax_`` and ``figure_`` as in scikit-learn.

A display is made by ``from_estimator`` from a fitted model and rows, or from the record of numbers that it holds, which
a module without matplotlib has computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from separatrix.base.arrays import Array, Integers
from separatrix.plots.style import Theme, style

# A curve keeps one vertex in each of so many steps of either coordinate: more cannot be seen.
STEPS = 600
# Inches of a figure that has a page's width.
BROAD = 9.4


class Display(ABC):
    """Numbers that can be drawn."""

    ax_: Axes
    figure_: Figure

    @property
    def size(self) -> tuple[float, float]:
        """Of a figure of its own, in inches."""
        return 4.6, 3.7

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, by default on a new figure of pyplot's."""
        with style() as theme:
            if ax is None:
                from matplotlib import pyplot

                ax = pyplot.subplots(figsize=self.size, layout="constrained")[1]
            self.ax_, self.figure_ = ax, ax.figure
            self._draw(ax, theme)
        return self

    @abstractmethod
    def _draw(self, ax: Axes, theme: Theme) -> None:
        """All of the drawing."""


def last_step(model: Any) -> Any:
    """The classifier at a pipeline's end, or the classifier itself.

    >>> last_step("a model")
    'a model'
    """
    return model.steps[-1][1] if hasattr(model, "steps") else model


def thinned(x: Array, y: Array) -> Integers:
    """Which vertices of a curve in the unit square to draw: the first of each step, and the last of all.

    >>> thinned(np.linspace(0.0, 1e-5, 1000), np.zeros(1000)).tolist()
    [0, 999]
    """
    step = np.floor(STEPS * np.column_stack([x, y])).astype(np.int64)
    changed = np.any(np.diff(step, axis=0) != 0, axis=1)
    return np.unique(np.concatenate([[0], 1 + np.flatnonzero(changed), [len(x) - 1]]))


def share_axes(ax: Axes) -> None:
    """Both coordinates are shares: the unit square, with a little air."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.grid(True)


def panels(ax: Axes, count: int, in_line: int) -> list[Axes]:
    """Small axes of the unit square inside ``ax``, which keeps only its labels; numbers are at the outer ones.

    >>> small = panels(Figure().subplots(), 5, 3)
    >>> len(small), [bool(one.get_yticklabels()[0].get_text()) for one in small]
    (5, [True, False, False, True, False])
    """
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.xaxis.labelpad, ax.yaxis.labelpad = 16.0, 24.0
    across, down, found = min(count, in_line), -(-count // in_line), []
    for k in range(count):
        i, j = divmod(k, across)
        place = (j / across, 1 - (i + 1) / down, 0.88 / across, 0.8 / down)
        panel = ax.inset_axes(place)
        panel.set_xticks([0.0, 0.5, 1.0], ["0", "", "1"] if k + across >= count else [""] * 3)
        panel.set_yticks([0.0, 0.5, 1.0], ["0", "", "1"] if j == 0 else [""] * 3)
        panel.tick_params(labelsize=7.0, length=2.0)
        found.append(panel)
    return found
