"""The base class of one versus rest and one versus one (docs/tour.md, M1–M5).

``OneVersus`` fits a clone of its estimator to each part of a scheme. It combines the fitted models into one classifier,
with one scorer, with the weights of all models if they are linear, and with one certificate.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from separatrix.classifiers.base import Approach, ClassifierTraits, ScoringClassifier, offered_where
from separatrix.classifiers.fit_input import (
    FitInput,
    checked_rows,
    column_names,
    refuse_steps_outside_memory,
    validate,
)
from separatrix.classifiers.sklearn_settings import settings_of_work
from separatrix.core.base.arrays import AnyArray, Array, Integers, with_names
from separatrix.core.base.errors import LabelError, ParameterError, SeparatrixWarning
from separatrix.core.base.labels import encode, known_codes
from separatrix.core.base.messages import Message, over_rows
from separatrix.core.base.watching import part
from separatrix.core.certificate import Bound, Certificate, Claim, Recomputed, Uncertified
from separatrix.core.cluster import read_in_place
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.likelihood_claims import PartsClaim, summed_bound
from separatrix.core.links import LINKS
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.labelled_table import MemoryTable, OutsideMemory
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.views import two_class_table
from separatrix.core.schemes import PartsScorer, Scheme, SchemeCost, TrainingSet, cost_of, link_of, takes_nan
from separatrix.core.scorer import Scorer, Scores


def parts_are_linear(model: Any) -> None:
    """Raise an AttributeError if a fitted model has no hyperplanes."""
    if not hasattr(model, "estimators_") or model._W is not None:
        return
    raise AttributeError(
        f"{type(model).__name__} over {type(model.estimators_[0]).__name__} has no hyperplanes: its models are not "
        "linear in the columns; separatrix.boundary_curve traces their boundaries"
    )


def _can_go_on(model: Any) -> None:
    """Raise an AttributeError if the base estimator has no ``partial_fit``."""
    if not hasattr(base_of(model), "partial_fit"):
        raise AttributeError(f"{type(base_of(model)).__name__} has no partial_fit, so {type(model).__name__} has none")


def base_of(model: Any) -> Any:
    """The estimator to be cloned for each part; by default logistic regression, which is imported only then."""
    if model.estimator is not None:
        return model.estimator
    from separatrix.classifiers.logistic import LogisticRegression

    return LogisticRegression()


class OneVersus(MetaEstimatorMixin, ScoringClassifier):
    """Fits one clone of ``estimator`` to each part of a scheme, and combines their scores."""

    approach: ClassVar[Approach] = "discriminant function"
    traits: ClassVar[ClassifierTraits] = ClassifierTraits()
    scheme: ClassVar[Scheme]
    # Whether ``partial_fit`` accepts classes that were not given in the first call.

    classes_: AnyArray
    _counts: Integers

    def __init__(self, estimator: Any = None, *, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit every part.

        The targets of a part are 1 (its class) and 0 (the other side), so a ``class_weight`` of the estimator is
        "balanced" or a dictionary with these two labels.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. A table outside memory, such as a scan, has its labels and weights in columns of its own.
        y : array (n,)
            Class labels.
        sample_weight : array (n,) or None
            Weights >= 0, if the estimator takes them.

        Returns
        -------
        self
        """
        self._fit_classes(self._checked_base(sample_weight), *read_in_place(X, y, sample_weight))
        self._warn_if_unmet()
        return self

    def _fit_classes(self, base: Any, X: Any, y: Any, sample_weight: Any) -> None:
        task = validate(self, X, y, sample_weight)
        self._forget_calls()
        if isinstance(X, OutsideMemory):
            self._fit_to_table(base, task, X)
            return
        if not takes_nan(base):
            refuse_not_finite(memory_rows(task.X, task.codes), task.names)
        weight = task.weight if sample_weight is not None else None
        self.classes_ = task.classes
        parts = list(self.scheme.parts(task.codes, task.n_classes))
        self.estimators_ = self._fit_parts(base, task.X, parts, weight, task.names)
        self._keep(task, np.bincount(task.codes))

    def _fit_to_table(self, base: Any, task: FitInput, table: OutsideMemory) -> None:
        """Fit every part to a table outside memory. Each model reads all rows, with the two classes of its part."""
        if not isinstance(base, ScoringClassifier):
            reason = "only the classifiers of this package read such tables"
            task.refuse_outside_memory("estimator", type(base).__name__, reason, "give one of these")
        K = task.n_classes
        self.classes_, self.estimators_ = task.classes, []
        parts = list(self.scheme.parts(np.arange(K), K))  # the rows of these parts are the classes
        with warnings.catch_warnings(), settings_of_work(self):
            warnings.simplefilter("ignore", ConvergenceWarning)  # one warning for all parts follows
            for number, (_, classes, target) in enumerate(parts, 1):
                numbers = np.full(K, -1)
                numbers[classes] = target
                with part("model", number, len(parts)):
                    model = clone(base).fit(two_class_table(table, numbers))
                vars(model).pop("feature_names_in_", None)  # the models are given arrays of the columns, without names
                self.estimators_.append(model)
        self._keep(task, task.table.totals.rows)

    def _checked_base(self, sample_weight: Any) -> Any:
        """The estimator to clone; it must have scores or be a regressor, and take sample weights if there are any."""
        base = base_of(self)
        if not hasattr(base, "decision_function") and not hasattr(base, "predict_proba") and not is_regressor(base):
            raise ParameterError(
                "estimator",
                f"{type(base).__name__} has neither decision_function nor predict_proba",
                "give a classifier of two classes with scores, or a regressor",
            )
        if sample_weight is not None and not has_fit_parameter(base, "sample_weight"):
            raise ParameterError(
                "sample_weight", f"{type(base).__name__} takes none", "leave it out, or give another estimator"
            )
        return base

    def _fit_parts(
        self, base: Any, X: Any, parts: Sequence[TrainingSet], weight: Array | None, names: list[str] | None
    ) -> list[Any]:
        """Fit one clone to each part.

        With ``n_jobs``, estimators of other packages are fitted in parallel; those of this package are fitted one after
        the other, each with that many threads.
        """
        ours = isinstance(base, ScoringClassifier)
        shown_names = names if ours else None  # error messages name columns

        def fitted(rows: Integers, target: Integers) -> Any:
            subset = X if len(rows) == X.shape[0] else X[rows]
            if shown_names is not None:
                subset = with_names(subset, shown_names)
            if target[0] == target[-1] and np.all(target == target[0]):
                return constant_model(subset, target, len(done))
            extra = {} if weight is None else {"sample_weight": weight[rows]}
            return clone(base).fit(subset, target, **extra)

        done: list[Any] = []
        with warnings.catch_warnings(), settings_of_work(self):
            if ours:
                # One warning follows for all parts together, from their certificates.
                warnings.simplefilter("ignore", ConvergenceWarning)
            if self.n_jobs in (None, 1) or ours:
                for k, (_, rows, target) in enumerate(parts, 1):
                    with part("model", k, len(parts)):
                        done.append(fitted(rows, target))
                return done
            return list(Parallel(n_jobs=self.n_jobs)(delayed(fitted)(rows, target) for _, rows, target in parts))

    @offered_where(_can_go_on)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Update every model with these rows.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        y : array (n,)
            Class labels.
        classes : array or None
            All labels that will occur; needed in the first call.

        Returns
        -------
        self
        """
        refuse_steps_outside_memory(X=X, y=y, classes=classes)
        first = not hasattr(self, "estimators_")
        rows = checked_rows(self, X, (np.float64, np.float32), reset=first)
        check_consistent_length(rows, y)
        if first:
            self._begin(classes)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            problem = f"Mini-batch contains {np.unique(y)} while classes must be subset of {self.classes_}"
            raise LabelError("y", problem, "give all labels as classes in the first call")
        codes = known_codes(y, self.classes_)
        K = len(self.classes_)
        for model, (_, numbers, target) in zip(self.estimators_, self.scheme.parts(codes, K), strict=True):
            if len(numbers):
                model.partial_fit(rows[numbers], target, classes=np.array([0, 1]))
        self._counts = self._rows_by_class() + np.bincount(codes, minlength=K)
        # In one versus one, a pair of classes may not have had any row yet.
        if all(hasattr(model, "classes_") for model in self.estimators_):
            table = MemoryTable(rows, codes, np.ones(len(codes)), K)
            self._keep(FitInput(table, self.classes_, column_names(self)), self._counts)
        return self

    def _forget_calls(self) -> None:
        """Remove what only calls of ``partial_fit`` keep."""
        self.__dict__.pop("_counts", None)

    def _rows_by_class(self) -> Integers:
        """The number of rows of each class so far. After ``fit``, it is in the sizes of the training sets."""
        if "_counts" in vars(self):
            return self._counts
        K = len(self.classes_)
        counts = np.zeros(K, dtype=np.int64)
        parts = self.scheme.parts(np.arange(K), K)
        for ((i, j), _, _), (own, other) in zip(parts, self.cost_.imbalance.tolist(), strict=True):
            counts[i] = own
            if j is not None or K == 2:
                counts[1 - i if j is None else j] = other
        return counts

    def _begin(self, classes: Any) -> None:
        """Set the classes before the first call of ``partial_fit``, with a model for each part that has seen no row."""
        if classes is None:
            raise ParameterError("classes", "it is not given in the first call", "give all labels that will occur")
        self.classes_ = encode(classes)[0]
        if len(self.classes_) < 2:
            problem = f"there is one class only, {self.classes_.tolist()[0]!r}"
            raise ParameterError("classes", problem, "give all labels that will occur")
        n_models = self.scheme.n_models(len(self.classes_))
        self.estimators_ = [clone(base_of(self)) for _ in range(n_models)]
        self._counts = np.zeros(len(self.classes_), dtype=np.int64)
        self.has_sample_weight_ = False

    def _keep(self, task: FitInput, counts: Integers) -> None:
        d = task.n_features
        if np.all(counts > 0):
            self.cost_: SchemeCost = cost_of(self.scheme, counts)
        self._W = linear_weights(self.estimators_, d)
        self.scorer_: Scores = self._scorer()
        K, labels, named = len(self.classes_), self.classes_.tolist(), not task.is_in_memory
        # Models of rows outside memory name the rows of the whole table.
        parts = list(self.scheme.parts(np.arange(K) if named else task.codes, K))
        claim, about = PartsClaim(self.scorer_, self.scheme, claims_of(self.estimators_)), self.scheme.name
        found = summed_certificate(about, labels, self.estimators_, parts, claim, task.n_rows, d + 1, named)
        self.certificate_ = replace(found, status=task.told(found.status))
        self.n_parameters_ = self.certificate_.n_parameters

    def _scorer(self) -> Scores:
        if self._W is not None and len(self.classes_) == 2:
            return Scorer(self._W, self.classes_, self._link_of_two())
        return PartsScorer(self.scheme, tuple(self.estimators_), self._W, self.classes_)

    def _link_of_two(self) -> str:
        """The link of the single model for two classes. The weights are shifted so that its boundary is at score 0."""
        link = link_of(self.estimators_)
        return link if LINKS[link].boundary == 0 else "logit"

    @property
    def n_classes_(self) -> int:
        return len(self.classes_)

    @property
    def imbalance_(self) -> Integers:
        """How many rows each model has for its class and against it, (models, 2) (docs/tour.md, M4)."""
        return self.cost_.imbalance

    @offered_where(parts_are_linear)
    def boundaries(self) -> Array:
        """The boundary w·x + b = 0 of every model.

        Returns
        -------
        array (models, d + 1)
            (b, w) of each model.
        """
        check_is_fitted(self)
        return np.asarray(self._W)

    @offered_where(parts_are_linear)
    def hyperplane(self, i: Any = None, j: Any = None) -> Hyperplane:
        """Return the boundary of two classes: h_ij = 0 for one versus one, h_i = h_j for one versus rest.

        Parameters
        ----------
        i, j : labels
            The two classes; the positive side is that of i. With two classes they may be left out.

        Returns
        -------
        Hyperplane
        """
        check_is_fitted(self)
        scorer = self.scorer_
        assert isinstance(scorer, Scorer | PartsScorer)
        return scorer.hyperplane(i, j)

    def contenders(self, signs: Integers) -> Any:
        """Which classes the signs of the models' scores allow.

        Parameters
        ----------
        signs : array (n, models)
            −1 or 1 for each row and model.

        Returns
        -------
        array (n, K) of bool
            The decision is ambiguous where a row allows more than one class.
        """
        return self.scheme.contenders(signs, len(self.classes_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            base = get_tags(self.estimator).input_tags
            tags.input_tags.sparse = base.sparse
            tags.input_tags.allow_nan = takes_nan(self.estimator)
        return tags


class ConstantLabel(ClassifierMixin, BaseEstimator):
    """The model for a label that all training rows have, or that no row has. It predicts the same for every row."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Store the single value in y."""
        self.classes_, self.answer_ = np.array([0, 1]), int(y[0])
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> Integers:
        """The stored value for every row."""
        return np.full(X.shape[0], self.answer_)

    def decision_function(self, X: Any) -> Array:
        """1 if the rows have the label, −1 if not."""
        return np.full(X.shape[0], 2.0 * self.answer_ - 1.0)

    def predict_proba(self, X: Any) -> Array:
        """The probabilities of not having and of having the label, (n, 2)."""
        return np.tile([1.0 - self.answer_, float(self.answer_)], (X.shape[0], 1))


