"""Input space beside the space of basis functions: curved there, straight here (V9)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.pipeline import Pipeline, make_pipeline

from separatrix.base.arrays import Array, Integers
from separatrix.base.theme import GROUND, Theme
from separatrix.classifiers import LogisticRegression
from separatrix.classifiers.basis import Basis
from separatrix.geometry import Hyperplane, boundary_curve
from separatrix.plots.figures.canvas import Box, Ink, box_of, canvas, draw_line, show_plane
from separatrix.plots.rows_and_regions import draw_rows
from separatrix.plots.style import STRONG

# The four rows of XOR.
XOR, XOR_SIDES = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), np.array([0, 0, 1, 1])
XOR_BOX: Box = (-1.7, 1.7, -1.7, 1.7)
# How fine the ground of a region is drawn.
SCORE_GRID = 200


def rings() -> tuple[Array, Integers]:
    """Rows inside a ring of rows.

    >>> X, y = rings()
    >>> X.shape, sorted(set(y.tolist()))
    ((48, 2), [0, 1])
    """
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 24)
    angle = rng.uniform(0.0, 2 * np.pi, 48)
    radius = np.where(y == 0, rng.uniform(0.1, 1.25, 48), rng.uniform(1.75, 2.6, 48))
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def basis_spaces(*, theme: str | None = None) -> Figure:
    """V9: XOR and a ring, with the curved boundary in input space and the straight one among basis functions.

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
    >>> len(sx.plots.figures.basis_spaces(theme="light").axes)
    4
    """
    with canvas(6.2, 5.9, theme) as (figure, look):
        panels = figure.subplots(2, 2)
        X, y = rings()
        xor = make_pipeline(Basis(["x0", "x0*x1"]), LogisticRegression()).fit(XOR, XOR_SIDES)
        ring = make_pipeline(Basis(["x0*x0", "x1*x1"]), LogisticRegression()).fit(X, y)
        _row(panels[0], look, xor, XOR, XOR_SIDES, XOR_BOX, ("$x_1$", "$x_1x_2$"))
        _row(panels[1], look, ring, X, y, (-3.0, 3.0, -3.0, 3.0), ("$x_1^2$", "$x_2^2$"))
        panels[0, 0].set_title("XOR in the plane")
        panels[0, 1].set_title("with the product $x_1x_2$")
        panels[1, 0].set_title("a ring in the plane")
        panels[1, 1].set_title("with the squares")
    return figure


def _row(axes: Any, theme: Theme, model: Pipeline, X: Array, y: Integers, box: Box, names: tuple[str, str]) -> None:
    left, right = axes
    none = np.zeros(len(y), dtype=bool)
    size = 1.6 if len(y) < 10 else 1.0
    _ground(left, theme, model.decision_function, box)
    for curve in boundary_curve(model, box):
        left.plot(*curve.T, color=theme.ink, linewidth=1.3 * STRONG, label="boundary", zorder=2.8)
    draw_rows(left, theme, X, y, none, n_classes=2, size=size)
    show_plane(left, box)
    features, inner = np.asarray(model[0].transform(X)), model[-1]
    inside = box_of(features, 0.35 if len(y) < 10 else 0.1)
    _ground(right, theme, inner.decision_function, inside)
    plane: Hyperplane = inner.hyperplane()
    draw_line(right, plane, inside, Ink(theme.ink, 1.3 * STRONG), "boundary")
    draw_rows(right, theme, features, y, none, n_classes=2, size=size)
    show_plane(right, inside, names)


def _ground(ax: Axes, theme: Theme, score: Any, box: Box) -> None:
    """Fill the side of each class with its colour."""
    x, y = np.linspace(box[0], box[1], SCORE_GRID), np.linspace(box[2], box[3], SCORE_GRID)
    z = score(np.column_stack([a.ravel() for a in np.meshgrid(x, y)])).reshape(SCORE_GRID, SCORE_GRID)
    low, high = float(z.min()) - 1.0, float(z.max()) + 1.0
    ax.contourf(x, y, z, levels=[low, 0.0, high], colors=[theme.of_class(0), theme.of_class(1)], alpha=GROUND)
