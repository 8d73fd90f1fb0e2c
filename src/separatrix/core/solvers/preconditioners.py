"""The preconditioners of L-BFGS: approximate inverse Hessians B₀, and when each is built again (docs/tour.md, R7, R9).

``Sample``      (∇²E)⁻¹ of a sample of the rows, at the sample's minimum: many more rows than parameters
``Chord``       (∇²E)⁻¹ of all rows at an earlier point: one score, and few enough parameters for a matrix
``Kronecker``   the inverse of A ⊗ G + R, a Kronecker product of classes and columns, plus the penalty: many classes
``Diagonal``    D⁻¹ with D the diagonal of ∇²E at the null model: sparse rows, or too many columns for a matrix
``Identity``    nothing, as in L-BFGS of the textbooks: a cost that is not convex

The sources are those of each class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.gap_bounds import factor_passes
from separatrix.core.linear_algebra import Factor
from separatrix.core.links import softmax
from separatrix.core.newton_step import damped_step, newton_direction
from separatrix.core.null_model import null_hessian
from separatrix.core.objective_sums import ClassHessians, Evaluation, SpanHessian
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block
from separatrix.core.rows.memory_rows import some_rows
from separatrix.core.rows.sampling import RowSample
from separatrix.core.solvers.lbfgs import DiagonalInverse, InverseEstimate, LBFGSMemory, half_decrement
from separatrix.core.solvers.state import Need, State, begun

# --- No preconditioner, and a diagonal


@dataclass(frozen=True)
class Identity:
    """B₀ = 1, so that the first step has at most the length 1.

    >>> Identity().name
    'identity'
    """

    name: ClassVar[str] = "identity"
    needs: ClassVar[frozenset[Need]] = frozenset()
    by_sums: ClassVar[bool] = True

    def begin(self, problem: Objective, start: Array) -> tuple[Array, Evaluation, InverseEstimate | None]:
        at = begun(problem, start)
        return start, at, DiagonalInverse(max(1.0, float(np.linalg.norm(at.gradient))))

    def renewed(self, problem: Objective, state: State[LBFGSMemory]) -> InverseEstimate | None:
        return state.memory.inverse


@dataclass(frozen=True)
class Diagonal:
    """B₀ = D⁻¹, with D the diagonal of ∇²E at the null model.

    An entry of D is a column's second moment times the loss's curvature, plus the penalty's curvature. Rows of a sparse
    table share few columns, so the Hessian is nearly D where columns have few nonzero entries, and the pairs
    approximate the rest. In standard coordinates the intercept is nearly orthogonal to the columns. If rows are short
    and the columns' nonzero entries coincide, dual coordinate descent is faster. Gilbert and Lemaréchal, Some numerical
    experiments with variable-storage quasi-Newton algorithms, Mathematical Programming 45 (1989).

    >>> Diagonal().name
    'diagonal'
    """

    name: ClassVar[str] = "diagonal"
    needs: ClassVar[frozenset[Need]] = frozenset()
    by_sums: ClassVar[bool] = True

    def begin(self, problem: Objective, start: Array) -> tuple[Array, Evaluation, InverseEstimate | None]:
        moments = problem.framed.root_second_moments**2
        return start, begun(problem, start), DiagonalInverse(_diagonal(problem, moments))

    def renewed(self, problem: Objective, state: State[LBFGSMemory]) -> InverseEstimate | None:
        return state.memory.inverse


def _diagonal(problem: Objective, moments: Array) -> Array:
    """The diagonal of ∇²E at the null model, (d + 1,); its entry is 1 if E does not depend on the weight.

    For softmax the diagonal is the same for all classes: the mean over their contrasts. With a diagonal that differs
    between classes, steps would have components along common shifts of all scores, where only the penalty has
    curvature.
    """
    share = problem.framed.class_sums[:, 0] / problem.total_weight
    if problem.loss.traits.multiclass:
        p = share if problem.fit_intercept else np.full(len(share), 1.0 / len(share))
        curvature = float(1.0 - p @ p) / (len(p) - 1)
    else:
        curvature = float(share @ problem.loss.curvature_product(problem.targets, np.zeros(2), np.ones(2)))
    D = curvature * moments + problem.root_penalty**2
    return np.where(D > 0, D, 1.0)


# --- A factor of the Hessian that is kept for many steps

# The rate of convergence is estimated from this many of the latest steps.
STEPS_FOR_RATE = 3
# The run is assumed to end once half the squared Newton decrement is at most this share of E.
FINAL_SHARE = 1e-10
# The assumed cost of a step, in passes.
PASSES_PER_STEP = 2
# The Hessian is factored again if the remaining steps cost more than this many times as much as a factor.
SAVING_PER_COST = 1.5


@dataclass(frozen=True)
class InverseHessian:
    """(∇²E)⁻¹ on the identified directions, by a factor of ∇²E."""

    factor: Factor
    estimates: ClassVar[bool] = True

    @classmethod
    def of(cls, factor: Factor | None) -> InverseHessian | None:
        return None if factor is None else cls(factor)

    def times(self, problem: Objective, G: Array) -> Array:
        return -newton_direction(problem, G, self.factor)


@dataclass(frozen=True)
class Chord:
    """B₀ = (∇²E)⁻¹ at an earlier point.

    It is for few enough parameters to factor ∇²E, but too many to do so in every step. The first factor is that of the
    null model, which needs no pass. ∇²E is factored again at W if, at the present rate, the remaining steps would cost
    more than a new factor. Newton's method with a fixed Hessian is the chord method: Ortega and Rheinboldt, Iterative
    Solution of Nonlinear Equations in Several Variables (1970), section 7.1.

    >>> Chord().name
    'chord'
    """

    name: ClassVar[str] = "chord"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.HESSIAN})
    by_sums: ClassVar[bool] = False  # the sample of rows depends on their order

    def begin(self, problem: Objective, start: Array) -> tuple[Array, Evaluation, InverseEstimate | None]:
        factor = problem.factor(start) if np.any(start) else _null_factor(problem)
        return start, begun(problem, start), InverseHessian.of(factor)

    def renewed(self, problem: Objective, state: State[LBFGSMemory]) -> InverseEstimate | None:
        return InverseHessian.of(problem.factor(state.W)) if _is_slow(problem, state) else state.memory.inverse


def _is_slow(problem: Objective, state: State[LBFGSMemory]) -> bool:
    """Whether the remaining steps with this factor would cost more than a new factor."""
    latest = state.memory.decrements[-STEPS_FOR_RATE - 1 :]
    if len(latest) <= STEPS_FOR_RATE or latest[-1] <= FINAL_SHARE * state.at.value:
        return False
    rate = (latest[-1] / latest[0]) ** (1 / STEPS_FOR_RATE)
    if rate >= 1:
        return True
    to_come = PASSES_PER_STEP * np.log(FINAL_SHARE * state.at.value / latest[-1]) / np.log(rate)
    return bool(to_come > SAVING_PER_COST * factor_passes(problem))


def _null_factor(problem: Objective) -> Factor | None:
    """The factor of ∇²E at the null model, from the columns' Gram matrix; None if it is singular."""
    space, R = problem.subspace, np.diag(problem.root_penalty**2)
    R = R if space.Z is None else space.Z.T @ R @ space.Z
    n_contrasts = problem.shape[0] if space.Q is None else space.Q.shape[1]
    return Factor.of(null_hessian(problem) + np.kron(np.eye(n_contrasts), R))


