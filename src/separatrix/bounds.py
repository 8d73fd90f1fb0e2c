r"""How far from the optimum at most.

Two bounds on E(W) − inf E, each true whatever W is and however it was found:

``duality``
    With a penalty on every column. Any dual point q gives E(W′) ≥ D(q) for all W′. Taking the model's own
    probabilities for q costs no pass, only that the intercept asks for Σ_i s_i q_ik = Σ_i s_i t_ik; q is mixed
    with just enough of a constant q to make that so, and of the targets for absolute values.

``affine``
    With or without a penalty, unchanged by any linear map of the columns. With H the Hessian in which only the
    rows of a subset count, λ² = gᵀ H⁻¹ g, R² = max over the subset of the squared H⁻¹-length of a row (of a
    difference of two classes' rows for softmax), u = λR: if u < 1 the optimum exists and the gap is at most
    [u + (1 − u) ln(1 − u)]/R². The third derivative of a logistic loss is at most its second times the change of
    score; integrate twice from W and minimise over the distance walked (after Bach 2010, self-concordance).
    Absolute values are replaced by lines below them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import EPS, Array
from separatrix.certificate import Bound
from separatrix.factor import Factor
from separatrix.objective import Evaluation, Objective
from separatrix.penalty import soft
from separatrix.rows import Block, some_rows
from separatrix.rows.block import is_sparse
from separatrix.sums import LongestScores

# Second derivatives that cost more than so many passes are not worth it where passes make the duality bound as small.
WORTHWHILE = 100
# Multiplications of a matrix product in the time of one of a pass.
FASTER = 10
# Rows whose lengths are measured at once: bounds the memory of R².
CHUNK = 1024
# With a direction to infinity λR ≥ 1 exactly; rounding must not take it below what counts.
SURE = 0.5


def duality(objective: Objective, W: Array, at: Evaluation) -> Bound:
    r"""E(W) − D(q), summed up so that no term is negative and nothing cancels:

        Σ_j ½ (r_j W_j + soft(Ĝ_j, a_j)/r_j)² + a_j |W_j| + clip(Ĝ_j, ±a_j) W_j
        + (1 − ρ) L + ρ θ [L − H(u) − ⟨W, G_u⟩]

    G, L: the loss's gradient and value. q = ρ ((1 − θ) p + θ u) + (1 − ρ) t: the model's probabilities p, with enough
    of a constant u that the intercept's condition holds, and of the targets t that |Ĝ_j| ≤ a_j for columns whose
    absolute value alone is penalised; Ĝ = ρ ((1 − θ) G + θ G_u). Entropy is concave, so H(q) is at least its shares.
    """
    if not objective.loss.traits.canonical:
        return Bound(None, "duality", "only the logistic and softmax losses have a duality bound here")
    G = at.gradient - objective.penalty_gradient(W)
    L = at.value - objective.penalty_value(W)
    theta, u = _towards_constant(objective, G)
    sums = objective.class_sums / objective.total_weight
    G_u = np.outer(u, sums.sum(axis=0)) - sums
    G_u = G_u[1:] if objective.shape[0] == 1 else G_u
    G_hat = (1 - theta) * G + theta * G_u
    free = objective.unpenalised[1:]
    if np.count_nonzero(free) and np.any(G_hat[:, 1:][:, free]):
        return Bound(None, "duality", "a column without a penalty has no duality bound")
    held = objective.root_penalty > 0
    r, beyond, rho, gap = objective.root_penalty[held], G_hat[:, held], 1.0, 0.0
    if objective.has_absolute:
        a = objective.absolute_penalty
        largest, kinked = np.max(np.abs(G_hat), axis=0), ~held & (a > 0)
        rho = float(np.min(a[kinked] / np.maximum(largest[kinked], a[kinked]), initial=1.0))
        beyond = soft(rho * beyond, a[held])
        gap = float(np.sum(a * np.abs(W) + np.clip(rho * G_hat, -a, a) * W)) + (1 - rho) * L
    gap += 0.5 * float(np.sum((r * W[:, held] + beyond / r) ** 2))
    if theta > 0:
        kept = u[u > 0]
        entropy = -float(np.sum(kept * np.log(kept)))
        gap += rho * theta * max(0.0, L - entropy - float(np.sum(W * G_u)))
    return _bounded(gap, W, at, "duality")


def _towards_constant(objective: Objective, G: Array) -> tuple[float, Array]:
    """How much of which constant probabilities, (classes,), makes up for the loss's gradient in the intercepts."""
    share = objective.class_sums[:, 0] / objective.total_weight
    if not objective.fit_intercept:
        return 0.0, share
    slope = np.array([-G[0, 0], G[0, 0]]) if objective.shape[0] == 1 else G[:, 0]
    p = share + slope
    theta = float(max(0.0, np.max(slope / np.maximum(p, EPS))))  # 1 − share/p, without the cancelling
    return theta, np.maximum(p - slope / theta, 0.0) if theta > 0 else share


