"""The regularisation path: fits of the same rows at a sequence of values of C (docs/tour.md, R8).

``WarmPath`` starts each fit from the last one, with any solver and penalty. ``Ridge`` is for a quadratic penalty: it
works in the reduced coordinates of ``ReducedRows`` and also gives the inverse of ∇²E at each C, from which the leverage
of each row and its score by a fit without it follow.

Friedman, Hastie and Tibshirani 2010, section 2.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import iadd
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, even_pieces, pieces, rows_per_piece
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import in_order
from separatrix.core.duality_bound import duality
from separatrix.core.linear_algebra import Factor, Subspace
from separatrix.core.newton_step import backtracked
from separatrix.core.null_model import null_hessian
from separatrix.core.objective_sums import Evaluation
from separatrix.core.penalty import Penalty
from separatrix.core.problem import Objective, build_objective
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.frame import Frame, power_of_two
from separatrix.core.rows.protocol import Rows
from separatrix.core.solvers.driver import Run, run
from separatrix.core.solvers.lbfgs import Pairs, quasi_newton_step
from separatrix.core.solvers.proximal import Proximal
from separatrix.core.solvers.registry import choose, chosen_by_user
from separatrix.core.solvers.state import Solver, State, in_memory
from separatrix.core.solvers.stopping import Stopping

# --- Rows in the reduced coordinates W = W₀ + Q Θ Zᵀ of the identified directions

# Tables with more entries than this are not copied to a dense matrix. On smaller ones the benchmark row auto-C takes up
# to a tenth longer without the copy.
MOST_COPIED_ENTRIES = 1 << 22
# A copy of a CSR table is dense whatever its zeros if it has at most this many entries.
MOST_COPIED_ZEROS = 1 << 18


@dataclass(frozen=True)
class ReducedRows:
    """The rows at weights W in reduced coordinates: x (n, r), targets t (n,), σ (n,), and the scores z (K, n) under W.

    With x = Zᵀ x̄ (r,), c scores in the span of Q, and σ_i = s_i/S, the mean loss at W + Q Θ Zᵀ is
    Σ σ_i ℓ(t_i, z_i + Q Θ x_i). ``x``: all rows as a dense matrix or, if that would be large, a block.

    Sums over all rows are those of the problem, but for second derivatives of many classes (``Ridge``). What is
    computed here is of single rows, or of many Θ at once: the leverage of each row and its fit without it.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), 2, ridge)
    >>> rows = ReducedRows.of(problem, np.array([[0.0, 2.0]]))
    >>> rows.X.tolist(), rows.z.tolist()
    ([[1.0, -1.5], [1.0, -0.5], [1.0, 0.5], [1.0, 1.5]], [[-3.0, -1.0, 1.0, 3.0]])
    """

    problem: Objective
    space: Subspace
    W: Array
    x: Array | Block
    t: AnyArray
    sigma: Array
    z: Array

    @classmethod
    def of(cls, problem: Objective, W: Array, space: Subspace | None = None) -> ReducedRows:
        """The rows of a problem in the coordinates of a subspace, by default its own; small tables are copied once."""
        block: Any = in_memory(problem, "leave-one-out")
        space = space or problem.subspace
        x, (n, d) = block, block.X.shape
        # A dense copy of a CSR table is affordable if it is small, or at most half of its entries are zero.
        is_mostly_empty = is_sparse(block.X) and n * d > max(MOST_COPIED_ZEROS, 2 * block.X.nnz)
        if n * problem.shape[1] <= MOST_COPIED_ENTRIES and not is_mostly_empty:
            x = block.homogeneous() if space.Z is None else block.homogeneous() @ space.Z
        return cls(problem, space, W, x, block.t, block.weight / problem.total_weight, block.scores(W).T)

    def at(self, problem: Objective, W: Array) -> ReducedRows:
        """The same rows at other weights, for ``problem``, which has another penalty."""
        return replace(self, problem=problem, W=W, z=in_memory(problem, "leave-one-out").scores(W).T)

    def take(self, rows: Integers | slice) -> ReducedRows:
        """The given subset of the rows."""
        x = self.x.take(rows) if isinstance(self.x, Block) else self.x[rows]
        of = (self.t[rows], self.sigma[rows], self.z[:, rows])
        return ReducedRows(self.problem, self.space, self.W, x, *of)

    @cached_property
    def X(self) -> Array:
        """The rows x as a dense matrix, (n, r)."""
        if not isinstance(self.x, Block):
            return self.x
        X = self.x.homogeneous()
        return X if self.space.Z is None else X @ self.space.Z

    @property
    def n_rows(self) -> int:
        return len(self.sigma)

    @property
    def Q(self) -> Array:
        """An orthonormal basis of the scores, (K, c)."""
        return np.eye(self.problem.shape[0]) if self.space.Q is None else self.space.Q

    @cached_property
    def _penalty(self) -> tuple[Array, Array]:
        """The penalty's gradient at W, (c r,), and its second derivatives for each score."""
        return self.space.reduce(self.problem.penalty_gradient(self.W)), held_by(self.problem, self.space)

    def pull(self, V: Array) -> Array:
        """The penalty's gradient at W plus each of several Θ, (q, c r), for V (q, c r)."""
        at_W, held = self._penalty
        T = V.reshape(-1, len(held))
        return at_W + (T * held if held.ndim == 1 else T @ held).reshape(V.shape)

    def to_scores(self, Z: Array) -> Array:
        """Transform the scores of Θ, (c, …), to the scores of all classes, (K, …)."""
        return Z if self.space.Q is None else _mixed(self.space.Q, Z)

    def from_scores(self, R: Array) -> Array:
        """The transpose of ``to_scores``, from (K, …) to (c, …)."""
        return R if self.space.Q is None else _mixed(self.space.Q.T, R)

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

    def probabilities(self, slope: Array) -> Array:
        """The probabilities p = ℓ′ + e_t of softmax, (K, n)."""
        p = slope.copy()
        p[self.t, np.arange(self.n_rows)] += 1.0
        return np.maximum(p, 0.0, out=p)  # rounding may make p negative

    def bends(self, slope: Array) -> Array:
        """σ ℓ″ in the scores of Θ, (c, c, n), with ℓ′ (K, n)."""
        loss = self.problem.loss
        if not loss.traits.multiclass:
            return loss.curvature_product(self.t, self.z[0], self.sigma)[None, None, :]
        p, Q = self.probabilities(slope), self.Q
        u, squares = Q.T @ p, (Q[:, :, None] * Q[:, None, :]).reshape(len(p), -1)  # ℓ″ = diag(p) − p pᵀ
        C = np.asarray(squares.T @ (p * self.sigma)).reshape(len(u), len(u), -1)
        C -= u[:, None, :] * (u * self.sigma)
        return C

    def each_scores(self, V: Array) -> Array:
        """The scores z at W plus each of several Θ, (K, q, n), for V (q, c r); those of one class are contiguous."""
        T = np.ascontiguousarray(V.reshape(len(V), self.Q.shape[1], -1).transpose(1, 0, 2))
        flat = T.reshape(-1, T.shape[2])
        if isinstance(self.x, Block):
            products = self.x.scores(flat if self.space.Z is None else flat @ self.space.Z.T).T
        else:
            products = flat @ self.x.T
        return self.to_scores(products.reshape(*T.shape[:2], -1)) + self.z[:, None, :]

    def each_adjoint(self, slope: Array) -> Array:
        """Σ slope ⊗ x for each of several Θ, (q, c r), for slopes (K, q, n)."""
        R, q = self.from_scores(slope).reshape(-1, self.n_rows), slope.shape[1]
        if isinstance(self.x, Block):
            G = self.x.adjoint(R.T)
            G = G if self.space.Z is None else G @ self.space.Z
        else:
            G = R @ self.x
        return G.reshape(-1, q, G.shape[1]).transpose(1, 0, 2).reshape(q, -1)


