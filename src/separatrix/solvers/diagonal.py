r"""L-BFGS with a diagonal preconditioner, for sparse rows with many columns (docs/tour.md, R7).

Problem   min_W E(W), smooth and convex, with too many columns for a Gram matrix
Given     a start W, the number of pairs to keep
Returns   W with E(W) near its minimum
Step      V = −B ∇E, with B built from pairs and B₀ = γ D⁻¹. D is the diagonal of ∇²E at the null model (a column's
          second moment times the loss's curvature, plus the penalty's curvature), and γ = sᵀy / yᵀD⁻¹y of the last
          pair; W ← W + αV, α from 1 by the weak Wolfe conditions
Stops     by the driver's rules; by itself if rounding hides any descent

Liu and Nocedal 1989; Gilbert and Lemaréchal, Some numerical experiments with variable-storage quasi-Newton algorithms
(1989), for a diagonal B₀. Rows of a sparse table share few columns, so the Hessian is nearly D where columns have few
nonzero entries, and the pairs approximate the rest. In standard coordinates the intercept is nearly orthogonal to the
columns. If rows are short and the columns' nonzero entries coincide, dual coordinate descent (`dual.py`) is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.objectives.problem import Objective
from separatrix.solvers.compiled import CompiledSums
from separatrix.solvers.quasi_newton_pairs import PairsMemory, QuasiNewton
from separatrix.solvers.start import begun
from separatrix.solvers.state import Need, State

# The run ends after this many consecutive steps that lower neither the objective nor the gradient, because further
# changes are rounding errors.
MOST_IDLE_STEPS = 3


@dataclass(frozen=True, kw_only=True)
class DiagonalMemory(PairsMemory):
    """The memory of L-BFGS, and the diagonal D, (K (d + 1),)."""

    D: Array


@dataclass(frozen=True)
class DiagonalLBFGS:
    """W ← W − α B ∇E, with B from the last ``pairs`` steps and B₀ = γ D⁻¹.

    Parameters
    ----------
    pairs : int, default 10
        The number of last steps that B is computed from.

    Examples
    --------
    >>> DiagonalLBFGS(pairs=5)
    DiagonalLBFGS(pairs=5)
    """

    pairs: int = 10  # 20 pairs save few passes and double the work between them
    name: ClassVar[str] = "diagonal"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.STANDARD})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise ParameterError("pairs", f"got {self.pairs}", "keep at least one pair")

    def init(self, problem: Objective, start: Array) -> State[DiagonalMemory]:
        compiled = CompiledSums.of(problem)
        moments = problem.root_second_moments**2 if compiled is None else compiled.second_moments()
        memory = DiagonalMemory(D=_diagonal(problem, moments))
        at = (compiled or problem).value_gradient(start) if np.any(start) else begun(problem, start)
        return State(start, at, memory=memory)

    def step(
        self, problem: Objective, state: State[DiagonalMemory], budget: int | None = None
    ) -> State[DiagonalMemory]:
        pairs, D, g = state.memory.pairs, state.memory.D, state.at.gradient
        scale = 1.0
        if len(pairs.S):
            y = pairs.Y[-1]
            scale = float(pairs.S[-1] @ y) / float(y @ (y / D))
        method = QuasiNewton(CompiledSums.of(problem) or problem, np.ravel, lambda v: v.reshape(g.shape), self.pairs)
        return method.moved(state, state.memory, lambda q: scale * q / D, MOST_IDLE_STEPS)

    def solution(self, problem: Objective, state: State[DiagonalMemory]) -> State[DiagonalMemory]:
        return state


def _diagonal(problem: Objective, moments: Array) -> Array:
    """The diagonal of ∇²E at the null model, (K (d + 1),); its entry is 1 if E does not depend on the weight.

    For softmax the diagonal is the same for all classes: the mean over their contrasts. With a diagonal that differs
    between classes, steps would have components along common shifts of all scores, where only the penalty has
    curvature.
    """
    share = problem.class_sums[:, 0] / problem.total_weight
    if problem.loss.traits.multiclass:
        p = share if problem.fit_intercept else np.full(len(share), 1.0 / len(share))
        curvature = float(1.0 - p @ p) / (len(p) - 1)
    else:
        curvature = float(share @ problem.loss.curvature_product(problem.targets, np.zeros(2), np.ones(2)))
    D = curvature * moments + problem.root_penalty**2
    return np.tile(np.where(D > 0, D, 1.0), problem.shape[0])
