"""Boundaries between the classes of any classifier of two columns, traced on a grid (docs/tour.md, B4).

The class of a node is the one with the largest score. contourpy follows the contours between the classes on the grid,
and each vertex is then moved along its edge of the grid onto the boundary. Where three classes meet, Newton's method
finds the point at which their scores are equal, and the outlines of all three pass through it. A vertex in the middle
of each segment brings the polygons close to the curves. Vertices are off by less than 1e-6 of the width of the box.
Neighbouring regions share them, so the regions cover the box without gaps. A part of a region that is smaller than a
square of the grid may be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.geometry.polygons import as_box, cells, corners, moderate_scores, polygon_area

# From points (m, 2) to the scores of the K labels (m, K).
Field = Callable[[Array], Array]

# Squares along each side of the grid.
SQUARES = 48
# A crossing has been found where the difference of two scores is below this share of its values at the ends of the
# edge, or is known up to this share of the edge, which is 2e-7 of the box on a grid of 48 squares.
ZERO, SHORTEST, MOST_STEPS = 1e-10, 1e-5, 30
# A boundary is searched on both sides of a segment, up to this share of its length.
REACH = 0.5
# Lines are added to the grid at these distances from points at which three labels meet, in sides of their squares, for
# at most so many points. The two rounds divide squares that are wider than a share of the first ones, around points up
# to a number of sides from their middle. Lines that are closer together than SAME_LINE of the box are the same.
CLOSER, MOST_JUNCTIONS = np.array([-1 / 4, -1 / 16, -1 / 64, 1 / 64, 1 / 16, 1 / 4])[:, None, None], 12
ROUNDS, SAME_LINE = ((0.0, 2.0), (0.1, 0.5)), 1e-9
# Steps of Newton's method, which converges from within a square in about four; the step of its central differences, the
# largest last step, and where it has failed, in sides of the square from its corner.
NEWTON_STEPS, DIFFERENCE, LAST_STEP, FAILED = 8, 1e-4, 1e-6, 4.0
# contourpy gets values of the sizes 1 to 2, so its vertices lie between 1/3 and 2/3 of their edges, farther than
# NEAR_NODE from the ends. The sizes grow by UNDECIDED from node to node, so that no saddle is exactly undecided.
UNDECIDED, NEAR_NODE = 1e-9, 0.1
# A ring with less than this share of the area of the box is a line or a point at which scores are equal.
NO_AREA = 1e-13
TINY = float(np.finfo(np.float64).tiny)


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
        boxed = np.all((points >= [left, low]) & (points <= [right, high]), axis=1)
        return boxed & np.asarray(self.inside(points), dtype=bool)


class Edges(NamedTuple):
    """Segments at whose ends different labels win.

    ``start`` and ``step`` (m, 2) are the first end and the vector to the second; ``first`` and ``second`` the labels
    there; ``low`` ≥ 0 and ``high`` ≤ 0 are the score of the first label minus that of the second, at both ends.
    """

    start: Array
    step: Array
    first: Integers
    second: Integers
    low: Array
    high: Array

    def at(self, t: Array) -> Array:
        """The points at these shares (m,) of the segments."""
        return np.asarray(self.start + t[:, None] * self.step)

    def crossings(self, scores: Field) -> Array:
        """The points (m, 2) at which the scores of the two labels are equal.

        Each step cuts the brackets in the middle and at the root of the parabola through the middle and both ends. So
        the root of a quadratic function is found by the first step, and jumps, as those of votes, by halving.
        """
        if not len(self.low):
            return self.start
        a, b, fa, fb = np.zeros_like(self.low), np.ones_like(self.low), self.low, np.minimum(self.high, -TINY)
        zero, rows = ZERO * (fa - fb), np.arange(len(a))

        def difference(t: Array) -> Array:
            Z = scores(self.at(t))
            return np.asarray(Z[rows, self.first] - Z[rows, self.second])

        for _ in range(MOST_STEPS):
            middle = 0.5 * (a + b)
            fm = difference(middle)
            bend, slope = 0.5 * (fa + fb) - fm, 0.5 * (fb - fa)
            width = np.sqrt(np.maximum(slope * slope - 4 * bend * fm, 0.0))
            root = np.clip(middle - (b - a) * fm / np.minimum(slope - width, -TINY), a, b)
            fr = difference(root)
            if ((np.abs(fr) <= zero) | (b - a <= SHORTEST)).all():
                break
            for t, f in ((middle, fm), (root, fr)):
                between = (t >= a) & (t <= b)
                above, below = between & (f >= 0), between & (f < 0)
                a, fa = np.where(above, t, a), np.where(above, f, fa)
                b, fb = np.where(below, t, b), np.where(below, f, fb)
        return self.at(root)


class Grid(NamedTuple):
    """The lines of a grid, ascending, the labels that win at its nodes with their leads, and its crossed edges.

    ``label`` and ``lead`` are those of ``winners``, (rows, columns). ``place`` (3, m) tells of each crossed edge
    whether it goes up from its first end, and the row and column of this end.
    """

    x: Array
    y: Array
    label: Integers
    lead: Array
    place: Integers
    edges: Edges

    @classmethod
    def of(cls, scores: Field, x: Array, y: Array) -> Grid:
        """The grid with these lines."""
        square = np.empty((len(y), len(x), 2))
        square[..., 0], square[..., 1] = x, y[:, None]
        nodes = square.reshape(-1, 2)
        Z = scores(nodes)
        label, lead = winners(Z)
        L = label.reshape(len(y), len(x))
        crossed = np.zeros((2, *L.shape), dtype=bool)
        crossed[0, :, :-1], crossed[1, :-1] = L[:, 1:] != L[:, :-1], L[1:] != L[:-1]
        up, begin = np.divmod(np.flatnonzero(crossed), L.size)
        end = begin + np.where(up, len(x), 1)
        start, i, j = nodes[begin], label[begin], label[end]
        edges = Edges(start, nodes[end] - start, i, j, Z[begin, i] - Z[begin, j], Z[end, i] - Z[end, j])
        return cls(x, y, L, lead.reshape(L.shape), np.array([up, *np.divmod(begin, len(x))]), edges)

    def squares(self) -> tuple[Integers, Integers]:
        """The squares (m, 2), row and column, with different labels at their corners, and three of these labels (m, 3).

        The label in the middle is −1 if there are only two.
        """
        around = [self.label[a : a + len(self.y) - 1, b : b + len(self.x) - 1] for a in (0, 1) for b in (0, 1)]
        differ = (around[0] != around[1]) | (around[0] != around[2]) | (around[0] != around[3])
        row, column = np.divmod(np.flatnonzero(differ), len(self.x) - 1)
        corner = np.array([labels[row, column] for labels in around])
        low, high = corner.min(axis=0), corner.max(axis=0)
        other = np.where((corner != low) & (corner != high), corner, -1).max(axis=0)
        return np.array([row, column]).T, np.array([low, other, high]).T

    def narrow(self, scores: Field) -> tuple[Integers, Integers]:
        """The squares (m, 2) at edges on which a third label wins near the crossing, and the three labels (m, 3)."""
        first, second, low, high = self.edges[2:]
        between, _ = winners(scores(self.edges.at(low / np.maximum(low - high, TINY))))
        third = np.flatnonzero((between != first) & (between != second))
        squares = np.minimum(self.place[1:, third].T, np.array(self.label.shape) - 2)
        return squares, np.array([first, between, second])[:, third].T

    def meeting_points(self, scores: Field, squares: Integers, labels: Integers) -> tuple[Array, Array, Array]:
        """Points at which three scores are equal, by Newton's method from the middles of squares.

        Returns the lower left corners of the squares, their sides, and the points in sides from the corner, all (m, 2).
        ``FAILED`` stands for points that were not found.

        >>> x, scores = np.array([0.0, 1.0]), lambda X: np.column_stack([X[:, 0], X[:, 1], np.full(len(X), 0.25)])
        >>> grid = Grid.of(scores, x, x)
        >>> grid.meeting_points(scores, *grid.squares())[2].round(9).tolist()
        [[0.25, 0.25]]
        """
        (row, column), rows = squares.T, np.arange(len(squares))[:, None]
        corner = np.column_stack([self.x[column], self.y[row]])
        side, share = np.column_stack([self.x[column + 1], self.y[row + 1]]) - corner, np.full_like(corner, 0.5)
        offsets = DIFFERENCE * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])[:, None]
        with np.errstate(all="ignore"):
            for _ in range(NEWTON_STEPS):
                Z = scores((corner + side * (share + offsets)).reshape(-1, 2)).reshape(5, len(rows), -1)
                F = (Z[:, rows, labels[:, :1]] - Z[:, rows, labels[:, 1:]]).T
                f, g = F[..., 0]
                (a, c), (b, d) = F[..., 1] - F[..., 2], F[..., 3] - F[..., 4]  # derivatives, times 2 DIFFERENCE
                step = 2 * DIFFERENCE * (np.array([d * f - b * g, a * g - c * f]) / (a * d - b * c)).T
                # A step that leaves the neighbourhood, or is not a number, ends there for good.
                share = np.where(np.abs(share - step) < FAILED, share - step, FAILED)
                small = np.abs(step) <= LAST_STEP
                if small.all():
                    break
        return corner, side, np.where(small.all(axis=1)[:, None], share, FAILED)

    def refined(self, scores: Field) -> Grid:
        """The grid with more lines around points at which three labels meet, or one of them is narrow."""
        grid = self
        for smallest, reach in ROUNDS:
            squares, labels = grid.squares()
            meet, (more, others) = labels[:, 1] >= 0, grid.narrow(scores)
            squares, labels = np.concatenate([squares[meet], more]), np.concatenate([labels[meet], others])
            row, column = squares.T
            in_x = np.diff(grid.x)[column] > smallest * (self.x[1] - self.x[0])
            wide = np.flatnonzero(in_x | (np.diff(grid.y)[row] > smallest * (self.y[1] - self.y[0])))
            _, once = np.unique(row[wide] * len(grid.x) + column[wide], return_index=True)
            few = wide[np.sort(once)[:MOST_JUNCTIONS]]
            if not len(few):
                break
            corner, side, share = grid.meeting_points(scores, squares[few], labels[few])
            near = corner + side * (CLOSER + np.where(np.abs(share - 0.5) <= reach, share, 0.5))
            grid = self.of(scores, _with(grid.x, near[..., 0].ravel()), _with(grid.y, near[..., 1].ravel()))
        return grid


def _with(lines: Array, more: Array) -> Array:
    """The lines of a grid and more of them between the first and the last, without those that are almost the same."""
    apart = SAME_LINE * (lines[-1] - lines[0])
    found = np.unique(np.concatenate([lines, more[(more > lines[0] + apart) & (more < lines[-1] - apart)]]))
    return np.asarray(found[np.append(np.diff(found) > apart, True)])


def winners(Z: Array) -> tuple[Integers, Array]:
    """The label with the largest score, the first of several, and its lead over the second, from scores (m, K).

    >>> label, lead = winners(np.array([[0.0, 1.0, 1.0], [5.0, 2.0, 3.0], [0.0, 1.0, 2.0]]))
    >>> label.tolist(), lead.tolist()
    ([1, 0, 2], [0.0, 2.0, 1.0])
    """
    largest, second = np.maximum(Z[:, 0], Z[:, 1]), np.minimum(Z[:, 0], Z[:, 1])
    label = (Z[:, 1] > Z[:, 0]).astype(np.int64)
    for k in range(2, Z.shape[1]):
        np.putmask(label, Z[:, k] > largest, k)
        second = np.maximum(second, np.minimum(largest, Z[:, k]))
        largest = np.maximum(largest, Z[:, k])
    return label, largest - second


def middles(scores: Field, p: Array, q: Array, i: Integers, j: Integers) -> Array:
    """The middles of segments, moved at right angles onto the boundary between labels i and j; else NaN."""
    normal, middle, rows = (q - p)[:, ::-1] * [-REACH, REACH], 0.5 * (p + q), np.arange(len(p))
    Z = scores(np.concatenate([middle + normal, middle - normal])).reshape(2, len(p), -1)
    f, g = np.subtract(Z[:, rows, i], Z[:, rows, j])
    turned = f < 0
    i, j = np.where(turned, (j, i), (i, j))
    start, low, high = middle + normal, np.abs(f), np.where(turned, -g, g)
    k, found = np.flatnonzero(high < 0), np.full_like(p, np.nan)
    found[k] = Edges(start[k], -2 * normal[k], i[k], j[k], low[k], high[k]).crossings(scores)
    return found


class Tracing:
    """The boundaries between the labels whose scores are the largest, on a grid over a box.

    ``through``: points (m, 2) that are nodes of the grid, such as the centres of small closed curves. ``smooth`` adds a
    vertex inside each square.
    """

    def __init__(
        self, scores: Field, box: Any, squares: int = SQUARES, through: Array | None = None, *, smooth: bool = True
    ) -> None:
        around = corners(box)
        least, _, most, _ = around
        x, y = np.linspace(least, most, squares + 1).T
        if through is not None and len(through):
            inner = through[((through > least) & (through < most)).all(axis=1)]
            x, y = _with(x, inner[:, 0]), _with(y, inner[:, 1])
        grid = Grid.of(lambda points: moderate_scores(scores, points, box), x, y)
        self.grid = grid = grid.refined(scores) if grid.label.max() > 1 else grid
        # The points: crossings of edges, then the corners of the box, then points in squares. ``number`` has those of
        # nodes, of edges to the right of nodes, and of edges above them; ``inner`` those of squares.
        points, (up, row, column) = grid.edges.crossings(scores), grid.place
        m = len(points)
        self.number, self.inner = np.full((3, *grid.label.shape), -1), np.full(grid.label.shape, -1)
        self.number[1 + up, row, column] = np.arange(m)
        self.number[0, [0, 0, -1, -1], [0, -1, -1, 0]] = np.arange(m, m + 4)
        self.points = np.concatenate([points, around])
        if smooth and m:
            self._join_inside(scores)

    def _join_inside(self, scores: Field) -> None:
        """Add a point on the boundary to squares with two crossings, and those at which three labels meet."""
        (squares, labels), edges = self.grid.squares(), self.grid.edges
        row, column = squares.T
        sides = np.array([[1, 2, 1, 2], [0, 0, 1, 0], [0, 1, 0, 0]])[..., None]
        own = self.number[sides[0], row + sides[1], column + sides[2]]
        points, meet = np.full((len(row), 2), np.nan), labels[:, 1] >= 0
        simple = np.count_nonzero(own < 0, axis=0) == 2
        if simple.any():
            p, q = np.sort(own[:, simple], axis=0)[2:]
            points[simple] = middles(scores, self.points[p], self.points[q], edges.first[p], edges.second[p])
        if meet.any():
            corner, side, share = self.grid.meeting_points(scores, squares[meet], labels[meet])
            mean = np.mean(self.points[own[:, meet]], axis=0, where=(own[:, meet] >= 0)[..., None])
            inside = np.abs(share - 0.5).max(axis=1, keepdims=True) <= 0.5
            points[meet] = np.where(inside, corner + side * share, mean)
        inner = ~np.isnan(points[:, 0])
        self.inner[row[inner], column[inner]] = len(self.points) + np.arange(np.count_nonzero(inner))
        self.points = np.concatenate([self.points, points[inner]])

    def curves(self) -> list[Array]:
        """The edges of the first label's part inside the box, as polylines; a closed one ends where it starts."""
        return self._polylines(self._contours(1).lines(0.0))

    def rings(self, n_labels: int) -> list[list[Array]]:
        """The outlines of each label's part, closed along the sides of the box."""
        found = zip(*self._contours(n_labels).filled(0.0, 4.0), strict=True)
        paths = [points[a:b] for points, offsets in found for a, b in pairwise(offsets.tolist())]
        rings: list[list[Array]] = [[] for _ in range(n_labels)]
        area = NO_AREA * (self.grid.x[-1] - self.grid.x[0]) * (self.grid.y[-1] - self.grid.y[0])
        tied = np.any(self.grid.edges.low * self.grid.edges.high == 0.0)
        for path, ring in zip(paths, self._polylines(paths), strict=True):
            if not tied or abs(polygon_area(ring)) > area:
                k, closed = int(path[0, 1]) // (len(self.grid.y) + 1), np.array_equal(ring[0], ring[-1])
                rings[k].append(ring[:-1] if closed else ring)
        return rings

    def _contours(self, n_labels: int) -> Any:
        """The contours between each of these labels and all others, on grids with the spacing 1.

        The grids lie above each other. A row without values separates them.
        """
        import contourpy

        (rows, columns), lead = self.grid.label.shape, self.grid.lead
        size = 1.0 + lead / (lead.max() + TINY) + UNDECIDED * np.outer(np.arange(rows), np.arange(columns))
        z = np.full((n_labels, rows + 1, columns), np.nan)
        z[:, :-1] = np.where(self.grid.label == np.arange(n_labels)[:, None, None], size, -size)
        y, x = np.indices((z.shape[0] * z.shape[1], columns), dtype=np.float64)
        lines, fills = contourpy.LineType.Separate, contourpy.FillType.OuterOffset
        return contourpy.contour_generator(x, y, z.reshape(x.shape), line_type=lines, fill_type=fills)

    def _polylines(self, paths: list[Array]) -> list[Array]:
        """The boundaries along contours."""
        if not paths:
            return []
        place, path = np.concatenate(paths), np.repeat(np.arange(len(paths)), [len(one) for one in paths])
        place[:, 1] %= len(self.grid.y) + 1
        node = np.floor(place + NEAR_NODE).astype(np.int64)
        right, up = (place - node > NEAR_NODE).T
        number = self.number[right + 2 * up, node[:, 1], node[:, 0]]
        kept = number >= 0  # without nodes between the corners of the box
        place, path, number = place[kept], path[kept], number[kept]
        # Two successive vertices are joined through the point of their square, except along a side of the box.
        centre = 0.5 * (place[:-1] + place[1:])
        inside = (path[:-1] == path[1:]) & (np.abs(centre - np.rint(centre)) > NEAR_NODE).all(axis=1)
        column, row = centre.astype(np.int64).T
        both = np.full((len(number), 2), -1)
        both[:, 0], both[:-1, 1] = number, np.where(inside, self.inner[row, column], -1)
        ends = np.cumsum(np.bincount(path, (both >= 0).sum(axis=1)).astype(np.int64))
        return np.split(self.points[both[both >= 0]], ends[:-1])


