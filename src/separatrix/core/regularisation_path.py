"""The regularisation path: fits of the same rows at a sequence of values of C (docs/tour.md, R8).

``WarmPath`` starts each fit from the last one, with any solver and penalty. ``Ridge`` is for a quadratic penalty: it
works in the reduced coordinates of ``ReducedRows`` and also gives the inverse of ∇²E at each C, from which the leverage
of each row and its score by a fit without it follow.

Friedman, Hastie and Tibshirani 2010, section 2.5.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import iadd
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, even_pieces, pieces, rows_per_piece
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import in_order
from separatrix.core.duality_bound import duality
from separatrix.core.linear_algebra import Factor, Subspace
from separatrix.core.losses import Loss
from separatrix.core.newton_step import backtracked
from separatrix.core.null_model import null_hessian
from separatrix.core.objective_sums import Evaluation, ValueGradient
from separatrix.core.penalty import Penalty
from separatrix.core.problem import Objective, build_objective
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.frame import Frame, power_of_two
from separatrix.core.rows.protocol import ArraySum, Rows
from separatrix.core.solvers.driver import Run, default_rules, run
from separatrix.core.solvers.lbfgs import Pairs, QuasiNewton
from separatrix.core.solvers.proximal_newton import ProximalNewton, WorkingSet
from separatrix.core.solvers.registry import choose, refuse_unmet
from separatrix.core.solvers.state import Solver, State, in_memory

# --- Rows in the reduced coordinates W = W₀ + Q Θ Zᵀ of the identified directions

# Tables with more entries than this are not copied to a dense matrix.
MOST_COPIED_ENTRIES = 1 << 22
# The approximate number of entries in a piece that one thread sums.
ENTRIES_PER_THREAD_PIECE = 1 << 18
# Second derivatives are computed by products of about SCALED_ENTRIES_PER_PRODUCT entries of scaled rows at a time, and
# of at least FEWEST_ROWS_PER_PRODUCT rows.
SCALED_ENTRIES_PER_PRODUCT, FEWEST_ROWS_PER_PRODUCT = 1 << 20, 64


class ReducedRows(ABC):
    """Rows in reduced coordinates: targets t (n,), σ (n,), z⁰ (K, n) or None, and products with the x (n, r).

    With x = Zᵀ x̄ (r,), c scores in the span of Q, and σ_i = s_i/S, the mean loss is Σ σ_i ℓ(t_i, z⁰_i + Q Θ x_i),
    where z⁰ is the contribution of an offset. All sums over rows, and all quantities of a single row, are then products
    with the matrix whose rows are the x_i.
    """

    problem: Objective
    space: Subspace
    t: AnyArray
    sigma: Array
    shift: Array | None

    @property
    @abstractmethod
    def X(self) -> Array:
        """The rows x as a dense matrix, (n, r)."""

    @abstractmethod
    def products(self, T: Array) -> Array:
        """T xᵀ, (q, n), for T (q, r)."""

    @abstractmethod
    def adjoint(self, R: Array) -> Array:
        """R x, (q, r), for R (q, n)."""

    @abstractmethod
    def take(self, rows: Integers | slice) -> ReducedRows:
        """The given subset of the rows."""

    @abstractmethod
    def under(self, problem: Objective) -> ReducedRows:
        """The same rows for ``problem``, which has another penalty."""

    @property
    def n_rows(self) -> int:
        return len(self.sigma)

    @property
    def c(self) -> int:
        """The number of scores of Θ."""
        return self.problem.shape[0] if self.space.Q is None else self.space.Q.shape[1]

    def to_scores(self, Z: Array) -> Array:
        """Transform the scores of Θ, (c, …), to the scores of all classes, (K, …), without z⁰."""
        return Z if self.space.Q is None else _mixed(self.space.Q, Z)

    def from_scores(self, R: Array) -> Array:
        """The transpose of ``to_scores``, from (K, …) to (c, …)."""
        return R if self.space.Q is None else _mixed(self.space.Q.T, R)

    def scores(self, theta: Array) -> Array:
        """The scores z, (K, n)."""
        z = self.to_scores(self.products(theta.reshape(self.c, -1)))
        return z if self.shift is None else z + self.shift

    def weights(self, theta: Array) -> Array:
        """The weights W, (K, d + 1)."""
        T, beside = theta.reshape(self.c, -1), self.problem.offsets
        T = T if self.space.Z is None else T @ self.space.Z.T
        W = T if self.space.Q is None else self.space.Q @ T
        return W if beside is None else W + beside

    @cached_property
    def held(self) -> Array:
        """The penalty's second derivatives for each score: r² by column, (r,), or in the coordinates of Z, (r, r)."""
        squares, Z = self.problem.root_penalty**2, self.space.Z
        return squares if Z is None else (Z * squares[:, None]).T @ Z

    def pull(self, theta: Array) -> Array:
        """The penalty's gradient at one Θ or at several, (…, c r)."""
        T = theta.reshape(-1, len(self.held))
        return np.asarray(T * self.held if self.held.ndim == 1 else T @ self.held).reshape(theta.shape)

    def losses(self, z: Array) -> tuple[Array, Array]:
        """ℓ, (n,), and ℓ′, (K, n), at scores z (K, n); or (…, n) and (K, …, n) at scores (K, …, n)."""
        if not self.problem.loss.traits.multiclass:
            value, slope = self.problem.loss.value_derivative(self.t, z[0])
            return value, slope[None]
        each = z.shape[1:]
        t = self.t if len(each) == 1 else np.tile(self.t, each[0])
        value, slope = self.problem.loss.value_derivative(t, z.reshape(len(z), -1).T)
        return value.reshape(each), slope.T.reshape(z.shape)

    def slopes(self, z: Array) -> Array:
        """Only ℓ′, as in ``losses``; for two classes this is half the work."""
        if not self.problem.loss.traits.multiclass:
            return self.problem.loss.derivative(self.t, z[0])[None]
        return self.losses(z)[1]

    def _probabilities(self, slope: Array) -> Array:
        """The probabilities p = ℓ′ + e_t of a canonical loss, (K, n)."""
        p = slope.copy()
        p[self.t, np.arange(p.shape[1])] += 1.0
        return np.maximum(p, 0.0, out=p)  # rounding may make p negative

    @property
    def _Q(self) -> Array:
        return np.eye(self.problem.shape[0]) if self.space.Q is None else self.space.Q

    def bends(self, z: Array, slope: Array) -> Array:
        """σ ℓ″ in the scores of Θ, (c, c, n), at scores z with ℓ′ there."""
        loss = self.problem.loss
        if not loss.traits.multiclass:
            return (self.sigma * loss.curvature_product(self.t, z[0], np.ones(1)))[None, None, :]
        p, Q = self._probabilities(slope), self._Q
        weighted, u = p * self.sigma, Q.T @ p  # diag(p) − p pᵀ
        squares = (Q[:, :, None] * Q[:, None, :]).reshape(len(p), -1)
        C = np.asarray(squares.T @ weighted).reshape(self.c, self.c, -1)
        C -= u[:, None, :] * (u * self.sigma)
        return C

    def gradient(self, theta: Array) -> Array:
        """The gradient of Σ σ ℓ in Θ."""
        return self.adjoint(self.from_scores(self.slopes(self.scores(theta)) * self.sigma)).ravel()

    def each_scores(self, V: Array) -> Array:
        """The scores z of several Θ, (K, q, n), for V (q, c r); the scores of one class are contiguous in memory."""
        T = V.reshape(len(V), self.c, -1).transpose(1, 0, 2)
        z = self.to_scores(self.products(T.reshape(self.c * len(V), -1)).reshape(self.c, len(V), -1))
        return z if self.shift is None else z + self.shift[:, None, :]

    def each_adjoint(self, slope: Array) -> Array:
        """Σ slope ⊗ x for each of several Θ, (q, c r), for slopes (K, q, n)."""
        q = slope.shape[1]
        G = self.adjoint(self.from_scores(slope).reshape(self.c * q, -1))
        return G.reshape(self.c, q, -1).transpose(1, 0, 2).reshape(q, -1)

    def value_gradient(self, theta: Array) -> Array:
        """An array with Σ σ ℓ in entry 0 and its gradient in Θ in the other entries."""
        value, slope = self.losses(self.scores(theta))
        gradient = self.adjoint(self.from_scores(slope * self.sigma))
        return np.concatenate([[value @ self.sigma], gradient.ravel()])

    def derivatives(self, theta: Array) -> tuple[float, Array, Array]:
        """Σ σ ℓ, its gradient in Θ and its second derivatives, from the same scores."""
        z = self.scores(theta)
        value, slope = self.losses(z)
        gradient = self.adjoint(self.from_scores(slope * self.sigma)).ravel()
        return float(value @ self.sigma), gradient, self._bent(z, slope)

    def curvature(self, theta: Array) -> Array:
        """Σ σ ℓ″ ⊗ x xᵀ, (c r, c r)."""
        z = self.scores(theta)
        return self._bent(z, self.losses(z)[1] if self.problem.loss.traits.multiclass else z)

    def _bent(self, z: Array, slope: Array) -> Array:
        """As ``curvature``, from the scores z and ℓ′ there."""
        X = self.X
        if self.problem.loss.traits.multiclass:
            return self._of_probabilities(self._probabilities(slope))
        h = self.bends(z, slope)[0, 0]
        if h.min(initial=0.0) < 0:
            return np.asarray(X.T @ (X * h[:, None]))
        half = X * np.sqrt(h)[:, None]
        return np.asarray(half.T @ half)  # NumPy recognises AᵀA and calls the symmetric product, which is half the work

    def _of_probabilities(self, p: Array) -> Array:
        """Σ_k q_k q_kᵀ ⊗ Xᵀ diag(σ p_k) X − Vᵀ V, where V has rows √σ (Qᵀ p) ⊗ x; all products are symmetric."""
        X, Q = self.X, self._Q
        (n, r), c = X.shape, Q.shape[1]
        own = np.empty((len(p), r, r))
        for k, root in enumerate(np.sqrt(p * self.sigma)):
            half = X * root[:, None]
            own[k] = half.T @ half
        squares = (Q[:, :, None] * Q[:, None, :]).reshape(len(p), -1)
        H = np.ascontiguousarray((squares.T @ own.reshape(len(p), -1)).reshape(c, c, r, r).transpose(0, 2, 1, 3))
        H, u = H.reshape(c * r, c * r), (Q.T @ p) * np.sqrt(self.sigma)
        for part in pieces(n, rows_per_piece(SCALED_ENTRIES_PER_PRODUCT, c * r, FEWEST_ROWS_PER_PRODUCT)):
            V = (u[:, part].T[:, :, None] * X[part, None, :]).reshape(-1, c * r)
            H -= V.T @ V
        return H


