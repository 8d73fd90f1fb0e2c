"""Pictures of Gaussians: densities and their KL divergence, classes, Fisher's direction (V7, V11, V12, V16)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from separatrix.classifiers import (
    FisherDiscriminant,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from separatrix.core.base.arrays import Array, as_floats
from separatrix.core.base.labels import encode
from separatrix.core.geometry.plane_regions import boundary_curve
from separatrix.output.plots.decision_regions import draw_rows
from separatrix.output.plots.display import DASHED, DOTTED, REFERENCE, STRONG, THIN
from separatrix.output.theme import BAND, GROUND, Theme
from separatrix.statistics.intervals import two_sided
from separatrix.teach.densities import Mixture, Normal
from separatrix.teach.figures.canvas import (
    MATHEMATICS_TEXT,
    WIDE,
    Box,
    Ink,
    arrow,
    box_of,
    canvas,
    draw_line,
    name_line,
    show_plane,
    write,
)
from separatrix.teach.information import best_normal

# --- Densities (V12, V16)

# The two-peaked density, and normals of several widths.
TWO_PEAKS = Mixture((0.6, 0.4), (Normal(-2.2, 0.7), Normal(2.2, 0.7)))
NORMALS: dict[Normal, Any] = {Normal(0.0, 1.0): "-", Normal(0.0, 0.25): DASHED, Normal(1.0, 4.0): DOTTED}


def kl_both_ways(*, theme: str | None = None) -> Figure:
    """V12: a two-peaked density p with the normal q that minimises KL(p‖q) and the one that minimises KL(q‖p).

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
    >>> [line.get_label() for line in sx.plots.figures.kl_both_ways(theme="light").axes[0].lines]
    ['p', 'p||q', 'q||p']
    """
    x = np.linspace(-7.0, 7.0, 801)
    cover, seek = best_normal(TWO_PEAKS, "p||q"), best_normal(TWO_PEAKS, "q||p")
    with canvas(5.8, 3.6, theme) as (figure, look):
        ax = figure.subplots()
        ax.fill_between(x, TWO_PEAKS.pdf(x), color=look.ink, alpha=BAND, linewidth=0)
        ax.plot(x, TWO_PEAKS.pdf(x), color=look.ink, linewidth=THIN, label="p")
        ax.plot(x, cover.q.pdf(x), color=look.ink, linewidth=1.3 * STRONG, linestyle=DASHED, label="p||q")
        ax.plot(x, seek.q.pdf(x), color=look.ink, linewidth=1.3 * STRONG, label="q||p")
        at = -3.6
        write(ax, look, (2.2, float(TWO_PEAKS.pdf(2.2))), "$p$, two peaks", offset=(40, 4))
        write(ax, look, (0.7, float(cover.q.pdf(0.7))), "covers both:", offset=(-4, 27))
        write(ax, look, (0.7, float(cover.q.pdf(0.7))), r"smallest KL$(p\,\|\,q)$", offset=(-4, 15))
        write(ax, look, (at, float(seek.q.pdf(at))), "seeks one peak:", offset=(-10, 42), ha="right")
        write(ax, look, (at, float(seek.q.pdf(at))), r"smallest KL$(q\,\|\,p)$", offset=(-10, 30), ha="right")
        ax.set_xlim(-7.0, 7.0)
        ax.set_ylim(0.0, None)
        ax.set_xlabel("$x$", fontsize=MATHEMATICS_TEXT)
        ax.set_ylabel("density")
    return figure


def normal_density(*, theme: str | None = None) -> Figure:
    """V16: the normal density for three pairs of mean and variance, with the shares within one and two σ.

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
    >>> drawn = sx.plots.figures.normal_density(theme="light")
    >>> sum(line.get_label() == "density" for line in drawn.axes[0].lines)
    3
    """
    x = np.linspace(-5.0, 6.0, 801)
    standard = next(iter(NORMALS))
    names = {0: ((-0.95, "μ = 0, σ² = 1"), (-12, 12, "right")), 1: ((0.35, "σ² = ¼"), (9, 12, "left"))}
    names[2] = ((3.3, "μ = 1, σ² = 4"), (8, 10, "left"))
    with canvas(5.8, 3.6, theme) as (figure, look):
        ax = figure.subplots()
        for width in (2.0, 1.0):
            inside = np.abs(x - standard.mu) <= width * standard.sigma
            ax.fill_between(x[inside], standard.pdf(x[inside]), color=look.ink, alpha=BAND, linewidth=0)
        for k, (normal, pattern) in enumerate(NORMALS.items()):
            ax.plot(x, normal.pdf(x), color=look.ink, linewidth=1.3 * STRONG, linestyle=pattern, label="density")
            (at, text), (right, up, side) = names[k]
            write(ax, look, (at, float(normal.pdf(at))), text, offset=(right, up), ha=side)
        one, two = (1.0 - float(two_sided(np.array([width]))[0]) for width in (1.0, 2.0))
        write(ax, look, (0.0, 0.06), f"{100 * one:.0f} % within σ", offset=(0, 0))
        write(ax, look, (-1.5, 0.02), f"{100 * two:.0f} % within 2σ", offset=(-38, 24), ha="right", color=look.muted)
        ax.plot([-3.1, -1.6], [0.115, 0.04], color=look.muted, linewidth=THIN, linestyle=REFERENCE, label="leader")
        ax.set_xlim(-5.0, 6.0)
        ax.set_ylim(0.0, 0.86)
        ax.set_xlabel("$x$", fontsize=MATHEMATICS_TEXT)
        ax.set_ylabel("density")
    return figure


# --- Gaussian classes (V11)

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


# --- Directions (V7)

# Rows in each class, and the bins of the histograms.
ROWS_PER_CLASS, BINS = 60, 24
# The length of an arrow, as a share of the smaller side of the box.
LENGTH_OF_NORMAL = 0.34
# The two directions and the patterns of their lines.
DIRECTIONS: dict[Literal["fisher", "means"], tuple[str, Any]] = {
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
