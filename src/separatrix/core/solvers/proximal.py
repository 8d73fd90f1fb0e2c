"""Proximal Newton for penalties with absolute values, on all columns or on a working set (docs/tour.md, R8).

Problem   min_W E(W) = f(W) + Σ a_j |W_kj|, f smooth and convex
Given     a start W, the number of columns of the first working set
Returns   W with E(W) near its minimum, and exact zeros where the minimum has them
Step      U = argmin of f's quadratic model at W plus Σ a |U|; W ← W + α (U − W), α from 1 by halving, until E falls by
          a share of the decrease that the model predicts. For few parameters the model has all columns. For many, a
          step of the run takes many such steps on a working set, the columns that the minimum seems to use
Stops     by the driver's rules; by itself if rounding hides any descent

Lee, Sun and Saunders, Proximal Newton-type methods for minimizing composite functions, SIAM Journal on Optimization 24
(2014), Algorithm 1; for logistic regression, Friedman, Hastie and Tibshirani, Regularization paths for generalized
linear models via coordinate descent, Journal of Statistical Software 33 (2010), and Yuan, Ho and Lin, An improved
GLMNET for L1-regularized logistic regression, Journal of Machine Learning Research 13 (2012), for the descent
condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from mmap import mmap
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from separatrix.core.base.arrays import EPS, AnyArray, Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import in_order
from separatrix.core.duality_bound import duality
from separatrix.core.linear_algebra import Factor
from separatrix.core.losses import Loss
from separatrix.core.newton_step import MOST_TRIALS, VALUE_ROUNDING, backtracked, damped_step
from separatrix.core.objective_sums import Evaluation
from separatrix.core.penalty import shortest
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.frame import LARGE_OFFSET
from separatrix.core.rows.protocol import Order
from separatrix.core.solvers.newton import Newton, NewtonMemory
from separatrix.core.solvers.state import Halt, Need, State, begun

# --- The minimum of a quadratic model with absolute values

# The most sweeps of a round; a round also ends after SETTLED_SWEEPS sweeps without a change of sign. A sweep costs less
# than a hundredth of the factor of a face.
MOST_SWEEPS_PER_ROUND, SETTLED_SWEEPS = 100, 4
# A gain below this share of the first gain counts as zero. The share is a square because gains are proportional to
# squared steps.
SMALLEST_GAIN_SHARE = 64 * EPS**2
# The search ends after MOST_IDLE_ROUNDS consecutive rounds that each gain less than SMALLEST_ROUND_GAIN times the total
# gain so far: near a minimum with many flat directions, rounding errors keep moving the weights.
SMALLEST_ROUND_GAIN, MOST_IDLE_ROUNDS = 1e-13, 2
# The faces of one round are factored until this would take more than about this many multiplications; at least one face
# is always factored.
FACTOR_WORK_PER_ROUND = 3e7
# Cholesky pivots below this, for a matrix scaled to a unit diagonal, are treated as rounding errors.
SMALLEST_PIVOT = 1e-14


def minimise(H: Array, g: Array, w: Array, a: Array, accuracy: float = 0.0, free: AnyArray | None = None) -> Array:
    """The minimum u of g·(u − w) + ½ (u − w)ᵀH(u − w) + Σ_j a_j |u_j|, to ``accuracy`` times the first step.

    H is positive semidefinite, and a ≥ 0. Weights without curvature and weights that are not ``free`` keep their
    values. With ``accuracy`` 0 the search ends when the gain of a step is rounding, compared with the first gains.

    Sweeps of coordinate descent find the signs; then Newton steps lead to the minimum of the face where signs are
    fixed, an active-set method (Nocedal and Wright, Numerical Optimization, 2006, section 16.5). After a single Newton
    step on a face, a sweep might move a weight off zero and the next step might move it back, in an endless cycle. From
    the minimum of a face, no sweep leads back to the same face.

    >>> minimise(np.eye(2), np.array([-3.0, 0.5]), np.zeros(2), np.ones(2)).tolist()
    [2.0, 0.0]
    """
    from separatrix.core.kernels.coordinate_descent import sweep_matrix

    if free is not None and not np.all(free):
        u = w.copy()
        u[free] = minimise(np.ascontiguousarray(H[np.ix_(free, free)]), g[free], w[free], a[free], accuracy)
        return u
    u, G, h = w.copy(), g.copy(), np.diag(H)
    free = h > 0
    first = gain = total = sweep_matrix(H, G, u, a, 1, 1, 0.0)
    idle = 0
    for _ in range(60):  # the most rounds of sweeps and face steps
        # The size of the terms of G, which determines its rounding error: a gain of that size counts as none.
        size = np.abs(g) + a + np.abs(H) @ np.abs(u - w)
        rounding = float(np.max((4 * EPS * size[free]) ** 2 / h[free], initial=0.0))
        enough = max(max(SMALLEST_GAIN_SHARE, accuracy**2) * first, rounding)
        if gain <= enough or idle == MOST_IDLE_ROUNDS:
            break
        gain = sweep_matrix(H, G, u, a, MOST_SWEEPS_PER_ROUND, SETTLED_SWEEPS, enough)
        if gain <= enough and accuracy > 0:
            break
        swept = u.copy()
        gain = max(gain, _to_face_minimum(H, G, u, a, free, size))
        total, idle = total + gain, idle + 1 if gain <= SMALLEST_ROUND_GAIN * total else 0
        G[:] = g + H @ (u - w)  # recomputed, since sweeps accumulate rounding errors
        possible = _possible(h, G, u, a, free)
        if not possible <= 1e6 * first:
            return swept  # rounding made a curvature negative, so the step led away from the minimum
        gain = max(gain, possible)
    return u


def moving(K: int, unpenalised: AnyArray, fit_intercept: bool) -> AnyArray:
    """Which of the weights (K, d + 1), flattened, a model changes.

    E does not depend on a common shift of all classes in an unpenalised column, so there the first class is fixed.

    >>> moving(2, np.array([True, False]), True).tolist()
    [False, True, True, True]
    """
    free = np.ones((K, len(unpenalised)), dtype=bool)
    if K > 1:
        free[0] = ~unpenalised
    free[:, 0] &= fit_intercept
    return free.ravel()


def _possible(h: Array, G: Array, u: Array, a: Array, free: AnyArray) -> float:
    """The largest gain, approximately, that a step in a single coordinate can achieve."""
    slope = shortest(u, G, a)[free]
    with np.errstate(over="ignore"):
        return float(np.max(0.5 * slope * (slope / h[free]), initial=0.0))


def _to_face_minimum(H: Array, G: Array, u: Array, a: Array, free: AnyArray, size: Array) -> float:
    """Move u to the minimum on the face of its signs. Returns the gain; changes u and G.

    A step that would change the sign of a weight ends where that weight is exactly zero, and the next step is on the
    face without that weight, until a full step is made.

    ``size``: the size of the terms of G.
    """
    face = np.flatnonzero(free & ((u != 0) | (a == 0)))
    gained = 0.0
    for _ in range(1 + int(FACTOR_WORK_PER_ROUND / max(1, len(face)) ** 3)):
        if len(face) == 0:
            break
        slope = G[face] + a[face] * np.sign(u[face])
        step = _newton(H[np.ix_(face, face)], slope, size[face])
        downhill = float(slope @ step)
        if not downhill < 0:
            break
        turned = (a[face] > 0) & (np.sign(u[face] + step) != np.sign(u[face]))
        reach = np.where(turned, -u[face] / np.where(turned, step, 1.0), np.inf)
        noise = EPS * float(np.max(np.abs(H[np.ix_(face, face)]) @ np.abs(step)))
        # Along a nearly flat direction the step ends where the rounding error of the slope reaches a tenth of it.
        sure = 0.1 * float(np.max(np.abs(slope))) / noise if noise > 0 else 1.0
        share = min(1.0, float(reach.min()), sure)
        to = np.where(reach <= share, 0.0, u[face] + share * step)
        moved = to - u[face]
        u[face] = to
        G += H[:, face] @ moved
        gained -= share * (1 - 0.5 * share) * downhill
        if not np.any(reach <= share):
            break
        face = face[reach > share]
    return gained


def _newton(H: Array, g: Array, size: Array) -> Array:
    """The Newton step −H⁻¹ g; if H is singular, as with duplicate columns, the step is long along its null space.

    ``size``: the size of the terms of g, which determines its rounding error. Pivoted Cholesky splits H into blocks
    (A, B; Bᵀ, S), where A is regular and the Schur complement S − BᵀA⁻¹B is only rounding error; the complement is
    replaced by SMALLEST_PIVOT.
    """
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    factor = Factor.of(H)
    if factor is not None:
        return -factor.solve(g)
    d = np.sqrt(np.diag(H))
    scaled, b, rounding = H / d / d[:, None], g / d, 64 * EPS * size / d
    L, order, rank, _ = dpstrf(scaled, tol=SMALLEST_PIVOT, lower=1)
    known, flat = order[:rank] - 1, order[rank:] - 1
    A = np.tril(L[:rank, :rank])

    def solve(right: Array) -> Array:
        return np.asarray(solve_triangular(A, solve_triangular(A, right, lower=True), lower=True, trans=1))

    B, step = scaled[np.ix_(known, flat)], np.empty_like(b)
    left = b[flat] - B.T @ solve(b[known])
    left = np.where(np.abs(left) <= rounding[flat] + np.abs(B).T @ rounding[known], 0.0, left)
    step[flat] = -left / SMALLEST_PIVOT
    step[known] = -solve(b[known] + B @ step[flat])
    return step / d


# --- A step on all columns, and the progress of a run

# Pairs (damping, halvings), tried in order until E falls: the curvature that is added to the quadratic model, relative
# to its own curvature in each weight, and the most halvings of the step with this damping. If classes are nearly
# separated, the minimum of the model may be 10⁶ times too far away.
DAMPING_TRIALS = ((0.0, 12), (1e-8, 12), (1e-4, MOST_TRIALS))
# Curvatures of a model or a row that are smaller than this are rounding errors and are replaced by it.
SMALLEST_CURVATURE = 1e-12
# A run ends after MOST_STALLED_STEPS steps that together lower E by less than this share of the null model's objective.
SMALLEST_PROGRESS = 1e-7
MOST_STALLED_STEPS = 20


class Progress(NamedTuple):
    """The lowest E and the smallest subgradient so far, and ``idle``, the number of steps since either last improved.

    ``slow``: the number of steps since E fell noticeably below ``high`` or the subgradient halved.
    """

    value: float
    subgradient: float
    idle: int
    high: float
    slow: int


def _model_step(problem: Objective, state: State) -> tuple[Array, Evaluation] | None:
    """The step towards the minimum of the model, which is damped until E falls; None if E does not fall."""
    H = problem.hessian(state.W)
    if not problem.loss.traits.convex:  # make the model positive definite
        values, vectors = np.linalg.eigh(H)
        H = np.asarray((vectors * np.maximum(np.abs(values), SMALLEST_CURVATURE)) @ vectors.T)
    K = len(state.W)
    a, free = np.tile(problem.absolute_penalty, K), moving(K, problem.unpenalised, problem.fit_intercept)
    for damping, trials in DAMPING_TRIALS:
        damped = H + np.diag(damping * np.diag(H)) if damping else H
        U = minimise(damped, state.at.gradient.ravel(), state.W.ravel(), a, free=free).reshape(state.W.shape)
        reached = descend(problem, state, unshifted(problem, U - state.W), trials)
        if reached is not None:
            return reached
    return None


def unshifted(problem: Objective, V: Array) -> Array:
    """V without a common shift of all classes in unpenalised columns, on which E does not depend."""
    return V if len(V) == 1 else V - np.where(problem.unpenalised, V.mean(axis=0), 0.0)


def descend(problem: Objective, state: State, V: Array, trials: int = MOST_TRIALS) -> tuple[Array, Evaluation] | None:
    """The first of W + V, W + V/2, … at which E falls by a share of the predicted decrease; None if there is none."""
    promised = change(state.W, V, state.at.gradient, problem.absolute_penalty)
    return damped_step(problem, state.W, state.at, V, promised, trials)


def change(W: Array, V: Array, gradient: Array, a: Array) -> float:
    """⟨∇f, V⟩ + Σ a (|W + V| − |W|), summed so that weights which keep their signs do not cancel."""
    sign = np.where(W != 0, np.sign(W), np.sign(V))
    return float(np.sum(V * (gradient + a * sign) + a * (np.abs(W + V) - sign * (W + V))))


def progressed(problem: Objective, state: State, last: Progress | None, W: Array, at: Evaluation) -> Progress:
    """The progress after the step from ``state`` to W. A halved subgradient counts as progress.

    ``last``: the progress before the step, None before the first.
    """
    before, after = (
        float(np.max(np.abs(problem.subgradient(*there)))) for there in ((state.W, state.at.gradient), (W, at.gradient))
    )
    value, nearest, idle, high, slow = last or Progress(state.at.value, before, 0, state.at.value, 0)
    idle, slow, halved = idle + 1, slow + 1, after < 0.5 * nearest
    if at.value < high - SMALLEST_PROGRESS * problem.null_value or halved:
        high, slow = min(high, at.value), 0
    if at.value < value - VALUE_ROUNDING * abs(value) or halved:
        value, nearest, idle = min(value, at.value), min(nearest, after), 0
    return Progress(value, nearest, idle, high, slow)


def halted(progress: Progress, patience: int = 2) -> Halt | None:
    """Whether to halt: after ``patience`` consecutive steps without a new minimum of E or of its subgradient.

    A run also halts after MOST_STALLED_STEPS steps in which E hardly fell. Newton's method makes such steps only if
    rounding spoils its directions.
    """
    if progress.idle >= patience:
        return Halt.STALLED
    return Halt.CRAWLING if progress.slow >= max(patience, MOST_STALLED_STEPS) else None


# --- Copies of the columns of a working set, and quadratic models over them

# With at most this many parameters a matrix of second derivatives is built.
MOST_MATRIX_PARAMETERS = 3000
# Columns are divided into this many pieces for parallel work; the number does not depend on the number of threads.
COLUMN_PIECES = 8
# The most sweeps of coordinate descent on one quadratic model; sweeps also end once steps have fallen to
# SMALLEST_STEP_SHARE of the first.
MOST_SWEEPS, SMALLEST_STEP_SHARE = 50, 1e-4
# A quadratic model may change as many zero weights as there are weights in use, or this many if that is more.
FEWEST_NEW_WEIGHTS = 256
# The number of entries of dense rows that one thread gathers at a time.
DENSE_ENTRIES_PER_BLOCK = 1 << 18
# The number of CSR rows that are read at a time; they are not copied.
CSR_ROWS_PER_BLOCK = 1 << 16
# Curvature is a difference of sums. If it is below this share of these sums, it is treated as a rounding error.
SMALLEST_CURVATURE_SHARE = 1e-11


class RowCurvature(NamedTuple):
    """The curvature diag(d) − e eᵀ of each row over its K scores, d and e (n, K); ``coupled``: e is not zero.

    (d, e) is (ℓ″, 0) for one score and (p, p) for softmax.
    """

    d: Array
    e: Array
    coupled: bool


class Model(NamedTuple):
    """The quadratic model of f at W.

    It consists of residuals ω ∂ℓ (n, K), the curvature of each row, gradient and weights (K, p + 1), and the penalties
    r² and a, (p + 1,).
    """

    residual: Array
    curvature: RowCurvature
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
        # A weight that is zero is not changed if its |gradient| is below this share of its penalty.
        near = np.flatnonzero(~used[1:] & (size[1:] >= 0.98 * self.absolute[1:])) + 1
        order = np.argsort((self.absolute - size)[near], kind="stable")
        return np.sort(np.concatenate([np.flatnonzero(used), near[order[: max(FEWEST_NEW_WEIGHTS, int(used.sum()))]]]))


@dataclass(frozen=True)
class DenseColumns:
    """X̄ of a working set: A (n, p + 1), centred, the first column of ones.

    A model over them is a matrix of second derivatives. This is faster for few columns.
    """

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
        # ``live`` excludes an intercept that is not fitted.
        free = moving(K, (squares == 0) & (absolute == 0), fit_intercept=True)
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
    """The columns x/scale in CSC format; ``shift`` (p,) is center/scale for columns that are not centred.

    A model over them is minimised by loops over stored entries, which keep the intercepts at their minimum, so that
    columns need no centring. A column with a large offset has few zeros, so it is centred and stored as dense.
    """

    data: AnyArray
    row: AnyArray
    start: Integers
    shift: Array
    n_rows: int

    def scores(self, W: Array) -> Array:
        return self._moved(W[:, 1:], W[:, 0] - W[:, 1:] @ self.shift)

    def _moved(self, D: Array, beta: Array) -> Array:
        """X Dᵀ + β."""
        from separatrix.core.kernels.coordinate_descent import spread

        z = np.tile(beta, (self.n_rows, 1))
        spread(self.data, self.row, self.start, np.ascontiguousarray(D), z)
        return z

    def adjoint(self, R: Array) -> Array:
        from separatrix.core.kernels.coordinate_descent import collect

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
        from separatrix.core.kernels.coordinate_descent import curvatures, sweep_columns

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


def _intercepts(curvature: RowCurvature) -> Array:
    """The pseudoinverse of the model's curvature in the intercepts, (K, K); it is zero along a common shift."""
    total = np.diag(curvature.d.sum(axis=0))
    if curvature.coupled:
        total -= curvature.e.T @ curvature.e
    return np.asarray(np.linalg.pinv(total, rcond=1e-13, hermitian=True))


