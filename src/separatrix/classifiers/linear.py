"""What all classifiers share once fitted: answers from a scorer. TEXTBOOK D1, D2, D6, P13."""

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
    """What is true of a classifier with its default settings, for the laws that hold only where it is.

    order_free: the order of rows does not matter. repeatable: a row of weight 2 is the row twice. scale_free:
    multiplying a column by a constant divides its weight by it and changes no answer. relabelling: renaming classes
    renames the answers (of two classes, also when they swap places). in_memory: why a fit needs the rows in memory;
    empty where sums over rows are enough.
    """

    order_free: bool = True
    repeatable: bool = True
    scale_free: bool = False
    relabelling: bool = True
    in_memory: str = ""


def _has_probabilities(classifier: Any) -> None:
    """Nothing, or the sentence that says why not: ``hasattr(model, "predict_proba")`` is False then. TEXTBOOK P13."""
    if not classifier.has_probabilities:
        raise AttributeError(
            f"{type(classifier).__name__} has no probabilities, only scores: use decision_function, or a model of "
            "P(class | x) such as LogisticRegression"
        )


class ScoringClassifier(ClassifierMixin, BaseEstimator):
    """A fitted ``scorer_`` and what follows from it; subclasses fit.

    ``approach``: which of the three approaches to classification it takes. ``n_parameters_``: how many numbers the
    model determines from the rows.
    """

    approach: ClassVar[Approach]
    has_probabilities: ClassVar[bool] = False
    traits: ClassVar[ClassifierTraits] = ClassifierTraits()

    scorer_: Any  # a Scores
    certificate_: Certificate
    n_parameters_: int
    # The type of the rows of the fit: float32 rows are then answered in float32. The fit and the scorer are float64.
    _dtype: str = "float64"

    def decision_function(self, X: Any) -> Array:
        """Scores: (n,) for two classes, positive for the second; (n, K) for more."""
        return self._answers(X, lambda scorer: scorer.scores)

    def _answers(self, X: Any, question: Callable[[Scores], Callable[..., Array]]) -> Array:
        """What the scorer says to rows X, in the type of these and of the fit."""
        answer = question(self.scorer_of())
        rows, names = rows_to_score(self, X)
        return as_precise(answer(rows, names), rows.dtype, self._dtype)

    def predict(self, X: Any) -> AnyArray:
        """The class of each row.

        A score of exactly zero goes to the second class (TEXTBOOK D1), but of a model with probabilities to the first,
        as ``predict_proba(X).argmax(axis=1)`` does.
        """
        return self.scorer_of().predict(*rows_to_score(self, X))

    @offered_where(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """P(class | x), (n, K), columns in the order of ``classes_``."""
        return self._answers(X, lambda scorer: scorer.probabilities)

    @offered_where(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """ln P(class | x), (n, K)."""
        return self._answers(X, lambda scorer: scorer.log_probabilities)

    def scorer_of(self) -> Scores:
        """The fitted model by itself, which needs no scikit-learn."""
        try:
            found: Scores = self.scorer_
            return found
        except AttributeError:
            check_is_fitted(self)
            raise

    def __sklearn_is_fitted__(self) -> bool:
        """Columns are counted before a fit ends: one that failed, or was stopped, has no scorer."""
        return hasattr(self, "scorer_")

    def _html_repr(self) -> str:
        """What notebooks show: scikit-learn's picture of the estimator and, once fitted, the certificate below it."""
        drawn = str(super()._html_repr())
        if "certificate_" not in self.__dict__:
            return drawn
        return f'{drawn}<pre style="white-space: pre-wrap">{escape(str(self.certificate_))}</pre>'

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearClassifier(WrittenWeights, ScoringClassifier):
    """A classifier whose scores are linear: it has weights, and hyperplanes between its classes."""

    def predict_one(self, row: Sequence[float] | Array) -> Any:
        """The class of one row of plain numbers, a list, a tuple or a 1-D array: ``predict`` with two checks only.

        The row must have as many numbers as the fit had columns; NaN and infinity are refused.
        """
        # Where there is no such mark, it is not fitted, or weights may have been written.
        scorer: Any = self.__dict__.get("_untouched") or self.scorer_of()
        return scorer.predict_one(row)

    def hyperplane(
        self, i: Any = None, j: Any = None, *, probability: float | None = None, output: float | None = None
    ) -> Hyperplane:
        """The boundary of class i against class j, or where the model's output has a given level. TEXTBOOK D5, G5.

        Parameters
        ----------
        i, j : labels, optional
            The two classes; the positive side is that of i. With two classes i is the second and j the first.
        probability : float, optional
            With two classes: the hyperplane where P(i | x) has this value. Refused where the model has no
            probabilities.
        output : float, optional
            The hyperplane where the output of class i has this value, whichever class is second best; j is not needed.
            The output is the regression on the targets for least squares (½ lies between 0/1 targets, 0 between
            ±1), the probability for models that have one, and the score w·x + b for all others.

        Returns
        -------
        Hyperplane
        """
        check_is_fitted(self)
        if probability is not None and not self.has_probabilities:
            came = f"{type(self).__name__} has no probabilities, only outputs"
            raise ParameterError("probability", came, "ask for a level of the output: hyperplane(output=0.5)")
        if output is None:
            return self.scorer_.hyperplane(i, j, probability)
        if probability is not None:
            raise ParameterError("output", "it was given beside probability", "give one of the two")
        return self._at_output(i, j, output)

    def _at_output(self, i: Any, j: Any, level: float) -> Hyperplane:
        """Where the output of class i is ``level``."""
        if not np.isfinite(level):
            raise ParameterError("output", f"got {level}", "give a finite number")
        k, K = self.scorer_.position("i", i) if i is not None or len(self.classes_) > 2 else 1, len(self.classes_)
        if j is not None and (K > 2 or self.scorer_.position("j", j) == k):
            raise ParameterError("j", f"got {j!r} beside an output, which is of class i alone", "leave it out")
        if self.has_probabilities:
            return self.scorer_.hyperplane(self.classes_[k], self.classes_[k - 1], level)
        W = self._output_weights()
        w = W[k] if len(W) > 1 else (2 * k - 1) * W[0]
        return Hyperplane(w[1:], float(w[0]) - level)

    def _output_weights(self) -> Array:
        """The weights of the outputs, (K or 1, d + 1), intercepts in column 0; one row is the second class's."""
        return self.scorer_.W

    def _keep_scorer(self, scorer: Scorer) -> None:
        """Set what scikit-learn's conventions ask for."""
        self.scorer_ = scorer
