r"""Approximate inverse Hessians in K (d + 1) parameters that factor no matrix larger than d + 1.

There are two kinds, both of the form (T ⊗ I) diag(H_c)⁻¹ (Tᵀ ⊗ I), where T transforms the classes:

Product   The inverse of M = A ⊗ G + R, with A (K, K) the loss's mean curvature at some W, G the columns' Gram matrix,
          and R the penalty's Hessian. The columns of T are A's eigenvectors, and H_c = λ_c G + R. In coordinates V in
          which G + R is the identity and G is a diagonal μ, H_c⁻¹ = V (λ_c μ + 1 − μ)⁻¹ Vᵀ, so the same V is used for
          all classes and at any W. The inverse is corrected to be exact on the span of the scores at W. This span has
          the directions D = T ⊗ B, with B a basis of W's rows and the intercept. With E the second derivatives along
          D, the corrected inverse is M⁻¹ − D (DᵀMD)⁻¹ Dᵀ + D E⁻¹ Dᵀ, which is always positive definite
Blocks    the diagonal blocks of ∇²E(W), one per class

If rows are normally distributed, the Hessian differs from a Kronecker product only in the span of the scores (by
Stein's lemma, E[h(Wx) x xᵀ] = E[h] Σ + Σ Wᵀ E[h″] W Σ): the curvature of the loss depends only on the scores, and in
all other directions it has its mean value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.base.arrays import Array
from separatrix.losses.activations import softmax
from separatrix.objectives.factor import Factor
from separatrix.objectives.partials import ClassHessians, SpanHessian
from separatrix.objectives.problem import Objective
from separatrix.rows import Block, some_rows

# The product is corrected on a span of at most this many directions: with more, factoring their Hessian costs as much
# as factoring that of the columns.
MOST_SPAN_DIRECTIONS = 300
# Directions whose relative singular value is below this are left out of the span.
SMALLEST_SPAN_SHARE = 1e-6


@dataclass(frozen=True)
class ClassInverse:
    """(T ⊗ I) diag(H_c)⁻¹ (Tᵀ ⊗ I) in the subspace's coordinates, with H_c⁻¹ = V_c (λ_c μ + 1 − μ)⁻¹ V_cᵀ.

    ``T`` is (contrasts, c); ``V`` is (c, r, r), or (1, r, r) for a product; ``values`` (c,) is λ; ``share`` (r,) is μ.
    ``B`` (q, r) is the basis of the span, without rows if there is no correction; ``gain`` (c q, c q) is
    E⁻¹ − (DᵀMD)⁻¹ on the span.
    """

    T: Array
    values: Array
    V: Array
    share: Array
    B: Array
    gain: Array

    def solve(self, g: Array) -> Array:
        """The inverse times g, a vector in the subspace's coordinates."""
        turned = self.T.T @ g.reshape(len(self.T), -1)
        spread = np.outer(self.values, self.share) + (1.0 - self.share)
        if len(self.V) == 1:
            parts = ((turned @ self.V[0]) / spread) @ self.V[0].T
        else:
            parts = (self.V @ ((turned[:, None, :] @ self.V)[:, 0] / spread)[:, :, None])[:, :, 0]
        if len(self.B):
            along = turned @ self.B.T
            parts += (self.gain @ along.ravel()).reshape(along.shape) @ self.B
        return np.asarray(self.T @ parts).ravel()


def _reduced(problem: Objective, H: Array) -> Array:
    Z = problem.subspace.Z
    return H if Z is None else Z.T @ H @ Z


def _half_inverse(H: Array) -> Array | None:
    """V with V Vᵀ = H⁻¹; None if H is singular to working precision."""
    factor = Factor.of(H)
    return None if factor is None else factor.half(np.eye(len(H))).T


def _product_of(T: Array, values: Array, problem: Objective) -> ClassInverse | None:
    """The inverse of A ⊗ G + R, with A = T diag(values) Tᵀ."""
    G, R, none = problem.sample_gram, np.diag(problem.root_penalty**2), np.empty((0, 0))
    V = _half_inverse(_reduced(problem, G + R))
    if V is None or not np.all(values > 0):
        return None
    share, turn = np.linalg.eigh(V.T @ _reduced(problem, G) @ V)
    return ClassInverse(T, values, (V @ turn)[None], np.clip(share, 0.0, 1.0), none, none)


