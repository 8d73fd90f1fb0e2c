"""A maximum of the likelihood, its curvature, and the covariances that follow from it.

    classical   V = H⁻¹,          H = Σ s ℓ″ x̄ x̄ᵀ, the observed information
    HC0, HC1    V = H⁻¹ M H⁻¹,    M = Σ s² ℓ′² x̄ x̄ᵀ (for frequencies: Σ s ℓ′² x̄ x̄ᵀ); HC1 times n/(n − k)
    cluster     the same with M = Σ_g u_g u_gᵀ, u_g the sum of s ℓ′ x̄ over the rows of group g,
                times G/(G − 1) · (n − 1)/(n − k)

with k coefficients and G groups. The factors are those of Stata's regress; statsmodels has the same factor for
clusters, but none for HC1 in likelihood models. Everything is computed in the standard frame's coordinates, on the
directions that the columns identify, and mapped to the columns' own units by the frame's linear map, so that large
offsets and extreme units of columns do not reduce accuracy.

White, Maximum likelihood estimation of misspecified models, Econometrica 50 (1982); Liang and Zeger, Longitudinal data
analysis using generalized linear models, Biometrika 73 (1986).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from separatrix.core.base.arrays import EPS, Array, Integers, check_choice
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.base.labels import encode, unsigned
from separatrix.core.base.lazy import cached_property
from separatrix.core.gap_bounds import flat
from separatrix.core.linear_algebra import Factor, contrasts, identified
from separatrix.core.losses import Loss
from separatrix.core.newton_step import damped_step, newton_direction
from separatrix.core.objective_sums import Evaluation, Hessian, ValueGradient
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block
from separatrix.core.rows.frame import LARGE_OFFSET, Frame, power_of_two
from separatrix.core.rows.protocol import ArraySum, Order
from separatrix.statistics.summary_request import SummaryRequest


@dataclass(frozen=True)
class Directions:
    """W = (0, B θ): the first class has score zero, and the orthonormal basis B spans the weights of the others.

    This is a subspace of W that is spanned by pairs of a row and a class, and is not a product of classes and columns.
    It has the interface of a ``Subspace``, which maps gradients, rows and Hessians to fewer coordinates and back.

    ``basis``: B, (K − 1 times the number of free columns, r); ``free`` (width,): which columns are free.

    >>> space = Directions(np.eye(4)[:, :3], np.array([True, True, False]))
    >>> space.expand(np.array([1.0, 2.0, 3.0])).tolist()
    [[0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [3.0, 0.0, 0.0]]
    """

    basis: Array
    free: Any

    def reduce(self, G: Array) -> Array:
        return np.asarray(self.reduce_rows(G.reshape(1, -1))[0])

    def expand(self, theta: Array) -> Array:
        other = (self.basis @ theta).reshape(-1, int(self.free.sum()))
        W = np.zeros((1 + len(other), len(self.free)))
        W[1:, self.free] = other
        return W

    def reduce_rows(self, rows: Array) -> Array:
        own = rows.reshape(len(rows), -1, len(self.free))[:, 1:, self.free]
        return np.asarray(own.reshape(len(rows), -1) @ self.basis)

    def reduce_hessian(self, H: Array) -> Array:
        return self.reduce_rows(self.reduce_rows(H).T)


@dataclass(frozen=True)
class Expansion(ArraySum):
    """Σ s ℓ and its gradient, then its Hessian, in one pass: ``ValueGradient`` and ``Hessian`` side by side."""

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return (1 + self.W.size + self.W.size**2,)

    def add(self, total: Array, block: Block) -> Array:
        first = 1 + self.W.size
        ValueGradient(self.loss, self.W).add(total[:first], block)
        Hessian(self.loss, self.W).add(total[first:].reshape(self.W.size, self.W.size), block)
        return total


def expansion(problem: Objective, W: Array) -> tuple[Evaluation, Array]:
    """E and ∇E at W, and ∇² of the mean loss, in one pass."""
    total = problem.rows.fold(Expansion(problem.loss, W)) / problem.total_weight
    first = 1 + W.size
    gradient = problem.without_pinned(total[1:first].reshape(W.shape)) + problem.penalty_gradient(W)
    return Evaluation(float(total[0]) + problem.penalty_value(W), gradient), total[first:].reshape(W.size, W.size)


def holding(problem: Objective, columns: Any, hessian: Array) -> Objective:
    """The problem with further columns pinned, that is, with their weights fixed.

    If the Hessian is well above zero in every direction, it shows which directions are identified, without a pass over
    the rows.
    """
    held = problem.with_(pinned=problem.pinned | columns)
    curvature = np.einsum("kikj->ij", hessian.reshape(*problem.shape, *problem.shape))
    curvature[held.pinned, :] = curvature[:, held.pinned] = 0.0
    found = identified(curvature)
    if found is None:
        return held
    Q = contrasts(problem.shape[0]) if problem.shape[0] > 1 else None
    return held.with_(subspace=replace(found, Q=Q))


# --- A maximum of the likelihood

# A coefficient is identified if directions that do not change the scores change it by at most this share of the sum of
# the absolute values of its terms.
LARGEST_UNIDENTIFIED_SHARE = 1e-6
# Entries of an orthonormal basis below this are rounding errors.
LARGEST_ROUNDED_ENTRY = 1e-9
# A column is constant if its curvature is at most this share of the size of the terms that are summed, since the sum is
# then only rounding error.
LARGEST_CONSTANT_CURVATURE = 1e-13
# Refinement ends at this distance from the maximum, in standard errors, or after this many steps. Newton's method
# squares the distance in each step, so few steps are enough.
REFINED_DISTANCE, MOST_REFINING_STEPS = 1e-9, 20
# Smallest distance from the maximum, in standard errors, at which a full Newton step that brings no improvement is
# damped. At a smaller distance rounding is the cause, and refinement ends.
SMALLEST_DAMPED_DISTANCE = 1e-3
# A second step with the same Hessian is tried only below this distance from the maximum, in standard errors, and is
# accepted only if its length is below this share of the first step's.
TRUSTED_STEP_SHARE = 0.5


@dataclass(frozen=True)
class Estimate:
    """The maximum W (K or 1, width) of the likelihood of ``problem``, and the maps from W to the coefficients.

    In the standard frame a score is W x̄ with x̄ = (1, (x − c)/s), so the raw weights are linear in W:

        w_j = W_j/s_j,    b = W_0 − Σ_j (c_j/s_j) W_j

    For K classes, only differences from a reference class are meaningful. A coefficient is identified if, as a function
    of W, it is constant along every direction that leaves all scores unchanged.

    A (q, K or 1) has the contrasts between classes, and Phi (m, width) maps W to raw weights. ``raw`` (K or 1, 1 + d)
    are the raw weights. ``total`` is Σ s in the units of the sample weights. ``held`` marks the rows of Phi whose
    coefficient is fixed, because its column is constant and there is an intercept. Coefficients are numbered contrast
    by contrast. ``at`` and ``hessian`` are E with its gradient, and ∇² of the mean loss, at W.
    """

    problem: Objective
    W: Array
    raw: Array
    A: Array
    Phi: Array
    total: float
    at: Evaluation
    hessian: Array
    held: Any

    @cached_property
    def factor(self) -> Factor:
        """The factor of the Hessian of the mean loss on the identified directions."""
        found = self._cholesky or self.problem.factor(self.W)
        if found is None:
            problem = "the information matrix is singular to working precision"
            raise InputError("X", problem, "drop columns that are nearly collinear, or give more rows")
        return found

    @cached_property
    def _cholesky(self) -> Factor | None:
        return Factor.of(self.problem.subspace.reduce_hessian(self.hessian))

    @property
    def is_flat(self) -> bool:
        """Whether the likelihood has almost no curvature in some direction, so that its maximum may be at infinity."""
        return flat(self._cholesky)

    @property
    def n_coefficients(self) -> int:
        """The number of coefficients that the rows determine."""
        return len(self.problem.subspace.reduce(np.zeros(self.problem.shape)))

    @property
    def coefficients(self) -> Array:
        """The coefficients (q, m) in the columns' own units."""
        return np.asarray(self.A @ self.raw[:, 1 - self._first :])

    @property
    def _first(self) -> int:
        """1 if the first row of Phi is the intercept, else 0."""
        return len(self.Phi) - (int(self.raw.shape[1]) - 1)

    @cached_property
    def identified(self) -> Any:
        """Which of Phi's coefficients the rows determine, (m,); fixed (``held``) ones are excluded."""
        return ~self.held & determined(self.problem, self.Phi)

    @cached_property
    def F(self) -> Array:
        """The coefficients A ⊗ Phi as functions of the identified directions, (q m, r)."""
        space: Any = self.problem.subspace
        if isinstance(space, Directions):
            return space.reduce_rows(np.asarray(np.kron(self.A, self.Phi), dtype=np.float64))
        left = self.A if space.Q is None else self.A @ space.Q
        right = self.Phi if space.Z is None else self.Phi @ space.Z
        return np.asarray(np.kron(left, right), dtype=np.float64)

    @property
    def log_likelihood(self) -> float:
        return -(self.at.value - self.problem.penalty_value(self.W)) * self.total

    @property
    def null_log_likelihood(self) -> float:
        return -self.problem.null_value * self.total

    @cached_property
    def distance(self) -> float:
        """The Newton decrement: to first order, the distance from the maximum, in standard errors of a coefficient."""
        g = self.problem.subspace.reduce(self.at.gradient)
        return float(np.linalg.norm(self.factor.half(g))) * float(np.sqrt(self.total))


def estimate_of(asked: SummaryRequest, reference: Any = None) -> Estimate:
    """The fitted weights as an estimate. With an intercept, the weights of constant columns are fixed."""
    problem, raw = build_objective_of(asked), asked.claim.scorer.W
    beside = np.hstack([raw, np.eye(len(raw), problem.n_offsets)])
    W = problem.rows.frame.from_original(beside)
    at, hessian = expansion(problem, W)
    constant = _constant(problem, hessian) if problem.fit_intercept else np.zeros(problem.shape[1], dtype=bool)
    problem = holding(problem, constant, hessian)
    Phi = raw_weights(problem)
    held = np.concatenate([[False], constant[1 : raw.shape[1]]])[1 - problem.fit_intercept :]
    return Estimate(problem, W, raw, contrast(asked, reference), Phi, asked.total_weight, at, hessian, held)


def refined(estimate: Estimate) -> Estimate:
    """The maximum itself, by Newton's method from the fitted weights.

    The tolerance of a fit limits the error of the likelihood. The error of a coefficient is about its square root.
    """
    for _ in range(MOST_REFINING_STEPS):
        if estimate.distance <= REFINED_DISTANCE:
            break
        step = newton_direction(estimate.problem, estimate.at.gradient, estimate.factor)
        nearer = _moved_to(estimate, estimate.W + step + _second_step(estimate, step))
        if not nearer.distance < 0.5 * estimate.distance:
            if not estimate.distance > SMALLEST_DAMPED_DISTANCE:
                break
            damped = damped_step(estimate.problem, estimate.W, estimate.at, step)
            if damped is None:  # rounding allows no further step
                break
            nearer = _moved_to(estimate, damped[0])
        estimate = nearer
    return estimate


def _second_step(estimate: Estimate, step: Array) -> Array | float:
    """A second step with the same Hessian, if the first step does not suffice; zero if it is not needed or accepted.

    A gradient alone takes a third of the time of a gradient with a Hessian. Shamanskii, Ukrainian Mathematical Journal
    19 (1967).
    """
    if not REFINED_DISTANCE < estimate.distance**2 < TRUSTED_STEP_SHARE**2:
        return 0.0
    there = estimate.problem.value_gradient(estimate.W + step)
    more = newton_direction(estimate.problem, there.gradient, estimate.factor)
    return more if np.linalg.norm(more) < TRUSTED_STEP_SHARE * np.linalg.norm(step) else 0.0


def _moved_to(estimate: Estimate, W: Array) -> Estimate:
    raw = estimate.problem.rows.frame.to_original(W)[:, : estimate.raw.shape[1]]
    at, hessian = expansion(estimate.problem, W)
    return replace(estimate, W=W, raw=raw, at=at, hessian=hessian)


def build_objective_of(asked: SummaryRequest) -> Objective:
    """The objective of a request. One that is too large for a Hessian is refused."""
    problem = asked.objective()
    if not problem.has_hessian:
        fault = f"{problem.size} coefficients are too many for a matrix of second derivatives"
        raise InputError("X", fault, "ask for a summary of a model of fewer columns")
    return problem


def contrast(asked: SummaryRequest, reference: Any) -> Array:
    """The contrasts (K − 1, K) of each class's score with that of the reference class; ±1 if there is one score."""
    classes = asked.claim.scorer.classes.tolist()
    if reference is not None and reference not in classes:
        raise ParameterError("reference", f"got {reference!r}", f"name one of the classes {classes}")
    at = 0 if reference is None else classes.index(reference)
    if len(classes) > 2:
        found = np.delete(np.eye(len(classes)), at, axis=0)
        found[:, at] = -1.0
        return found
    if at == 1 and asked.claim.loss == "cloglog":
        remedy = f"leave it at {classes[0]!r}, or swap the labels and fit again"
        raise ParameterError("reference", "complementary log-log is another model with the classes swapped", remedy)
    return np.array([[1.0 if at == 0 else -1.0]])


def raw_weights(problem: Objective) -> Array:
    """Phi: the intercept, if there is one, and the raw weights as linear functions of W's free columns."""
    frame, own = problem.rows.frame, problem.rows.n_features - problem.n_offsets
    Phi = np.zeros((own + 1, problem.shape[1]))
    Phi[0, 0] = 1.0
    Phi[0, 1 : own + 1] = -frame.center[:own] / frame.scale[:own]
    Phi[np.arange(1, own + 1), np.arange(1, own + 1)] = 1.0 / frame.scale[:own]
    Phi[:, problem.pinned] = 0.0
    return Phi[1 - problem.fit_intercept :]


def determined(problem: Objective, Phi: Array) -> Any:
    """Which functions Phi (m, width) of W's free columns are constant along directions that do not change scores."""
    Z, free = problem.subspace.Z, ~problem.pinned
    if Z is None:
        return np.ones(len(Phi), dtype=bool)
    N = np.linalg.svd(Z[free], full_matrices=True)[0][:, Z.shape[1] :]
    return unmoved(Phi[:, free], N, problem.rows.frame)


def unmoved(F: Array, N: Array, frame: Frame) -> Any:
    """Which functions F (m, width) are constant along all directions N (width, q), orthonormal in the frame."""
    rounding = max(LARGEST_ROUNDED_ENTRY, 64 * EPS * float(np.max(np.abs(frame.center / frame.scale), initial=1.0)))
    N = np.where(np.abs(N) < rounding, 0.0, N)
    return np.all(np.abs(F @ N) <= LARGEST_UNIDENTIFIED_SHARE * (np.abs(F) @ np.abs(N)), axis=1)


def _constant(problem: Objective, hessian: Array) -> Any:
    """Which columns are zero in the centred frame up to rounding, (width,); the intercept is not one of them."""
    frame = problem.rows.frame
    diagonal = np.diag(hessian).reshape(problem.shape).max(axis=0)
    # If rows are centred explicitly, a constant column is exactly zero. Only CSR columns with a small offset are not:
    # they have rounding errors.
    size = 1.0 + np.minimum(np.abs(frame.center / frame.scale), LARGE_OFFSET) ** 2
    found = diagonal[1:] <= LARGEST_CONSTANT_CURVATURE * size * diagonal[0]
    if np.any(found):  # near separation only touching rows have curvature, and a column may be constant on these
        found &= problem.framed.root_second_moments[1:] ** 2 <= LARGEST_CONSTANT_CURVATURE * size
    if problem.n_offsets:
        found[-problem.n_offsets :] = False
    return np.concatenate([[False], found])


# --- Covariances of functions of the weights

# Number of rows whose gradients are in memory at once while gradients are summed by group.
ROWS_SUMMED_AT_ONCE = 4096


@dataclass(frozen=True)
class Classical:
    """F H⁻¹ Fᵀ with H = total · LLᵀ, computed as the square of L⁻¹Fᵀ, so that its diagonal has no cancellation."""

    factor: Factor
    total: float

    def of(self, F: Array) -> Array:
        half = self.factor.half(F.T)
        return np.asarray(half.T @ half) / self.total

    def variances(self, F: Array) -> Array:
        half = self.factor.half(F.T)
        return np.asarray(np.sum(half * half, axis=0)) / self.total


@dataclass(frozen=True)
class Sandwich:
    """F H⁻¹ M H⁻¹ Fᵀ times ``scale``."""

    factor: Factor
    meat: Array
    scale: float

    def of(self, F: Array) -> Array:
        inner = self.factor.solve(np.ascontiguousarray(F.T))
        return np.asarray(inner.T @ self.meat @ inner) * self.scale

    def variances(self, F: Array) -> Array:
        inner = self.factor.solve(np.ascontiguousarray(F.T))
        return np.asarray(np.maximum(np.sum(inner * (self.meat @ inner), axis=0), 0.0)) * self.scale


# The covariance F V Fᵀ, (p, p), of linear functions F Θ, with F (p, r) on the identified directions, and its diagonal.
Covariance: TypeAlias = Classical | Sandwich


def standard_errors(covariance: Covariance, F: Array) -> Array:
    """The standard errors of the functions F Θ, (p,).

    Functions are first scaled to the same size, because the variance for a column in units of 1e200 would be 1e-400,
    which underflows.

    >>> flat = Classical(Factor.of(np.eye(1)), 4.0)
    >>> standard_errors(flat, np.array([[1.0], [2.0**-900]])).tolist() == [0.5, 2.0**-901]
    True
    """
    unit = power_of_two(np.max(np.abs(F), axis=1, initial=0.0))
    return np.asarray(np.sqrt(covariance.variances(F / unit[:, None])) * unit)


@dataclass(frozen=True)
class Scatter(ArraySum):
    """Σ u (∂ℓ ∂ℓᵀ) ⊗ x̄ x̄ᵀ, (K (d + 1))²; u = s² if ``by_class`` is None, else s times the weight of the class."""

    loss: Loss
    W: Array
    by_class: Array | None

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.W.size, self.W.size)

    def add(self, total: Array, block: Block) -> Array:
        K, width = self.W.shape
        r = residuals(self.loss, self.W, block)
        if self.by_class is None:
            u = block.weight**2
        else:
            u = block.weight * self.by_class[block.t if self.loss.traits.multiclass else unsigned(block.t)]
        blocks = total.reshape(K, width, K, width)
        for k in range(K):
            for j in range(k + 1):
                part = block.sandwich(u * r[:, k] * r[:, j])
                blocks[k, :, j, :] += part
                if j < k:
                    blocks[j, :, k, :] += part
        return total


