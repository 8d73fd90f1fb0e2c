"""Points of the lab: named sets to start from, and points as a short text, for links and for Python.

    outlier                       the points of a preset
    outlier;20=8,-2.5;3=1,0       the same with rows 20 and 3 moved
    ~AGT/nAE…                     any points: base64url of x₁ and x₂ in hundredths as int16, and the class as a byte

Coordinates are multiples of 1/100, so that a link restores them exactly.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.base.labels import encode
from separatrix.core.base.messages import many
from separatrix.teach.presets import point_set

# --- Named sets


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


# --- Points as a text

# Coordinates are stored as int16 in units of 1/PER_UNIT.
PER_UNIT = 100
LARGEST = np.iinfo(np.int16).max / PER_UNIT
# With more moved rows than this the coded form is shorter; pages take at most MOST_POINTS points.
MOST_MOVED, MOST_POINTS = 12, 20_000
CLASSES = 6
# Links have - and _ in place of + and /.
_FROM_LINK = str.maketrans("-_", "+/")
_RECORD = np.dtype([("x", "<i2", (2,)), ("k", "u1")])


def points(text: str) -> tuple[Array, Integers]:
    """Return the points that a link of the lab or its line of Python names.

    Parameters
    ----------
    text : str
        The name of a preset, with rows that were moved, such as "outlier;20=8,-2.5"; or coded points that begin
        with "~".

    Returns
    -------
    X : array (n, 2)
        The coordinates.
    y : array (n,) of int
        The classes.

    Raises
    ------
    ParameterError
        If the text names no points.

    Examples
    --------
    >>> from separatrix.teach.lab.points import points
    >>> X, y = points("outlier;20=8,-2")
    >>> X.shape, X[20].tolist(), int(y[20])
    ((21, 2), [8.0, -2.0], 1)
    """
    if text.startswith("~"):
        return decoded(text[1:].translate(_FROM_LINK))
    name, *moved = text.split(";")
    X, y = of_preset(name)
    for one in moved:
        row, place = _moved(one, len(X))
        X[row] = place
    return X, y


def of_preset(name: str) -> tuple[Array, Integers]:
    """The points of a preset, in hundredths."""
    if name not in PRESETS:
        raise ParameterError("points", f"there is no preset {name!r}", f"choose one of {', '.join(PRESETS)}")
    X, y = _made(name)
    return X.copy(), y.copy()


@cache
def _made(name: str) -> tuple[Array, Integers]:
    X, y = PRESETS[name].make()
    return np.asarray(np.round(X, 2), dtype=np.float64), np.asarray(y, dtype=np.int64)


def spelled(X: Array, y: Integers, preset: Any) -> str:
    """The shortest text for which ``points`` returns these points; ``preset`` is their preset, if they have one.

    >>> X, y = points("separable;3=1,2")
    >>> spelled(X, y, "separable")
    'separable;3=1,2'
    >>> spelled(X[:2], y[:2], "separable")[0]
    '~'
    """
    if isinstance(preset, str) and preset in PRESETS:
        known, classes = of_preset(preset)
        if np.array_equal(classes, y):
            rows = np.flatnonzero(np.any(np.abs(known - X) > 1e-9, axis=1))
            if len(rows) <= MOST_MOVED:
                return ";".join([preset, *(f"{row}={X[row, 0]:g},{X[row, 1]:g}" for row in rows)])
    records = np.empty(len(X), dtype=_RECORD)
    records["x"], records["k"] = np.round(X * PER_UNIT), y
    return "~" + base64.urlsafe_b64encode(records.tobytes()).decode().rstrip("=")


def _moved(text: str, n: int) -> tuple[int, tuple[float, float]]:
    """A row and its new place, from "20=8,-2.5"."""
    try:
        row, place = text.split("=")
        x, y = map(float, place.split(","))
        found = int(row)
    except ValueError:
        raise ParameterError("points", f"got {text!r}", "give a row and its place, such as 20=8,-2.5") from None
    if not 0 <= found < n or not max(abs(x), abs(y)) <= LARGEST:
        raise ParameterError("points", f"got {text!r}", f"give a row below {n} and places within ±{LARGEST:g}")
    return found, (round(x, 2), round(y, 2))


def decoded(text: str) -> tuple[Array, Integers]:
    """Coded points, in base64 with or without its padding.

    >>> decoded("yADO/wE")
    (array([[ 2. , -0.5]]), array([1]))
    """
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        records = np.frombuffer(content, dtype=_RECORD)
    except (ValueError, binascii.Error):
        raise ParameterError("points", "the coded points are damaged", "copy the whole link") from None
    return checked(records["x"] / PER_UNIT, records["k"])


def checked(X: Any, y: Any) -> tuple[Array, Integers]:
    """Points from outside as arrays, rounded to hundredths; an ``InputError`` says what is wrong with them.

    >>> checked([[0.125, 1]], [1])
    (array([[0.12, 1.  ]]), array([1]))
    """
    try:
        places, classes = np.asarray(X, dtype=np.float64).reshape(-1, 2), np.asarray(y, dtype=np.int64).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise InputError("points", "they are not pairs of numbers with a class", "give x₁, x₂ and a class") from None
    if len(places) != len(classes) or len(places) > MOST_POINTS:
        problem = f"{many(len(places), 'place')} and {many(len(classes), 'class')} were given"
        raise InputError("points", problem, f"give one class for each, and at most {MOST_POINTS} points")
    if not np.all(np.abs(places) <= LARGEST) or np.any((classes < 0) | (classes >= CLASSES)):
        raise InputError("points", "a number is too large", f"give places within ±{LARGEST:g}, classes below {CLASSES}")
    return np.round(places, 2), classes


def of_two_classes(y: Integers) -> Integers:
    """The two classes; an ``InputError`` if there are fewer or more.

    >>> of_two_classes(np.array([3, 0, 3])).tolist()
    [0, 3]
    """
    classes = np.unique(y)
    if len(classes) != 2:
        raise InputError("points", f"they have {many(len(classes), 'class')}", "choose points of two classes")
    return classes
