"""Points and settings for lessons, as data: the same for a page, a notebook and the command line.

``POINT_SETS`` has the names of the sets of points. Those that are demo tables of the command line (``demo:NAME``) have
the same name and the same points. The ranges of settings come from the classifiers' signatures, so a new classifier is
here as soon as it is in ``OFFERED``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from separatrix.classifiers import OFFERED, hyperparameters
from separatrix.classifiers.signatures import Hyperparameter, Kind
from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.errors import ParameterError

# --- Sets of points


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points of two or more classes on a line or in the plane, and what they teach. ``point_set`` returns one.

    Attributes
    ----------
    name : str
        The name.
    question : str
        What the points ask.
    hint : str
        What to try.
    items : tuple of str
        The items of the tour that they belong to.
    columns : tuple of str
        The names of the columns, one or two.
    X : array (n, 1 or 2)
        The points.
    y : array (n,)
        Their labels.
    classes : list
        The sorted labels.
    """

    name: str
    question: str
    hint: str
    items: tuple[str, ...]
    columns: tuple[str, ...]
    X: Array
    y: AnyArray

    @property
    def classes(self) -> list[Any]:
        return list(np.unique(self.y).tolist())


@dataclass(frozen=True)
class _Lesson:
    """How a set of points is made, and what it teaches."""

    made: Callable[[], tuple[Array, AnyArray, tuple[str, ...]]]
    question: str
    hint: str
    items: tuple[str, ...]


_PLANE = ("x1", "x2")
_SIGNS = np.array([-1, 1])


def _demo(name: str) -> tuple[Array, AnyArray, tuple[str, ...]]:
    """The points of a demo table; its last column is the target."""
    from separatrix.tables.formats.demos import DEMOS

    table = DEMOS[name]()
    columns = tuple(table.column_names[:-1])
    X = np.column_stack([np.asarray(table[column], dtype=np.float64) for column in columns])
    return X, np.asarray(table[table.column_names[-1]].to_pylist()), columns


def _line() -> tuple[Array, AnyArray, tuple[str, ...]]:
    return np.arange(1.0, 9.0)[:, None], np.repeat(_SIGNS, 4), ("x",)


def _clouds(
    means: tuple[tuple[float, float], ...], covariances: tuple[Any, ...], n: int, seed: int, gap: float = 0.0
) -> tuple[Array, AnyArray, tuple[str, ...]]:
    """Two Gaussian classes of n points; with a gap, the second class is moved until a line separates them by it."""
    rng = np.random.default_rng(seed)
    parts = [rng.multivariate_normal(m, C, n) for m, C in zip(means, covariances, strict=True)]
    w = np.subtract(means[1], means[0]) / np.linalg.norm(np.subtract(means[1], means[0]))
    if gap > 0:
        short = gap + (parts[0] @ w).max() - (parts[1] @ w).min()
        parts[1] = parts[1] + max(0.0, short) * w
    order = rng.permutation(2 * n)
    return np.vstack(parts).round(2)[order], np.repeat(_SIGNS, n)[order], _PLANE


def _moons() -> tuple[Array, AnyArray, tuple[str, ...]]:
    rng, angle = np.random.default_rng(2), np.linspace(0, np.pi, 20)
    upper = np.column_stack([2 * np.cos(angle) - 0.5, 2 * np.sin(angle) - 0.5])
    lower = np.column_stack([0.5 - 2 * np.cos(angle) + 1, 1 - 2 * np.sin(angle) - 0.5])
    X = np.vstack([upper, lower]) + rng.normal(0, 0.2, (40, 2))
    return X.round(2), np.repeat(_SIGNS, 20), _PLANE


def _ring() -> tuple[Array, AnyArray, tuple[str, ...]]:
    rng, angle = np.random.default_rng(7), np.linspace(0, 2 * np.pi, 24, endpoint=False)
    around = 2.5 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.25, (24, 2))
    return np.vstack([rng.normal(0, 0.7, (16, 2)), around]).round(2), np.repeat(_SIGNS, [16, 24]), _PLANE


