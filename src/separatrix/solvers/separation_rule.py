"""Whether weights can run to infinity: without a penalty on them, separated classes leave no optimum.

A direction V to infinity has margins ≥ 0 on every row and > 0 on some: along it the likelihood only grows. Weights
that classify every row strictly are one themselves; else Newton's steps lead to one, growing scores by about
one unit a step while everything finite settles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.objectives.bound import Bound
from separatrix.objectives.problem import Objective
from separatrix.solvers.newton import Newton
from separatrix.solvers.state import Halt, State
from separatrix.solvers.stopping import Record, Status

# Newton steps from zero between which a direction to infinity stands out: before, what is finite has not settled;
# after, second derivatives are rounded away.
NEAR, FAR = 8, 60
# Shares of what a margin is a sum of: a row that does not move is below the first, one that moves above the second.
SETTLED, SHOWN = 1e-11, 1e-6
# Iterations at which a run without a bound is looked at: Newton's method needs no more than the first.
LOOKS = frozenset({30, 100, 300, 1000, 3000})


@dataclass(frozen=True)
class Separated:
    """A rule: no optimum exists. Looked for where the loss is nearly gone, the solver stuck, or the run long."""

    max_iter: int
    tol: float
    share: float = 0.05  # of the null model's loss: above it, looking would cost passes for nothing

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        if bound.value is not None or bound.resolved is not None or state.iteration == 0:
            return None
        if not (problem.loss.traits.likelihood and np.any(problem.unpenalised[1:])):
            return None
        if self._long_enough(problem, state, trace):
            return completely(problem, state.W) or quasi(problem)
        if state.at.value <= self.share * problem.null_value:
            return completely(problem, state.W)
        return None

    def _long_enough(self, problem: Objective, state: State, trace: Sequence[Record]) -> bool:
        """Whether the run is stuck, flat or long enough for the search for a direction to infinity."""
        if state.halt in (Halt.STALLED, Halt.CRAWLING, Halt.SINGULAR, Halt.PATIENCE):
            return True
        # Without a bound a small gradient proves nothing: it is small on the way to infinity, too.
        flat = problem.loss.traits.self_concordance is None and trace[-1].gradient_norm <= self.tol
        return flat or state.iteration in LOOKS or state.iteration >= self.max_iter


def completely(problem: Objective, W: Array) -> Status | None:
    """Weights that put every row on its own side."""
    margins = problem.relative_margins(np.where(problem.unpenalised, W, 0.0))
    if not margins.least > 4 * problem.shape[1] * EPS:  # more than the rounding of a sum of d + 1 products
        return None
    return Status(
        "separated",
        "no optimum exists: these weights put every row on its own side (no margin is below "
        f"{margins.smallest:.3g}), so without a penalty the likelihood grows without bound along them",
        False,
    )


def quasi(problem: Objective) -> Status | None:
    """A direction along which no row objects and some gain, found on Newton's way from zero."""
    problem = problem.standard or problem
    if not problem.has_hessian:
        return None
    state, longest = Newton().init(problem, np.zeros(problem.shape)), 0.0
    for k in range(FAR):
        state = Newton().step(problem, state)
        if state.halt is not None or state.memory is None:
            return None
        direction = np.where(problem.unpenalised, state.memory.direction, 0.0)
        longest = max(longest, float(np.linalg.norm(direction)))
        if np.linalg.norm(direction) < 1e-6 * longest:
            return None  # the steps settle: an optimum
        if k >= NEAR and _leads_to_infinity(problem, direction):
            return Status(
                "quasi-separated",
                "no optimum exists: along one direction the rows either do not move or move to their own side, so "
                "without a penalty the likelihood grows along it without bound and some weights are infinite",
                False,
            )
    return None


def _leads_to_infinity(problem: Objective, direction: Array) -> bool:
    """Whether no row objects to a direction, to rounding, and some gain along it."""
    # A weight that rounding alone moves stays: it would be all that moves a row at the other columns' centres.
    moved = np.where(np.abs(direction) <= SETTLED * np.abs(direction).max(), 0.0, direction)
    margins = problem.relative_margins(moved)
    return margins.least >= -SETTLED and margins.most > SHOWN
