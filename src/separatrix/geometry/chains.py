"""Directed segments joined to polylines."""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array, Integers

# A vertex nearer to the line through its neighbours than this share of the box lies on it.
STRAIGHT = 1e-13


def chains(start: Integers, end: Integers) -> list[list[int]]:
    """Join segments that follow each other: open chains first, then loops, which end where they start.

    Every point starts at most one segment and ends at most one.

    >>> chains(np.array([5, 1, 3, 2]), np.array([6, 2, 1, 3]))
    [[5, 6], [1, 2, 3, 1]]
    """
    after = dict(zip(start.tolist(), end.tolist(), strict=True))
    ends = set(end.tolist())
    found = []
    for first in [point for point in after if point not in ends]:
        found.append(_followed(first, after))
    while after:
        found.append(_followed(next(iter(after)), after))
    return found


def _followed(point: int, after: dict[int, int]) -> list[int]:
    """The points from this one on; their segments are removed from ``after``."""
    chain, following = [point], after.pop(point, None)
    while following is not None:
        chain.append(following)
        following = after.pop(following, None)
    return chain


def without_straight(ring: Array, size: float) -> Array:
    """A closed ring (m, 2), whose last vertex joins the first, without vertices on the line through their neighbours.

    >>> without_straight(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]]), 1.0).tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0]]
    """
    closed = np.concatenate([ring[-1:], ring, ring[:1]]).T
    dx, dy = closed[:, 1:] - closed[:, :-1]
    moved = ((dx != 0) | (dy != 0))[:-1]
    if not moved.all():
        return without_straight(ring[moved], size)
    if len(ring) < 3:
        return ring[:0]
    cross = np.abs(dx[:-1] * dy[1:] - dy[:-1] * dx[1:])
    span = np.maximum(np.abs(dx[:-1] + dx[1:]), np.abs(dy[:-1] + dy[1:]))
    kept = cross > STRAIGHT * size * span
    return np.asarray(ring[kept]) if np.count_nonzero(kept) >= 3 else ring[:0]
