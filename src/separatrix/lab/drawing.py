"""What a page draws of a fitted model in the plane: regions, boundaries, margins, lines of equal probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import InputError, ParameterError
from separatrix.geometry import boundary_curve, regions
from separatrix.lab.protocol import Payload
from separatrix.scorers.scorer import Scorer

Box = tuple[float, float, float, float]
# The squares along each side of the grid on which curved boundaries are traced.
GRID = 48
PROBABILITIES = (0.1, 0.25, 0.5, 0.75, 0.9)
# A point this share of the box away from an edge lies in the neighbouring region.
BESIDE = 1e-6


def box_of(payload: Payload) -> Box:
    """The visible part of the plane: [left, right, low, high].

    >>> box_of({"box": [0, 1, 0, 2]})
    (0.0, 1.0, 0.0, 2.0)
    """
    match payload.get("box"):
        case [int() | float() as left, int() | float() as right, int() | float() as low, int() | float() as high] if (
            -1e6 < left < right < 1e6 and -1e6 < low < high < 1e6
        ):
            return float(left), float(right), float(low), float(high)
    raise InputError("box", f"got {payload.get('box')!r}", "give left < right and low < high")


def drawn_regions(model: Any, box: Box) -> list[dict[str, Any]]:
    """The polygons in which each class wins."""
    try:
        found = regions(model, box)
    except ParameterError:
        return []
    return [{"k": int(one.labels[0]), "polygon": places(one.vertices)} for one in found if not one.empty]


def boundaries(model: Any, box: Box) -> list[Array]:
    """The boundaries between classes as polylines."""
    scorer = getattr(model, "scorer_", None)
    if isinstance(scorer, Scorer) and len(scorer.W) == 1:
        line = scorer.W[0] - [scorer.link.boundary, 0.0, 0.0]
        return segments([line], box)
    try:
        found = regions(model, box)
    except ParameterError:
        return _curves(model, box)
    return _inner_edges(model, found, box)


def segments(lines: Sequence[Any], box: Box) -> list[Array]:
    """The parts of lines (b, w₁, w₂) inside the box, each as two points; a line that misses it is left out.

    >>> [one.tolist() for one in segments([[-1.0, 1.0, 0.0], [9.0, 1.0, 0.0]], (0, 2, 0, 3))]
    [[[1.0, 0.0], [1.0, 3.0]]]
    """
    left, right, low, high = box
    found = []
    for b, w1, w2 in lines:
        ends = set()
        if w2 != 0:
            ends |= {(x, -(b + w1 * x) / w2) for x in (left, right)}
        if w1 != 0:
            ends |= {(-(b + w2 * y) / w1, y) for y in (low, high)}
        inside = sorted((x, y) for x, y in ends if left <= x <= right and low <= y <= high)
        if len(inside) >= 2:
            found.append(np.array([inside[0], inside[-1]]))
    return found


def _curves(model: Any, box: Box) -> list[Array]:
    classes = np.asarray(model.classes_).tolist()
    pairs = [(i, j) for k, i in enumerate(classes) for j in classes[k + 1 :]]
    return [curve for i, j in pairs for curve in boundary_curve(model, box, GRID, i, j)]


def _inner_edges(model: Any, found: Sequence[Any], box: Box) -> list[Array]:
    """The edges between regions of different classes, each once: where the neighbour is of a later class."""
    edges = [(one.labels[0], a, b) for one in found for a, b in zip(one.vertices, _next(one.vertices), strict=True)]
    if not edges:
        return []
    own = np.array([label for label, _, _ in edges])
    start, end = np.array([a for _, a, _ in edges]), np.array([b for _, _, b in edges])
    size = np.array([box[1] - box[0], box[3] - box[2]])
    outwards = np.column_stack([end[:, 1] - start[:, 1], start[:, 0] - end[:, 0]])  # vertices are counter-clockwise
    length = np.linalg.norm(outwards / size, axis=1, keepdims=True)
    beside = 0.5 * (start + end) + BESIDE * outwards / np.maximum(length, 1e-300)
    inside = np.all((beside > [box[0], box[2]]) & (beside < [box[1], box[3]]), axis=1)
    kept = inside & (np.asarray(model.predict(beside)) > own)
    return [np.array([a, b]) for a, b in zip(start[kept], end[kept], strict=True)]


def _next(vertices: Array) -> Array:
    """For each vertex of a polygon the one after it."""
    return np.asarray(np.roll(vertices, -1, axis=0))


def margins(model: Any, box: Box) -> list[Array]:
    """The lines z = ±1 of a linear model of two classes."""
    scorer = getattr(model, "scorer_", None)
    if not isinstance(scorer, Scorer) or len(scorer.W) != 1:
        return []
    return segments([scorer.W[0] - [level, 0.0, 0.0] for level in (-1.0, 1.0)], box)


def probability_lines(model: Any, box: Box) -> list[dict[str, Any]]:
    """The lines of equal probability of the second class of a linear model with probabilities."""
    scorer = getattr(model, "scorer_", None)
    if not isinstance(scorer, Scorer) or len(scorer.W) != 1 or not scorer.link.probabilistic:
        return []
    of_probability: Any = getattr(scorer.link, "of_probability", None)
    found = []
    for p in PROBABILITIES if of_probability else ():
        for line in segments([scorer.W[0] - [of_probability(p), 0.0, 0.0]], box):
            found.append({"p": p, "line": places(line)})
    return found


def places(points: Any) -> list[list[float]]:
    """Coordinates for drawing, to four decimals."""
    found: list[list[float]] = np.round(np.asarray(points, dtype=np.float64), 4).tolist()
    return found
