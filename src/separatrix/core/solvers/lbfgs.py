"""L-BFGS, the limited-memory quasi-Newton method, and the steps of all quasi-Newton solvers (docs/tour.md, R7, R9).

Problem   min_W E(W), smooth
Given     a start W, the number of pairs to keep
Returns   W with E(W) near its minimum
Step      V = −B ∇E with B built from pairs s = ΔW, y = Δ∇E by the two-loop recursion, scaled by sᵀy/yᵀy;
          W ← W + αV with α by the weak Wolfe conditions
Stops     by the driver's rules; by itself if rounding hides any descent

The pairs turn an approximate inverse Hessian B₀ into B with B y = s for the last pair. The two-loop recursion computes
products with B without building it. Liu and Nocedal, On the limited memory BFGS method for large scale optimization,
Mathematical Programming 45 (1989); Nocedal and Wright, Numerical Optimization (2006), Algorithms 7.4 and 7.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import matmul
from typing import ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import ParameterError
from separatrix.core.newton_step import MOST_TRIALS, SUFFICIENT_DECREASE, VALUE_ROUNDING, Valued
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective
from separatrix.core.solvers.state import Halt, Need, State, begun

Inverse = Callable[[Array], Array]
# c₂ of the Wolfe conditions: the usual value for quasi-Newton methods (Nocedal and Wright 2006, section 3.1).
SUFFICIENT_CURVATURE = 0.9
# After this many trials, a search whose whole bracket is hidden by rounding is given up.
TRIALS_WITHIN_ROUNDING = 4


def two_loop_product(
    g: Array,
    pairs: Sequence[tuple[Array, Array, float | Array]],
    inverse: Inverse,
    dot: Callable[[Array, Array], float | Array] = matmul,
) -> Array:
    """B g with B₀ = ``inverse``; Nocedal and Wright (2006), Algorithm 7.4.

    ``pairs``: s, y and ρ = 1/sᵀy, oldest first; a pair with ρ = 0 has no effect. Arrays of shape (R, p), with ρ (R, 1)
    and a ``dot`` that returns (R, 1), compute the products of R problems at once.

    >>> s, y = np.array([1.0, 0.0]), np.array([2.0, 0.0])
    >>> two_loop_product(np.array([2.0, 3.0]), [(s, y, 0.5)], lambda q: q).tolist()
    [1.0, 3.0]
    """
    q, taken = g.copy(), list[float | Array]()
    for s, y, rho in reversed(pairs):
        taken.append(rho * dot(s, q))
        q -= taken[-1] * y
    q = inverse(q)
    for (s, y, rho), a in zip(pairs, reversed(taken), strict=True):
        q += (a - rho * dot(y, q)) * s
    return q


@dataclass(frozen=True)
class Pairs:
    """The pairs (s, y): ``S`` holds the steps and ``Y`` the gradient differences, oldest first."""

    S: tuple[Array, ...] = ()
    Y: tuple[Array, ...] = ()

    def product(self, g: Array, inverse: Inverse | None = None) -> Array:
        """B g with B₀ = ``inverse``, by default sᵀy/yᵀy times the identity.

        >>> Pairs((np.array([1.0, 0.0]),), (np.array([2.0, 0.0]),)).product(np.array([2.0, 0.0])).tolist()
        [1.0, 0.0]
        """
        pairs = [(s, y, 1.0 / float(s @ y)) for s, y in zip(self.S, self.Y, strict=True)]
        return two_loop_product(g, pairs, inverse or self._scaled)

    def _scaled(self, q: Array) -> Array:
        """(sᵀy/yᵀy) q with the last pair; q if there is no pair."""
        return q * ((self.S[-1] @ self.Y[-1]) / (self.Y[-1] @ self.Y[-1])) if len(self.S) else q

    def with_pair(self, s: Array, y: Array, most: int) -> Pairs:
        """Add a pair and keep the last ``most``. A pair without positive curvature is ignored."""
        if not s @ y > 1e-12 * np.linalg.norm(s) * np.linalg.norm(y):
            return self
        return Pairs((*self.S, s)[-most:], (*self.Y, y)[-most:])


class Descent(NamedTuple):
    """The lowest E and the smallest gradient norm of a run so far, and ``idle``, the number of steps since either fell.

    The norm has to fall by at least a tenth. Steps are compared with the whole run and not with the step before: once
    only rounding errors are left, the steps may repeat each other, and every second one lowers E in its last digit.
    """

    value: float
    norm: float
    idle: int = 0

    def after(self, value: float, norm: float) -> Descent:
        """Update with E and the gradient norm after a step.

        >>> start = Descent(2.0, 1.0)
        >>> start.after(1.0, 3.0).idle, start.after(2.0, 0.95).idle
        (0, 1)
        """
        lower = value < self.value or norm < 0.9 * self.norm
        return Descent(min(value, self.value), min(norm, self.norm), 0 if lower else self.idle + 1)


@dataclass(frozen=True)
class PairsMemory:
    """The memory of every quasi-Newton method: its pairs, and the descent so far, None before the first step."""

    pairs: Pairs = Pairs()
    descent: Descent | None = None


OwnMemory = TypeVar("OwnMemory", bound=PairsMemory)


class ValuedTogether(Valued, Protocol):
    """A problem whose values and gradients at several points are computed in one pass.

    ``most_together``: how many points are worth it; one where rows cost little to read.
    """

    @property
    def most_together(self) -> int: ...
    def value_gradients(self, Ws: Sequence[Array]) -> list[Evaluation]: ...


@dataclass(frozen=True)
class QuasiNewton:
    """One step W ← W − α B ∇E by the weak Wolfe conditions, in the coordinates of ``reduce`` and ``expand``."""

    problem: ValuedTogether
    reduce: Callable[[Array], Array]
    expand: Callable[[Array], Array]
    most: int

    def step(
        self, W: Array, at: Evaluation, pairs: Pairs, inverse: Inverse | None, first: float = 1.0
    ) -> tuple[Array, Evaluation, Pairs] | None:
        """The next point, E there, and the pairs including that of this step; None if rounding hides any descent."""
        g = self.reduce(at.gradient)
        reached = wolfe_search(self.problem, W, at, -self.expand(pairs.product(g, inverse)), first)
        if reached is None and len(pairs.S):  # the pairs may mislead: search again without them
            pairs = Pairs()
            reached = wolfe_search(self.problem, W, at, -self.expand(pairs.product(g, inverse)))
        if reached is None:
            return None
        to, there = reached
        return to, there, pairs.with_pair(self.reduce(to - W), self.reduce(there.gradient) - g, self.most)

    def moved(
        self, state: State, memory: OwnMemory, inverse: Inverse | None, patience: int = 3, first: float = 1.0
    ) -> State[OwnMemory]:
        """The state after a step from ``state`` with the given memory.

        It halts if rounding hides any descent, or after ``patience`` consecutive idle steps.
        """
        after = self.step(state.W, state.at, memory.pairs, inverse, first)
        if after is None:
            return State(state.W, state.at, state.iteration, memory, Halt.STALLED, state.expected)
        W, at, pairs = after
        before, norm = (float(np.linalg.norm(there.gradient)) for there in (state.at, at))
        descent = (memory.descent or Descent(state.at.value, before)).after(at.value, norm)
        memory = replace(memory, pairs=pairs, descent=descent)
        return State(W, at, state.iteration + 1, memory, Halt.STALLED if descent.idle >= patience else None)


@dataclass(frozen=True)
class LBFGS:
    """W ← W − α B ∇E, with B from the last ``pairs`` steps.

    Parameters
    ----------
    pairs : int, default 20
        The number of last steps that B is computed from.

    Examples
    --------
    >>> LBFGS(pairs=5)
    LBFGS(pairs=5)
    """

    pairs: int = 20
    name: ClassVar[str] = "lbfgs"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.STANDARD})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise ParameterError("pairs", f"got {self.pairs}", "keep at least one pair")

    def init(self, problem: Objective, start: Array) -> State[PairsMemory]:
        return State(start, begun(problem, start), memory=PairsMemory())

    def step(self, problem: Objective, state: State[PairsMemory], budget: int | None = None) -> State[PairsMemory]:
        memory, g = state.memory, state.at.gradient
        first = 1.0 if len(memory.pairs.S) else min(1.0, 1.0 / max(float(np.linalg.norm(g)), 1e-300))
        method = QuasiNewton(problem, np.ravel, lambda v: v.reshape(g.shape), self.pairs)
        return method.moved(state, memory, None, first=first)

    def solution(self, problem: Objective, state: State[PairsMemory]) -> State[PairsMemory]:
        return state


def wolfe_search(
    problem: ValuedTogether, W: Array, at: Evaluation, V: Array, first: float = 1.0
) -> tuple[Array, Evaluation] | None:
    """The accepted point and E there; None if no step along V lowers E. ``first``: the step length to begin with.

    With φ(α) = E(W + αV), the weak Wolfe conditions on α are

        φ(α) ≤ φ(0) + c₁ α φ′(0)          E decreases enough (Armijo), and
        φ′(α) ≥ c₂ φ′(0)                  the step is long enough, which makes sᵀy > 0.

    They are met by bisection: Lewis and Overton 2013, Algorithm 2.6. Rows outside memory are read once for several
    trials, those that bisection may try next. This does not change which step is accepted.
    """
    slope = float((at.gradient * V).sum())
    if not slope < 0:
        return None
    rounding = VALUE_ROUNDING * abs(at.value)
    low, high, alpha = 0.0, np.inf, first
    known: dict[float, Evaluation] = {}
    for trial in range(MOST_TRIALS):
        if alpha not in known:  # The first step is nearly always accepted.
            lengths = [alpha] if trial == 0 else _coming(low, high, alpha)[: problem.most_together]
            known = dict(zip(lengths, problem.value_gradients([W + length * V for length in lengths]), strict=True))
        there = known[alpha]
        if not there.value <= at.value + SUFFICIENT_DECREASE * alpha * slope + rounding:
            high = alpha
        elif np.sum(there.gradient * V) < SUFFICIENT_CURVATURE * slope:
            low = alpha
        else:
            return W + alpha * V, there
        # Rounding hides what a shorter step would gain: by the slope, at most −slope · high.
        if trial >= TRIALS_WITHIN_ROUNDING and -slope * high <= rounding:
            return None
        alpha = 2 * alpha if np.isinf(high) else 0.5 * (low + high)
    return None


def _coming(low: float, high: float, alpha: float) -> list[float]:
    """The step lengths that may be tried from alpha on, in the order in which they are likely to be needed.

    >>> _coming(0.0, 1.0, 0.5), _coming(1.0, np.inf, 2.0)
    ([0.5, 0.25, 0.125, 0.75], [2.0, 4.0, 8.0])
    """
    if np.isinf(high):
        return [alpha, 2 * alpha, 4 * alpha]
    shorter = 0.5 * (low + alpha)
    return [alpha, shorter, 0.5 * (low + shorter), 0.5 * (alpha + high)]