def _mixed(M: Array, Z: Array) -> Array:
    """The product of M and Z along the first axis of Z."""
    return np.asarray(M @ Z if Z.ndim == 2 else (M @ Z.reshape(len(Z), -1)).reshape(-1, *Z.shape[1:]))


@dataclass(frozen=True)
class Written(ReducedRows):
    """Rows in a dense matrix.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), 2, ridge)
    >>> rows = reduce_rows(problem)
    >>> rows.X.tolist(), float(rows.value_gradient(np.zeros(2))[0].round(6))
    ([[1.0, -1.5], [1.0, -0.5], [1.0, 0.5], [1.0, 1.5]], 0.693147)
    """

    problem: Objective
    space: Subspace
    x: Array
    t: AnyArray
    sigma: Array
    shift: Array | None

    @property
    def X(self) -> Array:
        return self.x

    def products(self, T: Array) -> Array:
        return np.asarray(T @ self.x.T)

    def adjoint(self, R: Array) -> Array:
        return np.asarray(R @ self.x)

    def take(self, rows: Integers | slice) -> Written:
        shift = None if self.shift is None else self.shift[:, rows]
        return Written(self.problem, self.space, self.x[rows], self.t[rows], self.sigma[rows], shift)

    def under(self, problem: Objective) -> Written:
        return replace(self, problem=problem)


