r"""Cross-validation: K fits, each on all folds but one, measured on that fold.

    mean ± s/√K,    where s is the standard deviation of the K figures

The fits share rows, so this standard error tends to be too small. No unbiased estimator exists (Bengio and Grandvalet,
No unbiased estimator of the variance of K-fold cross-validation, JMLR 5, 2004).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.errors import ParameterError
from separatrix.base.watching import part
from separatrix.cli import terminal
from separatrix.cli.measures import Measures
from separatrix.evaluation.folds import folds
from separatrix.table import Table


@dataclass(frozen=True)
class CrossValidation:
    """The figures of each fold. ``log_loss`` is None for a model without probabilities.

    ``unmet`` is the number of fits that did not meet their stopping rule.
    """

    accuracy: tuple[float, ...]
    log_loss: tuple[float, ...] | None
    null_accuracy: tuple[float, ...]
    unmet: int
    seed: int

    @property
    def n_folds(self) -> int:
        return len(self.accuracy)

    def as_dict(self) -> dict[str, Any]:
        """Means, standard errors, and the figures of each fold."""
        figures: dict[str, Any] = {"folds": self.n_folds, "seed": self.seed, "unmet_fits": self.unmet}
        for name, values in (("accuracy", self.accuracy), ("log_loss", self.log_loss)):
            if values is not None:
                mean, error = mean_and_error(values)
                figures |= {name: mean, f"{name}_error": error, f"{name}_by_fold": list(values)}
        return figures | {"null_accuracy": float(np.mean(self.null_accuracy))}

    @property
    def sentence(self) -> str:
        """The accuracy and the folds, in one sentence."""
        mean, error = mean_and_error(self.accuracy)
        always = f"always the majority: {terminal.share(float(np.mean(self.null_accuracy)))}"
        drawn = f"{self.n_folds} folds (stratified by class, seed {self.seed})"
        return f"accuracy {mean:.3f} ± {error:.3f} ({always}), over {drawn}"

    def show(self) -> None:
        """Print the figures for people."""
        terminal.line("validated", self.sentence)
        if self.log_loss is not None:
            mean, error = mean_and_error(self.log_loss)
            terminal.line("", f"log loss {mean:.4f} ± {error:.4f} nats per row; ± is the standard error")
        if self.unmet:
            terminal.line("", f"{self.unmet} of the {self.n_folds} fits did not meet their stopping rule")


def mean_and_error(values: tuple[float, ...]) -> tuple[float, float]:
    """The mean and its standard error.

    >>> [round(value, 12) for value in mean_and_error((0.8, 0.9, 1.0))]
    [0.9, 0.057735026919]
    """
    if not np.all(np.isfinite(values)):
        return float(np.mean(values)), float("nan")
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def cross_validate(
    made: Callable[[], Any],
    coded: Callable[[AnyArray], Table],
    codes: Integers,
    classes: Any,
    n_folds: int,
    seed: int,
) -> CrossValidation:
    """Fit a new model of ``made`` for each fold, on all other folds.

    ``coded`` returns the whole table with the encoding learned from a mask of training rows.
    """
    counts = np.bincount(codes)
    if counts.min() < 2:
        came = f"class {classes.tolist()[int(np.argmin(counts))]!r} has only one row"
        raise ParameterError("--cv", came, "leave that class out, or leave --cv out")
    if n_folds > len(codes):
        raise ParameterError("--cv", f"got {n_folds} for {len(codes)} rows", "give fewer folds than rows")
    fold = folds(codes, n_folds, seed)
    accuracy, null, losses, unmet = list[float](), list[float](), list[float | None](), 0
    for k in range(n_folds):
        test = fold == k
        with part("fold", k + 1, n_folds), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Failed fits are counted below.
            X = coded(~test).X
            model = made().fit(X[~test], classes[codes[~test]])
        unmet += not model.certificate_.met
        fitted = np.bincount(codes[~test], minlength=len(classes))
        measures = Measures(model, X[test], classes[codes[test]], fitted.tolist())
        accuracy.append(measures.accuracy)
        null.append(measures.null_accuracy)
        losses.append(measures.log_loss)
    known = tuple(loss for loss in losses if loss is not None)
    return CrossValidation(tuple(accuracy), known if len(known) == n_folds else None, tuple(null), unmet, seed)
