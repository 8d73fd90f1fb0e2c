"""What users fit: scikit-learn estimators, by name. A new classifier is one class and one line here."""

from separatrix.classifiers.fisher import FisherDiscriminant
from separatrix.classifiers.gaussian import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from separatrix.classifiers.kozinec import KozinecClassifier
from separatrix.classifiers.least_squares import LeastSquaresClassifier
from separatrix.classifiers.logistic import LogisticRegression
from separatrix.classifiers.max_margin import MaxMarginClassifier
from separatrix.classifiers.one_versus import OneVsOneClassifier, OneVsRestClassifier
from separatrix.classifiers.perceptron import Perceptron

CLASSIFIERS = {
    "logistic": LogisticRegression,
    "one-versus-one": OneVsOneClassifier,
    "one-versus-rest": OneVsRestClassifier,
    "perceptron": Perceptron,
    "kozinec": KozinecClassifier,
    "max-margin": MaxMarginClassifier,
    "least-squares": LeastSquaresClassifier,
    "fisher": FisherDiscriminant,
    "lda": LinearDiscriminantAnalysis,
    "qda": QuadraticDiscriminantAnalysis,
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