def residuals(loss: Loss, W: Array, block: Block) -> Array:
    """∂ℓ/∂z of a block's rows, (m, K or 1)."""
    z = block.scores(W)
    return loss.derivative(block.t, z if loss.traits.multiclass else z[:, 0]).reshape(block.n_rows, -1)


# --- The kinds of covariance, and the choice of one


@dataclass(frozen=True)
class CovarianceKind:
    """A kind of covariance: the function that computes it, its description, and whether it is robust."""

    build: Callable[[Estimate, SummaryRequest, Any], Covariance]
    says: str
    robust: bool = True


def _classical(estimate: Estimate, asked: SummaryRequest, groups: Any) -> Covariance:
    return Classical(estimate.factor, estimate.total)


def _scattered(estimate: Estimate, asked: SummaryRequest, groups: Any) -> Sandwich:
    problem, repeats = estimate.problem, asked.declared.repeats
    M = problem.rows.fold(Scatter(problem.loss, estimate.W, asked.claim.class_weights if repeats else None))
    size = problem.total_weight
    scale = 1.0 / (size * estimate.total) if repeats else 1.0 / size**2
    return Sandwich(estimate.factor, problem.subspace.reduce_hessian(M), scale)


def _corrected(estimate: Estimate, asked: SummaryRequest, groups: Any) -> Covariance:
    plain = _scattered(estimate, asked, groups)
    return Sandwich(plain.factor, plain.meat, plain.scale * asked.n / _left(asked, estimate))


