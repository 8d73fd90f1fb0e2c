r"""Copies of the columns of a working set, for the problem restricted to them.

There are two forms. ``DenseColumns`` builds a matrix of second derivatives, which is faster for few columns.
``SparseColumns`` loops over stored entries and keeps the intercepts at the minimum of the quadratic model, so that
columns need no centring. A column with a large offset has few zeros, so it is centred and stored as dense. The
curvature of a row over its K scores is diag(d) − e eᵀ, with (d, e) = (ℓ″, 0) for one score and (p, p) for softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from mmap import mmap
from typing import Any, NamedTuple, Protocol

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.concurrency import in_order
from separatrix.objectives.problem import Objective
from separatrix.rows import Block, Order
from separatrix.rows.csr import is_sparse
from separatrix.rows.frame import LARGE_OFFSET
from separatrix.solvers.quadratic import minimise, moving

# With at most this many parameters a matrix of second derivatives is built.
MOST_MATRIX_PARAMETERS = 3000
# Columns are divided into this many pieces for parallel work; the number does not depend on the number of threads.
COLUMN_PIECES = 8
# The most sweeps of coordinate descent on one quadratic model; sweeps also end once steps have fallen to
# SMALLEST_STEP_SHARE of the first.
MOST_SWEEPS, SMALLEST_STEP_SHARE = 50, 1e-4
# A quadratic model does not change a weight that is zero if its |gradient| is below this share of its penalty.
LIVE_GRADIENT_SHARE = 0.98
# A quadratic model may change as many zero weights as there are weights in use, or this many if that is more.
FEWEST_NEW_WEIGHTS = 256
# The number of entries of dense rows that one thread gathers at a time.
DENSE_ENTRIES_PER_BLOCK = 1 << 18
# The number of CSR rows that are read at a time; they are not copied.
CSR_ROWS_PER_BLOCK = 1 << 16
# Curvature is a difference of sums. If it is below this share of these sums, it is treated as a rounding error.
SMALLEST_CURVATURE_SHARE = 1e-11


class Curvature(NamedTuple):
    """The curvature diag(d) − e eᵀ of each row, d and e (n, K); ``coupled``: e is not zero."""

    d: Array
    e: Array
    coupled: bool


class Model(NamedTuple):
    """The quadratic model of f at W.

    It consists of residuals ω ∂ℓ (n, K), the curvature of each row, gradient and weights (K, p + 1), and the penalties
    r² and a, (p + 1,).
    """

    residual: Array
    curvature: Curvature
    gradient: Array
    W: Array
    squares: Array
    absolute: Array
    fit_intercept: bool

    @property
    def live(self) -> Integers:
        """The indices, of p + 1, of the weights that this model changes: those in use, and at most as many others.

        The others are those whose |gradient| comes closest to their penalty, or exceeds it most. All remaining weights
        stay zero in this model; a later model may change them.
        """
        used = np.any(self.W != 0, axis=0) | (self.absolute == 0)
        used[0] = self.fit_intercept
        size = np.max(np.abs(self.gradient), axis=0)
        near = np.flatnonzero(~used[1:] & (size[1:] >= LIVE_GRADIENT_SHARE * self.absolute[1:])) + 1
        order = np.argsort((self.absolute - size)[near], kind="stable")
        return np.sort(np.concatenate([np.flatnonzero(used), near[order[: max(FEWEST_NEW_WEIGHTS, int(used.sum()))]]]))


class Columns(Protocol):
    """X̄ of the working set in the frame's coordinates, with the intercept first."""

    def scores(self, W: Array) -> Array: ...
    def adjoint(self, R: Array) -> Array: ...
    def minimum(self, model: Model, accuracy: float) -> tuple[Array, Array]: ...


