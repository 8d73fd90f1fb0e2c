r"""How far from the optimum at most.

Two bounds on E(W) − inf E, each true whatever W is and however it was found:

``duality``
    With a penalty on every column. Any dual point q gives E(W′) ≥ D(q) for all W′. Taking the model's own
    probabilities for q costs no pass, only that the intercept asks for Σ_i s_i q_ik = Σ_i s_i t_ik; q is mixed
    with just enough of a constant q to make that so.

``affine``
    With or without a penalty, unchanged by any linear map of the columns. With H the Hessian in which only the
    rows of a subset count, λ² = gᵀ H⁻¹ g, R² = max over the subset of the squared H⁻¹-length of a row (of a
    difference of two classes' rows for softmax), u = λR: if u < 1 the optimum exists and the gap is at most
    [u + (1 − u) ln(1 − u)]/R². The third derivative of a logistic loss is at most its second times the change of
    score; integrate twice from W and minimise over the distance walked (after Bach 2010, self-concordance).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Array
from separatrix.factor import Factor
from separatrix.objective import Evaluation, Objective
from separatrix.rows import Block

EPS = float(np.finfo(np.float64).eps)
# Rows whose lengths are measured at once: bounds the memory of R².
CHUNK = 4096
# With a direction to infinity λR ≥ 1 exactly; rounding must not take it below what counts.
SURE = 0.5


@dataclass(frozen=True)
class Bound:
    """``value`` bounds E(W) − inf E, or is None with the ``reason``; ``kind`` says by which argument."""

    value: float | None
    kind: str
    reason: str = ""

    @property
    def known(self) -> float:
        """The bound, infinite where there is none (or where it is not a number)."""
        return self.value if self.value is not None and self.value >= 0 else np.inf


def duality(objective: Objective, W: Array, at: Evaluation) -> Bound:
    r"""E(W) − D(q) = ½ Σ_j (r_j W_j + Ĝ_j/r_j)² + θ [L − H(u) − ⟨W, G_u⟩].

    G, L: the loss's gradient and value; q = (1 − θ) p + θ u with constant u; Ĝ = (1 − θ) G + θ G_u. Both terms are
    non-negative, so nothing cancels.
    """
    if not objective.loss.traits.canonical:
        return Bound(None, "duality", "only the logistic and softmax losses have a duality bound here")
    r = objective.root_penalty
    G = at.gradient - objective.penalty_gradient(W)
    L = at.value - objective.penalty_value(W)
    sums = objective.class_sums / objective.total_weight
    if objective.shape[0] == 1:
        G2 = np.vstack([-G, G])
    else:
        G2 = G
    share = sums[:, 0]
    theta, u = 0.0, share
    if objective.fit_intercept:
        p = share + G2[:, 0]
        theta = float(max(0.0, np.max(G2[:, 0] / np.maximum(p, EPS))))  # 1 − share/p, without the cancelling
        if theta > 0:
            u = np.maximum(p - G2[:, 0] / theta, 0.0)
    G_u = np.outer(u, sums.sum(axis=0)) - sums
    G_u = G_u[1:] if objective.shape[0] == 1 else G_u
    G_hat = (1 - theta) * G + theta * G_u
    loose = (r == 0) & np.any(G_hat != 0, axis=0)
    if np.any(loose[1:]):
        return Bound(None, "duality", "a column without a penalty has no duality bound")
    held = r > 0
    gap = 0.5 * float(np.sum((r[held] * W[:, held] + G_hat[:, held] / r[held]) ** 2))
    if theta > 0:
        kept = u[u > 0]
        entropy = -float(np.sum(kept * np.log(kept)))
        gap += theta * max(0.0, L - entropy - float(np.sum(W * G_u)))
    return _bounded(gap, W, at, "duality")


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
        subset = objective.sampled
    space = objective.subspace
    g = space.reduce(at.gradient)
    outside = float(np.max(np.abs(space.remainder(at.gradient)), initial=0.0))
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
    return _bounded(float(gap), W, at, kind)


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
    counted = np.flatnonzero(subset.weight > 0)
    longest = 0.0
    inverse = [] if space.Q is None else _pair_inverses(factor, space.Q)
    for start in range(0, len(counted), CHUNK):
        X = subset.take(counted[start : start + CHUNK]).homogeneous()
        X = X if space.Z is None else X @ space.Z
        if space.Q is None:
            longest = max(longest, float(np.max(np.sum(factor.half(X.T) ** 2, axis=0))))
        for M in inverse:
            longest = max(longest, float(np.max(np.sum((X @ M) * X, axis=1))))
    return longest


def _pair_inverses(factor: Factor, Q: Array) -> list[Array]:
    """For each pair of classes k < l, the (r, r) matrix cᵀ H⁻¹ c with c = Qᵀ(e_k − e_l)."""
    size, (K, n_contrasts) = len(factor.d), Q.shape
    r = size // n_contrasts
    T = factor.solve(np.eye(size)).reshape(n_contrasts, r, n_contrasts, r)
    A = np.einsum("ka,aibj,lb->klij", Q, T, Q, optimize=True)
    return [A[k, k] + A[l, l] - A[k, l] - A[l, k] for k in range(K) for l in range(k)]


def bound(objective: Objective, W: Array, at: Evaluation, thorough: bool) -> Bound:
    """The better of the bounds; the affine one, which costs second derivatives, only where asked for.

    An objective in raw coordinates is judged by its standard twin, at the price of a pass, and only thoroughly.
    """
    twin = objective.standard
    if twin is not None:
        if not thorough:
            return Bound(None, "none", "not looked for yet")
        before = twin.passes
        framed = twin.rows.frame.from_original(objective.rows.frame.to_original(W))
        found = bound(twin, framed, twin.value_gradient(framed), thorough=True)
        objective.passes += twin.passes - before
        return found
    cheap = duality(objective, W, at)
    if not thorough:
        return cheap
    sharp = affine(objective, W, at)
    if cheap.value is None and sharp.value is None:
        return Bound(None, sharp.kind, sharp.reason)
    return min((cheap, sharp), key=lambda b: b.known)