def _several_minima() -> tuple[Array, AnyArray, tuple[str, ...]]:
    X = [[0.6, -1.6], [-0.4, -2.4], [0.9, 0.6], [-0.3, 0.8], [0.8, -1.7], [2.9, -0.9], [-1.0, -2.4]]
    return np.array(X), np.array([-1, 1, -1, 1, -1, 1, -1]), _PLANE


_ROUND = np.eye(2)
_LONG = np.array([[4.0, 3.4], [3.4, 3.2]])
_LESSONS: dict[str, _Lesson] = {
    "separable": _Lesson(
        partial(_clouds, ((-1.2, 0.8), (1.4, -0.6)), (_ROUND, _ROUND), 12, 38, 0.4),
        "Which of the many lines does a method find?",
        "Change the order of the points, or the start: the perceptron ends elsewhere, the widest margin does not.",
        ("P2", "P10", "P15"),
    ),
    "overlapping": _Lesson(
        partial(_clouds, ((-0.8, 0.5), (0.8, -0.5)), (_ROUND, _ROUND), 20, 5),
        "What does a method do where no line separates the classes?",
        "Step the perceptron: a proof ends its run. Then go on past the proof, or keep the best weights in a pocket.",
        ("P7", "P8", "R3"),
    ),
    "line": _Lesson(
        _line,
        "Where is the boundary between 1 to 4 and 5 to 8?",
        "Pull the point at 8 out to 30: least squares follows it, logistic regression does not.",
        ("S5", "R13", "P2"),
    ),
    "outlier-1d": _Lesson(
        partial(_demo, "outlier-1d"),
        "Does a point that is right move the boundary?",
        "Drag the point at 30 further out and count the mistakes of least squares.",
        ("S5", "R13"),
    ),
    "outlier-2d": _Lesson(
        partial(_demo, "outlier-2d"),
        "Does a point that is right move the boundary?",
        "Drag the two far points home: the mistakes of least squares vanish.",
        ("S5", "P14"),
    ),
    "xor": _Lesson(
        partial(_demo, "xor"),
        "Why can no line separate these four points?",
        "Add the product x1 x2 as a column, and XOR comes apart.",
        ("B3", "P7"),
    ),
    "elongated": _Lesson(
        partial(_clouds, ((-1.5, 0.0), (1.5, 0.0)), (_LONG, _LONG), 30, 9),
        "Is the line between the means the best one?",
        "Turn the direction: Fisher's leaves far fewer mistakes than that of the means.",
        ("F1", "F3", "F8"),
    ),
    "unequal-spreads": _Lesson(
        partial(_clouds, ((-1.5, 0.0), (1.5, 0.5)), (0.3 * _ROUND, 3.0 * _ROUND), 30, 4),
        "What if one class is much wider than the other?",
        "Compare the straight boundary of one covariance with the curved one of two.",
        ("F4", "F6"),
    ),
    "moons": _Lesson(
        _moons,
        "How far does a straight line go?",
        "Add Gaussian or quadratic columns, and let the boundary bend.",
        ("B1", "B4"),
    ),
    "ring": _Lesson(
        _ring,
        "One class surrounds the other: what can a linear model do?",
        "Add the squares of the columns.",
        ("B2", "B4"),
    ),
    "several-minima": _Lesson(
        _several_minima,
        "Where does a run downhill end, if the error has several minima?",
        "Start on both sides of a ridge of the squared error of σ: the runs end at different weights.",
        ("R4", "L3"),
    ),
    "three-classes": _Lesson(
        partial(_demo, "three-classes"),
        "Who wins in the triangle in the middle?",
        "Compare one against one, one against the rest, and softmax.",
        ("M1", "M2", "M3"),
    ),
    "credit": _Lesson(
        partial(_demo, "credit"),
        "Who is creditworthy?",
        "Compare a model of each class with one that only discriminates.",
        ("D2", "F6"),
    ),
}
POINT_SETS: tuple[str, ...] = tuple(_LESSONS)


