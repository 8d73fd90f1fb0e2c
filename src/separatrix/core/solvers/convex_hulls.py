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
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.core.base.arrays import EPS, Array, Integers, length
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.watching import pulse
from separatrix.core.linear_algebra import Factor
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective
from separatrix.core.rows.block import DENSEST_SPARSE_PRODUCT, Block, is_sparse
from separatrix.core.solvers.separation_problem import HullMemory
from separatrix.core.solvers.state import Halt, Need, State, in_memory

# --- The rows with the smallest margins, by which both algorithms choose their steps


class Extreme(NamedTuple):
    """The row of a class with the smallest margin m = t (w·x + b): the margin, the row number, and t x."""

    m: float
    row: int
    x: Array


class Sides(NamedTuple):
    """The rows of the classes − and + with the smallest margins, and the number of rows with m ≤ 0."""

    negative: Extreme
    positive: Extreme
    errors: int


@dataclass(frozen=True)
class Extremes:
    """The fold that computes ``Sides``. Ties go to the first row."""

    W: Array

    def zero(self) -> Sides:
        none = Extreme(np.inf, -1, np.zeros(self.W.shape[1] - 1))
        return Sides(none, none, 0)

    def add(self, total: Sides, block: Block) -> Sides:
        m = block.t * block.scores(self.W)[:, 0]
        negative, positive = block.by_sign
        found = (self._smallest(block, m, -1.0, negative), self._smallest(block, m, 1.0, positive))
        return self.merge(total, Sides(*found, int(np.count_nonzero(m <= 0))))

    def _smallest(self, block: Block, m: Array, sign: float, own: Integers) -> Extreme:
        """The row with the smallest margin among a class's ``own`` rows, whose target is ``sign``."""
        if not len(own):
            return self.zero().negative
        k = int(own[m[own].argmin()])
        smallest = float(m[k])
        if smallest == np.inf:
            return self.zero().negative
        return Extreme(smallest, block.start + k, block.homogeneous_row(k)[1:] * sign)

    def merge(self, a: Sides, b: Sides) -> Sides:
        return Sides(
            b.negative if b.negative.m < a.negative.m else a.negative,
            b.positive if b.positive.m < a.positive.m else a.positive,
            a.errors + b.errors,
        )


def sides(problem: Objective, W: Array) -> Sides:
    """The rows with the smallest margins under W, in one pass."""
    return problem.rows.fold(Extremes(W))


def one_unit(problem: Objective) -> float:
    """The common scale of all columns of the problem's frame, by which the frame divides distances."""
    scale = problem.rows.frame.scale
    if not (scale == scale[0]).all():
        raise ParameterError("problem", "its frame scales columns differently", "use one scale: distances depend on it")
    return float(scale[0])


# --- Kozinec's algorithm


