"""Decision regions with curved edges (docs/tour.md, B4).

The outlines are polygons whose vertices lie on the boundaries up to rounding (``geometry/marching_squares.py``); a
vertex in the middle of each segment brings the polygon close to the curve. Neighbouring regions share their vertices,
so the regions cover the box without gaps. A part of a region that is smaller than a square of the grid may be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.geometry.bracketed_roots import bracketed_roots
from separatrix.geometry.chains import chains, without_straight
from separatrix.geometry.grids import Edges, Field, Grid, crossed_edges, score_differences
from separatrix.geometry.junctions import NONE_MEET, refined
from separatrix.geometry.marching_squares import Boundaries, march
from separatrix.geometry.polygons import corners, polygon_area

# Squares along each side of the grid.
SQUARES = 48
# A boundary is searched on both sides of a segment, up to this share of its length.
REACH = 0.5


@dataclass(frozen=True)
class CurvedRegion:
    """A part of the plane with curved edges, and the classes that it belongs to.

    Attributes
    ----------
    labels : tuple
        The class that wins there.
    rings : tuple of arrays (m, 2)
        The outlines as polygons: counter-clockwise around the region, clockwise around its holes. A class that wins
        nowhere has none. Filled by the even-odd rule, they give the region.
    box : tuple of four floats
        The part of the plane that was divided.

    Examples
    --------
    >>> from separatrix import QuadraticDiscriminantAnalysis, regions
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0], [0.0, 9.0], [9.0, 0.0], [-9.0, -9.0]], [0, 0, 0, 1, 1, 1]
    >>> inner, outer = regions(QuadraticDiscriminantAnalysis().fit(X, y), (-9, 9, -9, 9))
    >>> len(inner.rings), len(outer.rings), inner.contains([[0.0, 0.0], [8.0, 8.0]]).tolist()
    (1, 2, [True, False])
    """

    labels: tuple[Any, ...]
    rings: tuple[Array, ...]
    box: tuple[float, float, float, float]
    inside: Callable[[Array], Any] = field(repr=False, compare=False)

    @property
    def empty(self) -> bool:
        """Whether there is no outline."""
        return not self.rings

    @property
    def area(self) -> float:
        """The area inside the outlines."""
        return float(sum(polygon_area(ring) for ring in self.rings))

    def contains(self, X: Any) -> Any:
        """Which points of the box belong to the region, decided by the model's scores and not by the polygons.

        Parameters
        ----------
        X : array (n, 2)
            Points.

        Returns
        -------
        array (n,) of bool
        """
        points = np.atleast_2d(np.asarray(X, dtype=np.float64))
        left, right, low, high = self.box
        x, y = points.T
        boxed = (x >= left) & (x <= right) & (y >= low) & (y <= high)
        return boxed & np.asarray(self.inside(points), dtype=bool)


@dataclass(frozen=True)
class Traced:
    """The boundaries between labels in a box, with the grid on which they were found."""

    grid: Grid
    edges: Edges
    boundaries: Boundaries

    @property
    def size(self) -> float:
        """The longer side of the box."""
        return float(max(self.grid.x[-1] - self.grid.x[0], self.grid.y[-1] - self.grid.y[0]))

    def curves(self, label: int) -> list[Array]:
        """The edges of this label's part inside the box, as polylines; a closed one ends where it starts."""
        found = self.boundaries
        own = found.label == label
        return [found.points[chain] for chain in chains(found.start[own], found.end[own])]

    def rings(self, n_labels: int) -> list[list[Array]]:
        """The outlines of each label's part, closed along the sides of the box."""
        found = self.boundaries
        points = np.concatenate([found.points, corners(self._box)])
        start, end, label = self._along_the_sides(len(found.points))
        start, end = np.concatenate([found.start, start]), np.concatenate([found.end, end])
        label = np.concatenate([found.label, label])
        rings: list[list[Array]] = []
        for k in range(n_labels):
            own = label == k
            loops = [without_straight(points[loop[:-1]], self.size) for loop in chains(start[own], end[own])]
            rings.append([loop for loop in loops if len(loop)])
        return rings

    @property
    def _box(self) -> Array:
        return np.array([self.grid.x[0], self.grid.x[-1], self.grid.y[0], self.grid.y[-1]])

    def _along_the_sides(self, first_corner: int) -> tuple[Integers, Integers, Integers]:
        """Segments along the sides of the box, counter-clockwise: from corners and crossings to the next."""
        (along, up), L = self.edges.number, self.edges.labels
        sides = [
            (along[:, 0], L[:, 0]),
            (up[-1], L[-1]),
            (along[::-1, -1], L[::-1, -1]),
            (up[0, ::-1], L[0, ::-1]),
        ]
        points, label = [], []
        for k, (number, own) in enumerate(sides):
            crossed = np.flatnonzero(number >= 0)
            points += [np.array([first_corner + k]), number[crossed]]
            label += [own[:1], own[crossed + 1]]
        start = np.concatenate(points)
        return start, np.roll(start, -1), np.concatenate(label)


