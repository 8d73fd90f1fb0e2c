"""Nearest points of two convex hulls, by Kozinec's algorithm and by Wolfe's exact one (docs/tour.md, P9, P10).

Problem   minimise ‖p‖, p = α − β, over the points α and β of the convex hulls of two classes: their bisector is the
          hyperplane of maximum margin, which minimises ‖w‖ subject to t_i (w·x_i + b) ≥ 1. Without an intercept, p is
          the shortest vector in the hull of the rows t_i x_i
Given     rows of two classes
Returns   w ∝ p, and b midway between the classes; the rows whose convex combination p is, and their weights
Step      ``Kozinec`` moves α or β towards one row; ``NearestPoint`` moves p to the shortest vector of a face
Stops     by the rules: at the first separation, when no margin exceeds that of w by more than ε (½‖p‖ is a bound on all
          margins), or when p is zero; by itself if rounding hides any descent

``State.at.value`` is ½‖p‖ (‖p‖ without an intercept), which never increases. The gradient is set to zero; no rule uses
it. Kozinec, Recurrent algorithm separating convex hulls of two sets (1973); Wolfe, Finding the nearest point in a
polytope, Mathematical Programming 11 (1976).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.watching import pulse
from separatrix.core.linear_algebra import Factor
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective
from separatrix.core.proofs.linear_programs import SMALLEST_WEIGHT, nearest_in_hull
from separatrix.core.rows.block import DENSEST_SPARSE_PRODUCT, Block, is_sparse
from separatrix.core.solvers.separation_problem import HullMemory
from separatrix.core.solvers.state import Halt, Need, State, in_memory

# --- The rows with the smallest margins, by which both algorithms choose their steps


class Sides(NamedTuple):
    """For the classes − and +, the smallest margins m = t (w·x + b) with their row numbers; and how many m are ≤ 0."""

    negative: tuple[Array, Integers]
    positive: tuple[Array, Integers]
    errors: int

    @property
    def least(self) -> tuple[float, float]:
        """The smallest margin of each class, − and +; infinite for a class without rows."""
        low, high = (float(m[0]) if len(m) else np.inf for m, _ in (self.negative, self.positive))
        return low, high

    @property
    def ends(self) -> Integers:
        """The numbers of the rows with the smallest margins, of + and of −."""
        return np.array([self.positive[1][0], self.negative[1][0]])


@dataclass(frozen=True)
class Extremes:
    """The fold that computes ``Sides``, with ``count`` margins for each class. Ties go to the first rows."""

    W: Array
    count: int = 1

    def zero(self) -> Sides:
        none = (np.zeros(0), np.zeros(0, dtype=np.int64))
        return Sides(none, none, 0)

    def add(self, total: Sides, block: Block) -> Sides:
        m = block.t * block.scores(self.W)[:, 0]
        negative, positive = (self._smallest(m[own], block.start + own) for own in block.by_sign)
        return self.merge(total, Sides(negative, positive, int(np.count_nonzero(m <= 0))))

    def _smallest(self, m: Array, rows: Integers) -> tuple[Array, Integers]:
        if len(m) > 1:
            order = m.argmin(axis=0, keepdims=True) if self.count == 1 else self._first(m, rows)
            m, rows = m[order], rows[order]
        return m, rows

    def _first(self, m: Array, rows: Integers) -> Integers:
        """The places of the ``count`` smallest margins, sorted by margin and row."""
        low = np.partition(m, self.count - 1)[self.count - 1] if len(m) > self.count else np.inf
        near = np.flatnonzero(m <= low)  # with all ties for the last place, of which the first rows are kept
        return np.asarray(near[np.lexsort((rows[near], m[near]))[: self.count]])

    def merge(self, a: Sides, b: Sides) -> Sides:
        negative, positive = (
            self._smallest(np.concatenate([m, n]), np.concatenate([i, j]))
            for (m, i), (n, j) in ((a.negative, b.negative), (a.positive, b.positive))
        )
        return Sides(negative, positive, a.errors + b.errors)


def sides(problem: Objective, W: Array, count: int = 1) -> Sides:
    """The rows with the smallest margins under W, in one pass."""
    return problem.rows.fold(Extremes(W, count))


def one_unit(problem: Objective) -> float:
    """The common scale of all columns of the problem's frame, by which the frame divides distances."""
    scale = problem.rows.frame.scale
    if not np.all(scale == scale[0]):
        raise ParameterError("problem", "its frame scales columns differently", "use one scale: distances depend on it")
    return float(scale[0])


