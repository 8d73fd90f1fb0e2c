"""What all plots share: the base class of displays, the theme for matplotlib, legends below the axes, and panels.

A display holds numbers, and ``plot`` draws them. As in scikit-learn, ``plot`` sets ``ax_`` and ``figure_``. A display
is made by ``from_estimator`` from a fitted model and rows, or directly from its numbers, which are computed without
matplotlib.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self
from unicodedata import east_asian_width

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from separatrix.core.base.arrays import Array, Integers, check_choice
from separatrix.core.rows.labelled_table import InMemory
from separatrix.output import theme as looks
from separatrix.output.theme import DARK, LIGHT, THEMES, Theme

# --- The theme for matplotlib

# Names with more characters than this are shortened in the middle.
LONGEST_LABEL = 26
# Points (1/72 inch) per pixel of the theme: a figure of 4.6 inches is about 480 pixels wide on a page.
POINTS_PER_PIXEL = 0.69
# The widths of the lines of the model and of reference lines, in points.
STRONG, THIN = POINTS_PER_PIXEL * looks.BOUNDARY, POINTS_PER_PIXEL * looks.BOUNDARY / 2
# Patterns of a second and of a third line, and of a reference line, in multiples of the line's width.
DASHED = (0, tuple(length / looks.BOUNDARY for length in looks.DASHED))
DOTTED = (0, tuple(length / looks.BOUNDARY for length in looks.DOTTED))
REFERENCE = (0, (3.0, 3.0))
# Sizes of text in points: in the plot, and of secondary text.
TEXT, SMALL_TEXT = POINTS_PER_PIXEL * looks.TYPE[1], POINTS_PER_PIXEL * looks.TYPE[0]


def settings(theme: Theme) -> dict[Any, Any]:
    """The matplotlib settings (rcParams) of a theme."""
    return {
        "figure.facecolor": theme.paper,
        "savefig.facecolor": theme.paper,
        "axes.facecolor": theme.paper,
        "axes.edgecolor": theme.muted,
        "axes.labelcolor": theme.body,
        "axes.titlecolor": theme.ink,
        "text.color": theme.ink,
        "xtick.color": theme.rule,
        "ytick.color": theme.rule,
        "xtick.labelcolor": theme.muted,
        "ytick.labelcolor": theme.muted,
        "grid.color": theme.rule,
        "axes.prop_cycle": cycler(color=theme.classes),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": POINTS_PER_PIXEL * looks.GRID_LINE,
        # Ticks are the values themselves: no common summand or factor, except for very small and very large numbers.
        "axes.formatter.useoffset": False,
        "axes.formatter.limits": (-4, 7),
        "axes.axisbelow": True,
        "axes.titlesize": TEXT,
        "axes.titlelocation": "left",
        "axes.labelsize": TEXT,
        "xtick.labelsize": SMALL_TEXT,
        "ytick.labelsize": SMALL_TEXT,
        "xtick.major.size": 3.0,
        "ytick.major.size": 3.0,
        "legend.fontsize": SMALL_TEXT,
        # The legend has a background but no frame, so that curves behind it do not cross the text.
        "legend.facecolor": theme.paper,
        "legend.edgecolor": "none",
        "legend.framealpha": 0.85,
        "legend.fancybox": False,
        "lines.linewidth": STRONG,
        "font.size": TEXT,
        "grid.linewidth": POINTS_PER_PIXEL * looks.GRID_LINE,
        "font.family": ["sans-serif"],
    }


def current() -> Theme:
    """The theme that fits the current background of figures in matplotlib.

    >>> current().name
    'light'
    """
    paper = mpl.rcParams["figure.facecolor"]
    red, green, blue = to_rgb(LIGHT.paper if paper == "none" else paper)
    return DARK if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5 else LIGHT


@contextmanager
def style(theme: str | None = None) -> Iterator[Theme]:
    """A context in which plots have the colours and sizes of a theme.

    Parameters
    ----------
    theme : "light", "dark" or None
        By default the one that fits the current background of figures in matplotlib.

    Yields
    ------
    Theme

    Examples
    --------
    >>> from separatrix.output.plots.display import current, style
    >>> with style("dark") as theme:
    ...     current().name, theme.of_class(0)
    ('dark', '#6cb6ff')
    """
    if theme is not None:
        check_choice("theme", theme, THEMES)
    chosen = current() if theme is None else THEMES[theme]
    with mpl.rc_context(settings(chosen)):
        yield chosen


def marker(k: int) -> str:
    """The marker of class k.

    >>> marker(0), marker(6)
    ('o', 's')
    """
    return looks.shape(k).marker


def plain(text: Any, longest: int = LONGEST_LABEL) -> str:
    r"""A name from the data as text for a plot: "$" does not start mathematics, and the text is a single short line.

    >>> print(plain("price in $"), plain("a" * 30, 9))
    price in \$ aaaa…aaaa
    """
    return shortened(text, longest).replace("\\$", "$").replace("$", r"\$")


def shortened(text: Any, longest: int = LONGEST_LABEL) -> str:
    """A name from the data on a single short line, for text that matplotlib does not read.

    >>> shortened("a very long name", 9)
    'a ve…name'
    """
    shown = "".join(c if c.isprintable() else " " for c in str(text))
    if len(shown) <= longest:
        return shown
    half = (longest - 1) // 2
    return f"{shown[: longest - 1 - half]}…{shown[len(shown) - half :]}"


# --- Legends

# In points: the distance of a legend from the axes (with tick labels and a label in between), and the margin on either
# side.
BELOW_AXES, SIDE_MARGIN = 37.0, 6.0
# In multiples of the text's size: the width of a letter and of a wide letter, of a marker with the space after it, the
# distance between columns, and the height of a line.
LETTER, WIDE_LETTER, MARK, BETWEEN, LINE = 0.6, 1.0, 2.0, 1.2, 1.35


def legend_columns(labels: Sequence[str], width: float) -> int:
    """How many columns of a legend fit into ``width`` inches. matplotlib fills the columns one after the other.

    >>> legend_columns(["a", "b", "c", "d"], 4.0), legend_columns(["a very long name indeed"] * 4, 3.0)
    (4, 1)
    """
    room = (72.0 * width - 2 * SIDE_MARGIN) / SMALL_TEXT
    lengths = np.array([MARK + _length(label) for label in labels])
    for n in range(len(labels), 1, -1):
        if sum(float(part.max()) + BETWEEN for part in np.array_split(lengths, n)) - BETWEEN <= room:
            return n
    return 1


def _length(text: str) -> float:
    """The approximate width of a text, in multiples of its size, without loading a font."""
    return sum(WIDE_LETTER if east_asian_width(c) in "WF" else LETTER for c in text.replace(r"\$", "$"))


# --- Displays

# Cells along each side of the unit square: a curve keeps one vertex in each cell, since more would not be visible.
CURVE_CELLS = 600
# Width in inches of a figure as wide as a page.
BROAD = 9.4
# The space between two rows of panels, for tick labels and a title, as a fraction of the height of a panel.
PANEL_GAP = 0.28
# Ticks on an axis of ratios are these multiples of powers of ten.
TICK_MULTIPLES = (1, 2, 5)

PLOTS = InMemory(
    "from_estimator", "a plot draws or sorts single rows", "draw a sample of the rows, or use the figures of evaluate"
)


class Display(ABC):
    """Numbers that can be drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes on which the display was drawn.
    figure_ : matplotlib Figure
        The figure of ``ax_``.
    """

    ax_: Axes
    figure_: Figure

    def __init_subclass__(cls) -> None:
        # A dataclass does not replace a method of the class itself, so a display prints one line in a notebook.
        cls.__repr__ = Display.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: plot(ax) draws it again>"

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return 4.6, 3.7

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; by default on a new figure of pyplot.

        Returns
        -------
        self
        """
        with style() as theme:
            if ax is None:
                from matplotlib import pyplot

                ax = pyplot.subplots(figsize=self.size, layout="constrained")[1]
            self.ax_, self.figure_ = ax, ax.figure
            self._draw(ax, theme)
        return self

    @property
    @abstractmethod
    def alternative(self) -> str:
        """A description of the plot in words (its text alternative)."""

    @abstractmethod
    def _draw(self, ax: Axes, theme: Theme) -> None:
        """Draw on ``ax`` in the colours of ``theme``."""

    @staticmethod
    def _legend(ax: Axes, title: str | None = None) -> None:
        """Add a legend of all labelled artists below the axes, where it hides no data.

        It is wrapped to the width of the figure, since matplotlib does not draw a marker outside the canvas.

        >>> from matplotlib.figure import Figure
        >>> ax = Figure(figsize=(4.0, 3.0)).subplots()
        >>> for name in ("one", "two", "three"):
        ...     _ = ax.plot([0], [0], label=name)
        >>> Display._legend(ax)
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['one', 'two', 'three']
        """
        handles, labels = ax.get_legend_handles_labels()
        if not handles:
            return
        figure = ax.figure
        alone = list(figure.axes) == [ax]
        # If the axes are alone in the figure, the legend may use the whole width of the figure.
        across, box = (figure.transSubfigure, figure.bbox) if alone else (ax.transAxes, ax.get_window_extent())
        down = ax.transAxes + ScaledTranslation(0, -BELOW_AXES / 72, figure.dpi_scale_trans)
        ax.legend(
            handles,
            labels,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            bbox_transform=blended_transform_factory(across, down),
            ncols=legend_columns(labels, box.width / figure.dpi),
            fontsize=SMALL_TEXT,
            title=title,
            title_fontsize=SMALL_TEXT - 0.5,
            borderaxespad=0.0,
            borderpad=0.0,
            handlelength=MARK - 0.5,
            handletextpad=0.5,
            columnspacing=BETWEEN,
            labelspacing=LINE - 1.0,
        )

    @staticmethod
    def _legend_height(labels: Sequence[str], width: float, title: bool = False) -> float:
        """The height of a legend in inches, with the space above it.

        >>> Display._legend_height(["a", "b"], 4.0) < Display._legend_height(["a long name, longer still"] * 2, 4.0)
        True
        """
        lines = -(-len(labels) // legend_columns(labels, width)) + title if labels else 0
        return lines * LINE * SMALL_TEXT / 72.0 + (0.08 if lines else 0.0)


def last_step(model: Any) -> Any:
    """The last step of a pipeline, or the classifier itself.

    >>> last_step("a model")
    'a model'
    """
    return model.steps[-1][1] if hasattr(model, "steps") else model


def thinned(x: Array, y: Array) -> Integers:
    """Which vertices of a curve in the unit square to draw: the first in each cell, and the last of all.

    >>> thinned(np.linspace(0.0, 1e-5, 1000), np.zeros(1000)).tolist()
    [0, 999]
    """
    cell = np.floor(CURVE_CELLS * np.column_stack([x, y])).astype(np.int64)
    changed = np.any(np.diff(cell, axis=0) != 0, axis=1)
    return np.unique(np.concatenate([[0], 1 + np.flatnonzero(changed), [len(x) - 1]]))


def share_axes(ax: Axes) -> None:
    """Set both axes to the unit square, with a small margin."""
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    ax.grid(True)


def panel_heights(lines: int) -> float:
    """The height of a given number of rows of panels, as a multiple of the height of one panel.

    >>> panel_heights(1)
    1.0
    """
    return lines + PANEL_GAP * (lines - 1)


def panels(ax: Axes, count: int, in_line: int) -> list[Axes]:
    """Small axes of the unit square inside ``ax``. ``ax`` keeps only its labels; outer panels have tick labels.

    >>> small = panels(Figure().subplots(), 5, 3)
    >>> len(small), [bool(panel.get_yticklabels()[0].get_text()) for panel in small]
    (5, [True, False, False, True, False])
    """
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    ax.xaxis.labelpad, ax.yaxis.labelpad = 14.0, 20.0
    across, down, small = min(count, in_line), -(-count // in_line), []
    height = 1 / panel_heights(down)
    for k in range(count):
        i, j = divmod(k, across)
        place = (j / across, 1 - height * (1 + i * (1 + PANEL_GAP)), 0.92 / across, height)
        panel = ax.inset_axes(place)
        panel.set_xticks([0.0, 0.5, 1.0], ["0", "", "1"] if k + across >= count else [""] * 3)
        panel.set_yticks([0.0, 0.5, 1.0], ["0", "", "1"] if j == 0 else [""] * 3)
        panel.tick_params(labelsize=SMALL_TEXT, length=2.0)
        small.append(panel)
    return small
