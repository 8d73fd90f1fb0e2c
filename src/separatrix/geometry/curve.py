"""The boundary of any classifier of two columns, traced as a curve (docs/tour.md, B4).

The method is marching squares (Lorensen and Cline 1987, in the plane): a grid shows which edges the boundary crosses,
and bisection finds the crossing on each of them up to rounding. So every point returned lies on the boundary. A part of
the boundary that is smaller than a square of the grid, such as a small loop, may be missed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.geometry.polygons import corners

# Bisection steps on an edge of the grid; 2^−50 of its length is below 1e-15.
BISECTION_STEPS = 50


def boundary_curve(model: Any, box: Any, n: int = 100, i: Any = None, j: Any = None) -> list[Array]:
    """Trace the curve on which two classes have the same score.

    Parameters
    ----------
    model : estimator or function
        A fitted classifier or pipeline of two columns with ``decision_function``, or a function from rows (m, 2) to
        scores (m,), whose zeros are traced.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to search.
    n : int, default 100
        The number of squares along each side of the grid.
    i, j : labels
        The two classes. With two classes they may be left out.

    Returns
    -------
    list of arrays (m, 2)
        Polylines; a closed one ends where it starts.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import boundary_curve
    >>> circle = boundary_curve(lambda X: 1.0 - X[:, 0] ** 2 - X[:, 1] ** 2, (-2, 2, -2, 2), 50)
    >>> len(circle), float(abs(np.hypot(*circle[0].T) - 1.0).max()) < 1e-12
    (1, True)
    """
    left, low = corners(box)[0]
    right, high = corners(box)[2]
    if n < 1:
        raise ParameterError("n", f"got {n}", "give at least one square per side")
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
    """The points where the boundary crosses edges of the grid, and their numbers by the (axis, place) of the edge."""
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
    for _ in range(BISECTION_STEPS):
        middle = 0.5 * (low + high)
        as_first = (score(start + middle[:, None] * step) >= 0) == first
        low, high = np.where(as_first, middle, low), np.where(as_first, high, middle)
    return start + (0.5 * (low + high))[:, None] * step, number


def _segments(
    score: Callable[[Array], Array], grid: Array, above: Any, number: dict[Any, int]
) -> list[tuple[int, int]]:
    """Pairs of crossings that are joined inside a square. In a saddle, the score in the middle decides which."""
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
        # The corners whose sign differs from the middle are cut off; the other two are joined through the middle.
        pairs = [(bottom, left), (right, top)] if above[a, b] != middle else [(bottom, right), (top, left)]
        joined += pairs
    return joined


def _polylines(segments: list[tuple[int, int]], points: Array) -> list[Array]:
    """The segments joined to polylines: first open ones, from one of their ends, then loops."""
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
        chain = _chain_from(start, neighbours, seen)
        closed = len(neighbours[start]) == 2 and start in neighbours[chain[-1]] and len(chain) > 2
        chains.append(points[[*chain, start] if closed else chain])
    return chains


def _chain_from(start: int, neighbours: dict[int, list[int]], seen: set[int]) -> list[int]:
    """The points met by walking from ``start`` to unseen neighbours; adds them to ``seen``."""
    chain = [start]
    seen.add(start)
    while unseen := [k for k in neighbours[chain[-1]] if k not in seen]:
        chain.append(unseen[0])
        seen.add(unseen[0])
    return chain
