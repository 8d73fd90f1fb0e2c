"""Convex polygons in the plane, and the scores of a model as a function of points in it (docs/tour.md, G5, M3).

The class of a point is the first of those with the largest score, as ``predict`` finds it for a model or a pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import ParameterError

# --- Polygons

# Polygons that are cut have a few vertices. As plain numbers they take a fifth of the time of arrays.
Vertices = list[tuple[float, float]]
# Largest coordinate of a box, so that its area and the squares of its sides do not overflow.
LARGEST_COORDINATE = 1e150


@dataclass(frozen=True)
class Region:
    """A convex polygon and the classes that it belongs to.

    Attributes
    ----------
    labels : tuple
        The class that wins there, or for an ambiguous region all classes that may win there.
    vertices : array (m, 2)
        The vertices, counter-clockwise. A class that wins nowhere has a region without vertices.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.core.geometry.polygons import Region
    >>> triangle = Region(("a",), np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]))
    >>> triangle.area, triangle.contains([[0.5, 0.5], [2.0, 2.0]]).tolist()
    (1.0, [True, False])
    """

    labels: tuple[Any, ...]
    vertices: Array

    @property
    def empty(self) -> bool:
        """Whether there are no vertices."""
        return len(self.vertices) == 0

    @property
    def rings(self) -> tuple[Array, ...]:
        """The outline, as of a region with curved edges: none or one."""
        return () if self.empty else (self.vertices,)

    @property
    def area(self) -> float:
        """The area of the polygon."""
        return polygon_area(self.vertices)

    @property
    def centre(self) -> Array:
        """The mean of the vertices, which lies inside."""
        return np.asarray(self.vertices.mean(axis=0))

    def contains(self, X: Any, slack: float = 0.0) -> Any:
        """Which points lie inside or on the edge.

        Parameters
        ----------
        X : array (n, 2)
            Points.
        slack : float, default 0
            Points outside within this distance of the edges count as inside.

        Returns
        -------
        array (n,) of bool
        """
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
    P = vertices - vertices[0]  # avoids cancellation for polygons far from the origin
    after = np.roll(P, -1, axis=0)
    return 0.5 * float(np.sum(P[:, 0] * after[:, 1] - after[:, 0] * P[:, 1]))


def parts(polygon: Vertices, line: Sequence[float]) -> tuple[Vertices, Vertices]:
    """The parts of a convex polygon where b + w·x ≥ 0 and ≤ 0, for ``line`` = (b, w). An empty part has no vertices.

    >>> square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    >>> above, below = parts(square, [-0.25, 0.0, 1.0])
    >>> polygon_area(as_array(above)), polygon_area(as_array(below))
    (0.75, 0.25)
    """
    b, w1, w2 = line
    z = [_score(b, w1 * x, w2 * y) for x, y in polygon]
    if all(c >= 0 for c in z):
        return polygon, []
    if all(c <= 0 for c in z):
        return [], polygon
    above: Vertices = []
    below: Vertices = []
    p, a = polygon[-1], z[-1]
    for q, c in zip(polygon, z, strict=True):
        if a * c < 0:
            share = a / (a - c)
            crossing = p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share
            above.append(crossing)
            below.append(crossing)
        if c >= 0:
            above.append(q)
        if c <= 0:
            below.append(q)
        p, a = q, c
    return _polygon(above), _polygon(below)


def _score(b: float, first: float, second: float) -> float:
    """The sum of the three terms of a score, or zero where it is a rounding error."""
    z = b + first + second
    # A vertex with a smaller score lies on the line. Otherwise rounding would cut off slivers.
    return 0.0 if abs(z) <= 1e-13 * max(abs(b), abs(first), abs(second)) else z


def _polygon(vertices: Vertices) -> Vertices:
    """The vertices without repetitions; none if fewer than three are left."""
    kept = [p for k, p in enumerate(vertices) if p != vertices[k - 1]]
    return kept if len(kept) >= 3 else []


def plain(polygon: Array) -> Vertices:
    """The vertices as plain numbers."""
    return [(x, y) for x, y in polygon.tolist()]


def as_array(polygon: Vertices) -> Array:
    """The vertices as an array (m, 2)."""
    return np.array(polygon, dtype=np.float64).reshape(-1, 2)


def as_box(box: Any) -> tuple[float, float, float, float]:
    """The limits of a box as plain numbers."""
    left, right, low, high = np.asarray(box, dtype=np.float64).ravel().tolist()
    return left, right, low, high


def corners(box: Any) -> Array:
    """The corners (4, 2) of a box (x₁ low, x₁ high, x₂ low, x₂ high), counter-clockwise from the lower left."""
    limits = np.asarray(box, dtype=np.float64).ravel()
    if limits.shape != (4,) or not np.all(np.isfinite(limits)) or limits[0] >= limits[1] or limits[2] >= limits[3]:
        raise ParameterError("box", f"got {box!r}", "give (x1 low, x1 high, x2 low, x2 high), each low < high")
    if np.abs(limits).max() > LARGEST_COORDINATE:
        remedy = f"give a box between {-LARGEST_COORDINATE:g} and {LARGEST_COORDINATE:g}: areas overflow beyond"
        raise ParameterError("box", f"got {box!r}", remedy)
    left, right, low, high = as_box(limits)
    return np.array([[left, low], [right, low], [right, high], [left, high]])


@dataclass(frozen=True)
class Cell:
    """A part of the box that no line crosses: its vertices, and its side of each line, +1 or −1."""

    vertices: Array
    signs: Integers


def cells(lines: Any, box: Any) -> list[Cell]:
    """The cells into which lines (b, w), (P, 3), cut the box: at most 1 + P + P(P − 1)/2.

    A line with w = 0 cuts nothing; its sign in every cell is that of b.

    >>> sorted(cell.signs.tolist() for cell in cells([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], (-1, 1, -1, 1)))
    [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    """
    W = np.asarray(lines, dtype=np.float64)
    if W.ndim != 2 or W.shape[1] != 3:
        raise ParameterError("lines", f"its shape is {W.shape}", "give one row (b, w1, w2) per line")
    pieces: list[tuple[Vertices, list[int]]] = [(plain(corners(box)), [])]
    for line in W.tolist():
        after = []
        for polygon, signs in pieces:
            if not any(line[1:]):
                after.append((polygon, [*signs, int(np.sign(line[0]))]))
                continue
            for part, sign in zip(parts(polygon, line), (1, -1), strict=True):
                if len(part) >= 3:
                    after.append((part, [*signs, sign]))
        pieces = after
    return [Cell(as_array(polygon), np.array(signs, dtype=np.int64)) for polygon, signs in pieces]


# --- Scores of the classes at points of the plane

# Largest score of which boundaries are searched: the search multiplies two scores, and the product must not overflow.
LARGEST_SCORE = 1e150


@dataclass(frozen=True)
class PlaneScores:
    """The scores of the classes at points of the plane.

    ``field`` maps points (m, 2) to scores (m, K). ``link`` is that of the model's scores, None if unknown.
    """

    field: Callable[[Array], Array]
    labels: list[Any]
    link: Any = None


def plane_scores(model: Any) -> PlaneScores:
    """The scores of a fitted classifier, pipeline or scorer of two columns.

    Raises
    ------
    ParameterError
        If the model is not fitted, is not a classifier, or has not two columns.
    """
    scorer = getattr(model, "scorer_", model)
    last = model.steps[-1][1] if len(getattr(model, "steps", ())) else model
    link = getattr(getattr(last, "scorer_", scorer), "link", None)
    classes = getattr(scorer, "classes", None)
    labels = list(np.asarray(getattr(model, "classes_", None) if classes is None else classes).tolist() or [])
    if len(labels) < 2:
        problem = f"{type(model).__name__} has no classes, or is not fitted"
        raise ParameterError("model", problem, "give a fitted classifier, or a pipeline that ends in one")
    width = getattr(scorer, "n_features", getattr(model, "n_features_in_", 2))
    if width != 2:
        raise ParameterError("model", f"it was fitted to {width} columns", "fit it to two: regions lie in the plane")
    # Some scorers give their scores as a function without checks, which is fast for few rows.
    score = scorer.quick_scores() if hasattr(scorer, "quick_scores") else _scores(model)
    return PlaneScores(_of_all_classes(score, link), labels, link)


def _scores(model: Any) -> Callable[[Array], Array]:
    """The decision function, else probabilities, else 1 for the predicted class and 0 for the others."""
    for name in ("decision_function", "predict_proba", "scores"):
        if hasattr(model, name):
            method = getattr(model, name)
            return lambda X: np.asarray(method(X), dtype=np.float64)
    if not hasattr(model, "predict"):
        raise ParameterError("model", f"{type(model).__name__} does not predict", "give a fitted classifier")
    classes = np.asarray(model.classes_)
    return lambda X: np.asarray(np.asarray(model.predict(X))[:, None] == classes, dtype=np.float64)


def _of_all_classes(score: Callable[[Array], Array], link: Any) -> Callable[[Array], Array]:
    """The scores (m, K), where a single score stands for two classes: the first has the constant at its boundary."""
    boundary = 0.0 if link is None else float(link.boundary)
    # argmax takes the first of equal scores; so the boundary itself is the second class's only below it.
    level = float(np.nextafter(boundary, -np.inf)) if link is not None and link.takes_boundary else boundary

    def field(X: Array) -> Array:
        Z = score(X)
        if Z.ndim == 2:
            return Z
        both = np.empty((2, len(Z)))
        both[0], both[1] = level, Z
        return both.T

    return field


@cache
def _probed_shares() -> Array:
    """Three corners of the unit square, and points at which scores are compared with linear ones, always the same."""
    return np.concatenate([[[0, 0], [1, 0], [0, 1]], np.random.default_rng(0).uniform(size=(24, 2))])


@np.errstate(over="ignore", invalid="ignore")
def moderate_scores(field: Callable[[Array], Array], points: Array, box: Any) -> Array:
    """The scores at points (m, 2) of a box; an error if they are too large."""
    Z = field(points)
    if np.abs(Z).max() <= LARGEST_SCORE:
        return Z
    problem = f"got {box!r}, and the model's scores there exceed {LARGEST_SCORE:g}"
    raise ParameterError("box", problem, "give a smaller box")


@np.errstate(over="ignore", invalid="ignore")
def affine_weights(field: Callable[[Array], Array], box: Any) -> Array | None:
    """The weights (K, 3) of scores that are linear in the plane, intercepts first; None if they are not.

    The scores at three corners of the box determine them, and are compared at points drawn over the box. Scores that
    overflow count as not linear.

    >>> affine_weights(lambda X: X @ np.array([[1.0, 0.0], [2.0, 1.0]]), (0, 1, 0, 1)).tolist()
    [[0.0, 1.0, 2.0], [0.0, 0.0, 1.0]]
    >>> affine_weights(lambda X: X**2, (0, 1, 0, 1)) is None
    True
    """
    least, _, most, _ = corners(box)
    some, size = _probed_shares() * (most - least) + least, most - least
    Z = field(some)
    w = ((Z[1:3] - Z[0]) / size[:, None]).T
    b = Z[0] - w @ least
    largest = np.abs(Z).max() + np.abs(b).max()
    # Scores that differ from linear ones by a smaller share of their size are linear.
    if not np.isfinite(largest) or not (np.abs(Z - some @ w.T - b) <= 1e-13 * largest).all():
        return None
    return np.column_stack([b, w])
