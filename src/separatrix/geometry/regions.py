"""Decision regions of linear classifiers in the plane, as exact polygons: no grid. TEXTBOOK G5, M3.

The region of class i is cut out of a box by the half-planes (w_i − w_j)·x + (b_i − b_j) ≥ 0, so it is convex. Where
a scheme of two-class models may be ambiguous, the models' lines cut the box into cells; inside a cell no model
changes its mind, so one look at the signs decides for the whole of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import ParameterError
from separatrix.geometry.polygons import Region, cells, corners, split


def regions(model: Any, box: Any) -> list[Region]:
    """Where each class wins inside ``box``, as convex polygons that agree with ``predict``. TEXTBOOK G5, M1, M2.

    Parameters
    ----------
    model : fitted linear classifier, ``Scorer``, or array (K, 3)
        Of two columns. An array holds the weights of K scores, intercepts in column 0.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to be divided among the classes.

    Returns
    -------
    list of Region
        In the order of the classes: one region a class, since each is convex; from the votes of one-versus-one, which
        need not be, one or more a class. A class that wins nowhere in the box has one region without vertices. Of
        classes with the same scores everywhere the first wins, as in prediction.

    Raises
    ------
    ParameterError
        Where boundaries are no straight lines in two columns; ``boundary_curve`` traces those.

    Examples
    --------
    >>> left, right = regions(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), (0, 1, 0, 1))
    >>> left.area, right.area  # h₁ = 2x₁ against h₂ = x₂: the boundary is x₂ = 2x₁
    (0.75, 0.25)
    """
    scorer = getattr(model, "scorer_", model)
    if isinstance(scorer, DrawsItself):
        return scorer.regions_in(box)
    try:
        weights = np.asarray(getattr(scorer, "W", scorer), dtype=np.float64)
    except (TypeError, ValueError) as error:
        came = f"{type(model).__name__} has no weights of hyperplanes, or is not fitted"
        do = "give a fitted linear model of two columns; boundary_curve traces the boundaries of others"
        raise ParameterError("model", came, do) from error
    if weights.ndim != 2 or weights.shape[1] != 3:
        raise ParameterError("model", f"its weights have shape {weights.shape}", "give a linear model of two columns")
    # One row of W serves two classes: the first one's score is the boundary at which the second begins. A model
    # without probabilities gives that boundary itself to the second class. TEXTBOOK D1.
    link = getattr(scorer, "link", None)
    boundary = 0.0 if link is None else link.boundary
    W = np.vstack([[boundary, 0.0, 0.0], weights]) if len(weights) == 1 else weights
    ranks = [1, 0] if len(weights) == 1 and (link is None or link.takes_boundary) else list(range(len(W)))
    classes = getattr(scorer, "classes", None)
    labels = list(range(len(W))) if classes is None else classes.tolist()
    whole = corners(box)
    return [Region((labels[i],), _winning(W, ranks, i, whole)) for i in range(len(W))]


@runtime_checkable
class DrawsItself(Protocol):
    """A scorer whose weights are not one score a class, so that it says itself where each class wins."""

    def regions_in(self, box: Any) -> list[Region]: ...


def voted_regions(
    lines: Any, confidence: Any, contenders: Callable[[Integers], Any], labels: Sequence[Any], box: Any
) -> list[Region]:
    """Where each class wins by votes, and among equal votes by the larger confidence. TEXTBOOK M1, M3.

    Parameters
    ----------
    lines : array (P, 3)
        (b, w) of each two-class model: inside a cell of them no vote changes.
    confidence : array (K, 3)
        (b, w) of the linear function of each class that decides between equal votes.
    contenders : function
        From the models' signs (1, P) to the classes with the most votes, (1, K).
    labels : sequence of K labels
        The classes, in the order of the rows of ``confidence``.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to be divided among the classes.

    Returns
    -------
    list of Region
        In the order of ``labels``, one or more a class; one without vertices for a class that wins nowhere.

    Examples
    --------
    One line through the origin, and the class on its positive side:

    >>> won = lambda signs: np.column_stack([signs > 0, signs < 0])
    >>> found = voted_regions([[0.0, 1.0, 0.0]], np.zeros((2, 3)), won, ["right", "left"], (-1, 1, -1, 1))
    >>> [(region.labels, sorted(set(region.vertices[:, 0].tolist()))) for region in found]
    [(('right',), [0.0, 1.0]), (('left',), [-1.0, 0.0])]
    """
    W, found = np.asarray(confidence, dtype=np.float64), list[Region]()
    by_class: list[list[Array]] = [[] for _ in labels]
    for cell in cells(lines, box):
        among = np.flatnonzero(contenders(cell.signs[None, :])[0]).tolist()
        ranks = list(range(len(among)))
        for k, i in enumerate(among):
            by_class[i].append(_winning(W[among], ranks, k, cell.vertices))
    for label, polygons in zip(labels, by_class, strict=True):
        held = [polygon for polygon in polygons if len(polygon)] or [np.empty((0, 2))]
        found += [Region((label,), polygon) for polygon in held]
    return found


def _winning(W: Array, ranks: list[int], i: int, polygon: Array) -> Array:
    """The part of the polygon where score i is the largest; equal scores go to the smaller rank."""
    for j in range(len(W)):
        line = W[i] - W[j]
        if j == i or len(polygon) == 0:
            continue
        if not np.any(line):
            polygon = polygon if ranks[i] < ranks[j] else polygon[:0]
        else:
            polygon = split(polygon, line)[0]
    return polygon


# ------------------------------------------------------------------------------------------- ambiguity


class Scheme(Protocol):
    """A decision put together from two-class models that are linear."""

    @property
    def classes_(self) -> Any: ...
    def boundaries(self) -> Array: ...
    def contenders(self, signs: Integers) -> Any: ...


def ambiguous_regions(model: Scheme, box: Any) -> list[Region]:
    """Where a one-versus-one or one-versus-rest classifier is ambiguous by its votes or claims. TEXTBOOK M3.

    One-versus-one: the most votes are shared. One-versus-rest: no model claims the point for its class, or several
    do. Each region's ``labels`` are the classes that contend, none where nobody claims it.

    >>> from separatrix import OneVsRestClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]], ["a", "b", "c"]
    >>> found = ambiguous_regions(OneVsRestClassifier().fit(X, y), (-2, 6, -2, 6))
    >>> sorted(region.labels for region in found)
    [(), ('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    lines = _lines_of(model)
    labels = model.classes_.tolist()
    found = []
    for cell in cells(lines, box):
        among = np.flatnonzero(model.contenders(cell.signs[None, :])[0])
        if len(among) != 1:
            found.append(Region(tuple(labels[k] for k in among), cell.vertices))
    return found


def _lines_of(model: Scheme) -> Array:
    """The lines of a scheme's models, or an error that says why it has none in the plane."""
    kind = type(model).__name__
    if not (hasattr(type(model), "boundaries") and hasattr(type(model), "contenders")):
        do = "give a fitted OneVsOneClassifier or OneVsRestClassifier; regions(model, box) is for linear models"
        raise ParameterError("model", f"{kind} is not put together from models of two classes", do)
    if not hasattr(model, "classes_"):
        raise ParameterError("model", f"this {kind} is not fitted", "call fit first")
    try:
        lines = model.boundaries()
    except AttributeError as error:
        raise ParameterError("model", str(error), "give one over linear models") from error
    if lines.shape[1] != 3:
        came = f"{kind} was fitted to {lines.shape[1] - 1} columns"
        raise ParameterError("model", came, "fit it to two: regions are drawn in the plane")
    return lines
