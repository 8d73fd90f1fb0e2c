"""Error surfaces over two weights, and gradient descent across them (V4, V5, V14)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from separatrix.base.arrays import Array
from separatrix.base.theme import Theme
from separatrix.plots.figures.canvas import (
    MATHEMATICS_TEXT,
    WIDE,
    Ink,
    arrow,
    canvas,
    right_angle,
    shades,
    show_plane,
    write,
)
from separatrix.plots.style import STRONG, THIN
from separatrix.solvers import GradientDescent
from separatrix.textbook.own_weights import objective
from separatrix.textbook.point_sets import point_set
from separatrix.textbook.surface import Surface, error_surface, walk

# Four errors with their names, over the weights of two columns.
ERRORS = {
    "zero-one": "0–1: flat pieces",
    "perceptron": "perceptron: convex, with kinks",
    "logistic": "logistic: smooth and convex",
    "squared-sigmoid": "squared σ: several minima",
}
# Seven rows that no line through the origin separates, on which the squared error of σ has several minima.
STEEP = point_set("several-minima")
WEIGHTS = (-6.0, 6.0, -6.0, 6.0)


def error_surfaces(*, theme: str | None = None) -> Figure:
    """V4: the 0–1, perceptron and logistic errors and the squared error of σ over two weights, side by side.

    Parameters
    ----------
    theme : "light", "dark" or None
        By default the one that fits the current background of figures in matplotlib.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import separatrix as sx
    >>> [ax.get_title(loc="left").split(":")[0] for ax in sx.plots.figures.error_surfaces(theme="light").axes[4:]]
    ['0–1', 'perceptron', 'logistic', 'squared σ']
    """
    with canvas(WIDE, 4.3, theme) as (figure, look):
        found = {name: error_surface(STEEP.X, STEEP.y, name, WEIGHTS, points=120) for name in ERRORS}
        for k, surface in enumerate(found.values()):
            ax: Any = figure.add_subplot(2, 4, 1 + k, projection="3d", computed_zorder=False)
            _relief(ax, look, surface)
        for k, (name, surface) in enumerate(found.items()):
            ax = figure.add_subplot(2, 4, 5 + k)
            _map(ax, look, surface)
            kind, says = ERRORS[name].split(": ")
            ax.set_title(f"{kind}:\n{says}")
            if k:
                ax.set_ylabel("")
            for w1, w2 in local_minima(surface) if name != "zero-one" else []:
                look_of: dict[str, Any] = {"color": look.highlight, "edgecolors": look.highlight_edge, "zorder": 4}
                ax.scatter([w1], [w2], s=34, linewidths=STRONG, label="minimum", **look_of)
    return figure


def local_minima(surface: Surface) -> list[tuple[float, float]]:
    """The points inside the grid that are lower than their eight neighbours.

    >>> bowl = error_surface([[1.0, 0.0], [-1.0, 0.3], [0.0, 1.0], [0.2, -1.0]], [1, 1, 0, 1], points=61)
    >>> len(local_minima(bowl))
    1
    """
    E = surface.value
    inside = E[1:-1, 1:-1]
    shifts = [(i, j) for i in (0, 1, 2) for j in (0, 1, 2) if (i, j) != (1, 1)]
    lower = np.all([inside < E[i : i + inside.shape[0], j : j + inside.shape[1]] for i, j in shifts], axis=0)
    return [(float(surface.first[j + 1]), float(surface.second[i + 1])) for i, j in np.argwhere(lower)]


def _relief(ax: Any, theme: Theme, surface: Surface) -> None:
    first, second = np.meshgrid(surface.first, surface.second)
    height = surface.value / surface.value.max()
    look: dict[str, Any] = {"cmap": shades(theme), "linewidth": 0.25, "edgecolors": theme.muted, "antialiased": True}
    ax.plot_surface(first, second, height, rcount=31, ccount=31, vmin=-0.25, vmax=1.0, rasterized=True, **look)
    bare_axes(ax, theme, ("$w_1$", "$w_2$", ""))
    ax.view_init(elev=38.0, azim=-120.0)


def bare_axes(ax: Any, theme: Theme, names: tuple[str, str, str]) -> None:
    """Axes in three dimensions without ticks, panes and grid."""
    for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), names, strict=True):
        axis.set_pane_color((0.0, 0.0, 0.0, 0.0))
        axis.line.set_color(theme.muted)
        axis.set_ticks([])
        axis.set_label_text(name, fontsize=MATHEMATICS_TEXT)
        axis.labelpad = -12.0
    ax.set_box_aspect((1.0, 1.0, 0.7), zoom=1.2)


def _map(ax: Axes, theme: Theme, surface: Surface, levels: Any = 12) -> None:
    ax.contourf(surface.first, surface.second, surface.value, levels=levels, cmap=shades(theme))
    ax.contour(surface.first, surface.second, surface.value, levels=levels, colors=[theme.ink], linewidths=0.4)
    show_plane(ax, _box_of(surface), ("$w_1$", "$w_2$"))


def _box_of(surface: Surface) -> tuple[float, float, float, float]:
    """The box of a surface."""
    ends = (surface.first[0], surface.first[-1], surface.second[0], surface.second[-1])
    return float(ends[0]), float(ends[1]), float(ends[2]), float(ends[3])


# Rows of one column, so the weights are (b, w). The classes overlap, so the error has a minimum.
LINE = np.array([[-4.0], [-3.2], [-2.5], [-1.8], [2.2], [3.1], [-3.0], [-1.9], [1.5], [2.4], [3.3], [4.0]])
LINE_SIDES = np.repeat([0, 1], 6)
# Where each descent starts, its steps, and three step sizes.
START, STEPS_DOWN = (-1.3, -0.55), 10
RATES = {"η too small": 0.08, "η just right": 0.8, "η too large": 1.5}
DESCENT_BOX = (-1.6, 1.6, -0.85, 1.35)


def step_sizes(*, theme: str | None = None) -> Figure:
    """V5: gradient descent with three step sizes, across the contours of the logistic error.

    Parameters
    ----------
    theme : "light", "dark" or None
        By default the one that fits the current background of figures in matplotlib.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import separatrix as sx
    >>> [ax.get_title(loc="left") for ax in sx.plots.figures.step_sizes(theme="light").axes]
    ['η too small: 0.08', 'η just right: 0.8', 'η too large: 1.5']
    """
    surface = error_surface(LINE, LINE_SIDES, box=DESCENT_BOX, columns=(0, 1))
    with canvas(WIDE, 2.3, theme) as (figure, look):
        for ax, (name, eta) in zip(figure.subplots(1, 3, sharey=True), RATES.items(), strict=True):
            path = walk(LINE, LINE_SIDES, GradientDescent(eta=eta), start=START, steps=STEPS_DOWN)
            _contours(ax, look, surface)
            ax.plot(*path.W.T, color=look.ink, linewidth=STRONG, marker="o", markersize=3.2, label="path")
            look_of: dict[str, Any] = {"color": look.highlight, "edgecolors": look.highlight_edge, "zorder": 5}
            ax.scatter(path.W[-1:, 0], path.W[-1:, 1], s=30, linewidths=STRONG, label="last", **look_of)
            right = path.W[1] - path.W[0]
            right_angle(ax, look, START, right, 0.11)
            ax.set_title(f"{name}: {eta:g}")
            ax.label_outer()
    return figure


def _contours(ax: Axes, theme: Theme, surface: Surface) -> None:
    """Contours of the error over (b, w), one of which passes through the start."""
    at_start = objective(LINE, LINE_SIDES).value(START)
    low, high = float(surface.value.min()), float(surface.value.max())
    levels = np.unique([*np.geomspace(low * 1.03, high, 10), at_start])
    ax.contourf(surface.first, surface.second, surface.value, levels=[low, *levels], cmap=shades(theme))
    lines = {"colors": [theme.muted], "linewidths": [THIN if a != at_start else STRONG for a in levels]}
    ax.contour(surface.first, surface.second, surface.value, levels=levels, **lines)  # type: ignore[arg-type]
    show_plane(ax, DESCENT_BOX, ("$b$", "$w$"))


class Slope(NamedTuple):
    """A place (b, w), the error there and its gradient."""

    place: Array
    value: float
    gradient: Array


# Places at which the gradient is drawn.
PLACES = np.array([[-0.6, 0.12], [0.75, 0.62], [-1.15, 0.6], [0.5, -0.2], [-0.75, -0.42]])
# The length of an arrow, in multiples of the gradient.
LENGTH_OF_GRADIENT = 0.6


def slopes() -> list[Slope]:
    """The error and its gradient at the places of V14.

    >>> len(slopes())
    5
    """
    E = objective(LINE, LINE_SIDES)
    return [Slope(place, E.value(place), E.gradient(place)) for place in PLACES]


def gradient_and_contours(*, theme: str | None = None) -> Figure:
    """V14: the gradient of the logistic error at five places, perpendicular to the contour through each.

    Parameters
    ----------
    theme : "light", "dark" or None
        By default the one that fits the current background of figures in matplotlib.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import separatrix as sx
    >>> drawn = sx.plots.figures.gradient_and_contours(theme="light")
    >>> sum(line.get_label() == "right angle" for line in drawn.axes[0].lines)
    5
    """
    surface = error_surface(LINE, LINE_SIDES, box=DESCENT_BOX, columns=(0, 1), points=161)
    found = slopes()
    with canvas(5.6, 4.2, theme) as (figure, look):
        ax = figure.subplots()
        low, high = float(surface.value.min()), float(surface.value.max())
        ax.contourf(surface.first, surface.second, surface.value, np.geomspace(low, high, 14), cmap=shades(look))
        levels = sorted(slope.value for slope in found)
        ax.contour(surface.first, surface.second, surface.value, levels, colors=[look.ink], linewidths=STRONG)
        for slope in found:
            arrow(ax, slope.place, slope.place - LENGTH_OF_GRADIENT * slope.gradient, Ink(look.ink, STRONG), "down")
            right_angle(ax, look, slope.place, -slope.gradient, 0.07)
        w = np.array(surface.lowest[:2])
        ax.scatter(
            [w[0]],
            [w[1]],
            s=30,
            color=look.highlight,
            edgecolors=look.highlight_edge,
            linewidths=STRONG,
            label="lowest",
        )
        write(ax, look, w, "lowest", offset=(0, 10))
        slope = found[0]
        write(
            ax,
            look,
            slope.place - LENGTH_OF_GRADIENT * slope.gradient,
            r"$-\nabla E$",
            offset=(10, 7),
            fontsize=MATHEMATICS_TEXT,
        )
        show_plane(ax, DESCENT_BOX, ("$b$", "$w$"))
        ax.set_title("contours of equal error, and the steepest way down")
    return figure
