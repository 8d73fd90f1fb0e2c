r"""The claims of classifiers that search for a separating hyperplane (docs/tour.md, P1, P10).

K > 2 classes are K problems, each class against the rest, and their objectives are summed. The solvers' code that
recomputes a claim is imported only when it is recomputed, since reading a model file does not need it.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from separatrix.core.base.arrays import Array, Integers, scaled_length
from separatrix.core.base.codec import ROWS, Several, array
from separatrix.core.certificate import Bound, Recomputed, RowsClaim
from separatrix.core.losses import Zero
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.memory_rows import MemoryRows, memory_rows
from separatrix.core.rows.protocol import Rows, number_of_rows
from separatrix.core.rows.sampling import chosen_rows
from separatrix.core.rows.targets import ClassTotals, Coding, class_targets
from separatrix.core.rows.views import one_against_rest
from separatrix.core.scorer import Scorer

NO_BOUND = Bound(None, "none", "the perceptron's cost has the trivial minimum w = 0, so look at mistakes and margins")
NO_MARGIN = Bound(None, "none", "these weights leave rows on the wrong side, so there is no margin")


class SeparatingClaim(RowsClaim, ABC):
    """A claim about hyperplanes, one for two classes and one for each class against the rest if there are more.

    Its rows have the targets of ``class_targets``. Their weights are not used.
    """

    scorer: Scorer

    def coding_of(self, totals: ClassTotals) -> Coding:
        """The targets of ``class_targets``, and the weights as they are."""
        return Coding(signs=len(self.scorer.classes) == 2)


def separation_rows(X: Any, codes: Integers, n_classes: int, weight: Array | None = None) -> MemoryRows:
    """Rows in memory with the targets of ``class_targets``."""
    return memory_rows(X, class_targets(codes, n_classes), weight)


@dataclass(frozen=True)
class SeparationClaim(SeparatingClaim):
    """Claims the perceptron's cost E_p(w) = (1/n) Σ max(0, −m_i), which is 0 if the weights separate the classes."""

    scorer: Scorer
    fit_intercept: bool
    zero: Zero = "mistake"
    bound: Bound = NO_BOUND

    def of_rows(self, rows: Rows) -> Recomputed:
        """Cost and subgradient at the claimed weights, over any kind of rows."""
        from separatrix.core.solvers.separation_problem import build_separation_objectives, evaluation, survey

        problems = build_separation_objectives(one_against_rest(rows, len(self.scorer.classes)), self.fit_intercept)
        evaluations = [
            evaluation(problem, survey(problem, w[None, :], self.zero))
            for w, problem in zip(self.scorer.W, problems, strict=True)
        ]
        length = float(np.linalg.norm([np.linalg.norm(at.gradient) for at in evaluations]))
        return Recomputed(sum(at.value for at in evaluations), 0.0, self.bound, length)


@dataclass(frozen=True)
class Support:
    """Support rows with weights ≥ 0, which define a point in the convex hull of each class.

    The weights sum to 1 in each class; without an intercept, they sum to 1 over all rows.
    """

    rows: Annotated[Integers, ROWS]
    weights: Annotated[Array, array("", least=0)]

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """Why a support read from a file is invalid; empty if it is valid."""
        return "" if len(self.rows) == len(self.weights) else "does not have one weight for each row"


@dataclass(frozen=True)
class MarginClaim(SeparatingClaim):
    """Claims ½‖w‖² with w scaled so that the smallest margin is 1: 1/(2ρ²), where ρ is the smallest distance of a row.

    The bound follows since no hyperplane has a margin larger than ½‖α − β‖, where α and β are the points of the two
    convex hulls that the weights of the support define. Without an intercept, no margin is larger than ‖Σ λ_i t_i x_i‖.
    """

    scorer: Scorer
    fit_intercept: bool
    supports: Annotated[tuple[Support, ...], Several("scores")]
    names_rows: ClassVar[bool] = True

    def of_rows(self, rows: Rows) -> Recomputed:
        """Objective and bound of the claimed weights and supports, over any kind of rows."""
        refuse_not_finite(rows)
        return self.at(self.margins(rows))

    def at(self, margins: Sequence[tuple[float, float]]) -> Recomputed:
        """Objective and bound from the ``margins`` over some rows."""
        objective = bound = 0.0
        for lower, upper in margins:
            if lower <= 0:
                return Recomputed(np.inf, 0.0, Bound(None, "margin", "a row is on the wrong side"), 0.0)
            objective += 0.5 / lower**2
            bound += max(0.0, 0.5 / lower**2 - 0.5 / upper**2) if upper > 0 else np.inf
        return Recomputed(objective, 0.0, Bound(bound, "the distance between points of the two hulls"), 0.0)

    def margins(self, rows: Rows) -> list[tuple[float, float]]:
        """For each hyperplane the smallest distance of a row to it, and an upper bound on that of any hyperplane."""
        each = zip(self.scorer.W, self.supports, one_against_rest(rows, len(self.scorer.classes)), strict=True)
        return [self._margin(w, support, against) for w, support, against in each]

    def _margin(self, w: Array, support: Support, rows: Rows) -> tuple[float, float]:
        from separatrix.core.solvers.convex_hulls import Extremes

        extremes = rows.fold(Extremes(w[None, :]))
        length = scaled_length(w[1:])
        if support.rows.max(initial=0) >= number_of_rows(rows) or length == 0:
            return -np.inf, np.inf
        points = chosen_rows(rows, support.rows)
        span = float(np.linalg.norm(_combined(points.X, support.weights * points.t, self.fit_intercept)))
        return min(extremes.least) / length, 0.5 * span if self.fit_intercept else span


def _combined(points: Any, a: Array, cancel: bool) -> Array:
    """Σ_i a_i x_i over some rows, (d,); ``cancel``: the a_i sum to zero, so any point may be subtracted from the rows.

    Then the mean of the rows is subtracted, because a large offset would cause rounding errors. Columns of CSR rows
    that are mostly zero have no such offset, so they stay sparse.
    """
    if not is_sparse(points):
        points = np.asarray(points, dtype=np.float64)
        return np.asarray(a @ (points - points.mean(axis=0) if cancel else points))
    total = np.asarray(a @ points.astype(np.float64))
    full = np.flatnonzero(2 * np.bincount(points.indices, minlength=points.shape[1]) > points.shape[0])
    total[full] = _combined(points[:, full].toarray(), a, cancel)
    return total
