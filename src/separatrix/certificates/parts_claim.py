"""The claim of a fit that is put together from two-class fits: each part's own claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.labels import known_codes
from separatrix.certificates.certificate import Claim, Recomputed
from separatrix.objectives.bound import Bound
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.scorers.schemes import Scheme
from separatrix.scorers.scorer import Scores


@dataclass(frozen=True)
class PartsClaim:
    """Σ over the parts of E_p; the sum's gap is at most the sum of the parts' bounds. TEXTBOOK M1, M2.

    ``claims``: one a part, in the scheme's order, None where a part's model makes none.
    """

    scorer: Scores
    scheme: Scheme
    claims: tuple[Claim | None, ...]

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Each part's claim over the part's own rows."""
        codes = known_codes(y, self.scorer.classes)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if any(claim is not None for claim in self.claims):  # those that make claims take no NaN
            refuse_not_finite(memory_rows(X, codes))
        found = []
        parts = self.scheme.parts(codes, len(self.scorer.classes))
        for claim, (_, rows, target) in zip(self.claims, parts, strict=True):
            if claim is not None:
                found.append(claim.recompute(X[rows], target, None if weight is None else weight[rows]))
        return summed(found, len(self.claims))


def summed(found: Sequence[Recomputed], n_parts: int) -> Recomputed:
    """Objectives and bounds of parts as one."""
    if not found:
        return Recomputed(np.nan, np.nan, Bound(None, "none", "no part makes a claim"), np.nan)
    return Recomputed(
        sum(part.objective for part in found),
        sum(part.null_objective for part in found),
        summed_bound([part.bound for part in found], n_parts),
        float(np.linalg.norm([part.gradient_norm for part in found])),
    )


def summed_bound(bounds: Sequence[Bound], n_parts: int) -> Bound:
    """The bound on a sum of objectives: the sum of their bounds, where every part has one.

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