# --- Kozinec's algorithm


@dataclass(frozen=True, kw_only=True)
class KozinecMemory(HullMemory):
    """Bounds on the margin, α and β, the weight of each row in them, (n,), and the rows with the smallest margins.

    ``ends``: the numbers of these rows, of + and of −.
    """

    alpha: Array
    beta: Array
    share: Array
    ends: Integers


@dataclass(frozen=True)
class Kozinec:
    """α ← (1 − k) α + k x or β ← (1 − k) β + k x, so that the points α and β of the two hulls approach each other.

    x is the row of a class that is furthest in the direction of the other class, as measured along w = α − β from α or
    β. That point moves along the segment to x, to where ‖α − β‖ is smallest: k = min(1, w·(α − x)/‖α − x‖²), likewise
    for β. The hyperplane has b = −(‖α‖² − ‖β‖²)/2. α and β start at the means of the classes. Schlesinger and Hlaváč,
    Ten Lectures on Statistical and Structural Pattern Recognition (2002), sections 5.4–5.5, add the rule that the
    margin is within ε of the largest one.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> from separatrix.core.solvers.separation_problem import build_separation_objective
    >>> problem = build_separation_objective(memory_rows(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])))
    >>> state = Kozinec().init(problem, np.zeros((1, 2)))
    >>> plane = Kozinec().solution(problem, state).W[0]
    >>> float(-plane[0] / plane[1])
    1.0
    """

    name: ClassVar[str] = "kozinec"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.RESIDENT})
    by_sums: ClassVar[bool] = False
    converges: ClassVar[bool] = False

    def init(self, problem: Objective, start: Array) -> State[KozinecMemory]:
        """Start at the means of the classes. Only the shape of ``start`` is used."""
        resident = in_memory(problem, self.name)
        sums = problem.framed.class_sums
        beta, alpha = (sums[k, 1:] / sums[k, 0] for k in (0, 1))
        share = np.where(resident.t > 0, 1.0 / sums[1, 0], 1.0 / sums[0, 0])
        return self._arrive(problem, alpha, beta, share, 0)

    def step(self, problem: Objective, state: State[KozinecMemory], budget: int | None = None) -> State[KozinecMemory]:
        rows, alpha, beta = in_memory(problem, self.name), state.memory.alpha, state.memory.beta
        w, ends = state.W[0, 1:], state.memory.ends
        x_plus, x_minus = (rows.homogeneous_row(int(i))[1:] for i in ends)
        plus, minus = float(w @ (alpha - x_plus)), float(w @ (x_minus - beta))
        is_plus, reach = plus >= minus, max(plus, minus)
        point, x = (alpha, x_plus) if is_plus else (beta, x_minus)
        squared = float((point - x) @ (point - x))
        if reach <= 0 or squared == 0:
            return replace(state, halt=Halt.STALLED)
        k = min(1.0, reach / squared)
        moved = (1.0 - k) * point + k * x
        share = np.where((rows.t > 0) == is_plus, 1.0 - k, 1.0) * state.memory.share
        share[ends[0 if is_plus else 1]] += k
        alpha, beta = (moved, beta) if is_plus else (alpha, moved)
        return self._arrive(problem, alpha, beta, share, state.iteration + 1)

    def _arrive(
        self, problem: Objective, alpha: Array, beta: Array, share: Array, iteration: int
    ) -> State[KozinecMemory]:
        w, unit = alpha - beta, one_unit(problem)
        W = np.concatenate([[-0.5 * w @ (alpha + beta)], w])[None, :]
        found, distance = sides(problem, W), float(np.linalg.norm(w))
        memory = KozinecMemory(
            lower=unit * min(found.least) / distance if distance > 0 else -np.inf,
            upper=0.5 * unit * distance,
            longest=unit * float(max(np.linalg.norm(alpha), np.linalg.norm(beta))),
            errors=found.errors,
            alpha=alpha,
            beta=beta,
            share=share,
            ends=found.ends,
        )
        return State(W, Evaluation(0.5 * unit * distance, np.zeros(W.shape)), iteration, memory)

    def solution(self, problem: Objective, state: State[KozinecMemory]) -> State[KozinecMemory]:
        return state


