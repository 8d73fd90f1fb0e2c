"""What users fit: scikit-learn estimators, by name. A new classifier is one class and one line in ``OFFERED``.

Each is imported when it is first asked for: one fit needs half of the package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.classifiers.fisher import FisherDiscriminant
    from separatrix.classifiers.gaussian import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from separatrix.classifiers.kozinec import KozinecClassifier
    from separatrix.classifiers.least_squares import LeastSquaresClassifier
    from separatrix.classifiers.logistic import LogisticRegression
    from separatrix.classifiers.max_margin import MaxMarginClassifier
    from separatrix.classifiers.one_versus import OneVsOneClassifier, OneVsRestClassifier
    from separatrix.classifiers.perceptron import Perceptron

    CLASSIFIERS: dict[str, Any]

# The name of a classifier: where it is, and what it is called there.
OFFERED = {
    "logistic": ("logistic", "LogisticRegression"),
    "one-versus-one": ("one_versus", "OneVsOneClassifier"),
    "one-versus-rest": ("one_versus", "OneVsRestClassifier"),
    "perceptron": ("perceptron", "Perceptron"),
    "kozinec": ("kozinec", "KozinecClassifier"),
    "max-margin": ("max_margin", "MaxMarginClassifier"),
    "least-squares": ("least_squares", "LeastSquaresClassifier"),
    "fisher": ("fisher", "FisherDiscriminant"),
    "lda": ("gaussian", "LinearDiscriminantAnalysis"),
    "qda": ("gaussian", "QuadraticDiscriminantAnalysis"),
}

__all__ = [
    "CLASSIFIERS",
    "FisherDiscriminant",
    "KozinecClassifier",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "MaxMarginClassifier",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
]


def __getattr__(name: str) -> Any:
    where = {kind: module for module, kind in OFFERED.values()}
    if name == "CLASSIFIERS":
        found: Any = {key: __getattr__(kind) for key, (_, kind) in OFFERED.items()}
    elif name in where:
        found = getattr(import_module(f"{__name__}.{where[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found
