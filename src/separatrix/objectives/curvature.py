r"""Second derivatives at one point, and the bounds on the optimum that follow by self-concordance.

The third derivative of a logistic loss is at most its second times the change of score. So with H the Hessian at W (of
all rows, or of a subset; with the penalty), ‖v‖² = vᵀHv and R the largest change of a score over all v of length 1,

    H(W + v) ⪰ e^{−R‖v‖} H,                                                                                    (1)

where for softmax the change of score is that of the difference of two classes' scores. All bounds below follow from
(1). Let λ² = gᵀH⁻¹g with g the gradient at W, u = λR < 1, and Δ = W* − W the way to the optimum.

``gap``       E(W) − E(W*) ≤ [u + (1 − u) ln(1 − u)]/R²: integrate (1) twice from W along Δ and minimise over ‖Δ‖.

``distance``  ‖Δ‖ ≤ −ln(1 − u)/R: the slope along Δ is zero at W*, so by (1), integrated once,
              λ‖Δ‖ ≥ −g·Δ ≥ ‖Δ‖² ∫₀¹ e^{−sR‖Δ‖} ds = ‖Δ‖ (1 − e^{−R‖Δ‖})/R.
              With absolute values in the penalty, g is any subgradient at W: the penalty's subgradients only add to the
              right-hand side, since they are monotone. For any c, |c·Δ| ≤ (cᵀH⁻¹c)^½ ‖Δ‖, and the standard error of
              c·W is (cᵀH⁻¹c/S)^½ with S the total weight. So every weight and every combination of weights is within
              S^½ ‖Δ‖ standard errors of the optimum's, in any coordinates.

``after``     At W + v, by (1), H is at least e^{−R‖v‖} times the H above: λ and R there are at most e^{R‖v‖/2} times
              the values from the factor at W. So no new Hessian is needed after a Newton step.

H⁻¹ is known up to rounding (``error``). If H computed from squares of the rows has too few digits, it is computed again
from a root.

Bach, Self-concordant analysis for logistic regression, Electronic Journal of Statistics 4 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log1p, sqrt

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.base.cached import cached_property
from separatrix.base.pieces import pieces
from separatrix.base.quiet import quietly
from separatrix.objectives.factor import Factor
from separatrix.objectives.framed_penalty import LARGEST_ROOT_PENALTY
from separatrix.objectives.partials import LongestScores
from separatrix.objectives.problem import Objective
from separatrix.rows import Block, Partial, some_rows

# Rows whose lengths are computed at a time, which limits the memory for R².
ROWS_PER_LENGTH_PIECE = 1024
# Bounds require u = λR below this. If E has no minimum, λR ≥ 1 in exact arithmetic; the distance from 1 allows for
# rounding.
LARGEST_PROVEN_U = 0.5
# If the relative error of H⁻¹ exceeds this, it is computed again from a root of H.
LARGEST_INVERSE_ERROR = 1e-3


@dataclass(frozen=True)
class Curvature:
    """A factor of H on the identified directions, and a bound on how fast H can change.

    ``longest``: R above. ``lengths``: of H^−½ e for each unit vector e of these directions. ``n_rows``: the number of
    rows in H; ``complete``: whether these are all rows. ``error``: the relative error of gᵀH⁻¹g for any g. ``least``: H
    at the current point is at least this multiple of the factored one.

    >>> curvature = Curvature(Factor.of(np.eye(1)), longest=2.0, lengths=np.ones(1), n_rows=1, complete=True)
    >>> round(curvature.gap(0.1), 6), round(curvature.distance(0.1), 6)
    (0.005371, 0.111572)
    """

    factor: Factor
    longest: float
    lengths: Array
    n_rows: int
    complete: bool
    error: float = 0.0
    least: float = 1.0

    def decrement(self, size: float) -> float:
        """An upper bound on λ at the current point, given (gᵀ H⁻¹ g)^½ with the factored H; λ itself at W."""
        return size / sqrt(self.least)

    def u(self, decrement: float) -> float:
        """λR."""
        return decrement * self.R

    @cached_property
    def R(self) -> float:
        """An upper bound on R at the current point."""
        return self.longest / sqrt(self.least)

    def gap(self, decrement: float) -> float:
        """A bound on E(W) − min E; infinite if λR is too large."""
        u, R = self.u(decrement), self.R
        if not u < LARGEST_PROVEN_U:
            return np.inf
        # For small u the bracket is u²/2 + u³/6 + …; its two terms would cancel.
        bracket = u + (1 - u) * log1p(-u) if u > 1e-4 else 0.5 * u**2 * (1 + u)
        return bracket / R**2 if R > 0 else 0.5 * decrement**2

    def distance(self, decrement: float) -> float:
        """A bound on ‖W − W*‖; infinite if λR is too large."""
        u, R = self.u(decrement), self.R
        if not u < LARGEST_PROVEN_U:
            return np.inf
        return -log1p(-u) / R if R > 0 else decrement

    def after(self, v: Array) -> Curvature:
        """A valid curvature after a step v, in the coordinates of the identified directions."""
        return self._with_least(self.least * exp(-self.longest * self.factor.length(v)))

    def weaker(self, error: float) -> Curvature:
        """The same, with H known up to this relative error."""
        return self._with_least(self.least * (1 - error))

    def _with_least(self, least: float) -> Curvature:
        return Curvature(self.factor, self.longest, self.lengths, self.n_rows, self.complete, self.error, least)


def curvature_at(
    objective: Objective, W: Array, subset: Block | None = None, factor: Factor | None = None
) -> Curvature | None:
    """The curvature at W of the rows of ``subset``, by default of all rows; None if H is singular.

    ``factor``: the factor of H at W, if it is already known.
    """
    factor = factor or objective.factor(W, subset)
    for _ in range(2):
        if factor is None:
            return None
        root = factor.inverse()
        error = factor.rounding(root, _cancelled(objective, factor))
        if not (factor.squared and error > LARGEST_INVERSE_ERROR):
            return _measured(objective, factor, root, error, subset)
        factor = objective.root_factor(W, subset)
    return None


@quietly
def _measured(objective: Objective, factor: Factor, root: Array, error: float, subset: Block | None) -> Curvature:
    """The curvature from a factor of H; ``root``: the inverse of the factor."""
    constant = objective.loss.traits.self_concordance
    longest = sqrt(_longest_row(objective, root, subset)) * constant if constant is not None else np.inf
    whole = objective.n_rows
    n_rows = whole if subset is None else subset.n_rows
    lengths = np.sqrt(np.einsum("ij,ij->j", root, root))  # flat directions may overflow; nothing is proven along them
    return Curvature(factor, float(longest), lengths, n_rows, n_rows >= whole, error)


def rounded_distance(objective: Objective, W: Array) -> float:
    """The distance, in the norm of H, by which rounding in raw units moves the weights; offsets round the intercept."""
    return 4 * EPS * (1.0 + float(np.abs(W).dot(1.0 + objective.relative_offsets).sum()))


def _cancelled(objective: Objective, factor: Factor) -> float:
    """The largest ratio of the terms of a curvature along a direction of the subspace to the curvature itself.

    Along z = Σ_j z_j e_j the terms are up to (Σ_j |z_j| H_jj^½)², and H_jj^½ is at most 1 + r_j. Without
    mixed columns no terms cancel.
    """
    Z = objective.subspace.Z
    if Z is None or np.all(np.count_nonzero(Z, axis=0) == 1):
        return 1.0
    terms = np.abs(Z).T @ (1.0 + objective.root_penalty)
    times = np.max(np.tile(terms, len(factor.d) // max(1, len(terms))) / factor.d, initial=1.0)
    return float(min(times, LARGEST_ROOT_PENALTY)) ** 2


def _longest_row(objective: Objective, root: Array, subset: Block | None) -> float:
    """Max over rows, and over pairs of classes, of the squared H⁻¹-length of (e_k − e_l) ⊗ x̄; H⁻¹ = rootᵀ root."""
    space = objective.subspace
    if subset is None and space.Q is None and objective.dense_table is not None:
        return objective.dense_table.longest(root if space.Z is None else root @ space.Z.T)
    block = objective.rows.resident() if subset is None else subset
    partial: Partial[float]
    if space.Q is None:
        partial = LongestScores(root if space.Z is None else root @ space.Z.T)
        if subset is not None:
            return some_rows(subset).fold(partial)
    else:
        partial = _LongestPairs(tuple(_pair_inverses(root, space.Q)), space.Z)
    if block is None:
        return objective.rows.fold(partial)
    return partial.add(partial.zero(), block)  # all rows are only used if they are few, so threads would not help


@dataclass(frozen=True)
class _LongestPairs:
    """Max over rows of positive weight, and over matrices M, of (Zᵀx̄)ᵀ M (Zᵀx̄)."""

    inverses: tuple[Array, ...]
    Z: Array | None

    def zero(self) -> float:
        return 0.0

    def add(self, total: float, block: Block) -> float:
        counted = np.flatnonzero(block.weight > 0)
        for part in pieces(len(counted), ROWS_PER_LENGTH_PIECE):
            if block.is_written_out:
                X = block.written if len(counted) == len(block.written) else block.written[counted]
                X = X[part]
            else:
                X = block.take(counted[part]).homogeneous()
            X = X if self.Z is None else X @ self.Z
            for M in self.inverses:
                total = max(total, float(np.einsum("ij,ij->i", X @ M, X).max()))
        return total

    def merge(self, a: float, b: float) -> float:
        return max(a, b)


def _pair_inverses(root: Array, Q: Array) -> list[Array]:
    """For each pair of classes k < l, the (r, r) matrix cᵀ H⁻¹ c with c = Qᵀ(e_k − e_l)."""
    K, n_contrasts = Q.shape
    differences = np.array([Q[k] - Q[l] for k in range(K) for l in range(k)])
    halves = differences @ root.reshape(
        len(root), n_contrasts, root.shape[1] // n_contrasts
    )  # (rows of the root, pairs, r)
    return [half.T @ half for half in halves.transpose(1, 0, 2)]
