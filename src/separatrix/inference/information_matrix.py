r"""The curvature of a log-likelihood at its maximum, and the covariances that follow from it.

    classical   V = H⁻¹,          H = Σ s ℓ″ x̄ x̄ᵀ, the observed information
    HC0, HC1    V = H⁻¹ M H⁻¹,    M = Σ s² ℓ′² x̄ x̄ᵀ (for frequencies: Σ s ℓ′² x̄ x̄ᵀ); HC1 times n/(n − k)
    cluster     the same with M = Σ_g u_g u_gᵀ, u_g the sum of s ℓ′ x̄ over the rows of group g,
                times G/(G − 1) · (n − 1)/(n − k)

with k coefficients and G groups. The factors are those of Stata's regress; statsmodels has the same factor for
clusters, but none for HC1 in likelihood models. Everything is computed in the standard frame's coordinates, on the
directions that the columns identify, and mapped to the columns' own units by the frame's linear map, so that large
offsets and extreme units of columns do not reduce accuracy.

White, Maximum likelihood estimation of misspecified models, Econometrica 50 (1982); Liang and Zeger, Longitudinal
data analysis using generalized linear models, Biometrika 73 (1986).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import InputError, ParameterError
from separatrix.base.labels import encode, unsigned
from separatrix.inference.estimate import Estimate
from separatrix.inference.request import SummaryRequest
from separatrix.losses import Loss
from separatrix.objectives.factor import Factor
from separatrix.rows import ArraySum, Block
from separatrix.rows.frame import power_of_two
from separatrix.rows.protocol import Order

# Number of rows whose gradients are in memory at once while gradients are summed by group.
ROWS_SUMMED_AT_ONCE = 4096


class Covariance(Protocol):
    """The covariance F V Fᵀ, (p, p), of linear functions F Θ, with F (p, r) on the identified directions.

    ``variances`` computes only its diagonal, (p,).
    """

    def of(self, F: Array) -> Array: ...
    def variances(self, F: Array) -> Array: ...


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


# ------------------------------------------------------------------------------------------ the registry


@dataclass(frozen=True)
class Kind:
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
    "classical": Kind(_classical, "inverse observed information", robust=False),
    "HC0": Kind(_scattered, "sandwich (HC0)"),
    "HC1": Kind(_corrected, "sandwich times n/(n - k) (HC1)"),
    "cluster": Kind(_clustered, "sandwich by cluster, times G/(G - 1) (n - 1)/(n - k)"),
}


def chosen(asked: SummaryRequest, covariance: str | None, groups: Any) -> str:
    """The name of the requested covariance, or of the default for these weights and groups."""
    name = covariance or ("cluster" if groups is not None else asked.declared.covariance)
    if not isinstance(name, str) or name not in COVARIANCES:
        raise ParameterError("covariance", f"got {covariance!r}", f"choose one of {', '.join(map(repr, COVARIANCES))}")
    if (name == "cluster") != (groups is not None):
        problem = f"got {covariance!r} " + ("without groups" if groups is None else "beside groups")
        raise ParameterError("covariance", problem, "give groups and covariance='cluster', or neither")
    if name == "classical" and not asked.declared.repeats:
        problem = "got 'classical' with probability weights, which do not count rows"
        raise ParameterError("covariance", problem, "use 'HC0', 'HC1' or groups")
    return name