class Gathered(NamedTuple):
    """Columns, with the rows' targets and weights."""

    columns: DenseColumns | SparseColumns
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
    from separatrix.core.kernels.coordinate_descent import gather_dense

    A = _pages(problem.n_rows * (len(chosen) + 1), np.float64).reshape(problem.n_rows, -1)
    center, scale = problem.rows.frame.center[chosen], problem.rows.frame.scale[chosen]

    def fill(block: Block) -> tuple[AnyArray, Array]:
        gather_dense(np.asarray(block.X), chosen, center, scale, A[block.start : block.start + block.n_rows])
        return block.t, block.weight

    one_by_one = whole is None  # threads would hold several blocks of a stream in memory
    filled = (map if one_by_one else in_order)(fill, chain([first], blocks))
    t, weight = (np.concatenate(part) for part in zip(*filled, strict=True))
    if problem.shape[0] * min(A.shape[1], 2 * len(t)) <= MOST_MATRIX_PARAMETERS:
        return Gathered(DenseColumns(A), t, weight)
    n, p = len(A), len(chosen)
    row = np.tile(np.arange(n, dtype=np.int32), p)
    return Gathered(SparseColumns(A[:, 1:].T.ravel(), row, np.arange(p + 1) * n, np.zeros(p), n), t, weight)


