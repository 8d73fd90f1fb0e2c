r"""The figures of each classifier in a comparison, and the choice of one of them.

    mean ± s/√K,    s the standard deviation of the figures of K folds

All classifiers have the same folds, so differences are taken fold by fold. The choice is by the rule of one standard
error (Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984): of all classifiers that are not
clearly worse than the best, one with probabilities, the most certificates met and the fewest parameters. The fits share
rows, so the standard error is too small; no unbiased estimate of it exists (Bengio and Grandvalet, No unbiased
estimator of the variance of K-fold cross-validation, JMLR 5, 2004).

With few folds, s may be tiny or zero by chance: two folds with the same figure have s = 0. So one classifier is clearly
better than another only if two conditions hold.

    folds   the difference is more than one standard error over the folds
    rows    a paired comparison of all held-out rows tells the two apart. For accuracy, that is the exact sign test of
            the rows that only one of them classifies correctly, at the level of one standard error, P ≤ 0.317. For log
            loss, the mean difference is more than its standard error over the rows.

A lead of one or two rows is thus never clear, and a lead of three rows is only if the other classifier leads in none.
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


@dataclass(frozen=True)
class Comparison:
    """The result of ``compare``.

    Parameters
    ----------
    standings : tuple of Standing
        All classifiers and the baseline, the best first; those that could not be fitted are last.
    baseline : Standing
        The null model, which always predicts the most frequent class.
    by : {"accuracy", "log_loss"}
        The criterion of the order and the choice.
    n_folds : int
        The number of folds.
    seed : int
        The seed of the folds.

    Examples
    --------
    >>> from separatrix import compare
    >>> found = compare([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1], cv=2, only=["logistic", "lda"])
    >>> [standing.name for standing in found.standings], found.chosen.name
    (['logistic', 'lda', 'majority'], 'logistic')
    """

    standings: tuple[Standing, ...]
    baseline: Standing
    by: str
    n_folds: int
    seed: int

    def __getitem__(self, name: str) -> Standing:
        return next(standing for standing in self.standings if standing.name == name)

    @cached_property
    def best(self) -> Standing | None:
        """The best classifier with linear boundaries; None if none could be fitted."""
        return max(self._eligible, key=self._value, default=None)

    @cached_property
    def chosen(self) -> Standing | None:
        """The choice by the rule of one standard error; None if no linear classifier could be fitted.

        The candidates are the linear classifiers that are within one standard error of the best, and those that a
        paired test of the held-out rows does not tell from the best: for accuracy an exact sign test with P ≤ 0.317,
        for log loss a mean difference of more than its standard error over rows. So a standard error that is zero by
        chance decides nothing. Of the candidates, it takes one with probabilities before one without, then the one
        with the most certificates met, then the fewest parameters, then the best figure.
        """
        best = self.best
        if best is None:
            return None
        near = [one for one in self._eligible if self._within_error(best, one) or not best.distinct_from(one, self.by)]
        return min(near, key=lambda one: (one.log_loss is None, -one.n_met, one.n_parameters, -self._value(one)))

    def _within_error(self, best: Standing, one: Standing) -> bool:
        """Whether the figure is within one standard error, over the folds, of the best one."""
        top = self._figure(best)
        return self._value(one) >= top.mean - (top.error if np.isfinite(top.error) else 0.0)

    def _clearly_better(self, one: Standing, other: Standing, by: str) -> bool:
        """Whether ``one`` is ahead by more than one standard error over the folds, and distinct by its rows."""
        own, base = one.figure(by), other.figure(by)
        if own is None or base is None:
            return False
        gain = own.less(base)
        return gain.mean > gain.error and one.distinct_from(other, by)

    @property
    def _eligible(self) -> list[Standing]:
        """The linear classifiers that have the criterion."""
        return [one for one in self.standings if one.linear and one is not self.baseline and one.figure(self.by)]

    def _figure(self, standing: Standing) -> Figure:
        figure = standing.figure(self.by)
        assert figure is not None
        return figure

    def _value(self, standing: Standing) -> float:
        return self._figure(standing).mean

    @property
    def why(self) -> str:
        """The reasons for the choice, in sentences."""
        if self.best is None or self.chosen is None:
            return "No classifier could be fitted."
        parts = [self._reason(self.best, self.chosen), *self._gained(self.chosen), *self._curved_ahead(self.best)]
        return "; ".join(parts) + "."

    def _reason(self, best: Standing, chosen: Standing) -> str:
        """Why this classifier and not another linear one."""
        what, sign = self.by.replace("_", " "), 1 if self.by == "accuracy" else -1
        value = f"{sign * self._value(chosen):.4f}"
        if chosen is best:
            return f"{chosen.name} has the best {what} of the linear ones, {value}"
        gap = self._figure(best).less(self._figure(chosen))
        paired = f"fold by fold {gap.mean:.4f} ± {gap.error:.4f} better" if gap.mean else "no better"
        other = f"{best.name} ({sign * self._value(best):.4f}; {paired})"
        if self._within_error(best, chosen):
            near = f"{chosen.name} ({what} {value}) is within one standard error of the best, {other}"
        else:
            near = f"{chosen.name} ({what} {value}): a paired test of the rows does not tell it from the best, {other}"
        return f"{near}, and {self._preferred_for(best, chosen)}"

    def _curved_ahead(self, best: Standing) -> list[str]:
        """The classifiers with curved boundaries that are clearly better."""
        parts = []
        for standing in self.standings:
            if not standing.linear and self._clearly_better(standing, best, self.by):
                ahead = self._figure(standing).less(self._figure(best))
                parts.append(f"{standing.name}, whose boundaries are curved, is {ahead} better still")
        return parts

    def _gained(self, chosen: Standing) -> list[str]:
        """The difference of accuracy to the baseline; if it may be chance, also that of log loss."""
        gain = self._gain(chosen, "accuracy")
        assert gain is not None
        gained = f"it gains {gain} of accuracy over always guessing the majority"
        if self._clearly_better(chosen, self.baseline, "accuracy"):
            return [gained]
        if not gain.mean < -gain.error:
            return [f"{gained}, which may be chance", self._gained_log_loss()]
        lost = f"it loses {-gain.mean:.4f} ± {gain.error:.4f} of accuracy to always guessing the majority"
        any_better = any(self._clearly_better(one, self.baseline, "accuracy") for one in self.standings)
        return [lost if any_better else f"{lost}, and no other does better than that", self._gained_log_loss()]

    def _gained_log_loss(self) -> str:
        """The classifier whose log loss is furthest below the baseline's, if it is clearly better."""
        clearly = [one for one in self.standings if self._clearly_better(one, self.baseline, "log_loss")]
        gains = {one.name: self._gain(one, "log_loss") for one in clearly}
        better = {name: gain for name, gain in gains.items() if gain is not None}
        if not better:
            return "these columns may not tell the classes apart linearly"
        name = max(better, key=lambda name: better[name].mean)
        return f"by log loss {name} does better than class frequencies alone, by {better[name]} nats per row"

    def _gain(self, standing: Standing, by: str) -> Figure | None:
        """The difference to the baseline, fold by fold; None if one of the two has no such figure."""
        own, base = standing.figure(by), self.baseline.figure(by)
        return None if own is None or base is None else own.less(base)

    def _preferred_for(self, best: Standing, chosen: Standing) -> str:
        """Why a classifier that is not clearly worse than the best is preferred to it."""
        if best.log_loss is None and chosen.log_loss is not None:
            return f"gives probabilities, which {best.name} does not"
        if chosen.n_met > best.n_met:
            return f"is certified in {chosen.n_met} of {self.n_folds} fits ({best.name} in {best.n_met})"
        return f"is simpler: {chosen.n_parameters} parameters ({best.name} {best.n_parameters})"

    def plain(self) -> dict[str, Any]:
        """All figures, in the types of JSON."""
        chosen = None if self.chosen is None else self.chosen.name
        best = None if self.best is None else self.best.name
        head = {
            "folds": self.n_folds,
            "seed": self.seed,
            "by": self.by,
            "best": best,
            "chosen": chosen,
            "why": self.why,
        }
        return {**head, "classifiers": [standing.plain() for standing in self.standings]}

    def __str__(self) -> str:
        lines = [
            f"{one.name:<28}{one.accuracy}" if one.fitted else f"{one.name:<28}{one.reason}" for one in self.standings
        ]
        return "\n".join([*lines, self.why])