def held_by(problem: Objective, space: Subspace) -> Array:
    """The penalty's second derivatives for each score: r² by column, (r,), or in the coordinates of Z, (r, r)."""
    squares, Z = problem.root_penalty**2, space.Z
    return squares if Z is None else (Z * squares[:, None]).T @ Z


def _mixed(M: Array, Z: Array) -> Array:
    """The product of M and Z along the first axis of Z."""
    return np.asarray(M @ Z if Z.ndim == 2 else (M @ Z.reshape(len(Z), -1)).reshape(-1, *Z.shape[1:]))


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
    def at(cls, problem: Objective, W: Array) -> Inverse | None:
        """The inverse at W on the identified directions or, with absolute values in the penalty, on the weights in use.

        None if ∇²E is singular there. Other weights have zeros.
        """
        if not problem.has_absolute:
            factor = problem.factor(W)
            return None if factor is None else cls.of(factor, problem.subspace)
        H = problem.hessian(W)
        active = ((W != 0) | problem.unpenalised) & ~problem.pinned & (np.diag(H).reshape(W.shape) > 0)
        if len(W) > 1:  # weights of unpenalised columns are determined only up to a common shift
            active[-1] &= ~problem.unpenalised
        used = np.flatnonzero(active)
        factor = Factor.of(H[np.ix_(used, used)])
        if factor is None:
            return None
        space, A = Subspace(None, None, W.shape[1]), np.zeros_like(H)
        A[np.ix_(used, used)] = cls.of(factor, space).A
        return cls(space, A)

    def leverages(self, X: Array, c: int) -> Array:
        """G, (m, c, c), of rows X (m, r). Each pair of scores is computed once, since G is symmetric."""
        m, r = X.shape
        A, G = self.A.reshape(c, r, c * r), np.empty((m, c, c))
        for a in range(c):
            V = (X @ A[a, :, : (a + 1) * r]).reshape(m, a + 1, r)
            G[:, a, : a + 1] = G[:, : a + 1, a] = np.einsum("mbr,mr->mb", V, X)
        return G