def _pages(size: Any, dtype: Any) -> AnyArray:
    """An array in separately mapped memory pages, which return to the operating system when the array is freed.

    With the usual allocator, working sets of different sizes would fragment the heap.
    """
    kind = np.dtype(dtype)
    return np.frombuffer(mmap(-1, max(1, int(size)) * kind.itemsize), kind, int(size))


def _placed(problem: Objective, blocks: Iterable[Block], order: Order, chosen: Integers) -> Gathered:
    """The chosen columns of CSR rows, from a pass that has already begun and a second pass."""
    from separatrix.core.kernels.coordinate_descent import count_chosen, place_chosen

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


# --- Proximal Newton with all weights fixed but those of a working set

# The relative rounding error of a mean over 10⁵ rows. The last steps lower E by less than that, so whether they make
# progress is decided by their subgradients.
MEAN_ROUNDING = 1e-13
# The quadratic model is minimised at least until coordinate steps have fallen to this share of the first step.
LOOSEST_MODEL_ACCURACY = 0.1


@dataclass
class Restricted:
    """E over some columns: ``W`` (K, p + 1) with its scores. The other columns keep their weights.

    The scores z of all rows are kept up to date, so that a trial of the line search costs the losses at the scores
    z + α Δz and no pass over the columns.
    """

    loss: Loss
    columns: DenseColumns | SparseColumns
    t: AnyArray
    omega: Array  # weights s/S
    squares: Array
    absolute: Array
    fit_intercept: bool
    W: Array
    z: Array

    def minimised(self, goal: float) -> Array:
        """W at which no subgradient exceeds ``goal``, in units of the penalty, if rounding permits."""
        value, slope = self._loss(self.z)
        before, idle = np.inf, 0
        for _ in range(50):  # the most proximal Newton steps on one set of columns
            gradient = self.columns.adjoint(slope) + self.squares * self.W
            if not self.fit_intercept:
                gradient[:, 0] = 0.0
            far = furthest(self.W, gradient, self.absolute)
            # Smaller subgradients, in units of the penalty, are treated as rounding errors once they no longer fall.
            idle = idle + 1 if far > 0.5 * before and far < 1e-6 else 0
            if far <= goal or idle >= 2:
                break
            before = far
            rest = (gradient, self.W, self.squares, self.absolute, self.fit_intercept)
            model = Model(slope, self._curvature(slope), *rest)
            # Newton's method squares the error, so a more accurate minimum of the model would be wasted; so would one
            # more accurate than the goal.
            to, dz = self.columns.minimum(model, min(LOOSEST_MODEL_ACCURACY, max(far, 0.3 * goal / far)))
            accepted = self._search(value, gradient, to - self.W, dz)
            if accepted is None:
                break
            alpha, (value, slope) = accepted
            self.W = to if alpha == 1.0 else self.W + alpha * (to - self.W)
            self.z = self.z + alpha * dz
        return self.W

    def _loss(self, z: Array) -> tuple[float, Array]:
        """Σ ω ℓ, and ω ∂ℓ, (n, K)."""
        one = not self.loss.traits.multiclass
        value, slope = self.loss.value_derivative(self.t, z[:, 0] if one else z)
        return float(self.omega @ value), self.omega[:, None] * (slope[:, None] if one else slope)

    def _curvature(self, slope: Array) -> RowCurvature:
        if not self.loss.traits.multiclass:
            h = self.loss.curvature_product(self.t, self.z[:, 0], np.ones(len(self.t)))
            return RowCurvature((self.omega * np.maximum(h, SMALLEST_CURVATURE))[:, None], np.zeros((1, 1)), False)
        weighted = slope.copy()
        weighted[np.arange(len(self.t)), self.t] += self.omega
        weighted = np.maximum(weighted, 0.0)
        root = np.sqrt(self.omega)[:, None]
        return RowCurvature(weighted, np.divide(weighted, root, out=np.zeros_like(weighted), where=root > 0), True)

    def _penalty(self, W: Array) -> float:
        return float(np.sum(0.5 * self.squares * W**2 + self.absolute * np.abs(W)))

    def _search(self, value: float, gradient: Array, V: Array, dz: Array) -> tuple[float, tuple[float, Array]] | None:
        """α and (Σ ω ℓ, ω ∂ℓ) at the first of W + V, W + V/2, … where E has fallen enough; None if there is none."""
        promised = change(self.W, V, gradient, self.absolute)
        if not promised < 0:
            return None

        def evaluated(alpha: float) -> tuple[float, tuple[float, Array]]:
            there, slope = self._loss(self.z + alpha * dz)
            return there + self._penalty(self.W + alpha * V), (there, slope)

        return backtracked(evaluated, value + self._penalty(self.W), promised, rounding=MEAN_ROUNDING)


