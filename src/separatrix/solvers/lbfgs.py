r"""L-BFGS: quasi-Newton with the last few steps as memory. TEXTBOOK R7.

Problem   min_W E(W), smooth
Given     a start W, how many pairs to keep
Returns   W with E(W) near its minimum
Step      V = −B ∇E with B built from pairs s = ΔW, y = Δ∇E by the two-loop recursion, scaled by sᵀy/yᵀy;
          W ← W + αV with α by the weak Wolfe conditions
Stops     where the driver's rules say; by itself where rounding hides any descent

Liu and Nocedal 1989; Nocedal and Wright (2006), Algorithms 7.4 and 7.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from separatrix.arrays import Array
from separatrix.errors import ParameterError
from separatrix.objective import Objective
from separatrix.solvers.line_search import search
from separatrix.solvers.state import Halt, Need, State


@dataclass(frozen=True)
class LBFGS:
    """W ← W − α B ∇E, with B from the last ``pairs`` steps.

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

    def init(self, problem: Objective, start: Array) -> State:
        nothing = np.empty((0, start.size))
        return State(start, problem.value_gradient(start), memory={"S": nothing, "Y": nothing})

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        S, Y = state.memory["S"], state.memory["Y"]
        g = state.at.gradient
        V = -two_loop(S, Y, g.ravel()).reshape(g.shape)
        first = 1.0 if len(S) else min(1.0, 1.0 / max(float(np.linalg.norm(g)), 1e-300))
        found = search(problem, state.W, state.at, V, first, curvature=0.9)
        if found is None and len(S):  # the memory may mislead: once more along the gradient
            S, Y = S[:0], Y[:0]
            found = search(problem, state.W, state.at, -g, 1.0, curvature=0.9)
        if found is None:
            return replace(state, halt=Halt.STALLED)
        W, at = found
        s, y = (W - state.W).ravel(), (at.gradient - g).ravel()
        if s @ y > 1e-12 * np.linalg.norm(s) * np.linalg.norm(y):
            S, Y = np.vstack([S, s])[-self.pairs :], np.vstack([Y, y])[-self.pairs :]
        lower = at.value < state.at.value or np.linalg.norm(at.gradient) < 0.9 * np.linalg.norm(g)
        idle = 0 if lower else state.memory.get("idle", 0) + 1
        memory = {"S": S, "Y": Y, "idle": idle}
        return State(W, at, state.iteration + 1, memory, Halt.STALLED if idle >= 3 else None)

    def solution(self, problem: Objective, state: State) -> State:
        return state


def two_loop(S: Array, Y: Array, g: Array, inverse: Callable[[Array], Array] | None = None) -> Array:
    """B g, with the pairs in the rows of S and Y, oldest first, around ``inverse``, by default sᵀy/yᵀy times one.

    >>> two_loop(np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]]), np.array([2.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    q = g.copy()
    rho = [1.0 / float(s @ y) for s, y in zip(S, Y, strict=True)]
    taken = np.zeros(len(S))
    for i in range(len(S) - 1, -1, -1):
        taken[i] = rho[i] * (S[i] @ q)
        q -= taken[i] * Y[i]
    if inverse is not None:
        q = inverse(q)
    elif len(S):
        q *= (S[-1] @ Y[-1]) / (Y[-1] @ Y[-1])
    for i in range(len(S)):
        q += (taken[i] - rho[i] * (Y[i] @ q)) * S[i]
    return q
