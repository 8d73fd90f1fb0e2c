r"""The exact hyperplane of maximum margin, by Wolfe's algorithm for the nearest point in a polytope.

See docs/tour.md, P10.

Problem   minimise ‖w‖ subject to t_i (w·x_i + b) ≥ 1; the same as the nearest points of the classes' convex hulls,
          that is the shortest vector p in the hull of all differences x_i − x_j of a row of + and a row of −
          (without an intercept: in the hull of the rows t_i x_i)
Given     rows of two classes
Returns   w ∝ p, b midway between the classes; the rows with positive weight in p (the support), and their weights
Step      find in one pass the difference v with the smallest p·v; add it to the few differences of which p is a convex
          combination; move to the point of their affine hull nearest to the origin, and drop differences with negative
          weights, until there are none
Stops     by the rules: when the margin is within rounding error of ½‖p‖, which no margin exceeds, or p is zero;
          by itself if rounding hides any descent

The start is a pair of nearly nearest points of the hulls from the interior point method of ``hull_start``, so that few
steps are left; or, for few rows of one or two columns, with m the difference of the means, the difference v with the
smallest m·v.

Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976). Each step shortens p and no set
of differences occurs twice, so the method is finite. At the nearest point of an affine hull, the conditions of Karush,
Kuhn and Tucker are linear equations (``affine_hulls``). Differences of sparse rows are stored as sparse.

``State.at.value`` is ½‖p‖ (‖p‖ without an intercept). The gradient is set to zero; no rule uses it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.watching import pulse
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows.csr import is_sparse
from separatrix.solvers.hull_start import SEARCHING, Support, longest, nearly_nearest, signed_rows, stays_sparse
from separatrix.solvers.separating.affine_hulls import affine_hulls
from separatrix.solvers.separating.kozinec import Sides, one_unit, sides
from separatrix.solvers.separating.search_memories import HullMemory
from separatrix.solvers.state import Halt, Need, State

# Differences whose weight in p is smaller than this are dropped.
SMALLEST_HULL_WEIGHT = 1e-14
# Tables of at most this many columns and rows need no head start: in the plane 2 to 5 steps reach the nearest points of
# 500 rows, in 0.8 to 1.8 ms, and the head start takes 2 ms. From 3 columns on, or with 20 000 rows, it saves time.
MOST_COLUMNS_WITHOUT_START, MOST_ROWS_WITHOUT_START = 2, 5000
# A step that shortens p by less than this share of its length is treated as rounding error, and the search halts.
SMALLEST_SHORTENING = 1e-15


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

    Parameters
    ----------
    head_start : bool, default True
        Whether to start from an approximate solution, computed on few rows.

    Examples
    --------
    >>> from separatrix.rows import memory_rows
    >>> from separatrix.solvers.separating.separation_objective import build_separation_objective
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
        near = nearly_nearest(problem, w) if self.head_start and not _needs_few_steps(problem) else None
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
        if after.at.value >= state.at.value * (1.0 - SMALLEST_SHORTENING):
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


def _needs_few_steps(problem: Objective) -> bool:
    """Whether the steps from a single difference take less time than a head start."""
    return problem.rows.n_features <= MOST_COLUMNS_WITHOUT_START and problem.n_rows <= MOST_ROWS_WITHOUT_START


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
