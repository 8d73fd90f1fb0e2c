"""The default perceptron beside scikit-learn's, by cross-validation: ``python -m benchmarks.defaults [seeds]``.

Accuracy is that of five stratified folds, shuffled by each of several seeds, on the tables that come with scikit-learn,
raw and standardised by the training rows. The difference has the standard error of Nadeau and Bengio (Inference for the
generalization error, Machine Learning 52, 2003), which allows for folds that share training rows:
√((1/J + n_test/n_train) s²), with s² the variance of the J differences.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
import sklearn.linear_model as peers
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx

TABLES = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
FOLDS = 5


class Standing(NamedTuple):
    """Mean accuracies on one table, and their difference with its standard error."""

    table: str
    ours: float
    theirs: float
    difference: float
    standard_error: float

    @property
    def worse(self) -> bool:
        """Whether ours is worse by more than two standard errors."""
        return self.difference < -2 * self.standard_error

    def __str__(self) -> str:
        told = f"{self.ours:.3f} {self.theirs:.3f} {self.difference:+.3f} ± {self.standard_error:.3f}"
        return f"{self.table:<28}{told}{'  worse' if self.worse else ''}"


def standing(name: str, standardised: bool, seeds: int) -> Standing:
    """Both perceptrons with their default settings on one table."""
    X, y = TABLES[name](return_X_y=True)
    ours, theirs = [], []
    for seed in range(seeds):
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y):
            for found, model in ((ours, sx.Perceptron()), (theirs, peers.Perceptron(random_state=seed))):
                whole: Any = make_pipeline(StandardScaler(), model) if standardised else model
                found.append(float(whole.fit(X[train], y[train]).score(X[test], y[test])))
    difference = np.subtract(ours, theirs)
    error = np.sqrt((1 / len(difference) + 1 / (FOLDS - 1)) * difference.var(ddof=1))
    label = f"{name}{', standardised' if standardised else ''}"
    return Standing(label, float(np.mean(ours)), float(np.mean(theirs)), float(difference.mean()), float(error))


def standings(seeds: int, tables: Any = tuple(TABLES)) -> list[Standing]:
    """Each table, raw and standardised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that rows are not separable, which is the point
        return [standing(name, scaled, seeds) for name in tables for scaled in (False, True)]


if __name__ == "__main__":
    print(f"{'table':<28}ours  theirs difference")
    for found in standings(int(sys.argv[1]) if len(sys.argv) > 1 else 5):
        print(found)
