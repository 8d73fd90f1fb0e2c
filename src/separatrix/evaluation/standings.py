r"""The figures of every classifier side by side, and which of them to take.

    mean ± s/√K over the K folds, the same folds for all, so that differences can be taken fold by fold

The choice is by the rule of one standard error (Breiman, Friedman, Olshen and Stone, Classification and Regression
Trees, 1984): of all that come within one standard error of the best, the most certain and the simplest. The folds'
fits share rows, so a standard error is too small rather than too large (Bengio and Grandvalet, JMLR 5, 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.cached import cached_property
from separatrix.evaluation.calibration import reliability_of
from separatrix.evaluation.measures import accuracy, log_loss
from separatrix.evaluation.trials import Trial

CRITERIA = ("accuracy", "log_loss")
BASELINE = "majority"


@dataclass(frozen=True)
class Figure:
    """A mean over folds, its standard error, and the folds' own values."""

    mean: float
    error: float
    by_fold: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        """From the folds' values.

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
    """One classifier's figures. ``reason``: why it has none."""

    name: str
    trials: tuple[Trial, ...]
    codes: tuple[Integers, ...]  # of the rows held out, fold by fold
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
        """Mean −ln P(true class) in nats; None without probabilities."""
        if any(trial.log_P is None for trial in self.trials):
            return None
        pairs = zip(self.trials, self.codes, strict=True)
        return Figure.of([log_loss(_known(trial), codes) for trial, codes in pairs])

    @cached_property
    def calibration_error(self) -> float | None:
        """Σ (count/n) |observed − predicted| over ten bins of the held-out rows' probabilities."""
        if self.log_loss is None:
            return None
        log_P = np.vstack([_known(trial) for trial in self.trials])
        return reliability_of(np.exp(log_P), log_P, np.concatenate(self.codes), self.classes).expected_error

    @property
    def seconds(self) -> float:
        """Processor time of a fit, the mean over folds."""
        return float(np.mean([trial.seconds for trial in self.trials]))

    @property
    def n_met(self) -> int:
        """Fits whose certificate is met."""
        return sum(trial.met for trial in self.trials)

    @property
    def n_parameters(self) -> int:
        return max(trial.n_parameters for trial in self.trials)

    @property
    def status(self) -> str:
        """Of the first fit that did not end as asked, or of the first."""
        return next((trial.status for trial in self.trials if not trial.met), self.trials[0].status)

    def figure(self, by: str) -> Figure | None:
        """The criterion, larger for better."""
        if not self.fitted:
            return None
        found = self.accuracy if by == "accuracy" else self.log_loss
        return found if found is None or by == "accuracy" else Figure.of([-value for value in found.by_fold])

    def plain(self) -> dict[str, Any]:
        """In JSON's own types."""
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
    """All standings, best first, then those that could not be fitted; ``baseline``: always the most frequent class.

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
        """The best of those with linear boundaries; None where none could be fitted."""
        known = [one for one in self.standings if one.linear and one is not self.baseline and one.figure(self.by)]
        return max(known, key=self._value, default=None)

    @cached_property
    def chosen(self) -> Standing | None:
        """By the rule of one standard error: most certificates met, fewest parameters, probabilities, then the best."""
        if self.best is None:
            return None
        top = self._figure(self.best)
        least = top.mean - (top.error if np.isfinite(top.error) else 0.0)
        known = [one for one in self.standings if one.linear and one is not self.baseline and one.figure(self.by)]
        near = [one for one in known if self._value(one) >= least]
        return min(near, key=lambda one: (-one.n_met, one.n_parameters, one.log_loss is None, -self._value(one)))

    def _figure(self, standing: Standing) -> Figure:
        found = standing.figure(self.by)
        assert found is not None
        return found

    def _value(self, standing: Standing) -> float:
        return self._figure(standing).mean

    @property
    def why(self) -> str:
        """Why the chosen one, in sentences."""
        best, chosen = self.best, self.chosen
        if best is None or chosen is None:
            return "No classifier could be fitted."
        what = self.by.replace("_", " ")
        sign = 1 if self.by == "accuracy" else -1
        shown = f"{what} {sign * self._value(chosen):.4f}"
        if chosen is best:
            parts = [f"{chosen.name} has the best {what} of the linear ones, {shown.removeprefix(what + ' ')}"]
        else:
            gap = self._figure(best).less(self._figure(chosen))
            paired = f"fold by fold {gap.mean:.4f} ± {gap.error:.4f} better" if gap.mean else "no better"
            other = f"{best.name} ({sign * self._value(best):.4f}; {paired})"
            near = f"{chosen.name} ({shown}) is within one standard error of the best, {other}"
            parts = [f"{near}, and is {self._simpler()}"]
        parts += self._gained(chosen)
        curved = [one for one in self.standings if not one.linear and one.figure(self.by)]
        for one in curved:
            ahead = self._figure(one).less(self._figure(best))
            if ahead.mean > ahead.error:
                parts.append(
                    f"{one.name}, whose boundaries are curved, is {ahead.mean:.4f} ± {ahead.error:.4f} better still"
                )
        return "; ".join(parts) + "."

    def _gained(self, chosen: Standing) -> list[str]:
        """Beside always guessing the majority: what is gained, what may be chance, what is lost."""
        gain = self._gain(chosen, "accuracy")
        assert gain is not None
        if gain.mean > gain.error:
            return [f"it gains {gain} of accuracy over always guessing the majority"]
        if gain.mean < -gain.error:
            lost = f"it loses {-gain.mean:.4f} ± {gain.error:.4f} of accuracy to always guessing the majority"
            others = [self._gain(one, "accuracy") for one in self.standings if one is not self.baseline]
            any_better = any(other is not None and other.mean > other.error for other in others)
            parts = [lost if any_better else f"{lost}, and no other does better than that"]
        else:
            parts = [f"it gains {gain} of accuracy over always guessing the majority, which may be chance"]
        known = {one.name: found for one in self.standings if (found := self._gain(one, "log_loss")) is not None}
        better = {name: found for name, found in known.items() if name != BASELINE and found.mean > found.error}
        if better:
            name = max(better, key=lambda name: better[name].mean)
            return [
                *parts,
                f"by log loss {name} does better than class frequencies alone, by {better[name]} nats a row",
            ]
        return [*parts, "these columns may not tell the classes apart linearly"]

    def _gain(self, standing: Standing, by: str) -> Figure | None:
        """Over the baseline, fold by fold; None where one of the two has no such figure."""
        own, base = standing.figure(by), self.baseline.figure(by)
        return None if own is None or base is None else own.less(base)

    def _simpler(self) -> str:
        best, chosen = self.best, self.chosen
        assert best is not None
        assert chosen is not None
        if chosen.n_met > best.n_met:
            return f"certified in {chosen.n_met} of {self.n_folds} fits ({best.name} in {best.n_met})"
        if chosen.n_parameters < best.n_parameters:
            return f"simpler: {chosen.n_parameters} parameters ({best.name} {best.n_parameters})"
        return "as simple, and has probabilities"

    def plain(self) -> dict[str, Any]:
        """In JSON's own types."""
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
