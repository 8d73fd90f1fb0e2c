"""Decision regions in the plane: exact polygons without a grid for linear classifiers (docs/tour.md, G5, M3).

The region of class i is the intersection of a box with the half-planes (w_i − w_j)·x + (b_i − b_j) ≥ 0, so it is
convex. For a scheme of two-class models, the lines of the models cut the box into cells. Inside a cell no score changes
its sign, so the signs decide for the whole cell. Regions of other classifiers have curved edges
(``geometry/curved_regions.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import ParameterError
from separatrix.geometry.curved_regions import CurvedRegion, curved_regions, regions_between
from separatrix.geometry.plane_scores import affine_weights, plane_scores
from separatrix.geometry.polygons import Region, Vertices, as_array, cells, corners, parts, plain


def regions(model: Any, box: Any) -> list[Region] | list[CurvedRegion]:
    """Return the regions in which each class wins, which agree with ``predict``. G5, M1, M2, B4.

    Parameters
    ----------
    model : fitted classifier of two columns, pipeline, ``Scorer``, or array (K, 3)
        An array holds the weights of K scores, intercepts in column 0.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to divide among the classes.

    Returns
    -------
    list of Region or list of CurvedRegion
        In the order of the classes. Linear models have convex polygons (``Region``), one for each class; only with one
        versus one a class may have several. Other models, such as QDA and pipelines, have one ``CurvedRegion`` for each
        class, which may consist of several parts and have holes. Both have ``labels``, ``rings``, ``area`` and
        ``contains``. A class that wins nowhere in the box has one region without vertices. If classes have the same
        scores everywhere, the first of them wins, as in prediction.

    Raises
    ------
    ParameterError
        If the model is not a fitted classifier of two columns, or the box is so large that areas or products of scores
        would overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import regions
    >>> left, right = regions(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), (0, 1, 0, 1))
    >>> left.area, right.area  # h₁ = 2x₁ against h₂ = x₂: the boundary is x₂ = 2x₁
    (0.75, 0.25)
    """
    scorer = getattr(model, "scorer_", model)
    if hasattr(scorer, "regions_in"):  # it has not one linear score for each class, and may know its polygons
        polygons: list[Region] | None = scorer.regions_in(box)
        if polygons is not None:
            return polygons
    elif _linear_weights(scorer) is not None:
        return linear_regions(scorer, box)
    scores = plane_scores(model)
    # Lines (b, w), (P, 3), on which all boundaries lie, if the scorer knows such lines.
    lines: Array | None = scorer.boundary_lines() if hasattr(scorer, "boundary_lines") else None
    if lines is not None:
        return regions_between(lines, scores.field, scores.labels, box)
    W_plane = affine_weights(scores.field, box)
    if W_plane is not None:  # such as a linear model after a scaler
        return _polygons(W_plane, list(range(len(W_plane))), scores.labels, box)
    return curved_regions(scores.field, scores.labels, box, through=_means(model))


def linear_regions(scorer: Any, box: Any) -> list[Region]:
    """The polygons in which each class of a ``Scorer``, or of weights (K, 3), wins."""
    weights = np.asarray(getattr(scorer, "W", scorer), dtype=np.float64)
    if weights.ndim != 2 or weights.shape[1] != 3:
        raise ParameterError("model", f"its weights have shape {weights.shape}", "give a linear model of two columns")
    W, ranks = _scores_of_all_classes(weights, getattr(scorer, "link", None))
    classes = getattr(scorer, "classes", None)
    labels = list(range(len(W))) if classes is None else classes.tolist()
    return _polygons(W, ranks, labels, box)


def _polygons(W: Array, ranks: list[int], labels: Sequence[Any], box: Any) -> list[Region]:
    whole, weights = plain(corners(box)), W.tolist()
    return [Region((labels[i],), as_array(_winning(weights, ranks, i, whole))) for i in range(len(W))]


def _linear_weights(scorer: Any) -> Array | None:
    """The weights of linear scores, or None if the scores are not linear."""
    try:
        return np.asarray(getattr(scorer, "W", scorer), dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _means(model: Any) -> Array | None:
    """The means of the classes, if the model knows them: even a class with a small region wins at its mean."""
    means = getattr(model, "means_", None)
    return None if means is None or np.ndim(means) != 2 or np.shape(means)[1] != 2 else np.asarray(means)


def _scores_of_all_classes(weights: Array, link: Any) -> tuple[Array, list[int]]:
    """One row of weights for each class, and the rank of each class in a tie.

    A single row of weights is for two classes. Then the score of the first class is the constant at which the second
    begins. A link without probabilities gives the boundary itself to the second class (docs/tour.md, D1).
    """
    if len(weights) > 1:
        return weights, list(range(len(weights)))
    boundary = 0.0 if link is None else link.boundary
    W = np.vstack([[boundary, 0.0, 0.0], weights])
    return W, [1, 0] if link is None or link.takes_boundary else [0, 1]


def voted_regions(
    lines: Any, confidence: Any, contenders: Callable[[Integers], Any], labels: Sequence[Any], box: Any
) -> list[Region]:
    """Return the regions in which each class wins by votes, ties broken by the larger confidence.

    See docs/tour.md, M1, M3.

    Parameters
    ----------
    lines : array (P, 3)
        (b, w) of each two-class model; votes do not change inside a cell of these lines.
    confidence : array (K, 3)
        (b, w) of the linear function of each class that breaks ties.
    contenders : function
        From the signs of the models (n, P) to the classes with the most votes (n, K).
    labels : sequence of K labels
        The classes, in the order of the rows of ``confidence``.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to divide among the classes.

    Returns
    -------
    list of Region
        In the order of ``labels``, one or more for each class; a class that wins nowhere has one without vertices.

    Examples
    --------
    One line through the origin, and the class on its positive side:

    >>> import numpy as np
    >>> from separatrix.geometry import voted_regions
    >>> won = lambda signs: np.column_stack([signs > 0, signs < 0])
    >>> found = voted_regions([[0.0, 1.0, 0.0]], np.zeros((2, 3)), won, ["right", "left"], (-1, 1, -1, 1))
    >>> [(region.labels, sorted(set(region.vertices[:, 0].tolist()))) for region in found]
    [(('right',), [0.0, 1.0]), (('left',), [-1.0, 0.0])]
    """
    W, won = np.asarray(confidence, dtype=np.float64).tolist(), list[Region]()
    by_class: list[list[Vertices]] = [[] for _ in labels]
    found = cells(lines, box)
    for cell, most in zip(found, contenders(np.array([cell.signs for cell in found])), strict=True):
        among, polygon = np.flatnonzero(most).tolist(), plain(cell.vertices)
        ranks, weights = list(range(len(among))), [W[i] for i in among]
        for k, i in enumerate(among):
            by_class[i].append(_winning(weights, ranks, k, polygon))
    for label, polygons in zip(labels, by_class, strict=True):
        won += [Region((label,), as_array(polygon)) for polygon in [one for one in polygons if one] or [[]]]
    return won


def _winning(W: list[list[float]], ranks: list[int], i: int, polygon: Vertices) -> Vertices:
    """The part of the polygon where score i is the largest; among equal scores the smaller rank wins."""
    for j, other in enumerate(W):
        if j == i or not polygon:
            continue
        line = [own - its for own, its in zip(W[i], other, strict=True)]
        if any(line):
            polygon = parts(polygon, line)[0]
        elif ranks[i] > ranks[j]:
            polygon = []
    return polygon


# ------------------------------------------------------------------------------------------- ambiguity


class Scheme(Protocol):
    """A classifier that combines linear two-class models."""

    @property
    def classes_(self) -> Any: ...
    def boundaries(self) -> Array: ...
    def contenders(self, signs: Integers) -> Any: ...


def ambiguous_regions(model: Scheme, box: Any) -> list[Region]:
    """Return the regions in which one versus one or one versus rest is ambiguous (docs/tour.md, M3).

    One versus one is ambiguous where several classes have the most votes. One versus rest is ambiguous where no model
    or several models predict their own class.

    Parameters
    ----------
    model : OneVsOneClassifier or OneVsRestClassifier
        Fitted over linear models of two columns.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to look at.

    Returns
    -------
    list of Region
        The ``labels`` of a region are the classes that may win there, empty if no model predicts its own class.

    Examples
    --------
    >>> from separatrix import ambiguous_regions
    >>> from separatrix import OneVsRestClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]], ["a", "b", "c"]
    >>> found = ambiguous_regions(OneVsRestClassifier().fit(X, y), (-2, 6, -2, 6))
    >>> sorted(region.labels for region in found)
    [(), ('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    lines = _lines_of(model)
    labels = model.classes_.tolist()
    ambiguous = []
    found = cells(lines, box)
    for cell, most in zip(found, model.contenders(np.array([cell.signs for cell in found])), strict=True):
        among = np.flatnonzero(most)
        if len(among) != 1:
            ambiguous.append(Region(tuple(labels[k] for k in among), cell.vertices))
    return ambiguous


def _lines_of(model: Scheme) -> Array:
    """The lines of the models; raises an error if they are not lines in the plane."""
    kind = type(model).__name__
    if not (hasattr(type(model), "boundaries") and hasattr(type(model), "contenders")):
        remedy = "give a fitted OneVsOneClassifier or OneVsRestClassifier; regions(model, box) is for linear models"
        raise ParameterError("model", f"{kind} does not combine two-class models", remedy)
    if not hasattr(model, "classes_"):
        raise ParameterError("model", f"this {kind} is not fitted", "call fit first")
    try:
        lines = model.boundaries()
    except AttributeError as error:
        raise ParameterError("model", str(error), "give a scheme over linear models") from error
    if lines.shape[1] != 3:
        problem = f"{kind} was fitted to {lines.shape[1] - 1} columns"
        raise ParameterError("model", problem, "fit it to two: regions are drawn in the plane")
    return lines
