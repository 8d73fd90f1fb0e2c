"""What a fitted classifier says of labelled rows: its choice, a score for every class, probabilities where it has them.

Everything that is drawn or said of a model's answers starts here, with scikit-learn's own methods, so that pipelines
and classifiers of other packages serve as well.
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
    """Of n rows: ``codes`` their classes, ``chosen`` the model's, as numbers into ``classes``.

    ``Z`` (n, K): for each class a score that ranks rows from least to most like it; ``log_P`` (n, K) or None.
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
        """Which rows the model is right about, (n,)."""
        return self.chosen == self.codes

    @cached_property
    def confusion(self) -> Integers:
        """Counts (K, K): row the true class, column the chosen one."""
        return confusion_matrix(self.codes, self.chosen, self.n_classes)

    @property
    def margin(self) -> Array:
        """The score of the true class less the best of the others, (n,): negative where the row is got wrong."""
        own = np.take_along_axis(self.Z, self.codes[:, None], axis=1)[:, 0]
        others = self.Z.copy()
        np.put_along_axis(others, self.codes[:, None], -np.inf, axis=1)
        return np.asarray(own - others.max(axis=1))


def answers(model: Any, X: Any, y: Any) -> Answers:
    """A fitted classifier's answers for rows X with labels y.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> found = answers(LogisticRegression().fit(X, y), X, y)
    >>> found.confusion.tolist(), found.right.tolist()
    ([[1, 1], [1, 1]], [True, False, False, True])
    """
    kind = type(model).__name__
    if not hasattr(model, "predict") or not hasattr(model, "classes_"):
        raise ParameterError("model", f"got {kind}, which is no fitted classifier", "call fit first")
    classes = np.asarray(model.classes_)
    codes = known_codes(y, classes)
    chosen = known_codes(model.predict(X), classes)
    if len(codes) != len(chosen):
        raise LabelError("y", f"it has {len(codes)} labels for {len(chosen)} rows", "give one label a row")
    # One versus rest has normalised answers to K questions, which are no model of P(class | x).
    probable = getattr(model, "has_probabilities", True) and hasattr(model, "predict_log_proba")
    log_P = np.asarray(model.predict_log_proba(X)) if probable else None
    if log_P is not None:
        return Answers(classes, codes, chosen, _log_odds(log_P), log_P)
    if not hasattr(model, "decision_function"):
        came = f"{kind} has neither probabilities nor scores"
        raise ParameterError("model", came, "give a classifier with predict_proba or decision_function")
    z = np.asarray(model.decision_function(X), dtype=np.float64)
    return Answers(classes, codes, chosen, np.column_stack([-z, z]) if z.ndim == 1 else z, None)


def certificate_on(model: Any, X: Any) -> Certificate:
    """The certificate, and on these rows of the fit how often outputs that are no probabilities leave [0, 1]. S3."""
    found: Certificate = model.certificate_
    if not hasattr(model, "outside_unit_interval"):
        return found
    return replace(found, facts={**found.facts, "outputs": str(model.outside_unit_interval(X))})


def _log_odds(log_P: Array) -> Array:
    """ln P_k − ln Σ_{j≠k} P_j: as 1 − P_k rounds to zero, rows would be tied that are not."""
    if log_P.shape[1] == 2:
        z = _finite(log_P[:, 1]) - _finite(log_P[:, 0])
        return np.column_stack([-z, z])
    log_P = _finite(log_P)
    Z = np.empty_like(log_P)
    for k in range(log_P.shape[1]):
        Z[:, k] = log_P[:, k] - np.logaddexp.reduce(np.delete(log_P, k, axis=1), axis=1)
    return Z


def _finite(log_P: Array) -> Array:
    """With the logarithm of a probability of zero as the least number, so that differences are numbers."""
    return np.maximum(log_P, -np.finfo(np.float64).max / 4)
