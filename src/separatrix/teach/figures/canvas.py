"""What all pictures of the lectures share: a figure in a theme, the plane, lines with their names, arrows, and files.

Ink is the model, colour is the class, and the highlighter is what happens now. Names stand on the lines.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from separatrix.core.base.arrays import Array
from separatrix.core.base.files import replace_file
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.output.plots.display import SMALL_TEXT, STRONG, THIN, style
from separatrix.output.theme import Theme

# Widths of figures in inches: one panel, and as wide as the text of a page.
NARROW, WIDE = 4.6, 7.6
# Margin around the rows, as a share of their range.
FIGURE_MARGIN = 0.14
# Width in points of the paper around a name, which interrupts the line behind it.
HALO = 2.6
# Mathematics is set in an italic serif, of this size in points, since its letters are smaller.
MATHEMATICS_TEXT = 11.5
MATHEMATICS: dict[Any, Any] = {"mathtext.fontset": "stix"}
# The paper of the names and arrows lies above the rows.
ABOVE_ROWS = 5.0

Box = tuple[float, float, float, float]


@contextmanager
def canvas(width: float, height: float, theme: str | None) -> Iterator[tuple[Figure, Theme]]:
    """A new figure of this size in inches, and the theme, whose settings hold inside the ``with`` block.

    >>> with canvas(4.0, 3.0, "dark") as (figure, look):
    ...     look.name, figure.get_facecolor() == mpl.colors.to_rgba(look.paper)
    ('dark', True)
    """
    with style(theme) as look, mpl.rc_context(MATHEMATICS):
        yield Figure(figsize=(width, height), layout="constrained"), look


def box_of(X: Array, margin: float = FIGURE_MARGIN) -> Box:
    """The box around rows of two columns, with a margin.

    >>> box_of(np.array([[0.0, 0.0], [10.0, 5.0]]), 0.1)
    (-1.0, 11.0, -0.5, 5.5)
    """
    low, high = X.min(axis=0), X.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = (low - room).tolist(), (high + room).tolist()
    return left, right, bottom, top


def show_plane(ax: Axes, box: Box, names: tuple[str, str] = ("$x_1$", "$x_2$")) -> None:
    """Limit the axes to the box, with equal units and few ticks, so that right angles look right."""
    ax.set_xlim(*box[:2])
    ax.set_ylim(*box[2:])
    ax.set_aspect("equal")
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    ax.set_xlabel(names[0], fontsize=MATHEMATICS_TEXT)
    ax.set_ylabel(names[1], rotation=0, labelpad=11.0, va="center", ha="right", fontsize=MATHEMATICS_TEXT)


def segment(plane: Hyperplane, box: Box) -> Array:
    """The ends (2, 2) of the part of a line that lies in the box; (0, 2) if no part does.

    >>> segment(Hyperplane([1.0, -1.0], 0.0), (0.0, 2.0, 0.0, 1.0)).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    left, right, low, high = box
    start = plane.project(np.array([(left + right) / 2, (low + high) / 2]))
    along = np.array([-plane.w[1], plane.w[0]])
    along = along / np.linalg.norm(along)
    ends = [-np.inf, np.inf]
    for k, (a, c) in enumerate(((left, right), (low, high))):
        if along[k] == 0.0:
            if not a <= start[k] <= c:
                return np.empty((0, 2))
            continue
        near, far = sorted(((a - start[k]) / along[k], (c - start[k]) / along[k]))
        ends = [max(ends[0], near), min(ends[1], far)]
    if ends[0] >= ends[1]:
        return np.empty((0, 2))
    return np.asarray(start + np.array(ends)[::-1, None] * along)


class Ink(NamedTuple):
    """How a line is drawn: its colour, its width in points, and its pattern."""

    colour: str
    width: float = STRONG
    pattern: Any = "-"


def draw_line(ax: Axes, plane: Hyperplane, box: Box, ink: Ink, label: str) -> Line2D:
    """Draw the part of a line that lies in the box."""
    x, y = segment(plane, box).T
    look: dict[str, Any] = {"color": ink.colour, "linewidth": ink.width, "linestyle": ink.pattern}
    return ax.plot(x, y, label=label, zorder=2.8, solid_capstyle="butt", **look)[0]


