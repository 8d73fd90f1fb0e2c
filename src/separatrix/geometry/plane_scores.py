"""The scores of a model as a function of points in the plane, one for each class.

The classes of a model and of a pipeline are found in the same way as by ``predict``: the class of a point is the first
of those with the largest score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.geometry.polygons import corners

# Scores at this many points that differ from linear ones by less than this share of their size are linear.
PROBED_POINTS, AFFINE_ROUNDING = 24, 1e-13
# Largest score of which boundaries are searched: the search multiplies two scores, and the product must not overflow.
LARGEST_SCORE = 1e150
# How often a box is made ten times smaller in search of one with smaller scores.
MOST_TENTHS = 300


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
    return np.concatenate([[[0, 0], [1, 0], [0, 1]], np.random.default_rng(0).uniform(size=(PROBED_POINTS, 2))])


def moderate_scores(field: Callable[[Array], Array], points: Array, box: Any) -> Array:
    """The scores at points (m, 2) of a box; an error if they are too large, which names a smaller box."""
    Z = _unwarned(field, points)
    if np.abs(Z).max() <= LARGEST_SCORE:
        return Z
    remedy = f"give a smaller box{_example_of_smaller(field, box)}"
    raise ParameterError("box", f"got {box!r}, and the model's scores there exceed {LARGEST_SCORE:g}", remedy)


def _example_of_smaller(field: Callable[[Array], Array], box: Any) -> str:
    """A box with the same centre at whose corners scores are not too large, in words; empty if there is none."""
    around = corners(box)
    centre = around.mean(axis=0)
    for exponent in range(1, MOST_TENTHS + 1):
        inner = centre + (around - centre) * 10.0**-exponent
        if np.abs(_unwarned(field, inner)).max() <= LARGEST_SCORE:
            left, low, right, high = inner[[0, 2]].ravel()
            return f", such as ({left:g}, {right:g}, {low:g}, {high:g})"
    return ""


def _unwarned(field: Callable[[Array], Array], points: Array) -> Array:
    """The scores, of which some may be infinite or NaN, without warnings."""
    with np.errstate(over="ignore", invalid="ignore"):
        return field(points)


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
    if not np.isfinite(largest) or not (np.abs(Z - some @ w.T - b) <= AFFINE_ROUNDING * largest).all():
        return None
    return np.column_stack([b, w])
