"""The perceptron's run, one of its updates, and the many lines that separate the same rows (V1, V2, V17)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from separatrix.base.arrays import Array, as_floats
from separatrix.base.errors import ParameterError
from separatrix.base.labels import encode, signed
from separatrix.base.theme import Theme
from separatrix.classifiers import MaxMarginClassifier, Perceptron
from separatrix.geometry import Hyperplane
from separatrix.plots.figures.canvas import (
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
from separatrix.plots.rows_and_regions import draw_rows
from separatrix.plots.style import POINTS_PER_PIXEL, REFERENCE, STRONG, THIN
from separatrix.proofs.separability import separability
from separatrix.textbook.steps import steps

# Frames of a run, and the size of rows in them.
FRAMES, ROWS_OF_FRAMES = 6, 1.0
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
    draw_rows(ax, theme, X, codes, _mistakes(X, codes, update.after), n_classes=2, size=ROWS_OF_FRAMES)
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


# The exact example whose cosine falls: the second row is wrong after the first update.
FALLING, FALLING_SIDES = [[3.0, 2.0], [-3.0, 4.0], [-3.0, -2.0]], [1, 1, 0]


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
    X, codes, box = np.array(FALLING), np.array(FALLING_SIDES), (-6.0, 6.0, -3.6, 7.2)
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
