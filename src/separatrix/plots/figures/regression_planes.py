"""A linear function as a plane over two columns, and one, two and three regression planes (V15)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from separatrix.base.arrays import Array
from separatrix.base.theme import POINT, Theme
from separatrix.classifiers import LeastSquaresClassifier
from separatrix.plots.figures.canvas import WIDE, Box, box_of, canvas, segment
from separatrix.plots.figures.schemes import three_classes
from separatrix.plots.figures.surfaces import bare_axes
from separatrix.plots.style import POINTS_PER_PIXEL, STRONG, marker

# The opacity of a plane, and where it is cut off above and below.
SHEET, HEIGHTS = 0.45, (-0.6, 1.6)


def regression_planes(*, theme: str | None = None) -> Figure:
    """V15: h(x) as a plane over (x₁, x₂), and classification by one, two and three regression planes.

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
    >>> [ax.get_title() for ax in sx.plots.figures.regression_planes(theme="light").axes]
    ['a plane over $(x_1, x_2)$', 'one plane: $h = ½$', 'two planes: $h_1 = h_2$', 'three planes: the highest']
    """
    X, y = three_classes()
    two = y != 1
    pair, triple = LeastSquaresClassifier().fit(X[two], y[two]), LeastSquaresClassifier().fit(X, y)
    with canvas(WIDE, 6.4, theme) as (figure, look):
        axes: Any = [figure.add_subplot(2, 2, k + 1, projection="3d", computed_zorder=False) for k in range(4)]
        box = box_of(X, 0.05)
        for ax, title, drawn, model in (
            (axes[0], "a plane over $(x_1, x_2)$", [1], pair),
            (axes[1], "one plane: $h = ½$", [1], pair),
            (axes[2], "two planes: $h_1 = h_2$", [0, 1], pair),
            (axes[3], "three planes: the highest", [0, 1, 2], triple),
        ):
            shift = 1 if model is pair else 0
            for k in drawn:
                _sheet(ax, model, k, box, look.muted if len(drawn) == 1 else look.of_class(k + shift))
            if ax is not axes[0]:
                _rows(ax, look, X if model is triple else X[two], y if model is triple else y[two])
                _edges(ax, look, model, box)
            bare_axes(ax, look, ("$x_1$", "$x_2$", "$h$"))
            ax.set_zlim(*HEIGHTS)
            ax.view_init(elev=30.0, azim=-125.0)
            ax.set_title(title)
    return figure


def _sheet(ax: Any, model: LeastSquaresClassifier, k: int, box: Box, colour: str) -> None:
    x, y = np.meshgrid(np.linspace(box[0], box[1], 13), np.linspace(box[2], box[3], 13))
    z = model.outputs(np.column_stack([x.ravel(), y.ravel()]))[:, k].reshape(x.shape)
    z = np.clip(z, *HEIGHTS)
    ax.plot_surface(x, y, z, color=colour, alpha=SHEET, linewidth=0.3, edgecolor=colour, shade=False)


def _rows(ax: Any, theme: Theme, X: Array, y: Array) -> None:
    """The rows on the floor."""
    for label in np.unique(y).tolist():
        x1, x2 = X[y == label].T
        look = {"color": theme.of_class(label - 1), "marker": marker(label - 1), "depthshade": False, "zorder": 1}
        ax.scatter(x1, x2, HEIGHTS[0], s=0.5 * (POINTS_PER_PIXEL * POINT) ** 2, **look)


def _edges(ax: Any, theme: Theme, model: LeastSquaresClassifier, box: Box) -> None:
    """The boundary, where the highest two planes meet, on the planes and on the floor."""
    labels = model.classes_.tolist()
    for k, i in enumerate(labels):
        for j in labels[k + 1 :]:
            ends = segment(model.hyperplane(i, j), box)
            x = np.linspace(ends[0], ends[1], 200)
            outputs = model.outputs(x)
            height = outputs[:, k]
            x = x[height >= outputs.max(axis=1) - 1e-9]
            height = height[height >= outputs.max(axis=1) - 1e-9]
            for z in (height, np.full(len(x), HEIGHTS[0])):
                ax.plot(*x.T, z, color=theme.ink, linewidth=1.4 * STRONG, zorder=6, label="boundary")
