"""All measures of a fitted classifier on labelled rows, with intervals and compared with the null model.

The null model knows the class frequencies of the fitted rows and ignores the columns: it always predicts the most
frequent class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.cached import cached_property
from separatrix.evaluation.answers import Answers
from separatrix.evaluation.by_class import ClassFigures, figures_by_class
from separatrix.evaluation.measures import accuracy, brier_score, log_frequencies, log_loss
from separatrix.evaluation.proportions import Interval, paired_difference, wilson_interval
from separatrix.evaluation.ranking import Ranking, rankings


@dataclass(frozen=True)
class Performance:
    """The measures of a model's answers.

    Parameters
    ----------
    answers : Answers
        The model's answers for n labelled rows.
    fitted : (K,) counts
        The number of fitted rows of each class.
    level : float, default 0.95
        The confidence level of the intervals.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> from separatrix.evaluation.answers import answers
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> measured = Performance(answers(LogisticRegression().fit(X, y), X, y), [2, 2])
    >>> measured.accuracy, measured.null_accuracy, measured.n_right, measured.auc
    (0.5, 0.5, 2, 0.75)
    """

    answers: Answers
    fitted: Sequence[int] | Integers
    level: float = 0.95

    @property
    def n_rows(self) -> int:
        return self.answers.n_rows

    @cached_property
    def n_right(self) -> int:
        """The number of rows that are classified correctly."""
        return int(np.sum(self.answers.right))

    @property
    def accuracy(self) -> float:
        return accuracy(self.answers.right)

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's interval."""
        return wilson_interval(self.n_right, self.n_rows, self.level)

    @cached_property
    def by_class(self) -> tuple[ClassFigures, ...]:
        """The precision, recall, F1 and lift of each class."""
        return figures_by_class(self.answers.codes, self.answers.chosen, self.answers.classes, self.level)

    @property
    def confusion(self) -> Integers:
        """The confusion matrix, (K, K): rows are true classes, columns are predicted ones."""
        return self.answers.confusion

    @property
    def majority(self) -> int:
        """The number of the most frequent class of the fit."""
        return int(np.argmax(self.fitted))

    @property
    def null_accuracy(self) -> float:
        """The accuracy of the null model."""
        return accuracy(self.answers.codes == self.majority)

    @property
    def n_majority(self) -> int:
        """The number of rows that the null model classifies correctly."""
        return int(np.sum(self.answers.codes == self.majority))

    @property
    def gain(self) -> Interval:
        """The interval of the difference of both accuracies, from pairs of answers for the same row."""
        right, guess = self.answers.right, self.answers.codes == self.majority
        return paired_difference(int(np.sum(right & ~guess)), int(np.sum(~right & guess)), self.n_rows, self.level)

    @cached_property
    def log_loss(self) -> float | None:
        """In nats; None if the model has no probabilities."""
        log_P = self.answers.log_P
        return None if log_P is None else log_loss(log_P, self.answers.codes)

    @property
    def null_log_loss(self) -> float:
        """The log loss of the null model, in nats; infinite if a class of these rows has no fitted row."""
        return float(-log_frequencies(self.fitted)[self.answers.codes].mean())

    @cached_property
    def brier(self) -> float | None:
        """The Brier score; None if the model has no probabilities."""
        log_P = self.answers.log_P
        return None if log_P is None else brier_score(np.exp(log_P), self.answers.codes)

    @cached_property
    def rankings(self) -> list[Ranking]:
        """The ROC curves, as ``ranking.rankings`` describes them."""
        return rankings(self.answers)

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve; for more than two classes the mean over one class versus the rest.

        None if the rows are all of one class.
        """
        return float(np.mean([curve.auc for curve in self.rankings])) if self.rankings else None

    @property
    def auc_interval(self) -> Interval | None:
        """DeLong's interval, for two classes."""
        return self.rankings[0].auc_interval(self.level) if self.answers.n_classes == 2 and self.rankings else None
