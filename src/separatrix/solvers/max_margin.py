r"""The hyperplane of maximum margin, exactly: Wolfe's nearest point in a polytope. TEXTBOOK P10.

Problem   minimise ‖w‖ subject to t_i (w·x_i + b) ≥ 1; the same as the nearest points of the classes' convex hulls,
          that is the shortest vector p in the hull of all differences x_i − x_j of a row of + and a row of −
          (without an intercept: in the hull of the rows t_i x_i)
Given     rows of two classes
Returns   w ∝ p, b in the middle between the classes; the rows that p is made of, and their weights
Step      find in one pass the difference that lies furthest against p; add it to the few that p is made of; move to
          the nearest point of their affine hull, dropping those that would get a negative weight, until none would
Stops     where the rules say: when the margin is within rounding of ½‖p‖, which no margin exceeds, or p is zero;
          by itself where rounding hides any descent

Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976). Each step shortens p and no set
of differences comes twice, so it ends; the nearest point of an affine hull is where the conditions of Karush, Kuhn
and Tucker hold as equations. They are solved by Householder reflections with pivoting, columns in order of size: the
error is then small in each column's own unit (Cox and Higham, Stability of Householder QR factorization for weighted
least squares problems, 1998). p itself cancels nearly all digits of the differences where the margin is narrow beside
them, so the direction is not their sum but what is left of one of them after two projections.

``State.at.value`` is ½‖p‖ (‖p‖ without an intercept); the gradient is left at zero: nothing stops on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import Array, Integers
from separatrix.objective import Evaluation, Objective
from separatrix.solvers.kozinec import Sides, one_unit, sides
from separatrix.solvers.state import Halt, Need, State

# Weights in the hull below this are dropped.
NO_WEIGHT = 1e-14
# A step that shortens p by less than this, relatively, is rounding.
NO_GAIN = 1e-15
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class NearestPoint:
    """p = the shortest vector in the hull of {x_i − x_j}.

    >>> from separatrix.solvers.separating import pose_separation
    >>> problem = pose_separation(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0]))
    >>> state = NearestPoint().init(problem, np.zeros((1, 2)))
    >>> plane = NearestPoint().solution(problem, state).W[0]
    >>> float(-plane[0] / plane[1])
    1.0
    """

    name: ClassVar[str] = "nearest-point"
    needs: ClassVar[frozenset[Need]] = frozenset()
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = False

    def init(self, problem: Objective, start: Array) -> State:
        """From the difference furthest along the start's w; by default along the difference of the means."""
        w = start[0, 1:]
        if not w.any():
            sums = problem.class_sums
            w = sums[1, 1:] / sums[1, 0] - sums[0, 1:] / sums[0, 0]
        found = sides(problem, np.concatenate([[0.0], w])[None, :])
        point, pair = _difference(problem, found)
        return self._arrive(problem, point[None, :], pair[None, :], np.ones(1), point, 0)

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        memory = state.memory
        if np.any(np.all(memory["pairs"] == memory["next_pair"], axis=1)):
            return replace(state, halt=Halt.STALLED)
        P = np.vstack([memory["P"], memory["next"]])
        pairs = np.vstack([memory["pairs"], memory["next_pair"]])
        kept, share, p = _nearest(P, np.append(memory["mu"], 0.0))
        after = self._arrive(problem, P[kept], pairs[kept], share, p, state.iteration + 1)
        if after.at.value >= state.at.value * (1.0 - NO_GAIN):
            return replace(state, halt=Halt.STALLED)
        return after

    def _arrive(self, problem: Objective, P: Array, pairs: Integers, mu: Array, p: Array, iteration: int) -> State:
        unit, half = one_unit(problem), 0.5 if problem.fit_intercept else 1.0
        # No margin exceeds the length of a point of the hull, whatever direction w is then taken along.
        upper = unit * half * float(np.linalg.norm(mu @ P))
        length = float(np.linalg.norm(p))
        found = sides(problem, np.concatenate([[0.0], p])[None, :])
        point, pair = _difference(problem, found)
        b = 0.5 * (found.negative.m - found.positive.m) if problem.fit_intercept else 0.0
        smallest = float(min(found.positive.m + b, found.negative.m - b))
        memory: dict[str, Any] = {"P": P, "pairs": pairs, "mu": mu, "next": point, "next_pair": pair}
        memory |= {"upper": upper, "lower": unit * smallest / length if length > 0 else -np.inf}
        memory |= {"longest": unit * float(np.linalg.norm(P, axis=1).max()), "mistakes": iteration}
        W = np.concatenate([[b], p])[None, :]
        return State(W, Evaluation(upper, np.zeros_like(W)), iteration, memory)

    def solution(self, problem: Objective, state: State) -> State:
        return state


def _difference(problem: Objective, found: Sides) -> tuple[Array, Integers]:
    """The vertex furthest against p, and its rows (+, −); −1 for none."""
    if problem.fit_intercept:
        return found.positive.x + found.negative.x, np.array([found.positive.row, found.negative.row])
    if found.positive.m <= found.negative.m:
        return found.positive.x, np.array([found.positive.row, -1])
    return found.negative.x, np.array([-1, found.negative.row])


def _nearest(P: Array, mu: Array) -> tuple[Integers, Array, Array]:
    """Which of the points P (k, d) make the nearest point of their hull, their weights, from weights mu, and it."""
    kept = np.arange(len(P))
    while True:
        share, p = _affine(P[kept])
        if np.all(share > NO_WEIGHT):
            return kept, share, p
        losing = share <= NO_WEIGHT
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(losing, mu / (mu - share), np.inf)
        reach[np.isnan(reach)] = 0.0
        first = int(np.argmin(reach))
        mu = np.maximum(mu + min(1.0, float(reach[first])) * (share - mu), 0.0)
        mu[first] = 0.0
        kept, mu = kept[mu > 0.0], mu[mu > 0.0]
        mu = mu / mu.sum()


def _affine(P: Array) -> tuple[Array, Array]:
    """The point nearest to the origin in the affine hull of P, its weights first, which sum to 1; by least squares.

    >>> share, p = _affine(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> share.round(12).tolist(), p.round(12).tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """
    from scipy.linalg import qr, solve_triangular

    if len(P) == 1:
        return np.ones(1), np.asarray(P[0])
    order = np.argsort(-np.abs(P[1:] - P[0]).max(axis=0), kind="stable")
    A, x = (P[1:] - P[0]).T[order], P[0][order]
    Q, R, pivots = qr(A, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > EPS * len(P) * size.max(initial=0.0)))  # differences beyond it depend on the others
    Q, R, pivots = Q[:, :rank], R[:rank, :rank], pivots[:rank]
    beta, p = np.zeros(A.shape[1]), np.empty_like(x)
    for _ in range(2):  # the second time what rounding left over
        beta[pivots] += solve_triangular(R, Q.T @ (-x - A @ beta))
    share = np.concatenate([[1.0 - beta.sum()], beta])
    for _ in range(2):
        x = x - Q @ (Q.T @ x)
    p[order] = x
    hull_point = share @ P
    return share, p if p @ hull_point > 0 else hull_point


def multipliers(state: State) -> tuple[Integers, Array]:
    """The support rows in order, and their weights: they sum to 1 in each class (over all without an intercept)."""
    pairs, mu = state.memory["pairs"], state.memory["mu"]
    rows = np.unique(pairs[pairs >= 0])
    weights = np.array([mu[np.any(pairs == row, axis=1)].sum() for row in rows])
    return rows, weights
