"""Newton's method (iteratively reweighted least squares) with a line search (docs/tour.md, R7).

Problem   min_W E(W), smooth and convex, with few enough parameters to factor ∇²E
Given     a start W
Returns   W with E(W) near its minimum, in the directions that columns and penalty determine
Step      V = −(∇²E)⁻¹ ∇E by a scaled Cholesky factor; W ← W + αV, α from 1 by halving (Armijo). From W = 0 on a small
          dense table, α starts near the minimum along V (``first_multiple``)
Stops     by the driver's rules; by itself if ∇²E is singular or rounding hides any descent

Nocedal and Wright, Numerical Optimization (2006), Algorithm 3.2; for logistic regression, Hastie, Tibshirani
and Friedman, The Elements of Statistical Learning (2009), section 4.4.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.linear_algebra import Factor
from separatrix.core.newton_step import damped_step, newton_direction
from separatrix.core.null_model import factor_at_zero
from separatrix.core.objective_sums import first_multiple
from separatrix.core.problem import Objective
from separatrix.core.solvers.state import Halt, Need, State, begun


class NewtonMemory(NamedTuple):
    """The last step: its direction, the factor of ∇²E, and the weights ``start`` at which it began."""

    direction: Array
    factor: Factor
    start: Array


@dataclass(frozen=True)
class Newton:
    """W ← W − α (∇²E)⁻¹ ∇E.

    >>> import numpy as np
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> start = Newton().init(problem, np.zeros((1, 2)))
    >>> Newton().step(problem, start).at.value < start.at.value
    True
    """

    name: ClassVar[str] = "newton"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.HESSIAN, Need.STANDARD})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State[NewtonMemory | None]:
        return State(start, begun(problem, start))

    @np.errstate(over="ignore", under="ignore", invalid="ignore")
    def step(
        self, problem: Objective, state: State[NewtonMemory | None], budget: int | None = None
    ) -> State[NewtonMemory | None]:
        at_zero = state.iteration == 0 and not np.count_nonzero(state.W)
        factor = (factor_at_zero(problem) if at_zero else None) or problem.factor(state.W, at=state.at)
        if factor is None:
            return replace(state, halt=Halt.SINGULAR)
        direction = newton_direction(problem, state.at.gradient, factor)
        slope = float(np.vdot(state.at.gradient, direction))
        multiple = 1.0
        if at_zero and problem.dense_table is not None:
            multiple = first_multiple(problem, direction, slope)
        reached = damped_step(problem, state.W, state.at, multiple * direction, multiple * slope)
        if reached is None:
            return replace(state, halt=Halt.STALLED)
        W, at = reached
        lower = at.value < state.at.value or np.linalg.norm(at.gradient) < 0.5 * np.linalg.norm(state.at.gradient)
        memory = NewtonMemory(direction, factor, state.W)
        return State(W, at, state.iteration + 1, memory, None if lower else Halt.STALLED)

    def solution(self, problem: Objective, state: State[NewtonMemory | None]) -> State[NewtonMemory | None]:
        return state
