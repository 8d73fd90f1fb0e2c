"""Boundaries between labelled parts of the plane, traced on a grid (docs/tour.md, B4).

This is the method of marching squares (Lorensen and Cline 1987, in the plane) for any number of labels. The label of a
point is the position of its largest score. A grid shows which of its edges a boundary crosses, and the crossing is
found up to rounding. Inside a square, two crossings are joined. Where three labels meet, all crossings of the square
are joined to the point at which the three scores are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.geometry.bracketed_roots import bracketed_roots
from separatrix.geometry.grids import Edges, Field, Grid, crossed_squares
from separatrix.geometry.junctions import NONE_MEET, Meeting, junction


@dataclass(frozen=True)
class Boundaries:
    """Directed segments between numbered points, each with its label on the left.

    Attributes
    ----------
    points : array (m, 2)
        The crossings of the edges, in their order, then points inside squares.
    start, end, label : arrays (2 s,)
        Segments from ``points[start]`` to ``points[end]``. Segment s + k is segment k reversed, for the label on its
        other side.
    """

    points: Array
    start: Integers
    end: Integers
    label: Integers


def march(field: Field, grid: Grid, edges: Edges, known: Meeting = NONE_MEET) -> Boundaries:
    """Find the crossings of the edges and join them inside the squares. ``known``: points at which three labels meet.

    >>> grid = Grid(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    >>> field = lambda X: np.column_stack([X[:, 0], 0.25 * np.ones(len(X))])
    >>> from separatrix.geometry.grids import crossed_edges
    >>> found = march(field, grid, crossed_edges(grid, grid.scores(field)))
    >>> found.points.tolist(), found.label.tolist()
    ([[0.25, 0.0], [0.25, 1.0]], [1, 0])
    """
    points, squares = crossings(field, edges), crossed_squares(edges)
    crossed = squares.around >= 0
    simple = crossed.sum(axis=1) == 2
    hit, own, on = squares.around[simple], squares.corner[simple], crossed[simple]
    rows = np.arange(len(hit))
    first, last = np.argmax(on, axis=1), 3 - np.argmax(on[:, ::-1], axis=1)
    p, q = hit[rows, first], hit[rows, last]
    joined = [np.column_stack([p, q, q, p, own[rows, first], own[rows, last]])]
    extra: list[Array] = []
    for k in np.flatnonzero(~simple).tolist():
        a, b = squares.place[k].tolist()
        cell = np.array([grid.x[a], grid.x[a + 1], grid.y[b], grid.y[b + 1]])
        joined.append(_in_mixed_square(field, cell, squares.around[k], squares.corner[k], points, extra, known))
    # Columns: start and end of the segment with its first label on the left, the same for the second, both labels.
    start, end, start_back, end_back, left, right = np.concatenate(joined).T
    return Boundaries(
        np.concatenate([points, np.reshape(extra, (-1, 2))]),
        np.concatenate([start, start_back]),
        np.concatenate([end, end_back]),
        np.concatenate([left, right]),
    )


def crossings(field: Field, edges: Edges) -> Array:
    """The points on the edges where the scores of the labels at their ends are equal, (m, 2)."""
    if not len(edges.first):
        return edges.start
    t = bracketed_roots(edges.differences(field), edges.low, edges.high)
    return np.asarray(edges.start + t[:, None] * edges.step)


def _in_mixed_square(
    field: Field, cell: Array, around: Any, corner: Any, points: Array, extra: list[Array], known: Meeting
) -> Integers:
    """The segments in a square with more than two crossings; points inside it are added to ``extra``."""
    if len(set(corner.tolist())) == 2:
        # A saddle: the labels alternate. The corners whose label differs from that of the centre are cut off.
        centre = np.array([[0.5 * (cell[0] + cell[1]), 0.5 * (cell[2] + cell[3])]])
        cut = 1 - int(np.argmax(field(centre)[0, corner[:2]]))
        pairs = [(around[e], around[e - 1], corner[e], corner[e - 1]) for e in (cut, cut + 2)]
        return np.array([(p, q, q, p, i, j) for p, q, i, j in pairs], dtype=np.int64)
    hit = [e for e in range(4) if around[e] >= 0]
    meeting = junction(field, cell, corner, points[around[hit]], known)
    # Each part of the square has its own copy of the meeting point, so that its segments follow each other uniquely.
    copies = [len(points) + len(extra) + k for k in range(len(hit))]
    extra += [meeting] * len(hit)
    after = [*copies[1:], copies[0]]
    return np.array(
        [(around[e], copies[k], after[k], around[e], corner[e], corner[(e + 1) % 4]) for k, e in enumerate(hit)],
        dtype=np.int64,
    )
