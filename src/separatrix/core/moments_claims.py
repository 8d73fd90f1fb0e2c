"""The claims of fits that use only the moments of the rows: least squares, projections, Gaussians.

A claim also compares the scorer with the model that it comes from, by the largest difference of their scores.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from separatrix.core.base.arrays import EPS, Array
from separatrix.core.base.codec import Choice, Number, array
from separatrix.core.certificate import Bound, Recomputed, RowsClaim
from separatrix.core.gaussians import Gaussians, Likelihood, null_objective
from separatrix.core.moments import Moments, gather
from separatrix.core.projections import Projection
from separatrix.core.rows.block import Block
from separatrix.core.rows.protocol import Rows
from separatrix.core.rows.targets import CLASS_NUMBERS, ClassTotals, Coding
from separatrix.core.scorer import Scorer, Scores
from separatrix.core.squared_cost import TARGETS, Minimum, SquaredCost, build_squared_cost, decision_of


@dataclass
class Compared:
    """How far claimed scores are from expected ones at most, how large the expected ones are, and a sum over rows."""

    difference: float = 0.0
    largest: float = 0.0
    total: float = 0.0
    weight: float = 0.0

    @property
    def agree(self) -> bool:
        """Whether rounding explains the difference."""
        return bool(self.difference <= 1e-6 * (1.0 + self.largest))

    def with_(self, other: Compared) -> Compared:
        """The comparison over these rows and others."""
        return Compared(
            float(np.maximum(self.difference, other.difference)),  # NaN stays NaN, and does not agree
            float(np.maximum(self.largest, other.largest)),
            self.total + other.total,
            self.weight + other.weight,
        )


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))


@dataclass(frozen=True)
class SameScores:
    """Compares the scores of two scorers."""

    claimed: Scores
    expected: Scores

    def zero(self) -> Compared:
        return Compared()

    def add(self, total: Compared, block: Block) -> Compared:
        claimed, expected = self.claimed.scores(block.X), self.expected.scores(block.X)
        return total.with_(Compared(_largest(claimed - expected), _largest(expected)))

    def merge(self, a: Compared, b: Compared) -> Compared:
        return a.with_(b)


@dataclass(frozen=True)
class JointLikelihood:
    """Σ s ln p(x, y): ln P(y|x) from a scorer, ln p(x) from Gaussians; and compares the scores of both.

    The scores are those of the Gaussians if they are log joint densities, up to a term that all classes share.
    """

    scorer: Scores
    gaussians: Gaussians

    def zero(self) -> Compared:
        return Compared()

    def add(self, total: Compared, block: Block) -> Compared:
        z, joint = self.scorer.scores(block.X), self.gaussians.log_joint(block.X)
        expected = joint - joint[:, :1]
        if z.ndim == 1:
            expected, claimed = expected[:, 1:], z[:, None]
        else:
            claimed = z - z[:, :1]
        counted = np.flatnonzero(block.weight > 0)
        by_class = self.scorer.log_probabilities(block.X)
        posterior = np.take_along_axis(by_class, block.t[:, None], axis=1)[counted, 0]
        evidence = np.logaddexp.reduce(joint, axis=1)[counted]
        weight = block.weight[counted]
        summed = float(weight @ (posterior + evidence))
        return total.with_(Compared(_largest(claimed - expected), _largest(expected), summed, float(weight.sum())))

    def merge(self, a: Compared, b: Compared) -> Compared:
        return a.with_(b)


# --- The claims


class MomentsClaim(RowsClaim, ABC):
    """A claim about the moments of rows with class numbers as targets."""

    scorer: Any

    def coding_of(self, totals: ClassTotals) -> Coding:
        """Class numbers as targets."""
        return CLASS_NUMBERS


@dataclass(frozen=True)
class LeastSquaresClaim(MomentsClaim):
    """Claims that weights (outputs, d + 1), in raw units, minimise the squared cost. The bound is the gap.

    See docs/tour.md, S2, S4.
    """

    scorer: Scorer
    weights: Annotated[Array, array("", "1+d")]
    targets: Annotated[str, Choice(TARGETS)]
    l2: Annotated[float, Number(0.0)]
    fit_intercept: bool

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """Why a claim read from a file is invalid for ``sizes["K"]`` classes; empty if it is valid."""
        # With more than two classes there is one output for each. A forged file may claim more classes than memory can
        # hold a table of targets for, so no table is made.
        wanted = sizes["K"] if sizes["K"] > 2 else TARGETS[self.targets].table(2).shape[1]
        return "" if len(self.weights) == wanted else f"has {len(self.weights)} outputs, where there must be {wanted}"

    def of_rows(self, rows: Rows) -> Recomputed:
        """Cost, gradient and gap at the claimed weights, over these rows."""
        table = TARGETS[self.targets].table(len(self.scorer.classes))
        cost = build_squared_cost(rows, table, self.l2, self.fit_intercept)
        at = cost.judge(self.weights)
        # Rounding explains a smaller difference between the scorer's weights and those recomputed from the outputs.
        decides = np.allclose(self.scorer.W, decision_of(table) @ self.weights, rtol=1e-9, atol=0)
        return Recomputed(at.value, cost.null_value, squares_bound(cost, at, decides), at.gradient_norm, at.rounding)


def squares_bound(cost: SquaredCost, at: Minimum, decides: bool = True) -> Bound:
    """The gap as a bound; no bound if the scorer does not follow from these weights.

    The gap is never larger than the cost itself, since no cost is negative. Along directions in which the rows differ
    by less than float64 resolves, the cost may be lower; then the bound is over the other directions only.
    """
    kind = "the curvature of the quadratic cost"
    if not decides:
        return Bound(None, kind, "the scorer's weights are not those of the outputs")
    if at.gap is None:
        return Bound(None, kind, at.reason)
    bound = min(at.gap + 4 * EPS * max(at.value, cost.null_value), at.value + at.rounding)
    if cost.unresolved:
        reason = "columns are collinear up to differences that float64 cannot resolve, and the cost depends on them"
        return Bound(None, kind, reason, resolved=bound)
    return Bound(bound, kind)


@dataclass(frozen=True)
class ProjectionClaim(MomentsClaim):
    """Claims that a projection maximises its criterion J, and that the scorer follows from it (docs/tour.md, F1–F4).

    The objective is −J.
    """

    scorer: Scores
    projection: Projection

    def of_rows(self, rows: Rows) -> Recomputed:
        """−J at the claimed directions over these rows, and its distance to −max J."""
        K = len(self.scorer.classes)
        moments = gather(rows, K, pooled=K > 2)
        bound = projection_bound(self.projection, moments)
        if bound.value is not None:
            again = self.projection.cut(moments, self.scorer.classes).scorer
            if not rows.fold(SameScores(self.scorer, again)).agree:
                bound = Bound(None, bound.kind, "the threshold does not follow from these rows")
        J = self.projection.criterion(moments)
        return Recomputed(-J, 0.0, bound, self.projection.stationarity(moments))


def projection_bound(projection: Projection, moments: Moments) -> Bound:
    """max J − J in closed form, plus a bound on the rounding error."""
    kind = "closed form"
    gap = projection.gap(moments)
    if gap is None:
        return Bound(
            None, kind, "S_W is singular to working precision: along its null directions J may be larger or unbounded"
        )
    return Bound(gap + 64 * EPS * projection.criterion(moments), kind)


@dataclass(frozen=True)
class GaussianClaim(MomentsClaim):
    """Claims how far Gaussians, one for each class, are from the maximum of the likelihood (docs/tour.md, D2, F6).

    The terms of the objective −(1/S) Σ s ln p(x, y) are −ln P(y|x), from the scorer, plus −ln p(x), from the Gaussians.
    If the scorer's scores are not those of the Gaussians, there is no bound.
    """

    scorer: Scores
    gaussians: Gaussians
    shared: bool

    def of_rows(self, rows: Rows) -> Recomputed:
        """The objective over these rows, and its distance to the maximum of the likelihood."""
        moments = gather(rows, len(self.scorer.classes), pooled=self.shared)
        return likelihood(self.scorer, self.gaussians, moments, rows)


def likelihood(scorer: Scores, gaussians: Gaussians, moments: Moments, rows: Rows) -> Recomputed:
    """The mean of −ln p(x, y) over the rows, its gap to the optimum, and its slope.

    The null objective is that of one Gaussian for all classes.
    """
    found = rows.fold(JointLikelihood(scorer, gaussians))
    at = gaussians.on(moments)
    bound = likelihood_bound(at)
    if not found.agree:
        bound = Bound(None, bound.kind, "the scores are not those of the Gaussians")
    objective = -found.total / found.weight
    return Recomputed(objective, null_objective(moments), bound, at.slope, at.rounding)


def likelihood_bound(at: Likelihood) -> Bound:
    """The distance to the maximum of the likelihood in closed form, plus a bound on the rounding error."""
    kind = "closed form"
    if at.gap is None:
        return Bound(None, kind, "a covariance is singular up to rounding, so the likelihood may have no maximum")
    return Bound(at.gap + 64 * EPS * (1.0 + abs(at.gap)), kind)