def curved_regions(
    scores: Field, labels: Sequence[Any], box: Any, *, through: Array | None = None
) -> list[CurvedRegion]:
    """The regions in which each label has the largest score, in the order of the labels.

    >>> found = curved_regions(lambda X: np.column_stack([X[:, 0] ** 2, X[:, 1]]), ["a", "b"], (-1, 1, -1, 1))
    >>> round(found[1].area, 3), round(found[0].area, 3)
    (1.333, 2.667)
    """
    return _regions_of(scores, labels, box, Tracing(scores, box, through=through).rings(len(labels)))


def regions_between(lines: Array, scores: Field, labels: Sequence[Any], box: Any) -> list[CurvedRegion]:
    """``curved_regions`` where all boundaries lie on lines (b, w), (P, 3): one label wins in each cell between them.

    >>> line, scores = np.array([[-0.25, 1.0, 0.0]]), lambda X: np.column_stack([X[:, 0], np.full(len(X), 0.25)])
    >>> [one.area for one in regions_between(line, scores, ["a", "b"], (0, 1, 0, 1))]
    [0.75, 0.25]
    """
    found = cells(lines, box)
    centres = np.array([cell.vertices.mean(axis=0) for cell in found])
    rings: list[list[Array]] = [[] for _ in labels]
    for cell, winner in zip(found, moderate_scores(scores, centres, box).argmax(axis=1).tolist(), strict=True):
        rings[winner].append(cell.vertices)
    return _regions_of(scores, labels, box, rings)


def _regions_of(scores: Field, labels: Sequence[Any], box: Any, rings: list[list[Array]]) -> list[CurvedRegion]:
    def wins(k: int) -> Callable[[Array], Any]:
        return lambda X: np.argmax(scores(X), axis=1) == k

    found = enumerate(zip(labels, rings, strict=True))
    return [CurvedRegion((label,), tuple(own), as_box(box), wins(k)) for k, (label, own) in found]
