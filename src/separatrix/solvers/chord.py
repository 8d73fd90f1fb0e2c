r"""L-BFGS around second derivatives that are kept for many steps: cheap steps, and far fewer factors than Newton's.

Problem   min_W E(W), smooth and convex, with few enough parameters to factor ∇²E, but too many to do so at each step
Given     a start W, how many pairs to keep
Returns   W with E(W) near its minimum, in the directions that columns and penalty determine
Step      V = −B ∇E with B built from pairs around (∇²E)⁻¹ where it was last factored: at first the null model, whose
          second derivatives need no pass, then W wherever the steps still to come at the present rate would cost more
          than a factor. W ← W + αV, α from 1 by the weak Wolfe conditions
Stops     where the driver's rules say; by itself where ∇²E is singular or rounding hides any descent

Kept derivatives make Newton's method the chord method; Ortega and Rheinboldt, Iterative Solution of Nonlinear Equations
in Several Variables (1970), section 7.1. Pairs: Nocedal and Wright (2006), Algorithm 7.4.
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

# The rate is that of the last so many steps; a run is thought to end at this share of E, and a step to cost so many
# passes. A new factor is worth it where it saves this many times what it costs.
RECENT, FINE, PASSES_A_STEP, MOST_PASSES_FOR_CURVATURE = 3, 1e-10, 2, 1.5


@dataclass(frozen=True, kw_only=True)
class ChordMemory(PairsMemory):
    """Also the factor of ∇²E, None if that is singular, and half the squared decrements of the last steps around it."""

    factor: Factor | None
    decrements: tuple[float, ...] = ()


@dataclass(frozen=True)
class ChordNewton:
    """W ← W − α B ∇E, with B from the last ``pairs`` steps around a factor of ∇²E that is kept.

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
    by_sums: ClassVar[bool] = False  # the sample that stands for many rows depends on their order
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
        latest = (*memory.decrements, decrement)[-RECENT - 1 :]
        return replace(moved, memory=replace(moved.memory, decrements=latest), expected=decrement)

    def solution(self, problem: Objective, state: State[ChordMemory]) -> State[ChordMemory]:
        return state


def _is_slow(problem: Objective, state: State[ChordMemory]) -> bool:
    """Whether the steps still to come around this factor would cost more than a new one."""
    decrements = state.memory.decrements
    if len(decrements) <= RECENT or decrements[-1] <= FINE * state.at.value:
        return False
    rate = (decrements[-1] / decrements[0]) ** (1 / RECENT)
    if rate >= 1:
        return True
    to_come = PASSES_A_STEP * np.log(FINE * state.at.value / decrements[-1]) / np.log(rate)
    return bool(to_come > MOST_PASSES_FOR_CURVATURE * factor_passes(problem))


def _null_factor(problem: Objective) -> Factor | None:
    """Of ∇²E at the null model, from the columns' products."""
    R, Z, H = np.diag(problem.root_penalty**2), problem.subspace.Z, null_hessian(problem)
    R = R if Z is None else Z.T @ R @ Z
    return Factor.of(H + np.kron(np.eye(len(H) // len(R)), R))