def name_line(ax: Axes, theme: Theme, line: Line2D, text: str, at: float = 0.8, above: bool = True) -> Text:
    """Write a name along a straight line, at a share of its length from the left, just above or below it."""
    ends = np.asarray(line.get_xydata())[[0, -1]]
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    x, y = ends[0] + at * (ends[1] - ends[0])
    turn = float(np.degrees(np.arctan2(*(ends[1] - ends[0])[::-1])))
    look: dict[str, Any] = {"va": "bottom" if above else "top", "ha": "center", "rotation_mode": "anchor"}
    found = ax.text(x, y, text, rotation=turn, transform_rotates_text=True, fontsize=SMALL_TEXT, **look)
    return _haloed(found, theme)


def write(ax: Axes, theme: Theme, place: Any, text: str, **look: Any) -> Text:
    """Write text at a place of the plot, on a halo of paper; ``offset`` moves it by points."""
    offset = look.pop("offset", (0.0, 0.0))
    settings: dict[str, Any] = {"fontsize": SMALL_TEXT, "ha": "center", "va": "center", "color": theme.ink} | look
    found = ax.annotate(text, place, xytext=offset, textcoords="offset points", **settings)
    found.set_zorder(ABOVE_ROWS + 1)
    return _haloed(found, theme)


def _haloed(text: Text, theme: Theme) -> Text:
    text.set_path_effects([withStroke(linewidth=HALO, foreground=theme.paper)])
    text.set_in_layout(False)
    return text


def arrow(ax: Axes, start: Any, end: Any, ink: Ink, label: str) -> None:
    """Draw an arrow; ``label`` is its name for those who read the figure's artists."""
    look: dict[str, Any] = {
        "arrowstyle": "-|>,head_width=0.28,head_length=0.55",
        "color": ink.colour,
        "linewidth": ink.width,
    }
    look |= {"shrinkA": 0.0, "shrinkB": 0.0, "linestyle": ink.pattern, "mutation_scale": 12.0}
    ax.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=look, label=label, zorder=ABOVE_ROWS)


def right_angle(ax: Axes, theme: Theme, corner: Any, along: Any, side: float) -> None:
    """Mark a right angle at ``corner`` between the direction ``along`` and the one turned left from it."""
    u = np.asarray(along, dtype=np.float64) / np.linalg.norm(along)
    v = np.array([-u[1], u[0]])
    x, y = (np.asarray(corner) + side * np.array([u, u + v, v])).T
    ax.plot(x, y, color=theme.ink, linewidth=THIN, zorder=ABOVE_ROWS, label="right angle")


def shades(theme: Theme) -> LinearSegmentedColormap:
    """The colours of heights, from those of a low error to those of a high one, in tones of the paper's ink."""
    return LinearSegmentedColormap.from_list(f"separatrix {theme.name}", [theme.paper, theme.muted])


# --- Figures as files

# SVG files have the letters as paths, so that they look the same everywhere, and the same file each time.
SVG: dict[Any, Any] = {"svg.fonttype": "path", "svg.hashsalt": "separatrix", **MATHEMATICS}
# The dots per inch of PNG files.
DPI = 200


def save(figure: Figure, path: str | Path, *, title: str = "", dpi: int = DPI) -> None:
    """Write a figure to a file, whole or not at all. Equal figures give equal files.

    Parameters
    ----------
    figure : matplotlib Figure
        The figure.
    path : str or Path
        A file that ends in .svg or .png.
    title : str, default ""
        A sentence for readers who do not see the picture, which is stored in the file.
    dpi : int, default 200
        The dots per inch of a PNG file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from separatrix.teach import figures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     figures.save(figures.margin_losses(theme="dark"), f"{folder}/V3.svg", title="Five losses.")
    ...     "Five losses." in pathlib.Path(folder, "V3.svg").read_text()
    True
    """
    path = Path(path)
    replace_file(path, as_bytes(figure, path.suffix[1:].lower(), title=title, dpi=dpi))


def as_bytes(figure: Figure, kind: str, *, title: str = "", dpi: int = DPI) -> bytes:
    """The content of the file that ``save`` writes; ``kind`` is "svg" or "png"."""
    out = io.BytesIO()
    stamp: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(SVG):
        figure.savefig(out, format=kind, dpi=dpi, metadata=stamp | {"Title": title})
    return out.getvalue()
