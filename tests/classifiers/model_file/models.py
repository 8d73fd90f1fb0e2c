"""Small fits of every classifier, for the laws that a model file is put under."""

import warnings
from functools import cache

import numpy as np
from sklearn.base import clone

from separatrix import (
    FisherDiscriminant,
    LeastSquaresClassifier,
    LogisticRegression,
    MaxMarginClassifier,
    OneVsOneClassifier,
    OneVsRestClassifier,
    Perceptron,
    QuadraticDiscriminantAnalysis,
)
from separatrix.classifiers import CLASSIFIERS

# Beside every classifier with its defaults: settings that make other kinds of scorers, claims and parts.
MORE = {
    "maximum likelihood": LogisticRegression(C=np.inf),
    "chosen C": LogisticRegression(C="auto"),
    "firth": LogisticRegression(bias_reduction="firth", class_weight="balanced"),
    "signed": LeastSquaresClassifier(l2=0.5, targets="signed", fit_intercept=False),
    "midpoint": FisherDiscriminant(direction="means", threshold="midpoint"),
    "pocket": Perceptron(pocket=True, max_iter=5),
    "rest of perceptrons": OneVsRestClassifier(Perceptron()),
    "one of margins": OneVsOneClassifier(MaxMarginClassifier()),
    "rest of gaussians": OneVsRestClassifier(QuadraticDiscriminantAnalysis()),
    "one of projections": OneVsOneClassifier(FisherDiscriminant()),
    "rest of rests": OneVsRestClassifier(OneVsRestClassifier()),
}
NAMES = [*CLASSIFIERS, *MORE]


def model(name):
    return CLASSIFIERS[name]() if name in CLASSIFIERS else clone(MORE[name])


@cache
def rows(K, apart):
    """Sixty rows of four columns, one of them far from zero and one tiny, overlapping or ``apart``."""
    rng = np.random.default_rng(K)
    codes = rng.permutation(np.arange(60) % K)
    X = rng.standard_normal((60, 4)) + (8.0 if apart else 0.6) * np.eye(K, 4)[codes]
    return X * [1.0, 1e-3, 1.0, 1.0] + [0.0, 0.0, 100.0, 0.0], codes


def fitted(name, K=2, apart=False, labels=None):
    """The classifier, fitted; its rows and labels. Fits that do not end as asked are models, too."""
    X, codes = rows(K, apart)
    y = np.array(["no", "yes", "perhaps"] if labels is None else labels)[codes]
    with warnings.catch_warnings(action="ignore"):
        return model(name).fit(X, y), X, y
