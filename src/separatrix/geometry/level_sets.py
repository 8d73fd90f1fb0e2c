"""Level sets of scores and probabilities in the plane, and the bands between them (docs/tour.md, B4, D5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.geometry.curved_regions import CurvedRegion, Tracing
from separatrix.geometry.plane_scores import plane_scores

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
    chosen = _chosen(known, labels)
    targets = _targets(levels, of)
    return [
        LevelSet(known[k], float(level), Tracing(_above(functions[k], z), box).curves())
        for k in chosen
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
    left, right, low, high = (float(v) for v in np.asarray(box, dtype=np.float64).ravel())
    bands = []
    for k in _chosen(known, labels):
        score = functions[k]
        rings = [Tracing(_above(score, z), box).rings(2) for z in targets]
        upper = [[np.array([[left, low], [right, low], [right, high], [left, high]])], *(above for above, _ in rings)]
        inner: list[list[Array]] = [*upper[1:], []]
        cuts = [-np.inf, *targets.tolist(), np.inf]
        for n, (outer, hole) in enumerate(zip(upper, inner, strict=True)):
            outline = (*outer, *(ring[::-1] for ring in hole))
            region = CurvedRegion((known[k],), outline, (left, right, low, high), _between(score, cuts[n], cuts[n + 1]))
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
    if link is not None and link.probabilistic:
        return scores.labels, [_odds(_log_probabilities(scores.field, link, K), k) for k in range(K)]
    return scores.labels, [_odds(lambda X: np.log(model.predict_proba(X)), k) for k in range(K)]


def _log_probabilities(scores: Callable[[Array], Array], link: Any, K: int) -> Callable[[Array], Array]:
    if K == 2:
        return lambda X: np.asarray(link.log_probabilities(scores(X)[:, 1]))
    return lambda X: np.asarray(link.log_probabilities(scores(X)))


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
    def inside(X: Array) -> Any:
        z = score(X)
        return (z >= low) & (z < high)

    return inside
