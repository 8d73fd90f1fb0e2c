r"""Quasi-Newton with a sample's second derivatives: few passes over many rows. TEXTBOOK R7.

Problem   min_W E(W), smooth and convex, over many more rows than parameters
Given     a start W, how many rows to draw, how many pairs to keep
Returns   W with E(W) near its minimum
Step      first, Newton's method on the sample alone, which costs no pass over the rest; then on all rows
          V = −B ∇E with B built from pairs s = ΔW, y = Δ∇E by the two-loop recursion around the inverse of the sample's
          Hessian, W ← W + αV, α from 1 by the weak Wolfe conditions. Where the gradient falls slowly the sample
          misleads: the Hessian of all rows takes its place
Stops     where the driver's rules say; by itself where rounding hides any descent

The sample's Hessian differs from the whole one by about (parameters/rows drawn)^½, and each pair takes an error out:
Erdogdu and Montanari 2015 (NewSamp) without its steps of Newton; Liu and Nocedal 1989 for the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import Array
from separatrix.factor import Factor
from separatrix.objective import SAMPLE_SEED, Objective
from separatrix.rows import Block
from separatrix.solvers.lbfgs import two_loop
from separatrix.solvers.line_search import search
from separatrix.solvers.state import Halt, Need, State

# A step that leaves more than this share of the gradient is a slow one; after so many the sample is given up.
SLOW, MOST_SLOW = 0.5, 3
SAMPLE_STEPS = 30
# The sample's own optimum is off by about parameters/rows; closer than this share of that it need not be found.
CLOSE = 0.01
# Rows a parameter of the part of the sample on which Newton's method begins.
FIRST = 40


@dataclass(frozen=True)
class SampledNewton:
    """W ← W − α B ∇E, B a quasi-Newton update of the inverse Hessian of ``rows`` rows (None: as many as pay).

    >>> SampledNewton().name
    'sampled-newton'
    """

    rows: int | None = None
    pairs: int = 20
    name: ClassVar[str] = "sampled-newton"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.HESSIAN, Need.STANDARD})
    by_sums: ClassVar[bool] = False  # which rows are drawn depends on their order
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State:
        W, factor = _on_sample(problem, _balanced(problem, self.rows), start)
        at = problem.value_gradient(W)
        before = problem.value_at_zero if not np.any(start) else problem.value_gradient(start).value
        if not at.value <= before:  # a sample may be separated where the rows are not, and run off
            W, at, factor = start, problem.value_gradient(start), problem.factor(start)
        if factor is None:
            return State(W, at, halt=Halt.SINGULAR)
        nothing = np.empty((0, len(factor.d)))
        memory = {"S": nothing, "Y": nothing, "slow": 0, "idle": 0, **_kept(factor)}
        return State(W, at, memory=memory, expected=_expected(problem, factor, at.gradient))

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        memory, space = dict(state.memory), problem.subspace
        if memory["slow"] >= MOST_SLOW:
            factor = problem.factor(state.W)
            if factor is None:
                return replace(state, halt=Halt.SINGULAR)
            memory.update(S=memory["S"][:0], Y=memory["Y"][:0], slow=0, **_kept(factor))
        held = Factor(memory["lower"], memory["d"])
        g = space.reduce(state.at.gradient)
        V = -space.expand(two_loop(memory["S"], memory["Y"], g, held.solve))
        found = search(problem, state.W, state.at, V, 1.0, curvature=0.9)
        if found is None and len(memory["S"]):
            memory.update(S=memory["S"][:0], Y=memory["Y"][:0])
            found = search(problem, state.W, state.at, -space.expand(held.solve(g)), 1.0, curvature=0.9)
        if found is None:
            return replace(state, halt=Halt.STALLED)
        W, at = found
        s, y = space.reduce(W - state.W), space.reduce(at.gradient) - g
        if s @ y > 1e-12 * np.linalg.norm(s) * np.linalg.norm(y):
            memory.update(S=np.vstack([memory["S"], s])[-self.pairs :], Y=np.vstack([memory["Y"], y])[-self.pairs :])
        before, after = (_expected(problem, held, at.gradient) for at in (state.at, at))
        left = np.sqrt(after / before) if before > 0 else 0.0
        memory["slow"] += left > SLOW
        memory["idle"] = memory["idle"] + 1 if at.value >= state.at.value and left > 0.9 else 0
        halt = Halt.STALLED if memory["idle"] >= 2 else None
        return State(W, at, state.iteration + 1, memory, halt, after)

    def solution(self, problem: Objective, state: State) -> State:
        return state


def _expected(problem: Objective, held: Factor, gradient: Array) -> float:
    """½ gᵀ H⁻¹ g: how far above its minimum E would be, were it quadratic with the held Hessian."""
    return 0.5 * float(np.sum(held.half(problem.subspace.reduce(gradient)) ** 2))


def _balanced(problem: Objective, rows: int | None) -> Block:
    """A sample with as many rows of a rare class as of others, weighted so that classes count as they do in all."""
    block = problem.sampled
    if rows is not None:
        block = problem.rows.sample(max(rows, 20 * problem.size), SAMPLE_SEED, problem.targets)
        problem.passes += 1
    if block.n_rows >= (problem.rows.n_rows or 0):
        return block
    codes = block.t if problem.loss.traits.multiclass else (block.t > 0).astype(np.int64)
    drawn = np.bincount(codes, block.weight, problem.n_classes)
    factor = np.divide(problem.class_sums[:, 0], drawn, out=np.zeros(problem.n_classes), where=drawn > 0)
    weight = block.weight * factor[codes] * (block.n_rows / problem.total_weight)
    return replace(block, weight=weight)


def _kept(factor: Factor) -> dict[str, Any]:
    return {"lower": factor.lower, "d": factor.d}


def _on_sample(problem: Objective, sample: Block, start: Array) -> tuple[Array, Factor | None]:
    """The minimum of the sample's own objective, and its Hessian's factor there; begun on a part of the sample."""
    W, stride = start, sample.n_rows // (FIRST * problem.size)
    if stride > 1:
        W, _ = _minimised(problem, sample.take(np.arange(0, sample.n_rows, stride)), start)
    W, factor = _minimised(problem, sample, W)
    return W, problem.factor(W) if factor is None else factor


def _minimised(problem: Objective, sample: Block, start: Array) -> tuple[Array, Factor | None]:
    inner = problem.restricted_to(sample)
    W, at = start, inner.value_gradient(start)
    factor = inner.factor(W)
    near = CLOSE * min(1.0, problem.size / sample.n_rows) * problem.null_value
    for _ in range(SAMPLE_STEPS):
        if factor is None or _expected(problem, factor, at.gradient) <= near:
            break
        direction = -inner.subspace.expand(factor.solve(inner.subspace.reduce(at.gradient)))
        found = search(inner, W, at, direction)
        if found is None:
            break
        W, at = found
        if _expected(problem, factor, at.gradient) > near:  # else the last Hessian is as good as the sample
            factor = inner.factor(W)
    return W, factor
