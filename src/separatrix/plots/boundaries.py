"""The line segments between the regions of different classes, from polygons that cover a box."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from separatrix.base.arrays import Array
from separatrix.geometry import Region

# Points of the unit square are the same if they agree to this many digits.
DECIMALS_OF_CORNERS = 6
TOLERANCE = 2 * 10.0**-DECIMALS_OF_CORNERS


def boundaries(regions: Sequence[Region], box: tuple[float, float, float, float]) -> Array:
    """The segments (m, 2, 2) where regions with different labels meet. The frame of the box is not among them.

    A segment that only one region has is a boundary, too: rounding has moved the ends of the other region's edge.

    >>> left = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [0.0, 2.0]])
    >>> low, high = (np.array([[1.0, y], [2.0, y], [2.0, y + 1], [1.0, y + 1]]) for y in (0.0, 1.0))
    >>> found = [Region(("a",), left), Region(("b",), low), Region(("b",), high)]
    >>> sorted(boundaries(found, (0.0, 2.0, 0.0, 2.0))[:, :, 1].min(axis=1).tolist())
    [0.0, 1.0]
    """
    left, right, low, high = box
    corner, unit = np.array([left, low]), np.array([right - left, high - low])
    polygons = [
        np.round((np.asarray(region.vertices) - corner) / unit, DECIMALS_OF_CORNERS) + 0.0 for region in regions
    ]
    corners = np.unique(np.vstack(polygons), axis=0) if polygons else np.empty((0, 2))
    meeting: dict[tuple[float, ...], list[tuple[object, ...]]] = {}
    for region, V in zip(regions, polygons, strict=True):
        for start, end in zip(V, np.roll(V, -1, axis=0), strict=True):
            for a, b in pairwise(_split(start, end, corners)):
                meeting.setdefault((*a, *b) if a < b else (*b, *a), []).append(region.labels)
    kept = [
        ends
        for ends, labels in meeting.items()
        if len(set(labels)) > 1 or (len(labels) == 1 and not _on_frame(np.array(ends).reshape(2, 2)))
    ]
    return np.asarray(np.array(kept).reshape(-1, 2, 2) * unit + corner)


def _on_frame(ends: Array) -> bool:
    near = np.minimum(np.abs(ends), np.abs(ends - 1)) <= TOLERANCE
    return bool(np.any(near.all(axis=0)))


def _split(start: Array, end: Array, corners: Array) -> list[tuple[float, ...]]:
    """The points on an edge: its ends, and the corners of other polygons that lie on it."""
    along = end - start
    length = float(along @ along)
    if length == 0.0:
        return []
    share = (corners - start) @ along / length
    away = np.abs((corners - start) @ np.array([-along[1], along[0]])) / np.sqrt(length)
    on = (away <= TOLERANCE) & (np.abs(share - 0.5) <= 0.5 + TOLERANCE)
    return [tuple(point) for point in corners[on][np.argsort(share[on], kind="stable")].tolist()]
