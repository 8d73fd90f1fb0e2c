"""The boundary of any classifier of two columns, traced as a curve. TEXTBOOK B4.

Marching squares (Lorensen and Cline 1987, in the plane): a grid finds the edges that the boundary crosses, and on
each of them bisection finds where, to rounding. So every point returned lies on the boundary; what the grid is too
coarse for, a loop inside one of its squares, is not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.geometry.polygons import corners

# Halvings of a grid's edge: below 1e-15 of its length.
HALVINGS = 50


def boundary_curve(model: Any, box: Any, n: int = 100, i: Any = None, j: Any = None) -> list[Array]:
    """Polylines (m, 2) on which class i and class j score alike, inside ``box``; closed ones end where they start.

    ``model``: a fitted classifier or pipeline with ``decision_function``, or a function of rows (m, 2) that gives
    one score a row. ``n``: squares a side of the grid. With two classes i and j may be left out.

    >>> circle = boundary_curve(lambda X: 1.0 - X[:, 0] ** 2 - X[:, 1] ** 2, (-2, 2, -2, 2), 50)
    >>> len(circle), float(abs(np.hypot(*circle[0].T) - 1.0).max()) < 1e-12
    (1, True)
    """
    left, low = corners(box)[0]
    right, high = corners(box)[2]
    if n < 1:
        raise ParameterError("n", f"got {n}", "give at least one square a side")
    score = _score_of(model, i, j)
    x, y = np.linspace(left, right, n + 1), np.linspace(low, high, n + 1)
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    above = (score(grid.reshape(-1, 2)) >= 0).reshape(n + 1, n + 1)
    crossings, number = _crossings(score, grid, above)
    return _polylines(_segments(score, grid, above, number), crossings)


def _score_of(model: Any, i: Any, j: Any) -> Callable[[Array], Array]:
    if not hasattr(model, "decision_function"):
        return lambda X: np.asarray(model(X), dtype=np.float64)
    labels = np.asarray(model.classes_).tolist()
    if i is None and j is None and len(labels) == 2:
        return lambda X: np.asarray(model.decision_function(X), dtype=np.float64)
    if i not in labels or j not in labels or i == j:
        raise ParameterError(
            "i, j",
            f"got {np.asarray(i).tolist()!r} and {np.asarray(j).tolist()!r}",
            f"name two of the classes {labels}",
        )
    a, c = labels.index(i), labels.index(j)
    if len(labels) == 2:
        return lambda X: np.asarray((a - c) * model.decision_function(X), dtype=np.float64)

    def difference(X: Array) -> Array:
        Z = model.decision_function(X)
        return np.asarray(Z[:, a] - Z[:, c], dtype=np.float64)

    return difference


def _crossings(score: Callable[[Array], Array], grid: Array, above: Any) -> tuple[Array, dict[Any, int]]:
    """The boundary's points on the grid's edges, and their numbers by (axis, place) of the edge."""
    edges = []
    for axis in (0, 1):
        changed = np.diff(above.astype(np.int8), axis=axis) != 0
        edges += [(axis, int(a), int(b)) for a, b in np.argwhere(changed)]
    number = {edge: k for k, edge in enumerate(edges)}
    if not edges:
        return np.empty((0, 2)), number
    start = np.array([grid[a, b] for _, a, b in edges])
    step = np.array([grid[a + (axis == 0), b + (axis == 1)] for axis, a, b in edges]) - start
    first = np.array([above[a, b] for _, a, b in edges])
    low, high = np.zeros(len(edges)), np.ones(len(edges))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        as_first = (score(start + middle[:, None] * step) >= 0) == first
        low, high = np.where(as_first, middle, low), np.where(as_first, high, middle)
    return start + (0.5 * (low + high))[:, None] * step, number


def _segments(
    score: Callable[[Array], Array], grid: Array, above: Any, number: dict[Any, int]
) -> list[tuple[int, int]]:
    """Pairs of crossings joined inside a square; of the two ways through a saddle, the one its middle decides."""
    joined = []
    mixed = above[:-1, :-1].astype(int) + above[1:, :-1] + above[1:, 1:] + above[:-1, 1:]
    for a, b in np.argwhere((mixed > 0) & (mixed < 4)):
        around = [(0, a, b), (1, a + 1, b), (0, a, b + 1), (1, a, b)]  # bottom, right, top, left
        hit = [number[(axis, int(p), int(q))] for axis, p, q in around if (axis, int(p), int(q)) in number]
        if len(hit) == 2:
            joined.append((hit[0], hit[1]))
            continue
        middle = score(0.5 * (grid[a, b] + grid[a + 1, b + 1])[None, :])[0] >= 0
        bottom, right, top, left = hit
        # A corner unlike the middle is cut off by itself; the other two corners are joined through the middle.
        pairs = [(bottom, left), (right, top)] if above[a, b] != middle else [(bottom, right), (top, left)]
        joined += pairs
    return joined


def _polylines(segments: list[tuple[int, int]], points: Array) -> list[Array]:
    """Segments chained end to end: open chains first, from their ends, then loops."""
    neighbours: dict[int, list[int]] = {}
    for a, b in segments:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    ends = [k for k, near in neighbours.items() if len(near) == 1]
    seen: set[int] = set()
    chains = []
    for start in [*ends, *neighbours]:
        if start in seen:
            continue
        chain, here = [start], start
        seen.add(start)
        while True:
            onward = [k for k in neighbours[here] if k not in seen]
            if not onward:
                break
            here = onward[0]
            seen.add(here)
            chain.append(here)
        if len(neighbours[start]) == 2 and start in neighbours[here] and len(chain) > 2:
            chain.append(start)
        chains.append(points[chain])
    return chains