# --- The Hessian of a sample, for few passes over many rows

# Newton's method begins on a part of the sample with this many rows per parameter.
FIRST_ROWS_PER_PARAMETER = 40


@dataclass(frozen=True)
class Sample:
    """B₀ = (∇²E)⁻¹ of a sample of the rows.

    It is for many more rows than parameters. The run begins with Newton's method on the sample alone, which costs no
    pass over all rows. The sample's Hessian differs from that of all rows by about (parameters/rows drawn)^½,
    relatively, and each pair removes the error in one direction. If the remaining steps would cost more than the
    Hessian of all rows, that replaces the sample's. Erdogdu and Montanari, Convergence rates of sub-sampled Newton
    methods, NIPS (2015), with quasi-Newton steps in place of Newton's.

    Parameters
    ----------
    rows : int, optional
        The number of rows of the sample; by default it is chosen by the number of parameters.

    Examples
    --------
    >>> Sample(rows=5000)
    Sample(rows=5000)
    """

    rows: int | None = None
    name: ClassVar[str] = "sample"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.HESSIAN})
    by_sums: ClassVar[bool] = False  # which rows are drawn depends on their order

    def begin(self, problem: Objective, start: Array) -> tuple[Array, Evaluation, InverseEstimate | None]:
        rows = problem.framed
        sample = rows.sampled if self.rows is None else rows.sample(max(self.rows, 20 * problem.size))
        W, factor = _on_sample(problem, sample, start)
        at = problem.value_gradient(W)
        before = problem.value_at_zero if not np.any(start) else problem.value_gradient(start).value
        if not at.value <= before:  # a sample may be separated although the rows are not, and then its fit diverges
            W, at, factor = start, problem.value_gradient(start), problem.factor(start)
        return W, at, InverseHessian.of(factor)

    def renewed(self, problem: Objective, state: State[LBFGSMemory]) -> InverseEstimate | None:
        return InverseHessian.of(problem.factor(state.W)) if _is_slow(problem, state) else state.memory.inverse


