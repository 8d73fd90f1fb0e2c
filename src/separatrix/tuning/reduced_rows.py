r"""Rows in the reduced coordinates W = W₀ + Q Θ Zᵀ of the identified directions, reused along the regularisation path.

With x = Zᵀ x̄ (r,), c scores in the span of Q, and σ_i = s_i/S, the mean loss is Σ σ_i ℓ(t_i, z⁰_i + Q Θ x_i), where z⁰
is the contribution of an offset. All sums over rows, and all quantities of a single row, are then products with the
matrix whose rows are the x_i.

Small dense tables, and CSR tables that are small or mostly nonzero, are converted to that matrix once: a path
makes about twenty passes over them, and on a table of 400 × 20 the frames, blocks and strands of a pass by
``Rows.fold`` take four times as long as its arithmetic. Other rows are not copied, and their sums are folds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import reduce
from operator import iadd
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.cached import cached_property
from separatrix.base.concurrency import in_order
from separatrix.base.pieces import even_pieces, pieces, rows_per_piece
from separatrix.objectives.problem import Objective
from separatrix.objectives.subspace import Subspace
from separatrix.rows import Block
from separatrix.rows.csr import is_sparse
from separatrix.solvers.state import in_memory

# Tables with more entries than this are not copied to a dense matrix.
MOST_COPIED_ENTRIES = 1 << 22
# The approximate number of entries in a piece that one thread sums.
ENTRIES_PER_THREAD_PIECE = 1 << 18
# Second derivatives are computed by products of about SCALED_ENTRIES_PER_PRODUCT entries of scaled rows at a time, and
# of at least FEWEST_ROWS_PER_PRODUCT rows.
SCALED_ENTRIES_PER_PRODUCT, FEWEST_ROWS_PER_PRODUCT = 1 << 20, 64


class ReducedRows(ABC):
    """Rows in reduced coordinates: targets t (n,), σ (n,), z⁰ (K, n) or None, and products with the x (n, r)."""

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

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
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

    In that case, if no subspace is given, the problem of the result has the Gram matrix of that dense matrix in its
    cache, so that its subspace is computed from the same numbers.
    """
    block: Any = in_memory(problem, "leave-one-out")
    sigma, beside = block.weight / problem.total_weight, problem.offsets
    shift = None if beside is None else block.scores(beside).T
    if block.X.shape[0] * problem.shape[1] > MOST_COPIED_ENTRIES or (is_sparse(block.X) and not _full(block.X)):
        return Framed(problem, space or problem.subspace, block, block.t, sigma, shift)
    X = _written_out(block)
    if space is None and not problem.knows("gram"):
        gram = _gram(problem, X, sigma)
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


def _full(X: Any) -> bool:
    """Whether a CSR table is small, or at most half of its entries are zero, so that a dense copy is affordable."""
    return bool(X.shape[0] * X.shape[1] <= max(ENTRIES_PER_THREAD_PIECE, 2 * X.nnz))


def _gram(problem: Objective, X: Array, sigma: Array) -> Array:
    problem.rows.counter.add()

    def square(part: slice) -> Array:
        half = X[part] * np.sqrt(sigma[part])[:, None]
        return half.T @ half

    G = reduce(iadd, in_order(square, cut(len(X), X.shape[1], X.size)))
    G[problem.pinned, :] = G[:, problem.pinned] = 0.0
    return G


def cut(n: int, fewest: int, work: int) -> list[slice]:
    """Divide n rows into equal pieces of about ENTRIES_PER_THREAD_PIECE of the work and at least ``fewest`` rows.

    >>> cut(4, 2, 8)
    [slice(0, 4, None)]
    """
    count = max(1, min(n // max(1, fewest), round(work / ENTRIES_PER_THREAD_PIECE)))
    return even_pieces(n, count)
