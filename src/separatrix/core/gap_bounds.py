"""Upper bounds on the gap E(W) − inf E, which hold whatever W is and however it was found.

There are two, and ``bound`` returns the better one. ``duality`` takes no pass, but it needs a penalty on every column.
``affine`` needs second derivatives, but no penalty. It does not change under linear maps of the columns, and it has a
value only if an optimum exists (``exists``). Both include the effect of rounding, and both bound the error of the
weights, too. Solvers ask for the cost of second derivatives in passes over the rows, to choose the cheaper way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log1p, sqrt
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, Array, pieces
from separatrix.core.base.messages import Message
from separatrix.core.certificate import Bound, WeightErrorBound
from separatrix.core.duality_bound import Rounding, duality, reduced_error
from separatrix.core.linear_algebra import Factor, listed
from separatrix.core.objective_sums import Evaluation, LongestScores
from separatrix.core.problem import LARGEST_ROOT_PENALTY, Objective
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.memory_rows import some_rows
from separatrix.core.rows.protocol import Partial

# --- The cost of second derivatives, in passes over the rows

# Second derivatives that cost more passes than this are not computed if the duality bound becomes as small by passes.
MOST_PASSES_FOR_CURVATURE = 100
# The number of multiplications that a matrix product makes in the time of one multiplication of a pass.
PRODUCTS_PER_PASS_OPERATION = 10


def hessian_passes(objective: Objective) -> float:
    """The cost of a matrix of second derivatives in passes over the rows: p² products per row against its entries."""
    block, entries = objective.rows.resident(), float(objective.rows.n_features)
    if block is not None and is_sparse(block.X):
        X: Any = block.X
        entries = X.nnz / max(1, block.n_rows)
    return objective.size**2 / (PRODUCTS_PER_PASS_OPERATION * max(1.0, entries))


def counts_all_rows(objective: Objective) -> bool:
    """Whether second derivatives of all rows are cheap enough that no sample of them is needed."""
    return objective.n_rows * objective.size**2 <= 1 << 20  # then they cost no more than the overhead of few passes


def longest_row_is_cheap(objective: Objective) -> bool:
    """Whether a factor of second derivatives that is already known should be used for a bound over all rows."""
    return objective.n_rows * objective.size**2 <= 1 << 22


def share_of_rows(objective: Objective) -> float:
    """The share of the rows whose second derivatives the affine bound uses."""
    if counts_all_rows(objective):
        return 1.0
    return min(1.0, objective.framed.sample_size / max(1, objective.n_rows))


def factor_passes(objective: Objective) -> float:
    """The cost of a factor of second derivatives, in passes."""
    entries = max(1, objective.n_rows) * max(1, objective.rows.n_features)
    return hessian_passes(objective) + objective.size**3 / (PRODUCTS_PER_PASS_OPERATION * entries)


def thorough_passes(objective: Objective) -> float:
    """The cost of the affine bound in passes: a factor, a root of its inverse, and the lengths of the sample's rows.

    >>> import numpy as np
    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> problem = build_objective(labelled_rows(np.eye(20), np.arange(20) % 2, 2), 2, Penalty(1.0, np.ones(20)))
    >>> round(thorough_passes(problem), 3)
    6.725
    """
    second = hessian_passes(objective)
    return 2 * share_of_rows(objective) * second + factor_passes(objective) - second


# --- Second derivatives at one point

# Bounds require u = λR below this. If E has no minimum, λR ≥ 1 in exact arithmetic; the distance from 1 allows for
# rounding.
LARGEST_PROVEN_U = 0.5
# If the relative error of H⁻¹ exceeds this, it is computed again from a root of H.
LARGEST_INVERSE_ERROR = 1e-3


@dataclass(frozen=True)
class Curvature:
    """A factor of H on the identified directions, and a bound on how fast H can change.

    H is the Hessian at W, of all rows or of a subset, with the penalty. The third derivative of a logistic loss is at
    most its second times the change of score. So with ‖v‖² = vᵀHv and R the largest change of a score over all v of
    length 1,

        H(W + v) ⪰ e^{−R‖v‖} H,                                                                                  (1)

    where for softmax the change of score is that of the difference of two classes' scores. All bounds follow from (1).
    They use λ² = gᵀH⁻¹g with g the gradient at W, u = λR < 1, and Δ = W* − W, the way to the optimum. Bach,
    Self-concordant analysis for logistic regression, Electronic Journal of Statistics 4 (2010).

    ``longest``: R at W. ``lengths``: of H^−½ e for each unit vector e of these directions. ``n_rows``: the number of
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

    @property
    def R(self) -> float:
        """An upper bound on R at the current point."""
        return self.longest / sqrt(self.least)

    def gap(self, decrement: float) -> float:
        """The bound [u + (1 − u) ln(1 − u)]/R² on E(W) − min E; infinite if λR is too large.

        To prove it, integrate (1) twice from W along Δ and minimise over ‖Δ‖.
        """
        R = self.R
        u = decrement * R
        if not u < LARGEST_PROVEN_U:
            return np.inf
        # For small u the bracket is u²/2 + u³/6 + …; its two terms would cancel.
        bracket = u + (1 - u) * log1p(-u) if u > 1e-4 else 0.5 * u**2 * (1 + u)
        return bracket / R**2 if R > 0 else 0.5 * decrement**2

    def distance(self, decrement: float) -> float:
        """The bound −ln(1 − u)/R on ‖Δ‖ = ‖W − W*‖; infinite if λR is too large.

        The slope along Δ is zero at W*, so by (1), integrated once,

            λ‖Δ‖ ≥ −g·Δ ≥ ‖Δ‖² ∫₀¹ e^{−sR‖Δ‖} ds = ‖Δ‖ (1 − e^{−R‖Δ‖})/R.

        With absolute values in the penalty, g is any subgradient at W: the penalty's subgradients only add to the
        right-hand side, since they are monotone. For any c, |c·Δ| ≤ (cᵀH⁻¹c)^½ ‖Δ‖, and the standard error of c·W is
        (cᵀH⁻¹c/S)^½ with S the total weight. So every weight and every combination of weights is within S^½ ‖Δ‖
        standard errors of the optimum's, in any coordinates.
        """
        R = self.R
        u = decrement * R
        if not u < LARGEST_PROVEN_U:
            return np.inf
        return -log1p(-u) / R if R > 0 else decrement

    def after(self, v: Array) -> Curvature:
        """A valid curvature after a step v, in the coordinates of the identified directions.

        By (1), H at W + v is at least e^{−R‖v‖} times H at W, so λ and R there are at most e^{R‖v‖/2} times the values
        from the factor at W. No new Hessian is needed after a Newton step.
        """
        return self.weaker(exp(-self.longest * self.factor.length(v)))

    def weaker(self, share: float) -> Curvature:
        """The same curvature with a lower bound on H at the current point that is smaller by the factor ``share``."""
        # ``replace`` would take 1 % of the time of a fit of 50 × 2 rows.
        least = share * self.least
        return Curvature(self.factor, self.longest, self.lengths, self.n_rows, self.complete, self.error, least)


