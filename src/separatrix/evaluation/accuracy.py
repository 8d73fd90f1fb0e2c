"""``evaluate``: the accuracy, the mistakes, the log loss and the costs of a fitted model (docs/tour.md, E1, E2, D4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.dask_types import is_dask_table
from separatrix.base.errors import LabelError
from separatrix.base.labels import as_label_array
from separatrix.cluster.in_place import read_in_place
from separatrix.evaluation.by_class import ClassFigures, figures_by_class
from separatrix.evaluation.measures import in_bits, log_loss
from separatrix.evaluation.mistake_costs import CostFigures, Costs, cost_figures
from separatrix.evaluation.model_rule import deciding_model, rule_for
from separatrix.evaluation.table_report import TableReport
from separatrix.evaluation.table_sums import evaluate_table, labels_unknown
from separatrix.rows.labelled import OutsideMemory
from separatrix.scorers.scorer import scores_of, taken_apart


@dataclass(frozen=True)
class Report:
    """The result of ``evaluate``.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    mistakes : array of int
        The numbers of the misclassified rows.
    log_loss : float or None
        The mean log loss in nats; None without probabilities.
    by_class : tuple of ClassFigures
        The precision, recall, F1 and lift of each class of the model.
    cost : CostFigures or None
        What the mistakes cost, and the threshold with the lowest cost; None unless costs are given.
    """

    n_rows: int
    mistakes: Integers
    log_loss: float | None
    by_class: tuple[ClassFigures, ...] = ()
    cost: CostFigures | None = None

    def __str__(self) -> str:
        loss = "" if self.log_loss is None else f", log loss {self.log_loss:.4g} nats"
        cost = "" if self.cost is None else f"; {self.cost}"
        return f"accuracy {self.accuracy:.4g}, {len(self.mistakes)} of {self.n_rows} rows wrong{loss}{cost}"

    @property
    def accuracy(self) -> float:
        return 1.0 - len(self.mistakes) / self.n_rows

    @property
    def log_loss_bits(self) -> float | None:
        """The log loss in bits."""
        return None if self.log_loss is None else in_bits(self.log_loss)


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    threshold: float | None = None,
    cost: Mapping[str, float] | None = None,
    prior: Any = None,
    fitted_prior: Any = None,
) -> Report | TableReport:
    """Compare the predictions of a fitted model with labels.

    Parameters
    ----------
    model : classifier, pipeline or Scorer
        A fitted classifier of this package, a pipeline that ends in one, or a scorer.
    X : (n, d) array, sparse matrix, data frame, or a table outside memory
        The rows. A table outside memory, such as a scan, has its labels in a column of its own; its columns are found
        by name, and its weights are not used. A model that was fitted with an offset is measured with offset zero.
    y : (n,) sequence
        The labels. A label that the model does not know counts as a mistake and makes the log loss infinite.
    threshold : float, optional
        For two classes, the lowest probability at which the second class is predicted; ½ by default.
    cost : dict, optional
        For two classes, the costs of both mistakes, as in ``{"FP": 1, "FN": 5}``; the second class is the positive one.
        Unless a threshold is given, predictions have the lowest expected cost: the threshold is FP/(FP + FN).
    prior : (K,) sequence in the order of the classes, or dict by label, optional
        The class shares for which the probabilities are corrected, if they differ from those of the fitted rows. The
        rows X themselves are not weighted.
    fitted_prior : (K,) sequence in the order of the classes, or dict by label, optional
        The class shares or counts of the fitted rows, which ``prior`` needs. Discriminant analyses know theirs.

    Returns
    -------
    Report or TableReport
        The accuracy, the misclassified rows and the log loss; precision, recall, F1 and lift by class; the cost. For a
        table outside memory, the number of misclassified rows, the confusion matrix, the Brier score, the calibration
        and bounds on the area under the ROC curve, too.

    Raises
    ------
    LabelError
        There are no labels, or none of them is a class of the model.
    ParameterError
        A threshold, a cost or a prior is given for a model without probabilities, or is not as described.

    Examples
    --------
    >>> from separatrix.scorers.scorer import Scorer
    >>> scorer = Scorer(np.array([[0.0, 1.0]]), np.array([0, 1]), "logit")
    >>> found = evaluate(scorer, np.array([[-1.0], [2.0], [3.0]]), [0, 1, 0])
    >>> found.mistakes.tolist(), round(found.accuracy, 3), round(found.log_loss, 3)
    ([2], 0.667, 1.163)
    >>> print(found.by_class[1])
    1: precision 0.5, recall 1, F1 0.6667, lift 1.5 (1 row)
    >>> costly = evaluate(scorer, np.array([[-1.0], [2.0], [3.0]]), [0, 1, 0], cost={"FP": 1, "FN": 5})
    >>> round(costly.cost.threshold, 3), round(costly.cost.mean, 3)
    (0.167, 0.667)
    """
    if is_dask_table(X):
        model, X, _ = taken_apart(model, X)
        X, y, _ = read_in_place(X, y)  # X is an array now, if a step of the pipeline has gathered the rows.
    if isinstance(X, OutsideMemory):
        return evaluate_table(model, X, y, rule_for(model, threshold, cost, prior, fitted_prior), cost)
    labels: AnyArray = as_label_array(y)
    if len(labels) == 0:
        raise LabelError("y", "it holds no labels", "give rows to evaluate on")
    model, X, _ = taken_apart(model, X)
    scorer = scores_of(model)
    X = _plain_rows(X)
    position = {label: k for k, label in enumerate(scorer.classes.tolist())}
    codes = np.array([position.get(label, -1) for label in labels.tolist()])
    if np.all(codes < 0):
        raise labels_unknown("y", labels[0], scorer.classes)
    rule = rule_for(model, threshold, cost, prior, fitted_prior)
    log_P = np.asarray(scorer.log_probabilities(X)) if deciding_model(model).has_probabilities else None
    if rule is None or log_P is None:
        predicted = [position[label] for label in scorer.predict(X).tolist()]
        return _report(codes, np.array(predicted), log_P, scorer.classes, None)
    log_P = rule.log_probabilities(log_P)
    P = np.exp(log_P)
    spent = None if cost is None else cost_figures(Costs.of(cost), P[:, 1], codes == 1, rule.threshold)
    return _report(codes, rule.chosen(P), log_P, scorer.classes, spent)


def _plain_rows(X: Any) -> Any:
    """The rows as an array or a sparse matrix."""
    if hasattr(X, "to_numpy"):
        return X.to_numpy()
    return X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)


def _report(
    codes: Integers, chosen: Integers, log_P: Array | None, classes: AnyArray, cost: CostFigures | None
) -> Report:
    loss = None if log_P is None else log_loss(log_P, codes)
    return Report(len(codes), np.flatnonzero(codes != chosen), loss, figures_by_class(codes, chosen, classes), cost)
