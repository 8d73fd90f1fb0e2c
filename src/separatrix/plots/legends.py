"""Legends below the axes, where they hide no data, wrapped to the width of the figure.

matplotlib does not draw a marker outside the canvas, so a legend wider than the figure would lack some markers.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from separatrix.plots.style import SMALL_TEXT

# In points: the size of the text, the distance of the legend from the axes (with tick labels and a label in between),
# and the margin on either side.
TEXT, BELOW_AXES, SIDE_MARGIN = SMALL_TEXT, 37.0, 6.0
# In multiples of the text's size: the width of a letter and of a wide letter, of a marker with the space after it, the
# distance between columns, and the height of a line.
LETTER, WIDE_LETTER, MARK, BETWEEN, LINE = 0.6, 1.0, 2.0, 1.2, 1.35


def below(ax: Axes, title: str | None = None, marks: float = 1.0) -> None:
    """Add a legend of all labelled artists below the axes. ``marks``: the size of markers relative to the plot.

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
    # If the axes are alone in the figure, the legend may use the whole width of the figure.
    across, box = (figure.transSubfigure, figure.bbox) if alone else (ax.transAxes, ax.get_window_extent())
    down = ax.transAxes + ScaledTranslation(0, -BELOW_AXES / 72, figure.dpi_scale_trans)
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
    """How many columns of a legend fit into ``width`` inches. matplotlib fills the columns one after the other.

    >>> columns(["a", "b", "c", "d"], 4.0), columns(["a very long name indeed"] * 4, 3.0), columns(["x" * 99], 1.0)
    (4, 1, 1)
    """
    room = (72.0 * width - 2 * SIDE_MARGIN) / TEXT
    lengths = np.array([MARK + _length(label) for label in labels])
    for n in range(len(labels), 1, -1):
        if sum(float(part.max()) + BETWEEN for part in np.array_split(lengths, n)) - BETWEEN <= room:
            return n
    return 1


def height(labels: Sequence[str], width: float, title: bool = False) -> float:
    """The height of a legend in inches, with the space above it.

    >>> height(["a", "b"], 4.0) < height(["a long name, and longer still"] * 2, 4.0)
    True
    """
    lines = -(-len(labels) // columns(labels, width)) + title if labels else 0
    return lines * LINE * TEXT / 72.0 + (0.08 if lines else 0.0)


def _length(text: str) -> float:
    """The approximate width of a text, in multiples of its size, without loading a font."""
    return sum(WIDE_LETTER if east_asian_width(c) in "WF" else LETTER for c in text.replace(r"\$", "$"))
