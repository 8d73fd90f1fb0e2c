r"""Quasi-Newton preconditioned by the Hessian of a sample, for few passes over many rows (docs/tour.md, R7).

Problem   min_W E(W), smooth and convex, over many more rows than parameters
Given     a start W, the number of rows to draw, the number of pairs to keep
Returns   W with E(W) near its minimum
Step      first, Newton's method on the sample alone, which costs no pass over all rows; then, on all rows, V = −B ∇E
          with B built from pairs s = ΔW, y = Δ∇E by the two-loop recursion, and B₀ the inverse of the sample's Hessian;
          W ← W + αV, α from 1 by the weak Wolfe conditions. If the gradient falls slowly, the Hessian of all rows
          replaces that of the sample
Stops     by the driver's rules; by itself if rounding hides any descent

The sample's Hessian differs from that of all rows by about (parameters/rows drawn)^½, relatively, and each pair removes
the error in one direction: Erdogdu and Montanari 2015 (NewSamp), with quasi-Newton steps in place of its Newton steps;
Liu and Nocedal 1989 for the pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.damped_newton import damped_step, newton_direction
from separatrix.objectives.factor import Factor
from separatrix.objectives.problem import Objective
from separatrix.rows import Block, Sample
from separatrix.solvers.compiled import CompiledSums
from separatrix.solvers.quasi_newton_pairs import Descent, PairsMemory, QuasiNewton
from separatrix.solvers.state import Halt, Need, State

# A step is slow if it reduces the gradient norm to more than this share.
SLOW_STEP_SHARE = 0.5
# After this many slow steps the Hessian of all rows replaces that of the sample.
MOST_SLOW_STEPS = 3
# The most Newton steps on the sample.
MOST_SAMPLE_STEPS = 30
# The sample's optimum differs from that of all rows by a relative error of about parameters/rows; it is computed to
# this share of that error.
SAMPLE_ACCURACY_SHARE = 0.01
# Newton's method begins on a part of the sample with this many rows per parameter.
FIRST_ROWS_PER_PARAMETER = 40


@dataclass(frozen=True, kw_only=True)
class SampledMemory(PairsMemory):
    """The pairs, the factor of the Hessian (None if it is singular), and the number of slow steps with this factor."""

    factor: Factor | None
    slow: int = 0


@dataclass(frozen=True)
class SampledNewton:
    """W ← W − α B ∇E, B a quasi-Newton update of the inverse Hessian of ``rows`` rows (None: chosen automatically).

    Parameters
    ----------
    rows : int, optional
        The number of rows of the sample; by default it is chosen automatically.
    pairs : int, default 20
        The number of last steps that the quasi-Newton update uses.

    Examples
    --------
    >>> SampledNewton().name
    'sampled-newton'
    """

    rows: int | None = None
    pairs: int = 20
    name: ClassVar[str] = "sampled-newton"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.HESSIAN, Need.STANDARD})
    by_sums: ClassVar[bool] = False  # which rows are drawn depends on their order
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State[SampledMemory]:
        sample = problem.sampled if self.rows is None else problem.sample(max(self.rows, 20 * problem.size))
        W, factor = _on_sample(problem, sample, start)
        summed = CompiledSums.of(problem) or problem
        at = summed.value_gradient(W)
        before = problem.value_at_zero if not np.any(start) else summed.value_gradient(start).value
        if not at.value <= before:  # a sample may be separated although the rows are not, and then its fit diverges
            W, at, factor = start, summed.value_gradient(start), problem.factor(start)
        if factor is None:
            return State(W, at, memory=SampledMemory(factor=None), halt=Halt.SINGULAR)
        return State(W, at, memory=SampledMemory(factor=factor), expected=_expected(problem, factor, at.gradient))

    def step(self, problem: Objective, state: State[SampledMemory], budget: int | None = None) -> State[SampledMemory]:
        memory, space = state.memory, problem.subspace
        if memory.slow >= MOST_SLOW_STEPS:
            descent = memory.descent and memory.descent._replace(norm=np.inf)  # the norm depends on the factor
            memory = SampledMemory(factor=problem.factor(state.W), descent=descent)
        factor = memory.factor
        if factor is None:
            return replace(state, halt=Halt.SINGULAR)
        method = QuasiNewton(CompiledSums.of(problem) or problem, space.reduce, space.expand, self.pairs)
        moved = method.step(state.W, state.at, memory.pairs, factor.solve)
        if moved is None:
            return replace(state, halt=Halt.STALLED)
        W, at, pairs = moved
        before, after = (_expected(problem, factor, at.gradient) for at in (state.at, at))
        left = np.sqrt(after / before) if before > 0 else 0.0
        descent = (memory.descent or Descent(state.at.value, np.sqrt(before))).after(at.value, np.sqrt(after))
        slow = memory.slow + int(left > SLOW_STEP_SHARE)
        memory = SampledMemory(pairs=pairs, descent=descent, factor=factor, slow=slow)
        return State(W, at, state.iteration + 1, memory, Halt.STALLED if descent.idle >= 2 else None, after)

    def solution(self, problem: Objective, state: State[SampledMemory]) -> State[SampledMemory]:
        return state


def _expected(problem: Objective, held: Factor, gradient: Array) -> float:
    """½ gᵀ H⁻¹ g: E − min E if E were quadratic with the given Hessian."""
    return 0.5 * float(np.sum(held.half(problem.subspace.reduce(gradient)) ** 2))


def _on_sample(problem: Objective, sample: Sample, start: Array) -> tuple[Array, Factor | None]:
    """The minimum of the sample's objective and the factor of its Hessian there.

    Newton's method starts on a part of the sample (FIRST_ROWS_PER_PARAMETER).
    """
    drawn = sample is problem.sampled
    block = problem.standing_sample if drawn else sample.standing_for(problem.targets, problem.class_weight)
    block = replace(block, weight=block.weight * (block.n_rows / problem.total_weight))
    stride = block.n_rows // (FIRST_ROWS_PER_PARAMETER * problem.size)
    if stride >= 4:
        chosen = np.flatnonzero(sample.certain | (np.arange(block.n_rows) % stride == 0))
        weight = np.where(sample.certain, 1, stride)[chosen] * block.weight[chosen]
        W, _ = _minimised(problem, replace(block.take(chosen), weight=weight), start)
        W, factor = _minimised(problem, block, W)
        if factor is not None:
            return W, factor
    W, factor = _minimised(problem, block, start)
    return W, problem.factor(W) if factor is None else factor


def _minimised(problem: Objective, sample: Block, start: Array) -> tuple[Array, Factor | None]:
    inner = problem.restricted_to(sample)
    W, at = start, inner.value_gradient(start)
    factor = inner.factor(W)
    near = SAMPLE_ACCURACY_SHARE * min(1.0, problem.size / sample.n_rows) * problem.null_value
    for _ in range(MOST_SAMPLE_STEPS):
        if factor is None or _expected(problem, factor, at.gradient) <= near:
            break
        reached = damped_step(inner, W, at, newton_direction(inner, at.gradient, factor))
        if reached is None:
            break
        W, at = reached
        if _expected(problem, factor, at.gradient) > near:  # otherwise the last Hessian is accurate enough
            factor = inner.factor(W)
    return W, factor