# --- Approximate nearest points by an interior point method, as a warm start for Wolfe's algorithm

# The number of rows of each class that are added to the small problem in each round. At most d + 1 rows support the
# nearest point of a hull, so few columns need few rows; problems of a few hundred rows take milliseconds.
MOST_ROWS_JOINED, ROWS_JOINED, ROWS_JOINED_PER_COLUMN = 192, 8, 4
# The warm start ends when the margin is within this share of its upper bound; the exact method does the rest.
MARGIN_TOLERANCE = 1e-6
# The most passes over the rows, and the most interior point steps on each small problem.
MOST_HULL_ROUNDS, MOST_INTERIOR_STEPS = 40, 60
# An interior point step goes at most this share of the way to the boundary of α ≥ 0, ν ≥ 0.
BOUNDARY_SHARE = 0.995
SEARCHING = "searching the nearest points of the hulls"


class HullSupport(NamedTuple):
    """Row numbers with weights > 0, which define a point of each class's hull, and the number of passes taken."""

    rows: Integers
    weights: Array
    rounds: int


def nearly_nearest(problem: Objective, w: Array) -> HullSupport | None:
    """Rows and weights of nearly nearest points of the hulls, starting from a direction w (d,).

    An interior point method minimises ½‖Σ α_i t_i x_i‖² for a small set of rows, subject to α ≥ 0 and Σ α_i = 1 over
    the rows of each class (over all rows without an intercept). Then one pass finds the rows with the smallest
    t_i p·x_i, where p = Σ α_i t_i x_i, and adds them to the rows with α_i > 0. The search ends once the margin is
    within MARGIN_TOLERANCE of its upper bound ½‖p‖, or that bound falls by less.

    None if the hulls nearly touch: then the exact method starts without them.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> from separatrix.core.solvers.separation_problem import build_separation_objective
    >>> X, t = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, -1.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> nearly_nearest(build_separation_objective(memory_rows(X, t)), np.array([1.0, 0.0])).rows.tolist()
    [1, 2, 3]
    """
    resident = in_memory(problem, NearestPoint.name)
    rows, alpha, before, rounds = np.zeros(0, dtype=np.int64), np.zeros(0), np.inf, 0
    joining = min(MOST_ROWS_JOINED, ROWS_JOINED + ROWS_JOINED_PER_COLUMN * problem.rows.n_features)
    while rounds < MOST_HULL_ROUNDS:
        pulse(SEARCHING)
        rounds += 1
        furthest = sides(problem, np.concatenate([[0.0], w])[None, :], joining)
        # The margin of w times ‖w‖, from the smallest margins of the classes, and its upper bound.
        margin, ceiling = min(furthest.least), float(w @ w)
        if problem.fit_intercept:
            margin, ceiling = 0.5 * sum(furthest.least), 0.5 * ceiling
        if len(rows) and (ceiling - margin <= MARGIN_TOLERANCE * ceiling or ceiling >= (1 - MARGIN_TOLERANCE) * before):
            break
        before = ceiling if len(rows) else np.inf
        joined = np.union1d(rows, np.concatenate([furthest.negative[1], furthest.positive[1]]))
        few = resident.take(joined)
        P = signed_rows(few, problem.fit_intercept)
        inside = _inside(P, few.t if problem.fit_intercept else np.ones(len(few.t)))
        if inside is None:
            return None
        w = np.asarray(inside @ P)
        if np.linalg.norm(w) <= MARGIN_TOLERANCE * longest(P):
            return None
        rows, alpha = joined[inside > 0], inside[inside > 0]
    return HullSupport(rows, alpha, rounds)


