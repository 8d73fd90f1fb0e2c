r"""Second derivatives at one point, and what they prove of the optimum by self-concordance.

The third derivative of a logistic loss is at most its second times the change of score. So with H the Hessian at W (of
all rows, or of a subset; with the penalty), ‖v‖² = vᵀHv and R the largest change of a score over all v of length 1,

    H(W + v) ⪰ e^{−R‖v‖} H,                                                                                    (1)

for softmax with "change of score" read as that of a difference of two classes' scores. (1) is all that follows from
it here. Let λ² = gᵀH⁻¹g with g the gradient at W, u = λR < 1, and Δ = W* − W the way to the optimum.

``gap``       E(W) − E(W*) ≤ [u + (1 − u) ln(1 − u)]/R²: integrate (1) twice from W along Δ and minimise over ‖Δ‖.

``distance``  ‖Δ‖ ≤ −ln(1 − u)/R: the slope along Δ is zero at W*, so by (1), integrated once,
              λ‖Δ‖ ≥ −g·Δ ≥ ‖Δ‖² ∫₀¹ e^{−sR‖Δ‖} ds = ‖Δ‖ (1 − e^{−R‖Δ‖})/R.
              With absolute values in the penalty, g is any subgradient at W: the penalty's subgradients only add to the
              right-hand side, since they are monotone. For any c, |c·Δ| ≤ (cᵀH⁻¹c)^½ ‖Δ‖, and the standard error of
              c·W is (cᵀH⁻¹c/S)^½ with S the total weight. So every weight and every combination of weights is within
              S^½ ‖Δ‖ standard errors of the optimum's, in any coordinates.

``after``     At W + v, by (1), H is at least e^{−R‖v‖} times the H above: λ and R there are at most e^{R‖v‖/2} times
              what the factor at W gives. So the point after a Newton step needs no Hessian of its own.

H⁻¹ is known up to rounding (``error``). Where H by squares of the rows does not hold digits enough, it is found again
from a root of it.

Bach, Self-concordant analysis for logistic regression, Electronic Journal of Statistics 4 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.objectives.factor import Factor
from separatrix.objectives.partials import LongestScores
from separatrix.objectives.problem import LARGEST_ROOT, Objective
from separatrix.rows import Block, Partial, some_rows

# Rows whose lengths are measured at once: bounds the memory of R².
CHUNK = 1024
# With a direction to infinity λR ≥ 1 exactly; rounding must not take it below what counts.
SURE = 0.5
# The relative error of H⁻¹ by squares past which it is found again from a root of H.
ROUGH = 1e-3


@dataclass(frozen=True)
class Curvature:
    """H, factored on the identified directions, and how fast it can change.

    ``longest``: R above. ``lengths``: of H^−½ e for each unit vector e of these directions. ``n_rows``: how many rows H
    counts; ``complete``: whether those are all. ``error``: the relative error of gᵀH⁻¹g for any g. ``least``: H at the
    point in question is at least this times the factored one.

    >>> one = Curvature(Factor.of(np.eye(1)), longest=2.0, lengths=np.ones(1), n_rows=1, complete=True)
    >>> round(one.gap(0.1), 6), round(one.distance(0.1), 6)
    (0.005371, 0.111572)
    """

    factor: Factor
    longest: float
    lengths: Array
    n_rows: int
    complete: bool
    error: float = 0.0
    least: float = 1.0

    def decrement(self, g: Array, more: float = 0.0) -> float:
        """An upper bound on λ for a gradient in the coordinates of the identified directions; λ itself at W.

        ``more``: what is added to λ at the point of the factor.
        """
        return (float(np.linalg.norm(self.factor.half(g))) + more) / float(np.sqrt(self.least))

    def u(self, decrement: float) -> float:
        """λR."""
        return decrement * self.R

    @property
    def R(self) -> float:
        """An upper bound on R at the point in question."""
        return self.longest / float(np.sqrt(self.least))

    def gap(self, decrement: float) -> float:
        """A bound on E(W) − min E; infinite where λR is too large for one."""
        u, R = self.u(decrement), self.R
        if not u < SURE:
            return np.inf
        # For small u the bracket is u²/2 + u³/6 + …; its two terms would cancel.
        bracket = u + (1 - u) * np.log1p(-u) if u > 1e-4 else 0.5 * u**2 * (1 + u)
        return float(bracket / R**2) if R > 0 else 0.5 * decrement**2

    def distance(self, decrement: float) -> float:
        """A bound on ‖W − W*‖; infinite where λR is too large for one."""
        u, R = self.u(decrement), self.R
        if not u < SURE:
            return np.inf
        return float(-np.log1p(-u) / R) if R > 0 else decrement

    def after(self, v: Array) -> Curvature:
        """What this proves after a step v, in the coordinates of the identified directions."""
        length = float(self.factor.lengths(v[None, :])[0])
        return replace(self, least=self.least * float(np.exp(-self.longest * length)))

    def weaker(self, error: float) -> Curvature:
        """The same, with H known up to this relative error."""
        return replace(self, least=self.least * (1 - error))


def curvature_at(
    objective: Objective, W: Array, subset: Block | None = None, factor: Factor | None = None
) -> Curvature | None:
    """The curvature at W of the rows of ``subset``, by default of all; None where H is singular.

    ``factor``: of H there, where it is at hand.
    """
    factor = factor or objective.factor(W, subset)
    for _ in range(2):
        if factor is None:
            return None
        root = factor.half(np.eye(len(factor.d)))
        error = factor.rounding(root, _cancelled(objective, factor))
        if not (factor.squared and error > ROUGH):
            return _measured(objective, factor, root, error, subset)
        factor = objective.root_factor(W, subset)
    return None


def _measured(objective: Objective, factor: Factor, root: Array, error: float, subset: Block | None) -> Curvature:
    """The curvature that a factor holds; ``root``: the inverse of its root."""
    constant = objective.loss.traits.self_concordance
    longest = np.sqrt(_longest_row(objective, root, subset)) * constant if constant is not None else np.inf
    whole = objective.n_rows
    n_rows = whole if subset is None else subset.n_rows
    with np.errstate(over="ignore"):  # directions so flat that nothing is proven along them
        lengths = np.linalg.norm(root, axis=0)
    return Curvature(factor, float(longest), lengths, n_rows, n_rows >= whole, error)


def rounded_distance(objective: Objective, W: Array) -> float:
    """How far weights move, in H's length, when they are rounded in raw units, the intercept by all offsets."""
    frame = objective.rows.frame
    offset = np.abs(np.concatenate([[0.0], frame.center / frame.scale]))
    return float(4 * EPS * (1.0 + np.sum(np.abs(W) * (1.0 + offset))))