def affine(objective: Objective, W: Array, at: Evaluation, subset: Block | None = None) -> Bound:
    """The bound by self-concordance, with the rows of ``subset`` (by default all, or a sample of many)."""
    kind = "self-concordance"
    constant = objective.loss.traits.self_concordance
    if not objective.loss.traits.convex:
        return Bound(None, kind, "this cost is not convex: other minima may be lower")
    if constant is None:
        return Bound(None, kind, "no bound is known for this loss: its third derivative is not bound by its second")
    if not objective.has_hessian:
        return Bound(None, kind, f"{objective.size} parameters are too many for a matrix of second derivatives")
    if subset is None:
        subset = objective.sampled.block
    space = objective.subspace
    gradient, slack = _linearised(objective, W, at.gradient)
    g = space.reduce(gradient)
    outside = float(np.max(np.abs(space.remainder(gradient)), initial=0.0))
    if outside > 64 * EPS:
        return Bound(None, kind, "the gradient has a part outside the directions that the columns determine")
    factor = objective.factor(W, subset)
    if factor is None:
        return Bound(None, kind, "the Hessian is singular to working precision: weights may grow without end")
    decrement = float(np.linalg.norm(factor.half(g)))
    longest = np.sqrt(_longest_row(objective, factor, subset)) * constant
    u = decrement * longest
    if not u < SURE:
        return Bound(None, kind, f"no bound yet: λR = {u:.3g}, and a bound needs λR < {SURE}")
    # For small u the bracket is u²/2 + u³/6 + …; its two terms would cancel.
    bracket = u + (1 - u) * np.log1p(-u) if u > 1e-4 else 0.5 * u**2 * (1 + u)
    gap = bracket / longest**2 if longest > 0 else 0.5 * decrement**2
    return _bounded(float(gap) + slack, W, at, kind)


def _linearised(objective: Objective, W: Array, gradient: Array) -> tuple[Array, float]:
    """∇f + s and Σ a |W| − s·W, for an s with |s| ≤ a: E ≥ f + s·W everywhere, so what bounds the latter serves for E.

    One score: the s of the shortest subgradient, which costs nothing at W. More: s in proportion to −∇f in each
    column, so that over the classes it sums to zero as ∇f does, and f + s·W is bounded along a common shift.
    """
    if not objective.has_absolute:
        return gradient, 0.0
    if objective.shape[0] == 1:
        return objective.subgradient(W, gradient), 0.0
    a, largest = objective.absolute_penalty, np.max(np.abs(gradient), axis=0)
    s = -gradient * np.divide(a, largest, out=np.ones_like(a), where=largest > a)
    s[:, a == 0] = 0.0
    return gradient + s, float(np.sum(a * np.abs(W) - s * W))


def _bounded(gap: float, W: Array, at: Evaluation, kind: str) -> Bound:
    """The gap with its rounding; never more than E itself, which is at least zero everywhere."""
    return Bound(min(gap + _rounding(W, at), at.value), kind)


def _rounding(W: Array, at: Evaluation) -> float:
    """What rounding may hide, in standard coordinates, where columns are of size one.

    A residual is at most its row's loss, so the gradient is off by a few units in the last place of E, times W.
    """
    return 4 * EPS * abs(at.value) * (1.0 + float(np.sum(np.abs(W))))


