"""The predictions of a fitted classifier for labelled rows: classes, scores, and probabilities if it has them.

All measures and plots of predictions start here. Only scikit-learn's methods are called, so pipelines and classifiers
of other packages work as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.cached import cached_property
from separatrix.base.errors import LabelError, ParameterError
from separatrix.base.labels import known_codes
from separatrix.certificates.certificate import Certificate
from separatrix.evaluation.measures import confusion_matrix


@dataclass(frozen=True)
class Answers:
    """The predictions for n rows.

    Parameters
    ----------
    classes : (K,) array
        The labels.
    codes, chosen : (n,) arrays of int
        The true and the predicted class of each row, as numbers into ``classes``.
    Z : (n, K) array
        A score for each class, which is higher for rows that are more likely of that class.
    log_P : (n, K) array or None
        The logarithms of probabilities; None if the model has none.
    """

    classes: AnyArray
    codes: Integers
    chosen: Integers
    Z: Array
    log_P: Array | None

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @cached_property
    def right(self) -> Any:
        """Which rows are classified correctly, (n,)."""
        return self.chosen == self.codes

    @cached_property
    def confusion(self) -> Integers:
        """The confusion matrix, (K, K): rows are true classes, columns are predicted ones."""
        return confusion_matrix(self.codes, self.chosen, self.n_classes)

    @property
    def margin(self) -> Array:
        """The score of the true class less the best of the others, (n,): negative for misclassified rows."""
        own = np.take_along_axis(self.Z, self.codes[:, None], axis=1)[:, 0]
        others = self.Z.copy()
        np.put_along_axis(others, self.codes[:, None], -np.inf, axis=1)
        return np.asarray(own - others.max(axis=1))


def answers(model: Any, X: Any, y: Any, offset: Any = None) -> Answers:
    """The predictions of a fitted classifier for rows X with labels y; ``offset`` is added to the scores.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> found = answers(LogisticRegression().fit(X, y), X, y)
    >>> found.confusion.tolist(), found.right.tolist()
    ([[1, 1], [1, 1]], [True, False, False, True])
    """
    kind = type(model).__name__
    if not hasattr(model, "predict") or not hasattr(model, "classes_"):
        raise ParameterError("model", f"got {kind}, which is not a fitted classifier", "call fit first")
    classes = np.asarray(model.classes_)
    codes = known_codes(y, classes)
    beside = {} if offset is None else {"offset": offset}
    chosen = known_codes(model.predict(X, **beside), classes)
    if len(codes) != len(chosen):
        raise LabelError("y", f"it has {len(codes)} labels for {len(chosen)} rows", "give one label for each row")
    # One versus rest normalises the answers of K classifiers, which is not a model of P(class | x).
    probable = getattr(model, "has_probabilities", True) and hasattr(model, "predict_log_proba")
    log_P = np.asarray(model.predict_log_proba(X, **beside)) if probable else None
    if log_P is not None:
        return Answers(classes, codes, chosen, log_odds(log_P), log_P)
    if not hasattr(model, "decision_function"):
        problem = f"{kind} has neither probabilities nor scores"
        raise ParameterError("model", problem, "give a classifier with predict_proba or decision_function")
    z = np.asarray(model.decision_function(X, **beside), dtype=np.float64)
    return Answers(classes, codes, chosen, np.column_stack([-z, z]) if z.ndim == 1 else z, None)


def certificate_on(model: Any, X: Any) -> Certificate:
    """The certificate. For a model whose outputs are not probabilities it has the share of rows outside [0, 1]. S3."""
    found: Certificate = model.certificate_
    if not hasattr(model, "outside_unit_interval"):
        return found
    return replace(found, facts={**found.facts, "outputs": str(model.outside_unit_interval(X))})


def log_odds(log_P: Array) -> Array:
    """ln P_k − ln Σ_{j≠k} P_j, (n, K). Scores P_k would be tied where 1 − P_k rounds to zero.

    >>> log_odds(np.log([[0.25, 0.75]])).round(4).tolist()
    [[-1.0986, 1.0986]]
    """
    if log_P.shape[1] == 2:
        z = _finite(log_P[:, 1]) - _finite(log_P[:, 0])
        return np.column_stack([-z, z])
    log_P = _finite(log_P)
    Z = np.empty_like(log_P)
    for k in range(log_P.shape[1]):
        Z[:, k] = log_P[:, k] - np.logaddexp.reduce(np.delete(log_P, k, axis=1), axis=1)
    return Z


def _finite(log_P: Array) -> Array:
    """log_P with −∞ replaced by a very low number, so that differences are finite."""
    return np.maximum(log_P, -np.finfo(np.float64).max / 4)
