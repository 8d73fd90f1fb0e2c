"""The measures of a model on rows in files, as ``Performance`` has them for rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.evaluation.by_class import ClassFigures
from separatrix.evaluation.measures import log_frequencies
from separatrix.evaluation.proportions import Interval, paired_difference
from separatrix.evaluation.table_report import TableReport


@dataclass(frozen=True)
class TablePerformance:
    """A report on all rows; ``fitted`` (K,): the number of fitted rows of each class."""

    report: TableReport
    fitted: Sequence[int]
    level: float

    @property
    def n_rows(self) -> int:
        return self.report.n_rows

    @property
    def n_right(self) -> int:
        """The number of rows that are classified correctly."""
        return self.report.n_rows - self.report.n_mistakes

    @property
    def accuracy(self) -> float:
        return self.report.accuracy

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's interval."""
        return self.report.accuracy_interval

    @property
    def by_class(self) -> tuple[ClassFigures, ...]:
        """The precision, recall, F1 and lift of each class."""
        return self.report.by_class

    @property
    def confusion(self) -> Integers:
        """The confusion matrix, (K, K): rows are true classes, columns are predicted ones."""
        return self.report.confusion

    @property
    def majority(self) -> int:
        """The number of the most frequent class of the fit."""
        return int(np.argmax(self.fitted))

    @property
    def null_accuracy(self) -> float:
        """The accuracy of always predicting that class."""
        return float(self.confusion[self.majority].sum() / self.n_rows)

    @property
    def gain(self) -> Interval:
        """The interval of the difference of both accuracies, from pairs of answers for the same row."""
        both = int(self.confusion[self.majority, self.majority])
        only_guess = int(self.confusion[self.majority].sum()) - both
        return paired_difference(self.n_right - both, only_guess, self.n_rows, self.level)

    @property
    def log_loss(self) -> float | None:
        """In nats; None if the model has no probabilities."""
        return self.report.log_loss

    @property
    def null_log_loss(self) -> float:
        """The log loss of the class frequencies of the fit."""
        rows = self.confusion.sum(axis=1)
        return float(-(rows[rows > 0] @ log_frequencies(self.fitted)[rows > 0]) / self.n_rows)

    @property
    def brier(self) -> float | None:
        """The Brier score; None if the model has no probabilities."""
        return self.report.brier

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve, with rows of the same bin of scores tied."""
        return self.report.auc

    @property
    def auc_interval(self) -> Interval | None:
        """DeLong's interval, for two classes."""
        curves = self.report.rankings
        return curves[0].ranking.auc_interval(self.level) if len(self.fitted) == 2 and curves else None
