"""When a run computes a bound on its gap, and which one.

A bound ends a run, so it is needed only near the end. On large tables the duality bound is computed at every state,
because it needs no pass, and the thorough bound when the run seems near its end. On small tables the interpreter takes
longer for a duality bound than for a Newton step. There the second derivatives of the last Newton step prove the bound,
once that step promises it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import numpy as np

from separatrix.base.arrays import inner, length
from separatrix.objectives.bound import Bound
from separatrix.objectives.bounds import NOT_LOOKED_FOR, evidence
from separatrix.objectives.curvature_bound import Evidence
from separatrix.objectives.duality_bound import duality
from separatrix.objectives.pass_costs import longest_row_is_cheap, thorough_passes
from separatrix.objectives.problem import Objective
from separatrix.solvers.newton import Newton, NewtonMemory
from separatrix.solvers.state import Solver, State

# The rate at which bounds fall is estimated from the latest bounds, at most this many.
BOUNDS_FOR_RATE = 4
# The assumed number of passes in one step of a solver that uses no second derivatives.
PASSES_PER_STEP = 2


class Schedule(Protocol):
    """Decides at every state of a run whether to compute a bound.

    ``latest``: the evidence at the last state. ``promising``: whether the last state seems to be within the tolerance
    although no bound was computed there, so that the steps of ``finish`` are worth taking before a proof.
    """

    tol: float
    latest: Evidence
    promising: bool

    def at(self, problem: Objective, state: State, before: State | None) -> Bound:
        """The bound that decides whether the run ends at this state."""

    def shown(self, problem: Objective, state: State) -> Bound:
        """The bound at this state for a progress callback."""

    def failed(self, state: State) -> None:
        """Note that a promising state has not led to a proof."""


def schedule(solver: Solver, problem: Objective, tol: float, exact_weights: bool) -> Schedule:
    """The schedule for a run: `ProofAfterSteps` for Newton's method on a small dense table, else `BoundSchedule`."""
    small = exact_weights and isinstance(solver, Newton) and problem.standard is None
    if small and problem.dense_table is not None and longest_row_is_cheap(problem):
        return ProofAfterSteps(tol)
    return BoundSchedule(tol)


@dataclass
class ProofAfterSteps:
    """Computes no bound while the run is far from its end, and then only one, after the steps of ``finish``.

    In standard coordinates no entry on the diagonal of the Hessian exceeds 1, so the gap is at least ‖∇E‖²/(2p) for p
    parameters, and with a longer gradient no proof is possible. With the Hessian H of the last Newton step, the gap is
    about ½ ∇Eᵀ H⁻¹ ∇E; a state is promising if that is within the tolerance. If the proof fails, it is tried again
    after every quarter more iterations.
    """

    tol: float
    latest: Evidence = NOT_LOOKED_FOR
    promising: bool = False
    next_try: int = 0

    def at(self, problem: Objective, state: State, before: State | None) -> Bound:
        self.latest, self.promising = NOT_LOOKED_FOR, False
        goal, last, gradient = self.tol * problem.null_value, state.memory, state.at.gradient
        if state.iteration < self.next_try or inner(gradient, gradient) > 2 * problem.size * goal:
            return NOT_LOOKED_FOR.bound
        if isinstance(last, NewtonMemory):
            decrement = length(last.factor.half(problem.subspace.reduce(gradient)))
            self.promising = 0.5 * decrement**2 <= goal
        else:
            self.latest = evidence(problem, state.W, state.at, thorough=True)
        return self.latest.bound

    def shown(self, problem: Objective, state: State) -> Bound:
        return duality(problem, state.W, state.at) if self.latest is NOT_LOOKED_FOR else self.latest.bound

    def failed(self, state: State) -> None:
        self.next_try = state.iteration + 1 + state.iteration // 4


@dataclass
class BoundSchedule:
    """Computes the cheap bound at every state, and the thorough bound when the run seems near its end.

    A thorough bound needs second derivatives. It is tried once the solver's own estimate is within the tolerance. For
    solvers without an estimate, it is tried once a step gains less than the square root of the tolerance, since
    Newton's method squares the error in each step. It is tried again after every quarter more iterations. It is not
    tried while the cheap bound falls so fast that a few more steps are cheaper.
    """

    tol: float
    latest: Evidence = NOT_LOOKED_FOR
    promising: bool = False
    next_try: int = 0
    tried_at: int = -1
    cheap: tuple[float, ...] = ()

    def at(self, problem: Objective, state: State, before: State | None) -> Bound:
        near = self._near(problem, state, before)
        due = state.iteration >= self.next_try
        cheap = evidence(problem, state.W, state.at, thorough=False).bound
        self.cheap = (*self.cheap, cheap.known)[-BOUNDS_FOR_RATE:]
        enough = cheap.known <= self.tol * problem.null_value
        if enough or not (near and due) or self._falls_soon(problem, state):
            self.latest = Evidence(cheap)
        else:
            self.latest = evidence(problem, state.W, state.at, thorough=True)
            self.tried_at, self.next_try = state.iteration, state.iteration + 1 + state.iteration // 4
        return self.latest.bound

    def shown(self, problem: Objective, state: State) -> Bound:
        return self.latest.bound

    def failed(self, state: State) -> None:
        raise AssertionError("no state is promising here: each has a bound")

    def _falls_soon(self, problem: Objective, state: State) -> bool:
        """Whether the cheap bound should reach the tolerance at a lower cost than a thorough bound."""
        goal, seen = self.tol * problem.null_value, [known for known in self.cheap if np.isfinite(known)]
        if len(seen) < 2 or not 0 < goal < seen[-1] < min(seen[0], seen[-2]):
            return False
        if np.isnan(state.expected):  # a Newton step costs as much as a thorough bound, and converges quadratically
            return seen[-1] * (seen[-1] / seen[-2]) ** 2 <= goal
        rate = np.log(seen[0] / seen[-1]) / (len(seen) - 1)
        return bool(PASSES_PER_STEP * np.log(seen[-1] / goal) / rate <= thorough_passes(problem))

    def _near(self, problem: Objective, state: State, before: State | None) -> bool:
        if np.isnan(state.expected):
            gained = np.inf if before is None else before.at.value - state.at.value
            return gained <= sqrt(self.tol) * problem.null_value
        # The bound uses only the sample's rows, so it is looser than the estimate by the sample's share of all rows.
        share = problem.sampled.n_rows / max(problem.n_rows, 1)
        return bool(state.expected <= share * self.tol * problem.null_value)