def constant_model(X: Any, target: Integers, name: Any) -> ConstantLabel:
    """The model for a label that all training rows have, or that no row has, with a warning as in scikit-learn."""
    label = name if target[0] else f"not {name}"
    warnings.warn(f"Label {label} is present in all training examples.", SeparatrixWarning, stacklevel=5)
    return ConstantLabel().fit(X, target)


# --- The weights and the certificate of several models as one


def linear_weights(estimators: Sequence[Any], n_features: int) -> Array | None:
    """Return the weights (b, w) of all models, (models, d + 1), or None if some model is not linear in the columns.

    >>> from separatrix import LogisticRegression
    >>> linear_weights([LogisticRegression().fit([[-1.0], [1.0]], [0, 1])], 1).shape
    (1, 2)
    """
    weights = [_weights(estimator, n_features) for estimator in estimators]
    return None if any(w is None for w in weights) else np.array(weights, dtype=np.float64)


def _weights(estimator: Any, n_features: int) -> Array | None:
    if isinstance(estimator, ScoringClassifier):
        # A classifier of this package may have weights although its boundary is not a hyperplane: the posteriors of
        # ``FisherDiscriminant`` may cross twice. Its scorer is then not a ``Scorer``.
        if not isinstance(estimator.scorer_, Scorer):
            return None
        # Shift the intercept so that the score is positive exactly where the model predicts class 1. The boundary of
        # the complementary log-log link is at the score ln ln 2.
        w: Array = estimator.scorer_.W[0].copy()
        w[0] -= estimator.scorer_.link.boundary
        return w
    coef, intercept = getattr(estimator, "coef_", None), getattr(estimator, "intercept_", None)
    if not isinstance(coef, np.ndarray) or intercept is None or coef.shape != (1, n_features):
        return None
    return np.concatenate([np.ravel(intercept)[:1], coef[0]])