def furthest(W: Array, gradient: Array, a: Array) -> float:
    """The largest subgradient in units of its own penalty, or of the largest penalty for unpenalised weights.

    >>> furthest(np.zeros((1, 2)), np.array([[0.5, -3.0]]), np.array([0.0, 1.0]))
    2.0
    """
    unit = np.where(a > 0, a, np.max(a) or 1.0)
    return float(np.max(np.abs(shortest(W, gradient, a)) / unit))


def restricted(problem: Objective, W: Array, held: Integers, gathered: Gathered) -> Restricted:
    """The problem restricted to the gathered columns; ``held``: their positions in W, with the intercept first."""
    columns, t, weight = gathered
    inside = np.zeros(problem.shape[1], dtype=bool)
    inside[held] = True
    inside_only = not np.any(W[:, ~inside])
    z = columns.scores(W[:, held]) if inside_only else np.concatenate(problem.rows.fold(_AllScores(W)))
    squares, absolute = problem.root_penalty[held] ** 2, problem.absolute_penalty[held]
    omega = weight / problem.total_weight
    return Restricted(problem.loss, columns, t, omega, squares, absolute, problem.fit_intercept, W[:, held], z)


@dataclass(frozen=True)
class _AllScores:
    """The scores X̄ Wᵀ of all rows, in the order of the rows."""

    W: Array

    def zero(self) -> list[Array]:
        return []

    def add(self, total: list[Array], block: Block) -> list[Array]:
        total.append(block.scores(self.W))
        return total

    def merge(self, a: list[Array], b: list[Array]) -> list[Array]:
        return a + b


