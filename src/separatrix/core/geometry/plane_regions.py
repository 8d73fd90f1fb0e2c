"""Decision regions, boundaries and level sets of any classifier in the plane (docs/tour.md, G5, M3, B4, D5).

For linear classifiers, regions are exact polygons, found without a grid. The region of class i is the intersection of a
box with the half-planes (w_i − w_j)·x + (b_i − b_j) ≥ 0, so it is convex. For a scheme of two-class models, the lines
of the models cut the box into cells. Inside a cell no score changes its sign, so the signs decide for the whole cell.
Regions of other classifiers have curved edges, which are traced on a grid (``core/geometry/curved_regions.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.geometry.curved_regions import CurvedRegion, Tracing, curved_regions, regions_between
from separatrix.core.geometry.polygons import (
    Region,
    Vertices,
    affine_weights,
    as_array,
    as_box,
    cells,
    corners,
    parts,
    plain,
    plane_scores,
)

# --- Regions in which each class wins


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
    elif hasattr(scorer, "W") or isinstance(scorer, np.ndarray | list | tuple):
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
    classes, link, ranks = getattr(scorer, "classes", None), getattr(scorer, "link", None), list(range(len(weights)))
    W = weights
    # A single row of weights is for two classes: the score of the first is the constant at which the second begins. A
    # link without probabilities gives the boundary itself to the second class (docs/tour.md, D1).
    if len(weights) == 1:
        W = np.vstack([[0.0 if link is None else link.boundary, 0.0, 0.0], weights])
        ranks = [1, 0] if link is None or link.takes_boundary else [0, 1]
    labels = list(range(len(W))) if classes is None else classes.tolist()
    return _polygons(W, ranks, labels, box)


def _polygons(W: Array, ranks: list[int], labels: Sequence[Any], box: Any) -> list[Region]:
    whole, weights = plain(corners(box)), W.tolist()
    return [Region((labels[i],), as_array(_winning(weights, ranks, i, whole))) for i in range(len(W))]


def _means(model: Any) -> Array | None:
    """The means of the classes, if the model knows them: even a class with a small region wins at its mean."""
    means = getattr(model, "means_", None)
    return None if means is None or np.ndim(means) != 2 or np.shape(means)[1] != 2 else np.asarray(means)


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
    >>> from separatrix.core.geometry.plane_regions import voted_regions
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


# --- Regions in which a scheme is ambiguous


def ambiguous_regions(model: Any, box: Any) -> list[Region]:
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


def _lines_of(model: Any) -> Array:
    """The lines of the models; raises an error if they are not lines in the plane."""
    kind = type(model).__name__
    if not (hasattr(type(model), "boundaries") and hasattr(type(model), "contenders")):
        remedy = "give a fitted OneVsOneClassifier or OneVsRestClassifier; regions(model, box) is for linear models"
        raise ParameterError("model", f"{kind} does not combine two-class models", remedy)
    if not hasattr(model, "classes_"):
        raise ParameterError("model", f"this {kind} is not fitted", "call fit first")
    try:
        lines: Array = model.boundaries()
    except AttributeError as error:
        raise ParameterError("model", str(error), "give a scheme over linear models") from error
    if lines.shape[1] != 3:
        problem = f"{kind} was fitted to {lines.shape[1] - 1} columns"
        raise ParameterError("model", problem, "fit it to two: regions are drawn in the plane")
    return lines


# --- Boundaries


def boundary_curve(model: Any, box: Any, n: int = 100, i: Any = None, j: Any = None) -> list[Array]:
    """Trace the curve on which two classes have the same score (docs/tour.md, B4).

    Its vertices are off by up to 1e-6 of the width of the box. A part of the boundary that is smaller than a square of
    the grid, such as a small loop, may be missed.

    Parameters
    ----------
    model : estimator or function
        A fitted classifier or pipeline of two columns with ``decision_function``, or a function from rows (m, 2) to
        scores (m,), whose zeros are traced.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to search.
    n : int, default 100
        The number of squares along each side of the grid.
    i, j : labels
        The two classes. With two classes they may be left out.

    Returns
    -------
    list of arrays (m, 2)
        Polylines; a closed one ends where it starts.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import boundary_curve
    >>> circle = boundary_curve(lambda X: 1.0 - X[:, 0] ** 2 - X[:, 1] ** 2, (-2, 2, -2, 2), 50)
    >>> len(circle), float(abs(np.hypot(*circle[0].T) - 1.0).max()) < 1e-6
    (1, True)
    """
    corners(box)
    if n < 1:
        raise ParameterError("n", f"got {n}", "give at least one square per side")
    return Tracing(_score_of(model, i, j), box, n, smooth=False).curves()


def _score_of(model: Any, i: Any, j: Any) -> Callable[[Array], Array]:
    """The scores of the two classes, (m, 2), or (z, 0) for a function z."""
    if not hasattr(model, "decision_function"):
        return lambda X: np.column_stack([np.asarray(model(X), dtype=np.float64), np.zeros(len(X))])
    scores = plane_scores(model)
    labels, field = scores.labels, scores.field
    if i is None and j is None and len(labels) == 2:
        return field
    if i not in labels or j not in labels or i == j:
        got = f"got {np.asarray(i).tolist()!r} and {np.asarray(j).tolist()!r}"
        raise ParameterError("i, j", got, f"name two of the classes {labels}")
    both = [labels.index(i), labels.index(j)]
    return lambda X: field(X)[:, both]


# --- Level sets of scores and probabilities

# Log odds are cut off here, where probabilities are 0 or 1 up to rounding.
LARGEST_LOG_ODDS = 700.0


@dataclass(frozen=True)
class LevelSet:
    """The curve on which a score or a probability of a class has a value. ``level_sets`` returns them.

    Attributes
    ----------
    label : object
        The class.
    level : float
        The value.
    curves : list of arrays (m, 2)
        Polylines; a closed one ends where it starts. None if the value does not occur in the box.
    """

    label: Any
    level: float
    curves: list[Array]


@dataclass(frozen=True)
class Band:
    """The part of a box where low ≤ P(class | x) < high. ``probability_bands`` returns them.

    Attributes
    ----------
    label : object
        The class.
    low, high : float
        The limits; the last band includes the probability 1.
    rings : tuple of arrays (m, 2)
        The outlines. Filled by the even-odd rule, they give the band.
    """

    label: Any
    low: float
    high: float
    rings: tuple[Array, ...]
    region: CurvedRegion = field(repr=False, compare=False)

    @property
    def area(self) -> float:
        """The area inside the outlines."""
        return self.region.area

    def contains(self, X: Any) -> Any:
        """Which points of the box have a probability within the limits, by the model and not by the polygons.

        Parameters
        ----------
        X : array (n, 2)
            Points.

        Returns
        -------
        array (n,) of bool
        """
        return self.region.contains(X)


def level_sets(
    model: Any, box: Any, levels: Sequence[float], of: str = "probability", labels: Sequence[Any] | None = None
) -> list[LevelSet]:
    """Trace the curves on which the probability or the score of a class has given values.

    Parameters
    ----------
    model : fitted classifier or pipeline of two columns
        For probabilities it needs ``predict_proba``.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to search.
    levels : sequence of float
        The values. Probabilities lie between 0 and 1.
    of : "probability" or "score", default "probability"
        What has these values. With two classes, the score of the second class is the decision function and that of the
        first its negative. With more, the score of a class is its lead over the best of the others.
    labels : sequence of labels or None
        The classes; by default all, but with two classes the second alone.

    Returns
    -------
    list of LevelSet
        For each class all levels, in the order given.

    Examples
    --------
    >>> from separatrix import LogisticRegression, level_sets
    >>> model = LogisticRegression().fit([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [3.0, 1.0]], ["a", "a", "b", "b"])
    >>> for found in level_sets(model, (0, 3, 0, 3), [0.4, 0.5]):
    ...     print(found.label, found.level, model.predict_proba(found.curves[0])[:, 1].round(6).max())
    b 0.4 0.4
    b 0.5 0.5
    """
    known, functions = _functions(model, of)
    targets = _targets(levels, of)
    return [
        LevelSet(known[k], float(level), Tracing(_above(functions[k], z), box).curves())
        for k in _chosen(known, labels)
        for level, z in zip(levels, targets, strict=True)
    ]


def probability_bands(model: Any, box: Any, levels: Sequence[float], labels: Sequence[Any] | None = None) -> list[Band]:
    """Divide a box into bands in which the probability of a class lies between two neighbouring levels.

    Parameters
    ----------
    model : fitted classifier or pipeline of two columns
        With ``predict_proba``.
    box : (x₁ low, x₁ high, x₂ low, x₂ high)
        The part of the plane to divide.
    levels : sequence of float
        Ascending probabilities between 0 and 1. The bands below the first and above the last are included.
    labels : sequence of labels or None
        The classes; by default all, but with two classes the second alone.

    Returns
    -------
    list of Band
        For each class the bands in ascending order, which together cover the box.

    Examples
    --------
    >>> from separatrix import LogisticRegression, probability_bands
    >>> model = LogisticRegression().fit([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [3.0, 1.0]], ["a", "a", "b", "b"])
    >>> bands = probability_bands(model, (0, 3, 0, 3), [0.25, 0.75])
    >>> [(band.low, band.high) for band in bands], round(sum(band.area for band in bands), 9)
    ([(0.0, 0.25), (0.25, 0.75), (0.75, 1.0)], 9.0)
    """
    known, functions = _functions(model, "probability")
    targets = _targets(levels, "probability")
    if np.any(np.diff(targets) <= 0):
        raise ParameterError("levels", f"got {list(levels)!r}", "give ascending probabilities")
    limits = [0.0, *map(float, levels), 1.0]
    bands, whole = [], as_box(box)
    for k in _chosen(known, labels):
        score = functions[k]
        rings = [Tracing(_above(score, z), box).rings(2) for z in targets]
        upper = [[corners(box)], *(above for above, _ in rings)]
        inner: list[list[Array]] = [*upper[1:], []]
        cuts = [-np.inf, *targets.tolist(), np.inf]
        for n, (outer, hole) in enumerate(zip(upper, inner, strict=True)):
            outline = (*outer, *(ring[::-1] for ring in hole))
            region = CurvedRegion((known[k],), outline, whole, _between(score, cuts[n], cuts[n + 1]))
            bands.append(Band(known[k], limits[n], limits[n + 1], outline, region))
    return bands


def _functions(model: Any, of: str) -> tuple[list[Any], list[Callable[[Array], Array]]]:
    """The classes, and for each a function of points: its log odds, or its lead over the others."""
    if of not in ("probability", "score"):
        raise ParameterError("of", f"got {of!r}", "choose 'probability' or 'score'")
    scores = plane_scores(model)
    K = len(scores.labels)
    if of == "score":
        return scores.labels, [_lead(scores.field, k, K) for k in range(K)]
    if not hasattr(model, "predict_proba"):
        problem = f"{type(model).__name__} has no probabilities"
        raise ParameterError("model", problem, "ask for of='score', or give a model with predict_proba")
    link = scores.link

    def log_probabilities(X: Array) -> Array:
        if link is None or not link.probabilistic:
            return np.asarray(np.log(model.predict_proba(X)))
        Z = scores.field(X)
        return np.asarray(link.log_probabilities(Z[:, 1] if K == 2 else Z))

    return scores.labels, [_odds(log_probabilities, k) for k in range(K)]


def _odds(log_probabilities: Callable[[Array], Array], k: int) -> Callable[[Array], Array]:
    """ln P_k/(1 − P_k), which is smooth where P_k is nearly 0 or 1."""

    def odds(X: Array) -> Array:
        with np.errstate(divide="ignore", under="ignore"):
            L = log_probabilities(X)
            others = np.delete(L, k, axis=1)
            z = L[:, k] - np.logaddexp.reduce(others, axis=1)
        return np.asarray(np.clip(z, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS))

    return odds


def _lead(scores: Callable[[Array], Array], k: int, K: int) -> Callable[[Array], Array]:
    """The score of a class minus the largest of the others."""
    others = [j for j in range(K) if j != k]

    def lead(X: Array) -> Array:
        Z = scores(X)
        return np.asarray(Z[:, k] - Z[:, others].max(axis=1))

    return lead


def _targets(levels: Sequence[float], of: str) -> Array:
    """The values of the functions at the levels."""
    values = np.asarray(levels, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values)):
        raise ParameterError("levels", f"got {levels!r}", "give a list of numbers")
    if of == "score":
        return values
    if np.any((values <= 0) | (values >= 1)):
        raise ParameterError("levels", f"got {levels!r}", "give probabilities between 0 and 1")
    return np.asarray(np.log(values) - np.log1p(-values))


def _chosen(known: list[Any], labels: Sequence[Any] | None) -> list[int]:
    if labels is None:
        return [1] if len(known) == 2 else list(range(len(known)))
    unknown = next((label for label in labels if label not in known), None)
    if unknown is not None:
        raise ParameterError("labels", f"got {unknown!r}", f"name some of the classes {known}")
    return [known.index(label) for label in labels]


def _above(score: Callable[[Array], Array], level: float) -> Callable[[Array], Array]:
    """The field whose label 0 is the part where the score is at least this level."""
    return lambda X: np.column_stack([score(X), np.full(len(X), level)])


def _between(score: Callable[[Array], Array], low: float, high: float) -> Callable[[Array], Any]:
    return lambda X: np.digitize(score(X), [low, high]) == 1
