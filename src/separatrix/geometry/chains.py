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
    moved = (ring != np.concatenate([ring[-1:], ring[:-1]])).any(axis=1)
    ring = ring if moved.all() else ring[moved]
    if len(ring) < 3:
        return ring[:0]
    steps = np.diff(np.concatenate([ring[-1:], ring, ring[:1]]), axis=0)
    before, after = steps[:-1], steps[1:]
    cross = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
    span = np.abs(before + after)
    kept = cross > STRAIGHT * size * np.maximum(span[:, 0], span[:, 1])
    return np.asarray(ring[kept]) if np.count_nonzero(kept) >= 3 else ring[:0]
