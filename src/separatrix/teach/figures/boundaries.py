"""Pictures of boundaries: distances, the perceptron's run, far rows, three classes, and basis functions.

They are the pictures V1, V2, V6, V8, V9, V10 and V17 of docs/tour.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from sklearn.pipeline import Pipeline, make_pipeline

from separatrix.classifiers import (
    LeastSquaresClassifier,
    LogisticRegression,
    MaxMarginClassifier,
    OneVsOneClassifier,
    OneVsRestClassifier,
    Perceptron,
)
from separatrix.classifiers.basis import Basis
from separatrix.core.base.arrays import Array, Integers, as_floats
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import encode, signed
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.geometry.plane_regions import ambiguous_regions, boundary_curve, regions
from separatrix.core.geometry.polygons import Region
from separatrix.core.proofs.separability import separability
from separatrix.output.plots.decision_regions import draw_regions, draw_rows
from separatrix.output.plots.display import DASHED, DOTTED, POINTS_PER_PIXEL, REFERENCE, STRONG, THIN
from separatrix.output.theme import GROUND, Theme
from separatrix.teach.figures.canvas import (
    MATHEMATICS_TEXT,
    NARROW,
    WIDE,
    Box,
    Ink,
    arrow,
    box_of,
    canvas,
    draw_line,
    name_line,
    right_angle,
    show_plane,
    write,
)
from separatrix.teach.steps import steps

# --- Distances (V10)

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


# --- The perceptron (V1, V2, V17)

# Frames of a run.
FRAMES = 6
# Starts and orders of rows, each of which leads the perceptron to another separating line.
RUNS = 8
# The diameter in points of the highlighter around the row of an update.
NOW = 13.0

# Rows on which the perceptron makes six mistakes, and the classes of the rows.
SEPARABLE = np.array(
    [
        *([-1.8, 0.1], [-3.9, 2.6], [-3.6, 0.2], [-2.1, 2.7], [-1.8, -0.5], [-1.9, -1.0], [3.7, -2.9], [1.2, -2.0]),
        *([3.3, -1.7], [0.5, 1.6], [2.0, -1.0], [0.1, -2.2], [1.7, -3.3], [-1.0, -2.4], [0.3, -2.9], [3.1, -3.5]),
        *([-0.6, 0.3], [2.1, -0.6]),
    ]
)
SIDES = np.array([1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0])
# Rows with room between the classes.
APART = np.array(
    [
        *([1.0, 3.6], [1.6, 5.2], [2.4, 4.3], [3.0, 5.8], [3.9, 4.9], [1.2, 2.3], [2.2, 6.4]),
        *([4.2, 0.8], [5.1, 1.9], [6.0, 0.6], [6.6, 2.7], [5.6, 3.1], [7.3, 1.5], [4.9, -0.3]),
    ]
)
APART_SIDES = np.repeat([1, 0], 7)


class Update(NamedTuple):
    """One update of the perceptron: the row that caused it, and the weights (b, w) before and after."""

    row: int
    before: Array
    after: Array


def updates(X: Any, y: Any, *, fit_intercept: bool = True) -> list[Update]:
    """The updates of the online perceptron from zero, in order.

    >>> [update.row for update in updates([[3, 2], [-3, 4], [-3, -2]], [1, 1, 0], fit_intercept=False)]
    [0, 1]
    """
    run = steps(Perceptron(fit_intercept=fit_intercept), X, y)
    found = []
    for step in run:
        if step.kind == "update" and step.row is not None:
            before, after = (np.array([b, *w]) for b, w in ((step.b_before, step.w_before), (step.b, step.w)))
            found.append(Update(step.row, before, after))
    return found


def perceptron_run(X: Any = None, y: Any = None, *, theme: str | None = None) -> Figure:
    """V1: frames of a perceptron's run, with the row of each update highlighted and the mistakes ringed.

    Parameters
    ----------
    X : array (n, 2), optional
        Rows that a line separates; by default an example.
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
    >>> len(sx.plots.figures.perceptron_run(theme="light").axes)
    6
    """
    X, y = (SEPARABLE, SIDES) if X is None else (as_floats(X), np.asarray(y))
    codes, box = encode(y)[1], box_of(X)
    verdict = separability(X, y)
    if not verdict:
        raise ParameterError("X", verdict.explain(), "give rows that a line separates, so that the run ends")
    run = updates(X, y)
    chosen = np.unique(np.linspace(0, len(run) - 1, FRAMES).round().astype(int)).tolist()
    with canvas(WIDE, 2.6 * -(-len(chosen) // 3), theme) as (figure, look):
        for k, number in enumerate(chosen):
            ax = figure.add_subplot(-(-len(chosen) // 3), 3, k + 1)
            _frame(ax, look, X, codes, box, run[number])
            update = run[number]
            wrong = int(np.sum(_mistakes(X, codes, update.after)))
            ax.set_title(f"{number + 1}: row {update.row + 1} added, {wrong} wrong")
    return figure


def _mistakes(X: Array, codes: Any, w: Array) -> Any:
    return signed(codes) * (X @ w[1:] + w[0]) <= 0


def _frame(ax: Axes, theme: Theme, X: Array, codes: Any, box: Box, update: Update) -> None:
    show_plane(ax, box)
    draw_rows(ax, theme, X, codes, _mistakes(X, codes, update.after), n_classes=2)
    _highlight(ax, theme, X[update.row])
    for w, ink, label in (
        (update.before, Ink(theme.muted, STRONG, REFERENCE), "before"),
        (update.after, Ink(theme.ink), "after"),
    ):
        if np.any(w[1:]):
            line = draw_line(ax, Hyperplane(w[1:], float(w[0])), box, ink, label)
            name_line(ax, theme, line, label, 0.14, above=label == "after").set_color(ink.colour)


def _highlight(ax: Axes, theme: Theme, x: Array) -> None:
    """The highlighter: the row that is meant now."""
    look: dict[str, Any] = {"color": theme.highlight, "edgecolors": theme.highlight_edge, "linewidths": STRONG}
    ax.scatter([x[0]], [x[1]], s=NOW**2, zorder=2.5, label="now", **look)


def perceptron_update(*, theme: str | None = None) -> Figure:
    """V2: one update w + ηtx as arrows, and how it turns the line.

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
    >>> drawn = sx.plots.figures.perceptron_update(theme="light")
    >>> [line.get_label() for line in drawn.axes[0].lines][:2]
    ['before', 'after']
    """
    # The exact example whose cosine falls: the second row is wrong after the first update.
    X, codes = np.array([[3.0, 2.0], [-3.0, 4.0], [-3.0, -2.0]]), np.array([1, 1, 0])
    box = (-6.0, 6.0, -3.6, 7.2)
    update = updates(X, codes, fit_intercept=False)[-1]
    before, after, added = update.before[1:], update.after[1:], update.after[1:] - update.before[1:]
    with canvas(NARROW, 4.3, theme) as (figure, look):
        ax = figure.subplots()
        show_plane(ax, box)
        draw_rows(ax, look, X, codes, np.zeros(len(X), dtype=bool), n_classes=2, size=1.3)
        _highlight(ax, look, X[update.row])
        old = draw_line(ax, Hyperplane(before, 0.0), box, Ink(look.muted, STRONG, REFERENCE), "before")
        new = draw_line(ax, Hyperplane(after, 0.0), box, Ink(look.ink, 1.4 * STRONG), "after")
        name_line(ax, look, old, "before", 0.88).set_color(look.muted)
        name_line(ax, look, new, "after", 0.9, above=False)
        arrow(ax, (0, 0), before, Ink(look.muted, STRONG), "w")
        arrow(ax, before, after, Ink(look.highlight_edge, STRONG), "added")
        arrow(ax, (0, 0), X[update.row], Ink(look.highlight_edge, THIN, REFERENCE), "row")
        arrow(ax, (0, 0), after, Ink(look.ink, STRONG), "new w")
        write(ax, look, before * 0.62, "$w$", offset=(8, -7), color=look.muted, fontsize=12)
        write(ax, look, before + 0.5 * added, r"$\eta t x$", offset=(16, 6), fontsize=12)
        write(ax, look, after, r"$w + \eta t x$", offset=(0, 8), fontsize=12)
        write(ax, look, X[update.row], "$x$, $t = +1$,\nwrong before", offset=(-14, 1), ha="right")
        right_angle(ax, look, (0, 0), after, 0.5)
    return figure


def many_separators(X: Any = None, y: Any = None, *, theme: str | None = None) -> Figure:
    """V17: separating lines that the perceptron finds from several starts and orders, and the one of maximum margin.

    Parameters
    ----------
    X : array (n, 2), optional
        Rows that a line separates; by default an example.
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
    >>> drawn = sx.plots.figures.many_separators(theme="light")
    >>> sum(line.get_label() == "perceptron" for line in drawn.axes[0].lines)
    8
    """
    X, y = (APART, APART_SIDES) if X is None else (as_floats(X), np.asarray(y))
    codes, box = encode(y)[1], box_of(X)
    widest = MaxMarginClassifier().fit(X, y).hyperplane()
    margin = widest.clearance(X, signed(codes)) * float(np.linalg.norm(widest.w))
    with canvas(NARROW, 4.3, theme) as (figure, look):
        ax = figure.subplots()
        show_plane(ax, box)
        for seed in range(RUNS):
            start = np.random.default_rng(seed).standard_normal((1, 3)) * np.abs(X).max()
            found = Perceptron(shuffle=True, random_state=seed, start=start).fit(X, y)
            draw_line(ax, found.hyperplane(), box, Ink(look.muted, THIN), "perceptron")
        draw_rows(ax, look, X, codes, np.zeros(len(X), dtype=bool), n_classes=2, size=1.2)
        line = draw_line(ax, widest, box, Ink(look.ink, 1.4 * STRONG), "maximum margin")
        for side in (-margin, margin):
            draw_line(
                ax, Hyperplane(widest.w, widest.b + side), box, Ink(look.ink, POINTS_PER_PIXEL, REFERENCE), "margin"
            )
        name_line(ax, look, line, "maximum margin", 0.82)
        ax.set_title(f"{RUNS} lines of the perceptron, and the widest margin")
    return figure


# --- Far rows (V6)

# The models in the order of their patterns: a full, a dashed and a dotted line.
PATTERNS: dict[str, Any] = {"least squares": "-", "logistic": DASHED, "perceptron": DOTTED}
# The exact examples: negatives 1–4 and positives 5–8, then a positive at 30; rows on both sides of a diagonal, then two
# negatives far away.
ON_A_LINE, SIDES_OF_LINE = np.arange(1.0, 9.0)[:, None], np.repeat([0, 1], 4)
STEPS = np.arange(5.0)
IN_PLANE = np.vstack([np.column_stack([STEPS, STEPS + 1]), np.column_stack([STEPS + 1, STEPS])])
SIDES_IN_PLANE = np.repeat([1, 0], 5)
FAR_IN_PLANE = np.array([[20.0, -10.0], [21.0, -10.0]])
PLANE_BOX: Box = (-1.5, 11.5, -3.0, 6.5)
# The names of models stand here, below each other: on the line and in the plane.
NAMES_ON_LINE, NAMES_IN_PLANE = (10.5, 0.34, -0.22), (7.2, 6.2, -0.8)


def models() -> dict[str, Any]:
    """The three models, not fitted.

    >>> list(models())
    ['least squares', 'logistic', 'perceptron']
    """
    return {
        "least squares": LeastSquaresClassifier(),
        "logistic": LogisticRegression(),
        "perceptron": Perceptron(),
    }


def outliers(*, theme: str | None = None) -> Figure:
    """V6: the boundaries of three models before and after far rows are added, in one and two dimensions.

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
    >>> drawn = sx.plots.figures.outliers(theme="light")
    >>> drawn_models = {"least squares", "logistic", "perceptron"}
    >>> sorted({line.get_label() for line in drawn.axes[0].lines if line.get_label() in drawn_models})
    ['least squares', 'logistic', 'perceptron']
    """
    after_line = np.vstack([ON_A_LINE, [[30.0]]]), np.append(SIDES_OF_LINE, 1)
    after_plane = np.vstack([IN_PLANE, FAR_IN_PLANE]), np.append(SIDES_IN_PLANE, [0, 0])
    with canvas(WIDE, 5.6, theme) as (figure, look):
        top, bottom = figure.subplots(2, 2, gridspec_kw={"height_ratios": [1.0, 1.35]})
        _line_panel(top[0], look, ON_A_LINE, SIDES_OF_LINE)
        _line_panel(top[1], look, *after_line)
        _plane_panel(bottom[0], look, IN_PLANE, SIDES_IN_PLANE)
        _plane_panel(bottom[1], look, *after_plane)
    return figure


def _line_panel(ax: Axes, theme: Theme, X: Array, y: Integers) -> None:
    fitted = {name: model.fit(X, y) for name, model in models().items()}
    squares = fitted["least squares"]
    wrong = squares.predict(X) != y
    draw_rows(ax, theme, np.column_stack([X[:, 0], y]), y, wrong, n_classes=2, size=1.2)
    ends = np.array([[-0.5], [31.5]])
    ax.plot(ends[:, 0], squares.outputs(ends)[:, 1], color=theme.muted, linewidth=THIN, label="output")
    ax.axhline(0.5, color=theme.rule, linewidth=THIN, zorder=1, label="output")
    for place, (name, model) in enumerate(fitted.items()):
        at = -model.hyperplane().b / model.hyperplane().w[0]
        ink = {"color": theme.ink, "linestyle": PATTERNS[name], "linewidth": 1.3 * STRONG}
        ax.plot([at, at], [-0.3, 1.3], label=name, zorder=2.8, **ink)
        _name(ax, theme, (at, NAMES_ON_LINE[1] + place * NAMES_ON_LINE[2]), f"{name} {at:.2f}", NAMES_ON_LINE, place)
    ax.set_xlim(-0.5, 31.5)
    ax.set_ylim(-0.35, 1.4)
    ax.set_yticks([0.0, 0.5, 1.0], ["0", "½", "1"])
    ax.set_xlabel("$x$")
    ax.set_title(_title(X, wrong, len(ON_A_LINE), "a positive row at 30"))


def _plane_panel(ax: Axes, theme: Theme, X: Array, y: Integers) -> None:
    fitted = {name: model.fit(X, y) for name, model in models().items()}
    wrong = fitted["least squares"].predict(X) != y
    draw_rows(ax, theme, X, y, wrong, n_classes=2, size=1.0)
    for place, (name, model) in enumerate(fitted.items()):
        line = draw_line(ax, model.hyperplane(), PLANE_BOX, Ink(theme.ink, 1.2 * STRONG, PATTERNS[name]), name)
        if name == "least squares" and len(X) > len(IN_PLANE):
            name_line(ax, theme, line, name, 0.82, above=False)
        else:
            number = place - (len(X) > len(IN_PLANE))
            _name(ax, theme, max(np.asarray(line.get_xydata()).tolist()), name, NAMES_IN_PLANE, number)
    show_plane(ax, PLANE_BOX)
    if len(X) > len(IN_PLANE):
        look = {"arrowstyle": "-|>", "color": theme.of_class(0), "linewidth": STRONG}
        ax.annotate("", (10.9, -2.6), (8.4, -0.9), arrowprops=look, label="to the far rows")
        write(ax, theme, (8.3, -1.4), "to (20, −10) and (21, −10)", ha="right", color=theme.body)
    ax.set_title(_title(X, wrong, len(IN_PLANE), "two negative rows far away"))


def _name(ax: Axes, theme: Theme, end: Any, name: str, column: tuple[float, float, float], number: int) -> None:
    """Write a model's name into a column of names, with a thin line that leads to the end of the model's boundary."""
    x, top, step = column
    write(ax, theme, (x, top + number * step), name, offset=(3, 0), ha="left")
    ax.plot([end[0], x], [end[1], top + number * step], color=theme.muted, linewidth=0.5, zorder=1, label="leader")


def _title(X: Array, wrong: Any, n_before: int, what: str) -> str:
    count = int(np.sum(wrong))
    said = "none wrong" if count == 0 else f"least squares has {count} wrong"
    return f"before: {said}" if len(X) == n_before else f"with {what}:\n{said}"


# --- Three classes (V8)

# Rows in each class, the middles of three classes, the spread around them, and the mean length of tails. The tail of
# each class points away from the next class and pulls their line, so that the lines of one versus one enclose a
# triangle.
ROWS_PER_CORNER, MIDDLES = 16, np.array([[0.0, 2.0], [-1.75, -1.0], [1.75, -1.0]])
SPREAD, TAIL = 0.3, 0.5


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
                hatch: dict[str, Any] = {"edgecolor": look.ink, "hatch": "////", "facecolor": "none", "linewidth": 0.0}
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


# --- Basis functions (V9)

# The four rows of XOR.
XOR, XOR_SIDES = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), np.array([0, 0, 1, 1])
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
        _row(panels[0], look, xor, XOR, XOR_SIDES, (-1.7, 1.7, -1.7, 1.7), ("$x_1$", "$x_1x_2$"))
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
