r"""L-BFGS, the limited-memory quasi-Newton method (docs/tour.md, R7).

Problem   min_W E(W), smooth
Given     a start W, the number of pairs to keep
Returns   W with E(W) near its minimum
Step      V = −B ∇E with B built from pairs s = ΔW, y = Δ∇E by the two-loop recursion, scaled by sᵀy/yᵀy;
          W ← W + αV with α by the weak Wolfe conditions
Stops     by the driver's rules; by itself if rounding hides any descent

Liu and Nocedal 1989; Nocedal and Wright (2006), Algorithms 7.4 and 7.5. The two-loop recursion itself is in
``quasi_newton_pairs``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.objectives.problem import Objective
from separatrix.solvers.quasi_newton_pairs import PairsMemory, QuasiNewton
from separatrix.solvers.start import begun
from separatrix.solvers.state import Need, State


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
