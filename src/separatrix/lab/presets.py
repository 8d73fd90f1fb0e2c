"""Named sets of points in the plane, to start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import encode
from separatrix.textbook.point_sets import point_set


@dataclass(frozen=True)
class Preset:
    """Points with a title. ``drag`` is the row that the page invites to drag, or None."""

    title: str
    make: Callable[[], tuple[Array, Integers]]
    drag: int | None = None


def _outlier() -> tuple[Array, Integers]:
    r, n, w = np.random.default_rng(266), 10, np.array([0.8, -0.6])
    A, B = r.normal([-1.0, 0.7], [1.0, 0.9], (n, 2)), r.normal([1.0, -0.6], [1.0, 0.9], (n, 2))
    A -= np.maximum(0, A @ w + 0.28)[:, None] * w
    B += np.maximum(0, 0.28 - B @ w)[:, None] * w
    return np.vstack([A, B, [[8.0, -2.5]]]), np.repeat([0, 1], [n, n + 1])


def _separable() -> tuple[Array, Integers]:
    r, n = np.random.default_rng(38), 11
    X = np.vstack([r.normal([-1.3, 0.9], [1.1, 0.8], (n, 2)), r.normal([1.5, -0.4], [1.0, 0.9], (n, 2))]).round(1)
    order = r.permutation(2 * n)
    return X[order], np.repeat([0, 1], n)[order]


def _three() -> tuple[Array, Integers]:
    r, n = np.random.default_rng(7), 15
    return np.vstack([r.normal(c, 0.8, (n, 2)) for c in ([-2, -1], [2, -1], [0, 2])]), np.repeat([0, 1, 2], n)


def _four() -> tuple[Array, Integers]:
    r, n = np.random.default_rng(8), 12
    centres = ([-2.2, -1.5], [2.2, -1.5], [2.2, 1.5], [-2.2, 1.5])
    return np.vstack([r.normal(c, 0.7, (n, 2)) for c in centres]), np.repeat([0, 1, 2, 3], n)


def _many() -> tuple[Array, Integers]:
    r, n = np.random.default_rng(9), 250
    return np.vstack([r.normal([-1, 0], 1.1, (n, 2)), r.normal([1, 0.5], 1.1, (n, 2))]), np.repeat([0, 1], n)


# The sets of points for lessons that are drawn as they are, with their titles.
LESSONS = {
    "overlapping": "Overlapping",
    "xor": "XOR",
    "moons": "Moons",
    "ring": "Ring",
    "elongated": "Elongated",
    "unequal-spreads": "Unequal spreads",
    "several-minima": "Several minima",
    "three-classes": "An undecided triangle",
}


def _lesson(name: str) -> tuple[Array, Integers]:
    """A set of points for lessons, with its classes numbered."""
    known = point_set(name)
    return known.X, encode(known.y)[1]


PRESETS = {
    "outlier": Preset("Outlier", _outlier, drag=20),
    "separable": Preset("Separable", _separable),
    **{name: Preset(title, partial(_lesson, name)) for name, title in LESSONS.items()},
    "three": Preset("Three classes", _three),
    "four": Preset("Four classes", _four),
    "many": Preset("500 points", _many),
}