@dataclass(frozen=True)
class DenseColumns:
    """A (n, p + 1), centred, the first column of ones."""

    A: Array

    def scores(self, W: Array) -> Array:
        return self.A @ W.T

    def adjoint(self, R: Array) -> Array:
        return R.T @ self.A

    def minimum(self, model: Model, accuracy: float) -> tuple[Array, Array]:
        """The approximate minimum of the model, to ``accuracy`` times the first step, and the change of the scores."""
        live = model.live
        K, m = len(model.W), len(live)
        d, e, coupled = model.curvature
        A, squares = self.A[:, live], model.squares[live]
        blocks = np.empty((K, m, K, m))
        for k in range(K):
            for l in range(k + 1):
                h = d[:, k] * (k == l) - (e[:, k] * e[:, l] if coupled else 0.0)
                blocks[k, :, l, :] = _weighted(A, h)
                blocks[l, :, k, :] = blocks[k, :, l, :]
        H = blocks.reshape(K * m, K * m)
        H[np.diag_indices_from(H)] += np.tile(squares, K)
        gradient, w = model.gradient[:, live].ravel(), model.W[:, live]
        absolute = model.absolute[live]
        free = moving(
            K, (squares == 0) & (absolute == 0), fit_intercept=True
        )  # `live` excludes an intercept that is not fitted
        moved = minimise(H, gradient, w.ravel(), np.tile(absolute, K), accuracy, free).reshape(K, m)
        to = model.W.copy()
        to[:, live] = moved
        return to, (A @ (moved - w).T)


def _weighted(A: Array, h: Array) -> Array:
    """Aᵀ diag(h) A."""
    if np.all(h >= 0):
        half = np.sqrt(h)[:, None] * A
        return np.asarray(half.T @ half)
    return np.asarray(A.T @ (h[:, None] * A))


@dataclass(frozen=True)
class SparseColumns:
    """The columns x/scale in CSC format; ``shift`` (p,) is center/scale for columns that are not centred."""

    data: AnyArray
    row: AnyArray
    start: Integers
    shift: Array
    n_rows: int

    def scores(self, W: Array) -> Array:
        return self._moved(W[:, 1:], W[:, 0] - W[:, 1:] @ self.shift)

    def _moved(self, D: Array, beta: Array) -> Array:
        """X Dᵀ + β."""
        from separatrix.kernels.coordinate import spread

        z = np.tile(beta, (self.n_rows, 1))
        spread(self.data, self.row, self.start, np.ascontiguousarray(D), z)
        return z

    def adjoint(self, R: Array) -> Array:
        from separatrix.kernels.coordinate import collect

        out = np.empty((R.shape[1], len(self.shift)))
        self._by_pieces(lambda i, j: collect(self.data, self.row, self.start, R, i, j, out))
        total = R.sum(axis=0)
        return np.column_stack([total, out - np.outer(total, self.shift)])

    def _by_pieces(self, work: Callable[[int, int], None]) -> None:
        """Call ``work`` on ranges of columns with about the same number of entries."""
        share = np.linspace(0, self.start[-1], COLUMN_PIECES + 1)
        edges = np.searchsorted(self.start, share)
        edges[0], edges[-1] = 0, len(self.shift)
        for _ in in_order(lambda k: work(int(edges[k]), int(edges[k + 1])), range(COLUMN_PIECES)):
            pass

    def minimum(self, model: Model, accuracy: float) -> tuple[Array, Array]:
        """As ``DenseColumns.minimum``, with the intercepts updated after every weight."""
        from separatrix.kernels.coordinate import curvatures, sweep_columns

        K, p = len(model.W), len(self.shift)
        d, e, coupled = model.curvature
        own, mixed = np.zeros((p, K)), np.zeros((p, K, K))
        place = (self.data, self.row, self.start)
        active = model.live[model.live > 0] - 1
        parts = np.array_split(active, COLUMN_PIECES)
        for _ in in_order(lambda part: curvatures(*place, part, d, e, coupled, own, mixed), parts):
            pass
        inverse = _intercepts(model.curvature) if model.fit_intercept else np.zeros((K, K))
        eliminated = np.einsum("kl,jlm->jkm", inverse, mixed)
        left = own - np.einsum("jkl,jlk->jk", mixed, eliminated)
        ridge = model.squares[1:]
        left = np.where(left > SMALLEST_CURVATURE_SHARE * own, left, 0.0) + ridge[:, None]
        R, U = model.residual.copy(), model.W[:, 1:].copy()
        V, beta = np.zeros((K, p)), -inverse @ R.sum(axis=0)
        rest = (d, e, coupled, left, mixed, eliminated, ridge, model.absolute[1:], R, U, V, beta)
        enough = max(accuracy, SMALLEST_STEP_SHARE) ** 2 * sweep_columns(*place, active, *rest)
        for _ in range(MOST_SWEEPS):
            if sweep_columns(*place, active, *rest) <= enough:
                break
        to = np.column_stack([model.W[:, 0] + beta + V @ self.shift, U])
        return to, self._moved(V, beta)


