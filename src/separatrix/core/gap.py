"""Bounds on the distance of a fit from the optimum, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from separatrix.core.base.arrays import EPS

# The reason why there is no bound where its computation overflowed.
OUT_OF_RANGE = "a sum in the bound leaves the range of float64"


def _refuse_infinite(bound: WeightError | Bound) -> None:
    """Replace a value that is not finite by the reason why there is none."""
    if bound.value is not None and not math.isfinite(bound.value):
        object.__setattr__(bound, "value", None)
        object.__setattr__(bound, "reason", bound.reason or OUT_OF_RANGE)


@dataclass(frozen=True)
class WeightError:
    """An upper bound on the distance of each weight from the optimum: ``value`` times the ``unit``.

    ``value`` is None if no bound is known, with the ``reason``; the reason is empty if the question does not apply to
    the fit. A value that is not finite is no bound. If columns are collinear, the bound holds for the identified
    quantities: the scores and their combinations.

    >>> print(WeightError(3e-9, "standard errors of the optimum's"))
    each within 3.0e-09 standard errors of the optimum's
    """

    value: float | None = None
    unit: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        _refuse_infinite(self)

    @property
    def is_told(self) -> bool:
        """Whether there is a bound or a reason to report."""
        return self.value is not None or bool(self.reason)

    def __str__(self) -> str:
        return f"unknown ({self.reason})" if self.value is None else f"each within {self.value:.1e} {self.unit}"


NO_WEIGHT_ERROR = WeightError()


@dataclass(frozen=True)
class Bound:
    """``value`` bounds E(W) − inf E, or is None with the ``reason``; ``kind`` names the argument behind the bound.

    A value that is not finite, since a sum overflowed, is no bound.

    >>> Bound(math.nan, "duality")
    Bound(value=None, kind='duality', reason='a sum in the bound leaves the range of float64', ...

    ``resolved``: if there is no bound because rows differ along a direction by less than float64 resolves, a bound on
    E(W) minus the infimum of E over the other directions. ``weights``: the bound on the weights by the same argument.
    """

    value: float | None
    kind: str
    reason: str = ""
    resolved: float | None = None
    weights: WeightError = NO_WEIGHT_ERROR

    def __post_init__(self) -> None:
        _refuse_infinite(self)
        if self.resolved is not None and not math.isfinite(self.resolved):
            object.__setattr__(self, "resolved", None)

    @classmethod
    @lru_cache(maxsize=64)  # a search for a hyperplane asks for the same one after each step
    def unknown(cls, kind: str, reason: str) -> Bound:
        """No bound, neither on the gap nor on the weights."""
        return cls(None, kind, reason, weights=WeightError(None, "", reason))

    @classmethod
    def of_gap(
        cls, gap: float, objective: float, rounding: float, kind: str, weights: WeightError = NO_WEIGHT_ERROR
    ) -> Bound:
        """A bound from a gap, which the rounding of W itself increases; at most E, which is nonnegative everywhere.

        ``rounding`` is the rounding error of the value of E. It limits the bound only, since gaps are computed from
        gradients.
        """
        return cls(min(gap + 4 * EPS * abs(objective), objective + rounding), kind, weights=weights)

    @property
    def known(self) -> float:
        """The bound; infinite if there is none."""
        return self.value if self.value is not None and self.value >= 0 else math.inf