def _on_sample(problem: Objective, sample: RowSample, start: Array) -> tuple[Array, Factor | None]:
    """The minimum of the sample's objective and the factor of its Hessian there.

    Newton's method starts on a part of the sample (FIRST_ROWS_PER_PARAMETER).
    """
    drawn = sample is problem.framed.sampled
    block = problem.framed.standing_sample if drawn else sample.standing_for(problem.targets, problem.class_weight)
    block = replace(block, weight=block.weight * (block.n_rows / problem.total_weight))
    stride = block.n_rows // (FIRST_ROWS_PER_PARAMETER * problem.size)
    if stride >= 4:
        chosen = np.flatnonzero(sample.certain | (np.arange(block.n_rows) % stride == 0))
        weight = np.where(sample.certain, 1, stride)[chosen] * block.weight[chosen]
        W, _ = _minimised(problem, replace(block.take(chosen), weight=weight), start)
        W, factor = _minimised(problem, block, W)
        if factor is not None:
            return W, factor
    W, factor = _minimised(problem, block, start)
    return W, problem.factor(W) if factor is None else factor


def _minimised(problem: Objective, sample: Block, start: Array) -> tuple[Array, Factor | None]:
    inner = problem.restricted_to(sample)
    W, at = start, inner.value_gradient(start)
    factor = inner.factor(W)
    # The sample's optimum differs from that of all rows by a relative error of about parameters/rows; it is computed to
    # a hundredth of that error.
    near = 0.01 * min(1.0, problem.size / sample.n_rows) * problem.null_value
    for _ in range(30):  # the most Newton steps on the sample
        if factor is None or half_decrement(problem, InverseHessian(factor), at) <= near:
            break
        reached = damped_step(inner, W, at, newton_direction(inner, at.gradient, factor))
        if reached is None:
            break
        W, at = reached
        if half_decrement(problem, InverseHessian(factor), at) > near:  # otherwise the last Hessian is accurate enough
            factor = inner.factor(W)
    return W, factor


# --- A Kronecker product, for many classes

# B₀ is first built again after this many iterations, then after SECOND_REFRESH, and twice as many each time.
FIRST_REFRESH, SECOND_REFRESH = 3, 15
# From this iteration on, the diagonal blocks of the Hessian replace the Kronecker product.
FIRST_WITH_BLOCKS = 30
# Second derivatives at W are summed over this many rows per column of the sample, and at least FEWEST_HESSIAN_ROWS.
ROWS_PER_COLUMN, FEWEST_HESSIAN_ROWS = 20, 5000


