"""A hyperplane with its normal, the distance of a point and of the origin (V10)."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from separatrix.geometry import Hyperplane
from separatrix.plots.figures.canvas import (
    MATHEMATICS_TEXT,
    NARROW,
    Box,
    Ink,
    arrow,
    canvas,
    draw_line,
    name_line,
    right_angle,
    show_plane,
    write,
)
from separatrix.plots.style import DOTTED, STRONG

# The line 3x₁ + 4x₂ = 12, whose distances are round numbers, and a point.
W, B, POINT = (3.0, 4.0), -12.0, np.array([4.9, 3.7])
BOX: Box = (-2.2, 7.6, -1.9, 5.4)


def plane_and_distances(*, theme: str | None = None) -> Figure:
    """V10: a boundary with its normal w, a point x, its projection x⊥ and distance d, and the offset −w₀/‖w‖.

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
    >>> drawn = sx.plots.figures.plane_and_distances(theme="light")
    >>> [line.get_label() for line in drawn.axes[0].lines if line.get_label() != "right angle"]
    ['boundary', 'offset', 'distance']
    """
    plane = Hyperplane(W, B)
    unit, foot, nearest = plane.w / np.linalg.norm(plane.w), plane.project(POINT), plane.project(np.zeros(2))
    distance = float(plane.distance(POINT))
    with canvas(NARROW, 4.3, theme) as (figure, look):
        ax = figure.subplots()
        show_plane(ax, BOX)
        line = draw_line(ax, plane, BOX, Ink(look.ink, 1.5 * STRONG), "boundary")
        name_line(ax, look, line, r"$w\cdot x + w_0 = 0$", 0.2).set_fontsize(MATHEMATICS_TEXT)
        start = plane.project(np.array([5.0, -0.5]))
        arrow(ax, start, start + 1.5 * unit, Ink(look.ink), "w")
        write(ax, look, start + 1.5 * unit, "$w$", offset=(8, 2), fontsize=MATHEMATICS_TEXT)
        for ends, label in (((np.zeros(2), nearest), "offset"), ((foot, POINT), "distance")):
            x, y = np.array(ends).T
            ax.plot(x, y, color=look.ink, linewidth=STRONG, linestyle=DOTTED, label=label, zorder=2.7)
        for corner in (nearest, foot):
            right_angle(ax, look, corner, -unit if corner is nearest else unit, 0.22)
        ax.scatter([POINT[0]], [POINT[1]], s=60, color=look.of_class(0), edgecolors=look.paper, zorder=3, label="x")
        for name, place in (("foot", foot), ("origin", np.zeros(2))):
            ax.scatter([place[0]], [place[1]], s=26, color=look.ink, zorder=3, label=name)
        write(ax, look, POINT, "$x$", offset=(10, 6), fontsize=MATHEMATICS_TEXT)
        write(ax, look, foot, r"$x_\perp$", offset=(-9, -9), fontsize=MATHEMATICS_TEXT)
        write(ax, look, np.zeros(2), "origin", offset=(0, -11))
        halfway = (foot + POINT) / 2
        write(ax, look, halfway, f"$d = h(x)/\\|w\\|$ = {distance:.2f}", offset=(8, -6), ha="left")
        write(ax, look, nearest / 2, f"$-w_0/\\|w\\|$ = {plane.offset:.1f}", offset=(-7, 6), ha="right")
    return figure
