r"""Chord Newton: L-BFGS preconditioned by a factor of the Hessian that is reused for many steps.

Problem   min_W E(W), smooth and convex, with few enough parameters to factor ∇²E, but too many to do so in every step
Given     a start W, the number of pairs to keep
Returns   W with E(W) near its minimum, in the directions that columns and penalty determine
Step      V = −B ∇E, with B built from pairs and B₀ = (∇²E)⁻¹ at the point where ∇²E was last factored. The first factor
          is that of the null model, which needs no pass. ∇²E is factored again at W if, at the present rate, the
          remaining steps would cost more than a new factor. W ← W + αV, α from 1 by the weak Wolfe conditions
Stops     by the driver's rules; by itself if ∇²E is singular or rounding hides any descent

Newton's method with a fixed Hessian is the chord method: Ortega and Rheinboldt, Iterative Solution of Nonlinear
Equations in Several Variables (1970), section 7.1. Pairs: Nocedal and Wright (2006), Algorithm 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.factor import Factor
from separatrix.objectives.null_model import null_hessian
from separatrix.objectives.pass_costs import factor_passes
from separatrix.objectives.problem import Objective
from separatrix.solvers.quasi_newton_pairs import Pairs, PairsMemory, QuasiNewton
from separatrix.solvers.start import begun
from separatrix.solvers.state import Halt, Need, State

# The rate of convergence is estimated from this many of the latest steps.
STEPS_FOR_RATE = 3
# The run is assumed to end once half the squared Newton decrement is at most this share of E.
FINAL_SHARE = 1e-10
# The assumed cost of a step, in passes.
PASSES_PER_STEP = 2
# The Hessian is factored again if the remaining steps cost more than this many times as much as a factor.
SAVING_PER_COST = 1.5


@dataclass(frozen=True, kw_only=True)
class ChordMemory(PairsMemory):
    """Pairs, the factor of ∇²E (None if singular), and half the squared Newton decrements of the last steps with it."""

    factor: Factor | None
    decrements: tuple[float, ...] = ()


@dataclass(frozen=True)
class ChordNewton:
    """W ← W − α B ∇E, with B from the last ``pairs`` steps and a factor of ∇²E that is reused.

    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> start = ChordNewton().init(problem, np.zeros((1, 2)))
    >>> ChordNewton().step(problem, start).at.value < start.at.value
    True
    """

    pairs: int = 20
    name: ClassVar[str] = "chord"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.HESSIAN, Need.STANDARD})
    by_sums: ClassVar[bool] = False  # the sample of rows depends on their order
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State[ChordMemory]:
        at = begun(problem, start)
        factor = problem.factor(start) if np.any(start) else _null_factor(problem)
        halt = Halt.SINGULAR if factor is None else None
        return State(start, at, memory=ChordMemory(factor=factor), halt=halt)

    def step(self, problem: Objective, state: State[ChordMemory], budget: int | None = None) -> State[ChordMemory]:
        space, memory = problem.subspace, state.memory
        if _is_slow(problem, state):
            memory = replace(memory, pairs=Pairs(), factor=problem.factor(state.W), decrements=())
        factor = memory.factor
        if factor is None:
            return replace(state, halt=Halt.SINGULAR)
        moved = QuasiNewton(problem, space.reduce, space.expand, self.pairs).moved(state, memory, factor.solve)
        g = space.reduce(moved.at.gradient)
        decrement = 0.5 * float(g @ factor.solve(g))
        latest = (*memory.decrements, decrement)[-STEPS_FOR_RATE - 1 :]
        return replace(moved, memory=replace(moved.memory, decrements=latest), expected=decrement)

    def solution(self, problem: Objective, state: State[ChordMemory]) -> State[ChordMemory]:
        return state


def _is_slow(problem: Objective, state: State[ChordMemory]) -> bool:
    """Whether the remaining steps with this factor would cost more than a new factor."""
    decrements = state.memory.decrements
    if len(decrements) <= STEPS_FOR_RATE or decrements[-1] <= FINAL_SHARE * state.at.value:
        return False
    rate = (decrements[-1] / decrements[0]) ** (1 / STEPS_FOR_RATE)
    if rate >= 1:
        return True
    to_come = PASSES_PER_STEP * np.log(FINAL_SHARE * state.at.value / decrements[-1]) / np.log(rate)
    return bool(to_come > SAVING_PER_COST * factor_passes(problem))


def _null_factor(problem: Objective) -> Factor | None:
    """The factor of ∇²E at the null model, from the columns' Gram matrix; None if it is singular."""
    space, R = problem.subspace, np.diag(problem.root_penalty**2)
    R = R if space.Z is None else space.Z.T @ R @ space.Z
    n_contrasts = problem.shape[0] if space.Q is None else space.Q.shape[1]
    return Factor.of(null_hessian(problem) + np.kron(np.eye(n_contrasts), R))