def curvature_at(
    objective: Objective, W: Array, subset: Block | None = None, factor: Factor | None = None
) -> Curvature | None:
    """The curvature at W of the rows of ``subset``, by default of all rows; None if H is singular.

    ``factor``: the factor of H at W, if it is already known. If H computed from squares of the rows has too few digits,
    it is computed again from a root.
    """
    factor, mixed = factor or objective.factor(W, subset), objective.subspace.Z is not None
    for _ in range(2):
        if factor is None:
            return None
        root = factor.inverse()
        error = factor.rounding(root, _cancelled(objective, factor) if mixed else 1.0)
        if not (factor.squared and error > LARGEST_INVERSE_ERROR):
            break
        factor = objective.root_factor(W, subset)
    else:
        return None
    constant, whole = objective.loss.traits.self_concordance, objective.n_rows
    n_rows = whole if subset is None else subset.n_rows
    with np.errstate(all="ignore"):  # flat directions may overflow; nothing is proven along them
        longest = sqrt(_longest_row(objective, root, subset)) * constant if constant is not None else np.inf
        lengths = np.sqrt(np.einsum("ij,ij->j", root, root))
    return Curvature(factor, float(longest), lengths, n_rows, n_rows >= whole, error)


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
    partial: Partial[float]
    if space.Q is None:
        M = root if space.Z is None else root @ space.Z.T
        partial = LongestScores(M)
        if subset is not None:
            return some_rows(subset).fold(partial)
        if objective.dense_table is not None:
            return objective.dense_table.longest(M)
    else:  # for each pair of classes k < l, the (r, r) matrix cᵀ H⁻¹ c with c = Qᵀ(e_k − e_l)
        K, n_contrasts = space.Q.shape
        differences = np.array([space.Q[k] - space.Q[l] for k in range(K) for l in range(k)])
        by_contrast = root.reshape(len(root), n_contrasts, root.shape[1] // n_contrasts)
        halves = differences @ by_contrast  # (rows of the root, pairs, r)
        partial = _LongestPairs(tuple(half.T @ half for half in halves.transpose(1, 0, 2)), space.Z)
    block = objective.rows.resident() if subset is None else subset
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
        for part in pieces(len(counted), 1024):  # limits the memory for R²
            if block.keeps_framed_array:
                X = block.framed_array if len(counted) == len(block.framed_array) else block.framed_array[counted]
                X = X[part]
            else:
                X = block.take(counted[part]).homogeneous()
            X = X if self.Z is None else X @ self.Z
            for M in self.inverses:
                total = max(total, float(np.einsum("ij,ij->i", X @ M, X).max()))
        return total

    def merge(self, a: float, b: float) -> float:
        return max(a, b)


# --- The bound by second derivatives

# The slope of lines below absolute values along null directions, relative to the penalty: below the first it counts as
# rounding, and above the second there is no bound.
SMALLEST_TILT, LARGEST_TILT = 1e-10, 1e-3
# Rounding that moves λ by less than this share of √E, and weights by fewer standard errors than this, is not refined.
NEGLIGIBLE_ROUNDING = 1e-7


class Evidence(NamedTuple):
    """A bound, and the second derivatives that prove it, if they do."""

    bound: Bound
    curvature: Curvature | None = None


def affine(objective: Objective, W: Array, at: Evaluation, subset: Block | None = None) -> Bound:
    """The bound by self-concordance, with the second derivatives of ``subset``.

    By default these are all rows, or a sample if there are many. A sample takes less work and gives a larger bound.

    With u = λR for the ``Curvature`` of these rows: if u < 1 the optimum exists, and ``Curvature`` bounds the gap and
    the distance of the weights from the optimum's. Absolute values are replaced by lines below them. The bound holds
    for all directions: either those outside the subspace are exactly null, or there is no bound.
    """
    return by_curvature(objective, W, at, subset).bound


def by_curvature(objective: Objective, W: Array, at: Evaluation, subset: Block | None = None) -> Evidence:
    """``affine`` with the second derivatives that prove it."""
    curvature = None
    if not objective.loss.traits.convex:
        reason = "this cost is not convex: other minima may be lower"
    elif objective.loss.traits.self_concordance is None:
        reason = "no bound is known for this loss, because its third derivative is not bounded by its second"
    elif not objective.has_hessian:
        reason = f"{objective.size} parameters are too many for a matrix of second derivatives"
    else:
        if subset is None and not counts_all_rows(objective):
            subset = objective.framed.sampled.block
        curvature = curvature_at(objective, W, subset)
        reason = "the Hessian is singular to working precision: weights may grow without end"
    if curvature is None:
        return Evidence(Bound.unknown("self-concordance", reason))
    return Evidence(proven(objective, W, at, curvature), curvature)


def proven(objective: Objective, W: Array, at: Evaluation, curvature: Curvature) -> Bound:
    """The bound at W that a curvature there, or nearby, proves."""
    kind, rounding = "self-concordance", Rounding.of(objective, W, at)
    gradient, slack = _below(objective, W, at.gradient)
    aside = _aside(objective, gradient) if objective.has_absolute else np.zeros(objective.shape[1])
    if aside is None:
        return Bound.unknown(kind, "the gradient has a part outside the identified directions")
    if not curvature.least > 0:
        return Bound.unknown(
            kind, "the last step was too long for the second derivatives before it to prove a bound after it"
        )
    error = curvature.error + rounding.curvature(objective, W, curvature.R)
    if not error < 0.5:  # the relative error of H⁻¹, rounding of the scores included
        return Bound.unknown(kind, "the Hessian is so close to singular that rounding hides its inverse")
    weaker = curvature.weaker(1.0 - error)
    ways = _decrements(objective, W, at.value, gradient, aside, weaker, rounding)
    gap, u = min((weaker.gap(decrement) + more, decrement * weaker.R) for decrement, more in ways)
    if not u < LARGEST_PROVEN_U:
        return Bound.unknown(kind, f"no bound yet: λR = {u:.3g}, and a bound needs λR < {LARGEST_PROVEN_U}")
    if objective.unresolved:
        bound = Bound.of_gap(gap + slack, at.value, rounding.value, kind)
        return replace(Bound.unknown(kind, unresolved_reason(objective)), resolved=bound.value)
    # Charges that are added to the gap alone do not bound the error of the weights.
    decrement = min(decrement for decrement, more in ways if more == 0.0)
    weights = _weight_error(objective, W, weaker, decrement)
    return Bound.of_gap(gap + slack, at.value, rounding.value, kind, weights)


def _decrements(
    objective: Objective, W: Array, E: float, gradient: Array, aside: Array, curvature: Curvature, rounding: Rounding
) -> list[tuple[float, float]]:
    """Upper bounds on λ that include rounding, each with an amount to add to the gap. Any of them may be used."""
    space = objective.subspace
    size = float(np.linalg.norm(curvature.factor.half(space.reduce(gradient))))
    off = float(reduced_error(space, rounding.gradient + aside).dot(curvature.lengths))
    ways = [(curvature.decrement(size + off), 0.0)]
    noticed = max(NEGLIGIBLE_ROUNDING * sqrt(abs(E)), 0.01 * curvature.decrement(size))
    if off > min(noticed, NEGLIGIBLE_ROUNDING / in_standard_errors(objective, 1.0)):
        # With few parameters the rounding of scores is charged by the diagonal of the Hessian itself.
        few = objective.size <= 300 and not objective.n_offsets and curvature.complete
        roots = curvature.factor.lengths(space.reduce_rows(np.eye(objective.size))) if few else None
        for error, far, more in rounding.otherwise(objective, W, aside, roots):
            ways.append((curvature.decrement(size + float(error @ curvature.lengths) + far), more))
    return ways


def _weight_error(objective: Objective, W: Array, curvature: Curvature, decrement: float) -> WeightErrorBound:
    if objective.has_absolute and objective.shape[0] > 1:
        reason = "absolute values of several classes' weights leave a shift common to all classes undetermined"
        return WeightErrorBound(None, "", reason)
    if objective.weak_columns is not None:
        return WeightErrorBound(None, "", "a penalty is weaker than rounding")
    if not decrement * curvature.R < LARGEST_PROVEN_U:
        return WeightErrorBound(None, "", "rounding hides the distance of the weights from the optimum")
    # Rounding in raw units, where offsets round the intercept, moves the weights by the second term.
    size = np.abs(W)
    moved = 4 * EPS * (1.0 + float(size.sum() + (size[:, 1:] @ objective.framed.relative_offsets).sum()))
    distance = curvature.distance(decrement) + moved
    if len(W) > 1:  # the shift common to all classes, which is zero at the optimum
        distance += sqrt(len(W)) * float(np.linalg.norm(objective.root_penalty * W.mean(axis=0)))
    unit = "standard errors of its optimal value"
    if np.count_nonzero(objective.root_penalty):
        unit = "standard errors (from the penalised Hessian) of its optimal value"
    if not curvature.complete:
        unit += f", with standard errors estimated from {curvature.n_rows} of the rows alone"
    return WeightErrorBound(in_standard_errors(objective, distance), unit)


def unresolved_reason(objective: Objective) -> str:
    """The reason why a bound over the resolved directions does not hold for all directions; empty if it does."""
    if not objective.unresolved:
        return ""
    columns = [j - 1 for j in objective.unresolved if j > 0]
    return Message(
        listed(columns, objective.names),
        " are collinear but for differences that float64 cannot resolve, and without a penalty the objective depends "
        "on them",
    )


def _aside(objective: Objective, gradient: Array) -> Array | None:
    """How far the lines below absolute values must be moved, (d + 1,), to be level along null directions.

    Loss and penalty are constant along a null direction v, but the lines s·W may rise along it by rounding. With
    |s·v| up to the share ε of a, the lines (1 − ε) s minus a part within ±ε a are level and still below a |W|. None if
    the slope is too large to be rounding.
    """
    a, space = objective.absolute_penalty, objective.subspace
    if space.Z is None and space.Q is None:
        return np.zeros_like(a)
    rest = np.max(np.abs(space.remainder(gradient)), axis=0)
    share = float(np.max(rest[a > 0] / a[a > 0], initial=0.0)) + SMALLEST_TILT
    return 2 * share * a if share < LARGEST_TILT and np.all(rest[a == 0] <= SMALLEST_TILT * np.max(a)) else None


def _below(objective: Objective, W: Array, gradient: Array) -> tuple[Array, float]:
    """The gradient at W of a smooth function below E, and E(W) minus that function. A bound for it is a bound for E.

    Absolute values are replaced by lines, and a penalty weaker than rounding is left out. For K scores the shift common
    to all is removed: only the penalty depends on it and is smallest without it.
    """
    slack, r = 0.0, objective.root_penalty
    if objective.has_absolute:
        gradient, slack = _linearised(objective, W, gradient)
    weak = objective.weak_columns
    if weak is not None:
        gradient = gradient - np.where(weak, objective.penalty_gradient(W), 0.0)
        slack += 0.5 * float(np.sum((r * W)[:, weak] ** 2))
    if len(W) > 1:
        slack += 0.5 * len(W) * float(np.linalg.norm(r * W.mean(axis=0))) ** 2
    return gradient, slack


def _linearised(objective: Objective, W: Array, gradient: Array) -> tuple[Array, float]:
    """∇f + s and Σ a |W| − s·W, for an s with |s| ≤ a: E ≥ f + s·W everywhere.

    For one score s belongs to the shortest subgradient, for which the second value is zero. For more scores s is
    proportional to −∇f in each column, so that it sums to zero over the classes as ∇f does, and f + s·W is bounded
    along a common shift.
    """
    if objective.shape[0] == 1:
        return objective.subgradient(W, gradient), 0.0
    a, largest = objective.absolute_penalty, np.max(np.abs(gradient), axis=0)
    s = -gradient * np.divide(a, largest, out=np.ones_like(a), where=largest > a)
    s[:, a == 0] = 0.0
    return gradient + s, float(np.sum(a * np.abs(W) - s * W))


def in_standard_errors(objective: Objective, distance: float) -> float:
    """A length by the Hessian of the mean, times S^½: the length by the Hessian of the sum, in standard errors."""
    return sqrt(objective.total_weight * objective.weight_unit) * distance


# --- The better of the two bounds

NOT_LOOKED_FOR = Evidence(Bound.unknown("none", "not computed yet"))


def bound(objective: Objective, W: Array, at: Evaluation, thorough: bool, last: bool = False) -> Bound:
    """The better of the two bounds.

    The affine bound needs second derivatives and is computed only if ``thorough``. ``last``: this is the last request,
    so they are computed whatever they cost. For an objective in raw coordinates the bound is that of ``standard``,
    which takes a pass and is computed only if ``thorough``.
    """
    return with_weights(objective, evidence(objective, W, at, thorough, last).bound)


def evidence(objective: Objective, W: Array, at: Evaluation, thorough: bool, last: bool = False) -> Evidence:
    """``bound`` with the second derivatives that were computed for it."""
    twin = objective.standard
    if twin is not None:
        if not thorough:
            return NOT_LOOKED_FOR
        framed = twin.rows.frame.from_original(objective.rows.frame.to_original(W))
        return Evidence(bound(twin, framed, twin.value_gradient(framed), thorough=True, last=last))
    cheap = duality(objective, W, at)
    if not thorough or (cheap.value is not None and not last and _is_costly(objective)):
        return Evidence(cheap)
    sharp = by_curvature(objective, W, at)
    return Evidence(better(cheap, sharp.bound), sharp.curvature)


def _is_costly(objective: Objective) -> bool:
    """Whether second derivatives cost more than the passes that would make the duality bound as small."""
    return share_of_rows(objective) * hessian_passes(objective) > MOST_PASSES_FOR_CURVATURE


def better(cheap: Bound, sharp: Bound) -> Bound:
    """The smaller of two bounds, with the bound on the weights of ``sharp``, the one by second derivatives."""
    if cheap.value is None and sharp.value is None:
        return sharp
    smaller = min((cheap, sharp), key=lambda b: b.known)
    return replace(smaller, weights=sharp.weights) if sharp.weights.value is not None else smaller


def largest_curvature(objective: Objective) -> float:
    """An upper bound on the curvature of E anywhere: ∇E is L-Lipschitz with this L."""
    lipschitz = objective.loss.traits.lipschitz
    if lipschitz is None:
        return np.inf
    if objective.has_gram:
        top = float(np.linalg.eigvalsh(objective.columns.gram)[-1])
    else:
        top = float(np.sum(objective.framed.root_second_moments**2))
    return lipschitz * top + float(np.max(objective.root_penalty) ** 2)


def with_weights(objective: Objective, bound: Bound) -> Bound:
    """The bound with a bound on the weights: if it has none yet, the one that follows from the penalty's curvature.

    A gap ε implies ½ Σ_j r_j² (W_j − W*_j)² ≤ ε with the penalty's r_j, by strong convexity. So |w_j − w*_j| is at most
    (2 S ε)^½ (C/f_j)^½.
    """
    if bound.value is None or bound.weights.value is not None:
        return bound
    quadratic = objective.penalty.quadratic[~objective.pinned[1:]]
    if np.all(quadratic > 0):
        scale = "√C" if np.all(quadratic == objective.penalty.strength) else "√(C/f), f its quadratic penalty's factor,"
        unit = f"{scale} of its optimal value, except intercepts"
        held = WeightErrorBound(in_standard_errors(objective, np.sqrt(2 * bound.value)), unit)
    else:
        reason = "a column has no quadratic penalty, and no second derivatives were computed"
        held = WeightErrorBound(None, "", reason)
    return bound if held.value is None and bound.weights.is_told else replace(bound, weights=held)


# --- The existence of an optimum

# Smallest ratio of the smallest to the largest curvature at which a fit is trusted not to diverge, assuming that the
# columns have similar spread.
SMALLEST_RELATIVE_CURVATURE = 1e-8


def flat(factor: Factor | None) -> bool:
    """Whether the smallest curvature is so small relative to the largest that the maximum may be at infinity.

    >>> flat(Factor.of(np.diag([1.0, 1e-3]))), flat(Factor.of(np.diag([1.0, 1e-9])))
    (False, True)
    """
    if factor is None:
        return True
    pivots = (factor.d * np.diag(factor.lower)) ** 2
    return bool(pivots.min(initial=np.inf) < SMALLEST_RELATIVE_CURVATURE * pivots.max(initial=0.0))


def in_doubt(problem: Objective, W: Array, bound: Bound, factor: Factor | None = None) -> bool:
    """Whether weights without a penalty may grow without bound, because the bound at W does not prove an optimum.

    ``factor`` is the factor of the Hessian that the bound was computed with, if the caller still has it.
    """
    free = problem.loss.traits.likelihood and problem.has_unpenalised and len(problem.free_columns) > 0
    return free and not exists(problem, W, bound, factor)


def exists(problem: Objective, W: Array, bound: Bound, factor: Factor | None = None) -> bool:
    """Whether the bound at W, in the coordinates of ``problem``, proves that an optimum exists.

    E is convex, g is its gradient at W, and H is the Hessian at W of a subset of the rows. Along W + s v, with
    ‖v‖_H = 1, the slope starts at g·v ≥ −λ, where λ² = gᵀH⁻¹g. The second derivative of the subset is 1 at s = 0 and at
    least e^{−Rs} afterwards, because scores change by at most R per unit of s (self-concordance of the logistic loss).
    The second derivative of the other rows is not negative. Hence

        slope(s) ≥ −λ + (1 − e^{−Rs})/R.

    If λR < 1, this is positive for all s above a threshold that is the same for all v. Then E increases outside a ball,
    in every direction that the columns determine, and has its minimum inside. If E has a direction of recession there
    is no minimum, so λR ≥ 1 at every W. The bound by ``affine`` has a value only if λR < 1: **if the bound has a value,
    an optimum exists.**

    In floating point this holds as long as the smallest curvature of H is well above rounding error. When a fit
    diverges to infinity, each step reduces both the curvature and g by a factor e, until cancellation dominates both.
    If the relative curvature is at least SMALLEST_RELATIVE_CURVATURE, λR has about eight correct digits. If it is
    smaller, if there is no bound (the fit stopped early), or if the loss has no such bound (probit, complementary
    log-log), the fit does not decide whether a maximum exists, and the rows have to be tested for separation.

    ``factor`` is the factor of the Hessian that the bound was computed with, if the caller still has it.

    >>> from separatrix.core.gap_bounds import affine
    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> X, W = np.array([[0.0], [1.0], [2.0], [3.0]]), np.zeros((1, 2))
    >>> for codes in ([0, 1, 1, 0], [0, 0, 1, 1]):
    ...     problem = build_objective(labelled_rows(X, np.array(codes), 2, np.ones(4)), 2, Penalty(0.0, np.ones(1)))
    ...     exists(problem, W, affine(problem, W, problem.value_gradient(W)))
    True
    False
    """
    if bound.value is None or bound.kind != "self-concordance":
        return False
    if factor is not None:
        return not flat(factor)
    twin = problem.standard
    if twin is not None:
        problem, W = twin, twin.rows.frame.from_original(problem.rows.frame.to_original(W))
    return not flat(problem.factor(W, problem.framed.sampled.block))