class RowTerms(NamedTuple):
    """The terms of some rows: σℓ′ (m, c), and σℓ″ and G (m, c, c)."""

    slope: Array
    curvature: Array
    G: Array


def row_terms(rows: ReducedRows, inverse: Inverse) -> RowTerms:
    """The terms of these rows."""
    slope = rows.losses(rows.z)[1]
    bends = rows.bends(slope)
    return RowTerms(
        rows.from_scores(slope * rows.sigma).T, bends.transpose(2, 0, 1), inverse.leverages(rows.X, len(bends))
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
        return rows.z + G * slope / (1.0 - np.minimum(lever, MOST_LEVERAGE)), lever, lever
    CG = of.curvature @ of.G
    trace = np.trace(CG, axis1=1, axis2=2)
    lever = trace.copy()
    doubtful = np.flatnonzero(trace > LARGEST_ACCURATE_LEVERAGE)
    if len(doubtful):
        lever[doubtful] = np.max(np.linalg.eigvals(CG[doubtful]).real, axis=1)
    less = np.minimum(1.0, MOST_LEVERAGE / np.maximum(lever, MOST_LEVERAGE))
    M = np.eye(CG.shape[1]) - less[:, None, None] * CG.transpose(0, 2, 1)
    step = np.linalg.solve(M, of.G @ of.slope[:, :, None])[:, :, 0]
    return rows.z + rows.to_scores(step.T), trace, lever


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
        sums = problem.framed.mean_class_sums
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
        solver, why = choose(problem) if solver is None else chosen_by_user(solver, problem)
        outcome = run(solver, problem, self._start(solver, problem), Stopping(tol=tol, max_iter=max_iter))
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
        return last.with_(frame=stretched, penalty=penalty, count_anew=True)

    def _start(self, solver: Solver, problem: Objective) -> Array | State:
        last, state = self.problem, self.state
        if state is None:
            return np.zeros(problem.shape) if problem.offsets is None else problem.null_weights
        stretch = _stretch(last.rows.frame, problem.rows.frame)
        W = state.W * stretch
        if not isinstance(solver, Proximal):
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


# --- The path for a quadratic penalty, with the inverse of ∇²E at each C

# Second derivatives are computed when the squared Newton decrement g·A g falls to this share of E.
HESSIAN_DECREMENT = 3e-4
# If g·A g with these second derivatives is at most this share of E, one more Newton step is enough: the scores were
# within 0.2 % of the scores of fits to a tolerance of 1e-9.
NEWTON_DECREMENT = 1e-3
# The most quasi-Newton steps with one matrix of second derivatives are STEPS_PER_MATRIX, plus one for every
# PARAMETERS_PER_EXTRA_STEP parameters, since a larger matrix costs more.
STEPS_PER_MATRIX, PARAMETERS_PER_EXTRA_STEP = 3, 20
# If g·A g is below this share of E, it is due to rounding errors of the gradient.
ROUNDED_DECREMENT = float(np.finfo(np.float64).eps) ** 1.5
# About this many multiplications of second derivatives are worth waking a thread.
MULTIPLICATIONS_PER_PIECE = 1 << 26
# The most matrices of second derivatives for one C, and the number of L-BFGS pairs that are kept.
MOST_MATRICES, PAIRS_ON_PATH = 20, 10


class PathFit(NamedTuple):
    """The rows at weights near the minimum for one C, the mean loss there, and A (None if ∇²E is singular)."""

    rows: ReducedRows
    loss: float
    inverse: Inverse | None


class PathPoint(NamedTuple):
    """A point of the path: ln C, W, and the mean loss with its gradient, (K, d + 1), and second derivatives in Θ."""

    u: float
    W: Array
    at: Evaluation
    H: Array


@dataclass
class Ridge:
    """The path so far: the null model, whose second derivatives need no pass, and the fits at all C tried.

    Problem   min_W E(W) for any C, in any order
    Returns   for each C a W near the minimum, the loss there, and A = (∇²E)⁻¹
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

    base: Objective  # the objective at C = 1, whose identified directions are those at any C
    rows: ReducedRows
    null: PathPoint
    seen: list[PathPoint] = field(default_factory=list)

    @classmethod
    def on(cls, base: Objective) -> Ridge:
        """The path that contains only the null model."""
        W = base.null_weights
        rows = ReducedRows.of(base, W)
        # The null model has no penalty.
        return cls(base, rows, PathPoint(-np.inf, W, base.value_gradient(W), null_hessian(base)))

    def at(self, C: float) -> PathFit:
        """The fit at C, started from the fit at the nearest C."""
        problem, space = self.base.with_(penalty=self.base.penalty.times(1.0 / C)), self.base.subspace
        place, held = self._nearest(C), self._held(problem)
        W, gradient = place.W, place.at.gradient + problem.penalty_gradient(place.W)
        at = Evaluation(place.at.value + problem.penalty_value(W), gradient)
        factor = Factor.of(place.H + held)
        # If a matrix of second derivatives takes few multiplications, every step is a Newton step.
        few = problem.n_rows * problem.shape[1] * len(held) <= 1 << 21
        for _ in range(MOST_MATRICES):
            W, at = (_newton if few else _descended)(problem, space, W, at, factor, _is_close)
            H = self._hessian(problem, W, held)
            factor = Factor.of(H)
            if factor is None:
                return PathFit(self.rows.at(problem, W), at.value - problem.penalty_value(W), None)
            g = space.reduce(at.gradient)
            step = factor.solve(g)
            decrement = float(g @ step)
            if decrement <= NEWTON_DECREMENT * at.value:
                break
        assert factor is not None  # the loop runs at least once
        W = W - space.expand(step)
        loss = at.value - 0.5 * decrement - problem.penalty_value(W)
        # The gradient of E is nearly zero, so that of the loss is minus that of the penalty.
        there = Evaluation(loss, -problem.penalty_gradient(W))
        self.seen = [*self.seen, PathPoint(float(np.log(C)), W, there, H - held)]
        return PathFit(self.rows.at(problem, W), loss, Inverse.of(factor, space))

    def _hessian(self, problem: Objective, W: Array, held: Array) -> Array:
        """∇²E(W) in Θ, (c r, c r). For many classes, pieces of the copied rows are summed by the threads.

        By ``problem.hessian`` alone, whose pass over a table of a single block takes one thread, the part ``digits`` of
        the benchmark row auto-C takes 1.4 times as long on two cores.
        """
        count = min(8, problem.n_rows * problem.size**2 // MULTIPLICATIONS_PER_PIECE)
        if len(W) == 1 or count < 2 or isinstance(self.rows.x, Block):
            return self.base.subspace.reduce_hessian(problem.hessian(W))
        problem.rows.counter.add()
        rows = self.rows.at(problem, W)
        parts = [rows.take(part) for part in even_pieces(rows.n_rows, count)]
        return reduce(iadd, in_order(_softmax_curvature, parts)) + held

    def _nearest(self, C: float) -> PathPoint:
        return min(self.seen, key=lambda place: abs(place.u - np.log(C)), default=self.null)

    def _held(self, problem: Objective) -> Array:
        """The second derivatives of the penalty in Θ, (c r, c r)."""
        own, c = held_by(problem, self.rows.space), self.rows.Q.shape[1]
        if own.ndim == 1:
            return np.diag(np.tile(own, c))
        return np.asarray(np.kron(np.eye(c), own), dtype=np.float64)

    def finished(self, C: float, fit: PathFit, tol: float) -> Array:
        """W at C, nearer to the minimum than ``fit``: the gap is about ``tol`` times the null model's loss."""
        problem, W = fit.rows.problem, fit.rows.W
        factor = Factor.of(self._nearest(C).H + self._held(problem))
        goal = tol * problem.null_value

        def done(W: Array, at: Evaluation, decrement: float) -> bool:
            if not ROUNDED_DECREMENT * at.value < decrement <= goal:  # the gap is hardly smaller than the decrement
                return decrement <= goal
            return duality(problem, W, at).known <= goal

        return _descended(problem, self.base.subspace, W, problem.value_gradient(W), factor, done)[0]


def _softmax_curvature(rows: ReducedRows) -> Array:
    """Σ_k q_k q_kᵀ ⊗ Xᵀ diag(σ p_k) X − Vᵀ V, where V has rows √σ (Qᵀ p) ⊗ x; all products are symmetric."""
    X, Q, p = rows.X, rows.Q, rows.probabilities(rows.losses(rows.z)[1])
    (n, r), c = X.shape, Q.shape[1]
    own = np.empty((len(p), r, r))
    for k, root in enumerate(np.sqrt(p * rows.sigma)):
        half = X * root[:, None]
        own[k] = half.T @ half
    squares = (Q[:, :, None] * Q[:, None, :]).reshape(len(p), -1)
    H = (squares.T @ own.reshape(len(p), -1)).reshape(c, c, r, r).transpose(0, 2, 1, 3).reshape(c * r, c * r)
    u = (Q.T @ p) * np.sqrt(rows.sigma)
    for part in pieces(n, rows_per_piece(1 << 20, c * r, fewest=64)):  # 8 MB of V at a time
        V = (u[:, part].T[:, :, None] * X[part, None, :]).reshape(-1, c * r)
        H -= V.T @ V
    return np.asarray(H)


# Whether W is near enough to the minimum, from W, E there and the squared Newton decrement g·A g.
Done = Callable[[Array, Evaluation, float], bool]


def _is_close(W: Array, at: Evaluation, decrement: float) -> bool:
    """Whether second derivatives at W are worth their time."""
    return decrement <= HESSIAN_DECREMENT * at.value


def _newton(
    problem: Objective, space: Subspace, W: Array, at: Evaluation, factor: Factor | None, done: Done
) -> tuple[Array, Evaluation]:
    """W and E after a Newton step unless it is ``done``, for tables where second derivatives are cheap."""
    g = space.reduce(at.gradient)
    step = np.zeros_like(g) if factor is None else factor.solve(g)
    decrement = float(g @ step)
    if done(W, at, decrement):
        return W, at
    V = space.expand(step)

    def evaluated(alpha: float) -> tuple[float, tuple[Array, Evaluation]]:
        there = problem.value_gradient(W - alpha * V)
        return there.value, (W - alpha * V, there)

    accepted = backtracked(evaluated, at.value, -decrement, trials=30, rounding=0.0)
    return (W, at) if accepted is None else accepted[1]


def _descended(
    problem: Objective, space: Subspace, W: Array, at: Evaluation, factor: Factor | None, done: Done
) -> tuple[Array, Evaluation]:
    """W and E after quasi-Newton steps with one factor, until they are ``done`` or a new factor costs less."""
    if factor is None:
        return W, at
    pairs, solve = Pairs(), factor.solve

    def inverse(G: Array) -> Array:
        return space.expand(solve(space.reduce(G)))

    for _ in range(STEPS_PER_MATRIX + W.size // PARAMETERS_PER_EXTRA_STEP):
        ended = done(W, at, float(np.vdot(at.gradient, inverse(at.gradient))))
        found = None if ended else quasi_newton_step(problem, W, at, pairs, inverse, PAIRS_ON_PATH)
        if found is None:
            break
        W, at, pairs = found
    return W, at