def _longest_row(objective: Objective, factor: Factor, subset: Block) -> float:
    """Max over rows, and over pairs of classes, of the squared H⁻¹-length of (e_k − e_l) ⊗ x̄."""
    space = objective.subspace
    if space.Q is None:
        root = factor.half(np.eye(len(factor.d)))
        return some_rows(subset).fold(LongestScores(root if space.Z is None else root @ space.Z.T))
    counted, longest = np.flatnonzero(subset.weight > 0), 0.0
    inverses = _pair_inverses(factor, space.Q)
    for start in range(0, len(counted), CHUNK):
        X = subset.take(counted[start : start + CHUNK]).homogeneous()
        X = X if space.Z is None else X @ space.Z
        for M in inverses:
            longest = max(longest, float(np.max(np.sum((X @ M) * X, axis=1))))
    return longest


def _pair_inverses(factor: Factor, Q: Array) -> list[Array]:
    """For each pair of classes k < l, the (r, r) matrix cᵀ H⁻¹ c with c = Qᵀ(e_k − e_l)."""
    size, (K, n_contrasts) = len(factor.d), Q.shape
    r = size // n_contrasts
    T = factor.solve(np.eye(size)).reshape(n_contrasts, r, n_contrasts, r)
    A = np.einsum("ka,aibj,lb->klij", Q, T, Q, optimize=True)
    return [A[k, k] + A[l, l] - A[k, l] - A[l, k] for k in range(K) for l in range(k)]


def hessian_passes(objective: Objective) -> float:
    """What a matrix of second derivatives costs, in passes over the rows: p² products a row beside its entries."""
    block, entries = objective.rows.resident(), float(objective.rows.n_features)
    if block is not None and is_sparse(block.X):
        X: Any = block.X
        entries = X.nnz / max(1, block.n_rows)
    return objective.size**2 / (FASTER * max(1.0, entries))


def _drawn(objective: Objective) -> float:
    """The share of rows by which the affine bound is taken."""
    return min(1.0, objective.sample_size / max(1, objective.rows.n_rows or 1))


def factor_passes(objective: Objective) -> float:
    """What a factor of second derivatives costs, in passes."""
    entries = max(1, objective.rows.n_rows or 1) * max(1, objective.rows.n_features)
    return hessian_passes(objective) + objective.size**3 / (FASTER * entries)


def thorough_passes(objective: Objective) -> float:
    """What the affine bound costs: a factor and a root of its inverse, and the rows' lengths by it, of a sample.

    >>> from separatrix.penalty import Penalty
    >>> from separatrix.posing import pose
    >>> round(thorough_passes(pose(np.eye(20), np.arange(20) % 2, 2, np.ones(20), Penalty(1.0, np.ones(20)))), 3)
    6.725
    """
    second = hessian_passes(objective)
    return 2 * _drawn(objective) * second + factor_passes(objective) - second


def bound(objective: Objective, W: Array, at: Evaluation, thorough: bool, last: bool = False) -> Bound:
    """The better of the bounds; the affine one, which costs second derivatives, only where asked for.

    ``last``: no more passes will come, so second derivatives are taken whatever they cost.

    An objective in raw coordinates is judged by its standard twin, at the price of a pass, and only thoroughly.
    """
    twin = objective.standard
    if twin is not None:
        if not thorough:
            return Bound(None, "none", "not looked for yet")
        before = twin.passes
        framed = twin.rows.frame.from_original(objective.rows.frame.to_original(W))
        found = bound(twin, framed, twin.value_gradient(framed), thorough=True, last=last)
        objective.passes += twin.passes - before
        return found
    cheap = duality(objective, W, at)
    if not thorough or (
        cheap.value is not None and not last and _drawn(objective) * hessian_passes(objective) > WORTHWHILE
    ):
        return cheap
    sharp = affine(objective, W, at)
    if cheap.value is None and sharp.value is None:
        return Bound(None, sharp.kind, sharp.reason)
    return min((cheap, sharp), key=lambda b: b.known)


def largest_curvature(objective: Objective) -> float:
    """An upper bound on the curvature of E anywhere: ∇E is L-Lipschitz with this L."""
    lipschitz = objective.loss.traits.lipschitz
    if lipschitz is None:
        return np.inf
    if objective.has_gram:
        top = float(np.linalg.eigvalsh(objective.gram)[-1])
    else:
        top = float(np.sum(objective.root_second_moments**2))
    return lipschitz * top + float(np.max(objective.root_penalty) ** 2)
