"""``reliability``, the reliability curve: predicted probabilities and observed frequencies in bins (docs/tour.md, E2).

Probabilities are measured here but not changed; there is no recalibration such as Platt scaling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import known_codes, quoted
from separatrix.core.rows.labelled_table import InMemory
from separatrix.statistics.measures import brier_score, in_bits, log_loss

Cut = Literal["width", "count"]


@dataclass(frozen=True)
class Reliability:
    """The result of ``reliability``: rows binned by a predicted probability. Only bins with rows are kept.

    Parameters
    ----------
    of : str
        The class whose probability is binned.
    edges : (bins, 2) array
        The lower and the upper end of each bin.
    count : (bins,) array of int
        The number of rows in each bin.
    predicted : (bins,) array
        The mean predicted probability.
    observed : (bins,) array
        The share of rows that are of the class.
    brier : float
        The Brier score.
    log_loss : float
        The log loss in nats.
    """

    of: str
    edges: Array
    count: Integers
    predicted: Array
    observed: Array
    brier: float
    log_loss: float

    @property
    def expected_error(self) -> float:
        """The expected calibration error Σ (count/n) |observed − predicted|, which depends on the bins."""
        return float(np.sum(self.count * np.abs(self.observed - self.predicted)) / self.count.sum())

    @property
    def largest_error(self) -> float:
        """max |observed − predicted| over the bins."""
        return float(np.max(np.abs(self.observed - self.predicted)))

    @property
    def log_loss_bits(self) -> float:
        """The log loss in bits."""
        return in_bits(self.log_loss)

    def __str__(self) -> str:
        lines = [f"probability of {self.of}", "     from       to     rows  predicted  observed"]
        for (low, high), n, p, f in zip(self.edges, self.count, self.predicted, self.observed, strict=True):
            lines.append(f"{low:9.3f}{high:9.3f}{n:9d}{p:11.3f}{f:10.3f}")
        lines.append(
            f"expected error {self.expected_error:.4f}, Brier {self.brier:.4f}, "
            f"log loss {self.log_loss:.4f} nats ({self.log_loss_bits:.4f} bits)"
        )
        return "\n".join(lines)


# What a table outside memory has instead is part of its evaluation.
RELIABILITY = InMemory(
    "reliability",
    "its bins may have equal numbers of rows",
    "use evaluate(model, table).reliability, in ten equal bins",
)


@RELIABILITY.refusing_tables
def reliability(model: Any, X: Any, y: Any, of: Any = None, n_bins: int = 10, cut: Cut = "width") -> Reliability:
    """Compare the predicted probabilities of a model with the observed frequencies of classes (docs/tour.md, E2).

    Parameters
    ----------
    model : classifier or Scorer
        A fitted classifier with probabilities, also of scikit-learn, or a scorer.
    X : (n, d) array or sparse matrix
        The rows.
    y : (n,) sequence
        The labels.
    of : label, optional
        The class whose probability is binned. The default is the second of two classes, and the predicted class of each
        row if there are more.
    n_bins : int, default 10
        The number of bins.
    cut : {"width", "count"}, default "width"
        Whether bins have equal widths or equal numbers of rows.

    Returns
    -------
    Reliability
        The bins, the Brier score and the log loss.

    Raises
    ------
    ParameterError
        The model has no probabilities, or another argument is not as described.

    Examples
    --------
    >>> from separatrix import Scorer
    >>> half = Scorer(np.array([[0.0, 0.0]]), np.array([0, 1]), "logit")
    >>> found = reliability(half, np.zeros((4, 1)), [0, 1, 1, 1])
    >>> found.count.tolist(), found.predicted.tolist(), found.observed.tolist(), found.expected_error
    ([4], [0.5], [0.75], 0.25)
    >>> found.brier, round(found.log_loss_bits, 3)
    (0.25, 1.0)
    """
    P, log_P, classes = _probabilities(model, X)
    codes = known_codes(y, classes)
    if len(codes) != len(P) or len(codes) == 0:
        raise ParameterError("y", f"it has {len(codes)} labels for {len(P)} rows", "give one label for each row")
    return reliability_of(P, log_P, codes, classes, of, n_bins, cut)


def reliability_of(
    P: Array, log_P: Array, codes: Integers, classes: AnyArray, of: Any = None, n_bins: int = 10, cut: Cut = "width"
) -> Reliability:
    """``reliability`` from probabilities (n, K), their logarithms, and the rows' true classes as numbers.

    >>> P = np.full((4, 2), 0.5)
    >>> reliability_of(P, np.log(P), np.array([0, 1, 1, 1]), np.array(["no", "yes"])).expected_error
    0.25
    """
    p, came_true, what = event(P, codes, classes.tolist(), of)
    if n_bins < 1:
        raise ParameterError("n_bins", f"got {n_bins}", "give at least one bin")
    if cut not in ("width", "count"):
        raise ParameterError("cut", f"got {cut!r}", "choose 'width' or 'count'")
    cuts = np.linspace(0.0, 1.0, n_bins + 1)
    if cut == "count":
        cuts = np.unique(np.quantile(p, cuts))
        cuts = cuts if len(cuts) > 1 else np.array([cuts[0], cuts[0]])
    sums = bin_sums(p, came_true, cuts)
    return reliability_of_sums(what, cuts, sums, brier_score(P, codes), log_loss(log_P, codes))


def _probabilities(model: Any, X: Any) -> tuple[Array, Array, AnyArray]:
    """P(class | x) of the rows and its logarithm, (n, K), and the classes."""
    scorer = getattr(model, "scorer_", model)
    if hasattr(scorer, "probabilities") and getattr(model, "has_probabilities", True):
        return scorer.probabilities(X), scorer.log_probabilities(X), scorer.classes
    kind = type(model).__name__
    if not hasattr(model, "predict_proba"):
        raise ParameterError("model", f"{kind} has no predict_proba", "give a fitted classifier with probabilities")
    if not hasattr(model, "classes_"):
        raise ParameterError("model", f"this {kind} is not fitted", "call fit first")
    P = np.asarray(model.predict_proba(X), dtype=np.float64)
    with np.errstate(divide="ignore"):
        return P, np.log(P), np.asarray(model.classes_)


def event(P: Array, codes: Integers, labels: list[Any], of: Any) -> tuple[Array, Any, str]:
    """The binned probability of each row, whether the row is of that class, and the name of the class."""
    if of is None and len(labels) > 2:
        top = P.argmax(axis=1)
        return P.max(axis=1), top == codes, "the predicted class"
    k = 1 if of is None else (labels.index(of) if of in labels else -1)
    if k < 0:
        raise ParameterError("of", f"got {np.asarray(of).tolist()!r}", f"name one of the classes {labels}")
    return P[:, k], codes == k, quoted(labels[k])


def bin_sums(p: Array, came_true: Any, cuts: Array) -> Array:
    """For each bin the number of rows, the sum of their probabilities, and how many are of the class, (3, bins)."""
    place, n_bins = np.clip(np.searchsorted(cuts, p, side="right") - 1, 0, len(cuts) - 2), len(cuts) - 1
    of_rows = (None, p, came_true)
    return np.array([np.bincount(place, weights, n_bins) for weights in of_rows], dtype=np.float64)


def reliability_of_sums(of: str, cuts: Array, sums: Array, brier: float, log_loss: float) -> Reliability:
    """``reliability`` from the sums of ``bin_sums`` over all rows. Bins without rows are left out."""
    count, predicted, observed = sums[:, np.flatnonzero(sums[0])]
    edges = np.column_stack([cuts[:-1], cuts[1:]])[np.flatnonzero(sums[0])]
    return Reliability(of, edges, count.astype(np.int64), predicted / count, observed / count, brier, log_loss)
