"""Demo tables, each with its target: four bundled with scikit-learn, and examples from textbooks.

The two classes of the textbook examples are −1 and 1. The second label in sorted order is the positive one, and the
text "+" would sort before "-". Letters with a number refer to docs/tour.md.

breast-cancer, iris, wine, digits    bundled with scikit-learn
xor             the class is the sign of x₁x₂: no line separates the classes (B3)
outlier-1d      4 + 4 points and a distant positive one, which shifts the least-squares boundary (S5)
outlier-2d      two lines of five points, and two distant negatives, which do the same (S5)
three-classes   seven points in each; one-versus-one boundaries leave a triangle undecided (M3)
credit          income and savings of bank customers (thousands): two Gaussians with the same covariance (D2)
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from separatrix.core.base.errors import TableError
from separatrix.tables.formats.source import MemorySource

DEMO = "demo:"
# The columns, the last of which is the target.
_Made: TypeAlias = "Callable[[], pa.Table]"


def _bundled(loader: str, target: str) -> pa.Table:
    from sklearn import datasets

    bundle = getattr(datasets, f"load_{loader}")()
    columns = [pa.array(column) for column in bundle.data.T]
    labels = pa.array(bundle.target_names[bundle.target].tolist())
    return pa.table([*columns, labels], [*(str(name) for name in bundle.feature_names), target])


def _xor() -> pa.Table:
    return _plane([(-1, -1), (1, 1), (-1, 1), (1, -1)], [-1, -1, 1, 1])


def _outlier_1d() -> pa.Table:
    return pa.table({"x": [1.0, 2, 3, 4, 5, 6, 7, 8, 30], "sign": [-1] * 4 + [1] * 5})


def _outlier_2d() -> pa.Table:
    above, below = [(i, i + 1) for i in range(5)], [(i + 1, i) for i in range(5)]
    return _plane([*above, *below, (20, -10), (21, -10)], [1] * 5 + [-1] * 7)


def _plane(points: list[tuple[int, int]], signs: list[int]) -> pa.Table:
    x1, x2 = zip(*points, strict=True)
    return pa.table({"x1": pa.array(x1, pa.float64()), "x2": pa.array(x2, pa.float64()), "sign": signs})


def _three_classes() -> pa.Table:
    x1 = [1.1, 1.1, 1.1, 0.8, 1.5, 1.0, 1.4, 4.9, 5.8, 4.0, 5.5, 4.3, 6.2, 3.5, 3.0, 2.1, 3.9, 2.8, 3.2, 1.7, 4.1]
    x2 = [1.9, 0.9, 2.9, 1.5, 2.3, 0.4, 3.4, 1.9, 2.4, 1.4, 1.8, 2.0, 2.6, 1.4, 5.2, 5.7, 4.7, 5.7, 4.6, 6.0, 4.2]
    return pa.table({"x1": x1, "x2": x2, "class": [1] * 7 + [2] * 7 + [3] * 7})


def _credit() -> pa.Table:
    n = 60
    u, v = np.random.default_rng(3).standard_normal((2, 2 * n))
    worthy = np.repeat([0, 1], n)
    income = np.array([32, 52])[worthy] + 9 * u
    savings = np.array([18, 30])[worthy] - 2 * u + 6 * v
    columns = {"income": income.round(1), "savings": savings.round(1)}
    return pa.table({**columns, "creditworthy": np.array(["no", "yes"])[worthy].tolist()})


DEMOS: dict[str, _Made] = {
    "breast-cancer": partial(_bundled, "breast_cancer", "diagnosis"),
    "iris": partial(_bundled, "iris", "species"),
    "wine": partial(_bundled, "wine", "cultivator"),
    "digits": partial(_bundled, "digits", "digit"),
    "xor": _xor,
    "outlier-1d": _outlier_1d,
    "outlier-2d": _outlier_2d,
    "three-classes": _three_classes,
    "credit": _credit,
}


def open_demo(data: str) -> MemorySource:
    """The demo table ``demo:NAME``.

    >>> open_demo("demo:xor").columns.num_rows
    4
    """
    name = data.removeprefix(DEMO)
    if name not in DEMOS:
        near = get_close_matches(name, DEMOS, 1)
        hint = f"write {DEMO}{near[0]}; there are " if near else "there are "
        raise TableError(data, "there is no such demo table", hint + ", ".join(DEMO + known for known in DEMOS))
    columns = DEMOS[name]()
    return MemorySource(data, columns, columns.column_names[-1])
