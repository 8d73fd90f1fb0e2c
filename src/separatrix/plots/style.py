"""The theme of ``base/theme.py`` for matplotlib: its settings, the marker of each class, and names as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_rgb
from matplotlib.rcsetup import cycler

from separatrix.base import theme as looks
from separatrix.base.errors import ParameterError
from separatrix.base.theme import DARK, LIGHT, THEMES, Theme

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
    >>> from separatrix.plots import style
    >>> from separatrix.plots.style import current
    >>> with style("dark") as theme:
    ...     current().name, theme.of_class(0)
    ('dark', '#6cb6ff')
    """
    if theme is not None and theme not in THEMES:
        raise ParameterError("theme", f"got {theme!r}", f"choose one of {', '.join(map(repr, THEMES))}")
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
