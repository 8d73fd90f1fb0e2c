"""The claims of fits that need only moments: least squares, projections, Gaussians."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import EPS, AnyArray, Array
from separatrix.base.labels import known_codes
from separatrix.certificates.certificate import Recomputed
from separatrix.moments.coding import TARGETS, decision_of
from separatrix.moments.gather import Moments, gather
from separatrix.moments.gaussians import Gaussians, Likelihood, null_objective
from separatrix.moments.projected_rows import Projection
from separatrix.moments.squared_cost import Minimum, SquaredCost, build_squared_cost
from separatrix.objective.bound import Bound
from separatrix.rows import MemoryRows, Rows, by_row, memory_rows
from separatrix.scorers.scorer import Scores, scores_over

# What a scorer may differ by from the parameters that it was made of: rounding.
SAME = 1e-9


def _rows(X: Any, y: Any, classes: AnyArray, sample_weight: Any) -> MemoryRows:
    """Rows in memory, with class numbers as targets."""
    weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    return memory_rows(X, known_codes(y, classes), weight)


@dataclass(frozen=True)
class LeastSquaresClaim:
    """That weights (outputs, d + 1), in raw units, minimise the squared cost; the bound is its exact gap. S2, S4."""

    scorer: Any
    weights: Array
    targets: str
    l2: float
    fit_intercept: bool

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """What keeps a claim that was read from a file, for ``sizes["K"]`` classes, from being one."""
        wanted = TARGETS[self.targets].n_outputs(sizes["K"])
        return "" if len(self.weights) == wanted else f"has {len(self.weights)} outputs, where there must be {wanted}"

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """Cost, gradient and gap at the claimed weights, over these rows."""
        return self.of_rows(_rows(X, y, self.scorer.classes, sample_weight))

    def of_rows(self, rows: Rows) -> Recomputed:
        """The same over rows in any home, with class numbers as targets."""
        table = TARGETS[self.targets].table(len(self.scorer.classes))
        cost = build_squared_cost(rows, table, self.l2, self.fit_intercept)
        at = cost.judge(self.weights)
        decides = np.allclose(self.scorer.W, decision_of(table) @ self.weights, rtol=SAME, atol=0)
        return Recomputed(at.value, cost.null_value, squares_bound(cost, at, decides), at.gradient_norm, at.rounding)


def squares_bound(cost: SquaredCost, at: Minimum, decides: bool = True) -> Bound:
    """The gap as a bound; none where the scorer is not made of these weights.

    No gap is larger than the cost itself, which is at least zero everywhere. Where rows differ along a direction by
    less than float64 resolves, the cost may be less along it, and the bound is one over the other directions only.
    """
    kind = "the quadratic cost's own curvature"
    if not decides:
        return Bound(None, kind, "the scorer's weights are not those of the outputs")
    if at.gap is None:
        return Bound(None, kind, at.reason)
    bound = min(at.gap + 4 * EPS * max(at.value, cost.null_value), at.value + at.rounding)
    if cost.unresolved:
        reason = "columns are collinear but for differences that float64 cannot resolve, and the cost depends on them"
        return Bound(None, kind, reason, resolved=bound)
    return Bound(bound, kind)


@dataclass(frozen=True)
class ProjectionClaim:
    """That a projection maximises its criterion J, so the objective is −J; and that the scorer follows. F1–F4."""

    scorer: Scores
    projection: Projection

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """−J at the claimed directions over these rows, and its distance to the largest J."""
        return self.of_rows(_rows(X, y, self.scorer.classes, sample_weight))

    def of_rows(self, rows: Rows) -> Recomputed:
        """The same over rows in any home, with class numbers as targets."""
        K = len(self.scorer.classes)
        found = gather(rows, K, pooled=K > 2)
        bound = projection_bound(self.projection, found)
        if bound.value is not None and not self._decides(found, rows):
            bound = Bound(None, bound.kind, "the threshold is not the one of these rows")
        J = self.projection.criterion(found)
        return Recomputed(-J, 0.0, bound, self.projection.stationarity(found))

    def _decides(self, found: Moments, rows: Rows) -> bool:
        again = self.projection.cut(found, self.scorer.classes)
        claimed, now = scores_over(self.scorer, rows), scores_over(again.scorer, rows)
        return bool(np.max(np.abs(claimed - now)) <= 1e-6 * (1.0 + np.max(np.abs(now))))


def projection_bound(projection: Projection, found: Moments) -> Bound:
    """max J − J, by closed form, with what rounding may hide."""
    kind = "closed form"
    gap = projection.gap(found)
    if gap is None:
        return Bound(
            None, kind, "S_W is singular to working precision: along what is lost, J may be larger or unbounded"
        )
    return Bound(gap + 64 * EPS * projection.criterion(found), kind)


@dataclass(frozen=True)
class GaussianClaim:
    """That Gaussians, one a class, are near the likeliest; the objective is −(1/S) Σ s ln p(x, y). D2, F6.

    It is summed as −ln P(y|x) by the scorer and −ln p(x) by the Gaussians; where their scores differ there is no bound.
    """

    scorer: Scores
    gaussians: Gaussians
    shared: bool

    def recompute(self, X: Any, y: Any, sample_weight: Any = None) -> Recomputed:
        """The objective over these rows, and its distance to the likeliest Gaussians."""
        return self.of_rows(_rows(X, y, self.scorer.classes, sample_weight))

    def of_rows(self, rows: Rows) -> Recomputed:
        """The same over rows in any home, with class numbers as targets."""
        found = gather(rows, len(self.scorer.classes), pooled=self.shared)
        return likelihood(self.scorer, self.gaussians, found, rows)


def likelihood(scorer: Scores, gaussians: Gaussians, found: Moments, rows: Rows) -> Recomputed:
    """Mean −ln p(x, y) row by row, that of one Gaussian for all classes, the gap to the likeliest, the slope there."""
    weight = by_row(rows, lambda block: block.weight)
    counted = np.flatnonzero(weight > 0)
    share = weight[counted] / weight.sum()
    chances = by_row(rows, lambda block: scorer.log_probabilities(block.X))
    own = np.take_along_axis(chances, by_row(rows, lambda block: block.t)[:, None], axis=1)[counted, 0]
    joint = by_row(rows, lambda block: gaussians.log_joint(block.X))
    whole = np.logaddexp.reduce(joint, axis=1)[counted]
    at = gaussians.on(found)
    bound = likelihood_bound(at)
    if not _same(scores_over(scorer, rows), joint):
        bound = Bound(None, bound.kind, "the scores are not those of the Gaussians")
    return Recomputed(-float(share @ (own + whole)), null_objective(found), bound, at.slope, at.rounding)


def likelihood_bound(at: Likelihood) -> Bound:
    """The distance to the likeliest Gaussians, by closed form, with what rounding may hide."""
    kind = "closed form"
    if at.gap is None:
        return Bound(None, kind, "a covariance is singular, or rounding hides that it is not: then there is no maximum")
    return Bound(at.gap + 64 * EPS * (1.0 + abs(at.gap)), kind)


def _same(z: Array, joint: Array) -> bool:
    """Whether scores are log joint densities, up to rounding and to what all classes share."""
    joint = joint - joint[:, :1]
    expected = joint[:, 1:] if z.ndim == 1 else joint
    found = z[:, None] if z.ndim == 1 else z - z[:, :1]
    return bool(np.all(np.abs(found - expected) <= 1e-6 * (1.0 + np.max(np.abs(expected)))))
