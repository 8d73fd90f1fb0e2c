"""``merge``: one model of all rows, from models of some of the rows each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import ParameterError
from separatrix.classifiers.fit_input import column_names
from separatrix.classifiers.moments_partial_fit import GathersMoments
from separatrix.moments.accumulated import ClassSums
from separatrix.moments.gather import Moments

Model = TypeVar("Model")


def merge(model: Model, *others: Model) -> Model:
    """Merge models that were fitted to disjoint rows into the model of all these rows, without reading them again.

    Least squares and discriminant analyses need only the weight, the mean and the scatter of each class, which can be
    added up. So rows can be fitted in parts, on several machines or as they arrive.

    Parameters
    ----------
    model, *others : fitted classifiers
        All ``LeastSquaresClassifier``, ``FisherDiscriminant``, ``LinearDiscriminantAnalysis`` or
        ``QuadraticDiscriminantAnalysis``, with the same settings, columns and classes.

    Returns
    -------
    classifier
        A new model, equal to a fit to all rows up to rounding.

    Raises
    ------
    ParameterError
        The models differ in their kind, settings, columns or classes, or cannot be merged.

    Examples
    --------
    >>> from separatrix import LinearDiscriminantAnalysis, merge
    >>> first = LinearDiscriminantAnalysis().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> second = LinearDiscriminantAnalysis().fit([[0.0], [4.0], [6.0]], ["a", "b", "b"])
    >>> both = merge(first, second)
    >>> both.means_.ravel().round(4).tolist(), both.certificate_.n_rows
    ([0.3333, 5.0], 6)
    """
    models: list[Any] = [model, *others]
    for each in models:
        _refuse_not_mergeable(each)
    for each in models[1:]:
        _refuse_different(models[0], each)
    first: Any = models[0]
    merged: Any = clone(first)
    merged.n_features_in_ = first.n_features_in_
    if hasattr(first, "feature_names_in_"):
        merged.feature_names_in_ = first.feature_names_in_
    merged._dtype = "float32" if all(each._dtype == "float32" for each in models) else "float64"
    sums = reduce(ClassSums.merged, (each._sums_of_fit().sums for each in models))
    with one_blas_thread:
        merged._fit_to_sums(sums, first.classes_, _had_weights(models))
    result: Model = merged
    return result


def _had_weights(models: Sequence[Any]) -> bool | None:
    """Whether one of the fits had sample weights; None if that is not known."""
    known = [each.has_sample_weight_ for each in models]
    if True in known:
        return True
    return None if None in known else False


def _refuse_not_mergeable(model: Any) -> None:
    kind = type(model).__name__
    if not isinstance(model, GathersMoments):
        remedy = "merge least squares, Fisher's, linear or quadratic discriminants, or fit all rows at once"
        raise ParameterError("models", f"got {kind}, whose fit does not follow from sums over rows", remedy)
    check_is_fitted(model)
    if not isinstance(getattr(model, "moments_", None), Moments):
        problem = f"this {kind} does not have the sums of its rows: it was read from a file, or has too many columns"
        raise ParameterError("models", problem, "merge models of this process, or fit all rows at once")
    if isinstance(getattr(model, "shrinkage", None), str) or getattr(model, "covariance_estimator", None) is not None:
        problem = "shrinkage='auto' and covariance_estimator need the rows themselves"
        raise ParameterError("models", problem, "set shrinkage to a number")


def _refuse_different(a: Any, b: Any) -> None:
    if type(a) is not type(b):
        raise ParameterError("models", f"got {type(a).__name__} and {type(b).__name__}", "merge models of one kind")
    settings, others = a.get_params(), b.get_params()
    for name, value in settings.items():
        if not np.array_equal(value, others[name]):
            raise ParameterError("models", f"{name} is {value!r} and {others[name]!r}", "give models the same settings")
    if a.classes_.tolist() != b.classes_.tolist():
        problem = f"their classes are {a.classes_.tolist()} and {b.classes_.tolist()}"
        raise ParameterError("models", problem, "fit models to parts that have rows of every class")
    if column_names(a) != column_names(b) or a.n_features_in_ != b.n_features_in_:
        raise ParameterError("models", "their columns differ", "fit models to the same columns in the same order")
