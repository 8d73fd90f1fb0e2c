"""Many points as hexagons: one for each cell of a hexagonal lattice, with an area proportional to its number of rows.

In a cell with rows of several classes, the outer hexagon has the colour of the most frequent class and stands for all
rows. The inner hexagon has the colour of the second class and stands for all rows of other classes, so that a rare
class stays visible. Carr, Littlefield, Nicholson and Littlefield,
Scatterplot matrix techniques for large N, JASA 82 (1987).
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.theme import Theme
from separatrix.diagnostics.hexagons import Cells
from separatrix.plots.style import THIN

# The opacity of hexagons.
OPACITY = 0.85
# The vertices of a hexagon with a lattice distance of 1, and the codes of its path.
_ANGLES = np.deg2rad(30.0 + 60.0 * np.arange(6))
_HEXAGON = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)]) / np.sqrt(3.0)
_CODES = np.array([Path.MOVETO, *[Path.LINETO] * 5, Path.CLOSEPOLY], dtype=np.uint8)


def draw_cells(cells: Cells, ax: Axes, theme: Theme) -> None:
    """Draw all hexagons, one path for each class and layer.

    Cells in which most rows are misclassified get a ring.
    """
    total = cells.counts.sum(axis=1)
    order = np.argsort(-cells.counts, axis=1, kind="stable")[:, :2]
    first, second = order[:, 0], order[:, 1]
    others = total - cells.counts[np.arange(len(total)), first]
    outer, inner = cells.radius, cells.radius_of(others)
    for k in range(cells.counts.shape[1]):
        _fill(cells, ax, first == k, outer, theme.of_class(k))
    for k in range(cells.counts.shape[1]):
        _fill(cells, ax, (second == k) & (others > 0), np.minimum(inner, 0.8 * outer), theme.of_class(k))
    ringed = cells.mostly_wrong
    if ringed.any():
        path = _path(cells, ringed, outer)
        ax.add_patch(PathPatch(path, facecolor="none", edgecolor=theme.ink, linewidth=THIN, zorder=2.5))


def _fill(cells: Cells, ax: Axes, which: AnyArray, radius: Array, colour: str) -> None:
    if which.any():
        path = _path(cells, which, radius)
        ax.add_patch(PathPatch(path, facecolor=colour, alpha=OPACITY, linewidth=0, zorder=2))


def _path(cells: Cells, which: AnyArray, radius: Array) -> Path:
    corners = cells.centre[which, None, :] + radius[which, None, None] * _HEXAGON * cells.unit
    closed = np.concatenate([corners, corners[:, :1]], axis=1)
    return Path(closed.reshape(-1, 2), np.tile(_CODES, int(np.sum(which))))
