"""One versus rest: a model for each class against all others (docs/tour.md, M2–M5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from separatrix.classifiers.base import offered_where
from separatrix.classifiers.description import ONE_VERSUS, PARTS_CLAIM, Description, Requires
from separatrix.classifiers.fit_input import checked_rows, column_names, forgotten, scored
from separatrix.classifiers.one_versus import (
    OneVersus,
    base_of,
    claims_of,
    linear_weights,
    parts_are_linear,
    summed_certificate,
)
from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.core.base.lazy import is_dask
from separatrix.core.certificate import Claim, Recomputed
from separatrix.core.cluster import read_in_place
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.likelihood_claims import summed
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.targets import row_weights
from separatrix.core.schemes import OneVersusRest, PartsScorer, Scheme, TrainingSet, takes_nan
from separatrix.core.scorer import Scorer, Scores

DESCRIPTION = Description(
    about="a model for each class against the rest",
    scorers=("linear", "parts"),
    claims={"parts": PARTS_CLAIM},
    fitted=ONE_VERSUS,
    requires=(Requires.MORE_THAN_TWO_CLASSES,),
    parts=("logistic",),  # a perceptron of several classes is itself one versus rest
)


def parts_have_probabilities(model: Any) -> None:
    """Raise an AttributeError if the models have no probabilities."""
    models = getattr(model, "estimators_", [base_of(model)])
    lacking = [estimator for estimator in models if not hasattr(estimator, "predict_proba")]
    if lacking:
        raise AttributeError(
            f"{type(model).__name__} over {type(lacking[0]).__name__} has no probabilities, only scores: use "
            "decision_function, or an estimator with predict_proba"
        )


class OneVsRestClassifier(OneVersus):
    r"""argmax_i h_i(x), with K models h_i, each trained on all rows: class i against the rest (docs/tour.md, M2).

    With linear models it is itself linear: the boundary of classes i and j is (w_i − w_j)·x + (b_i − b_j) = 0. This
    bisects the angle between the two models' hyperplanes only if ‖w_i‖ = ‖w_j‖. If the models have probabilities,
    ``predict_proba`` returns them normalised to sum to 1, as in scikit-learn. They are K separate estimates of "class i
    or not", not a model of P(class | x); softmax regression is one. So exports, reports, ``explain_row`` and decisions
    by a threshold or by costs use only its scores. With two classes, give them the estimator itself.

    A table y of 0 and 1, (n, labels), is a multilabel target: each label gets a model, and predictions are such tables.

    Each model sees its class against all others, in the ratio 1 : (K − 1) if all classes have the same size
    (``imbalance_``). Remedies are an estimator with ``class_weight="balanced"``, or
    ``separatrix.statistics.decisions`` (docs/tour.md, M4).

    Parameters
    ----------
    estimator : classifier or regressor, default LogisticRegression()
        Cloned for each model. A classifier needs ``decision_function`` or ``predict_proba``; a regressor is fitted to
        the targets 0 and 1.
    n_jobs : int or None, default None
        How many models to fit in parallel; for an estimator of this package, the number of threads of each fit.
    verbose : int, default 0
        Above 0, print what is being fitted.

    Attributes
    ----------
    estimators_ : list
        The fitted models, in the order of ``classes_``; a single one for two classes.
    multilabel_ : bool
        Whether y was a table of 0 and 1.
    coef_, intercept_ : arrays (K, n_features) and (K,)
        The weights, if the models are linear.
    imbalance_ : array (models, 2)
        How many rows each model has for its class and against it.
    cost_ : SchemeCost
        The sizes of the training sets, and their total.
    has_sample_weight_ : bool or None
        Whether the fit had sample weights; None if it is not known.
    certificate_ : Certificate
        The sum of the parts' certificates; ``verify`` recomputes each part.

    Examples
    --------
    >>> from separatrix import OneVsRestClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]], ["a", "b", "c"]
    >>> model = OneVsRestClassifier().fit(X, y)
    >>> model.predict([[0.0, 3.0]]).tolist(), len(model.estimators_), model.imbalance_.tolist()
    (['b'], 3, [[1, 2], [1, 2], [1, 2]])
    """

    scheme: ClassVar[Scheme] = OneVersusRest()

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit every part.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. A table outside memory, such as a scan, has its labels and weights in columns of its own.
        y : array (n,), or a table (n, labels) of 0 and 1
            Class labels, or a multilabel target.
        sample_weight : array (n,) or None
            Weights >= 0, if the estimator takes them.

        Returns
        -------
        self
        """
        base = self._checked_base(sample_weight)
        if is_dask(X) or not is_indicator(y):
            self._fit_classes(base, *read_in_place(X, y, sample_weight))
        else:
            self._fit_labels(base, X, y, sample_weight)
        self._warn_if_unmet()
        return self

    def _fit_labels(self, base: Any, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit a model for each column of a multilabel target."""
        rows = checked_rows(self, X, (np.float64, np.float32))
        forgotten(self)
        self._dtype = rows.dtype.name
        self.has_sample_weight_ = sample_weight is not None
        Y, names = indicator(y, rows), column_names(self)
        if not takes_nan(base):
            refuse_not_finite(memory_rows(rows, np.zeros(len(Y))), names)
        parts = list(label_parts(Y))
        weight = None if sample_weight is None else row_weights(sample_weight, len(Y))
        self.classes_, self._sparse_labels = np.arange(Y.shape[1]), is_sparse(y)
        self.estimators_ = self._fit_parts(base, rows, parts, weight, names)
        self._W = linear_weights(self.estimators_, rows.shape[1])
        scorer = LabelsScorer(self.scheme, tuple(self.estimators_), self._W, self.classes_)
        claim, labels = LabelsClaim(scorer, claims_of(self.estimators_)), self.classes_.tolist()
        self.scorer_, name = scorer, "a model for each label"
        self.certificate_ = summed_certificate(name, labels, self.estimators_, parts, claim, len(Y), rows.shape[1] + 1)
        self.n_parameters_ = self.certificate_.n_parameters

    @property
    def multilabel_(self) -> bool:
        return isinstance(self.scorer_of(), LabelsScorer)

    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n,), or (n, labels)
            Labels. After a multilabel fit, the table of 0 and 1, sparse if y was.
        """
        labels = super().predict(X)
        if not self.multilabel_ or not self._sparse_labels:
            return labels
        from scipy.sparse import csr_matrix

        return csr_matrix(labels)

    @offered_where(parts_have_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return each model's probability of its class against the rest.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, K)
            Normalised to sum to 1. After a multilabel fit they are not normalised.
        """
        check_is_fitted(self)
        return scored(self, X, self._probabilities)

    def _probabilities(self, rows: Any, names: list[str] | None) -> Array:
        P = np.column_stack([model.predict_proba(rows)[:, 1] for model in self.estimators_])
        if self.multilabel_:
            return P
        if P.shape[1] == 1:
            return np.column_stack([1 - P, P])
        total = P.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(P, total, out=P, where=total != 0))

    @offered_where(parts_have_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of ``predict_proba(X)``.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, K)
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

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
        parts_are_linear(self)
        return np.asarray(self._W)


# --- Multilabel targets: an independent model of two classes for each label


def is_indicator(y: Any) -> bool:
    """Whether y is a multilabel target: a table of 0 and 1 with a column for each label.

    >>> is_indicator([[1, 0], [1, 1]]), is_indicator([0, 1])
    (True, False)
    """
    listed = isinstance(y, list) and all(isinstance(row, list | np.ndarray) for row in y)
    if not listed and getattr(y, "ndim", 1) != 2:
        return False  # a tuple may be a single label
    kind = str(type_of_target(y))
    if kind.startswith(("multiclass-multioutput", "continuous-multioutput")):
        problem = "Multioutput target data is not supported with label binarization: it has several columns"
        raise LabelError("y", problem, "give one label per row, or a table of 0 and 1 with a column for each label")
    return kind == "multilabel-indicator"


def indicator(y: Any, X: Any) -> Integers:
    """The table of 0 and 1 as a dense array (n, labels)."""
    Y = np.asarray(y.toarray() if is_sparse(y) else y)
    check_consistent_length(X, Y)
    return np.asarray(Y != 0, dtype=np.int64)


def label_parts(Y: Integers) -> Iterator[TrainingSet]:
    """One part for each label: all rows, with the target 1 where they have the label."""
    for k in range(Y.shape[1]):
        yield TrainingSet((k, None), np.arange(len(Y)), Y[:, k])


@dataclass(frozen=True)
class LabelsScorer(PartsScorer):
    """A score for each label, (n, labels); ``predict`` returns the table of 0 and 1."""

    def scores(self, X: Any, names: list[str] | None = None) -> Array:
        return self.parts_scores(X, names)

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        return self.link.decides(self.scores(X, names)).astype(np.int64)

    def hyperplane(self, i: Any, j: Any) -> Hyperplane:
        problem = f"got {i!r} and {j!r}, and the labels of a multilabel target do not exclude each other"
        raise ParameterError("i, j", problem, "take the boundary of one label from boundaries()")


@dataclass(frozen=True)
class LabelsClaim:
    """The claims of the labels' models, each about its own column of the table."""

    scorer: LabelsScorer
    claims: tuple[Claim | None, ...]

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Recompute each model's claim, and return the sums."""
        Y = indicator(y, X)
        pairs = [(claim, Y[:, k]) for k, claim in enumerate(self.claims) if claim is not None]
        return summed([claim.recompute(X, target, sample_weight) for claim, target in pairs], len(self.claims))
