"""Classification of K classes by two-class models: one versus one, one versus rest (docs/tour.md, M1–M5).

A scheme defines the rows that each model is trained on, how the scores of the models are combined to one score for each
class, and which classes the signs of the models allow. For two classes both schemes train a single model.
``PartsScorer`` scores rows by the models and a scheme. scikit-learn is imported only to ask for the tags or the kind of
a model that is not linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, TypeAlias, final

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.codec import Several, array
from separatrix.core.base.errors import ParameterError
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.geometry.plane_regions import voted_regions
from separatrix.core.geometry.polygons import Region
from separatrix.core.links import LINKS, Link
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.scorer import Classes, Scorer, chosen_classes

# Weight of the tie-breaking term. The number of pairs that a class wins is whole, so a term below ½ orders only classes
# with equal numbers.
TIE_SHARE = 1.0 / 3.0


class TrainingSet(NamedTuple):
    """The training set of one model: row numbers, and the target 1 for the rows of its class, else 0.

    ``names``: the number of the class that a positive score speaks for, and that of the other, None for the rest.
    """

    names: tuple[int, int | None]
    rows: Integers
    target: Integers


@lru_cache(maxsize=16)
def pairs(n_classes: int) -> tuple[tuple[int, int], ...]:
    """All pairs (i, j) with i < j, in order. A positive score h_ij speaks for i.

    >>> pairs(3)
    ((0, 1), (0, 2), (1, 2))
    """
    return tuple((i, j) for i in range(n_classes) for j in range(i + 1, n_classes))


def votes(H: Any, n_classes: int) -> Integers:
    """Σ_j sgn h_ij for each class i, (n, K), from h_ij, (n, K(K−1)/2), in the order of ``pairs`` (docs/tour.md, M1).

    h_ji = −h_ij. A score h_ij of exactly zero is a vote for i, the first of the two, since z = 0 predicts +
    (docs/tour.md, D1). scikit-learn does the same.

    >>> votes([[-1.0, -1.0, 1.0]], 3).tolist()  # lecture 003: h₁₂ = −1, h₁₃ = −1, h₂₃ = 1
    [[-2, 2, 0]]
    """
    scores = np.atleast_2d(np.asarray(H, dtype=np.float64))
    wanted = n_classes * (n_classes - 1) // 2
    if scores.ndim != 2 or scores.shape[1] != wanted:
        remedy = f"give {wanted} scores per row, one for each pair of classes"
        raise ParameterError("H", f"its shape is {scores.shape}", remedy)
    return np.asarray(_sums(_signs(scores), n_classes), dtype=np.int64)


def _signs(H: Array) -> Array:
    return np.where(H >= 0, 1.0, -1.0)


def _sums(H: Array, n_classes: int) -> Array:
    """Σ_j h_ij with h_ji = −h_ij, (n, K)."""
    total = np.zeros((n_classes, len(H))).T  # the sums of a class are contiguous, which halves the time
    for k, (i, j) in enumerate(pairs(n_classes)):
        total[:, i] += H[:, k]
        total[:, j] -= H[:, k]
    return total


@final
@dataclass(frozen=True)
class OneVersusOne:
    """argmax_i Σ_j sgn h_ij(x), each h_ij trained on the rows of classes i and j alone (docs/tour.md, M1).

    Ties between votes are broken by s_i = Σ_j h_ij/‖w_ij‖, the sum of signed distances (of scores, for a model without
    ‖w‖). ``combine`` returns the number of pairs that a class wins plus s_i/(3 (|s_i| + 1)). This is scikit-learn's
    decision function, except that scikit-learn does not divide by ‖w_ij‖.

    >>> [part.rows.tolist() for part in OneVersusOne().parts(np.array([0, 1, 2, 0]), 3)]
    [[0, 1, 3], [0, 2, 3], [1, 2]]
    """

    name: str = "one-versus-one"

    def n_models(self, n_classes: int) -> int:
        return n_classes * (n_classes - 1) // 2

    def parts(self, codes: Integers, n_classes: int) -> Iterator[TrainingSet]:
        for i, j in pairs(n_classes):
            rows = np.flatnonzero((codes == i) | (codes == j))
            # With two classes the second is the positive one, as in the whole package.
            for_, against = (i, j) if n_classes > 2 else (j, i)
            yield TrainingSet((for_, against), rows, (codes[rows] == for_).astype(np.int64))

    def combine(self, H: Array, lengths: Array, n_classes: int) -> Array:
        s = self.confidence(H, lengths, n_classes)
        won = 0.5 * (_sums(_signs(H), n_classes) + (n_classes - 1))
        return np.asarray(won + TIE_SHARE * s / (np.abs(s) + 1.0))

    def confidence(self, H: Array, lengths: Array, n_classes: int) -> Array:
        """Σ_j h_ij/‖w_ij‖ for each class i, (n, K), which breaks ties between votes."""
        return _sums(H / lengths, n_classes)

    def contenders(self, signs: Any, n_classes: int) -> Any:
        """The classes with the most votes, (n, K)."""
        counted = votes(signs if n_classes > 2 else -np.asarray(signs), n_classes)
        return counted == counted.max(axis=1, keepdims=True)


@final
@dataclass(frozen=True)
class OneVersusRest:
    """argmax_i h_i(x), each h_i trained on all rows, class i against the rest (docs/tour.md, M2).

    >>> [part.target.tolist() for part in OneVersusRest().parts(np.array([0, 1, 2, 0]), 3)]
    [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]]
    """

    name: str = "one-versus-rest"

    def n_models(self, n_classes: int) -> int:
        return n_classes if n_classes > 2 else 1

    def parts(self, codes: Integers, n_classes: int) -> Iterator[TrainingSet]:
        every = np.arange(len(codes))
        for i in range(n_classes) if n_classes > 2 else (1,):
            yield TrainingSet((i, None if n_classes > 2 else 0), every, (codes == i).astype(np.int64))

    def combine(self, H: Array, lengths: Array, n_classes: int) -> Array:
        return H

    def contenders(self, signs: Any, n_classes: int) -> Any:
        """The classes whose own model predicts them, (n, K)."""
        claimed = np.asarray(signs) > 0
        return claimed if n_classes > 2 else np.column_stack([~claimed[:, 0], claimed[:, 0]])


Scheme: TypeAlias = OneVersusOne | OneVersusRest
SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in (OneVersusOne(), OneVersusRest())}
# A fitted two-class classifier; model files know how one is stored.
FittedModel: TypeAlias = Annotated[Any, "model"]


# --- The cost of a scheme


@dataclass(frozen=True)
class SchemeCost:
    """The cost of a scheme for classes of given sizes (docs/tour.md, M4, M5).

    Attributes
    ----------
    scheme : str
        The name of the scheme.
    models : int
        The number of models.
    rows_trained : int
        The total size of all training sets.
    imbalance : array (models, 2)
        How many rows each model has for its class and against it.
    scores_per_row : int
        The number of models that a prediction evaluates.
    """

    scheme: str
    models: int
    rows_trained: int
    imbalance: Annotated[Integers, array("models", "", whole=True, least=0)]
    scores_per_row: int

    @property
    def worst_imbalance(self) -> float:
        """The largest ratio of the larger to the smaller side of a model."""
        return float(np.max(self.imbalance.max(axis=1) / self.imbalance.min(axis=1)))

    def __str__(self) -> str:
        return (
            f"{self.scheme}: {self.models} models, {self.rows_trained} training rows in all, "
            f"worst imbalance 1 : {self.worst_imbalance:.3g}, {self.scores_per_row} scores per prediction"
        )


def cost_of(scheme: Scheme, class_counts: Any) -> SchemeCost:
    """The cost of a scheme for classes of the given sizes; nothing is fitted.

    >>> cost_of(OneVersusRest(), [7, 7, 7]).imbalance.tolist()
    [[7, 14], [7, 14], [7, 14]]
    """
    try:
        counts = np.asarray(class_counts, dtype=np.int64)
    except (TypeError, ValueError):
        counts = np.zeros(0, dtype=np.int64)
    if counts.ndim != 1 or len(counts) < 2 or np.any(counts < 1):
        remedy = (
            "give how many rows each of two or more classes has, as np.unique(y, return_counts=True)[1] of labels y"
        )
        raise ParameterError("class_counts", f"got {class_counts!r}", remedy)
    total = int(counts.sum())
    names = [part.names for part in scheme.parts(np.arange(len(counts)), len(counts))]
    by_model = [[int(counts[i]), total - int(counts[i]) if j is None else int(counts[j])] for i, j in names]
    imbalance = np.array(by_model, dtype=np.int64)
    return SchemeCost(scheme.name, len(names), int(imbalance.sum()), imbalance, len(names))


class SchemeComparison(NamedTuple):
    """The costs of both schemes. ``compare_schemes`` returns one.

    Attributes
    ----------
    one_versus_one, one_versus_rest : SchemeCost
    """

    one_versus_one: SchemeCost
    one_versus_rest: SchemeCost

    def __str__(self) -> str:
        return f"{self.one_versus_one}\n{self.one_versus_rest}"


def compare_schemes(class_counts: Any) -> SchemeComparison:
    """Compare the costs of one versus one and one versus rest, without fitting (docs/tour.md, M5).

    Parameters
    ----------
    class_counts : list of int
        The number of rows of each class.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from separatrix import compare_schemes
    >>> print(compare_schemes([7, 7, 7]))
    one-versus-one: 3 models, 42 training rows in all, worst imbalance 1 : 1, 3 scores per prediction
    one-versus-rest: 3 models, 63 training rows in all, worst imbalance 1 : 2, 3 scores per prediction
    >>> ten = compare_schemes([100] * 10)
    >>> ten.one_versus_one.models, ten.one_versus_rest.models, ten.one_versus_rest.worst_imbalance
    (45, 10, 9.0)
    """
    return SchemeComparison(cost_of(OneVersusOne(), class_counts), cost_of(OneVersusRest(), class_counts))


# --- The scores of several two-class models


@dataclass(frozen=True)
class PartsScorer:
    """Combines the scores of two-class models by a scheme. ``W`` holds their weights, or None if a model is not linear.

    >>> W = np.array([[0.0, -1.0], [0.0, -1.0], [0.0, -1.0]])
    >>> PartsScorer(OneVersusOne(), (), W, np.array(["low", "middle", "high"])).predict(np.array([[2.0]])).tolist()
    ['high']
    """

    scheme: Scheme
    estimators: Annotated[tuple[FittedModel, ...], Several("models")]
    W: Annotated[Array, array("models", "1+d")] | None
    classes: Classes

    @property
    def n_features(self) -> int:
        return int(self.estimators[0].n_features_in_ if self.W is None else self.W.shape[1] - 1)

    def parts_scores(self, X: Any, names: list[str] | None = None) -> Array:
        """The scores of each model, (n, models). NaN and infinity in X raise an error that names the cell."""
        if self.W is not None:
            z = Scorer(self.W, np.arange(len(self.W)), "identity").scores(X, names)
            return z if z.ndim == 2 else z[:, None]
        if not all(takes_nan(estimator) for estimator in self.estimators):
            refuse_not_finite(memory_rows(X, np.zeros(X.shape[0])), names)
        return np.column_stack([score_of(estimator, X) for estimator in self.estimators])

    def scores(self, X: Any, names: list[str] | None = None) -> Array:
        """Return the scores, (n, K). For two classes they have shape (n,) and are positive for the second class."""
        H = self.parts_scores(X, names)
        if len(self.classes) == 2:
            return np.asarray(H[:, 0])
        return self.scheme.combine(H, self._lengths(H.shape[1]), len(self.classes))

    def _lengths(self, n_models: int) -> Array:
        """Return ‖w‖ of each model, so that h/‖w‖ is a distance; 1 if w = 0 or the model is not linear."""
        if self.W is None:
            return np.ones(n_models)
        lengths = np.linalg.norm(self.W[:, 1:], axis=1)
        return np.where(lengths > 0, lengths, 1.0)

    @property
    def link(self) -> Link:
        """The link of the first model. With two classes it decides which class a score of zero predicts."""
        return LINKS[link_of(self.estimators)]

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        return chosen_classes(self.scores(X, names), self.classes, self.link)

    def hyperplane(self, i: Any, j: Any) -> Hyperplane:
        """Return the hyperplane of the model for classes i and j, positive on the side of i (one-versus-one only)."""
        labels = self.classes.tolist()
        if i not in labels or j not in labels or i == j or self.W is None:
            got = f"got {np.asarray(i).tolist()!r} and {np.asarray(j).tolist()!r}"
            raise ParameterError("i, j", got, f"give two different classes among {labels}")
        a, b = labels.index(i), labels.index(j)
        w = self.W[pairs(len(labels)).index((min(a, b), max(a, b)))]
        return Hyperplane.from_homogeneous(w if a < b else -w)

    def regions_in(self, box: Any, on_plane: Callable[[Array], Array] = np.asarray) -> list[Region] | None:
        """Return the polygons in which each class is predicted; None if models are not linear or do not vote.

        See ``separatrix.regions``.

        ``on_plane`` maps the weights of the models (P, d + 1) to the weights of their restriction to a plane (P, 3).
        The default is for models of two columns.
        """
        scheme = self.scheme
        if self.W is None or not isinstance(scheme, OneVersusOne):
            return None
        lines, K = on_plane(self.W), len(self.classes)
        if lines.shape[1] != 3:
            problem = f"its weights have shape {lines.shape}"
            raise ParameterError("model", problem, "give a linear model of two columns")
        confidence = scheme.confidence(lines.T, self._lengths(len(lines)), K).T
        return voted_regions(lines, confidence, lambda signs: scheme.contenders(signs, K), self.classes.tolist(), box)

    def probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        raise ParameterError(
            "probabilities", f"{self.scheme.name} has only scores", "use a classifier with probabilities, e.g. logistic"
        )

    log_probabilities = probabilities


def score_of(estimator: Any, X: Any) -> Array:
    """Return the score of a two-class model, positive for class 1.

    The score is the decision function if there is one; else ŷ − ½ for a regressor with targets 0 and 1; else P(1 | x) −
    ½.
    """
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    from sklearn.base import is_regressor

    if is_regressor(estimator):
        return np.asarray(np.ravel(estimator.predict(X)) - 0.5, dtype=np.float64)
    return np.asarray(estimator.predict_proba(X)[:, 1] - 0.5, dtype=np.float64)


def takes_nan(estimator: Any) -> bool:
    """Whether the scikit-learn tags of a model, or of the first step of a pipeline, allow NaN."""
    steps = getattr(estimator, "steps", None)
    first = steps[0][1] if steps else estimator
    if not hasattr(first, "__sklearn_tags__"):
        return False
    from sklearn.utils import get_tags

    return bool(get_tags(first).input_tags.allow_nan)


def link_of(estimators: Sequence[Any]) -> str:
    """Return the name of the models' link, which decides ties: with probabilities, the first class is predicted.

    >>> from separatrix import LogisticRegression, Perceptron
    >>> rows = [[0.0], [1.0]], [0, 1]
    >>> link_of([LogisticRegression().fit(*rows)]), link_of([Perceptron().fit(*rows)])
    ('logit', 'sign')
    """
    first = estimators[0] if estimators else None
    link = getattr(getattr(first, "scorer_", None), "link_name", None)
    return link or ("logit" if hasattr(first, "predict_proba") else "sign")