# --- The method

# Up to this many parameters, all columns are in one model. With more, a working set is used, with FIRST_COLUMNS columns
# at first.
MOST_PARAMETERS_OF_ONE_MODEL, FIRST_COLUMNS = 300, 1024
# The problem on a working set is solved until no subgradient exceeds FINAL_ACCURACY, in units of the penalty, once the
# set seems to hold all needed columns; before that, ACCURACY_SHARE times the largest subgradient of all columns.
FINAL_ACCURACY, ACCURACY_SHARE = 3e-9, 1e-3
# A working set seems to hold all needed columns if no subgradient exceeds LARGEST_FINAL_DISTANCE, in units of the
# penalty, and if at most LARGEST_USED_SHARE of its columns are in use.
LARGEST_FINAL_DISTANCE, LARGEST_USED_SHARE = 10.0, 0.65
# One step may increase the number of columns in the working set by at most this factor.
LARGEST_WORKING_SET_GROWTH = 4
# The memory limit for gathered columns is SMALLEST_ROOM_BYTES, or ROOM_SHARE of the size of X if that is more. If the
# columns in use exceed it, the limit is USED_COLUMN_ROOMS times as large. FEWEST_COLUMNS columns are always allowed.
SMALLEST_ROOM_BYTES, ROOM_SHARE, USED_COLUMN_ROOMS, FEWEST_COLUMNS = 7 << 22, 0.025, 2.0, 16
# A run ends after this many consecutive steps without progress: SHORT_PATIENCE if the working set holds every column
# that is needed, LONG_PATIENCE if memory is too small for that and columns take turns.
SHORT_PATIENCE, LONG_PATIENCE = 2, 100


