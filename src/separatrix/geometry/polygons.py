"""Convex polygons in the plane: their area, the points inside, and how lines cut them. TEXTBOOK G5, M3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import ParameterError

# A vertex within this share of the largest term of its score counts as on the line: cutting there makes slivers.
ON_LINE = 1e-13


@dataclass(frozen=True)
class Region:
    """A convex polygon and who claims it: ``vertices`` (m, 2) counter-clockwise, none where nobody ever wins there.

    ``labels``: the class that wins, or for an ambiguous region all that contend.

    >>> triangle = Region(("a",), np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]))
    >>> triangle.area, triangle.contains([[0.5, 0.5], [2.0, 2.0]]).tolist()
    (1.0, [True, False])
    """

    labels: tuple[Any, ...]
    vertices: Array

    @property
    def empty(self) -> bool:
        return len(self.vertices) == 0

    @property
    def area(self) -> float:
        return polygon_area(self.vertices)

    @property
    def centre(self) -> Array:
        """The vertices' mean: a point inside."""
        return np.asarray(self.vertices.mean(axis=0))

    def contains(self, X: Any, slack: float = 0.0) -> Any:
        """Which points lie inside or on the edge, to a distance of ``slack``."""
        points = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if self.empty:
            return np.zeros(len(points), dtype=bool)
        edge = np.roll(self.vertices, -1, axis=0) - self.vertices
        inward = np.column_stack([-edge[:, 1], edge[:, 0]]) / np.linalg.norm(edge, axis=1)[:, None]
        return np.all(points @ inward.T - np.sum(inward * self.vertices, axis=1) >= -slack, axis=1)


def polygon_area(vertices: Array) -> float:
    """½ Σ (x_k y_{k+1} − x_{k+1} y_k), positive for counter-clockwise vertices.

    >>> polygon_area(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]))
    1.0
    """
    if len(vertices) < 3:
        return 0.0
    P = vertices - vertices[0]  # far from the origin the products would cancel
    after = np.roll(P, -1, axis=0)
    return 0.5 * float(np.sum(P[:, 0] * after[:, 1] - after[:, 0] * P[:, 1]))


def split(polygon: Array, line: Array) -> tuple[Array, Array]:
    """The parts of a convex polygon where b + w·x ≥ 0 and ≤ 0, for ``line`` = (b, w); empty parts have no vertices.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> above, below = split(square, np.array([-0.25, 0.0, 1.0]))
    >>> polygon_area(above), polygon_area(below)
    (0.75, 0.25)
    """
    terms = np.column_stack([np.full(len(polygon), line[0]), polygon * line[1:]])
    z = terms.sum(axis=1)
    z[np.abs(z) <= ON_LINE * np.abs(terms).max(axis=1)] = 0.0
    if np.all(z >= 0) or np.all(z <= 0):
        none = polygon[:0]
        return (polygon, none) if np.any(z > 0) or not np.any(z) else (none, polygon)
    above: list[Array] = []
    below: list[Array] = []
    for k in range(len(polygon)):
        p, q, a, c = polygon[k - 1], polygon[k], z[k - 1], z[k]
        if a * c < 0:
            crossing = p + (q - p) * (a / (a - c))
            above.append(crossing)
            below.append(crossing)
        if c >= 0:
            above.append(q)
        if c <= 0:
            below.append(q)
    return _polygon(above), _polygon(below)


def _polygon(corners: list[Array]) -> Array:
    """Vertices without repetitions; fewer than three make no polygon."""
    kept = [p for k, p in enumerate(corners) if np.any(p != corners[k - 1])]
    return np.array(kept) if len(kept) >= 3 else np.empty((0, 2))


def corners(box: Any) -> Array:
    """The corners of (x₁ low, x₁ high, x₂ low, x₂ high), (4, 2), counter-clockwise from the lower left."""
    found = np.asarray(box, dtype=np.float64).ravel()
    if found.shape != (4,) or not np.all(np.isfinite(found)) or found[0] >= found[1] or found[2] >= found[3]:
        raise ParameterError("box", f"got {box!r}", "give (x1 low, x1 high, x2 low, x2 high), each low < high")
    left, right, low, high = found
    return np.array([[left, low], [right, low], [right, high], [left, high]])


@dataclass(frozen=True)
class Cell:
    """A piece of the box that no line crosses: its vertices, and for each line its side, +1 or −1."""

    vertices: Array
    signs: Integers


def cells(lines: Any, box: Any) -> list[Cell]:
    """The pieces into which lines (b, w), (P, 3), cut the box: at most 1 + P + P(P − 1)/2.

    A line with w = 0 cuts nothing; its sign is that of b.

    >>> sorted(cell.signs.tolist() for cell in cells([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], (-1, 1, -1, 1)))
    [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    """
    W = np.asarray(lines, dtype=np.float64)
    if W.ndim != 2 or W.shape[1] != 3:
        raise ParameterError("lines", f"its shape is {W.shape}", "give one row (b, w1, w2) a line")
    pieces: list[tuple[Array, list[int]]] = [(corners(box), [])]
    for line in W:
        after = []
        for polygon, signs in pieces:
            if not np.any(line[1:]):
                after.append((polygon, [*signs, int(np.sign(line[0]))]))
                continue
            for part, sign in zip(split(polygon, line), (1, -1), strict=True):
                if len(part) >= 3:
                    after.append((part, [*signs, sign]))
        pieces = after
    return [Cell(polygon, np.array(signs, dtype=np.int64)) for polygon, signs in pieces]
