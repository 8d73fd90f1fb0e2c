"""The scores of several two-class models, combined by a scheme.

scikit-learn is imported only to ask for the tags or the kind of a model that is not linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import ParameterError
from separatrix.geometry import Hyperplane, Region, voted_regions
from separatrix.losses.links import LINKS, Link
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.scorers.schemes import OneVersusOne, Scheme, pairs
from separatrix.scorers.scorer import Scorer, chosen_classes


@dataclass(frozen=True)
class PartsScorer:
    """Combines the scores of two-class models by a scheme. ``W`` holds their weights, or None if a model is not linear.

    >>> from separatrix.scorers.schemes import OneVersusOne
    >>> W = np.array([[0.0, -1.0], [0.0, -1.0], [0.0, -1.0]])
    >>> PartsScorer(OneVersusOne(), (), W, np.array(["low", "middle", "high"])).predict(np.array([[2.0]])).tolist()
    ['high']
    """

    scheme: Scheme
    estimators: tuple[Any, ...]
    W: Array | None
    classes: AnyArray

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

    def quick_scores(self) -> Callable[[Array], Array]:
        """``scores`` of dense finite rows; for linear models without checks, which is fast for few rows."""
        if self.W is None:
            return self.scores
        w, b, K = np.ascontiguousarray(self.W[:, 1:]), self.W[:, :1], len(self.classes)
        lengths = self._lengths(len(b))
        if K == 2:
            return lambda X: np.asarray(X @ w[0] + b[0])
        # The scores of a model are contiguous, since ``combine`` adds those of models.
        return lambda X: self.scheme.combine((w @ X.T + b).T, lengths, K)

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
            raise ParameterError(
                "i, j",
                f"got {np.asarray(i).tolist()!r} and {np.asarray(j).tolist()!r}",
                f"give two different classes among {labels}",
            )
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


@dataclass(frozen=True)
class PairwiseScorer(PartsScorer):
    """For estimators with a precomputed kernel: each model gets only the kernel columns of its own training rows."""

    indices: tuple[Integers, ...] = ()

    def parts_scores(self, X: Any, names: list[str] | None = None) -> Array:
        return np.column_stack(
            [score_of(estimator, X[:, rows]) for estimator, rows in zip(self.estimators, self.indices, strict=True)]
        )


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