def claims_of(estimators: Sequence[Any]) -> tuple[Claim | None, ...]:
    """Return the claim of each model's certificate, or None for a model without a certificate."""
    certificates = [getattr(estimator, "certificate_", None) for estimator in estimators]
    return tuple(None if c is None else c.claim for c in certificates)


def summed_certificate(
    name: str,
    labels: list[Any],
    estimators: Sequence[Any],
    parts: Sequence[TrainingSet],
    claim: Claim,
    n_rows: int,
    full_rank: int,
    rows_are_named: bool = False,
) -> Certificate:
    """Return one certificate for several models: the sums of objectives, bounds and work, and the smallest rank.

    ``name`` is the name of the scheme that combines the models. ``rows_are_named``: the models name rows by their
    numbers in the whole table, not in their parts.
    """
    certificates = [getattr(estimator, "certificate_", None) for estimator in estimators]
    known = [certificate for certificate in certificates if certificate is not None]
    counts = [_n_parameters(estimator) for estimator in estimators]
    code, status = _status(estimators, parts, labels, rows_are_named)
    bound = summed_bound([Bound(c.bound, c.bound_kind, c.bound_reason) for c in known], len(estimators))
    value, null_value, slope = np.nan, np.nan, np.nan
    if known:
        value, null_value = sum(c.objective for c in known), sum(c.null_objective for c in known)
        slope = float(np.linalg.norm([c.gradient_norm for c in known]))
    ranks = [c.rank for c in known if c.rank is not None]
    facts = {"scheme": f"{name}, {len(estimators)} models"}
    if None in counts:
        facts["parameters"] = "unknown for at least one model"
    kinds = sorted({type(estimator).__name__ for estimator in estimators})
    kind = Certificate if known else Uncertified
    return kind(
        status=status,
        code=code,
        met=code == "met",
        **Recomputed(value, null_value, bound, slope).fields(),
        iterations=sum(c.iterations for c in known),
        passes=sum(c.passes for c in known),
        solver=", ".join(sorted({c.solver for c in known})),
        why=f"{name} over {', '.join(kinds)}",
        rank=min(ranks) if known and len(ranks) == len(known) else None,
        full_rank=full_rank,
        n_parameters=sum(count or 0 for count in counts),
        n_rows=n_rows,
        claim=claim,
        facts=facts,
    )


