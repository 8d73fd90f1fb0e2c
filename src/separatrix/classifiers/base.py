"""Base classes of all classifiers (docs/tour.md, D1, D2, D6, P13).

A fitted classifier predicts with its scorer, and has a certificate. What only some models of a class can do, such as
probabilities, is a method that ``offered_where`` guards: on the others, access raises an error that says why.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from types import MethodType
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.classifiers.fit_input import as_precise, column_names, refuse_beside_table, scored
from separatrix.classifiers.writable_weights import WrittenWeights
from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.errors import NotConvergedWarning, ParameterError
from separatrix.core.certificate import Certificate
from separatrix.core.cluster import read_in_place
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.core.scorer import Scorer, Scores


def offered_where(check: Callable[[Any], None]) -> Callable[[Callable[..., Any]], Any]:
    """Make a method available only where ``check`` passes; elsewhere accessing it raises the error of the check.

    scikit-learn's ``available_if`` does the same, but hides the check's message in the cause of its own error.

    >>> def never(model):
    ...     raise AttributeError("not for this one")
    >>> class Model:
    ...     @offered_where(never)
    ...     def answer(self): ...
    >>> hasattr(Model(), "answer")
    False
    """

    class Offered:
        def __init__(self, method: Callable[..., Any]) -> None:
            self.method, self.__doc__ = method, method.__doc__

        def __get__(self, model: Any, owner: Any = None) -> Any:
            if model is None:
                return self.method
            check(model)
            return MethodType(self.method, model)

    return Offered


Approach = Literal["discriminant function", "discriminative", "generative"]


@dataclass(frozen=True)
class ClassifierTraits:
    """Properties of a classifier with default settings. They select the general tests that the test suite runs on it.

    order_free: the fit does not depend on the order of the rows. repeatable: a sample weight of 2 has the same effect
    as repeating the row. scale_free: multiplying a column by a constant divides its weight by the same constant and
    changes no prediction. relabelling: renaming the classes renames the predictions, even if this changes their sorted
    order. in_memory: the reason why a fit needs all rows in memory; empty if it needs only sums over rows. instead:
    what to use for rows that are not in memory.
    """

    order_free: bool = True
    repeatable: bool = True
    scale_free: bool = False
    relabelling: bool = True
    in_memory: str = ""
    instead: str = "LogisticRegression"


def _has_probabilities(classifier: Any) -> None:
    """Raise AttributeError if the model has no probabilities, so that ``hasattr(model, "predict_proba")`` is False."""
    if not classifier.has_probabilities:
        raise AttributeError(
            f"{type(classifier).__name__} has no probabilities, only scores: use decision_function, or a classifier "
            "with predict_proba such as LogisticRegression"
        )


class ScoringClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that predicts with its fitted ``scorer_``. Subclasses define ``fit``.

    ``approach``: the classifier's approach to classification, one of the three in ``Approach``. ``n_parameters_``: the
    number of parameters that are estimated from the rows.
    """

    approach: ClassVar[Approach]
    has_probabilities: ClassVar[bool] = False
    traits: ClassVar[ClassifierTraits] = ClassifierTraits()

    scorer_: Any  # implements the protocol Scores
    certificate_: Certificate
    n_parameters_: int
    # Whether the fit had sample weights; None if it is not known.
    has_sample_weight_: bool | None = None
    # The dtype of the training rows. If it is float32, the scores of float32 rows are float32, too.
    # The fit and the scorer always use float64.
    _dtype: str = "float64"

    def decision_function(self, X: Any) -> Array:
        """Return the score of each row.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. The columns of a table outside memory are found by name.

        Returns
        -------
        array (n,) for two classes, (n, K) for more
            With two classes, a positive score predicts the second class. With more classes, the class with the largest
            score is predicted.
        """
        return self._answers(X, self.scorer_of().scores)

    def _answers(self, X: Any, answer: Callable[..., Array]) -> Array:
        """Return the result of a scorer's method for X, in float32 if both X and the training rows are float32."""
        return scored(self, X, lambda rows, names: as_precise(answer(rows, names), rows.dtype, self._dtype))

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of each row.

        With two classes, a score of exactly zero predicts the second class (docs/tour.md, D1). For a classifier with
        probabilities it predicts the first class, as ``predict_proba(X).argmax(axis=1)`` does.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. The columns of a table outside memory are found by name.

        Returns
        -------
        array (n,)
            Labels.
        """
        return scored(self, X, self.scorer_of().predict)

    @offered_where(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities P(class | x).

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. The columns of a table outside memory are found by name.

        Returns
        -------
        array (n, K)
            Columns in the order of ``classes_``.
        """
        return self._answers(X, self.scorer_of().probabilities)

    @offered_where(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Return the log-probabilities ln P(class | x), which are accurate even if a probability is very small.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. The columns of a table outside memory are found by name.

        Returns
        -------
        array (n, K)
            Columns in the order of ``classes_``.
        """
        return self._answers(X, self.scorer_of().log_probabilities)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy of the predictions: the share of rows that are classified correctly, by weight.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a table outside memory
            The rows. A table outside memory has its labels and weights in columns of its own.
        y : array (n,)
            The true labels.
        sample_weight : array (n,) or None
            Weights >= 0.

        Returns
        -------
        float
        """
        X, y, sample_weight = read_in_place(X, y, sample_weight)
        if not isinstance(X, OutsideMemory):
            return float(super().score(X, y, sample_weight))
        from separatrix.core.rows.views import table_accuracy

        refuse_beside_table(X, y, sample_weight)
        scorer = self.scorer_of()
        return table_accuracy(scorer, X, column_names(self), self.n_features_in_)

    def _warn_if_unmet(self) -> None:
        """Warn if the fit did not meet its stopping rule. To be called by ``fit`` itself."""
        if not self.certificate_.met and self.certificate_.code != "uncertified":
            warnings.warn(self.certificate_.status, NotConvergedWarning, stacklevel=3)

    def scorer_of(self) -> Scores:
        """Return the fitted model as a scorer, which does not depend on scikit-learn.

        Returns
        -------
        Scorer
        """
        try:
            scorer: Scores = self.scorer_
            return scorer
        except AttributeError:
            check_is_fitted(self)
            raise

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a scorer. ``n_features_in_`` does not show it, since a failed fit sets it, too."""
        return hasattr(self, "scorer_")

    def _html_repr(self) -> str:
        """The HTML for notebooks: scikit-learn's diagram, followed by the certificate if the estimator is fitted."""
        diagram = str(super()._html_repr())
        if "certificate_" not in self.__dict__:
            return diagram
        return f'{diagram}<pre style="white-space: pre-wrap">{escape(str(self.certificate_))}</pre>'

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """The names of the settings. scikit-learn inspects the signature on each call, which takes 0.1 ms."""
        return list(super()._get_param_names())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearClassifier(WrittenWeights, ScoringClassifier):
    """A classifier with linear scores, so that it has ``coef_`` and a hyperplane between every two classes."""

    def predict_one(self, row: Sequence[float] | Array) -> Any:
        """Predict the class of a single row. This is faster than ``predict``, since it validates less of the input.

        Parameters
        ----------
        row : list, tuple or 1-D array of d numbers
            The row. NaN and infinity raise an error.

        Returns
        -------
        label
        """
        # If there is no cached scorer, the model is not fitted, or the user may have modified its weights.
        scorer: Any = self.__dict__.get("_untouched") or self.scorer_of()
        return scorer.predict_one(row)

    def hyperplane(
        self, i: Any = None, j: Any = None, *, probability: float | None = None, output: float | None = None
    ) -> Hyperplane:
        """Return the boundary between two classes, or the hyperplane of a given output (docs/tour.md, D5, G5).

        Parameters
        ----------
        i, j : labels, optional
            The two classes; class i is on the positive side. With two classes, i is the second class and j the first by
            default.
        probability : float, optional
            Only for two classes with probabilities: return the hyperplane on which P(i | x) has this value.
        output : float, optional
            Return the hyperplane on which the output of class i has this value, regardless of the other classes; j must
            not be given.
            The output is the predicted target for least squares (½ is midway between targets 0 and 1, and 0 between
            targets ±1), the probability for classifiers with probabilities, and the score w·x + b for all others.

        Returns
        -------
        Hyperplane

        Raises
        ------
        ParameterError
            If the classes are unknown, or the model has no such hyperplane.
        """
        check_is_fitted(self)
        if probability is not None and not self.has_probabilities:
            problem = f"{type(self).__name__} has no probabilities, only outputs"
            raise ParameterError("probability", problem, "give a value of the output instead: hyperplane(output=0.5)")
        if output is None:
            return self.scorer_.hyperplane(i, j, probability)
        if probability is not None:
            raise ParameterError("output", "it was given together with probability", "give only one of the two")
        return self._at_output(i, j, output)

    def _at_output(self, i: Any, j: Any, level: float) -> Hyperplane:
        """Return the hyperplane on which the output of class i equals ``level``."""
        if not np.isfinite(level):
            raise ParameterError("output", f"got {level}", "give a finite number")
        k, K = self.scorer_.position("i", i) if i is not None or len(self.classes_) > 2 else 1, len(self.classes_)
        if j is not None and (K > 2 or self.scorer_.position("j", j) == k):
            raise ParameterError("j", f"got {j!r} together with output, which concerns class i only", "leave it out")
        if self.has_probabilities:
            return self.scorer_.hyperplane(self.classes_[k], self.classes_[k - 1], level)
        W = self._output_weights()
        w = W[k] if len(W) > 1 else (2 * k - 1) * W[0]
        return Hyperplane(w[1:], float(w[0]) - level)

    def _output_weights(self) -> Array:
        """The weights of the outputs, (K or 1, d + 1), intercepts first. A single row belongs to the second class."""
        return self.scorer_.W

    def _keep_scorer(self, scorer: Scorer) -> None:
        """Set ``scorer_``, which determines ``coef_``, ``intercept_`` and ``classes_``."""
        self.scorer_ = scorer
