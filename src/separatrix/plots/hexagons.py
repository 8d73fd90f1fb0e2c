"""Many points as hexagons: each is a cell of a hexagonal lattice, and its area is the number of rows in the cell.

A cell with rows of several classes has a hexagon of the most frequent one for all rows, and inside it a hexagon of the
second for all rows of other classes, so a rare class stays visible. Carr, Littlefield, Nicholson and Littlefield,
Scatterplot matrix techniques for large N, JASA 82 (1987).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.theme import Theme
from separatrix.plots.style import THIN

# Cells across the plot.
ACROSS = 36
# Width over height of the axes, so that hexagons are nearly regular.
ASPECT = 1.3
# A cell with the count of this quantile, or more rows, is filled; the smallest hexagon has this share of the radius.
FULL_QUANTILE, SMALLEST_RADIUS = 0.95, 0.22
# The opacity of hexagons.
OPACITY = 0.85
# The vertices of a hexagon with a lattice distance of 1, and the codes of its path.
_ANGLES = np.deg2rad(30.0 + 60.0 * np.arange(6))
_HEXAGON = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)]) / np.sqrt(3.0)
_CODES = np.array([Path.MOVETO, *[Path.LINETO] * 5, Path.CLOSEPOLY], dtype=np.uint8)


@dataclass(frozen=True)
class Cells:
    """The occupied cells of a lattice over a box.

    Attributes
    ----------
    centre : array (m, 2)
        The centres of the cells.
    unit : array (2,)
        The distance of neighbouring centres along both axes.
    counts : array (m, K)
        The rows of each class in each cell.
    wrong : array (m,)
        The misclassified rows in each cell.
    """

    centre: Array
    unit: Array
    counts: Integers
    wrong: Integers

    @property
    def mostly_wrong(self) -> AnyArray:
        """Which cells have more misclassified rows than right ones, (m,)."""
        return np.asarray(2 * self.wrong > self.counts.sum(axis=1))

    def draw(self, ax: Axes, theme: Theme) -> None:
        """Draw all hexagons, one path for each class and layer, and ring the cells with mostly mistakes."""
        total = self.counts.sum(axis=1)
        order = np.argsort(-self.counts, axis=1, kind="stable")[:, :2]
        first, second = order[:, 0], order[:, 1]
        others = total - self.counts[np.arange(len(total)), first]
        full = float(np.quantile(total, FULL_QUANTILE))
        outer, inner = (np.clip(np.sqrt(rows / full), SMALLEST_RADIUS, 1.0) for rows in (total, others))
        for k in range(self.counts.shape[1]):
            self._fill(ax, first == k, outer, theme.of_class(k))
        for k in range(self.counts.shape[1]):
            self._fill(ax, (second == k) & (others > 0), np.minimum(inner, 0.8 * outer), theme.of_class(k))
        ringed = self.mostly_wrong
        if ringed.any():
            path = self._path(ringed, outer)
            ax.add_patch(PathPatch(path, facecolor="none", edgecolor=theme.ink, linewidth=THIN, zorder=2.5))

    def _fill(self, ax: Axes, which: AnyArray, radius: Array, colour: str) -> None:
        if which.any():
            path = self._path(which, radius)
            ax.add_patch(PathPatch(path, facecolor=colour, alpha=OPACITY, linewidth=0, zorder=2))

    def _path(self, which: AnyArray, radius: Array) -> Path:
        corners = self.centre[which, None, :] + radius[which, None, None] * _HEXAGON * self.unit
        closed = np.concatenate([corners, corners[:, :1]], axis=1)
        return Path(closed.reshape(-1, 2), np.tile(_CODES, int(np.sum(which))))


def cells(
    points: Array, codes: Integers, wrong: AnyArray, n_classes: int, box: tuple[float, float, float, float]
) -> Cells:
    """The cells of the points inside a box.

    >>> rng = np.random.default_rng(0)
    >>> found = cells(rng.random((1000, 2)), np.arange(1000) % 2, np.zeros(1000, bool), 2, (0.0, 1.0, 0.0, 1.0))
    >>> int(found.counts.sum()), found.counts.shape[1]
    (1000, 2)
    """
    left, right, low, high = box
    unit = np.array([(right - left) / ACROSS, (high - low) * ASPECT / ACROSS])
    pitch = unit * np.array([1.0, np.sqrt(3.0)])  # between the centres of a rectangular lattice; two are interleaved
    inside = (points[:, 0] >= left) & (points[:, 0] <= right) & (points[:, 1] >= low) & (points[:, 1] <= high)
    place = (points[inside] - [left, low]) / pitch
    near, between = np.round(place), np.floor(place) + 0.5
    weight = np.array([1.0, 3.0])
    closer = ((place - near) ** 2 @ weight) <= ((place - between) ** 2 @ weight)
    doubled = np.where(closer[:, None], 2 * near, 2 * between).astype(np.int64)
    # Cells are numbered by both coordinates in one integer, which is much faster than unique rows.
    stride = int(doubled[:, 1].max(initial=0)) + 1
    keys, cell = np.unique(doubled[:, 0] * stride + doubled[:, 1], return_inverse=True)
    counts = np.bincount(cell * n_classes + codes[inside], minlength=len(keys) * n_classes)
    centre = np.array([left, low]) + 0.5 * pitch * np.column_stack([keys // stride, keys % stride])
    mistakes = np.bincount(cell, weights=wrong[inside], minlength=len(keys)).astype(np.int64)
    return Cells(centre, unit, counts.reshape(len(keys), n_classes).astype(np.int64), mistakes)
