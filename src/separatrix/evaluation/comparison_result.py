"""The result of a comparison: the order of the classifiers, the choice of one of them, and the reasons in words.

The choice is by the rule of one standard error (Breiman, Friedman, Olshen and Stone, Classification and Regression
Trees, 1984): of all classifiers that are not clearly worse than the best, one with probabilities, the most certificates
met and the fewest parameters. One classifier is clearly better than another only if two conditions hold.

    folds   the difference is more than one standard error over the folds
    rows    a paired comparison of all held-out rows tells the two apart. For accuracy, that is the exact sign test of
            the rows that only one of them classifies correctly, at the level of one standard error, P ≤ 0.317. For log
            loss, the mean difference is more than its standard error over the rows.

A lead of one or two rows is thus never clear. A lead of three rows is clear only if the other classifier leads in none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.cached import cached_property
from separatrix.checks import Finding
from separatrix.evaluation.standings import Figure, Standing


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
    warnings : tuple of Finding
        Columns and categories that alone tell the class, exactly or nearly, and may not be known before the outcome.

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
    warnings: tuple[Finding, ...] = ()

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
        paired test of the held-out rows does not distinguish from the best: for accuracy an exact sign test with P ≤
        0.317, for log loss a mean difference of more than its standard error over rows. So a standard error that is
        zero by chance does not decide. Candidates with probabilities are preferred to those without, then those with
        the most certificates met, then with the fewest parameters, then with the best figure.
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
        """Whether ``one`` is better by more than one standard error over the folds, and by the test of the rows."""
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
            return f"{chosen.name} has the best {what} of the linear classifiers, {value}"
        gap = self._figure(best).less(self._figure(chosen))
        paired = f"better by {gap.mean:.4f} ± {gap.error:.4f} on the same folds" if gap.mean else "no better"
        other = f"{best.name} ({sign * self._value(best):.4f}; {paired})"
        if self._within_error(best, chosen):
            near = f"{chosen.name} ({what} {value}) is within one standard error of the best linear classifier, {other}"
        else:
            untold = "a paired test of the rows does not distinguish it from the best linear classifier"
            near = f"{chosen.name} ({what} {value}): {untold}, {other}"
        return f"{near}, and {self._preferred_for(best, chosen)}"

    def _curved_ahead(self, best: Standing) -> list[str]:
        """The classifiers with curved boundaries that are clearly better."""
        parts = []
        for standing in self.standings:
            if not standing.linear and self._clearly_better(standing, best, self.by):
                ahead = self._figure(standing).less(self._figure(best))
                parts.append(f"{standing.name}, whose boundaries are curved, is {ahead} better than {best.name}")
        return parts

    def _gained(self, chosen: Standing) -> list[str]:
        """The difference in accuracy from the baseline; if it may be chance, also the difference in log loss."""
        gain = self._gain(chosen, "accuracy")
        assert gain is not None
        gained = f"its accuracy exceeds that of always guessing the majority by {gain}"
        if self._clearly_better(chosen, self.baseline, "accuracy"):
            return [gained]
        if not gain.mean < -gain.error:
            return [f"{gained}, which may be chance", self._gained_log_loss()]
        lost = f"its accuracy is {-gain.mean:.4f} ± {gain.error:.4f} below that of always guessing the majority"
        any_better = any(self._clearly_better(one, self.baseline, "accuracy") for one in self.standings)
        return [lost if any_better else f"{lost}, and no other classifier exceeds that", self._gained_log_loss()]

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
        """The difference from the baseline, fold by fold; None if one of the two lacks this figure."""
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
        """All figures, as values that JSON can hold."""
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
        warnings = [finding.plain() for finding in self.warnings]
        return {**head, "warnings": warnings, "classifiers": [standing.plain() for standing in self.standings]}

    def __str__(self) -> str:
        lines = [
            f"{one.name:<28}{one.accuracy}" if one.fitted else f"{one.name:<28}{one.reason}" for one in self.standings
        ]
        return "\n".join([*lines, self.why, *map(str, self.warnings)])
