"""The classifiers, as scikit-learn estimators. A new classifier is one file and one line in ``OFFERED``.

A classifier's module is imported at its first use, since a single fit needs only half of the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix.classifiers.description import Description
from separatrix.classifiers.signatures import Hyperparameter, read_hyperparameters
from separatrix.core.base.lazy import declared

if TYPE_CHECKING:
    from separatrix.classifiers.fisher import FisherDiscriminant
    from separatrix.classifiers.kozinec import KozinecClassifier
    from separatrix.classifiers.least_squares import LeastSquaresClassifier
    from separatrix.classifiers.linear_discriminant import LinearDiscriminantAnalysis
    from separatrix.classifiers.linear_svc import LinearSVC
    from separatrix.classifiers.logistic import LogisticRegression
    from separatrix.classifiers.max_margin import MaxMarginClassifier
    from separatrix.classifiers.one_versus_one import OneVsOneClassifier
    from separatrix.classifiers.one_versus_rest import OneVsRestClassifier
    from separatrix.classifiers.perceptron import Perceptron
    from separatrix.classifiers.quadratic_discriminant import QuadraticDiscriminantAnalysis

# Name of a classifier -> (its module, its class). A module outside this package is given by its full dotted name.
OFFERED = {
    "logistic": ("logistic", "LogisticRegression"),
    "one-versus-one": ("one_versus_one", "OneVsOneClassifier"),
    "one-versus-rest": ("one_versus_rest", "OneVsRestClassifier"),
    "perceptron": ("perceptron", "Perceptron"),
    "kozinec": ("kozinec", "KozinecClassifier"),
    "max-margin": ("max_margin", "MaxMarginClassifier"),
    "linear-svc": ("linear_svc", "LinearSVC"),
    "least-squares": ("least_squares", "LeastSquaresClassifier"),
    "fisher": ("fisher", "FisherDiscriminant"),
    "lda": ("linear_discriminant", "LinearDiscriminantAnalysis"),
    "qda": ("quadratic_discriminant", "QuadraticDiscriminantAnalysis"),
}

__all__ = [
    "CLASSIFIERS",
    "FisherDiscriminant",
    "KozinecClassifier",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LogisticRegression",
    "MaxMarginClassifier",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
]


class _Classifiers(Mapping[str, Any]):
    """A mapping from names to classes that imports a class when its name is looked up.

    >>> CLASSIFIERS["lda"].__name__, len(CLASSIFIERS) == len(OFFERED)
    ('LinearDiscriminantAnalysis', True)
    """

    def __getitem__(self, name: str) -> Any:
        module, kind = OFFERED[name]
        return getattr(import_module(_full(module)), kind)

    def __iter__(self) -> Iterator[str]:
        return iter(OFFERED)

    def __len__(self) -> int:
        return len(OFFERED)


CLASSIFIERS: Mapping[str, Any] = _Classifiers()


def describe(name: str) -> Description:
    """Return the ``DESCRIPTION`` of the classifier of this name, read from its source without importing it.

    >>> describe("lda").about
    'linear discriminant analysis: Gaussian classes with a common covariance'
    """
    return _described(_full(OFFERED[name][0]))


@cache
def _described(module: str) -> Description:
    description: Description = declared(module, "DESCRIPTION")
    return description


@cache
def hyperparameters(name: str) -> Mapping[str, Hyperparameter]:
    """The hyperparameters of the classifier of this name, read from its source without importing it.

    >>> hyperparameters("fisher")["threshold"].words
    ('gaussian', 'midpoint')
    """
    module, kind = OFFERED[name]
    return {one.name: one for one in read_hyperparameters(_full(module), kind)}


def name_of(kind: type) -> str | None:
    """Return the name of a class in ``OFFERED``, or None. No other classifier is imported.

    >>> name_of(CLASSIFIERS["lda"]), name_of(dict)
    ('lda', None)
    """
    wanted = (kind.__module__, kind.__name__)
    return next((name for name, (module, known) in OFFERED.items() if (_full(module), known) == wanted), None)


def lacks_probabilities(name: str) -> str:
    """Say why a classifier has no probabilities to decide by; ``name`` is that in ``OFFERED`` or that of its class.

    One versus rest has ``predict_proba``, but it normalises separate estimates (docs/tour.md, M2).

    >>> lacks_probabilities("perceptron")
    'perceptron has scores but no probabilities'
    >>> lacks_probabilities("OneVsRestClassifier")
    'OneVsRestClassifier combines models of two classes and is not itself a model of P(class | x)'
    """
    offered = next((one for one, (_, kind) in OFFERED.items() if name in (one, kind)), None)
    if offered is not None and describe(offered).parts:
        return f"{name} combines models of two classes and is not itself a model of P(class | x)"
    return f"{name} has scores but no probabilities"


def _full(module: str) -> str:
    return module if "." in module else f"{__name__}.{module}"


def __getattr__(name: str) -> Any:
    for offered, (_, kind) in OFFERED.items():
        if kind == name:
            return CLASSIFIERS[offered]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
