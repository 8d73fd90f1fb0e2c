"""A bound on how far a fit is from the optimum, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class WeightError:
    """How far the weights are from the optimum's at most: each by ``value`` times what ``unit`` says.

    ``value`` is None where no such bound is known, with the ``reason``; where a fit has no such question, without one.
    Where columns are collinear, it holds for what the rows determine: the scores, and all combinations of those.

    >>> print(WeightError(3e-9, "standard errors of the optimum's"))
    each within 3.0e-09 standard errors of the optimum's
    """

    value: float | None = None
    unit: str = ""
    reason: str = ""

    @property
    def is_told(self) -> bool:
        """Whether there is anything to say."""
        return self.value is not None or bool(self.reason)

    def __str__(self) -> str:
        return f"unknown ({self.reason})" if self.value is None else f"each within {self.value:.1e} {self.unit}"


@dataclass(frozen=True)
class Bound:
    """``value`` bounds E(W) − inf E, or is None with the ``reason``; ``kind`` says by which argument.

    ``resolved``: where there is no bound because rows differ along a direction by less than float64 resolves, what
    bounds E(W) less the infimum of E over the other directions.
    ``weights``: what the same argument says of the weights.
    """

    value: float | None
    kind: str
    reason: str = ""
    resolved: float | None = None
    weights: WeightError = WeightError()

    @property
    def known(self) -> float:
        """The bound, infinite where there is none (or where it is not a number)."""
        return self.value if self.value is not None and self.value >= 0 else math.inf
