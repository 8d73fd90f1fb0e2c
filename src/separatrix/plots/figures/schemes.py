"""Three classes by one versus one, one versus rest and softmax, with the ambiguous parts hatched (V8)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from separatrix.base.arrays import Array, as_floats
from separatrix.base.labels import encode
from separatrix.base.theme import Theme
from separatrix.classifiers import (
    LeastSquaresClassifier,
    LogisticRegression,
    OneVsOneClassifier,
    OneVsRestClassifier,
)
from separatrix.geometry import Hyperplane, Region, ambiguous_regions, regions
from separatrix.plots.figures.canvas import WIDE, Box, Ink, box_of, canvas, draw_line, show_plane
from separatrix.plots.rows_and_regions import draw_regions, draw_rows
from separatrix.plots.style import DASHED, THIN

# Rows in each class, the middles of three classes, the spread around them, and the mean length of tails. The tail of
# each class points away from the next class and pulls their line, so that the lines of one versus one enclose a
# triangle.
ROWS_PER_CORNER, MIDDLES = 16, np.array([[0.0, 2.0], [-1.75, -1.0], [1.75, -1.0]])
SPREAD, TAIL = 0.3, 0.5
HATCH = "////"


def three_classes() -> tuple[Array, Any]:
    """Three classes around the corners of a triangle, each with a tail.

    >>> X, y = three_classes()
    >>> X.shape, sorted(set(y.tolist()))
    ((48, 2), [1, 2, 3])
    """
    y, rng = np.repeat([1, 2, 3], ROWS_PER_CORNER), np.random.default_rng(4)
    away = MIDDLES - np.roll(MIDDLES, -1, axis=0)
    away /= np.linalg.norm(away, axis=1)[:, None]
    X = MIDDLES[y - 1] + SPREAD * rng.standard_normal((len(y), 2))
    return X + TAIL * rng.exponential(size=len(y))[:, None] * away[y - 1], y


def multiclass_schemes(X: Any = None, y: Any = None, *, theme: str | None = None) -> Figure:
    """V8: the regions of one versus one and one versus rest over least squares, and of softmax.

    The lines of the two-class models are dashed, and ambiguous regions are hatched.

    Parameters
    ----------
    X : array (n, 2), optional
        Rows; by default three classes.
    y : array (n,), optional
        The labels of three or more classes.
    theme : "light", "dark" or None
        By default the one that fits the current background of figures in matplotlib.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import separatrix as sx
    >>> [ax.get_title(loc="left").split(":")[0] for ax in sx.plots.figures.multiclass_schemes(theme="light").axes]
    ['one versus one', 'one versus rest', 'softmax']
    """
    X, y = three_classes() if X is None else (as_floats(X), np.asarray(y))
    box = box_of(X)
    area = (box[1] - box[0]) * (box[3] - box[2])
    with canvas(WIDE, 3.3, theme) as (figure, look):
        one, rest, soft = figure.subplots(1, 3, sharey=True)
        for ax, name, kind in (
            (one, "one versus one", OneVsOneClassifier),
            (rest, "one versus rest", OneVsRestClassifier),
        ):
            model = kind(LeastSquaresClassifier()).fit(X, y)
            _panel(ax, look, model, X, y, box)
            unclear = ambiguous_regions(model, box)
            for region in unclear:
                hatch: dict[str, Any] = {"edgecolor": look.ink, "hatch": HATCH, "facecolor": "none", "linewidth": 0.0}
                ax.add_patch(Polygon(region.vertices, label="ambiguous", zorder=2, **hatch))
            share = 100 * sum(region.area for region in unclear) / area
            for line in model.boundaries():
                plane = Hyperplane(line[1:], float(line[0]))
                draw_line(ax, plane, box, Ink(look.ink, THIN, DASHED), "model")
            ax.set_title(f"{name}:\n{share:.1f} % is ambiguous")
        _panel(soft, look, LogisticRegression().fit(X, y), X, y, box)
        soft.set_title("softmax:\nnothing is ambiguous")
        for ax in (one, rest, soft):
            ax.label_outer()
    return figure


def _panel(ax: Axes, theme: Theme, model: Any, X: Array, y: Any, box: Box) -> None:
    labels, codes = encode(y)
    polygons = [region for region in regions(model, box) if isinstance(region, Region)]
    draw_regions(ax, theme, polygons, labels.tolist(), box)
    draw_rows(ax, theme, X, codes, model.predict(X) != y, n_classes=len(labels), size=0.85)
    show_plane(ax, box)