@dataclass(frozen=True)
class Kronecker:
    """B₀ = (A ⊗ G + R)⁻¹, the inverse of a Kronecker product plus the penalty's Hessian R.

    A is the mean curvature of the loss over the classes, and G the columns' Gram matrix (of a sample, if there are many
    rows). B₀ is corrected to be exact on the span of the scores: on 10 classes with correlated columns this reduces 46
    passes to 14. For softmax, A is closer to the Hessian than the bound ½ (I − 11ᵀ/K) of Böhning, Multinomial logistic
    regression algorithm, Annals of the Institute of Statistical Mathematics 44 (1992).

    The product is first that of the null model, and is computed again at W after 3 and 15 iterations. In a longer run
    the diagonal blocks of ∇²E(W) replace it: if classes are nearly separated, curvatures differ between rows, and the
    blocks are better.

    >>> Kronecker().name
    'kronecker'
    """

    name: ClassVar[str] = "kronecker"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.GRAM})
    by_sums: ClassVar[bool] = False  # the sample of rows depends on their order

    def begin(self, problem: Objective, start: Array) -> tuple[Array, Evaluation, InverseEstimate | None]:
        return start, begun(problem, start), null_product(problem)

    def renewed(self, problem: Objective, state: State[LBFGSMemory]) -> InverseEstimate | None:
        last, doublings = state.memory.inverse, state.iteration / SECOND_REFRESH
        if not isinstance(last, ClassInverse) or not (
            state.iteration == FIRST_REFRESH or (doublings >= 1 and np.log2(doublings).is_integer())
        ):
            return last
        block = problem.framed.standing_sample
        stride = max(1, block.n_rows // max(ROWS_PER_COLUMN * problem.shape[1], FEWEST_HESSIAN_ROWS))
        block = block.take(slice(0, None, stride))
        if state.iteration < FIRST_WITH_BLOCKS:
            return product(problem, last, state.W, block) or last
        return blocks(problem, state.W, block) or last


# The product is corrected on a span of at most this many directions: with more, factoring their Hessian costs as much
# as factoring that of the columns.
MOST_SPAN_DIRECTIONS = 300


@dataclass(frozen=True)
class ClassInverse:
    """(T ⊗ I) diag(H_c)⁻¹ (Tᵀ ⊗ I) in the subspace's coordinates, with H_c⁻¹ = V_c (λ_c μ + 1 − μ)⁻¹ V_cᵀ.

    T transforms the classes. The matrices H_c are the diagonal blocks of ∇²E(W), one per class (``blocks``), or those
    of a product (``product``).

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
    estimates: ClassVar[bool] = True

    def times(self, problem: Objective, G: Array) -> Array:
        return problem.subspace.expand(self.solve(problem.subspace.reduce(G)))

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


def null_product(problem: Objective) -> ClassInverse | None:
    """The inverse of M = A ⊗ G + R at the scores of the null model for softmax, otherwise at zero.

    A (K, K) is the loss's mean curvature, G the columns' Gram matrix, and R the penalty's Hessian. The columns of T are
    A's eigenvectors, and H_c = λ_c G + R. In coordinates V in which G + R is the identity and G is a diagonal μ,
    H_c⁻¹ = V (λ_c μ + 1 − μ)⁻¹ Vᵀ, so the same V is used for all classes and at any W.
    """
    share, K = problem.framed.class_sums[:, 0] / problem.total_weight, problem.shape[0]
    loss, Q = problem.loss, problem.subspace.Q
    if not loss.traits.multiclass:
        A = np.atleast_2d(share @ loss.curvature_product(problem.targets, np.zeros(2), np.ones(2)))
    else:
        p = softmax(np.log(np.maximum(share, 1e-12))[None] if problem.fit_intercept else np.zeros((1, K)))[0]
        A = np.diag(p) - np.outer(p, p)
    values, T = np.linalg.eigh(A if Q is None else Q.T @ A @ Q)
    G, R, none = problem.columns.sample_gram, np.diag(problem.root_penalty**2), np.empty((0, 0))
    V = _half_inverse(_reduced(problem, G + R))
    if V is None or not np.all(values > 0):
        return None
    share, turn = np.linalg.eigh(V.T @ _reduced(problem, G) @ V)
    return ClassInverse(T, values, (V @ turn)[None], np.clip(share, 0.0, 1.0), none, none)


def product(problem: Objective, null: ClassInverse, W: Array, block: Block) -> ClassInverse | None:
    """The product at W from the rows of ``block``, exact on the span of its scores unless the span is large.

    The span of the scores has the directions D = T ⊗ B, with B a basis of W's rows and the intercept. With E the second
    derivatives along D, the corrected inverse is M⁻¹ − D (DᵀMD)⁻¹ Dᵀ + D E⁻¹ Dᵀ, which is always positive definite. If
    rows are normally distributed, the Hessian differs from a Kronecker product only in that span (by Stein's lemma,
    E[h(Wx) x xᵀ] = E[h] Σ + Σ Wᵀ E[h″] W Σ): the curvature of the loss depends only on the scores, and in all other
    directions it has its mean value.

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
    penalty, gram = (B * problem.root_penalty**2) @ B.T, B @ problem.columns.sample_gram @ B.T
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
    # Directions with a smaller relative singular value are left out of the span.
    return np.vstack([np.eye(1, W.shape[1]), basis[size > 1e-6 * max(1.0, size[0])]])


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
