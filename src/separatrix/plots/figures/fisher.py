"""The direction of the means against Fisher's direction, with the histograms along both (V7)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from separatrix.base.arrays import as_floats
from separatrix.base.labels import encode
from separatrix.base.theme import GROUND
from separatrix.classifiers import FisherDiscriminant
from separatrix.plots.figures.canvas import WIDE, Ink, arrow, box_of, canvas, draw_line, name_line, show_plane
from separatrix.plots.rows_and_regions import draw_rows
from separatrix.plots.style import DASHED, STRONG

# Rows in each class, and the bins of the histograms.
ROWS_PER_CLASS, BINS = 60, 24
# The length of an arrow, as a share of the smaller side of the box.
LENGTH_OF_NORMAL = 0.34
# The two directions and the patterns of their lines.
DIRECTIONS: dict[str, tuple[str, Any]] = {
    "fisher": ("Fisher's direction", "-"),
    "means": ("direction of the means", DASHED),
}


def elongated() -> tuple[Any, Any]:
    """Two long classes side by side: their means differ along a direction in which the classes overlap.

    >>> X, y = elongated()
    >>> X.shape, sorted(set(y.tolist()))
    ((120, 2), [1, 2])
    """
    rng = np.random.default_rng(5)
    long = rng.standard_normal((2 * ROWS_PER_CLASS, 2)) @ np.array([[1.9, 1.15], [0.0, 0.55]])
    y = np.repeat([1, 2], ROWS_PER_CLASS)
    return long + np.where(y[:, None] == 1, [-1.1, 0.55], [1.1, -0.55]), y


def fisher_directions(X: Any = None, y: Any = None, *, theme: str | None = None) -> Figure:
    """V7: two classes projected onto the direction of the means and onto Fisher's, with histograms and J.

    Parameters
    ----------
    X : array (n, 2), optional
        Rows; by default two elongated classes.
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
    >>> drawn = sx.plots.figures.fisher_directions(theme="light")
    >>> sorted(line.get_label() for line in drawn.axes[0].lines)
    ['fisher', 'means']
    """
    X, y = elongated() if X is None else (as_floats(X), np.asarray(y))
    classes, codes = encode(y)
    box = box_of(X, 0.08)
    with canvas(WIDE, 3.9, theme) as (figure, look):
        parts: Any = figure.subplot_mosaic([["plane", "fisher"], ["plane", "means"]], width_ratios=[1.5, 1.0])
        ax = parts["plane"]
        draw_rows(ax, look, X, codes, np.zeros(len(X), dtype=bool), n_classes=len(classes), size=0.8)
        show_plane(ax, box)
        for direction, (name, pattern) in DIRECTIONS.items():
            model = FisherDiscriminant(direction).fit(X, y)
            plane = model.hyperplane()
            line = draw_line(ax, plane, box, Ink(look.ink, 1.3 * STRONG, pattern), direction)
            name_line(ax, look, line, name, 0.83 if direction == "fisher" else 0.2)
            unit = plane.w / np.linalg.norm(plane.w)
            start = plane.project(X.mean(axis=0))
            arrow(
                ax, start, start + LENGTH_OF_NORMAL * min(box[1] - box[0], box[3] - box[2]) * unit, Ink(look.ink), "w"
            )
            _histogram(parts[direction], look, model, X, y, name, pattern)
    return figure


def _histogram(ax: Any, theme: Any, model: Any, X: Any, y: Any, name: str, pattern: Any) -> None:
    found = model.projection_histogram(X, y, bins=BINS)
    for k, counts in enumerate(found.counts):
        look: dict[str, Any] = {"facecolor": to_rgba(theme.of_class(k), 3 * GROUND), "edgecolor": theme.of_class(k)}
        ax.stairs(counts, found.edges, fill=True, linewidth=STRONG, label=f"class {k}", **look)
    ax.axvline(model.threshold_, color=theme.ink, linestyle=pattern, linewidth=1.3 * STRONG, label="threshold")
    wrong = int(np.sum(model.predict(X) != y))
    J = model.criterion(model.hyperplane().w)
    ax.set_title(f"{name}:\n$J$ = {J:.3f}, {wrong} of {len(y)} wrong")
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
