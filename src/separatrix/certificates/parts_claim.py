"""The claim of a fit that combines two-class fits: the claims of all parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.errors import InputError
from separatrix.base.labels import known_codes
from separatrix.certificates.claim import Claim, Recomputed, TableClaim
from separatrix.objectives.bound import Bound
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.two_classes import TwoClassTable
from separatrix.scorers.schemes import Scheme
from separatrix.scorers.scorer import Scores


@dataclass(frozen=True)
class PartsClaim:
    """The objective is the sum Σ E_p over the parts, whose gap is at most the sum of their bounds.

    See docs/tour.md, M1, M2.

    ``claims`` has one claim for each part, in the order of the scheme, or None if its model has no certificate.
    """

    scorer: Scores
    scheme: Scheme
    claims: tuple[Claim | None, ...]

    @property
    def names_rows(self) -> bool:
        """Whether the claim of a part names rows by their numbers, and so depends on the order of the rows."""
        return any(getattr(claim, "names_rows", False) for claim in self.claims)

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Recompute each part's claim over the rows of the part, and return the sums."""
        codes = known_codes(y, self.scorer.classes)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if any(claim is not None for claim in self.claims):  # models with a certificate do not accept NaN
            refuse_not_finite(memory_rows(X, codes))
        recomputed = []
        parts = self.scheme.parts(codes, len(self.scorer.classes))
        for claim, (_, rows, target) in zip(self.claims, parts, strict=True):
            if claim is not None:
                recomputed.append(claim.recompute(X[rows], target, None if weight is None else weight[rows]))
        return summed(recomputed, len(self.claims))

    def of_table(self, table: OutsideMemory) -> Recomputed:
        """Recompute each part's claim over a table outside memory, which each part reads with its two classes."""
        K, recomputed = len(self.scorer.classes), []
        for claim, (_, classes, target) in zip(self.claims, self.scheme.parts(np.arange(K), K), strict=True):
            if claim is not None and not isinstance(claim, TableClaim):
                problem = f"{type(claim).__name__} is recomputed from rows in memory only"
                raise InputError("X", problem, "read the rows into memory and call verify(X, y)")
            numbers = np.full(K, -1)
            numbers[classes] = target
            if claim is not None:
                recomputed.append(claim.of_table(TwoClassTable(table, numbers)))
        return summed(recomputed, len(self.claims))


def summed(parts: Sequence[Recomputed], n_parts: int) -> Recomputed:
    """The sum of the parts' objectives and bounds. ``n_parts`` counts the parts without a claim, too."""
    if not parts:
        return Recomputed(np.nan, np.nan, Bound(None, "none", "no part makes a claim"), np.nan)
    return Recomputed(
        sum(part.objective for part in parts),
        sum(part.null_objective for part in parts),
        summed_bound([part.bound for part in parts], n_parts),
        float(np.linalg.norm([part.gradient_norm for part in parts])),
    )


def summed_bound(bounds: Sequence[Bound], n_parts: int) -> Bound:
    """The bound on a sum of objectives: the sum of their bounds if every part has one, else none.

    >>> summed_bound([Bound(0.25, "duality"), Bound(0.5, "duality")], 2).value
    0.75
    """
    kinds = " and ".join(sorted({bound.kind for bound in bounds}))
    reasons = [bound.reason for bound in bounds if bound.value is None]
    missing = len(reasons) + n_parts - len(bounds)
    if missing:
        because = f"; the first: {reasons[0]}" if reasons else ""
        return Bound(None, kinds or "none", f"{missing} of {n_parts} models have no bound{because}")
    return Bound(float(sum(bound.known for bound in bounds)), kinds)