def signed_rows(few: Block, fit_intercept: bool) -> Any:
    """The rows t_i x_i in the frame's coordinates, (m, d): dense, or CSR if most entries of sparse rows are zero.

    With an intercept, the weights of the two classes cancel in every sum of signed rows, so CSR rows are not centred.
    """
    X: Any = few.X
    frame = few.frame
    centred = frame.center.any() and not fit_intercept
    dense = not is_sparse(X) or X.nnz > DENSEST_SPARSE_PRODUCT * X.shape[0] * X.shape[1]
    if dense or centred or not frame.is_near or frame.is_extreme:
        return few.t[:, None] * few.homogeneous()[:, 1:]
    from scipy.sparse import csr_array

    signed = X.data * np.repeat(few.t, np.diff(X.indptr)) / frame.scale[X.indices]
    return csr_array((signed, X.indices, X.indptr), shape=X.shape)


def longest(P: Any) -> float:
    """The length of the longest row of P, dense or CSR."""
    squares = P.multiply(P).sum(axis=1) if is_sparse(P) else np.einsum("ij,ij->i", P, P)
    return float(np.sqrt(np.max(squares)))


def _inside(P: Any, sides: Array) -> Array | None:
    """Weights (m,) ≥ 0 of the shortest Σ α_i P_i with sum 1 over each of the sides; None if a step fails.

    Newton steps inside α > 0 solve the conditions of Karush, Kuhn and Tucker: Mehrotra, On the implementation of a
    primal-dual interior point method, SIAM Journal on Optimization 2 (1992). Their equations are solved with the m × m
    matrix of the inner products of the m rows, so their cost hardly depends on the number of columns.

    >>> _inside(np.array([[2.0, 1.0], [2.0, -1.0], [5.0, 0.0]]), np.ones(3)).round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    E = np.array([sides == sign for sign in np.unique(sides)], dtype=np.float64)
    G = products(P)
    unit = float(np.max(np.diag(G)))
    if not 0 < unit < np.inf:
        return None
    G /= unit
    alpha = E.T @ (1.0 / E.sum(axis=1))
    g = G @ alpha
    gamma = np.array([np.min(g[own > 0]) for own in E]) - 1.0
    nu = g - gamma @ E
    for _ in range(MOST_INTERIOR_STEPS):
        pulse(SEARCHING)
        mu = float(alpha @ nu) / len(alpha)
        dual, primal = G @ alpha - gamma @ E - nu, E @ alpha - 1.0
        close = mu * len(alpha) <= 1e-3 * MARGIN_TOLERANCE * float(alpha @ G @ alpha)
        # μ is relative to the largest squared length of a row; float64 cannot improve on this one.
        if mu <= 1e-17 or (close and np.max(np.abs(dual)) <= 1e-12):
            break
        change = _corrected(G, E, alpha, nu, dual, primal)
        if change is None:
            return None
        d_alpha, d_gamma, d_nu = change
        size = BOUNDARY_SHARE * min(_reach(alpha, d_alpha), _reach(nu, d_nu))
        alpha, gamma, nu = alpha + size * d_alpha, gamma + size * d_gamma, nu + size * d_nu
    # One factor of each product α ν goes to zero. A row supports the solution if α is the larger one after scaling.
    weights = np.where(alpha / alpha.max() > nu / nu.max(), alpha, 0.0)
    sums = E @ weights
    return None if np.any(sums == 0) else np.asarray(weights * ((1.0 / sums) @ E))


def _corrected(
    G: Array, E: Array, alpha: Array, nu: Array, dual: Array, primal: Array
) -> tuple[Array, Array, Array] | None:
    """Mehrotra's predictor-corrector step (dα, dγ, dν): the corrector aims at products α ν that the predictor reaches.

    Each solves G dα − Eᵀ dγ − dν = −dual, E dα = −primal and α dν + ν dα = −product. None if rounding prevents it.
    """
    factor = Factor.of(G + np.diag(nu / alpha))
    if factor is None:
        return None
    solved = factor.solve(E.T)

    def step(product: Array) -> tuple[Array, Array, Array]:
        right = factor.solve(-dual - product / alpha)
        d_gamma: Array = np.linalg.solve(E @ solved, -primal - E @ right).astype(np.float64)
        d_alpha = right + solved @ d_gamma
        return d_alpha, d_gamma, -(product + nu * d_alpha) / alpha

    d_alpha, _, d_nu = step(alpha * nu)
    before = float(alpha @ nu)
    after = float((alpha + _reach(alpha, d_alpha) * d_alpha) @ (nu + _reach(nu, d_nu) * d_nu))
    return step(alpha * nu + d_alpha * d_nu - (after / before) ** 3 * before / len(alpha))


def products(P: Any) -> Array:
    """P Pᵀ as a dense array, for dense rows or CSR rows P."""
    G = P @ P.T
    return np.asarray(G.toarray() if is_sparse(G) else G)


def _reach(value: Array, change: Array) -> float:
    """The longest step, at most 1, that leaves all values ≥ 0."""
    falling = change < 0
    return float(min(1.0, np.min(-value[falling] / change[falling], initial=np.inf)))


# --- The point of an affine hull that is nearest to the origin, for dense and for sparse points

# The Gram matrix of the differences, which is faster than QR, is used only if each difference has at least this share
# of its length outside the span of those before it, and if the sizes of columns differ by at most LARGEST_COLUMN_RATIO,
# so that rounding errors matter equally in all columns. Each correction then gains three digits or more.
SMALLEST_INDEPENDENT_SHARE, LARGEST_COLUMN_RATIO = 1e-3, 1e3
# Corrections of the least squares solution, each by the least squares solution for what is left.
CORRECTIONS = 5


def affine_nearest(P: Any) -> tuple[Array, Array]:
    """The point p of the affine hull of the points P (k, d) nearest to the origin: its weights, and p.

    The weights sum to 1 and may be negative. They are those of least squares in the differences from the first point.
    If p is short compared with the points, nearly all digits cancel in their sum; therefore p is computed as what is
    left of the first point.

    >>> share, p = affine_nearest(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> share.round(12).tolist(), p.round(12).tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """
    first: Any = P[[0]]
    p = np.asarray(first.toarray() if is_sparse(P) else first, dtype=np.float64)[0]
    if P.shape[0] == 1:
        return np.ones(1), p
    if is_sparse(P):
        from scipy.sparse import csr_array

        first = csr_array(np.ones((P.shape[0] - 1, 1))) @ first
    A = (P[1:] - first).T
    coefficients, beta = least_squares(A), np.zeros(A.shape[1])
    for _ in range(1 + CORRECTIONS):
        change = coefficients(p)
        beta, p = beta - change, p - A @ change
    share = np.concatenate([[1.0 - beta.sum()], beta])
    hull_point = np.asarray(share @ P)
    return share, p if p @ hull_point > 0 else hull_point


def least_squares(A: Any) -> Callable[[Array], Array]:
    """The function from r to the β with A β nearest to r: by Cholesky of AᵀA, or by Householder QR.

    The QR factors A with its rows sorted by size, so that the error is small relative to the scale of each row of A,
    that is, each column of the table: Cox and Higham, Stability of Householder QR factorization for weighted least
    squares problems (1998). Columns of A that depend on others have the coefficient zero.
    """
    sizes = abs(A).max(axis=1)
    sizes = sizes.toarray().ravel() if is_sparse(A) else sizes
    if sizes.max() <= LARGEST_COLUMN_RATIO * np.min(sizes[sizes > 0], initial=np.inf):
        factor = Factor.of(products(A.T))
        if factor is not None and np.min(np.diag(factor.lower)) >= SMALLEST_INDEPENDENT_SHARE:
            return lambda r: factor.solve(A.T @ r)
    from scipy.linalg import qr, solve_triangular

    order = np.argsort(-sizes, kind="stable")
    factors: Any = qr((A.toarray() if is_sparse(A) else A)[order], mode="economic", pivoting=True, check_finite=False)
    Q, R, pivots = factors
    size = np.abs(np.diag(R))
    # Columns with smaller pivots depend on those before them.
    rank = int(np.sum(size > EPS * (A.shape[1] + 1) * size.max(initial=0.0)))

    def coefficients(r: Array) -> Array:
        beta = np.zeros(A.shape[1])
        beta[pivots[:rank]] = solve_triangular(R[:rank, :rank], Q[:, :rank].T @ r[order])
        return beta

    return coefficients


# --- Wolfe's algorithm

# Tables of at most this many columns and rows need no head start: in the plane 2 to 5 steps reach the nearest points of
# 500 rows, in 0.8 to 1.8 ms, and the head start takes 2 ms. From 3 columns on, or with 20 000 rows, it saves time.
MOST_COLUMNS_WITHOUT_START, MOST_ROWS_WITHOUT_START = 2, 5000


@dataclass(frozen=True, kw_only=True)
class NearestPointMemory(HullMemory):
    """Bounds on the margin, and p as a convex combination of differences.

    ``pairs`` (k, 2): the rows (+, −) of each difference, or (k, 1) without an intercept, where the points are rows.
    ``mu`` (k,): their weights. ``furthest``: the pair with the smallest p·v.
    """

    pairs: Integers
    mu: Array
    furthest: Integers


@dataclass(frozen=True)
class NearestPoint:
    """p = the shortest vector in the hull of {x_i − x_j}.

    The differences are those of a row of + and a row of −. A step finds in one pass the difference v with the smallest
    p·v and adds it to the few differences of which p is a convex combination. Then p moves to the point of their affine
    hull nearest to the origin, and differences with negative weights are dropped, until there are none. Each step
    shortens p and no set of differences occurs twice, so the method is finite: at the nearest point of an affine hull,
    the conditions of Karush, Kuhn and Tucker are linear equations. Differences of sparse rows are stored as sparse.

    The start is a pair of nearly nearest points of the hulls, so that few steps are left; or, for few rows of one or
    two columns, with m the difference of the means, the difference v with the smallest m·v.

    Parameters
    ----------
    head_start : bool, default True
        Whether to start from an approximate solution, computed on few rows.

    Examples
    --------
    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> from separatrix.core.solvers.separation_problem import build_separation_objective
    >>> problem = build_separation_objective(memory_rows(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])))
    >>> state = NearestPoint().init(problem, np.zeros((1, 2)))
    >>> plane = NearestPoint().solution(problem, state).W[0]
    >>> float(-plane[0] / plane[1])
    1.0
    """

    head_start: bool = True
    name: ClassVar[str] = "nearest-point"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.RESIDENT})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = False

    def init(self, problem: Objective, start: Array) -> State[NearestPointMemory]:
        """Start along the w of ``start``, or along the difference of the means if that is zero."""
        w = start[0, 1:] if start[0, 1:].any() else difference_of_means(problem)
        few = problem.rows.n_features <= MOST_COLUMNS_WITHOUT_START and problem.n_rows <= MOST_ROWS_WITHOUT_START
        near = nearly_nearest(problem, w) if self.head_start and not few else None
        if near is None:
            found = sides(problem, np.concatenate([[0.0], w])[None, :])
            return self._arrive(problem, _furthest(problem, found)[None, :], np.ones(1), 0)
        return self._arrive(problem, *_paired(problem, near), near.rounds)

    def step(
        self, problem: Objective, state: State[NearestPointMemory], budget: int | None = None
    ) -> State[NearestPointMemory]:
        memory = state.memory
        if np.any(np.all(memory.pairs == memory.furthest, axis=1)):
            return replace(state, halt=Halt.STALLED)
        pairs = np.vstack([memory.pairs, memory.furthest])
        after = self._arrive(problem, pairs, np.append(memory.mu, 0.0), state.iteration + 1)
        # A step that shortens p by a smaller share is treated as rounding error, and the search halts.
        if after.at.value >= state.at.value * (1.0 - 1e-15):
            wider = after.memory.lower > state.memory.lower  # the last support rows may add to the margin only
            return replace(after if wider else state, halt=Halt.STALLED)
        return after

    def _arrive(self, problem: Objective, pairs: Integers, mu: Array, iteration: int) -> State[NearestPointMemory]:
        """The state at the shortest vector in the hull of these differences, which is searched from the weights mu."""
        rows, unit = in_memory(problem, self.name), one_unit(problem)
        P, *others = (signed_rows(rows.take(own), problem.fit_intercept) for own in pairs.T)
        P = P + others[0] if others else P
        kept, mu, p = nearest_in_hull(P, mu, affine_nearest)
        # No margin exceeds the length of a point of the hull, whatever the direction w.
        upper = unit * (0.5 if problem.fit_intercept else 1.0) * float(np.linalg.norm(mu @ P[kept]))
        distance = float(np.linalg.norm(p))
        found = sides(problem, np.concatenate([[0.0], p])[None, :])
        minus, plus = found.least
        b = 0.5 * (minus - plus) if problem.fit_intercept else 0.0
        memory = NearestPointMemory(
            lower=unit * min(plus + b, minus - b) / distance if distance > 0 else -np.inf,
            upper=upper,
            longest=unit * longest(P[kept]),
            pairs=pairs[kept],
            mu=mu,
            furthest=_furthest(problem, found),
        )
        W = np.concatenate([[b], p])[None, :]
        return State(W, Evaluation(upper, np.zeros_like(W)), iteration, memory)

    def solution(self, problem: Objective, state: State[NearestPointMemory]) -> State[NearestPointMemory]:
        return state


def difference_of_means(problem: Objective) -> Array:
    """The mean of the positive rows less that of the negative ones, (d,)."""
    sums = problem.framed.class_sums
    return np.asarray(sums[1, 1:] / sums[1, 0] - sums[0, 1:] / sums[0, 0])


def _furthest(problem: Objective, found: Sides) -> Integers:
    """The rows (+, −) of the difference v with the smallest p·v; without an intercept, the row with the smallest."""
    minus, plus = found.least
    return found.ends if problem.fit_intercept else found.ends[:1] if plus <= minus else found.ends[1:]


def _paired(problem: Objective, near: HullSupport) -> tuple[Integers, Array]:
    """The point p of ``near`` as a convex combination of few differences: their rows (+, −) and weights.

    Rows of the two classes are paired by the north-west corner rule.
    """
    if not problem.fit_intercept:
        return near.rows[:, None], near.weights
    t = in_memory(problem, NearestPoint.name).t[near.rows]
    ends = [np.cumsum(near.weights[own]) for own in (t > 0, t < 0)]
    corners = np.unique(np.minimum(np.concatenate(ends), 1.0))
    mu = np.diff(corners, prepend=0.0)
    middle = corners - 0.5 * mu
    pairs = [
        near.rows[own][np.minimum(np.searchsorted(end, middle), len(end) - 1)]
        for own, end in zip((t > 0, t < 0), ends, strict=True)
    ]
    kept = mu > SMALLEST_WEIGHT
    return np.column_stack(pairs)[kept], mu[kept] / mu[kept].sum()


def multipliers(state: State[NearestPointMemory]) -> tuple[Integers, Array]:
    """The support rows in ascending order, and their weights.

    The weights sum to 1 in each class, or over all rows without an intercept.
    """
    pairs = state.memory.pairs
    rows, place = np.unique(pairs, return_inverse=True)
    weights: Array = np.bincount(place.ravel(), np.repeat(state.memory.mu, pairs.shape[1])).astype(np.float64)
    return rows, weights
