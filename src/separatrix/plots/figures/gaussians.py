"""Gaussian classes with their ellipses and boundary, linear and quadratic, beside a discriminative line (V11)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from separatrix.base.arrays import Array, as_floats
from separatrix.base.labels import encode
from separatrix.base.theme import Theme
from separatrix.classifiers import LinearDiscriminantAnalysis, LogisticRegression, QuadraticDiscriminantAnalysis
from separatrix.geometry import boundary_curve
from separatrix.plots.figures.canvas import WIDE, Box, Ink, box_of, canvas, draw_line, name_line, show_plane
from separatrix.plots.rows_and_regions import draw_rows
from separatrix.plots.style import DASHED, STRONG, THIN

# Rows in each class, the points of the grid along each side, and the radii of ellipses in standard deviations.
ROWS_PER_GAUSSIAN, DENSITY_GRID, RADII = 40, 160, (1.0, 2.0)


def two_gaussians() -> tuple[Array, Any]:
    """Rows of a wide and of a narrow class.

    >>> X, y = two_gaussians()
    >>> X.shape, sorted(set(y.tolist()))
    ((80, 2), [1, 2])
    """
    rng = np.random.default_rng(8)
    narrow = rng.standard_normal((ROWS_PER_GAUSSIAN, 2)) @ np.array([[0.75, 0.25], [0.0, 0.6]]) + [-1.6, -0.4]
    wide = rng.standard_normal((ROWS_PER_GAUSSIAN, 2)) @ np.array([[1.5, -0.6], [0.0, 1.2]]) + [1.7, 0.9]
    return np.vstack([narrow, wide]), np.repeat([1, 2], ROWS_PER_GAUSSIAN)


def gaussian_classes(X: Any = None, y: Any = None, *, theme: str | None = None) -> Figure:
    """V11: Gaussians with one covariance and with one per class, their boundaries, and logistic regression's line.

    Parameters
    ----------
    X : array (n, 2), optional
        Rows; by default two classes of different widths.
    y : array (n,), optional
        The labels of two classes.
    theme : "light", "dark" or None
        By default the one that fits the current background of figures in matplotlib.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import separatrix as sx
    >>> [ax.get_title(loc="left") for ax in sx.plots.figures.gaussian_classes(theme="light").axes]
    ['one covariance: a line', 'one covariance per class: a curve']
    """
    X, y = two_gaussians() if X is None else (as_floats(X), np.asarray(y))
    box = box_of(X)
    line = LogisticRegression().fit(X, y).hyperplane()
    titles: dict[str, Any] = {
        "one covariance: a line": LinearDiscriminantAnalysis(),
        "one covariance per class: a curve": QuadraticDiscriminantAnalysis(),
    }
    with canvas(WIDE, 3.6, theme) as (figure, look):
        for ax, (title, model) in zip(figure.subplots(1, 2, sharey=True), titles.items(), strict=True):
            model.fit(X, y)
            _ellipses(ax, look, model, box)
            codes = encode(y)[1]
            draw_rows(ax, look, X, codes, model.predict(X) != y, n_classes=2, size=0.8)
            drawn = draw_line(ax, line, box, Ink(look.ink, STRONG, DASHED), "logistic")
            name_line(ax, look, drawn, "logistic regression", 0.2)
            for curve in boundary_curve(model, box):
                ax.plot(*curve.T, color=look.ink, linewidth=1.4 * STRONG, label="boundary", zorder=2.9)
            show_plane(ax, box)
            ax.set_title(title)
            ax.label_outer()
    return figure


def _ellipses(ax: Axes, theme: Theme, model: Any, box: Box) -> None:
    """Contours of each class's density, at the given numbers of standard deviations from its mean."""
    x, y = np.linspace(box[0], box[1], DENSITY_GRID), np.linspace(box[2], box[3], DENSITY_GRID)
    density = model.log_density(np.column_stack([a.ravel() for a in np.meshgrid(x, y)]))
    for k, top in enumerate(np.diag(model.log_density(model.means_))):
        levels = sorted(top - 0.5 * radius**2 for radius in RADII)
        lines: dict[str, Any] = {"colors": [theme.of_class(k)], "linewidths": [THIN, STRONG], "linestyles": "-"}
        ax.contour(x, y, density[:, k].reshape(DENSITY_GRID, DENSITY_GRID), levels=levels, **lines)
