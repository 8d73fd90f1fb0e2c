"""Points at which three labels meet, and grid lines that are closer together around them.

Near such a point a label may be narrower than a square of the grid, so that no node shows it. There the grid has more
lines, which are closer together the nearer they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.geometry.grids import Edges, Grid, crossed_edges, crossed_squares, winners

# Distances of the closer lines from a junction, in sides of the square in which it lies.
CLOSER = np.array([1 / 64, 1 / 16, 1 / 4])
# Largest number of junctions with closer lines: a label that is narrow everywhere would need very many.
MOST_JUNCTIONS = 12
# Rounds in which the squares are divided where a label is narrow, the smallest side of a square that is divided, as a
# share of the first ones, and the largest number of grid lines in each direction.
MOST_ROUNDS, SMALLEST_SIDE, MOST_LINES = 3, 1 / 30, 200
# Steps of Newton's method, which converges from within a square in about four.
NEWTON_STEPS = 8
# The step of central differences, and the last step of Newton's method, as shares of a side of the square. Each step is
# about the square of the one before, so the error after the last one is about 1e-14.
DIFFERENCE, LAST_STEP = 1e-4, 1e-7
# A junction found from a square is taken for one near it up to this number of sides away.
SAME_JUNCTION = 2.0
TINY = float(np.finfo(np.float64).tiny)


def meeting_points(field: Callable[[Array], Array], start: Array, side: Array, labels: Integers) -> Array:
    """The points at which three scores are equal, by Newton's method from each start; NaN where it fails.

    ``start``, ``side``: (m, 2), points and the sides of their squares. ``labels``: (m, 3).

    >>> field = lambda X: np.column_stack([X[:, 0], X[:, 1], np.full(len(X), 0.25)])
    >>> meeting_points(field, np.array([[0.5, 0.5]]), np.ones((1, 2)), np.array([[2, 0, 1]])).tolist()
    [[0.25, 0.25]]
    """
    point, rows = start, np.arange(len(start))[:, None]
    h, k = DIFFERENCE * side[:, 0], DIFFERENCE * side[:, 1]
    offsets = np.zeros((5, *start.shape))
    offsets[1, :, 0], offsets[2, :, 0], offsets[3, :, 1], offsets[4, :, 1] = h, -h, k, -k
    near, settled, unit = SAME_JUNCTION * side, LAST_STEP * side, 2 * DIFFERENCE * side
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            Z = field((point + offsets).reshape(-1, 2)).reshape(5, len(start), -1)[:, rows, labels]
            F = (Z[..., :1] - Z[..., 1:]).T
            f, g = F[..., 0]
            (a, c), (b, d) = F[..., 1] - F[..., 2], F[..., 3] - F[..., 4]  # derivatives, times ``unit``
            step = unit * (np.array([d * f - b * g, a * g - c * f]) / (a * d - b * c)).T
            # A step that leaves the neighbourhood, or is not a number, ends outside it and stays there.
            after = point - step
            point = np.where(np.abs(after - start) <= near, after, start + 2 * near)
            small = np.abs(step) <= settled
            if small.all():
                break
        found = np.all(small & (np.abs(point - start) <= near), axis=1)
    return np.where(found[:, None], point, np.nan)


class Meeting(NamedTuple):
    """Points (m, 2) at which three labels meet, and these labels (m, 3)."""

    points: Array
    labels: Integers


NONE_MEET = Meeting(np.zeros((0, 2)), np.zeros((0, 3), dtype=np.int64))


def junction(
    field: Callable[[Array], Array], cell: Array, corner: Integers, crossings: Array, known: Meeting = NONE_MEET
) -> Array:
    """The point in a square at which three scores are equal; else the mean of the crossings of its edges.

    ``cell``: (x low, x high, y low, y high). ``corner``: the labels at the corners, at least three different ones.
    ``known``: points of which one may be in the square.
    """
    three = list(dict.fromkeys(corner.tolist()))[:3]
    for point, labels in zip(known.points, known.labels.tolist(), strict=True):
        if _is_inside(cell, point) and set(labels) == set(three):
            return np.asarray(point)
    start = crossings.mean(axis=0)
    side = np.array([[cell[1] - cell[0], cell[3] - cell[2]]])
    point = meeting_points(field, start[None], side, np.array([three]))[0]
    return np.asarray(point if _is_inside(cell, point) else start)


def _is_inside(cell: Array, point: Array) -> bool:
    return bool(cell[0] <= point[0] <= cell[1] and cell[2] <= point[1] <= cell[3])


def refined(field: Callable[[Array], Array], grid: Grid, edges: Edges) -> tuple[Grid, Edges, Meeting]:
    """The grid with more lines around points at which three labels meet and where a label is narrow.

    Returns its edges and the points, too.
    """
    smallest = np.array([grid.x[1] - grid.x[0], grid.y[1] - grid.y[0]]) * SMALLEST_SIDE
    grid, known = closer_lines(grid, field, *crowded(field, edges))
    edges = crossed_edges(grid, grid.scores(field))
    for _ in range(MOST_ROUNDS):
        place, _ = _narrow(field, edges)
        if not len(place):
            break
        wide = np.column_stack([np.diff(grid.x)[place[:, 0]], np.diff(grid.y)[place[:, 1]]]) > smallest
        finer = Grid(_divided(grid.x, place[wide[:, 0], 0]), _divided(grid.y, place[wide[:, 1], 1]))
        if not wide.any() or max(finer.shape) > MOST_LINES:
            break
        grid, edges = finer, crossed_edges(finer, finer.scores(field))
    return grid, edges, known


def _divided(lines: Array, numbers: Integers) -> Array:
    """The lines of a grid, with two more in each of the intervals of these numbers and in its neighbours.

    >>> _divided(np.array([0.0, 3.0, 6.0, 9.0]), np.array([2, 2])).tolist()
    [0.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    """
    near = np.unique(np.concatenate([numbers - 1, numbers, numbers + 1]))
    near = near[(near >= 0) & (near < len(lines) - 1)]
    low, side = lines[near], lines[near + 1] - lines[near]
    return np.unique(np.concatenate([lines, low + side / 3, low + 2 * side / 3]))


def closer_lines(
    grid: Grid, field: Callable[[Array], Array], columns: Integers, rows: Integers, three: Integers
) -> tuple[Grid, Meeting]:
    """The grid with more lines around the points at which three labels meet, from squares near which they may.

    Returns the points, too.
    """
    if not len(columns):
        return grid, NONE_MEET
    low = np.column_stack([grid.x[columns], grid.y[rows]])
    side = np.column_stack([grid.x[columns + 1], grid.y[rows + 1]]) - low
    found = meeting_points(field, low + 0.5 * side, side, three)
    known = ~np.isnan(found[:, 0])
    meeting = Meeting(found[known], three[known])
    # Where Newton's method fails, the lines are set closer around the middle of the square.
    found = np.where(known[:, None], found, low + 0.5 * side)
    rounded = np.round((found - low[0]) / side[0], 6).tolist()
    first = list({tuple(place): k for k, place in enumerate(rounded)}.values())[:MOST_JUNCTIONS]
    near = np.concatenate([CLOSER, -CLOSER])
    lines = found[first, None, :] + near[:, None] * side[first, None, :]
    return Grid(_with(grid.x, lines[..., 0]), _with(grid.y, lines[..., 1])), meeting


def _with(lines: Array, more: Array) -> Array:
    """The lines of a grid and more of them, as far as they lie between the first and the last."""
    inner = more[(more > lines[0]) & (more < lines[-1])]
    return np.unique(np.concatenate([lines, inner]))


def crowded(field: Callable[[Array], Array], edges: Edges) -> tuple[Integers, Integers, Integers]:
    """The squares (columns, rows) near which three labels may meet, and these labels (m, 3).

    These are squares with three labels at their corners, and squares at an edge between two labels on which a third one
    wins near the crossing.
    """
    squares = crossed_squares(edges)
    corner = squares.corner
    low, high = corner.min(axis=1, keepdims=True), corner.max(axis=1, keepdims=True)
    other = np.where((corner != low) & (corner != high), corner, -1).max(axis=1, keepdims=True)
    meet = other[:, 0] >= 0
    columns, rows = squares.place[meet].T
    three = np.concatenate([low, other, high], axis=1)[meet]
    place, third = _narrow(field, edges)
    columns, rows = np.concatenate([columns, place[:, 0]]), np.concatenate([rows, place[:, 1]])
    return columns, rows, np.concatenate([three, third])


def _narrow(field: Callable[[Array], Array], edges: Edges) -> tuple[Integers, Integers]:
    """Squares (m, 2) at an edge between two labels on which a third one wins near the crossing, and the labels."""
    t = edges.low / np.maximum(edges.low - edges.high, TINY)
    between = winners(field(edges.start + t[:, None] * edges.step))
    third = np.flatnonzero((between != edges.first) & (between != edges.second))
    n_x, n_y = edges.labels.shape
    a, b = np.divmod(edges.node[third], n_y)
    place = np.array([np.minimum(a, n_x - 2), np.minimum(b, n_y - 2)]).T
    return place, np.array([edges.first[third], between[third], edges.second[third]]).T