def null_product(problem: Objective) -> ClassInverse | None:
    """The product at the scores of the null model for softmax, otherwise at zero."""
    share, K = problem.class_sums[:, 0] / problem.total_weight, problem.shape[0]
    loss, Q = problem.loss, problem.subspace.Q
    if not loss.traits.multiclass:
        A = np.atleast_2d(share @ loss.curvature_product(problem.targets, np.zeros(2), np.ones(2)))
    else:
        p = softmax(np.log(np.maximum(share, 1e-12))[None] if problem.fit_intercept else np.zeros((1, K)))[0]
        A = np.diag(p) - np.outer(p, p)
    values, T = np.linalg.eigh(A if Q is None else Q.T @ A @ Q)
    return _product_of(T, values, problem)


def product(problem: Objective, null: ClassInverse, W: Array, block: Block) -> ClassInverse | None:
    """The product at W from the rows of ``block``, exact on the span of its scores unless the span is large.

    ``null``: the product at another point, whose V is reused.
    """
    from scipy.linalg import block_diag

    Q, Z = problem.subspace.Q, problem.subspace.Z
    Q = np.eye(1) if Q is None else Q
    B = _scored(Q.T @ np.where(problem.pinned, 0.0, W))
    if Q.shape[1] * len(B) > MOST_SPAN_DIRECTIONS:
        B = B[:1]
    q = len(B)
    E = some_rows(block).fold(SpanHessian(problem.loss, W, Q, B)) / float(block.weight.sum())
    E = E.reshape(Q.shape[1], q, -1, q)
    values, T = np.linalg.eigh(E[:, 0, :, 0])  # the second derivatives in the intercepts are the mean curvature
    if not np.all(values > 0):
        return None
    inverse = replace(null, T=T, values=values)
    if q == 1:
        return inverse
    first = 0 if problem.fit_intercept else 1
    E, B = np.einsum("ac,aibj,be->ciej", T, E, T, optimize=True)[:, first:, :, first:], B[first:]
    penalty, gram = (B * problem.root_penalty**2) @ B.T, B @ problem.sample_gram @ B.T
    own = [value * gram + penalty for value in values]
    size = E.shape[0] * E.shape[1]
    inside = Factor.of(np.ascontiguousarray(E).reshape(size, size) + np.kron(np.eye(len(T)), penalty))
    outer = Factor.of(block_diag(*own))
    if inside is None or outer is None:
        return inverse
    return replace(inverse, B=B if Z is None else B @ Z, gain=inside.solve(np.eye(size)) - outer.solve(np.eye(size)))


def _scored(W: Array) -> Array:
    """A basis (q, d + 1) of the span of the scores and a constant: the intercept's direction, then W's columns."""
    weights = W.copy()
    weights[:, 0] = 0.0
    length = np.linalg.norm(weights, axis=1, keepdims=True)
    _, size, basis = np.linalg.svd(weights / np.where(length > 0, length, 1.0), full_matrices=False)
    return np.vstack([np.eye(1, W.shape[1]), basis[size > SMALLEST_SPAN_SHARE * max(1.0, size[0])]])


def blocks(problem: Objective, W: Array, block: Block) -> ClassInverse | None:
    """The inverse of the diagonal blocks of ∇²E(W), estimated from the rows of ``block``."""
    Q = problem.subspace.Q
    summed = some_rows(block).fold(ClassHessians(problem.loss, W)) / float(block.weight.sum())
    R, none = np.diag(problem.root_penalty**2), np.empty((0, 0))
    halves = [_half_inverse(_reduced(problem, H + R)) for H in summed]
    if any(V is None for V in halves):
        return None
    T, V = np.eye(1) if Q is None else Q.T, np.array(halves)
    return ClassInverse(T, np.ones(len(V)), V, np.zeros(V.shape[1]), none, none)
