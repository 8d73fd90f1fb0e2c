"""Far rows move the boundary of least squares, but not those of logistic regression and the perceptron (V6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from separatrix.base.arrays import Array, Integers
from separatrix.base.theme import Theme
from separatrix.classifiers import LeastSquaresClassifier, LogisticRegression, Perceptron
from separatrix.plots.figures.canvas import WIDE, Box, Ink, canvas, draw_line, name_line, show_plane, write
from separatrix.plots.rows_and_regions import draw_rows
from separatrix.plots.style import DASHED, DOTTED, STRONG, THIN

# The models in the order of their patterns: a full, a dashed and a dotted line.
PATTERNS: dict[str, Any] = {"least squares": "-", "logistic": DASHED, "perceptron": DOTTED}
# The exact examples: negatives 1–4 and positives 5–8, then a positive at 30; rows on both sides of a diagonal, then two
# negatives far away.
ON_A_LINE, SIDES_OF_LINE = np.arange(1.0, 9.0)[:, None], np.repeat([0, 1], 4)
FAR_ON_LINE = 30.0
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
    after_line = np.vstack([ON_A_LINE, [[FAR_ON_LINE]]]), np.append(SIDES_OF_LINE, 1)
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