@dataclass(frozen=True)
class Framed(ReducedRows):
    """The rows of a block, which are not copied."""

    problem: Objective
    space: Subspace
    block: Block
    t: AnyArray
    sigma: Array
    shift: Array | None

    @cached_property
    def X(self) -> Array:
        X = self.block.homogeneous()
        return X if self.space.Z is None else X @ self.space.Z

    def products(self, T: Array) -> Array:
        return self.block.scores(T if self.space.Z is None else T @ self.space.Z.T).T

    def adjoint(self, R: Array) -> Array:
        G = self.block.adjoint(R.T)
        return G if self.space.Z is None else G @ self.space.Z

    def take(self, rows: Integers | slice) -> Framed:
        shift = None if self.shift is None else self.shift[:, rows]
        return Framed(self.problem, self.space, self.block.take(rows), self.t[rows], self.sigma[rows], shift)

    def under(self, problem: Objective) -> Framed:
        return replace(self, problem=problem)


def reduce_rows(problem: Objective, space: Subspace | None = None) -> Written | Framed:
    """The rows of a problem in the coordinates of a subspace, by default its own; small tables become a dense matrix.

    Small dense tables, and CSR tables that are small or mostly nonzero, are converted to that matrix once: a path makes
    about twenty passes over them, and on a table of 400 × 20 the frames, blocks and strands of a pass by ``Rows.fold``
    take four times as long as its arithmetic. If no subspace is given, the problem of the result then has the Gram
    matrix of that dense matrix in its cache, so that its subspace is computed from the same numbers. Other rows are not
    copied, and their sums are folds.
    """
    block: Any = in_memory(problem, "leave-one-out")
    sigma, beside = block.weight / problem.total_weight, problem.offsets
    shift = None if beside is None else block.scores(beside).T
    n, d = block.X.shape
    # A dense copy of a CSR table is affordable if it is small, or at most half of its entries are zero.
    is_mostly_empty = is_sparse(block.X) and n * d > max(ENTRIES_PER_THREAD_PIECE, 2 * block.X.nnz)
    if n * problem.shape[1] > MOST_COPIED_ENTRIES or is_mostly_empty:
        return Framed(problem, space or problem.subspace, block, block.t, sigma, shift)
    X = _written_out(block)
    if space is None and not problem.knows("gram"):
        problem.rows.counter.add()

        def square(part: slice) -> Array:
            half: Array = X[part] * np.sqrt(sigma[part])[:, None]
            return half.T @ half

        gram = reduce(iadd, in_order(square, cut(len(X), X.shape[1], X.size)))
        gram[problem.pinned, :] = gram[:, problem.pinned] = 0.0
        problem = problem.with_(known={"gram": gram, "sample_gram": gram})
    space = space or problem.subspace
    return Written(problem, space, X if space.Z is None else X @ space.Z, block.t, sigma, shift)


def _written_out(block: Block) -> Array:
    """X̄ as a dense matrix, (n, d + 1). Dense rows are centred and scaled in pieces that fit into the CPU cache."""
    if is_sparse(block.X):
        return block.homogeneous()
    raw, frame = np.asarray(block.X), block.frame
    X = np.empty((len(raw), raw.shape[1] + 1))

    def write(part: slice) -> None:
        X[part, 0] = 1.0
        np.subtract(raw[part], frame.center, out=X[part, 1:])
        X[part, 1:] /= frame.scale

    for _ in in_order(write, cut(len(raw), 1, X.size)):
        pass
    return X


