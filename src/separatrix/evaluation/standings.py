r"""The figures of each classifier in a comparison.

    mean ± s/√K,    s the standard deviation of the figures of K folds

All classifiers have the same folds, so differences are taken fold by fold. The fits share rows, so the standard error
is too small; no unbiased estimate of it exists (Bengio and Grandvalet, No unbiased estimator of the variance of K-fold
cross-validation, JMLR 5, 2004). With few folds, s may be tiny or zero by chance: two folds with the same figure have
s = 0. So ``distinct_from`` also compares two classifiers by all held-out rows, in pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.cached import cached_property
from separatrix.evaluation.calibration import reliability_of
from separatrix.evaluation.measures import accuracy, log_loss, true_class_log_probability
from separatrix.evaluation.proportions import sign_test
from separatrix.evaluation.trials import Trial

# The figures by which classifiers may be ordered and chosen.
CRITERIA = ("accuracy", "log_loss")
# The name of the null model, which always predicts the most frequent class.
BASELINE = "majority"
# The probability that a normal variable is more than one standard error from its mean, 2 (1 − Φ(1)).
P_OF_ONE_STANDARD_ERROR = math.erfc(math.sqrt(0.5))


@dataclass(frozen=True)
class Figure:
    """A mean over folds, its standard error, and the value of each fold."""

    mean: float
    error: float
    by_fold: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        """From the values of the folds. The standard error is NaN for one fold or values that are not finite.

        >>> Figure.of([0.5, 1.0]).mean, Figure.of([0.5, 1.0]).error
        (0.75, 0.25)
        """
        finite = bool(np.all(np.isfinite(values)))
        error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if finite and len(values) > 1 else float("nan")
        return cls(float(np.mean(values)), error, tuple(float(value) for value in values))

    def less(self, other: Figure) -> Figure:
        """The difference, fold by fold."""
        return Figure.of([a - b for a, b in zip(self.by_fold, other.by_fold, strict=True)])

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.error:.4f}"


@dataclass(frozen=True)
class Standing:
    """The figures of one classifier.

    Parameters
    ----------
    name : str
        The name of the classifier.
    trials : tuple of Trial
        The result of each fold.
    codes : tuple of arrays of int
        The classes of the held-out rows of each fold, as numbers into ``classes``.
    classes : (K,) array
        The labels.
    linear : bool
        Whether the boundaries between classes are linear.
    standardised : bool
        Whether the columns were standardised before each fit.
    reason : str or None
        Why the classifier was not fitted; None if it was.
    """

    name: str
    trials: tuple[Trial, ...]
    codes: tuple[Integers, ...]
    classes: AnyArray
    linear: bool = True
    standardised: bool = False
    reason: str | None = None

    @property
    def fitted(self) -> bool:
        return self.reason is None

    @cached_property
    def accuracy(self) -> Figure:
        return Figure.of([accuracy(trial.right) for trial in self.trials])

    @cached_property
    def log_loss(self) -> Figure | None:
        """In nats; None without probabilities."""
        if any(trial.log_P is None for trial in self.trials):
            return None
        pairs = zip(self.trials, self.codes, strict=True)
        return Figure.of([log_loss(_known(trial), codes) for trial, codes in pairs])

    @cached_property
    def calibration_error(self) -> float | None:
        """The expected calibration error of all held-out rows, over ten bins; None without probabilities."""
        if self.log_loss is None:
            return None
        log_P = np.vstack([_known(trial) for trial in self.trials])
        return reliability_of(np.exp(log_P), log_P, np.concatenate(self.codes), self.classes).expected_error

    @property
    def seconds(self) -> float:
        """The processor time of a fit in seconds, the mean over folds."""
        return float(np.mean([trial.seconds for trial in self.trials]))

    @property
    def n_met(self) -> int:
        """The number of fits whose certificate is met."""
        return sum(trial.met for trial in self.trials)

    @property
    def n_parameters(self) -> int:
        return max(trial.n_parameters for trial in self.trials)

    @property
    def status(self) -> str:
        """The status of the first fit whose certificate is not met, or else of the first fit."""
        return next((trial.status for trial in self.trials if not trial.met), self.trials[0].status)

    def figure(self, by: str) -> Figure | None:
        """The criterion ``by``, with a sign such that larger is better; None if there is none."""
        if not self.fitted:
            return None
        if by == "accuracy":
            return self.accuracy
        return None if self.log_loss is None else Figure.of([-value for value in self.log_loss.by_fold])

    @cached_property
    def _right(self) -> AnyArray:
        """Which held-out rows are classified correctly, of all folds, (n,)."""
        return np.concatenate([trial.right for trial in self.trials])

    @cached_property
    def _losses(self) -> Array:
        """The log loss of each held-out row, of all folds, (n,)."""
        pairs = zip(self.trials, self.codes, strict=True)
        return -np.concatenate([true_class_log_probability(_known(trial), codes) for trial, codes in pairs])

    def distinct_from(self, other: Standing, by: str) -> bool:
        """Whether the held-out rows, in pairs, tell the two classifiers apart by the criterion ``by``."""
        if by == "accuracy":
            gained, lost = int(np.sum(self._right & ~other._right)), int(np.sum(~self._right & other._right))
            return sign_test(gained, lost) <= P_OF_ONE_STANDARD_ERROR
        with np.errstate(invalid="ignore"):  # both losses of a row may be infinite
            gap = self._losses - other._losses
        return not np.all(np.isfinite(gap)) or abs(gap.mean()) > gap.std(ddof=1) / math.sqrt(len(gap))

    def plain(self) -> dict[str, Any]:
        """All figures, in the types of JSON."""
        head: dict[str, Any] = {"name": self.name, "linear": self.linear, "standardised": self.standardised}
        if not self.fitted:
            return {**head, "reason": self.reason}
        figures = {"accuracy": self.accuracy, "log_loss": self.log_loss}
        for name, figure in figures.items():
            parts = None if figure is None else (figure.mean, figure.error, list(figure.by_fold))
            keys = (name, f"{name}_error", f"{name}_by_fold")
            head |= dict(zip(keys, parts or (None,) * 3, strict=True))
        head |= {"calibration_error": self.calibration_error, "fit_seconds": self.seconds, "fits": len(self.trials)}
        return {**head, "certificates_met": self.n_met, "status": self.status, "parameters": self.n_parameters}


def _known(trial: Trial) -> Array:
    assert trial.log_P is not None
    return trial.log_P
