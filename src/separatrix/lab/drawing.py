"""What a page draws of a fitted model in the plane: regions, boundaries, margins, lines of equal probability."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import InputError
from separatrix.geometry import level_sets, regions
from separatrix.lab.request_registry import Payload, got
from separatrix.scorers.scorer import Scorer

Box = tuple[float, float, float, float]
PROBABILITIES = (0.1, 0.25, 0.5, 0.75, 0.9)
# A point this share of an edge's length beside its middle lies in the neighbouring region, also where edges are curved.
BESIDE = 0.05
# The share by which a recorded box is larger than the visible one, whose height is rounded to a whole pixel.
BEYOND = 0.01


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
    raise InputError("box", got(payload.get("box")), "give left < right and low < high")


def framed(X: Array, aspect: float) -> Box:
    """The box that a page chooses for these points on a stage of this height by width, and a little more.

    The same as ``Stage.show`` in ``static/stage.js``; what is recorded reaches beyond the edges by ``BEYOND``.

    >>> framed(np.array([[-1.0, 0.0], [1.0, 0.5]]), 0.5)
    (-1.94..., 1.94..., -0.72..., 1.22...)
    """
    shown = X if len(X) else np.array([[-3.0, -2.0], [3.0, 2.0]])
    (left, low), (right, high) = shown.min(axis=0).tolist(), shown.max(axis=0).tolist()
    width = max((right - left + 1) / 0.84, (high - low + 1) / (0.78 * aspect)) * (1 + BEYOND)
    x, y = (left + right) / 2, (low + high) / 2
    return x - width / 2, x + width / 2, y - aspect * width / 2, y + aspect * width / 2


def drawn_regions(model: Any, box: Box) -> list[dict[str, Any]]:
    """The outlines of the parts of the plane in which each class wins, to be filled by the even-odd rule."""
    return _outlines(_regions(model, box))


def drawn(model: Any, box: Box) -> dict[str, Any]:
    """The regions of a model and its boundaries."""
    found = _regions(model, box)
    return {"regions": _outlines(found), "lines": [places(line) for line in _between(model, found, box)]}


def _outlines(found: Sequence[Any]) -> list[dict[str, Any]]:
    kept = [one for one in found if not one.empty]
    return [{"k": int(one.labels[0]), "rings": [places(ring) for ring in one.rings]} for one in kept]


def _regions(model: Any, box: Box) -> Sequence[Any]:
    """The regions, which are traced once for the ground and the boundaries of a model."""
    return regions(model, box) if isinstance(model, np.ndarray) else _traced(model, box)


_traced = lru_cache(maxsize=6)(regions)  # two answers of three models each


def boundaries(model: Any, box: Box) -> list[Array]:
    """The boundaries between classes as polylines."""
    scorer = getattr(model, "scorer_", None)
    if isinstance(scorer, Scorer) and len(scorer.W) == 1:
        return segments([scorer.W[0] - [scorer.link.boundary, 0.0, 0.0]], box)
    return _between(model, _regions(model, box), box)


def _between(model: Any, found: Sequence[Any], box: Box) -> list[Array]:
    """The boundaries between the regions of a model: the parts of outlines that border on a later class.

    So every boundary is drawn once. The classes beside all edges are predicted at once, since a prediction of few rows
    takes as long as one of many.
    """
    rings, labels = [ring for one in found for ring in one.rings], [one.labels[0] for one in found for _ in one.rings]
    if not rings:
        return []
    ends = [np.concatenate([ring[1:], ring[:1]]) for ring in rings]
    beside, inside = _beside(np.concatenate(rings), np.concatenate(ends), box)
    lengths = [len(ring) for ring in rings]
    later = inside & (np.asarray(model.predict(beside)) > np.repeat(labels, lengths))
    lines, last = [], np.cumsum(lengths).tolist()
    for ring, end, j in zip(rings, ends, last, strict=True):
        own = slice(j - len(ring), j)
        lines += _joined(ring, end, _without_gaps(later[own], inside[own]))
    return lines


def _beside(start: Array, end: Array, box: Box) -> tuple[Array, Any]:
    """Points just outside the middle of edges of outlines, and which of them lie inside the box."""
    along = end - start
    outwards = along[:, ::-1] * [1.0, -1.0]  # the region lies to the left
    size = max(box[1] - box[0], box[3] - box[2])
    length = np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-12 * size)
    beside = 0.5 * (start + end) + outwards * (BESIDE + 1e-6 * size / length)[:, None]
    x, y = beside.T
    return beside, (x > box[0]) & (x < box[1]) & (y > box[2]) & (y < box[3])


def _without_gaps(kept: Any, inside: Any) -> Any:
    """Which edges of an outline are kept, with single ones between two that are kept.

    Where boundaries cross, an outline cuts the corner. The edge there has the same class on both sides.
    """
    around = np.concatenate([kept[-1:], kept, kept[:1]])
    return kept | (inside & around[:-2] & around[2:])


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


def _joined(start: Array, end: Array, kept: Any) -> list[Array]:
    """Polylines of the kept edges start[i] → end[i] of a closed outline, where end[i] is start[i + 1]."""
    if not kept.any():
        return []
    turn = 0 if kept.all() else int(np.flatnonzero(~kept)[0]) + 1  # begin after an edge that is left out
    start, end, kept = (np.roll(one, -turn, axis=0) for one in (start, end, kept))
    first = np.flatnonzero(kept & ~np.concatenate([[False], kept[:-1]]))
    last = np.flatnonzero(kept & ~np.concatenate([kept[1:], [False]]))
    return [np.vstack([start[i : j + 1], end[j : j + 1]]) for i, j in zip(first, last, strict=True)]


def margins(model: Any, box: Box) -> list[Array]:
    """The lines z = ±1 of a linear model of two classes."""
    scorer = getattr(model, "scorer_", None)
    if not isinstance(scorer, Scorer) or len(scorer.W) != 1:
        return []
    return segments([scorer.W[0] - [level, 0.0, 0.0] for level in (-1.0, 1.0)], box)


def probability_lines(model: Any, box: Box) -> list[dict[str, Any]]:
    """The lines of equal probability of the second of two classes, if the model has probabilities."""
    if not hasattr(model, "predict_proba") or len(model.classes_) != 2:
        return []
    scorer = getattr(model, "scorer_", None)
    if isinstance(scorer, Scorer) and len(scorer.W) == 1 and scorer.link.probabilistic:  # The lines are straight.
        lines = [(p, scorer.W[0] - [scorer.link.inverse(p), 0.0, 0.0]) for p in PROBABILITIES]
        return [{"p": p, "line": places(part)} for p, line in lines for part in segments([line], box)]
    found = level_sets(model, box, PROBABILITIES)
    return [{"p": one.level, "line": places(line)} for one in found for line in one.curves]


def places(points: Any) -> list[list[float]]:
    """Coordinates for drawing, to four decimals."""
    found: list[list[float]] = np.round(np.asarray(points, dtype=np.float64), 4).tolist()
    return found