@dataclass
class Held:
    """The latest gathered columns. All states of a run share them, so that only one set is in memory at a time."""

    chosen: Integers | None = None
    gathered: Gathered | None = None

    def columns(self, problem: Objective, chosen: Integers) -> Gathered:
        """The chosen columns, gathered again if they differ from the latest ones."""
        if self.chosen is None or self.gathered is None or not np.array_equal(chosen, self.chosen):
            self.gathered = None
            self.chosen, self.gathered = chosen, gather(problem, chosen)
        return self.gathered


class WorkingSet(NamedTuple):
    """The columns that screening has kept, (d,), those of the last working set, and their gathered rows."""

    kept: AnyArray
    chosen: Integers | None
    held: Held


class ProximalMemory(NamedTuple):
    """The working set, None if every model has all columns; and the progress, None before the first step."""

    working: WorkingSet | None
    progress: Progress | None = None


@dataclass(frozen=True)
class Proximal:
    """W ← W + α (U − W), U the minimum of the model with absolute values, of all columns or of a working set.

    With few parameters, ∇²f of all columns is one matrix. The minimum of the model is computed to rounding error. If
    the model is so flat that no step towards its minimum lowers E enough, curvature is added to it.

    With many columns, most have weight zero at the minimum. A step computes ∇f over all columns. Screening removes
    columns whose weights are zero at every minimum, permanently. Of the others, those in use and those with the largest
    subgradients, up to twice as many, are gathered in one pass. Proximal Newton runs on them, with the scores kept up
    to date, until their subgradients have fallen by a given factor. Without absolute values, steps are Newton's.

    Massias, Gramfort and Salmon, Celer: a fast solver for the lasso with dual extrapolation, ICML (2018), for working
    sets by the distance to the constraint; Johnson and Guestrin, Blitz: a principled meta-algorithm for scaling sparse
    optimization, ICML (2015); Ndiaye and others (see ``screened``) for the screening.

    Parameters
    ----------
    first : int, optional
        The number of columns of the first working set. By default all columns are in one model if there are at most 300
        parameters, and otherwise 1024 are in the first working set.

    Examples
    --------
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1), l1_ratio=1.0))
    >>> start = Proximal().init(problem, np.zeros((1, 2)))
    >>> Proximal().step(problem, start).W.tolist()
    [[0.0, 0.0]]
    """

    first: int | None = None
    name: ClassVar[str] = "proximal"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.STANDARD})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.first is not None and self.first < 1:
            raise ParameterError("first", f"got {self.first}", "give at least one column")

    def init(self, problem: Objective, start: Array) -> State[ProximalMemory | NewtonMemory | None]:
        return self.begin(problem, start, begun(problem, start))

    def begin(
        self, problem: Objective, start: Array, at: Evaluation, before: State | None = None
    ) -> State[ProximalMemory | NewtonMemory | None]:
        """The first state of a run if E is already known.

        ``before``: the last state of a run with another penalty on the same rows in the same frame, whose gathered
        columns are reused.
        """
        if _suits_newton(problem):
            return State(start, at)
        if self.first is None and problem.has_hessian and problem.size <= MOST_PARAMETERS_OF_ONE_MODEL:
            return State(start, at, memory=ProximalMemory(None))
        kept, chosen, held = np.isfinite(problem.rows.frame.scale), None, Held()
        last = None if before is None else before.memory
        if isinstance(last, ProximalMemory) and last.working is not None:
            _, chosen, held = last.working
        return State(start, at, memory=ProximalMemory(WorkingSet(kept, chosen, held)))

    def step(
        self, problem: Objective, state: State[ProximalMemory | NewtonMemory | None], budget: int | None = None
    ) -> State[ProximalMemory | NewtonMemory | None]:
        memory = state.memory
        if not isinstance(memory, ProximalMemory):
            return Newton().step(problem, cast("State[NewtonMemory | None]", state))
        if memory.working is None:
            working, patience, reached = None, SHORT_PATIENCE, _model_step(problem, state)
        else:
            working, patience, reached = self._on_working_set(problem, state, memory.working)
        if reached is None:
            return replace(state, halt=Halt.STALLED)
        W, at = reached
        progress = progressed(problem, state, memory.progress, W, at)
        return State(W, at, state.iteration + 1, ProximalMemory(working, progress), halted(progress, patience))

    def solution(
        self, problem: Objective, state: State[ProximalMemory | NewtonMemory | None]
    ) -> State[ProximalMemory | NewtonMemory | None]:
        return state

    def _on_working_set(
        self, problem: Objective, state: State, working: WorkingSet
    ) -> tuple[WorkingSet, int, tuple[Array, Evaluation] | None]:
        """The next working set, the patience for it, and the point that proximal Newton reaches on it."""
        kept, chosen = working.kept & ~screened(problem, state), working.chosen
        if chosen is None or not self._enough(problem, state, kept, chosen):
            chosen = self._chosen(problem, state, kept)
        places = np.concatenate([[0], chosen + 1])
        part = restricted(problem, state.W, places, working.held.columns(problem, chosen))
        far = furthest(state.W, state.at.gradient, problem.absolute_penalty)
        to = part.minimised(ACCURACY_SHARE * far)
        if far <= LARGEST_FINAL_DISTANCE and np.mean(np.any(to != 0, axis=0)) <= LARGEST_USED_SHARE:
            to = part.minimised(min(FINAL_ACCURACY, ACCURACY_SHARE * far))
        V = np.zeros(problem.shape)
        V[:, places] = to - state.W[:, places]
        W = state.W + unshifted(problem, V)
        at = problem.value_gradient(W)
        lower = at.value <= state.at.value * (1 + MEAN_ROUNDING)
        patience = SHORT_PATIENCE if self._enough(problem, state, kept, chosen) else LONG_PATIENCE
        return WorkingSet(kept, chosen, working.held), patience, (W, at) if lower else None

    def _enough(self, problem: Objective, state: State, kept: AnyArray, chosen: Integers) -> bool:
        """Whether a working set holds every kept column that is in use or has a nonzero subgradient."""
        outside = np.ones(problem.shape[1], dtype=bool)
        outside[chosen + 1] = outside[0] = False
        outside[1:] &= kept
        wanted = np.any(problem.subgradient(state.W, state.at.gradient) != 0, axis=0)
        return not np.any(outside & (wanted | np.any(state.W != 0, axis=0)))

    def _chosen(self, problem: Objective, state: State, kept: AnyArray) -> Integers:
        """The columns of the next working set, within the memory limit.

        Columns in use or unpenalised come first, then the others in the order of penalty − |gradient|.
        """
        a = problem.absolute_penalty[1:]
        used = np.any(state.W[:, 1:] != 0, axis=0) | (problem.unpenalised[1:] & kept)
        distance = a - np.max(np.abs(state.at.gradient[:, 1:]), axis=0)
        n_used, n_wanted = int(used.sum()), int(np.sum(kept & ~used & (distance < 0)))
        first = self.first or FIRST_COLUMNS
        size = max(first, 2 * n_used, min(n_used + n_wanted, LARGEST_WORKING_SET_GROWTH * max(first, n_used)))
        order = np.lexsort((distance, ~used, ~(kept | used)))[: min(size, int(np.sum(kept | used)))]
        length = _bytes(problem)
        most = _within(length, order)
        if n_used >= most:  # raise the limit to hold the columns in use and some more
            most = min(n_used + max(FEWEST_COLUMNS, n_used // 4), _within(length, order, USED_COLUMN_ROOMS))
        if n_used < most:
            return np.sort(order[:most])
        # If the columns in use do not fit into memory, those with the largest subgradients take turns.
        slope = np.max(np.abs(problem.subgradient(state.W, state.at.gradient)[:, 1:]), axis=0)
        order = np.argsort(-slope, kind="stable")
        return np.sort(order[: _within(length, order, USED_COLUMN_ROOMS)])


def _suits_newton(problem: Objective) -> bool:
    """Whether Newton's method minimises E: coordinate descent needs many sweeps if columns are nearly collinear."""
    return not problem.has_absolute and problem.has_hessian and problem.loss.traits.convex


def screened(problem: Objective, state: State) -> AnyArray:
    """Which columns, (d,), are proved by the gap at this state to have weight zero at every minimum.

    Let G be the gradient of the loss at W, and p the derivatives of the loss for each row. A convex loss whose
    derivative is L-Lipschitz in the score satisfies E(W) − E(W*) ≥ ‖p − p*‖²/2L, so |G_j − G*_j| ≤ (2L gap)^½ ‖x̃_j‖. If
    |G_j| plus this bound is below a_j, weight j is zero at every minimum: Ndiaye, Fercoq, Gramfort and Salmon, Gap safe
    screening rules for sparsity enforcing penalties, Journal of Machine Learning Research 18 (2017).
    """
    a, lipschitz = problem.absolute_penalty[1:], problem.loss.traits.lipschitz
    gap = duality(problem, state.W, state.at).known
    if lipschitz is None or not np.isfinite(gap):
        return np.zeros(len(a), dtype=bool)
    G = state.at.gradient - problem.penalty_gradient(state.W)
    # By the frame's choice of scales, the root mean square of a column is at most 2.
    reach = np.sqrt(2 * lipschitz * gap) * 2.0
    return np.asarray(np.max(np.abs(G[:, 1:]), axis=0) + reach < a)


def _bytes(problem: Objective) -> Array:
    """The number of bytes of each column when gathered, (d,)."""
    whole, d = problem.rows.resident(), problem.rows.n_features
    X: Any = None if whole is None else whole.X
    if is_sparse(X):
        from separatrix.core.kernels.coordinate_descent import count_chosen

        entries = np.zeros(d, np.int64)
        count_chosen(X.indices, np.arange(d, dtype=np.int32), entries)
        return np.asarray(12.0 * entries)  # eight bytes for a value, four for its index
    return np.full(d, 8.0 * problem.n_rows)


def _within(length: Array, order: Integers, rooms: float = 1.0) -> int:
    """The number of columns, in this order, that fit into ``rooms`` times the memory limit; at least FEWEST_COLUMNS."""
    room = max(SMALLEST_ROOM_BYTES, ROOM_SHARE * float(length.sum()))
    return max(FEWEST_COLUMNS, int(np.searchsorted(np.cumsum(length[order]), rooms * room, side="right")))
