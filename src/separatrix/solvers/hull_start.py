r"""Approximate nearest points of two convex hulls, as a warm start for the exact method.

Problem   minimise ½‖Σ α_i t_i x_i‖² subject to α ≥ 0, Σ α_i = 1 over the rows of each class (over all rows without an
          intercept); the minimum is half the squared distance of the hulls, (2ρ)²/2 with ρ the largest margin
Given     rows of two classes
Returns   row numbers and their weights α, few of them positive
Step      an interior point method solves the problem for a small set of rows: Newton steps inside α > 0 on the
          conditions of Karush, Kuhn and Tucker. Then one pass finds the rows with the smallest t_i p·x_i, where
          p = Σ α_i t_i x_i, and adds them to the rows with α_i > 0
Stops     once the margin is within MARGIN_TOLERANCE of its upper bound ½‖p‖, or that bound falls by less

Mehrotra, On the implementation of a primal-dual interior point method, SIAM Journal on Optimization 2 (1992). Newton's
equations are solved with the m × m matrix of inner products of m rows, so many columns cost no more than few.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.watching import pulse
from separatrix.objectives.factor import Factor
from separatrix.objectives.problem import Objective
from separatrix.rows import Block
from separatrix.rows.block import DENSEST_SPARSE_PRODUCT
from separatrix.rows.csr import is_sparse

# The number of rows of each class that are added to the small problem in each round. At most d + 1 rows support the
# nearest point of a hull, so few columns need few rows; problems of a few hundred rows take milliseconds.
MOST_ROWS_JOINED, ROWS_JOINED, ROWS_JOINED_PER_COLUMN = 192, 8, 4
# The warm start ends when the margin is within this share of its upper bound; the exact method does the rest.
MARGIN_TOLERANCE = 1e-6
# The most passes over the rows, and the most interior point steps on each small problem.
MOST_HULL_ROUNDS, MOST_INTERIOR_STEPS = 40, 60
# Interior point steps end at this complementarity, relative to the largest squared length of a row: float64 cannot
# improve on it.
SMALLEST_COMPLEMENTARITY = 1e-17
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

    None if rows are not in memory or the hulls nearly touch: then the exact method starts without them.

    >>> from separatrix.rows import memory_rows
    >>> from separatrix.solvers.separating.separation_objective import build_separation_objective
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
        margin, ceiling = _margin_and_ceiling(problem, furthest, w)
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


def _margin_and_ceiling(
    problem: Objective, furthest: dict[int, tuple[Array, Integers]], w: Array
) -> tuple[float, float]:
    """The margin of w times ‖w‖, from the smallest margins of the classes, and its upper bound."""
    half = 2.0 if problem.fit_intercept else 1.0
    smallest = [float(m[0]) if len(m) else np.inf for m, _ in furthest.values()]
    return sum(smallest) / half if problem.fit_intercept else min(smallest), float(w @ w) / half


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
        if mu <= SMALLEST_COMPLEMENTARITY or (close and _small(dual)):
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


def _small(dual: Array) -> bool:
    return bool(np.max(np.abs(dual)) <= 1e-12)


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
