"""One-versus-rest and one-versus-one: K classes from any classifier of two. TEXTBOOK M1–M5."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from separatrix import errors
from separatrix.arrays import AnyArray, Array, Integers, NamedRows
from separatrix.classifiers.given import Given, given, rows_to_score
from separatrix.classifiers.linear import Approach, ClassifierTraits, ScoringClassifier
from separatrix.classifiers.logistic import LogisticRegression
from separatrix.classifiers.offered import offered_where
from separatrix.classifiers.parts import PartsScorer, certificate_of, linear_weights, link_of
from separatrix.errors import ParameterError
from separatrix.geometry import Hyperplane
from separatrix.links import LINKS
from separatrix.rows import memory_rows
from separatrix.rows.columns import refuse_not_finite
from separatrix.schemes import OneVersusOne, OneVersusRest, Scheme, SchemeCost, cost_of, votes
from separatrix.scorer import Scorer, Scores
from separatrix.watching import part


def _parts_are_linear(model: Any) -> None:
    """Raise where a fitted model has no hyperplanes, and say why."""
    if not hasattr(model, "estimators_") or model._W is not None:
        return
    raise AttributeError(
        f"{type(model).__name__} over {type(model.estimators_[0]).__name__} has no hyperplanes: its models are not "
        "linear in the columns; separatrix.boundary_curve traces their boundaries"
    )


class _OneVersus(MetaEstimatorMixin, ScoringClassifier):
    """Fit one clone of ``estimator`` a part of the scheme, put the parts together."""

    approach: ClassVar[Approach] = "discriminant function"
    traits: ClassVar[ClassifierTraits] = ClassifierTraits()
    scheme: ClassVar[Scheme]

    classes_: AnyArray

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit every part to rows X (n, d), dense or sparse, with any labels y (n,).

        The parts see the targets 1 (their class) and 0 (against it), so a ``class_weight`` of theirs is "balanced"
        or by those two labels.
        """
        base = LogisticRegression() if self.estimator is None else self.estimator
        if not hasattr(base, "decision_function") and not hasattr(base, "predict_proba"):
            raise ParameterError(
                "estimator",
                f"{type(base).__name__} has neither decision_function nor predict_proba",
                "give a classifier of two classes with scores",
            )
        task = given(self, X, y, sample_weight)
        refuse_not_finite(memory_rows(task.X, task.codes), task.names)
        weight = task.weight if sample_weight is not None else None
        if weight is not None and not has_fit_parameter(base, "sample_weight"):
            raise ParameterError(
                "sample_weight", f"{type(base).__name__} takes none", "leave it out, or give another estimator"
            )
        self.classes_ = task.classes
        self.estimators_ = self._fit_parts(base, task, weight)
        self._keep(task)
        return self

    def _fit_parts(self, base: Any, task: Given, weight: Array | None) -> list[Any]:
        fitted = []
        with warnings.catch_warnings():
            if isinstance(base, ScoringClassifier):
                # Told once, for all parts together, from their certificates.
                warnings.simplefilter("ignore", ConvergenceWarning)
            for k, (_, rows, target) in enumerate(self.scheme.parts(task.codes, task.n_classes), 1):
                X: Any = task.X if len(rows) == len(task.codes) else task.X[rows]
                if task.names is not None and isinstance(base, ScoringClassifier) and isinstance(X, np.ndarray):
                    X = NamedRows.of(X, task.names)  # for messages
                extra = {} if weight is None else {"sample_weight": weight[rows]}
                with part("model", k, self.scheme.n_models(task.n_classes)):
                    fitted.append(clone(base).fit(X, target, **extra))
        return fitted

    def _keep(self, task: Given) -> None:
        d = task.X.shape[1]
        self.cost_: SchemeCost = cost_of(self.scheme, np.bincount(task.codes))
        self._W = linear_weights(self.estimators_, d)
        self.scorer_: Scores = self._scorer()
        self.certificate_ = certificate_of(self.scheme, self.scorer_, self.estimators_, task.codes, d + 1)
        self.n_parameters_ = self.certificate_.n_parameters
        if not self.certificate_.met and self.certificate_.code != "uncertified":
            warnings.warn(self.certificate_.status, errors.NotConvergedWarning, stacklevel=3)

    def _scorer(self) -> Scores:
        if self._W is not None and len(self.classes_) == 2:
            return Scorer(self._W, self.classes_, self._link_of_two())
        return PartsScorer(self.scheme, tuple(self.estimators_), self._W, self.classes_)

    def _link_of_two(self) -> str:
        """How the one model of two classes decides; weights are relative to its boundary, so a shifted one is at 0."""
        link = link_of(self.estimators_)
        return link if LINKS[link].boundary == 0 else "logit"

    @property
    def n_classes_(self) -> int:
        return len(self.classes_)

    @property
    def imbalance_(self) -> Integers:
        """The rows for and against of each model, (models, 2). TEXTBOOK M4."""
        return self.cost_.imbalance

    @offered_where(_parts_are_linear)
    def boundaries(self) -> Array:
        """(b, w) of every model, (models, d + 1): where it changes its mind."""
        check_is_fitted(self)
        return np.asarray(self._W)

    def contenders(self, signs: Integers) -> Any:
        """Which classes are left in by the models' signs (n, models) alone, (n, K): one, or it is ambiguous."""
        return self.scheme.contenders(signs, len(self.classes_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


class OneVsRestClassifier(_OneVersus):
    r"""argmax_i h_i(x), with K models h_i, each trained on all rows: class i against the rest. TEXTBOOK M2.

    Over linear models it is itself linear: the boundary of classes i and j is (w_i − w_j)·x + (b_i − b_j) = 0, the
    bisector of the two models' lines only where ‖w_i‖ = ‖w_j‖. It has no probabilities, also over models that do: K
    separate answers to "i or not?", however normalised, are no model of P(class | x); softmax regression is.

    Each model sees its class against all others, 1 : (K − 1) with classes of one size (``imbalance_``). Remedies:
    an estimator with ``class_weight="balanced"``, or ``separatrix.decision``. TEXTBOOK M4.

    Parameters
    ----------
    estimator : classifier of two classes, default LogisticRegression()
        Cloned for each model; needs ``decision_function`` (or ``predict_proba``).

    Attributes
    ----------
    estimators_ : list of the fitted models, in the order of ``classes_``; one for two classes
    coef_, intercept_ : (K, n_features), (K,), where the models are linear
    imbalance_, cost_ : the models' training sets, and what they cost in all
    certificate_ : Certificate
        The sum of the parts'; ``verify`` recomputes each part.

    Examples
    --------
    >>> from separatrix import OneVsRestClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]], ["a", "b", "c"]
    >>> model = OneVsRestClassifier().fit(X, y)
    >>> model.predict([[0.0, 3.0]]).tolist(), len(model.estimators_), model.imbalance_.tolist()
    (['b'], 3, [[1, 2], [1, 2], [1, 2]])
    """

    scheme: ClassVar[Scheme] = OneVersusRest()

    def _scorer(self) -> Scores:
        if self._W is None:
            return super()._scorer()
        return Scorer(self._W, self.classes_, self._link_of_two() if len(self.classes_) == 2 else "identity")

    @property
    def coef_(self) -> Array:
        return self._linear()[:, 1:].copy()

    @property
    def intercept_(self) -> Array:
        return self._linear()[:, 0].copy()

    def _linear(self) -> Array:
        check_is_fitted(self)
        _parts_are_linear(self)
        return np.asarray(self._W)

    @offered_where(_parts_are_linear)
    def hyperplane(self, i: Any = None, j: Any = None) -> Hyperplane:
        """Where h_i = h_j, positive on i's side; with two classes i and j may be left out."""
        check_is_fitted(self)
        assert isinstance(self.scorer_, Scorer)
        return self.scorer_.hyperplane(i, j)


class OneVsOneClassifier(_OneVersus):
    r"""argmax_i Σ_j sgn h_ij(x), with K(K − 1)/2 models h_ij = −h_ji, each trained on two classes' rows.

    TEXTBOOK M1.

    Equal votes are resolved by the sum of signed distances Σ_j h_ij/‖w_ij‖ where the models are linear, of scores
    where they are not. Votes are no probabilities.

    Parameters
    ----------
    estimator : classifier of two classes, default LogisticRegression()
        Cloned for each model; needs ``decision_function`` (or ``predict_proba``).

    Attributes
    ----------
    estimators_ : list of the fitted models, in the order of ``separatrix.schemes.pairs``; a positive score speaks
        for the first class of the pair (with two classes in all, for the second)
    imbalance_, cost_ : the models' training sets, and what they cost in all
    certificate_ : Certificate
        The sum of the parts'; ``verify`` recomputes each part.

    Examples
    --------
    >>> from separatrix import OneVsOneClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]], ["a", "b", "c"]
    >>> model = OneVsOneClassifier().fit(X, y)
    >>> model.predict([[0.0, 3.0]]).tolist(), model.votes([[0.0, 3.0]]).tolist()
    (['b'], [[0, 2, -2]])
    """

    scheme: ClassVar[Scheme] = OneVersusOne()

    def votes(self, X: Any) -> Integers:
        """Σ_j sgn h_ij(x) for each class, (n, K); h_ij = 0 counts for the class that it predicts."""
        check_is_fitted(self)
        rows, names = rows_to_score(self, X)
        H = self._pairwise(rows, names)
        if len(self.classes_) > 2:
            return votes(H, len(self.classes_))
        second = np.where(self.scorer_.link.decides(H[:, 0]), 1, -1)
        return np.column_stack([-second, second])

    def _pairwise(self, rows: Any, names: list[str] | None) -> Array:
        if isinstance(self.scorer_, PartsScorer):
            return self.scorer_.parts_scores(rows, names)
        return self.scorer_.scores(rows, names)[:, None]

    @offered_where(_parts_are_linear)
    def hyperplane(self, i: Any = None, j: Any = None) -> Hyperplane:
        """Where h_ij = 0, positive on i's side; with two classes i and j may be left out."""
        check_is_fitted(self)
        if isinstance(self.scorer_, Scorer):
            return self.scorer_.hyperplane(i, j)
        assert isinstance(self.scorer_, PartsScorer)
        return self.scorer_.hyperplane(i, j)