def cut(n: int, fewest: int, work: int) -> list[slice]:
    """Divide n rows into equal pieces of about ENTRIES_PER_THREAD_PIECE of the work and at least ``fewest`` rows.

    >>> cut(4, 2, 8)
    [slice(0, 4, None)]
    """
    count = max(1, min(n // max(1, fewest), round(work / ENTRIES_PER_THREAD_PIECE)))
    return even_pieces(n, count)


# --- The leverage of each row and its score by the fit without it (E2)

# If curvature × leverage of a row exceeds this, one Newton step is inaccurate: on small data sets the error of the mean
# loss was up to 15 %.
LARGEST_ACCURATE_LEVERAGE = 0.4
# In the Newton step, values of curvature × leverage larger than this are replaced by it, so that 1 − ℓ″ h is not small.
MOST_LEVERAGE = 0.9


@dataclass(frozen=True)
class Inverse:
    """A = (∇²E)⁻¹ in the coordinates W = Q Θ Zᵀ of a subspace, (c r, c r) with c scores and r columns."""

    space: Subspace
    A: Array

    @classmethod
    def of(cls, factor: Factor, space: Subspace) -> Inverse:
        """The inverse from a factor of ∇²E.

        >>> factor = Factor.of(np.array([[2.0, 0.0], [0.0, 4.0]]))
        >>> Inverse.of(factor, Subspace(None, None, 2)).A.round(12).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
        """
        from scipy.linalg.lapack import dpotri

        if len(factor.d) == 0:
            return cls(space, np.zeros((0, 0)))
        upper = np.triu(dpotri(factor.lower.T, lower=0)[0])  # LAPACK stores matrices by columns
        A = upper + np.triu(upper, 1).T
        return cls(space, A / factor.d / factor.d[:, None])

    @classmethod
    def on_active(cls, H: Array, active: AnyArray) -> Inverse | None:
        """The inverse of H = ∇²E on the active weights, and zero elsewhere; None if H is singular on them.

        ``active`` (K, d + 1): which weights are in use.

        >>> Inverse.on_active(np.diag([2.0, 4.0]), np.array([[True, False]])).A.round(12).tolist()
        [[0.5, 0.0], [0.0, 0.0]]
        """
        used = np.flatnonzero(active)
        factor = Factor.of(H[np.ix_(used, used)])
        if factor is None:
            return None
        space = Subspace(None, None, active.shape[1])
        A = np.zeros_like(H)
        A[np.ix_(used, used)] = cls.of(factor, space).A
        return cls(space, A)

    def rows(self, block: Block) -> Array:
        """The rows x̄ in the coordinates of Θ, (m, r)."""
        X = block.homogeneous()
        return X if self.space.Z is None else X @ self.space.Z

    def from_scores(self, R: Array) -> Array:
        """Transform derivatives in the scores, (m, K), to the coordinates of Θ, (m, c)."""
        return R if self.space.Q is None else R @ self.space.Q

    def leverages(self, X: Array, c: int) -> Array:
        """G, (m, c, c), of rows X (m, r). Each pair of scores is computed once, since G is symmetric."""
        m, r = X.shape
        A, G = self.A.reshape(c, r, c * r), np.empty((m, c, c))
        for a in range(c):
            V = (X @ A[a, :, : (a + 1) * r]).reshape(m, a + 1, r)
            G[:, a, : a + 1] = G[:, : a + 1, a] = np.einsum("mbr,mr->mb", V, X)
        return G


class RowTerms(NamedTuple):
    """The terms of some rows: σℓ′ (m, c), σℓ″ and G (m, c, c), and the scores z (K, m)."""

    slope: Array
    curvature: Array
    G: Array
    z: Array


def row_terms(rows: ReducedRows, theta: Array, inverse: Inverse) -> RowTerms:
    """The terms of these rows at Θ."""
    z = rows.scores(theta)
    slope = rows.losses(z)[1]
    bends = rows.bends(z, slope)
    return RowTerms(
        rows.from_scores(slope * rows.sigma).T, bends.transpose(2, 0, 1), inverse.leverages(rows.X, rows.c), z
    )


def one_step(of: RowTerms, rows: ReducedRows) -> tuple[Array, Array, Array]:
    """z₋ᵢ, (K, m); the trace of σ ℓ″ G; and its largest eigenvalue, or a bound if below LARGEST_ACCURATE_LEVERAGE.

    With E = (1/S) Σ s_i ℓ(t_i, z_i) + penalty at its minimum, A = (∇²E)⁻¹, G_i = x̄_iᵀ A x̄_i (K × K: one for each pair
    of scores), ℓ′ and ℓ″ at z_i, and σ_i = s_i/S, one Newton step on E without row i gives

        z₋ᵢ ≈ z_i + (I − σ_i G_i ℓ″)⁻¹ G_i σ_i ℓ′ ,     for one score  z_i + ℓ′ h/(1 − ℓ″ h)  with h = σ_i G_i

    (Beirami, Razaviyayn, Shahrampour and Tarokh 2017; Rad and Maleki 2020). For a squared loss it is exact (Allen
    1974).

    The trace bounds the largest eigenvalue of a product of positive semidefinite matrices. If a row is the only one
    with a component along some direction, the exact step would be infinite; therefore leverages are limited to
    MOST_LEVERAGE.
    """
    if of.G.shape[1] == 1:
        G, slope = of.G[:, 0, 0], of.slope[:, 0]
        lever = of.curvature[:, 0, 0] * G
        return of.z + G * slope / (1.0 - np.minimum(lever, MOST_LEVERAGE)), lever, lever
    CG = of.curvature @ of.G
    trace = np.trace(CG, axis1=1, axis2=2)
    lever = trace.copy()
    doubtful = np.flatnonzero(trace > LARGEST_ACCURATE_LEVERAGE)
    if len(doubtful):
        lever[doubtful] = np.max(np.linalg.eigvals(CG[doubtful]).real, axis=1)
    less = np.minimum(1.0, MOST_LEVERAGE / np.maximum(lever, MOST_LEVERAGE))
    M = np.eye(CG.shape[1]) - less[:, None, None] * CG.transpose(0, 2, 1)
    step = np.linalg.solve(M, of.G @ of.slope[:, :, None])[:, :, 0]
    return of.z + rows.to_scores(step.T), trace, lever


# --- The path with warm starts


class Solved(NamedTuple):
    """The problem of one C, and how it was solved."""

    problem: Objective
    solver: Solver
    why: str
    outcome: Run


@dataclass
class WarmPath:
    """The current point of the path: the problem at the last C, and the final state of its run.

    The rows are summarised once. At the start for the next C, the loss and its gradient are known from the last fit, so
    only the penalty is evaluated again. Columns gathered for the last C are reused.

    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> walk = WarmPath.over(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> weak, strong = (abs(walk.solved(C).outcome.state.W[0, 1]) for C in (10.0, 0.1))
    >>> bool(weak > strong)
    True
    """

    penalty: Penalty  # the penalty at C = 1, in the units of the rows' weights
    scale: Array  # the scales of the columns, which do not depend on the penalty
    problem: Objective
    solver: Solver | None = None
    state: State | None = None

    @classmethod
    def over(
        cls,
        rows: Rows,
        n_classes: int,
        penalty: Penalty,
        fit_intercept: bool = True,
        names: list[str] | None = None,
        loss: str = "logistic",
        n_offsets: int = 0,
    ) -> WarmPath:
        """A new path, on which no C has been solved yet. ``penalty``: the penalty at C = 1."""
        lasso = replace(penalty, l1_ratio=1.0)  # no quadratic part, so the frame depends only on the columns
        problem = build_objective(rows, n_classes, lasso, fit_intercept, names=names, loss=loss, n_offsets=n_offsets)
        kept = replace(problem.penalty, l1_ratio=penalty.l1_ratio)
        return cls(kept, problem.rows.frame.scale, problem)

    @property
    def null_gradient(self) -> Array:
        """∇E of the null model for each class's score, (classes, d + 1), from the class sums without a pass."""
        problem = self.problem
        sums = problem.class_sums / problem.total_weight
        share = sums[:, 0] if problem.fit_intercept else np.full(len(sums), 1.0 / len(sums))
        return np.asarray(np.outer(share, sums.sum(axis=0)) - sums)

    def zero(self) -> float:
        """The largest C at which all weights of penalised columns are zero."""
        largest = np.max(np.abs(self.null_gradient)[:, 1:], axis=0)
        # For ridge there is no such C, so smaller ratios are replaced.
        ratio = max(self.penalty.l1_ratio, 1e-3)
        wanted = largest > 0
        lasso = replace(self.penalty, l1_ratio=1.0)
        a = ratio * self.problem.with_(penalty=lasso).absolute_penalty[1:][wanted] / largest[wanted]
        # C is slightly smaller, so that the weights stay zero despite rounding.
        return (1 - 1e-10) * float(np.min(a[a > 0])) if np.any(a > 0) else 1.0

    def solved(self, C: float, solver: Solver | None = None, tol: float = 1e-8, max_iter: int = 1000) -> Solved:
        """The fit at C, with a warm start from the last fit. If ``solver`` is None, it is chosen automatically."""
        problem = self.objective(C)
        solver, why = choose(problem) if solver is None else (solver, f"{solver.name}: chosen by the user")
        refuse_unmet(solver, problem)
        outcome = run(solver, problem, self._start(solver, problem), default_rules(tol, max_iter))
        self.problem, self.solver, self.state = problem, solver, outcome.state
        return Solved(problem, solver, why, outcome)

    def objective(self, C: float) -> Objective:
        """The problem at C, with the same rows and the cached quantities that remain valid."""
        penalty = self.penalty.times(0.0 if np.isinf(C) else 1.0 / C)
        last, frame = self.problem, self.problem.rows.frame
        spread = 2 * np.sqrt(penalty.quadratic / last.total_weight)
        scale = np.where(np.isinf(self.scale), np.inf, power_of_two(np.hypot(self.scale, spread)))
        if np.array_equal(scale, frame.scale):
            return last.with_(penalty=penalty, count_anew=True)
        stretched = Frame(frame.center, scale)
        known = {"class_sums": last.class_sums / _stretch(frame, stretched)}
        return last.with_(frame=stretched, penalty=penalty, known=known, count_anew=True)

    def _start(self, solver: Solver, problem: Objective) -> Array | State:
        last, state = self.problem, self.state
        if state is None:
            return np.zeros(problem.shape) if problem.offsets is None else problem.null_weights
        stretch = _stretch(last.rows.frame, problem.rows.frame)
        W = state.W * stretch
        if not isinstance(solver, ProximalNewton | WorkingSet):
            return W
        value = state.at.value - last.penalty_value(state.W) + problem.penalty_value(W)
        loss_gradient = (state.at.gradient - last.penalty_gradient(state.W)) / stretch
        at = Evaluation(value, loss_gradient + problem.penalty_gradient(W))
        goes_on = last.rows is problem.rows and solver == self.solver
        return solver.begin(problem, W, at, state if goes_on else None)


def _stretch(before: Frame, after: Frame) -> Array:
    """The factors, (d + 1), powers of two, that convert weights from one frame to another with the same centre."""
    hidden = np.isinf(after.scale)
    return np.concatenate([[1.0], np.where(hidden, 1.0, after.scale / np.where(hidden, 1.0, before.scale))])


# --- The mean loss over all rows and its derivatives as functions of Θ


def sums_of(rows: Written | Framed) -> InPieces | FoldedPath:
    """The sums of rows, by pieces or by folds.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), 2, ridge)
    >>> sums_of(reduce_rows(problem)).curvature(np.zeros(2)).tolist()  # a quarter of the Gram matrix
    [[0.25, 0.0], [0.0, 0.3125]]
    """
    return InPieces(rows) if isinstance(rows, Written) else FoldedPath(rows)


@dataclass(frozen=True)
class InPieces:
    """Sums over rows in a dense matrix: pieces, cut by the data alone, are summed in parallel and added in order."""

    rows: Written

    @cached_property
    def parts(self) -> list[Written]:
        """The pieces for values and gradients."""
        return self._cut(self.rows.x.shape[1], self.rows.x.size)

    @cached_property
    def bent_parts(self) -> list[Written]:
        """The pieces for second derivatives, whose work grows with the square of the number of scores."""
        c, (_, r) = self.rows.c, self.rows.x.shape
        return self._cut(max(r, c * r), self.rows.x.size * c**2)

    def _cut(self, fewest: int, work: int) -> list[Written]:
        parts = cut(self.rows.n_rows, fewest, work)
        return [self.rows] if len(parts) == 1 else [self.rows.take(part) for part in parts]

    def value_gradient(self, theta: Array) -> Evaluation:
        total = self._sum(lambda part: part.value_gradient(theta), self.parts)
        return Evaluation(float(total[0]), total[1:])

    def curvature(self, theta: Array) -> Array:
        return self._sum(lambda part: part.curvature(theta), self.bent_parts)

    def _sum(self, of: Callable[[Written], Array], parts: list[Written]) -> Array:
        self.rows.problem.rows.counter.add()
        return of(parts[0]) if len(parts) == 1 else reduce(iadd, in_order(of, parts))


@dataclass(frozen=True)
class FoldedPath:
    """Sums over rows that are not in a dense matrix, by folds."""

    rows: Framed

    def value_gradient(self, theta: Array) -> Evaluation:
        problem, space = self.rows.problem, self.rows.space
        total = problem.rows.fold(ValueGradient(problem.loss, self.rows.weights(theta))) / problem.total_weight
        return Evaluation(float(total[0]), space.reduce(problem.without_pinned(total[1:].reshape(problem.shape))))

    def curvature(self, theta: Array) -> Array:
        problem, space = self.rows.problem, self.rows.space
        T = problem.rows.fold(ScoreCurvature(problem.loss, self.rows.weights(theta))) / problem.total_weight
        c, width = T.shape[:2]
        if space.Z is not None:
            T = space.Z.T @ (T @ space.Z).reshape(c, width, -1)
            width = space.Z.shape[1]
        if space.Q is not None:
            M = space.Q[:-1].T - space.Q[-1][:, None]  # the last score's curvature is minus the sum of the others
            T = (M @ T.reshape(c, -1)).reshape(c * width, c, width)
            T = M @ T
        return np.ascontiguousarray(T).reshape(c * width, c * width)


@dataclass(frozen=True)
class ScoreCurvature(ArraySum):
    """Σ s ℓ″ ⊗ x̄ x̄ᵀ over all scores but the last, (c, d + 1, c, d + 1).

    The last score of softmax needs no sum, because each row of ℓ″ sums to zero over the classes.
    """

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        K, width = self.W.shape
        return (max(1, K - 1), width, max(1, K - 1), width)

    def add(self, total: Array, block: Block) -> Array:
        z = block.scores(self.W)
        if not self.loss.traits.multiclass:
            h = self.loss.curvature_product(block.t, z[:, 0], np.ones(block.n_rows))
            total[0, :, 0] += block.sandwich(block.weight * h)
            return total
        for k in range(len(total)):
            along = np.zeros_like(z)
            along[:, k] = 1.0
            h = block.weight[:, None] * self.loss.curvature_product(block.t, z, along)
            for j in range(k + 1):
                part = block.sandwich(h[:, j])
                total[k, :, j] += part
                if j < k:
                    total[j, :, k] += part
        return total


# --- The path for a quadratic penalty, with the inverse of ∇²E at each C

# Second derivatives are computed when the squared Newton decrement g·A g falls to this share of E.
HESSIAN_DECREMENT = 3e-4
# If g·A g with these second derivatives is at most this share of E, one more Newton step is enough: the scores were
# within 0.2 % of the scores of fits to a tolerance of 1e-9.
NEWTON_DECREMENT = 1e-3
# The most quasi-Newton steps with one matrix of second derivatives are STEPS_PER_MATRIX, plus one for every
# PARAMETERS_PER_EXTRA_STEP parameters, since a larger matrix costs more.
STEPS_PER_MATRIX, PARAMETERS_PER_EXTRA_STEP = 3, 20
# The most matrices of second derivatives for one C, and the number of L-BFGS pairs that are kept.
MOST_MATRICES, PAIRS_ON_PATH = 20, 10
# If g·A g is below this share of E, it is due to rounding errors of the gradient.
ROUNDED_DECREMENT = float(np.finfo(np.float64).eps) ** 1.5


class PathFit(NamedTuple):
    """The rows with the penalty at one C, Θ near the minimum, the mean loss there, and A (None if ∇²E is singular)."""

    rows: ReducedRows
    theta: Array
    loss: float
    inverse: Inverse | None


@dataclass(frozen=True)
class _PenalisedLoss:
    """E for one C, as a function of Θ."""

    sums: InPieces | FoldedPath
    rows: ReducedRows
    most_together: ClassVar[int] = 1

    def value_gradient(self, theta: Array) -> Evaluation:
        return self.add(theta, *self.sums.value_gradient(theta))

    def value_gradients(self, thetas: Sequence[Array]) -> list[Evaluation]:
        """E and its gradient at several points; reduced rows are in memory, so nothing is gained by one pass."""
        return [self.value_gradient(theta) for theta in thetas]

    def add(self, theta: Array, loss: float, gradient: Array) -> Evaluation:
        """E and its gradient, from those of the loss."""
        pull = self.rows.pull(theta)
        return Evaluation(loss + 0.5 * float(theta @ pull), gradient + pull)

    def factor(self, H: Array) -> Factor | None:
        """The factor of ∇²E, from the loss's second derivatives H; None if it is singular."""
        total, held = H.copy(), self.rows.held
        if held.ndim == 1:
            total.ravel()[:: len(H) + 1] += np.tile(held, len(H) // len(held))
            return Factor.of(total)
        for score in pieces(len(H), len(held)):
            total[score, score] += held
        return Factor.of(total)


class Place(NamedTuple):
    """A point of the path: ln C, Θ, the loss there, its gradient and its second derivatives."""

    u: float
    theta: Array
    loss: float
    gradient: Array
    H: Array


@dataclass
class Ridge:
    """The path so far: the null model, whose second derivatives need no pass, and the fits at all C tried.

    Problem   min_Θ E(Θ) for any C, in any order
    Returns   for each C a Θ near the minimum, the loss there, and A = (∇²E)⁻¹
    Step      start from the fit at the nearest C. There the second derivatives of the loss are known, and its gradient
              is minus that of the penalty, so the first Newton step for the new C needs no pass. Then take quasi-Newton
              steps with that Hessian until one Newton step is enough, and take that step with the Hessian at the
              current point. On small tables all steps are Newton steps
    Stops     when the squared Newton decrement g·A g before the last step, which squares the error, is small relative
              to E

    No bound on E − min E is computed: scores of C need fewer digits than a fit, and the fit at the chosen C has a
    bound. The quasi-Newton steps are Algorithm 7.4 of Nocedal and Wright 2006.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> X, codes = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1])
    >>> path = Ridge.on(build_objective(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.ones(1))))
    >>> weak, strong = (path.at(C).loss for C in (1.0, 0.01))
    >>> bool(weak < strong)
    True
    """

    base: Objective  # the objective at C = 1
    rows: ReducedRows
    sums: InPieces | FoldedPath
    null: Place
    seen: list[Place] = field(default_factory=list)

    @classmethod
    def on(cls, base: Objective) -> Ridge:
        """The path that contains only the null model."""
        rows = reduce_rows(base)
        base, W = rows.problem, base.null_weights
        space, sums = rows.space, sums_of(rows)  # the identified directions do not depend on C
        theta = space.reduce(W if base.offsets is None else W - base.offsets)
        return cls(base, rows, sums, Place(-np.inf, theta, *sums.value_gradient(theta), null_hessian(base)))

    def at(self, C: float) -> PathFit:
        """The fit at C, started from the fit at the nearest C."""
        E, place = self._penalised(C), self._nearest(C)
        theta, at = self._begun(E, C, place)
        factor = E.factor(place.H)
        # If a matrix of second derivatives takes few multiplications, every step is a Newton step.
        few = isinstance(self.rows, Written) and self.rows.x.size * len(place.H) <= 1 << 21
        for _ in range(MOST_MATRICES):
            if few:
                theta, at, H = _newton(E, theta, at, factor)
            else:
                theta, at = _descended(E, theta, at, factor, lambda _, at, dec: dec <= HESSIAN_DECREMENT * at.value)
                H = E.sums.curvature(theta)
            factor = E.factor(H)
            if factor is None:
                return PathFit(E.rows, theta, at.value - 0.5 * float(theta @ E.rows.pull(theta)), None)
            step = factor.solve(at.gradient)
            decrement = float(at.gradient @ step)
            if decrement <= NEWTON_DECREMENT * at.value:
                break
        assert factor is not None  # the loop runs at least once
        theta = theta - step
        pull = E.rows.pull(theta)  # the gradient of E is nearly zero, so that of the loss is minus this
        loss = at.value - 0.5 * decrement - 0.5 * float(theta @ pull)
        self.seen = [*self.seen, Place(float(np.log(C)), theta, loss, -pull, H)]
        return PathFit(E.rows, theta, loss, Inverse.of(factor, self.base.subspace))

    def _nearest(self, C: float) -> Place:
        return min(self.seen, key=lambda place: abs(place.u - np.log(C)), default=self.null)

    def _begun(self, E: _PenalisedLoss, C: float, place: Place) -> tuple[Array, Evaluation]:
        """The start for C: Θ of the nearest fit or, if E is lower there, an interpolated Θ.

        Between earlier fits, Θ is interpolated by a parabola in ln C through the three nearest ones.
        """
        at = E.add(place.theta, place.loss, place.gradient)
        u, seen = float(np.log(C)), [each.u for each in self.seen]
        if not min(seen, default=u) < u < max(seen, default=u):
            return place.theta, at
        near = sorted(self.seen, key=lambda each: abs(each.u - u))[:3]
        nodes = np.array([each.u for each in near])
        share = [np.prod((u - np.delete(nodes, k)) / (nodes[k] - np.delete(nodes, k))) for k in range(len(near))]
        theta = sum((a * each.theta for a, each in zip(share, near, strict=True)), np.zeros_like(place.theta))
        there = E.value_gradient(theta)
        return (theta, there) if there.value < at.value else (place.theta, at)

    def finished(self, C: float, theta: Array, tol: float) -> Array:
        """The minimum at C, started from Θ near it, to a duality gap of about ``tol`` times the null model's loss."""
        E = self._penalised(C)
        problem, factor = E.rows.problem, E.factor(self._nearest(C).H)
        if factor is None:
            return theta
        goal, space = tol * problem.null_value, self.base.subspace

        def done(theta: Array, at: Evaluation, decrement: float) -> bool:
            if not ROUNDED_DECREMENT * at.value < decrement <= goal:  # the gap is hardly smaller than the decrement
                return decrement <= goal
            there = Evaluation(at.value, space.expand(at.gradient))
            return duality(problem, E.rows.weights(theta), there).known <= goal

        return _descended(E, theta, E.value_gradient(theta), factor, done)[0]

    def _penalised(self, C: float) -> _PenalisedLoss:
        penalty, known = self.base.penalty.times(1.0 / C), {"subspace": self.base.subspace}
        problem = self.base.with_(penalty=penalty, known=known)
        return _PenalisedLoss(self.sums, self.rows.under(problem))


def _newton(E: _PenalisedLoss, theta: Array, at: Evaluation, factor: Factor | None) -> tuple[Array, Evaluation, Array]:
    """Θ, E and the loss's second derivatives after one Newton step, for tables where these are cheap."""
    step = None if factor is None else factor.solve(at.gradient)
    decrement = 0.0 if step is None else float(at.gradient @ step)
    if step is not None and decrement > HESSIAN_DECREMENT * at.value:

        def evaluated(alpha: float) -> tuple[float, tuple[Array, Evaluation, Array]]:
            trial = theta - alpha * step
            loss, gradient, H = E.rows.derivatives(trial)
            there = E.add(trial, loss, gradient)
            return there.value, (trial, there, H)

        accepted = backtracked(evaluated, at.value, -decrement, trials=30, rounding=0.0)
        if accepted is not None:
            return accepted[1]
    return theta, at, E.sums.curvature(theta)


def _descended(
    E: _PenalisedLoss,
    theta: Array,
    at: Evaluation,
    factor: Factor | None,
    done: Callable[[Array, Evaluation, float], bool],
) -> tuple[Array, Evaluation]:
    """Θ and E after quasi-Newton steps with one factor, until ``done`` or until a new factor costs less."""
    pairs, method = Pairs(), QuasiNewton(E, np.asarray, np.asarray, PAIRS_ON_PATH)
    for _ in range(STEPS_PER_MATRIX + len(theta) // PARAMETERS_PER_EXTRA_STEP):
        if factor is None:
            break
        g = at.gradient
        ended = done(theta, at, float(g @ factor.solve(g)))
        found = None if ended else method.step(theta, at, pairs, factor.solve)
        if found is None:
            break
        theta, at, pairs = found
    return theta, at