@dataclass(frozen=True, kw_only=True)
class KozinecMemory(HullMemory):
    """Bounds on the margin, α and β, the weight of each row in them, (n,), and the rows with the smallest margins."""

    alpha: Array
    beta: Array
    share: Array
    extremes: Sides


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
        sums = problem.class_sums
        beta, alpha = (sums[k, 1:] / sums[k, 0] for k in (0, 1))
        share = np.where(resident.t > 0, 1.0 / sums[1, 0], 1.0 / sums[0, 0])
        return self._arrive(problem, alpha, beta, share, 0)

    def step(self, problem: Objective, state: State[KozinecMemory], budget: int | None = None) -> State[KozinecMemory]:
        alpha, beta, share, extremes = state.memory.alpha, state.memory.beta, state.memory.share, state.memory.extremes
        w = state.W[0, 1:]
        plus = float(np.vdot(w, alpha)) - float(np.vdot(w, extremes.positive.x))
        minus = -float(np.vdot(w, beta)) - float(np.vdot(w, extremes.negative.x))
        toward = extremes.positive if plus >= minus else extremes.negative
        point, x = (alpha, toward.x) if plus >= minus else (beta, -toward.x)
        away = point - x
        squared = float(np.vdot(away, away))
        if max(plus, minus) <= 0 or squared == 0:
            return replace(state, halt=Halt.STALLED)
        k = min(1.0, max(plus, minus) / squared)
        moved = (1.0 - k) * point + k * x
        resident = in_memory(problem, self.name)
        moved_class = resident.t == (1.0 if plus >= minus else -1.0)
        share = np.where(moved_class, (1.0 - k) * share, share)
        share[toward.row] += k
        alpha, beta = (moved, beta) if plus >= minus else (alpha, moved)
        return self._arrive(problem, alpha, beta, share, state.iteration + 1)

    def _arrive(
        self, problem: Objective, alpha: Array, beta: Array, share: Array, iteration: int
    ) -> State[KozinecMemory]:
        w = alpha - beta
        W = np.empty((1, len(w) + 1))
        W[0, 0], W[0, 1:] = -0.5 * float(np.vdot(w, alpha + beta)), w
        extremes = sides(problem, W)
        distance = length(w)
        smallest = min(extremes.negative.m, extremes.positive.m)
        unit = one_unit(problem)
        memory = KozinecMemory(
            lower=unit * smallest / distance if distance > 0 else -np.inf,
            upper=0.5 * unit * distance,
            longest=unit * max(length(alpha), length(beta)),
            errors=extremes.errors,
            alpha=alpha,
            beta=beta,
            share=share,
            extremes=extremes,
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
# Gram matrices of sparse rows or of differences are used only if the sizes of columns differ by at most this factor, so
# that rounding errors matter equally in all columns.
LARGEST_COLUMN_RATIO = 1e3
# An interior point step goes at most this share of the way to the boundary of α ≥ 0, ν ≥ 0.
BOUNDARY_SHARE = 0.995
SEARCHING = "searching the nearest points of the hulls"


class Support(NamedTuple):
    """Row numbers with weights > 0, which define a point of each class's hull, and the number of passes taken."""

    rows: Integers
    weights: Array
    rounds: int


@dataclass(frozen=True)
class Furthest:
    """The ``count`` smallest values of t w·x̄ in each class with their row numbers; ties go to the first rows."""

    W: Array
    count: int

    def zero(self) -> dict[int, tuple[Array, Integers]]:
        return {sign: (np.zeros(0), np.zeros(0, dtype=np.int64)) for sign in (-1, 1)}

    def add(self, total: dict[int, tuple[Array, Integers]], block: Block) -> dict[int, tuple[Array, Integers]]:
        z = block.scores(self.W)[:, 0]
        part = {}
        for sign in total:
            members = np.flatnonzero(block.t == sign)
            part[sign] = self._smallest(sign * z[members], block.start + members)
        return self.merge(total, part)

    def merge(
        self, a: dict[int, tuple[Array, Integers]], b: dict[int, tuple[Array, Integers]]
    ) -> dict[int, tuple[Array, Integers]]:
        return {
            sign: self._smallest(*(np.concatenate(part) for part in zip(a[sign], b[sign], strict=True))) for sign in a
        }

    def _smallest(self, m: Array, rows: Integers) -> tuple[Array, Integers]:
        if len(m) > self.count:  # keeps all ties for the last place, so that the first of them is chosen
            near = np.flatnonzero(m <= np.partition(m, self.count - 1)[self.count - 1])
            m, rows = m[near], rows[near]
        order = np.lexsort((rows, m))[: self.count]
        return m[order], rows[order]


def nearly_nearest(problem: Objective, w: Array) -> Support | None:
    """Rows and weights of nearly nearest points of the hulls, starting from a direction w (d,).

    An interior point method minimises ½‖Σ α_i t_i x_i‖² for a small set of rows, subject to α ≥ 0 and Σ α_i = 1 over
    the rows of each class (over all rows without an intercept). Then one pass finds the rows with the smallest
    t_i p·x_i, where p = Σ α_i t_i x_i, and adds them to the rows with α_i > 0. The search ends once the margin is
    within MARGIN_TOLERANCE of its upper bound ½‖p‖, or that bound falls by less.

    None if rows are not in memory or the hulls nearly touch: then the exact method starts without them.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> from separatrix.core.solvers.separation_problem import build_separation_objective
    >>> X, t = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, -1.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> nearly_nearest(build_separation_objective(memory_rows(X, t)), np.array([1.0, 0.0])).rows.tolist()
    [1, 2, 3]
    """
    resident = problem.rows.resident()
    if resident is None:
        return None
    rows, alpha, before = np.zeros(0, dtype=np.int64), np.zeros(0), np.inf
    rounds, sparse = 0, stays_sparse(resident, problem.fit_intercept)
    joining = min(MOST_ROWS_JOINED, ROWS_JOINED + ROWS_JOINED_PER_COLUMN * problem.rows.n_features)
    while rounds < MOST_HULL_ROUNDS:
        pulse(SEARCHING)
        rounds += 1
        furthest = problem.rows.fold(Furthest(np.concatenate([[0.0], w])[None, :], joining))
        # The margin of w times ‖w‖, from the smallest margins of the classes, and its upper bound.
        smallest = [float(m[0]) if len(m) else np.inf for m, _ in furthest.values()]
        margin, ceiling = min(smallest), float(w @ w)
        if problem.fit_intercept:
            margin, ceiling = 0.5 * sum(smallest), 0.5 * ceiling
        if len(rows) and (ceiling - margin <= MARGIN_TOLERANCE * ceiling or ceiling >= (1 - MARGIN_TOLERANCE) * before):
            break
        before = ceiling if len(rows) else np.inf
        joined = np.union1d(rows, np.concatenate([part for _, part in furthest.values()]))
        nearer = _among(resident.take(joined), problem.fit_intercept, sparse)
        if nearer is None:
            return None
        weights, w = nearer
        rows, alpha = joined[weights > 0], weights[weights > 0]
    return Support(rows, alpha, rounds)


def _among(few: Block, fit_intercept: bool, sparse: bool) -> tuple[Array, Array] | None:
    """The weights of these rows in the nearest points of their hulls, and the vector w between these points.

    None if a step of the interior point method fails or the hulls nearly touch.
    """
    P = signed_rows(few, sparse)
    first = _first_of_equal(P, few.t)  # duplicates would share a weight, and the exact method drops them one by one
    P, t = P[first], few.t[first]
    inside = _inside(P, t if fit_intercept else np.ones_like(t))
    if inside is None:
        return None
    w = np.asarray(inside @ P)
    weights = np.zeros(few.n_rows)
    weights[first] = inside
    apart = np.linalg.norm(w) > MARGIN_TOLERANCE * longest(P)
    return (weights, w) if apart else None


def _first_of_equal(P: Any, t: Array) -> Integers:
    """The indices of the rows of P, dense or CSR, that do not repeat an earlier row of the same class t.

    >>> _first_of_equal(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]), np.ones(3)).tolist()
    [0, 1]
    """
    if is_sparse(P):
        keys = [P.indices[i:j].tobytes() + P.data[i:j].tobytes() for i, j in pairwise(P.indptr)]
    else:
        keys = [row.tobytes() for row in P]
    first: dict[tuple[float, bytes], int] = {}
    for i, key in enumerate(zip(t.tolist(), keys, strict=True)):
        first.setdefault(key, i)
    return np.array(list(first.values()), dtype=np.int64)


def stays_sparse(rows: Block, fit_intercept: bool) -> bool:
    """Whether differences of these rows are stored as CSR: most entries are zero, and rounding errors stay small.

    With an intercept, the weights of the two classes cancel in every sum of signed rows, so the rows need no centring.
    In products of sparse rows, rounding errors are relative to the largest column, so columns must have similar sizes.
    """
    frame = rows.frame
    X: Any = rows.X
    if not is_sparse(X) or (frame.center.any() and not fit_intercept) or not frame.is_near or frame.is_extreme:
        return False
    if X.nnz > DENSEST_SPARSE_PRODUCT * X.shape[0] * X.shape[1]:
        return False
    sizes = abs(X).max(axis=0).toarray().ravel() / frame.scale
    return bool(sizes.max() <= LARGEST_COLUMN_RATIO * np.min(sizes[sizes > 0], initial=np.inf))


def signed_rows(few: Block, sparse: bool) -> Any:
    """The rows t_i x_i in the frame's coordinates, (m, d): dense, or ``sparse`` CSR rows that are not centred."""
    if not sparse:
        return few.t[:, None] * few.homogeneous()[:, 1:]
    from scipy.sparse import csr_array

    X: Any = few.X
    signed = X.data * np.repeat(few.t, np.diff(X.indptr)) / few.frame.scale[X.indices]
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
        newton = _Newton.of(G, E, alpha, nu)
        if newton is None:
            return None
        d_alpha, d_gamma, d_nu = newton.corrected(dual, primal, mu)
        size = BOUNDARY_SHARE * min(_reach(alpha, d_alpha), _reach(nu, d_nu))
        alpha, gamma, nu = alpha + size * d_alpha, gamma + size * d_gamma, nu + size * d_nu
    # One factor of each product α ν goes to zero. A row supports the solution if α is the larger one after scaling.
    weights = np.where(alpha / alpha.max() > nu / nu.max(), alpha, 0.0)
    sums = E @ weights
    return None if np.any(sums == 0) else np.asarray(weights * ((1.0 / sums) @ E))


def products(P: Any) -> Array:
    """P Pᵀ as a dense array, for dense rows or CSR rows P."""
    G = P @ P.T
    return np.asarray(G.toarray() if is_sparse(G) else G)


def _reach(value: Array, change: Array) -> float:
    """The longest step, at most 1, that leaves all values ≥ 0."""
    falling = change < 0
    return float(min(1.0, np.min(-value[falling] / change[falling], initial=np.inf)))


@dataclass(frozen=True)
class _Newton:
    """The equations of one step: (G + ν/α) dα − Eᵀ dγ = …, E dα = …, factored for two right-hand sides."""

    E: Array
    alpha: Array
    nu: Array
    factor: Factor
    solved: Array  # (G + ν/α)⁻¹ Eᵀ

    @classmethod
    def of(cls, G: Array, E: Array, alpha: Array, nu: Array) -> _Newton | None:
        H = G.copy()
        H[np.diag_indices_from(H)] += nu / alpha
        factor = Factor.of(H)
        return None if factor is None else cls(E, alpha, nu, factor, factor.solve(E.T))

    def corrected(self, dual: Array, primal: Array, mu: float) -> tuple[Array, Array, Array]:
        """Mehrotra's predictor-corrector step: the target for the products α ν is what a predictor step can reach.

        ``mu``: the mean of the products.
        """
        alpha, nu = self.alpha, self.nu
        d_alpha, _, d_nu = self.step(dual, primal, alpha * nu)
        reached = (alpha + _reach(alpha, d_alpha) * d_alpha) @ (nu + _reach(nu, d_nu) * d_nu)
        ahead = float(reached) / len(alpha)
        return self.step(dual, primal, alpha * nu + d_alpha * d_nu - (ahead / mu) ** 3 * mu)

    def step(self, dual: Array, primal: Array, product: Array) -> tuple[Array, Array, Array]:
        right = self.factor.solve(-dual - product / self.alpha)
        d_gamma: Array = np.linalg.solve(self.E @ self.solved, -primal - self.E @ right).astype(np.float64)
        d_alpha = right + self.solved @ d_gamma
        return d_alpha, d_gamma, -(product + self.nu * d_alpha) / self.alpha


# --- The point of an affine hull that is nearest to the origin, for dense and for sparse points

# The Gram matrix of the differences, which is faster than QR, is used only if each difference has at least this share
# of its length outside the span of those before it, and if the sizes of columns differ by at most LARGEST_COLUMN_RATIO,
# so that rounding errors matter equally in all columns.
SMALLEST_INDEPENDENT_SHARE = 1e-3
# A sparse difference counts as linearly dependent on the others if less than LARGEST_DEPENDENT_SHARE of its length is
# outside their span, or if it is shorter than NEGLIGIBLE_LENGTH_SHARE of the longest point: its inner products are then
# mostly rounding errors.
LARGEST_DEPENDENT_SHARE, NEGLIGIBLE_LENGTH_SHARE = 1e-6, 1e-5
# Sparse differences are converted to a dense array, for QR, only if it has at most this many entries (128 MB).
LARGEST_DENSE_COPY = 1 << 24


def affine_hulls(P: Any) -> Callable[[Integers], tuple[Array, Array]]:
    """A function that returns the nearest point of the affine hull of some of the points P.

    Its argument is the array of their indices. It returns their weights, which sum to 1 and may be negative, and the
    nearest point.

    >>> share, p = affine_hulls(np.array([[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]))(np.array([0, 1]))
    >>> share.round(12).tolist(), p.round(12).tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """
    if not is_sparse(P):
        return lambda kept: _nearest_by(P[kept], lambda A: _Gram.of(A) or _Reflected.of(A))
    G = products(P)

    def nearest(kept: Integers) -> tuple[Array, Array]:
        return _nearest_by(P[kept], lambda A: _sparse_span(A, G[np.ix_(kept, kept)]))

    return nearest


def _nearest_by(P: Any, span_of: Callable[[Any], _Gram | _SparseGram | _Reflected]) -> tuple[Array, Array]:
    """The point of the affine hull of P (k, d) nearest to the origin: its weights, which sum to 1, and the point p.

    The weights are those of least squares in the differences from the first point. If p is short compared with the
    points, nearly all digits cancel in their sum; therefore p is computed as the residual of the first point after
    projections.
    """
    x = P[[0]].toarray()[0] if is_sparse(P) else P[0]
    if P.shape[0] == 1:
        return np.ones(1), np.asarray(x)
    first = x
    if is_sparse(P):
        from scipy.sparse import csr_array

        first = csr_array(np.ones((P.shape[0] - 1, 1))) @ P[[0]]
    A = (P[1:] - first).T
    span = span_of(A)
    beta = np.zeros(A.shape[1])
    for _ in range(span.rounds):  # later rounds correct rounding errors
        beta += span.coefficients(-x - A @ beta)
    share = np.concatenate([[1.0 - beta.sum()], beta])
    for _ in range(span.rounds):
        x = x - span.projection(x)
    hull_point = np.asarray(share @ P)
    return share, x if x @ hull_point > 0 else hull_point


def _sparse_span(A: Any, products_of_points: Array) -> _SparseGram | _Reflected:
    """The span of sparse columns by their Gram matrix; by QR if they are nearly dependent and a dense copy is small."""
    span = _SparseGram.of(A, products_of_points)
    if span.smallest_share < SMALLEST_INDEPENDENT_SHARE and A.shape[0] * A.shape[1] <= LARGEST_DENSE_COPY:
        return _Reflected.of(A.toarray())
    return span


@dataclass(frozen=True)
class _Reflected:
    """The span of A's columns by Householder QR: A[order] = Q R, with rows sorted by size and columns by ``pivots``.

    So the error is small relative to the scale of each row of A, that is, each column of the table: Cox and Higham,
    Stability of Householder QR factorization for weighted least squares problems (1998).
    """

    order: Integers
    Q: Array
    R: Array
    pivots: Integers
    width: int
    rounds: ClassVar[int] = 2

    @classmethod
    def of(cls, A: Array) -> _Reflected:
        from scipy.linalg import qr

        order = np.argsort(-np.abs(A).max(axis=1), kind="stable")
        factors: Any = qr(A[order], mode="economic", pivoting=True, check_finite=False)
        Q, R, pivots = factors
        size = np.abs(np.diag(R))
        # Columns with smaller pivots depend on those before them.
        rank = int(np.sum(size > EPS * (A.shape[1] + 1) * size.max(initial=0.0)))
        return cls(order, Q[:, :rank], R[:rank, :rank], pivots[:rank], A.shape[1])

    def coefficients(self, r: Array) -> Array:
        """β with A β nearest to r."""
        from scipy.linalg import solve_triangular

        beta = np.zeros(self.width)
        beta[self.pivots] = solve_triangular(self.R, self.Q.T @ r[self.order])
        return beta

    def projection(self, r: Array) -> Array:
        """The projection A β of r onto the span."""
        projected = np.empty_like(r)
        projected[self.order] = self.Q @ (self.Q.T @ r[self.order])
        return projected


@dataclass(frozen=True)
class _Gram:
    """The span of A's columns by Cholesky of AᵀA, which is many times faster and as accurate under two conditions.

    A's rows must have similar sizes, and its columns must be far from linearly dependent. Each round of iterative
    refinement then gains as many digits as the condition number of AᵀA leaves (Björck, Numerical Methods for Least
    Squares Problems, 1996, section 2.9).
    """

    A: Array
    factor: Factor
    rounds: ClassVar[int] = 3

    @classmethod
    def of(cls, A: Array) -> _Gram | None:
        sizes = np.abs(A).max(axis=1)
        if A.shape[1] > A.shape[0] or sizes.max() > LARGEST_COLUMN_RATIO * np.min(sizes[sizes > 0], initial=np.inf):
            return None
        factor = Factor.of(A.T @ A)
        return None if factor is None or np.min(np.diag(factor.lower)) < SMALLEST_INDEPENDENT_SHARE else cls(A, factor)

    def coefficients(self, r: Array) -> Array:
        """β with A β nearest to r."""
        return self.factor.solve(self.A.T @ r)

    def projection(self, r: Array) -> Array:
        """The projection A β of r onto the span."""
        return np.asarray(self.A @ self.coefficients(r))


@dataclass(frozen=True)
class _SparseGram:
    """The span of sparse columns by their Gram matrix, without any dense array of size d × k.

    Columns that depend linearly on others get the coefficient zero. Each round gains fewer digits than for ``_Gram``,
    since the columns may be closer to linear dependence, so there are more rounds.
    """

    A: Any
    independent: Integers
    factor: Factor
    rounds: ClassVar[int] = 6

    @classmethod
    def of(cls, A: Any, products_of_points: Array) -> _SparseGram:
        """The span of the differences A from the first point, given the inner products of the points."""
        K = products_of_points
        G = K[1:, 1:] - K[1:, :1] - K[:1, 1:] + K[0, 0]
        longer = np.diag(G) > NEGLIGIBLE_LENGTH_SHARE**2 * np.max(np.diag(K))
        independent, factor = np.arange(len(G)), Factor.of(G) if longer.all() else None
        if factor is None or np.min(np.diag(factor.lower)) < SMALLEST_INDEPENDENT_SHARE:
            independent = _independent(G, np.flatnonzero(longer))
            factor = Factor.of(G[np.ix_(independent, independent)])
            assert factor is not None  # `_independent` keeps only pivots above rounding error
        return cls(A, independent, factor)

    @property
    def smallest_share(self) -> float:
        """The smallest share of a column's length outside the span of the columns before it."""
        return float(np.min(np.diag(self.factor.lower), initial=1.0))

    def coefficients(self, r: Array) -> Array:
        """β with A β nearest to r."""
        beta = np.zeros(self.A.shape[1])
        beta[self.independent] = self.factor.solve((self.A.T @ r)[self.independent])
        return beta

    def projection(self, r: Array) -> Array:
        """The projection A β of r onto the span."""
        return np.asarray(self.A @ self.coefficients(r))


def _independent(G: Array, among: Integers) -> Integers:
    """The linearly independent columns of those ``among``, by pivoted Cholesky of the Gram matrix G.

    They are in the order of their pivots. Columns with pivots below four times the rounding limit of ``Factor`` are
    dropped, so that the remaining ones can be factored.
    """
    from scipy.linalg.lapack import dpstrf

    if not len(among):
        return among
    d = np.sqrt(np.diag(G)[among])
    scaled = G[np.ix_(among, among)] / d / d[:, None]
    _, order, rank, _ = dpstrf(scaled, lower=1, tol=max(LARGEST_DEPENDENT_SHARE**2, 32 * len(G) * EPS))
    return np.asarray(among[order[:rank] - 1])


# --- Wolfe's algorithm

# Differences whose weight in p is smaller than this are dropped.
SMALLEST_HULL_WEIGHT = 1e-14
# Tables of at most this many columns and rows need no head start: in the plane 2 to 5 steps reach the nearest points of
# 500 rows, in 0.8 to 1.8 ms, and the head start takes 2 ms. From 3 columns on, or with 20 000 rows, it saves time.
MOST_COLUMNS_WITHOUT_START, MOST_ROWS_WITHOUT_START = 2, 5000


@dataclass(frozen=True, kw_only=True)
class NearestPointMemory(HullMemory):
    """Bounds on the margin, and p as a convex combination of differences.

    ``P`` (k, d), dense or CSR, holds the differences, ``pairs`` (k, 2) their rows (+, −), and ``mu`` their weights.
    ``furthest`` and ``furthest_pair``: the difference v with the smallest p·v, and its rows.
    """

    P: Any
    pairs: Integers
    mu: Array
    furthest: Array
    furthest_pair: Integers


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
    needs: ClassVar[frozenset[Need]] = frozenset()
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = False

    def init(self, problem: Objective, start: Array) -> State[NearestPointMemory]:
        """Start along the w of ``start``, or along the difference of the means if that is zero."""
        w = start[0, 1:] if start[0, 1:].any() else difference_of_means(problem)
        few = problem.rows.n_features <= MOST_COLUMNS_WITHOUT_START and problem.n_rows <= MOST_ROWS_WITHOUT_START
        near = nearly_nearest(problem, w) if self.head_start and not few else None
        if near is not None:
            P, pairs, mu = _differences(problem, near)
            kept, share, p = _nearest(P, mu)
            return self._arrive(problem, P[kept], pairs[kept], share, p, near.rounds)
        found = sides(problem, np.concatenate([[0.0], w])[None, :])
        point, pair = _difference(problem, found)
        return self._arrive(problem, point[None, :], pair[None, :], np.ones(1), point, 0)

    def step(
        self, problem: Objective, state: State[NearestPointMemory], budget: int | None = None
    ) -> State[NearestPointMemory]:
        memory = state.memory
        if np.any(np.all(memory.pairs == memory.furthest_pair, axis=1)):
            return replace(state, halt=Halt.STALLED)
        P = _joined(problem, memory)
        pairs = np.vstack([memory.pairs, memory.furthest_pair])
        kept, share, p = _nearest(P, np.append(memory.mu, 0.0))
        after = self._arrive(problem, P[kept], pairs[kept], share, p, state.iteration + 1)
        # A step that shortens p by a smaller share is treated as rounding error, and the search halts.
        if after.at.value >= state.at.value * (1.0 - 1e-15):
            wider = after.memory.lower > state.memory.lower  # the last support rows may add to the margin only
            return replace(after if wider else state, halt=Halt.STALLED)
        return after

    def _arrive(
        self, problem: Objective, P: Any, pairs: Integers, mu: Array, p: Array, iteration: int
    ) -> State[NearestPointMemory]:
        unit, half = one_unit(problem), 0.5 if problem.fit_intercept else 1.0
        # No margin exceeds the length of a point of the hull, whatever the direction w.
        upper = unit * half * float(np.linalg.norm(mu @ P))
        length = float(np.linalg.norm(p))
        found = sides(problem, np.concatenate([[0.0], p])[None, :])
        point, pair = _difference(problem, found)
        b = 0.5 * (found.negative.m - found.positive.m) if problem.fit_intercept else 0.0
        smallest = float(min(found.positive.m + b, found.negative.m - b))
        memory = NearestPointMemory(
            lower=unit * smallest / length if length > 0 else -np.inf,
            upper=upper,
            longest=unit * longest(P),
            P=P,
            pairs=pairs,
            mu=mu,
            furthest=point,
            furthest_pair=pair,
        )
        W = np.concatenate([[b], p])[None, :]
        return State(W, Evaluation(upper, np.zeros_like(W)), iteration, memory)

    def solution(self, problem: Objective, state: State[NearestPointMemory]) -> State[NearestPointMemory]:
        return state


def difference_of_means(problem: Objective) -> Array:
    """The mean of the positive rows less that of the negative ones, (d,)."""
    sums = problem.class_sums
    return np.asarray(sums[1, 1:] / sums[1, 0] - sums[0, 1:] / sums[0, 0])


def _difference(problem: Objective, found: Sides) -> tuple[Array, Integers]:
    """The difference v with the smallest p·v, and its rows (+, −); −1 stands for no row."""
    if problem.fit_intercept:
        return found.positive.x + found.negative.x, np.array([found.positive.row, found.negative.row])
    if found.positive.m <= found.negative.m:
        return found.positive.x, np.array([found.positive.row, -1])
    return found.negative.x, np.array([-1, found.negative.row])


def _joined(problem: Objective, memory: NearestPointMemory) -> Any:
    """P with ``furthest`` as an additional row; if P is sparse, that row is computed from its pair of table rows."""
    if not is_sparse(memory.P):
        return np.vstack([memory.P, memory.furthest])
    from scipy.sparse import csr_array, vstack

    block: Any = problem.rows.resident()
    pair = signed_rows(block.take(memory.furthest_pair[memory.furthest_pair >= 0]), sparse=True)
    return csr_array(vstack([memory.P, csr_array(pair.sum(axis=0)[None, :])]))


def _differences(problem: Objective, near: Support) -> tuple[Any, Integers, Array]:
    """The point p of ``near`` as a convex combination of few differences, with their rows (+, −) and weights.

    Rows of the two classes are paired by the north-west corner rule.
    """
    block: Any = problem.rows.resident()
    few = block.take(near.rows)
    P, t = signed_rows(few, stays_sparse(block, problem.fit_intercept)), few.t
    if not problem.fit_intercept:
        return P, np.where(np.column_stack([t > 0, t < 0]), near.rows[:, None], -1), near.weights
    positive, negative = np.flatnonzero(t > 0), np.flatnonzero(t < 0)
    ends = np.concatenate([np.cumsum(near.weights[positive]), np.cumsum(near.weights[negative])])
    ends = np.unique(np.minimum(ends, 1.0))
    mu = np.diff(ends, prepend=0.0)
    middle = ends - 0.5 * mu
    i, j = (
        own[np.minimum(np.searchsorted(np.cumsum(near.weights[own]), middle), len(own) - 1)]
        for own in (positive, negative)
    )
    kept = mu > SMALLEST_HULL_WEIGHT
    i, j, mu = i[kept], j[kept], mu[kept] / mu[kept].sum()
    return P[i] + P[j], np.column_stack([near.rows[i], near.rows[j]]), mu


def _nearest(P: Any, mu: Array) -> tuple[Integers, Array, Array]:
    """The point of the convex hull of P (k, d) nearest to the origin: the indices of its support, weights, the point.

    The search starts from the weights mu.
    """
    kept, nearest = np.arange(P.shape[0]), affine_hulls(P)
    while True:
        pulse(SEARCHING)
        share, p = nearest(kept)
        if np.all(share > SMALLEST_HULL_WEIGHT):
            return kept, share, p
        losing = share <= SMALLEST_HULL_WEIGHT
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(losing, mu / (mu - share), np.inf)
        reach[np.isnan(reach)] = 0.0
        first = int(np.argmin(reach))
        mu = np.maximum(mu + min(1.0, float(reach[first])) * (share - mu), 0.0)
        mu[first] = 0.0
        kept, mu = kept[mu > 0.0], mu[mu > 0.0]
        mu = mu / mu.sum()


def multipliers(state: State[NearestPointMemory]) -> tuple[Integers, Array]:
    """The support rows in ascending order, and their weights.

    The weights sum to 1 in each class, or over all rows without an intercept.
    """
    pairs, mu = state.memory.pairs, state.memory.mu
    rows = np.unique(pairs[pairs >= 0])
    weights = np.array([mu[np.any(pairs == row, axis=1)].sum() for row in rows])
    return rows, weights
