r"""L-BFGS preconditioned by a Kronecker product, for many classes or many parameters. TEXTBOOK R7, R9.

Problem   min_W E(W), smooth and convex, with few enough columns to factor their Gram matrix
Given     a start W, how many pairs to keep
Returns   W with E(W) near its minimum
Step      V = −B ∇E with B built from pairs around the inverse of a product A ⊗ G + R, A the classes' mean curvature and
          G the columns' Gram matrix (of a sample, where rows are many), exact on the span of the scores.
          W ← W + αV, α from 1 by the weak Wolfe conditions. The product is that of the null model at first, and
          computed again at W after 3 and 15 iterations; in a longer run the diagonal blocks of ∇²E(W) replace it
Stops     by the driver's rules; by itself where rounding hides any descent

For softmax Böhning 1992 bounds the Hessian by ½ (I − 11ᵀ/K) ⊗ G. The mean curvature comes closer than the bound; with
the span of the scores (see ``class_inverse``) it takes 14 passes where it alone takes 46, for 10 classes of correlated
columns. If classes are nearly separated, curvatures differ between rows, and blocks at W are better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from separatrix.base.arrays import Array
from separatrix.objectives.problem import Objective
from separatrix.solvers import class_inverse
from separatrix.solvers.class_inverse import ClassInverse
from separatrix.solvers.quasi_newton_pairs import Pairs, QuasiNewton
from separatrix.solvers.start import begun
from separatrix.solvers.state import Halt, Need, State

# The iterations of the first two refreshes of the preconditioner; each later one comes after twice as many iterations.
FIRST_REFRESH, SECOND_REFRESH = 3, 15
# From this iteration on a refresh uses diagonal blocks.
FIRST_BLOCK_REFRESH = 30
# Second derivatives at W are summed over this many rows per column of the sample, and at least FEWEST_HESSIAN_ROWS.
ROWS_PER_COLUMN, FEWEST_HESSIAN_ROWS = 20, 5000


@dataclass(frozen=True)
class KroneckerLBFGS:
    """W ← W − α B ∇E, with B from the last ``pairs`` steps around the inverse of a product.

    >>> KroneckerLBFGS(pairs=5)
    KroneckerLBFGS(pairs=5)
    """

    pairs: int = 20
    name: ClassVar[str] = "kronecker"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.GRAM, Need.STANDARD})
    by_sums: ClassVar[bool] = False  # the sample of rows depends on their order
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State:
        at = begun(problem, start)
        inverse = class_inverse.null_product(problem)
        if inverse is None:
            return State(start, at, halt=Halt.SINGULAR)
        return State(
            start, at, memory={**Pairs().remembered(), **inverse.remembered(), "idle": 0, "refresh": FIRST_REFRESH}
        )

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        state, space = _refreshed(problem, state), problem.subspace
        held = ClassInverse.of(state.memory)
        method = QuasiNewton(problem, space.reduce, space.expand, self.pairs)
        moved = method.moved(state, held.solve)
        g = space.reduce(moved.at.gradient)
        return replace(moved, expected=0.5 * float(g @ held.solve(g)))

    def solution(self, problem: Objective, state: State) -> State:
        return state


def _refreshed(problem: Objective, state: State) -> State:
    """The state with a new preconditioner at its W, if a refresh is due."""
    if state.iteration < state.memory["refresh"]:
        return state
    block = problem.standing_sample
    stride = max(1, block.n_rows // max(ROWS_PER_COLUMN * problem.shape[1], FEWEST_HESSIAN_ROWS))
    block = block.take(slice(0, None, stride))
    memory = {**state.memory, "refresh": max(SECOND_REFRESH, 2 * state.memory["refresh"])}
    if state.iteration < FIRST_BLOCK_REFRESH:
        inverse = class_inverse.product(problem, ClassInverse.of(state.memory), state.W, block)
    else:
        inverse = class_inverse.blocks(problem, state.W, block)
        memory.update(Pairs().remembered())
    if inverse is not None:
        memory.update(inverse.remembered())
    return replace(state, memory=memory)