def point_set(name: str) -> PointSet:
    """A named set of points, with its question and what to try.

    Parameters
    ----------
    name : str
        A name in ``POINT_SETS``.

    Returns
    -------
    PointSet

    Raises
    ------
    ParameterError
        If there is no such set.

    Examples
    --------
    >>> found = point_set("xor")
    >>> found.question, found.X.shape, found.classes
    ('Why can no line separate these four points?', (4, 2), [-1, 1])
    """
    if name not in _LESSONS:
        raise ParameterError("name", f"got {name!r}", f"choose one of {', '.join(_LESSONS)}")
    lesson = _LESSONS[name]
    X, y, columns = lesson.made()
    return PointSet(name, lesson.question, lesson.hint, lesson.items, columns, X, y)


# --- Ranges of settings

# The lowest and the highest value that a slider offers.
SPANS: dict[str, tuple[float, float]] = {
    "C": (0.001, 1000.0),
    "l1_ratio": (0.0, 1.0),
    "tol": (1e-12, 0.1),
    "max_iter": (1, 10_000),
    "eta0": (0.01, 100.0),
    "eps": (1e-6, 1.0),
    "l2": (0.0, 100.0),
    "shrinkage": (0.0, 1.0),
    "reg_param": (0.0, 1.0),
}
# A slider whose ends have at least this ratio is logarithmic.
LOGARITHMIC_RATIO = 100.0
# The range of any other number: from its default divided by this, to its default times this.
RANGE_AROUND_DEFAULT = 1000.0


@dataclass(frozen=True)
class SettingRange:
    """What one setting of a classifier can be.

    Attributes
    ----------
    parameter : str
        Its name.
    kind : "number", "integer", "choice", "switch" or "text"
        What a form shows: a slider, a list of words, a switch, or a field for any text.
    default : object
        The value that the class has without it.
    choices : tuple
        The values of a choice. For a number, words that it may be instead, such as "auto".
    low, high : float or None
        The ends of a slider.
    logarithmic : bool
        Whether the slider is logarithmic.
    about : str
        A sentence about it.
    """

    parameter: str
    kind: Kind
    default: Any
    choices: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    logarithmic: bool = False
    about: str = ""


def setting_ranges(classifier: str) -> tuple[SettingRange, ...]:
    """What the settings of a classifier can be.

    Parameters
    ----------
    classifier : str
        Its name on the command line, such as "perceptron".

    Returns
    -------
    tuple of SettingRange

    Examples
    --------
    >>> {found.parameter: found.choices for found in setting_ranges("fisher")}
    {'direction': ('fisher', 'means'), 'threshold': ('gaussian', 'midpoint')}
    >>> C = setting_ranges("logistic")[0]
    >>> C.kind, C.default, C.low, C.high, C.logarithmic
    ('number', 1.0, 0.001, 1000.0, True)
    """
    if classifier not in OFFERED:
        raise ParameterError("classifier", f"got {classifier!r}", f"choose one of {', '.join(OFFERED)}")
    return tuple(map(_range, hyperparameters(classifier).values()))


def _range(found: Hyperparameter) -> SettingRange:
    name, default, words, about = found.name, found.default, found.words, found.about
    if found.kind == "switch":
        return SettingRange(name, "switch", default, (False, True), about=about)
    if found.kind in ("number", "integer"):
        low, high = SPANS.get(name) or _around(default)
        logarithmic = low > 0 and high / low >= LOGARITHMIC_RATIO
        return SettingRange(name, found.kind, default, words, low, high, logarithmic, about)
    if found.kind == "choice" and default is None:
        return SettingRange(name, "choice", default, (None, *words), about=about)
    return SettingRange(name, found.kind, default, words, about=about)


def _around(default: Any) -> tuple[float, float]:
    """The ends of a slider for a number without a range of its own."""
    size = abs(float(default)) if isinstance(default, int | float) and default else 1.0
    return size / RANGE_AROUND_DEFAULT, size * RANGE_AROUND_DEFAULT


__all__ = ["POINT_SETS", "PointSet", "SettingRange", "point_set", "setting_ranges"]
