"""The style of all plots: colours that colour-blind readers can distinguish, on light or dark background, and sizes.

The colours of classes are those of Okabe and Ito (Color Universal Design, 2008), ordered so that the first few differ
most; on a dark background they are lightened. Classes differ by the shape of their points as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_rgb
from matplotlib.rcsetup import cycler

from separatrix.base.errors import ParameterError

# The markers of classes, in this order.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# Names with more characters than this are shortened in the middle.
LONGEST_NAME = 26


@dataclass(frozen=True)
class Theme:
    """A set of colours.

    Attributes
    ----------
    name : str
        "light" or "dark".
    paper, ink, muted, rule, alarm : str
        The colours of the background, text, secondary lines, grid and mistakes.
    classes : tuple of str
        The colours of classes, in this order.
    """

    name: str
    paper: str
    ink: str
    muted: str
    rule: str
    alarm: str
    classes: tuple[str, ...]

    def of_class(self, k: int) -> str:
        """The colour of a class; colours repeat after the last.

        Parameters
        ----------
        k : int
            The number of the class.

        Returns
        -------
        str
        """
        return self.classes[k % len(self.classes)]

    def settings(self) -> dict[Any, Any]:
        """The matplotlib settings (rcParams) of the theme.

        Returns
        -------
        dict
        """
        return {
            "figure.facecolor": self.paper,
            "savefig.facecolor": self.paper,
            "axes.facecolor": self.paper,
            "axes.edgecolor": self.muted,
            "axes.labelcolor": self.ink,
            "axes.titlecolor": self.ink,
            "text.color": self.ink,
            "xtick.color": self.muted,
            "ytick.color": self.muted,
            "xtick.labelcolor": self.ink,
            "ytick.labelcolor": self.ink,
            "grid.color": self.rule,
            "axes.prop_cycle": cycler(color=self.classes),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.8,
            "axes.axisbelow": True,
            "axes.titlesize": 10.0,
            "axes.titlelocation": "left",
            "axes.labelsize": 9.0,
            "xtick.labelsize": 8.5,
            "ytick.labelsize": 8.5,
            "legend.fontsize": 8.5,
            # The legend has a background but no frame, so that curves behind it do not cross the text.
            "legend.facecolor": self.paper,
            "legend.edgecolor": "none",
            "legend.framealpha": 0.85,
            "legend.fancybox": False,
            "lines.linewidth": 1.6,
            "font.size": 9.0,
            "grid.linewidth": 0.6,
        }


LIGHT = Theme(
    "light",
    paper="#ffffff",
    ink="#1b1f24",
    muted="#6a737d",
    rule="#e3e6ea",
    alarm="#b3261e",
    classes=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d00", "#5b4a9e"),
)
DARK = Theme(
    "dark",
    paper="#14171a",
    ink="#e8eaed",
    muted="#9aa3ad",
    rule="#2c3238",
    alarm="#ff8a80",
    classes=("#58b0e8", "#ff9a52", "#3fcfa4", "#e9a3c9", "#f5c04a", "#9bd4f5", "#c9b458", "#a99be8"),
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


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
    ('dark', '#58b0e8')
    """
    if theme is not None and theme not in THEMES:
        raise ParameterError("theme", f"got {theme!r}", f"choose one of {', '.join(map(repr, THEMES))}")
    chosen = current() if theme is None else THEMES[theme]
    with mpl.rc_context(chosen.settings()):
        yield chosen


def marker(k: int) -> str:
    """The marker of class k. Classes of the same colour have different markers.

    >>> marker(0), marker(7), marker(8)
    ('o', '*', 's')
    """
    return MARKERS[(k + k // len(LIGHT.classes)) % len(MARKERS)]


def plain(text: Any, longest: int = LONGEST_NAME) -> str:
    r"""A name from the data as text for a plot: "$" does not start mathematics, and the text is a single short line.

    >>> print(plain("price in $"), plain("a" * 30, 9))
    price in \$ aaaa…aaaa
    """
    shown = "".join(c if c.isprintable() else " " for c in str(text))
    if len(shown) > longest:
        half = (longest - 1) // 2
        shown = f"{shown[: longest - 1 - half]}…{shown[len(shown) - half :]}"
    return shown.replace("\\$", "$").replace("$", r"\$")


def told_apart(n_classes: int) -> str:
    """A note for plots with more classes than colours; empty if there are not.

    >>> told_apart(8), told_apart(9)
    ('', 'there are more classes than colours: classes of the same colour have points of different shapes')
    """
    if n_classes <= len(LIGHT.classes):
        return ""
    if n_classes <= len(LIGHT.classes) * len(MARKERS):
        return "there are more classes than colours: classes of the same colour have points of different shapes"
    return "there are more classes than colours and shapes, so some classes share both"
