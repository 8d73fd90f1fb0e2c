"""Legends where no data is: below the axes, wrapped to the width, every entry with its mark inside the picture.

matplotlib draws no mark whose place is outside the canvas, so a legend that is wider than the figure loses marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

# Points: of the text; from the axes down to the legend, with ticks and a label between; of paper at either side.
TEXT, ROOM, SIDE = 8.0, 37.0, 6.0
# In units of the text: a letter, a wide letter, a mark with the space after it, between columns, between lines.
LETTER, WIDE_LETTER, MARK, BETWEEN, LINE = 0.6, 1.0, 2.0, 1.2, 1.35


def below(ax: Axes, title: str | None = None, marks: float = 1.0) -> None:
    """A legend of all that has a label, below the axes; ``marks``: how many times as large as in the picture.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure(figsize=(4.0, 3.0)).subplots()
    >>> for name in ("one", "two", "three"):
    ...     _ = ax.plot([0], [0], label=name)
    >>> below(ax)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['one', 'two', 'three']
    """
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    figure = ax.figure
    alone = list(figure.axes) == [ax]
    # Of a figure of its own the legend may take all the width, below the names at the left as well.
    across, box = (figure.transSubfigure, figure.bbox) if alone else (ax.transAxes, ax.get_window_extent())
    down = ax.transAxes + ScaledTranslation(0, -ROOM / 72, figure.dpi_scale_trans)
    ax.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=blended_transform_factory(across, down),
        ncols=columns(labels, box.width / figure.dpi),
        fontsize=TEXT,
        title=title,
        title_fontsize=TEXT - 0.5,
        borderaxespad=0.0,
        borderpad=0.0,
        handlelength=MARK - 0.5,
        handletextpad=0.5,
        columnspacing=BETWEEN,
        labelspacing=LINE - 1.0,
        markerscale=marks,
    )


def columns(labels: Sequence[str], width: float) -> int:
    """How many columns of a legend fit into ``width`` inches; matplotlib fills one after the other.

    >>> columns(["a", "b", "c", "d"], 4.0), columns(["a very long name indeed"] * 4, 3.0), columns(["x" * 99], 1.0)
    (4, 1, 1)
    """
    room = (72.0 * width - 2 * SIDE) / TEXT
    lengths = np.array([MARK + _length(label) for label in labels])
    for n in range(len(labels), 1, -1):
        if sum(float(part.max()) + BETWEEN for part in np.array_split(lengths, n)) - BETWEEN <= room:
            return n
    return 1


def height(labels: Sequence[str], width: float, title: bool = False) -> float:
    """Inches that a legend takes, with the space above it.

    >>> height(["a", "b"], 4.0) < height(["a long name, and longer still"] * 2, 4.0)
    True
    """
    lines = -(-len(labels) // columns(labels, width)) + title if labels else 0
    return lines * LINE * TEXT / 72.0 + (0.08 if lines else 0.0)


def _length(text: str) -> float:
    """In units of the text's size, roughly: no font need be loaded for it."""
    return sum(WIDE_LETTER if east_asian_width(c) in "WF" else LETTER for c in text.replace(r"\$", "$"))
