"""``evaluate``: the accuracy, the mistakes and the log loss of a fitted model. TEXTBOOK E1, E2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.errors import LabelError
from separatrix.base.labels import as_label_array
from separatrix.evaluation.measures import in_bits, log_loss
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
    """

    n_rows: int
    mistakes: Integers
    log_loss: float | None

    def __str__(self) -> str:
        loss = "" if self.log_loss is None else f", log loss {self.log_loss:.4g} nats"
        return f"accuracy {self.accuracy:.4g}, {len(self.mistakes)} of {self.n_rows} rows wrong{loss}"

    @property
    def accuracy(self) -> float:
        return 1.0 - len(self.mistakes) / self.n_rows

    @property
    def log_loss_bits(self) -> float | None:
        """The log loss in bits."""
        return None if self.log_loss is None else in_bits(self.log_loss)


def evaluate(model: Any, X: Any, y: Any) -> Report:
    """Compare the predictions of a fitted model with labels.

    Parameters
    ----------
    model : classifier, pipeline or Scorer
        A fitted classifier of this package, a pipeline that ends in one, or a scorer.
    X : (n, d) array, sparse matrix or data frame
        The rows.
    y : (n,) sequence
        The labels. A label that the model does not know counts as a mistake and makes the log loss infinite.

    Returns
    -------
    Report
        The accuracy, the misclassified rows and the log loss.

    Raises
    ------
    LabelError
        There are no labels.

    Examples
    --------
    >>> from separatrix.scorers.scorer import Scorer
    >>> scorer = Scorer(np.array([[0.0, 1.0]]), np.array([0, 1]), "logit")
    >>> found = evaluate(scorer, np.array([[-1.0], [2.0], [3.0]]), [0, 1, 0])
    >>> found.mistakes.tolist(), round(found.accuracy, 3), round(found.log_loss, 3)
    ([2], 0.667, 1.163)
    """
    labels: AnyArray = as_label_array(y)
    if len(labels) == 0:
        raise LabelError("y", "it holds no labels", "give rows to evaluate on")
    model, X, _ = taken_apart(model, X)
    scorer = scores_of(model)
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    elif not hasattr(X, "shape"):
        X = np.asarray(X, dtype=np.float64)
    predicted = scorer.predict(X)
    wrong = np.array([a != b for a, b in zip(predicted.tolist(), labels.tolist(), strict=True)])
    loss = None
    link = getattr(scorer, "link", None)
    if link is not None and link.probabilistic and getattr(model, "has_probabilities", True):
        position = {label: k for k, label in enumerate(scorer.classes.tolist())}
        codes = np.array([position.get(label, -1) for label in labels.tolist()])
        loss = log_loss(scorer.log_probabilities(X), codes)
    return Report(len(labels), np.flatnonzero(wrong), loss)
