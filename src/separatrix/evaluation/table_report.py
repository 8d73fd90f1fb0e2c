"""The report of ``evaluate`` on a table outside memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.evaluation.by_class import ClassFigures
from separatrix.evaluation.calibration import Reliability
from separatrix.evaluation.measures import in_bits
from separatrix.evaluation.mistake_costs import CostFigures
from separatrix.evaluation.proportions import Interval, wilson_interval
from separatrix.evaluation.score_bins import BinnedRanking


@dataclass(frozen=True)
class TableReport:
    """The result of ``evaluate`` for a table outside memory.

    Parameters
    ----------
    classes : (K,) array
        The labels of the model.
    counts : (K + 1, K) array of int
        Counts of rows: entry (j, k) has the true class j and the predicted class k. The last row counts the rows whose
        label the model does not know; they are mistakes.
    log_loss : float or None
        The mean log loss in nats; None without probabilities.
    brier : float or None
        The Brier score; None without probabilities.
    reliability : Reliability or None
        Predicted probabilities compared with observed frequencies, in ten bins; None without probabilities.
    rankings : tuple of BinnedRanking
        The ROC curve of the second of two classes, or of each of several classes against the rest.
    cost : CostFigures or None
        The cost of the mistakes; None unless costs are given. ``best_threshold`` is the best of the edges of bins.
    """

    classes: AnyArray
    counts: Integers
    log_loss: float | None
    brier: float | None
    reliability: Reliability | None
    rankings: tuple[BinnedRanking, ...]
    cost: CostFigures | None = None

    @property
    def confusion(self) -> Integers:
        """The confusion matrix, (K, K), without rows of an unknown label."""
        return self.counts[:-1]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    @property
    def n_mistakes(self) -> int:
        """The number of misclassified rows."""
        return self.n_rows - int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        return 1.0 - self.n_mistakes / self.n_rows

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's interval at the level 0.95."""
        return wilson_interval(self.n_rows - self.n_mistakes, self.n_rows)

    @property
    def log_loss_bits(self) -> float | None:
        """The log loss in bits."""
        return None if self.log_loss is None else in_bits(self.log_loss)

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve, or its mean over several classes; pairs of rows in the same bin count half.

        None if the rows are all of one class.
        """
        return float(np.mean([one.ranking.auc for one in self.rankings])) if self.rankings else None

    @property
    def auc_bounds(self) -> Interval | None:
        """An interval that contains the exact area, whatever the order of the rows in the same bin."""
        if not self.rankings:
            return None
        ends = np.array([one.auc_bounds for one in self.rankings])
        return Interval(float(ends[:, 0].mean()), float(ends[:, 1].mean()))

    @property
    def by_class(self) -> tuple[ClassFigures, ...]:
        """The precision, recall, F1 and lift of each class of the model."""
        rows, predicted, right = self.confusion.sum(axis=1), self.counts.sum(axis=0), np.diag(self.confusion)
        return tuple(
            ClassFigures(label, int(rows[k]), int(predicted[k]), int(right[k]), self.n_rows)
            for k, label in enumerate(self.classes.tolist())
        )

    def __str__(self) -> str:
        loss = "" if self.log_loss is None else f", log loss {self.log_loss:.4g} nats"
        cost = "" if self.cost is None else f"; {self.cost}"
        return f"accuracy {self.accuracy:.4g}, {self.n_mistakes} of {self.n_rows} rows wrong{loss}{self._area()}{cost}"

    def _area(self) -> str:
        bounds = self.auc_bounds
        if bounds is None:
            return ""
        if bounds.low == bounds.high:
            return f", AUC {self.auc:.4g}"
        return f", AUC between {bounds.low:.6g} and {bounds.high:.6g} (scores in bins)"
