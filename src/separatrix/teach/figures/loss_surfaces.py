"""Pictures of losses, of error surfaces and of regression planes (V3, V4, V5, V13, V14, V15)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from separatrix.classifiers import LeastSquaresClassifier
from separatrix.core.base.arrays import Array
from separatrix.core.links import LINKS, sigmoid
from separatrix.core.losses import LOSSES
from separatrix.core.solvers.gradient_descent import GradientDescent
from separatrix.output.plots.display import DASHED, DOTTED, POINTS_PER_PIXEL, REFERENCE, STRONG, THIN, marker
from separatrix.output.theme import POINT, Theme
from separatrix.teach.error_surface import Surface, error_surface, objective, walk
from separatrix.teach.figures.boundaries import three_classes
from separatrix.teach.figures.canvas import (
    MATHEMATICS_TEXT,
    WIDE,
    Box,
    Ink,
    arrow,
    box_of,
    canvas,
    right_angle,
    segment,
    shades,
    show_plane,
    write,
)
from separatrix.teach.presets import point_set

# --- Losses, and the logistic function (V3, V13)

# Each loss with its pattern, and where its name stands: the margin, and the offset from the curve in points.
CURVES: dict[str, tuple[Any, float, tuple[float, float]]] = {
    "zero-one": ("-", -2.25, (0.0, -8.0)),
    "squared": (DOTTED, 2.55, (-22.0, 2.0)),
    "perceptron": (DASHED, -1.35, (-30.0, -9.0)),
    "logistic": ((0, (6.0, 1.5, 1.0, 1.5)), 1.9, (8.0, 9.0)),
    "hinge": ((0, (3.5, 1.2)), -1.6, (-22.0, 4.0)),
}


def margin_losses(*, theme: str | None = None) -> Figure:
    """V3: the 0–1, squared, perceptron, logistic and hinge losses as functions of the margin m = tz.

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
    >>> drawn = sx.plots.figures.margin_losses(theme="light")
    >>> sorted(line.get_label() for line in drawn.axes[0].lines if line.get_label() in sx.losses.LOSSES)
    ['hinge', 'logistic', 'perceptron', 'squared', 'zero-one']
    """
    m = np.linspace(-2.5, 3.0, 1101)
    with canvas(5.4, 3.9, theme) as (figure, look):
        ax = figure.subplots()
        ax.axvspan(-2.5, 0.0, color=look.surface, zorder=0)
        ax.axvline(0.0, color=look.muted, linewidth=THIN, label="m = 0")
        for name, (pattern, at, offset) in CURVES.items():
            value = LOSSES[name].value(np.ones_like(m), m)
            drawn = np.where(np.abs(m) < 1e-9, np.nan, value) if name == "zero-one" else value
            ax.plot(m, drawn, color=look.ink, linestyle=pattern, linewidth=1.15 * STRONG, label=name)
            there = float(LOSSES[name].value(np.ones(1), np.array([at]))[0])
            write(ax, look, (at, min(there, 3.35)), "0–1" if name == "zero-one" else name, offset=offset)
        ax.set_xlim(-2.5, 3.0)
        ax.set_ylim(-0.12, 3.6)
        write(ax, look, (-0.06, 3.45), "wrong", ha="right", color=look.muted)
        write(ax, look, (0.06, 3.45), "right", ha="left", color=look.muted)
        ax.set_xlabel("margin $m = tz$")
        ax.set_ylabel("loss of the row")
    return figure


def sigmoid_and_heads(*, theme: str | None = None) -> Figure:
    """V13: σ with its derivative, and the three heads sign(s), s and σ(s) of one signal.

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
    >>> [ax.get_title(loc="left") for ax in sx.plots.figures.sigmoid_and_heads(theme="light").axes]
    ['σ and its slope σ′ = σ(1 − σ)', 'three heads of one signal']
    """
    s = np.linspace(-6.0, 6.0, 601)
    p = sigmoid(s)
    with canvas(WIDE, 3.2, theme) as (figure, look):
        left, right = figure.subplots(1, 2)
        left.plot(s, p, color=look.ink, linewidth=1.2 * STRONG, label="sigmoid")
        left.plot(s, p * (1 - p), color=look.ink, linestyle=DASHED, label="slope")
        left.plot([-2, 2], [0.0, 1.0], color=look.muted, linewidth=THIN, linestyle=REFERENCE, label="tangent")
        write(left, look, (2.7, float(sigmoid(np.array([2.7]))[0])), r"$\sigma(s)$", offset=(4, -11), fontsize=12)
        write(left, look, (1.6, 0.14), "σ′($s$)", offset=(17, 5), fontsize=11)
        write(left, look, (1.6, 0.9), "slope ¼ at 0", offset=(-3, 4), ha="right", color=look.muted)
        left.set_title("σ and its slope σ′ = σ(1 − σ)")
        left.set_ylim(-0.05, 1.08)
        heads: dict[str, tuple[Any, str, tuple[float, float], tuple[float, float]]] = {
            "sign": (DASHED, "sign$(s)$ decides", (-3.9, -1.0), (0, -8)),
            "identity": (DOTTED, "$s$ regresses", (-1.75, -1.75), (40, -1)),
            "logit": ("-", r"$\sigma(s)$ is a probability", (-3.9, 0.0), (0, 10)),
        }
        for name, (pattern, text, place, offset) in heads.items():
            value = LINKS[name].activation(s)
            value = np.where(np.abs(s) < 1e-9, np.nan, value) if name == "sign" else value
            right.plot(s, value, color=look.ink, linestyle=pattern, linewidth=1.2 * STRONG, label=name)
            write(right, look, place, text, offset=offset)
        right.set_title("three heads of one signal")
        right.set_ylim(-2.2, 2.2)
        for ax in (left, right):
            ax.set_xlim(-6.0, 6.0)
            ax.set_xlabel("signal $s = w\\cdot x + b$")
            ax.grid(True)
    return figure


# --- Error surfaces, and descent across them (V4, V5, V14)

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
    show_plane(ax, WEIGHTS, ("$w_1$", "$w_2$"))


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
        look_of: dict[str, Any] = {"color": look.highlight, "edgecolors": look.highlight_edge, "linewidths": STRONG}
        ax.scatter([w[0]], [w[1]], s=30, label="lowest", **look_of)
        write(ax, look, w, "lowest", offset=(0, 10))
        end = found[0].place - LENGTH_OF_GRADIENT * found[0].gradient
        write(ax, look, end, r"$-\nabla E$", offset=(10, 7), fontsize=MATHEMATICS_TEXT)
        show_plane(ax, DESCENT_BOX, ("$b$", "$w$"))
        ax.set_title("contours of equal error, and the steepest way down")
    return figure


# --- Regression planes (V15)

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