def _cancelled(objective: Objective, factor: Factor) -> float:
    """How much larger the terms are than the curvature that is summed of them along a direction of the subspace.

    Along z = Σ_j z_j e_j the terms are up to (Σ_j |z_j| H_jj^½)², and H_jj^½ is at most 1 + r_j. None cancel where
    directions are columns.
    """
    Z = objective.subspace.Z
    if Z is None or np.all(np.count_nonzero(Z, axis=0) == 1):
        return 1.0
    terms = np.abs(Z).T @ (1.0 + objective.root_penalty)
    times = np.max(np.tile(terms, len(factor.d) // max(1, len(terms))) / factor.d, initial=1.0)
    return float(min(times, LARGEST_ROOT)) ** 2


def _longest_row(objective: Objective, root: Array, subset: Block | None) -> float:
    """Max over rows, and over pairs of classes, of the squared H⁻¹-length of (e_k − e_l) ⊗ x̄; H⁻¹ = rootᵀ root."""
    space = objective.subspace
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
    return partial.add(partial.zero(), block)  # all rows are asked for where they are few: no threads for those


@dataclass(frozen=True)
class _LongestPairs:
    """Max over rows of positive weight, and over matrices M, of (Zᵀx̄)ᵀ M (Zᵀx̄)."""

    inverses: tuple[Array, ...]
    Z: Array | None

    def zero(self) -> float:
        return 0.0

    def add(self, total: float, block: Block) -> float:
        counted = np.flatnonzero(block.weight > 0)
        for start in range(0, len(counted), CHUNK):
            X = block.take(counted[start : start + CHUNK]).homogeneous()
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
    halves = differences @ root.reshape(len(root), n_contrasts, -1)  # (rows of the root, pairs, r)
    return [half.T @ half for half in halves.transpose(1, 0, 2)]
