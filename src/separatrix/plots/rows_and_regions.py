"""Rows as points by class, with rings around mistakes, and the regions of classes as polygons with their boundaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.theme import GROUND, POINT, POINT_EDGE, RING, Theme
from separatrix.geometry import Region
from separatrix.plots.boundaries import boundaries
from separatrix.plots.style import POINTS_PER_PIXEL, STRONG, THIN, marker


def draw_rows(
    ax: Axes,
    theme: Theme,
    points: Array,
    codes: Integers,
    wrong: AnyArray,
    *,
    n_classes: int,
    named: Mapping[int, str] | None = None,
    size: float = 1.0,
) -> None:
    """Draw rows in the colour and shape of their class, and a ring around misclassified rows.

    Parameters
    ----------
    ax, theme
        Where to draw, and in which colours.
    points : array (n, 2)
        The positions of the rows.
    codes : array (n,)
        Their class numbers.
    wrong : array (n,) of bool
        Which rows are misclassified.
    n_classes : int
        The number of classes.
    named : mapping of int to str, optional
        The names in the legend, by class number.
    size : float, default 1
        The size of points and rings, as a multiple of the size in the theme.
    """
    point, ring = (POINTS_PER_PIXEL * size * diameter for diameter in (POINT, RING))
    look = {"s": point**2, "linewidths": POINTS_PER_PIXEL * size * POINT_EDGE, "edgecolors": theme.paper, "zorder": 3}
    for k in range(n_classes):
        x, y = points[codes == k].T
        ax.scatter(x, y, color=theme.of_class(k), marker=marker(k), label=(named or {}).get(k), **look)  # type: ignore[arg-type]
    x, y = points[wrong].T
    if len(x):
        look = {"facecolors": "none", "edgecolors": theme.ink, "linewidths": THIN, "zorder": 4}
        ax.scatter(x, y, s=ring**2, label="mistake", **look)  # type: ignore[arg-type]


def draw_regions(
    ax: Axes,
    theme: Theme,
    regions: Sequence[Region],
    labels: Sequence[Any],
    box: tuple[float, float, float, float],
) -> None:
    """Fill the region of each class with its colour, and draw the boundaries between them in ink.

    Parameters
    ----------
    ax, theme
        Where to draw, and in which colours.
    regions : list of Region
        Polygons that cover the box, as ``sx.regions`` returns them.
    labels : list
        The classes, in the order of their colours.
    box : tuple
        The limits of both axes, whose frame is not a boundary.
    """
    drawn = [region for region in regions if not region.empty]
    for k, label in enumerate(labels):
        polygons = [region.vertices for region in drawn if region.labels == (label,)]
        if polygons:
            shape = Path.make_compound_path(*(Path(np.vstack([V, V[:1]]), closed=True) for V in polygons))
            ax.add_patch(PathPatch(shape, facecolor=theme.of_class(k), alpha=GROUND, linewidth=0))
    edges = boundaries(drawn, box)
    if len(edges):
        codes = np.tile([Path.MOVETO, Path.LINETO], len(edges)).astype(np.uint8)
        look: dict[str, Any] = {"edgecolor": theme.ink, "linewidth": STRONG, "capstyle": "round", "zorder": 2.8}
        ax.add_patch(PathPatch(Path(edges.reshape(-1, 2), codes), facecolor="none", label="boundary", **look))
