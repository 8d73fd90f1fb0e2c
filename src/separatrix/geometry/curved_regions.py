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
from separatrix.geometry.grids import Edges, Field, Grid, crossed_edges, score_differences, winners
from separatrix.geometry.junctions import NONE_MEET, refined
from separatrix.geometry.marching_squares import Boundaries, march
from separatrix.geometry.plane_scores import moderate_scores
from separatrix.geometry.polygons import cells, corners, polygon_area

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
    """The boundaries between labels in a box, with the grid on which they were found.

    ``middle`` (2 s,) is the number of the point in the middle of each segment of the boundaries, −1 if it has none.
    """

    grid: Grid
    edges: Edges
    boundaries: Boundaries
    middle: Integers

    @property
    def size(self) -> float:
        """The longer side of the box."""
        return float(max(self.grid.x[-1] - self.grid.x[0], self.grid.y[-1] - self.grid.y[0]))

    def curves(self, label: int) -> list[Array]:
        """The edges of this label's part inside the box, as polylines; a closed one ends where it starts."""
        found = self.boundaries
        own = found.label == label
        middle = self._after(found.start[own], self.middle[own], len(found.points))
        return [found.points[_with_middles(chain, middle)] for chain in chains(found.start[own], found.end[own])]

    def rings(self, n_labels: int) -> list[list[Array]]:
        """The outlines of each label's part, closed along the sides of the box."""
        found = self.boundaries
        points = np.concatenate([found.points, corners(self._box)])
        side_start, side_end, side_label = self._along_the_sides(len(found.points))
        rings: list[list[Array]] = []
        for k in range(n_labels):
            own, outer = found.label == k, side_label == k
            start, end = found.start[own], np.concatenate([found.end[own], side_end[outer]])
            middle = self._after(start, self.middle[own], len(points))
            found_chains = chains(np.concatenate([start, side_start[outer]]), end)
            loops = [without_straight(points[_with_middles(loop[:-1], middle)], self.size) for loop in found_chains]
            rings.append([loop for loop in loops if len(loop)])
        return rings

    @staticmethod
    def _after(start: Integers, middle: Integers, n_points: int) -> Integers:
        """The number of the point in the middle of the segment that starts at each point, −1 if there is none."""
        after = np.full(n_points, -1)
        after[start] = middle
        return after

    @property
    def _box(self) -> Array:
        return np.array([self.grid.x[0], self.grid.x[-1], self.grid.y[0], self.grid.y[-1]])

    def _along_the_sides(self, first_corner: int) -> tuple[Integers, Integers, Integers]:
        """Segments along the sides of the box, counter-clockwise: from corners and crossings to the next."""
        (along, up), L = self.edges.number, self.edges.labels
        crossing = np.concatenate([along[:, 0], up[-1], along[::-1, -1], up[0, ::-1]])
        label = np.concatenate([L[:-1, 0], L[-1, :-1], L[:0:-1, -1], L[0, :0:-1]])
        # A corner, if the edge begins at one, then the crossing of the edge, if there is one.
        points, labels = np.full((len(crossing), 2), -1), np.empty((len(crossing), 2), dtype=np.int64)
        a, b = len(along), up.shape[1]
        points[[0, a, a + b, 2 * a + b], 0] = np.arange(first_corner, first_corner + 4)
        points[:, 1], labels[:, 0], labels[:-1, 1], labels[-1, 1] = crossing, label, label[1:], label[0]
        used = points >= 0
        start = points[used]
        return start, np.concatenate([start[1:], start[:1]]), labels[used]


def _with_middles(chain: list[int], middle: Integers) -> Integers:
    """The points of a chain, each followed by the point in the middle of its segment, if there is one."""
    both = np.empty((len(chain), 2), dtype=np.int64)
    both[:, 0] = chain
    both[:, 1] = middle[both[:, 0]]
    return np.asarray(both[both >= 0])


def traced(scores: Field, box: Any, squares: int = SQUARES, *, through: Array | None = None, smooth: bool) -> Traced:
    """Trace the boundaries between the labels whose scores are the largest.

    ``through``: points (m, 2) that are nodes of the grid, such as the centres of small closed curves. ``smooth`` adds a
    vertex in the middle of each segment.
    """
    least, _, most, _ = corners(box)
    x, y = np.linspace(least, most, squares + 1).T
    if through is not None and len(through):
        inner = through[((through > least) & (through < most)).all(axis=1)]
        x, y = np.unique(np.concatenate([x, inner[:, 0]])), np.unique(np.concatenate([y, inner[:, 1]]))
    grid = Grid(x, y)
    Z = grid.scores(lambda points: moderate_scores(scores, points, box))
    edges, known = crossed_edges(grid, Z), NONE_MEET
    if Z.shape[2] > 2 and len(set(edges.first.tolist()) | set(edges.second.tolist())) > 2:
        grid, edges, known = refined(scores, grid, edges)
    boundaries = march(scores, grid, edges, known)
    if smooth:
        return Traced(grid, edges, *smoothed(scores, boundaries))
    return Traced(grid, edges, boundaries, np.full(len(boundaries.start), -1))


def smoothed(scores: Field, found: Boundaries) -> tuple[Boundaries, Integers]:
    """Add a point in the middle of each segment, moved onto the curve at right angles to the segment.

    Returns the numbers of these points for the segments, too, −1 for a segment that has none.
    """
    half = len(found.start) // 2
    if not half:
        return found, found.start
    p, q = found.points[found.start[:half]], found.points[found.end[:half]]
    i, j = found.label[:half], found.label[half:]
    normal = (q - p)[:, ::-1] * [-1.0, 1.0]  # to the left, where label i wins
    start = 0.5 * (p + q) + REACH * normal
    across = score_differences(scores, start, -2 * REACH * normal, i, j)
    ends = np.zeros((2, half))
    ends[1] = 1.0
    low, high = across(np.arange(half))(ends)
    # A segment without a bracket stays as it is.
    curved = np.flatnonzero((low >= 0) & (high < 0))
    t = bracketed_roots(lambda which: across(curved[which]), low[curved], high[curved])
    middle = np.full(2 * half, -1)
    middle[curved] = middle[half + curved] = np.arange(len(found.points), len(found.points) + len(curved))
    points = np.concatenate([found.points, start[curved] - (2 * REACH * t)[:, None] * normal[curved]])
    return Boundaries(points, found.start, found.end, found.label), middle


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


def regions_between(lines: Array, scores: Field, labels: Sequence[Any], box: Any) -> list[CurvedRegion]:
    """The same where all boundaries lie on lines (b, w), (P, 3): one label wins in each cell between these lines.

    >>> line, scores = np.array([[-0.25, 1.0, 0.0]]), lambda X: np.column_stack([X[:, 0], np.full(len(X), 0.25)])
    >>> [one.area for one in regions_between(line, scores, ["a", "b"], (0, 1, 0, 1))]
    [0.75, 0.25]
    """
    found = cells(lines, box)
    won = winners(moderate_scores(scores, np.array([cell.vertices.mean(axis=0) for cell in found]), box)).tolist()
    left, right, low, high = (float(v) for v in np.asarray(box, dtype=np.float64).ravel())
    return [
        CurvedRegion(
            (label,),
            tuple(cell.vertices for cell, winner in zip(found, won, strict=True) if winner == k),
            (left, right, low, high),
            _wins(scores, k),
        )
        for k, label in enumerate(labels)
    ]


def _wins(scores: Field, k: int) -> Callable[[Array], Any]:
    return lambda X: np.argmax(scores(X), axis=1) == k
