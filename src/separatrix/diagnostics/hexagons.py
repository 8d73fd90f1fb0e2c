"""Many points counted in the cells of a hexagonal lattice.

Carr, Littlefield, Nicholson and Littlefield, Scatterplot matrix techniques for large N, JASA 82 (1987).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers

# Cells across the plot.
ACROSS = 36
# Width over height of a plot whose hexagons are nearly regular.
ASPECT = 1.3
# A cell with the count of this quantile, or more rows, is filled; the smallest hexagon has this share of the radius.
FULL_QUANTILE, SMALLEST_RADIUS = 0.95, 0.22


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

    @property
    def radius(self) -> Array:
        """The radius of each hexagon as a share of its cell's, (m,): its area is the number of rows."""
        return self.radius_of(self.counts.sum(axis=1))

    def radius_of(self, rows: Integers) -> Array:
        """The radius of a hexagon for this many rows in each cell, (m,)."""
        full = float(np.quantile(self.counts.sum(axis=1), FULL_QUANTILE))
        return np.asarray(np.clip(np.sqrt(rows / full), SMALLEST_RADIUS, 1.0))


def cells(
    points: Array,
    codes: Integers,
    wrong: AnyArray,
    n_classes: int,
    box: tuple[float, float, float, float],
    aspect: float = ASPECT,
) -> Cells:
    """The cells of the points inside a box, which is drawn ``aspect`` times as wide as high.

    >>> rng = np.random.default_rng(0)
    >>> found = cells(rng.random((1000, 2)), np.arange(1000) % 2, np.zeros(1000, bool), 2, (0.0, 1.0, 0.0, 1.0))
    >>> int(found.counts.sum()), found.counts.shape[1]
    (1000, 2)
    """
    left, right, low, high = box
    unit = np.array([(right - left) / ACROSS, (high - low) * aspect / ACROSS])
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