def _clustered(estimate: Estimate, asked: SummaryRequest, groups: Any) -> Covariance:
    codes, n_groups = group_codes(groups, asked)
    if n_groups <= estimate.n_coefficients:  # The matrix would be singular: some combinations would have no error.
        found = f"{n_groups} groups for {estimate.n_coefficients} coefficients"
        raise InputError("groups", found, "give more groups than coefficients, or use covariance='HC1' without groups")
    problem = estimate.problem
    sums = np.zeros((n_groups, estimate.n_coefficients))
    for block in problem.rows.blocks(Order(ROWS_SUMMED_AT_ONCE)):
        r = residuals(problem.loss, estimate.W, block) * block.weight[:, None]
        gradient = (r[:, :, None] * block.homogeneous()[:, None, :]).reshape(block.n_rows, -1)
        within = codes[block.start : block.start + block.n_rows]
        np.add.at(sums, within[within >= 0], problem.subspace.reduce_rows(gradient)[within >= 0])
    factor = n_groups / (n_groups - 1.0) * (asked.n - 1.0) / _left(asked, estimate)
    return Sandwich(estimate.factor, sums.T @ sums, factor / problem.total_weight**2)


def _left(asked: SummaryRequest, estimate: Estimate) -> int:
    """n − k, the degrees of freedom that the coefficients leave."""
    left = asked.n - estimate.n_coefficients
    if left < 1:
        problem = f"{asked.n} observations for {estimate.n_coefficients} coefficients"
        raise InputError("covariance", problem, "use covariance='classical' or 'HC0', which divide by no n - k")
    return left


