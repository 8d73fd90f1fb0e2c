r"""L-BFGS preconditioned by a Kronecker product, for many classes or many parameters (docs/tour.md, R7, R9).

Problem   min_W E(W), smooth and convex, with few enough columns to factor their Gram matrix
Given     a start W, the number of pairs to keep
Returns   W with E(W) near its minimum
Step      V = −B ∇E, with B built from pairs and B₀ the inverse of A ⊗ G + R: A is the mean curvature of the loss over
          the classes, G the columns' Gram matrix (of a sample, if there are many rows) and R the penalty's Hessian.
          B₀ is corrected to be exact on the span of the scores. W ← W + αV, α from 1 by the weak Wolfe conditions.
          The product is first that of the null model, and is computed again at W after 3 and 15 iterations. In a longer
          run the diagonal blocks of ∇²E(W) replace it. If a step lowers E by far less than B₀ predicts, steps up to the
          next refresh have B₀ = sᵀy/yᵀy, as in plain L-BFGS
Stops     by the driver's rules; by itself if rounding hides any descent

For softmax, Böhning 1992 bounds the Hessian by ½ (I − 11ᵀ/K) ⊗ G. The mean curvature is closer to the Hessian than this
bound. On 10 classes with correlated columns, the correction on the span of the scores (see ``class_inverse``) reduces
46 passes to 14. If classes are nearly separated, curvatures differ between rows, and the blocks at W are better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from separatrix.base.arrays import Array
from separatrix.objectives.problem import Objective
from separatrix.solvers import class_inverse
from separatrix.solvers.class_inverse import ClassInverse
from separatrix.solvers.quasi_newton_pairs import Pairs, PairsMemory, QuasiNewton
from separatrix.solvers.start import begun
from separatrix.solvers.state import Halt, Need, State

# The iterations at which the preconditioner is first computed again; each later refresh comes after twice as many
# iterations as the one before.
FIRST_REFRESH, SECOND_REFRESH = 3, 15
# From this iteration on a refresh uses the diagonal blocks of the Hessian instead of the Kronecker product.
FIRST_BLOCK_REFRESH = 30
# A preconditioner is no longer trusted after a step that lowers E by less than this share of what it predicts.
SMALLEST_SHARE_OF_PREDICTED = 0.1
# If the predicted decrease is a smaller share of E, a failed search is due to rounding and not to the preconditioner.
SMALLEST_PREDICTED_SHARE = 1e-8
# Second derivatives at W are summed over this many rows per column of the sample, and at least FEWEST_HESSIAN_ROWS.
ROWS_PER_COLUMN, FEWEST_HESSIAN_ROWS = 20, 5000


@dataclass(frozen=True, kw_only=True)
class KroneckerMemory(PairsMemory):
    """Pairs, the preconditioner (None if it is singular), and the iteration at which it is next computed again.

    ``trusted``: whether steps use the preconditioner.
    """

    inverse: ClassInverse | None
    refresh: int = FIRST_REFRESH
    trusted: bool = True


@dataclass(frozen=True)
class KroneckerLBFGS:
    """W ← W − α B ∇E, with B from the last ``pairs`` steps and B₀ the inverse of a Kronecker product.

    Parameters
    ----------
    pairs : int, default 20
        The number of last steps that B is computed from.

    Examples
    --------
    >>> KroneckerLBFGS(pairs=5)
    KroneckerLBFGS(pairs=5)
    """

    pairs: int = 20
    name: ClassVar[str] = "kronecker"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.GRAM, Need.STANDARD})
    by_sums: ClassVar[bool] = False  # the sample of rows depends on their order
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State[KroneckerMemory]:
        at = begun(problem, start)
        inverse = class_inverse.null_product(problem)
        halt = Halt.SINGULAR if inverse is None else None
        return State(start, at, memory=KroneckerMemory(inverse=inverse), halt=halt)

    def step(
        self, problem: Objective, state: State[KroneckerMemory], budget: int | None = None
    ) -> State[KroneckerMemory]:
        if state.memory.inverse is None:
            return replace(state, halt=Halt.SINGULAR)
        memory, inverse = _refreshed(problem, state, state.memory.inverse)
        space = problem.subspace
        method = QuasiNewton(problem, space.reduce, space.expand, self.pairs)
        before = space.reduce(state.at.gradient)
        predicted = 0.5 * float(before @ inverse.solve(before))
        moved = method.moved(state, memory, inverse.solve if memory.trusted else None)
        if moved.halt is Halt.STALLED and memory.trusted and predicted > SMALLEST_PREDICTED_SHARE * abs(state.at.value):
            moved = method.moved(state, replace(memory, trusted=False), None)
        if state.at.value - moved.at.value < SMALLEST_SHARE_OF_PREDICTED * predicted:
            moved = replace(moved, memory=replace(moved.memory, trusted=False))
        g = space.reduce(moved.at.gradient)
        return replace(moved, expected=0.5 * float(g @ inverse.solve(g)))

    def solution(self, problem: Objective, state: State[KroneckerMemory]) -> State[KroneckerMemory]:
        return state


def _refreshed(
    problem: Objective, state: State[KroneckerMemory], inverse: ClassInverse
) -> tuple[KroneckerMemory, ClassInverse]:
    """The memory and its preconditioner, which is computed again at W if a refresh is due."""
    memory = state.memory
    if state.iteration < memory.refresh:
        return memory, inverse
    block = problem.standing_sample
    stride = max(1, block.n_rows // max(ROWS_PER_COLUMN * problem.shape[1], FEWEST_HESSIAN_ROWS))
    block = block.take(slice(0, None, stride))
    if state.iteration < FIRST_BLOCK_REFRESH:
        pairs, anew = memory.pairs, class_inverse.product(problem, inverse, state.W, block)
    else:
        pairs, anew = Pairs(), class_inverse.blocks(problem, state.W, block)
    inverse = inverse if anew is None else anew
    refresh = max(SECOND_REFRESH, 2 * memory.refresh)
    return replace(memory, pairs=pairs, inverse=inverse, refresh=refresh, trusted=True), inverse
