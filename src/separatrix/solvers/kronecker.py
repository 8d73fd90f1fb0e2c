r"""L-BFGS around a Kronecker product: many classes, or more parameters than a Hessian is worth. TEXTBOOK R7, R9.

Problem   min_W E(W), smooth and convex, with few enough columns to factor their Gram matrix
Given     a start W, how many pairs to keep
Returns   W with E(W) near its minimum
Step      V = −B ∇E with B built from pairs around the inverse of A ⊗ G + R: A (K, K) the loss's mean curvature at
          the null model, G the Gram matrix of the columns (of a sample, where rows are many), R the penalty's. With
          A = U Λ Uᵀ that is K factors of λ_k G + R. W ← W + αV, α from 1 by the weak Wolfe conditions. A run that is
          long has left the null model: then the diagonal blocks of ∇²E(W), one a class, take the product's place
Stops     where the driver's rules say; by itself where rounding hides any descent

The Hessian is a mean of products of the same two kinds, a class's and a column's; for softmax Böhning 1992 bounds it
by ½ (I − 11ᵀ/K) ⊗ G. The mean curvature comes closer than the bound: on correlated columns of 10 classes it takes
half the passes. Where classes are nearly separated curvatures differ by row, and only blocks at W know it: on
handwritten digits they take a fifth of the passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import Array
from separatrix.factor import Factor
from separatrix.objective import Objective
from separatrix.rows import some_rows
from separatrix.solvers.pairs import Pairs, QuasiNewton
from separatrix.solvers.state import Halt, Need, State
from separatrix.sums import ClassHessians

# Iterations after which blocks at W replace the product; each later refreshment comes after twice as many.
LONG = 24
# Rows that a block is summed over: so many a column, and no fewer than the second.
ROWS_A_COLUMN, FEWEST = 20, 5000


@dataclass(frozen=True)
class KroneckerLBFGS:
    """W ← W − α B ∇E, with B from the last ``pairs`` steps around (A ⊗ G + R)⁻¹.

    >>> KroneckerLBFGS(pairs=5)
    KroneckerLBFGS(pairs=5)
    """

    pairs: int = 20
    name: ClassVar[str] = "kronecker"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.GRAM, Need.STANDARD})
    by_sums: ClassVar[bool] = False  # the sample that stands for many rows depends on their order
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State:
        at = problem.value_gradient(start)
        kept = _factors(problem)
        if kept is None:
            return State(start, at, halt=Halt.SINGULAR)
        return State(start, at, memory={**Pairs().remembered(), **kept, "idle": 0, "refresh": LONG})

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        state, space = _refreshed(problem, state), problem.subspace
        held = _Inverse(**{name: state.memory[name] for name in ("U", "lower", "d")})
        method = QuasiNewton(problem, space.reduce, space.expand, self.pairs)
        found = method.step(state.W, state.at, Pairs.of(state.memory), held.solve)
        if found is None:
            return replace(state, halt=Halt.STALLED)
        W, at, pairs = found
        g = space.reduce(at.gradient)
        idle = 0
        if not (at.value < state.at.value or np.linalg.norm(at.gradient) < 0.9 * np.linalg.norm(state.at.gradient)):
            idle = state.memory["idle"] + 1
        memory = {**state.memory, **pairs.remembered(), "idle": idle}
        halt = Halt.STALLED if idle >= 3 else None
        return State(W, at, state.iteration + 1, memory, halt, 0.5 * float(g @ held.solve(g)))

    def solution(self, problem: Objective, state: State) -> State:
        return state


@dataclass(frozen=True)
class _Inverse:
    """(U ⊗ I) diag(H_k)⁻¹ (Uᵀ ⊗ I), with a factor of each H_k in ``lower`` (K, r, r) and ``d`` (K, r)."""

    U: Array
    lower: Array
    d: Array

    def solve(self, g: Array) -> Array:
        turned = self.U.T @ g.reshape(len(self.U), -1)
        parts = [Factor(L, d).solve(part) for L, d, part in zip(self.lower, self.d, turned, strict=True)]
        return np.asarray(self.U @ np.array(parts)).ravel()


def _factored(problem: Objective, U: Array, curvatures: Iterable[Array]) -> dict[str, Any] | None:
    """The arrays of an inverse; None where a factor is singular to working precision."""
    Z = problem.subspace.Z
    R = np.diag(problem.root_penalty**2)
    found = [Factor.of(H + R if Z is None else Z.T @ (H + R) @ Z) for H in curvatures]
    kept = [factor for factor in found if factor is not None]
    if len(kept) < len(found):
        return None
    return {"U": U, "lower": np.array([f.lower for f in kept]), "d": np.array([f.d for f in kept])}


def _factors(problem: Objective) -> dict[str, Any] | None:
    """The inverse of A ⊗ G + R."""
    A, Q = _mean_curvature(problem), problem.subspace.Q
    values, U = np.linalg.eigh(A if Q is None else Q.T @ A @ Q)
    return _factored(problem, U, (value * problem.sample_gram for value in values))


def _refreshed(problem: Objective, state: State) -> State:
    """The state with blocks of second derivatives at its W, where it is time for them."""
    if state.iteration < state.memory["refresh"]:
        return state
    block = problem.sampled.standing_for(problem.targets, problem.class_sums[:, 0])
    stride = max(1, block.n_rows // max(ROWS_A_COLUMN * problem.shape[1], FEWEST))
    block = block.take(np.arange(0, block.n_rows, stride))
    blocks = some_rows(block).fold(ClassHessians(problem.loss, state.W)) / float(block.weight.sum())
    Q = problem.subspace.Q
    kept = _factored(problem, np.eye(1) if Q is None else Q.T, blocks)
    memory = {**state.memory, "refresh": 2 * state.memory["refresh"]}
    if kept is not None:
        memory.update(**Pairs().remembered(), **kept)
    return replace(state, memory=memory)


def _mean_curvature(problem: Objective) -> Array:
    """Σ over classes of their share times ∂²ℓ/∂z², at the null model's scores for softmax, else at zero: (K, K)."""
    share = problem.class_sums[:, 0] / problem.total_weight
    if not problem.loss.traits.multiclass:
        return np.atleast_2d(share @ problem.loss.curvature_product(problem.targets, np.zeros(2), np.ones(2)))
    K = problem.n_classes
    z = np.tile(np.log(np.maximum(share, 1e-12)) if problem.fit_intercept else np.zeros(K), (K, 1))
    along = [problem.loss.curvature_product(problem.targets, z, np.tile(e, (K, 1))) for e in np.eye(K)]
    return np.asarray(np.einsum("t,kts->ks", share, np.array(along)))
