"""Smoothing: a loss with kinks is replaced by a sequence of smooth approximations, each fitted with a warm start.

Problem   min_W E(W), convex, with a loss ℓ that has kinks, and a penalty on every column
Given     a start W, widths μ_1 > μ_2 > …
Returns   W with E(W) near its minimum
Step      W ← argmin E_μ(W) for the next μ, where the smooth loss ℓ_μ replaces ℓ, by Newton's method, or by L-BFGS if
          there are too many parameters for second derivatives
Stops     by the driver's rules; by itself after the last μ

The slopes of ℓ_μ at the minimum of E_μ are a dual point of E, which proves a gap of the order of μ
(``core/duality_bound.py``). Once the rows with margins between 1 − μ and 1 are those at the kink at the optimum, the
minimum of E_μ is linear in μ. Therefore the start for each μ is extrapolated linearly from the last two minima.

Nesterov, Smooth minimization of non-smooth functions, Mathematical Programming 103 (2005), for the smooth losses;
Chen and Mangasarian, Mathematical Programming 71 (1995), for minimising them in turn by Newton's method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.duality_bound import WIDTHS, duality
from separatrix.core.losses import Kinked
from separatrix.core.problem import Objective
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.state import Halt, Need, Solver, State

# E_μ is minimised to this fraction of the gap that smoothing leaves: μ, times parameters/rows if there are more rows
# than parameters.
INNER_GAP_SHARE = 0.01


class SmoothingMemory(NamedTuple):
    """The index of the next width μ, and the minimum for the second-to-last width (None if there is none)."""

    width: int
    before: Array | None = None


@dataclass(frozen=True)
class Smoothing:
    """W ← argmin E_μ for a decreasing sequence of μ, where a smooth loss ℓ_μ replaces a loss with kinks.

    If the loss is already smooth, each step is a step of Newton's method or L-BFGS.

    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)), loss="hinge")
    >>> start = Smoothing().init(problem, np.zeros((1, 2)))
    >>> Smoothing().step(problem, start).at.value < start.at.value
    True
    """

    name: ClassVar[str] = "smoothing"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTHED, Need.RIDGE, Need.STANDARD, Need.HELD})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def init(self, problem: Objective, start: Array) -> State:
        if not isinstance(problem.loss, Kinked):
            return _within(problem).init(problem, start)
        return State(start, problem.value_gradient(start), memory=SmoothingMemory(0))

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        loss, memory = problem.loss, state.memory
        if not (isinstance(loss, Kinked) and isinstance(memory, SmoothingMemory)):
            return _within(problem).step(problem, state, budget)
        k = memory.width
        near = problem.with_(loss=loss.smoothed(WIDTHS[k]), subspace=problem.subspace)
        width_gap = WIDTHS[k] * min(1.0, near.size / near.n_rows)
        start = state.W
        if memory.before is not None:  # extrapolate the minimum linearly in μ from the last two minima
            last, now, then = WIDTHS[k - 2 : k + 1]
            start = start + (now - then) / (last - now) * (start - memory.before)
        inner = _minimised(near, start, INNER_GAP_SHARE * width_gap)
        reached, at = _left(near, inner) <= width_gap, problem.value_gradient(inner.W)
        if inner.halt is not None and not reached:
            # Rounding errors prevent progress. The bound at the last width's minimum is smaller than at the next ones,
            # but if it proves next to nothing, as beside a column of size 1e100, a lower objective is worth more.
            proven = duality(problem, state.W, state.at).known <= 1e-2 * problem.null_value
            if proven or not at.value < state.at.value:
                return replace(state, halt=Halt.STALLED)
            reached = True
        halt = Halt.STALLED if reached and k + 1 == len(WIDTHS) else None
        after = SmoothingMemory(k + 1, state.W if k else None) if reached else SmoothingMemory(k)
        return State(inner.W, at, state.iteration + 1, after, halt)

    def solution(self, problem: Objective, state: State) -> State:
        return state


def _minimised(problem: Objective, start: Array, gap: float) -> State:
    """The first state at which E_μ is within about ``gap`` of its minimum, or the last state if none is."""
    method = _within(problem)
    state = method.init(problem, start)
    for _ in range(300):  # if E_μ is not minimised by then, the next step continues with the same μ
        if state.halt is not None or _left(problem, state) <= gap:
            break
        state = method.step(problem, state)
    return state


def _within(problem: Objective) -> Solver:
    """The inner solver, for an objective with a smooth loss."""
    return Newton() if problem.has_hessian else LBFGS()


def _left(problem: Objective, state: State) -> float:
    """An estimate of E_μ − min E_μ: the duality bound without its allowance for rounding errors."""
    g, r = state.at.gradient, problem.root_penalty
    held = r > 0
    with np.errstate(over="ignore"):  # the penalty on a column of size 1e300 is next to nothing
        return 0.5 * float(np.sum((g[:, held] / r[held]) ** 2)) + float(np.sum(np.abs(g[:, 0])))
