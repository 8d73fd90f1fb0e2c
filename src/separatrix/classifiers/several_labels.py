"""Multilabel classification: an independent two-class model for each label."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import type_of_target

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import LabelError, SeparatrixWarning
from separatrix.certificates.claim import Claim, Recomputed
from separatrix.certificates.parts_claim import summed
from separatrix.rows.csr import is_sparse
from separatrix.scorers.parts import PartsScorer
from separatrix.scorers.schemes import Part


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


def label_parts(Y: Integers) -> Iterator[Part]:
    """One part for each label: all rows, with the target 1 where they have the label."""
    for k in range(Y.shape[1]):
        yield Part((k, None), np.arange(len(Y)), Y[:, k])


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


@dataclass(frozen=True)
class LabelsScorer(PartsScorer):
    """A score for each label, (n, labels); ``predict`` returns the table of 0 and 1."""

    def scores(self, X: Any, names: list[str] | None = None) -> Array:
        return self.parts_scores(X, names)

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        return self.link.decides(self.scores(X, names)).astype(np.int64)


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