def group_codes(groups: Any, asked: SummaryRequest) -> tuple[Integers, int]:
    """The number of each row's group, −1 for rows without weight, and the number of groups."""
    try:
        _, codes = encode(groups)
    except InputError as error:
        raise InputError("groups", error.problem, "give one group per row") from error
    if len(codes) != asked.X.shape[0]:
        raise InputError("groups", f"it has {len(codes)} entries for {asked.X.shape[0]} rows", "give one group per row")
    counted = asked.weight > 0
    held, inside = np.unique(codes[counted], return_inverse=True)
    if len(held) < 2:
        raise InputError("groups", "all rows are of one group", "give at least two groups")
    found = np.full(len(codes), -1, dtype=np.int64)
    found[counted] = inside
    return found, len(held)


COVARIANCES = {
    "classical": CovarianceKind(_classical, "inverse observed information", robust=False),
    "HC0": CovarianceKind(_scattered, "sandwich (HC0)"),
    "HC1": CovarianceKind(_corrected, "sandwich times n/(n - k) (HC1)"),
    "cluster": CovarianceKind(_clustered, "sandwich by cluster, times G/(G - 1) (n - 1)/(n - k)"),
}


def chosen(asked: SummaryRequest, covariance: str | None, groups: Any) -> str:
    """The name of the requested covariance, or of the default for these weights and groups."""
    name = covariance or ("cluster" if groups is not None else asked.declared.covariance)
    check_choice("covariance", name, COVARIANCES)
    if (name == "cluster") != (groups is not None):
        problem = f"got {covariance!r} " + ("without groups" if groups is None else "beside groups")
        raise ParameterError("covariance", problem, "give groups and covariance='cluster', or neither")
    if name == "classical" and not asked.declared.repeats:
        problem = "got 'classical' with probability weights, which do not count rows"
        raise ParameterError("covariance", problem, "use 'HC0', 'HC1' or groups")
    return name
