"""L-BFGS, the limited-memory quasi-Newton method, around a preconditioner (docs/tour.md, R7, R9).

Problem   min_W E(W), smooth
Given     a start W, a preconditioner, the number of pairs to keep
Returns   W with E(W) near its minimum, in the directions that columns and penalty determine
Step      V = −B ∇E with B built from B₀ and pairs s = ΔW, y = Δ∇E by the two-loop recursion; W ← W + αV with α by the
          weak Wolfe conditions. The preconditioner B₀ approximates (∇²E)⁻¹ (``core/solvers/preconditioners.py``)
Stops     by the driver's rules; by itself if B₀ is singular or rounding hides any descent

The pairs turn B₀ into B with B y = s for the last pair. The two-loop recursion computes products with B without
building it. Liu and Nocedal, On the limited memory BFGS method for large scale optimization, Mathematical Programming
45 (1989); Nocedal and Wright, Numerical Optimization (2006), Algorithms 7.4 and 7.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import ParameterError
from separatrix.core.newton_step import MOST_TRIALS, SUFFICIENT_DECREASE, VALUE_ROUNDING, Valued
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective
from separatrix.core.solvers.registry import suited_preconditioner
from separatrix.core.solvers.state import Halt, Need, State

# c₂ of the Wolfe conditions: the usual value for quasi-Newton methods (Nocedal and Wright 2006, section 3.1).
SUFFICIENT_CURVATURE = 0.9
# After this many trials, a search whose whole bracket is hidden by rounding is given up.
TRIALS_WITHIN_ROUNDING = 4
# A run ends after this many consecutive steps that lower neither E nor its gradient: further changes are rounding.
MOST_IDLE_STEPS = 3
# B₀ is left out after a step that lowers E by less than this share of the decrease that it predicts, unless that is a
# smaller share of E than SMALLEST_PREDICTION: then rounding hides the decrease.
LEAST_SHARE_OF_PREDICTION, SMALLEST_PREDICTION = 0.1, 1e-8


# --- The inverse Hessian from pairs


def two_loop_product(
    g: Array,
    pairs: Sequence[tuple[Array, Array, float | Array]],
    inverse: Callable[[Array], Array],
    dot: Callable[[Array, Array], Any] = np.vdot,
) -> Array:
    """B g with B₀ = ``inverse``; Nocedal and Wright (2006), Algorithm 7.4.

    ``pairs``: s, y and ρ = 1/⟨s, y⟩, oldest first; a pair with ρ = 0 has no effect. Arrays of shape (R, p), with ρ
    (R, 1) and a ``dot`` that returns (R, 1), compute the products of R problems at once.

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

    def product(self, g: Array, inverse: Callable[[Array], Array]) -> Array:
        """B g with B₀ = ``inverse``.

        >>> Pairs((np.array([1.0]),), (np.array([2.0]),)).product(np.array([2.0]), lambda q: q).tolist()
        [1.0]
        """
        pairs = [(s, y, 1.0 / float(np.vdot(s, y))) for s, y in zip(self.S, self.Y, strict=True)]
        return two_loop_product(g, pairs, inverse)

    def with_pair(self, s: Array, y: Array, most: int) -> Pairs:
        """Add a pair and keep the last ``most``. A pair without positive curvature is ignored."""
        if not np.vdot(s, y) > 1e-12 * np.linalg.norm(s) * np.linalg.norm(y):
            return self
        return Pairs((*self.S, s)[-most:], (*self.Y, y)[-most:])


class ValuedTogether(Valued, Protocol):
    """A problem whose values and gradients at several points are computed in one pass.

    ``most_together``: how many points are worth it; one where rows cost little to read.
    """

    @property
    def most_together(self) -> int: ...
    def value_gradients(self, Ws: Sequence[Array]) -> list[Evaluation]: ...


def quasi_newton_step(
    problem: ValuedTogether, W: Array, at: Evaluation, pairs: Pairs, inverse: Callable[[Array], Array], most: int
) -> tuple[Array, Evaluation, Pairs] | None:
    """W − α B ∇E, E there, and the pairs with that of this step; None if rounding hides any descent.

    ``inverse``: B₀; ``most``: the most pairs to keep.
    """
    reached = wolfe_search(problem, W, at, -pairs.product(at.gradient, inverse))
    if reached is None and pairs.S:  # the pairs may mislead: search again without them
        pairs = Pairs()
        reached = wolfe_search(problem, W, at, -inverse(at.gradient))
    if reached is None:
        return None
    to, there = reached
    return to, there, pairs.with_pair(to - W, there.gradient - at.gradient, most)


# --- The method


class InverseEstimate(Protocol):
    """An approximate inverse Hessian B₀.

    ``estimates``: whether ½ ⟨∇E, B₀∇E⟩ estimates E − min E. Otherwise steps multiply B₀ by ⟨s, y⟩/⟨y, B₀y⟩ of the last
    pair, which gives it the right size.
    """

    estimates: ClassVar[bool]

    def times(self, problem: Objective, G: Array) -> Array:
        """B₀ G, for a gradient G (K, d + 1)."""


