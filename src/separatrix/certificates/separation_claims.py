r"""The claims of classifiers that look for a separating hyperplane. TEXTBOOK P1, P10.

K > 2 classes are K problems, each class against the rest; their objectives are summed. The solvers' sums are imported
where a claim is recomputed: reading a model needs none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import known_codes, signed
from separatrix.certificates.certificate import Recomputed
from separatrix.losses.margin import Zero
from separatrix.objective.bound import Bound
from separatrix.proofs.verdicts import rows_of
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.scorers.scorer import Scorer

NO_BOUND = Bound(None, "none", "the perceptron's cost has the trivial minimum w = 0: mistakes and margins say more")
NO_MARGIN = Bound(None, "none", "these weights leave rows on the wrong side, and a margin is that of a separation")


def targets(codes: Integers, n_classes: int) -> list[Array]:
    """±1 for two classes; for more, +1 for each class in turn and −1 for the rest.

    >>> [t.tolist() for t in targets(np.array([0, 1, 2]), 3)]
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    if n_classes == 2:
        return [signed(codes)]
    return [np.where(codes == k, 1.0, -1.0) for k in range(n_classes)]


@dataclass(frozen=True)
class SeparationClaim:
    """E_p(w) = (1/n) Σ max(0, −m_i) of the weights; 0 where they separate."""

    scorer: Scorer
    fit_intercept: bool
    zero: Zero = "mistake"
    bound: Bound = NO_BOUND

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Cost and subgradient at the claimed weights, over these rows."""
        from separatrix.solvers.separating.perceptron import evaluation, survey
        from separatrix.solvers.separating.rules import build_separation_objective

        codes = known_codes(y, self.scorer.classes)
        found = []
        for k, t in enumerate(targets(codes, len(self.scorer.classes))):
            problem = build_separation_objective(memory_rows(X, t), self.fit_intercept)
            found.append(evaluation(problem, survey(problem, self.scorer.W[k : k + 1], self.zero)))
        length = float(np.linalg.norm([np.linalg.norm(at.gradient) for at in found]))
        return Recomputed(sum(at.value for at in found), 0.0, self.bound, length)


@dataclass(frozen=True)
class Support:
    """Rows and weights ≥ 0, summing to 1 in each class (over all rows without an intercept): points of the hulls."""

    rows: Integers
    weights: Array

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """What keeps a support that was read from a file from being one."""
        return "" if len(self.rows) == len(self.weights) else "has not a weight for each row"


@dataclass(frozen=True)
class MarginClaim:
    """½‖w‖² with w scaled so that the smallest margin is 1: 1/(2ρ²), with ρ the smallest distance of a row.

    Its bound: no hyperplane has a margin above ½‖α − β‖, with α and β the points of the hulls of the two classes that
    the support's weights name (without an intercept, above the length of Σ λ_i t_i x_i).
    """

    scorer: Scorer
    fit_intercept: bool
    supports: tuple[Support, ...]

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Objective and bound of the claimed weights and supports, over these rows."""
        refuse_not_finite(memory_rows(X, np.zeros(X.shape[0])))
        return self.of_codes(X, known_codes(y, self.scorer.classes))

    def of_codes(self, X: Any, codes: Integers) -> Recomputed:
        """The same with class numbers for labels."""
        objective = bound = 0.0
        for k, t in enumerate(targets(codes, len(self.scorer.classes))):
            lower, upper = self.margins(X, t, k)
            if lower <= 0:
                return Recomputed(np.inf, 0.0, Bound(None, "margin", "a row is on the wrong side"), 0.0)
            objective += 0.5 / lower**2
            bound += max(0.0, 0.5 / lower**2 - 0.5 / upper**2) if upper > 0 else np.inf
        return Recomputed(objective, 0.0, Bound(bound, "the distance between points of the two hulls"), 0.0)

    def margins(self, X: Any, t: Array, k: int) -> tuple[float, float]:
        """The smallest distance of a row to the k-th hyperplane, and what no hyperplane exceeds."""
        from separatrix.solvers.separating.kozinec import Extremes

        found = memory_rows(X, t).fold(Extremes(self.scorer.W[k : k + 1]))
        length = float(np.linalg.norm(self.scorer.W[k, 1:]))
        support = self.supports[k]
        if support.rows.max(initial=0) >= len(t) or length == 0:
            return -np.inf, np.inf
        points = rows_of(X, support.rows)
        if self.fit_intercept:  # the weights of the two classes cancel, so any point may be taken off the rows
            points = points - points.mean(axis=0)
        span = float(np.linalg.norm((support.weights * t[support.rows]) @ points))
        return min(found.negative.m, found.positive.m) / length, 0.5 * span if self.fit_intercept else span
