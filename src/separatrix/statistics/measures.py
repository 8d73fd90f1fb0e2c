"""Accuracy, log loss, Brier score, confusion matrix, precision and recall, from a model's answers (docs/tour.md, E2).

Each measure is computed here and nowhere else. Rows are given by arrays: ``codes`` (n,) the numbers of their true
classes, ``log_P`` (n, K) the logarithms of predicted probabilities. All measures and plots of predictions start from
``answers``, which calls scikit-learn's methods only, so pipelines and classifiers of other packages work as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.core.base.labels import known_codes
from separatrix.core.base.lazy import cached_property
from separatrix.core.certificate import Certificate
from separatrix.statistics.intervals import Interval, f1_interval, lift_interval, wilson_interval


def accuracy(right: AnyArray) -> float:
    """The share of rows that are classified correctly; ``right`` (n,) is true for those.

    >>> accuracy(np.array([True, False, True, True]))
    0.75
    """
    return float(np.mean(right))


def true_class_log_probability(log_P: Array, codes: Integers) -> Array:
    """ln P(true class | x) of each row, (n,). It is −∞ for a code below 0, a class that the model does not know.

    >>> true_class_log_probability(np.log([[0.5, 0.5], [0.5, 0.5]]), np.array([1, -1])).round(4).tolist()
    [-0.6931, -inf]
    """
    known = np.take_along_axis(log_P, np.maximum(codes, 0)[:, None], axis=1)[:, 0]
    return np.where(codes >= 0, known, -np.inf)


def log_loss(log_P: Array, codes: Integers) -> float:
    """The mean of −ln P(true class | x) over rows, in nats.

    >>> round(log_loss(np.log([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 1])), 4)
    0.4904
    """
    return float(-true_class_log_probability(log_P, codes).mean())


@overload
def in_bits(nats: float) -> float: ...
@overload
def in_bits(nats: Array) -> Array: ...
def in_bits(nats: float | Array) -> float | Array:
    """Nats, a number or an array, converted to bits.

    >>> round(in_bits(float(np.log(8.0))), 12)
    3.0
    """
    return nats / float(np.log(2.0))


def log_frequencies(counts: Any) -> Array:
    """ln of each class's share of the rows, (K,), from the number of rows of each class; −∞ for a class without rows.

    These are the log probabilities of the null model, which ignores the columns.

    >>> np.exp(log_frequencies([1, 3])).tolist()
    [0.25, 0.75]
    """
    n = np.asarray(counts, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(n / n.sum()))


def brier_score(P: Any, codes: Any) -> float:
    """The mean squared error of probabilities: of (p − t)² for two classes, of Σ_k (p_k − t_k)² for more.

    >>> brier_score([[0.2, 0.8], [0.6, 0.4]], [1, 0])
    0.1
    """
    return float(squared_errors(np.asarray(P, dtype=np.float64), np.asarray(codes, dtype=np.int64)).mean())


def squared_errors(P: Array, codes: Integers) -> Array:
    """The squared error of the probabilities of each row, (n,), whose mean is the Brier score.

    No class is true for a code below 0, a class that the model does not know.

    >>> squared_errors(np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([1, 0])).round(4).tolist()
    [0.04, 0.16]
    """
    squares = np.sum((P - (codes[:, None] == np.arange(P.shape[1]))) ** 2, axis=1)
    return np.asarray(squares / (2.0 if P.shape[1] == 2 else 1.0))


def confusion_matrix(codes: Integers, chosen: Integers, n_classes: int) -> Integers:
    """Counts (K, K) of rows: entry (j, k) has true class j and predicted class k.

    >>> confusion_matrix(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    pairs = codes * n_classes + chosen
    return np.bincount(pairs, minlength=n_classes * n_classes).reshape(n_classes, n_classes)


# --- The predictions of a fitted classifier for labelled rows


@dataclass(frozen=True)
class Answers:
    """The predictions for n labelled rows: classes, scores, and probabilities if the model has them.

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


# --- Precision, recall, F₁ and lift of each class


@dataclass(frozen=True)
class ClassFigures:
    """How well one class is predicted.

        precision = right/predicted,  recall = right/rows,  F₁ = 2 right/(predicted + rows),  lift = precision/(rows/n)

    Parameters
    ----------
    label : object
        The label of the class.
    n_rows, n_predicted, n_right : int
        The numbers of rows of the class, of rows that are predicted to be of the class, and of rows that are both.
    n_total : int
        All rows.
    level : float, default 0.95
        The confidence level of the intervals.

    Examples
    --------
    >>> found = ClassFigures("yes", n_rows=10, n_predicted=8, n_right=6, n_total=40)
    >>> found.precision, found.recall, round(found.f1, 3), found.lift
    (0.75, 0.6, 0.667, 3.0)
    >>> print(found)
    'yes': precision 0.75, recall 0.6, F1 0.6667, lift 3 (10 rows)
    """

    label: Any
    n_rows: int
    n_predicted: int
    n_right: int
    n_total: int
    level: float = 0.95

    @property
    def precision(self) -> float:
        """The fraction of correct rows among those predicted to be of the class; NaN if there are none."""
        return _ratio(self.n_right, self.n_predicted)

    @property
    def precision_interval(self) -> Interval:
        """Wilson's interval; (0, 1) if no row is predicted to be of the class."""
        return wilson_interval(self.n_right, self.n_predicted, self.level)

    @property
    def recall(self) -> float:
        """The share of the rows of the class that are predicted to be of it; NaN if there are none."""
        return _ratio(self.n_right, self.n_rows)

    @property
    def recall_interval(self) -> Interval:
        """Wilson's interval; (0, 1) if no row is of the class."""
        return wilson_interval(self.n_right, self.n_rows, self.level)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; NaN if the class neither occurs nor is predicted."""
        return _ratio(2 * self.n_right, self.n_predicted + self.n_rows)

    @property
    def f1_interval(self) -> Interval:
        """The interval for F₁ from Wilson's interval for F* (Lam et al. 2023); (0, 1) if there is no F₁."""
        return f1_interval(self.n_rows, self.n_predicted, self.n_right, self.level)

    @property
    def lift(self) -> float:
        """The precision divided by the frequency of the class among all rows; NaN if the precision is NaN."""
        return _ratio(self.n_right * self.n_total, self.n_predicted * self.n_rows)

    @property
    def lift_interval(self) -> Interval:
        """The interval by the delta method on the log scale; (0, ∞) if there is no lift."""
        return lift_interval(self.n_rows, self.n_predicted, self.n_right, self.n_total, self.level)

    def plain(self) -> dict[str, Any]:
        """All figures, as values that JSON can hold."""
        return {
            "label": self.label,
            "rows": self.n_rows,
            "predicted": self.n_predicted,
            "precision": self.precision,
            "precision_interval": list(self.precision_interval),
            "recall": self.recall,
            "recall_interval": list(self.recall_interval),
            "f1": self.f1,
            "f1_interval": list(self.f1_interval),
            "lift": self.lift,
            "lift_interval": list(self.lift_interval),
        }

    def __str__(self) -> str:
        figures = f"precision {self.precision:.4g}, recall {self.recall:.4g}, F1 {self.f1:.4g}, lift {self.lift:.4g}"
        return f"{self.label!r}: {figures} ({self.n_rows} row{'s' * (self.n_rows != 1)})"


def figures_by_class(
    codes: Integers, chosen: Integers, classes: AnyArray, level: float = 0.95
) -> tuple[ClassFigures, ...]:
    """The figures of each class; ``codes`` and ``chosen`` (n,) are the true and the predicted classes as numbers.

    >>> [one.recall for one in figures_by_class(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array(["a", "b"]))]
    [0.5, 1.0]
    """
    return tuple(
        ClassFigures(
            label,
            n_rows=int(np.sum(codes == k)),
            n_predicted=int(np.sum(chosen == k)),
            n_right=int(np.sum((codes == k) & (chosen == k))),
            n_total=len(codes),
            level=level,
        )
        for k, label in enumerate(classes.tolist())
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
