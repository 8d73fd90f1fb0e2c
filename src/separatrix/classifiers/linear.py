"""The base classes of all classifiers: once fitted, they predict by a scorer. TEXTBOOK D1, D2, D6, P13."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import ParameterError
from separatrix.certificates.certificate import Certificate
from separatrix.classifiers.available import offered_where
from separatrix.classifiers.fit_input import as_precise, rows_to_score
from separatrix.classifiers.writable_weights import WrittenWeights
from separatrix.geometry import Hyperplane
from separatrix.scorers.scorer import Scorer, Scores

Approach = Literal["discriminant function", "discriminative", "generative"]


@dataclass(frozen=True)
class ClassifierTraits:
    """Properties of a classifier with its default settings, which decide the general tests that apply to it.

    order_free: the order of rows does not matter. repeatable: a row of weight 2 equals the row twice. scale_free:
    multiplying a column by a constant divides its weight by it and changes no prediction. relabelling: renaming classes
    renames the predictions, also if two classes swap their order. in_memory: why a fit needs the rows in memory; empty
    if sums over rows are enough.
    """

    order_free: bool = True
    repeatable: bool = True
    scale_free: bool = False
    relabelling: bool = True
    in_memory: str = ""


def _has_probabilities(classifier: Any) -> None:
    """Raise an AttributeError if there are no probabilities; then ``hasattr(model, "predict_proba")`` is False. P13."""
    if not classifier.has_probabilities:
        raise AttributeError(
            f"{type(classifier).__name__} has no probabilities, only scores: use decision_function, or a model of "
            "P(class | x) such as LogisticRegression"
        )


class ScoringClassifier(ClassifierMixin, BaseEstimator):
    """Predictions from a fitted ``scorer_``; subclasses define ``fit``.

    ``approach``: which of the three approaches to classification the classifier takes. ``n_parameters_``: how many
    parameters are estimated from the rows.
    """

    approach: ClassVar[Approach]
    has_probabilities: ClassVar[bool] = False
    traits: ClassVar[ClassifierTraits] = ClassifierTraits()

    scorer_: Any  # a Scores
    certificate_: Certificate
    n_parameters_: int
    # The type of the rows of the fit. If it is float32, scores of float32 rows are float32, too. The fit itself and the
    # scorer are float64.
    _dtype: str = "float64"

    def decision_function(self, X: Any) -> Array:
        """Return the scores of rows.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n,) for two classes, (n, K) for more
            With two classes a positive score speaks for the second class; with more, the largest score wins.
        """
        return self._answers(X, lambda scorer: scorer.scores)

    def _answers(self, X: Any, question: Callable[[Scores], Callable[..., Array]]) -> Array:
        """The result of a method of the scorer on rows X, in float32 if these and the rows of the fit are."""
        answer = question(self.scorer_of())
        rows, names = rows_to_score(self, X)
        return as_precise(answer(rows, names), rows.dtype, self._dtype)

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of each row.

        With two classes, a score of exactly zero goes to the second class (TEXTBOOK D1). With probabilities it goes to
        the first class, in agreement with ``predict_proba(X).argmax(axis=1)``.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n,)
            Labels.
        """
        return self.scorer_of().predict(*rows_to_score(self, X))

    @offered_where(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities P(class | x).

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, K)
            Columns in the order of ``classes_``.
        """
        return self._answers(X, lambda scorer: scorer.probabilities)

    @offered_where(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Return ln P(class | x), which stays accurate for very small probabilities.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, K)
            Columns in the order of ``classes_``.
        """
        return self._answers(X, lambda scorer: scorer.log_probabilities)

    def scorer_of(self) -> Scores:
        """Return the fitted model as a scorer, which does not depend on scikit-learn."""
        try:
            scorer: Scores = self.scorer_
            return scorer
        except AttributeError:
            check_is_fitted(self)
            raise

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a scorer. ``n_features_in_`` is no proof of a fit, since a fit that failed has set it."""
        return hasattr(self, "scorer_")

    def _html_repr(self) -> str:
        """The HTML for notebooks: scikit-learn's diagram of the estimator, and below it the certificate if fitted."""
        diagram = str(super()._html_repr())
        if "certificate_" not in self.__dict__:
            return diagram
        return f'{diagram}<pre style="white-space: pre-wrap">{escape(str(self.certificate_))}</pre>'

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearClassifier(WrittenWeights, ScoringClassifier):
    """A classifier whose scores are linear, so that it has weights and hyperplanes between its classes."""

    def predict_one(self, row: Sequence[float] | Array) -> Any:
        """Predict the class of a single row, faster than ``predict`` since it checks less.

        Parameters
        ----------
        row : list, tuple or 1-D array of d numbers
            NaN and infinity are refused.

        Returns
        -------
        label
        """
        # Without the cached scorer the model is not fitted, or ``coef_`` or ``intercept_`` may have been changed.
        scorer: Any = self.__dict__.get("_untouched") or self.scorer_of()
        return scorer.predict_one(row)

    def hyperplane(
        self, i: Any = None, j: Any = None, *, probability: float | None = None, output: float | None = None
    ) -> Hyperplane:
        """Return the boundary of class i against class j, or where the output has a given value. TEXTBOOK D5, G5.

        Parameters
        ----------
        i, j : labels, optional
            The two classes; the positive side is that of i. With two classes i is the second and j the first.
        probability : float, optional
            With two classes: the hyperplane where P(i | x) has this value. An error if the model has no probabilities.
        output : float, optional
            The hyperplane where the output of class i has this value, whatever the outputs of other classes; leave out
            j. The output is the regression on the targets for least squares (½ is midway between 0/1 targets, 0
            between ±1 targets), the probability for models that have one, and the score w·x + b for all others.

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
            came = f"{type(self).__name__} has no probabilities, only outputs"
            raise ParameterError("probability", came, "ask for a level of the output: hyperplane(output=0.5)")
        if output is None:
            return self.scorer_.hyperplane(i, j, probability)
        if probability is not None:
            raise ParameterError("output", "it was given together with probability", "give one of the two")
        return self._at_output(i, j, output)

    def _at_output(self, i: Any, j: Any, level: float) -> Hyperplane:
        """Where the output of class i is ``level``."""
        if not np.isfinite(level):
            raise ParameterError("output", f"got {level}", "give a finite number")
        k, K = self.scorer_.position("i", i) if i is not None or len(self.classes_) > 2 else 1, len(self.classes_)
        if j is not None and (K > 2 or self.scorer_.position("j", j) == k):
            raise ParameterError("j", f"got {j!r} with an output, which belongs to class i alone", "leave it out")
        if self.has_probabilities:
            return self.scorer_.hyperplane(self.classes_[k], self.classes_[k - 1], level)
        W = self._output_weights()
        w = W[k] if len(W) > 1 else (2 * k - 1) * W[0]
        return Hyperplane(w[1:], float(w[0]) - level)

    def _output_weights(self) -> Array:
        """The weights of the outputs, (K or 1, d + 1), intercepts in column 0; a single row is for the second class."""
        return self.scorer_.W

    def _keep_scorer(self, scorer: Scorer) -> None:
        """Set ``scorer_``, from which ``coef_``, ``intercept_`` and ``classes_`` follow."""
        self.scorer_ = scorer
