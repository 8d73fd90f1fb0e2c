"""The visual language of plots, reports and pages: colours on light and dark paper, shapes, line widths, type sizes.

Three rules hold everywhere. Ink is the model: boundaries, curves and weights. Colour is the class, and the shape of a
point says the class, too. The highlighter marks the one thing that is meant now, such as the threshold in use.

The colours of classes differ by at least 10 (CIEDE2000) for readers with normal vision and with each of the three kinds
of colour blindness (Machado, Oliveira and Fernandes 2009, full severity), in both themes. With more than six classes,
colours repeat in other shapes. Text in ``ink``, ``body`` and ``muted`` has a contrast of at least 4.5 on ``paper``.

Nothing beyond the standard library is imported here, so that every page can use the theme.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """The shape of a class's points: the name in matplotlib, and a character for text and tables."""

    marker: str
    character: str


# The shapes of classes, in this order.
SHAPES = (Shape("o", "●"), Shape("s", "■"), Shape("^", "▲"), Shape("D", "◆"), Shape("v", "▼"), Shape("P", "✚"))


@dataclass(frozen=True)
class Theme:
    """A set of colours.

    Attributes
    ----------
    name : str
        "light" or "dark".
    paper, surface : str
        The background of the page, and that of a raised part of it.
    ink, body, muted : str
        Headings and everything of the model; running text; secondary text.
    rule : str
        Grids and borders.
    alarm, warn, ok : str
        The colours of findings.
    highlight, highlight_edge : str
        The highlighter, and the line around it.
    classes : tuple of str
        The colours of classes, in this order.
    """

    name: str
    paper: str
    surface: str
    ink: str
    body: str
    muted: str
    rule: str
    alarm: str
    warn: str
    ok: str
    highlight: str
    highlight_edge: str
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

    def roles(self) -> dict[str, str]:
        """All colours by what they are for, as CSS variables name them.

        Returns
        -------
        dict of str to str

        Examples
        --------
        >>> LIGHT.roles()["class-0"], LIGHT.roles()["highlight-edge"]
        ('#0b5cad', '#b88a00')
        """
        names = ("paper", "surface", "ink", "body", "muted", "rule", "alarm", "warn", "ok", "highlight")
        named = {name: str(getattr(self, name)) for name in names} | {"highlight-edge": self.highlight_edge}
        return named | {f"class-{k}": colour for k, colour in enumerate(self.classes)}


LIGHT = Theme(
    "light",
    paper="#ffffff",
    surface="#f5f7f9",
    ink="#16191d",
    body="#3a4149",
    muted="#5d6670",
    rule="#dfe3e8",
    alarm="#b3261e",
    warn="#8a5a00",
    ok="#1e6b3a",
    highlight="#ffe27a",
    highlight_edge="#b88a00",
    classes=("#0b5cad", "#d4560a", "#0d9170", "#5e2750", "#6c7a89", "#8467d8"),
)
DARK = Theme(
    "dark",
    paper="#14171a",
    surface="#1b1f23",
    ink="#eef0f2",
    body="#c5cbd1",
    muted="#98a2ac",
    rule="#2c3238",
    alarm="#ff8a80",
    warn="#e8b860",
    ok="#7fd69a",
    highlight="#5c4a00",
    highlight_edge="#e8c34a",
    classes=("#6cb6ff", "#f2801f", "#279a74", "#ffd0e8", "#fff09a", "#8b6ff0"),
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}

# The opacity of a class's colour as the ground of its region, and of a confidence band.
GROUND, BAND = 0.12, 0.14
# Sizes of type in pixels, from captions to titles.
TYPE = (12.0, 13.5, 15.0, 18.0, 24.0)
# Widths of lines in pixels: the boundary and other lines of the model, and a grid.
BOUNDARY, GRID_LINE = 2.25, 1.0
# The diameter of a point in pixels, the width of the paper edge around it, and the diameter of the ring of a mistake.
POINT, POINT_EDGE, RING = 8.0, 1.0, 14.0
# The pattern of a second line, in pixels of ink and paper; a third line is dotted.
DASHED, DOTTED = (8.0, 6.0), (1.5, 3.0)


def shape(k: int) -> Shape:
    """The shape of class k. Classes of the same colour have different shapes.

    >>> shape(0).marker, shape(5).character, shape(6).marker
    ('o', '✚', 's')
    """
    return SHAPES[(k + k // len(LIGHT.classes)) % len(SHAPES)]


def told_apart(n_classes: int) -> str:
    """A note for plots with more classes than colours; empty if there are not.

    >>> told_apart(6), told_apart(7)
    ('', 'there are more classes than colours: classes of the same colour have points of different shapes')
    """
    if n_classes <= len(LIGHT.classes):
        return ""
    if n_classes <= len(LIGHT.classes) * len(SHAPES):
        return "there are more classes than colours: classes of the same colour have points of different shapes"
    return "there are more classes than colours and shapes, so some classes share both"