def _status(estimators: Sequence[Any], parts: Sequence[TrainingSet], labels: list[Any], named: bool) -> tuple[str, str]:
    """Return a status code and a sentence: how many models met their stopping rule, and the status of the first."""
    total = len(estimators)
    known = [(e, part) for e, part in zip(estimators, parts, strict=True) if hasattr(e, "certificate_")]
    unmet = [(e, part) for e, part in known if not e.certificate_.met]
    if unmet:
        first = _part_status(*unmet[0], labels, named)
        return "unmet", Message(f"{len(unmet)} of {total} models did not converge; status of the first: ", first)
    if len(known) < total:
        without = total - len(known)
        return "uncertified", f"uncertified: {without} of {total} models have no certificate"
    first = _part_status(*known[0], labels, named)
    return "met", Message(f"all {total} models converged; status of the first: ", first)


def _part_status(estimator: Any, part: TrainingSet, labels: list[Any], named: bool) -> str:
    """Return the status of one model, with the names of its classes and with row numbers of the whole table."""
    status: str = estimator.certificate_.status
    if len(labels) == 2:
        return status
    for_, against = part.names
    classes = f"class {labels[for_]!r} against {'the rest' if against is None else repr(labels[against])}"
    return Message(f"{classes}: ", status if named else over_rows(status, part.rows))


def _n_parameters(estimator: Any) -> int | None:
    if hasattr(estimator, "n_parameters_"):
        return int(estimator.n_parameters_)
    coef = getattr(estimator, "coef_", None)
    return None if coef is None else int(coef.shape[-1]) + int(bool(getattr(estimator, "fit_intercept", True)))
