"""Verdicts on separability: frozen claims, each with the rows or the hyperplane that prove it (docs/tour.md, P7).

``verify`` needs no solver. Sums of the few rows of a proof are computed in integers. The other rows are checked in
floating point against an error bound, and exactly where that is inconclusive. ``verify(X, y, exact=True)`` checks
every row in integers, which takes about half a microsecond per entry (times the classes less one): see ``exact_cost``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from separatrix.proofs.overlapping import Inseparable, QuasiSeparable
from separatrix.proofs.separable import Separable

__all__ = ["Doubtful", "Inseparable", "QuasiSeparable", "Separable", "Verdict"]


@dataclass(frozen=True)
class Doubtful:
    """Neither separation nor its impossibility could be proven; ``reason`` says why.

    ``margin`` is an upper bound on the margin of every hyperplane, in units in which the largest entry of each column,
    then of each row, is near 1.

    >>> Doubtful("rounding", True).explain()
    'in doubt: rounding'
    """

    reason: str
    fit_intercept: bool
    margin: float = np.inf

    def __bool__(self) -> bool:
        return False

    def verify(self, X: Any, y: Any = None, exact: bool = False) -> bool:
        """Nothing is claimed, so nothing can be verified."""
        return False

    def explain(self) -> str:
        return f"in doubt: {self.reason}"


Verdict: TypeAlias = Separable | QuasiSeparable | Inseparable | Doubtful
