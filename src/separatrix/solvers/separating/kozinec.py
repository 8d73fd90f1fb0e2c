r"""Kozinec's algorithm for two classes, and its ε-version (docs/tour.md, P9).

Problem   the nearest points of the convex hulls of two classes; their bisector is the hyperplane of maximum margin
Given     rows of two classes
Returns   α and β, a point in the hull of each class; w = α − β, b = −(‖α‖² − ‖β‖²)/2, the bisector
Step      take the row x of a class that is furthest in the direction of the other class, as measured along w from α
          or β; move that point along the segment to x, to where ‖α − β‖ is smallest:
          α ← (1 − k) α + k x, k = min(1, w·(α − x)/‖α − x‖²), likewise β
Stops     by the rules: at the first separation, or once ½‖α − β‖ (no margin is larger) is within ε of the
          smallest distance of a row to the hyperplane

Kozinec, Recurrent algorithm separating convex hulls of two sets (1973); Schlesinger and Hlaváč, Ten Lectures on
Statistical and Structural Pattern Recognition (2002), sections 5.4–5.5. α and β start at the means of the classes.

``State.at.value`` is ½‖α − β‖, which never increases. The gradient is set to zero; no rule uses it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers, all_true, inner, length
from separatrix.base.errors import ParameterError
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows import Block
from separatrix.solvers.separating.search_memories import HullMemory
from separatrix.solvers.state import Halt, Need, State, in_memory


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
    if not all_true(scale == scale[0]):
        raise ParameterError("problem", "its frame scales columns differently", "use one scale: distances depend on it")
    return float(scale[0])


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

    >>> from separatrix.rows import memory_rows
    >>> from separatrix.solvers.separating.separation_objective import build_separation_objective
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
        plus = inner(w, alpha) - inner(w, extremes.positive.x)
        minus = -inner(w, beta) - inner(w, extremes.negative.x)
        toward = extremes.positive if plus >= minus else extremes.negative
        point, x = (alpha, toward.x) if plus >= minus else (beta, -toward.x)
        away = point - x
        squared = inner(away, away)
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
        W[0, 0], W[0, 1:] = -0.5 * inner(w, alpha + beta), w
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
