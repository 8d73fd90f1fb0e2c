"""Accuracy, log loss, Brier score and confusion matrix: each is computed here and nowhere else (docs/tour.md, E2).

Rows are given by arrays: ``codes`` (n,) the numbers of their true classes, ``log_P`` (n, K) the logarithms of predicted
probabilities. ``performance`` computes all measures of one model; ROC curves are in ``ranking``, bins in
``calibration``, intervals in ``proportions``.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers


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