class Preconditioner(Protocol):
    """The settings of an approximate inverse Hessian B₀: how it is built, and when it is built again.

    ``needs`` and ``by_sums`` are those of ``Solver``.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[Need]]
    by_sums: ClassVar[bool]

    def begin(self, problem: Objective, start: Array) -> tuple[Array, Evaluation, InverseEstimate | None]:
        """The first weights of the run, E there, and B₀; None if the Hessian is singular."""

    def renewed(self, problem: Objective, state: State[LBFGSMemory]) -> InverseEstimate | None:
        """B₀ for the next step: that of the state, or one that is built at its weights."""


@dataclass(frozen=True)
class DiagonalInverse:
    """B₀ = D⁻¹ for a diagonal D, (K, d + 1), or a number."""

    D: Array | float = 1.0
    estimates: ClassVar[bool] = False

    def times(self, problem: Objective, G: Array) -> Array:
        return G / self.D


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
class LBFGSMemory:
    """What a run keeps between steps.

    ``inverse``: B₀, None if it is singular; ``trusted``: whether steps use it. ``decrements``: ``half_decrement`` at
    every state since B₀ was built.
    """

    preconditioner: Preconditioner
    inverse: InverseEstimate | None
    descent: Descent
    decrements: tuple[float, ...]
    pairs: Pairs = Pairs()
    trusted: bool = True


@dataclass(frozen=True)
class LBFGS:
    """W ← W − α B ∇E, with B from a preconditioner B₀ and the last ``pairs`` steps.

    Parameters
    ----------
    preconditioner : Preconditioner, optional
        ``Sample()``, ``Chord()``, ``Kronecker()``, ``Diagonal()`` or ``Identity()``. By default, the one that suits the
        problem.
    pairs : int, default 10
        The number of last steps that B is computed from.

    Examples
    --------
    >>> LBFGS(pairs=5)
    LBFGS(preconditioner=None, pairs=5)
    """

    preconditioner: Preconditioner | None = None
    pairs: int = 10  # 20 pairs save few passes, and double the work between them
    name: ClassVar[str] = "lbfgs"
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise ParameterError("pairs", f"got {self.pairs}", "keep at least one pair")

    @property
    def needs(self) -> frozenset[Need]:
        own = frozenset({Need.SMOOTH, Need.RIDGE, Need.STANDARD})
        return own if self.preconditioner is None else own | self.preconditioner.needs

    @property
    def by_sums(self) -> bool:
        return self.preconditioner is not None and self.preconditioner.by_sums

    def init(self, problem: Objective, start: Array) -> State[LBFGSMemory]:
        preconditioner = self.preconditioner or suited_preconditioner(problem)[0]
        W, at, inverse = preconditioner.begin(problem, start)
        descent = Descent(at.value, float(np.linalg.norm(at.gradient)))
        return _around(problem, State(W, at), preconditioner, inverse, descent)

    def step(self, problem: Objective, state: State[LBFGSMemory], budget: int | None = None) -> State[LBFGSMemory]:
        inverse = state.memory.preconditioner.renewed(problem, state)
        if inverse is not state.memory.inverse:
            state = _around(problem, state, state.memory.preconditioner, inverse, state.memory.descent)
        if inverse is None:
            return state
        memory, predicted = state.memory, state.memory.decrements[-1]
        tells = predicted > SMALLEST_PREDICTION * abs(state.at.value)
        found = self._moved(problem, state, inverse if memory.trusted else DiagonalInverse())
        if found is None and memory.trusted and tells:
            memory = replace(memory, trusted=False)
            found = self._moved(problem, state, DiagonalInverse())
        if found is None:
            return replace(state, halt=Halt.STALLED)
        W, at, pairs = found
        short = tells and state.at.value - at.value < LEAST_SHARE_OF_PREDICTION * predicted
        decrement = half_decrement(problem, inverse, at)
        after = replace(
            memory,
            pairs=pairs,
            descent=memory.descent.after(at.value, float(np.linalg.norm(at.gradient))),
            decrements=(*memory.decrements, decrement),
            trusted=memory.trusted and not short,
        )
        halt = Halt.STALLED if after.descent.idle >= MOST_IDLE_STEPS else None
        return State(W, at, state.iteration + 1, after, halt, decrement)

    def _moved(
        self, problem: Objective, state: State[LBFGSMemory], inverse: InverseEstimate
    ) -> tuple[Array, Evaluation, Pairs] | None:
        """The step with B₀ = ``inverse``, which is given its size by the last pair if it needs that."""
        pairs, size = state.memory.pairs, 1.0
        if pairs.S and not inverse.estimates:
            s, y = pairs.S[-1], pairs.Y[-1]
            size = float(np.vdot(s, y) / np.vdot(y, inverse.times(problem, y)))
        return quasi_newton_step(
            problem, state.W, state.at, pairs, lambda G: size * inverse.times(problem, G), self.pairs
        )

    def solution(self, problem: Objective, state: State[LBFGSMemory]) -> State[LBFGSMemory]:
        return state


def _around(
    problem: Objective, state: State, preconditioner: Preconditioner, inverse: InverseEstimate | None, descent: Descent
) -> State[LBFGSMemory]:
    """The state with a new B₀ and without pairs; halted if B₀ is singular."""
    decrement = np.nan if inverse is None else half_decrement(problem, inverse, state.at)
    memory = LBFGSMemory(preconditioner, inverse, descent, (decrement,))
    halt = Halt.SINGULAR if inverse is None else None
    return State(state.W, state.at, state.iteration, memory, halt, decrement)


def half_decrement(problem: Objective, inverse: InverseEstimate, at: Evaluation) -> float:
    """½ ⟨∇E, B₀∇E⟩, which is E − min E if E is quadratic with the Hessian B₀⁻¹; NaN if B₀ does not estimate it."""
    return 0.5 * float(np.vdot(at.gradient, inverse.times(problem, at.gradient))) if inverse.estimates else np.nan


# --- The line search


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
