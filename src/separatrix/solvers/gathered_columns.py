r"""The columns of a working set, gathered once: what a problem restricted to them needs of the rows.

Two forms. ``DenseColumns`` builds a matrix of second derivatives, which pays while columns are few. ``SparseColumns``
walks over entries and holds the intercepts where the model is least in them, so that columns need no centring; one
that lies far from zero is nearly full, and is centred and held in full. The curvature of a row is diag(d) − e eᵀ over
its K scores: (ℓ″, 0) for one score, (p, p) for softmax.
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
from separatrix.objective.problem import Objective
from separatrix.rows import Block, Order
from separatrix.rows.block import LARGE_OFFSET, is_sparse
from separatrix.solvers.quadratic import minimise, moving

# Parameters up to which a matrix of second derivatives is built; of a minimum no more than rows are in use, mostly.
MATRIX = 3000
# Columns are walked over in so many pieces, whatever the threads.
PIECES = 8
# Sweeps over one model: so many at most, and until steps have fallen to this share of the first.
MOST_SWEEPS, NEAREST = 50, 1e-4
# A weight of zero is left out of a model while its gradient is below this share of its penalty.
LIVE = 0.98
# So many are taken into a model at least.
FEW = 256
# Entries of dense rows that are gathered at once by a thread; and CSR rows, of which nothing is copied.
AT_ONCE, ROWS = 1 << 18, 1 << 16
# What curvature is rounding, as a share of the sums that cancel in it.
FLAT = 1e-11


class Curvature(NamedTuple):
    """diag(d) − e eᵀ by row, (n, K) each; ``coupled``: e is not zero."""

    d: Array
    e: Array
    coupled: bool


class Model(NamedTuple):
    """f near W: residuals ω ∂ℓ (n, K), curvature, gradient and weights (K, p + 1); the penalties r² and a, (p + 1,)."""

    residual: Array
    curvature: Curvature
    gradient: Array
    W: Array
    squares: Array
    absolute: Array
    fit_intercept: bool

    @property
    def live(self) -> Integers:
        """Which of the p + 1 weights this model moves: those in use, and as many more, furthest past the kink first.

        The others are zero; where they must move, a later model moves them.
        """
        used = np.any(self.W != 0, axis=0) | (self.absolute == 0)
        used[0] = self.fit_intercept
        size = np.max(np.abs(self.gradient), axis=0)
        near = np.flatnonzero(~used[1:] & (size[1:] >= LIVE * self.absolute[1:])) + 1
        order = np.argsort((self.absolute - size)[near], kind="stable")
        return np.sort(np.concatenate([np.flatnonzero(used), near[order[: max(FEW, int(used.sum()))]]]))


class Columns(Protocol):
    """X̄ of the working set, in the frame's coordinates, the intercept first."""

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
        """Near where the model is least: steps have fallen to ``accuracy`` times the first; and how far scores move."""
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
        free = moving(K, (squares == 0) & (absolute == 0), fit_intercept=True)  # else it is not among the live
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
    """CSC of x/scale; ``shift`` (p,) is center/scale of columns that are not centred."""

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
        """Over ranges of columns with about as many entries each."""
        share = np.linspace(0, self.start[-1], PIECES + 1)
        edges = np.searchsorted(self.start, share)
        edges[0], edges[-1] = 0, len(self.shift)
        for _ in in_order(lambda k: work(int(edges[k]), int(edges[k + 1])), range(PIECES)):
            pass

    def minimum(self, model: Model, accuracy: float) -> tuple[Array, Array]:
        """The same, with the intercepts following every weight."""
        from separatrix.kernels.coordinate import curvatures, sweep_columns

        K, p = len(model.W), len(self.shift)
        d, e, coupled = model.curvature
        own, mixed = np.zeros((p, K)), np.zeros((p, K, K))
        place = (self.data, self.row, self.start)
        active = model.live[model.live > 0] - 1
        parts = np.array_split(active, PIECES)
        for _ in in_order(lambda part: curvatures(*place, part, d, e, coupled, own, mixed), parts):
            pass
        inverse = _intercepts(model.curvature) if model.fit_intercept else np.zeros((K, K))
        eliminated = np.einsum("kl,jlm->jkm", inverse, mixed)
        left = own - np.einsum("jkl,jlk->jk", mixed, eliminated)
        ridge = model.squares[1:]
        left = np.where(left > FLAT * own, left, 0.0) + ridge[:, None]
        R, U = model.residual.copy(), model.W[:, 1:].copy()
        V, beta = np.zeros((K, p)), -inverse @ R.sum(axis=0)
        rest = (d, e, coupled, left, mixed, eliminated, ridge, model.absolute[1:], R, U, V, beta)
        enough = max(accuracy, NEAREST) ** 2 * sweep_columns(*place, active, *rest)
        for _ in range(MOST_SWEEPS):
            if sweep_columns(*place, active, *rest) <= enough:
                break
        to = np.column_stack([model.W[:, 0] + beta + V @ self.shift, U])
        return to, self._moved(V, beta)


def _intercepts(curvature: Curvature) -> Array:
    """The inverse of the model's curvature in the intercepts, (K, K); softmax has none along a common shift."""
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
    """The chosen columns: CSR rows are read twice, to count and to place, so that no entry is held twice."""
    whole = problem.rows.resident()
    order = Order(ROWS if whole is not None and is_sparse(whole.X) else max(1, AT_ONCE // (1 + len(chosen))))
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

    one_by_one = whole is None  # threads would have several blocks of a stream in memory
    filled = (map if one_by_one else in_order)(fill, chain([first], blocks))
    t, weight = (np.concatenate(part) for part in zip(*filled, strict=True))
    few = problem.shape[0] * min(A.shape[1], 2 * len(t)) <= MATRIX
    return Gathered(DenseColumns(A) if few else _full(A[:, 1:]), t, weight)


def _pages(size: Any, dtype: Any) -> AnyArray:
    """An array that gives its memory back when it is let go: of one set after another, each of another size, the
    allocator would keep the holes.
    """
    kind = np.dtype(dtype)
    return np.frombuffer(mmap(-1, max(1, int(size)) * kind.itemsize), kind, int(size))


def _full(A: Array) -> SparseColumns:
    n, p = A.shape
    row = np.tile(np.arange(n, dtype=np.int32), p)
    return SparseColumns(A.T.ravel(), row, np.arange(p + 1) * n, np.zeros(p), n)


def _placed(problem: Objective, blocks: Iterable[Block], order: Order, chosen: Integers) -> Gathered:
    """The chosen columns of CSR rows, from a pass that has begun and one more."""
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