def traced(scores: Field, box: Any, squares: int = SQUARES, *, through: Array | None = None, smooth: bool) -> Traced:
    """Trace the boundaries between the labels whose scores are the largest.

    ``through``: points (m, 2) that are nodes of the grid, such as the centres of small closed curves. ``smooth`` adds a
    vertex in the middle of each segment.
    """
    (left, low), _, (right, high), _ = corners(box)
    x, y = np.linspace(left, right, squares + 1), np.linspace(low, high, squares + 1)
    if through is not None and len(through):
        inner = through[np.all((through > [left, low]) & (through < [right, high]), axis=1)]
        x, y = np.unique(np.concatenate([x, inner[:, 0]])), np.unique(np.concatenate([y, inner[:, 1]]))
    grid = Grid(x, y)
    edges, known = crossed_edges(grid, grid.scores(scores)), NONE_MEET
    if len(set(edges.first.tolist()) | set(edges.second.tolist())) > 2:
        grid, edges, known = refined(scores, grid, edges)
    boundaries = march(scores, grid, edges, known)
    return Traced(grid, edges, smoothed(scores, boundaries) if smooth else boundaries)


def smoothed(scores: Field, found: Boundaries) -> Boundaries:
    """Put a vertex into the middle of each segment, moved onto the curve at right angles to the segment."""
    half = len(found.start) // 2
    p, q = found.points[found.start[:half]], found.points[found.end[:half]]
    i, j = found.label[:half], found.label[half:]
    normal = np.column_stack([p[:, 1] - q[:, 1], q[:, 0] - p[:, 0]])  # to the left, where label i wins
    start, rows = 0.5 * (p + q) + REACH * normal, np.arange(half)

    if not half:
        return found
    differences = score_differences(scores, start, -2 * REACH * normal, i, j)
    low, high = differences(rows)(np.array([np.zeros(half), np.ones(half)]))
    bracketed = (low >= 0) & (high < 0)
    # A segment without a bracket stays as it is, and its middle is not used.
    curved = np.flatnonzero(bracketed)
    t = np.full(half, 0.5)
    t[curved] = bracketed_roots(lambda which: differences(curved[which]), low[curved], high[curved])
    bent = np.tile(bracketed, 2)
    middle = (len(found.points) + np.tile(rows, 2))[bent]
    return Boundaries(
        np.concatenate([found.points, start - (2 * REACH * t)[:, None] * normal]),
        np.concatenate([found.start[~bent], found.start[bent], middle]),
        np.concatenate([found.end[~bent], middle, found.end[bent]]),
        np.concatenate([found.label[~bent], found.label[bent], found.label[bent]]),
    )


def curved_regions(
    scores: Field, labels: Sequence[Any], box: Any, *, through: Array | None = None
) -> list[CurvedRegion]:
    """The regions in which each label has the largest score, in the order of the labels.

    >>> found = curved_regions(lambda X: np.column_stack([X[:, 0] ** 2, X[:, 1]]), ["a", "b"], (-1, 1, -1, 1))
    >>> round(found[1].area, 3), round(found[0].area, 3)
    (1.333, 2.667)
    """
    found = traced(scores, box, through=through, smooth=True)
    left, right, low, high = (float(v) for v in np.asarray(box, dtype=np.float64).ravel())
    return [
        CurvedRegion((label,), tuple(rings), (left, right, low, high), _wins(scores, k))
        for k, (label, rings) in enumerate(zip(labels, found.rings(len(labels)), strict=True))
    ]


def _wins(scores: Field, k: int) -> Callable[[Array], Any]:
    return lambda X: np.argmax(scores(X), axis=1) == k