def _intercepts(curvature: Curvature) -> Array:
    """The pseudoinverse of the model's curvature in the intercepts, (K, K); it is zero along a common shift."""
    total = np.diag(curvature.d.sum(axis=0))
    if curvature.coupled:
        total -= curvature.e.T @ curvature.e
    return np.asarray(np.linalg.pinv(total, rcond=1e-13, hermitian=True))


# ---------------------------------------------------------------------------------------------- gathering


class Gathered(NamedTuple):
    """Columns, with the rows' targets and weights."""

    columns: Columns
    t: AnyArray
    weight: Array


def gather(problem: Objective, chosen: Integers) -> Gathered:
    """Gather the chosen columns. CSR rows are read twice, to count and to place entries, so none is stored twice."""
    whole = problem.rows.resident()
    order = Order(
        CSR_ROWS_PER_BLOCK
        if whole is not None and is_sparse(whole.X)
        else max(1, DENSE_ENTRIES_PER_BLOCK // (1 + len(chosen)))
    )
    blocks = problem.rows.blocks(order)
    first = next(blocks)
    if is_sparse(first.X):
        return _placed(problem, chain([first], blocks), order, chosen)
    from separatrix.kernels.coordinate import gather_dense

    A = _pages(problem.n_rows * (len(chosen) + 1), np.float64).reshape(problem.n_rows, -1)
    center, scale = problem.rows.frame.center[chosen], problem.rows.frame.scale[chosen]

    def fill(block: Block) -> tuple[AnyArray, Array]:
        gather_dense(np.asarray(block.X), chosen, center, scale, A[block.start : block.start + block.n_rows])
        return block.t, block.weight

    one_by_one = whole is None  # threads would hold several blocks of a stream in memory
    filled = (map if one_by_one else in_order)(fill, chain([first], blocks))
    t, weight = (np.concatenate(part) for part in zip(*filled, strict=True))
    few = problem.shape[0] * min(A.shape[1], 2 * len(t)) <= MOST_MATRIX_PARAMETERS
    return Gathered(DenseColumns(A) if few else _full(A[:, 1:]), t, weight)


def _pages(size: Any, dtype: Any) -> AnyArray:
    """An array in separately mapped memory pages, which return to the operating system when the array is freed.

    With the usual allocator, working sets of different sizes would fragment the heap.
    """
    kind = np.dtype(dtype)
    return np.frombuffer(mmap(-1, max(1, int(size)) * kind.itemsize), kind, int(size))


def _full(A: Array) -> SparseColumns:
    n, p = A.shape
    row = np.tile(np.arange(n, dtype=np.int32), p)
    return SparseColumns(A.T.ravel(), row, np.arange(p + 1) * n, np.zeros(p), n)


def _placed(problem: Objective, blocks: Iterable[Block], order: Order, chosen: Integers) -> Gathered:
    """The chosen columns of CSR rows, from a pass that has already begun and a second pass."""
    from separatrix.kernels.coordinate import count_chosen, place_chosen

    frame, n = problem.rows.frame, problem.n_rows
    center, scale = frame.center[chosen], frame.scale[chosen]
    place = np.full(problem.rows.n_features, len(chosen), np.int32)
    place[chosen] = np.arange(len(chosen), dtype=np.int32)
    counts, labels = np.zeros(len(chosen) + 1, np.int64), list[tuple[AnyArray, Array]]()
    full = np.abs(center) > LARGE_OFFSET * scale
    held: Any = np.float64
    for block in blocks:
        X: Any = block.X
        count_chosen(X.indices, place, counts)
        labels.append((block.t, block.weight))
        held = np.float64 if full.any() else X.dtype
    counts[:-1][full] = n
    start = np.concatenate([[0], np.cumsum(counts[:-1])])
    row, data = _pages(start[-1], np.int32), _pages(start[-1], held)
    for j in np.flatnonzero(full):
        row[start[j] : start[j + 1]] = np.arange(n)
        data[start[j] : start[j + 1]] = -center[j] / scale[j]
    ahead = start[:-1].copy()
    for block in problem.rows.blocks(order):
        X = block.X
        place_chosen(X.data, X.indices, X.indptr, place, block.start, full, center, scale, ahead, row, data)
    t, weight = (np.concatenate(part) for part in zip(*labels, strict=True))
    return Gathered(SparseColumns(data, row, start, np.where(full, 0.0, center / scale), n), t, weight)
