"""The exact solution in the span of the rows, for fewer rows than columns (docs/tour.md, R8).

Problem   min_W E(W), smooth and convex, with a quadratic penalty on every column and n < d
Given     dense rows in memory
Returns   W with E(W) at its minimum up to rounding
Step      Let r_j² be the penalty's curvature, X̃ = X̄ diag(r)⁻¹ and A = X̃ X̃ᵀ = L Lᵀ (n × n, by Cholesky with
          pivoting; p are the rows of the first rank(A) pivots). The minimum is diag(r)⁻¹ V θ with V = X̃_pᵀ L_p⁻ᵀ
          orthonormal, and in the coordinates θ the rows are those of L. First, minimise over θ, a dense problem of at
          most n columns, which takes no pass. Then, while rounding errors are visible, steps of L-BFGS around a
          diagonal
Stops     by the driver's rules; by itself if rounding hides any descent

A component of W outside the span of the rows changes no score but increases the penalty (Kimeldorf and Wahba, A
correspondence between Bayesian estimation on stochastic processes and smoothing by splines, Annals of Mathematical
Statistics 41, 1970: the representer theorem). If rows are sparse, or at least as many as the columns, a method for the
columns is used instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from separatrix.core.base.arrays import EPS, Array, Integers, even_pieces, pieces, rows_per_piece
from separatrix.core.base.machine import in_order
from separatrix.core.duality_bound import duality
from separatrix.core.linear_algebra import Subspace, contrasts
from separatrix.core.penalty import Penalty
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.memory_rows import MemoryRows
from separatrix.core.rows.protocol import ArraySum
from separatrix.core.solvers.driver import states
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.preconditioners import Diagonal
from separatrix.core.solvers.state import Need, Solver, State

# The most rows for which their Gram matrix is built and factored; with more, a method for the columns is used.
MOST_SPAN_ROWS = 10_000
# The small problem is solved to SMALL_PROBLEM_TOL times the null model's objective, or to rounding error, in at most
# MOST_SMALL_PROBLEM_STEPS steps.
SMALL_PROBLEM_TOL, MOST_SMALL_PROBLEM_STEPS = 1e-12, 500
# The steps that follow the solution in the span, while rounding errors are visible.
REFINING = LBFGS(Diagonal())
# The number of bytes of rows that are centred and scaled at a time, and the most slices that are summed in parallel.
SLICE_BYTES, SLICE_STRANDS = 1 << 22, 4


@dataclass(frozen=True)
class Span:
    """W = diag(r)⁻¹ V θ, with V an orthonormal basis of the span of the rows.

    Examples
    --------
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> rows, codes = np.arange(12.0).reshape(3, 4) ** 2, np.array([0, 1, 0])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(4)))
    >>> found = Span().init(problem, np.zeros(problem.shape))
    >>> bool(np.linalg.norm(found.at.gradient) < 1e-12)
    True
    """

    name: ClassVar[str] = "span"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.STANDARD, Need.RESIDENT, Need.HELD})
    by_sums: ClassVar[bool] = False  # which rows are pivots depends on their order
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State:
        block = problem.rows.resident()
        if block is None or not _spans(block):
            return of_columns(problem).init(problem, start)
        basis = RowBasis(problem, *factored_span(problem, block))
        W = basis.image(_solved(basis.small))
        return State(W, problem.value_gradient(W))

    def step(self, problem: Objective, state: State[Any], budget: int | None = None) -> State:
        block = problem.rows.resident()
        if block is None or not _spans(block):
            return of_columns(problem).step(problem, state, budget)
        if state.memory is None:  # the weights of ``init``
            state = REFINING.init(problem, state.W)
        return REFINING.step(problem, state, budget)

    def solution(self, problem: Objective, state: State) -> State:
        return state


def _spans(block: Block) -> bool:
    """Whether the rows are dense, fewer than the columns, and few enough for their Gram matrix."""
    return not is_sparse(block.X) and block.n_rows < min(block.X.shape[1], MOST_SPAN_ROWS)


def _solved(small: Objective) -> Array:
    """The minimum of the small problem."""
    goal, theta = SMALL_PROBLEM_TOL * small.null_value, np.zeros(small.shape)
    for state in islice(states(of_columns(small), small, theta), MOST_SMALL_PROBLEM_STEPS):
        theta = state.W
        if duality(small, theta, state.at).known <= goal:
            break
    return theta


def of_columns(problem: Objective) -> Solver:
    """The solver for a problem that the span of the rows does not suit; it works on the columns."""
    # For few parameters, factoring Hessians is cheaper than steps with a preconditioner.
    return Newton() if problem.has_hessian and problem.size <= 300 else LBFGS()


def _units(problem: Objective) -> tuple[Array, float]:
    """r divided by its largest value, (d,), with 1 for hidden columns, and the largest value of r."""
    r = problem.root_penalty[1:]
    most = float(r.max())
    return np.where(r > 0, r / most, 1.0), most


@dataclass(frozen=True)
class RowBasis:
    """V = X̃_pᵀ L_p⁻ᵀ, with X̃ in units of the largest r, and the problem in its coordinates."""

    problem: Objective
    L: Array
    pivots: Integers

    @property
    def small(self) -> Objective:
        """E as a function of θ, (K, rank + 1): rows L, and the same penalty on all columns."""
        problem, rank = self.problem, self.L.shape[1]
        block: Any = problem.rows.resident()
        rows = MemoryRows(self.L, block.t, block.weight, Frame.identity(rank))
        penalty = Penalty(problem.total_weight * _units(problem)[1] ** 2, np.ones(rank))
        Z = None if problem.fit_intercept else np.eye(rank + 1)[:, 1:]
        K = problem.shape[0]
        space = Subspace(contrasts(K) if K > 1 else None, Z, rank + problem.fit_intercept)
        fixed = (penalty, problem.n_classes, problem.fit_intercept)
        return Objective.of(rows, problem.loss, *fixed, given_subspace=space)

    def image(self, theta: Array) -> Array:
        """W = diag(r)⁻¹ V θ, with unchanged intercepts, in one pass."""
        from scipy.linalg import solve_triangular

        unit, _ = _units(self.problem)
        R = np.zeros((len(self.L), len(theta)))
        R[self.pivots] = solve_triangular(self.L[self.pivots], theta[:, 1:].T, lower=True, trans="T")
        total = self.problem.rows.fold(_Adjoint(R, self.problem.rows.n_features + 1))
        return np.column_stack([theta[:, 0], total[:, 1:] / unit / unit])


@dataclass(frozen=True)
class _Adjoint(ArraySum):
    """Rᵀ X̄, (K, d + 1), for R (n, K)."""

    R: Array
    width: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.R.shape[1], self.width)

    def add(self, total: Array, block: Block) -> Array:
        total += block.adjoint(self.R[block.start : block.start + block.n_rows])
        return total


def factored_span(problem: Objective, block: Block) -> tuple[Array, Integers]:
    """L (n, rank) with L Lᵀ = X̃ X̃ᵀ, and the pivots, (rank,); one pass."""
    from scipy.linalg.lapack import dpstrf

    problem.rows.counter.add()
    unit, _ = _units(problem)
    A = _gram(block, unit)
    n = len(A)
    # A pivot is a rounding error if it is below EPS times the number of rows times the largest squared row length.
    lower, order, rank, _ = dpstrf(A, lower=1, tol=n * EPS * float(np.max(np.diag(A), initial=0.0)))
    order = order.astype(np.int64) - 1
    L = np.zeros((n, rank))
    L[order] = np.tril(lower)[:, :rank]
    return L, order[:rank]


def _gram(block: Block, unit: Array) -> Array:
    """X̃ X̃ᵀ by slices of columns in parallel, so that X̃ is never stored as a whole."""
    X, frame = np.asarray(block.X), block.frame
    n, d = X.shape
    slices = list(pieces(d, rows_per_piece(SLICE_BYTES // 8, n, fewest=16)))

    def strand(some: slice) -> Array:
        A = np.zeros((n, n))
        for J in slices[some]:
            part = X[:, J] - frame.center[J]
            part /= frame.scale[J] * unit[J]
            A += part @ part.T  # NumPy recognises A Aᵀ and calls the symmetric product, which is half the work
        return A

    parts = in_order(strand, even_pieces(len(slices), min(SLICE_STRANDS, len(slices))))
    total = next(parts)
    for part in parts:
        total += part
    return total
