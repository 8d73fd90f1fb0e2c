"""The driver for all solvers: it calls ``init``, then ``step`` until a stopping rule holds, and records every state.

Warm starts, progress reports, loss curves and cancellation all use the same states. A run that starts from
``Run.state`` gives bitwise the same results as an uninterrupted one.

A bound on E − min E ends a run, so it is needed only near the end, and ``Schedule`` decides when it is computed.
A bound near the tolerance leaves the weights with half as many correct digits as the objective. So a run that is within
its tolerance is ``finished`` by one or a few Newton steps with second derivatives that are already known.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Generic

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.messages import Message, Remedy
from separatrix.core.base.watching import Stage, watched
from separatrix.core.certificate import Bound
from separatrix.core.duality_bound import duality
from separatrix.core.gap_bounds import (
    NOT_LOOKED_FOR,
    Curvature,
    Evidence,
    better,
    bound,
    counts_all_rows,
    curvature_at,
    evidence,
    longest_row_is_cheap,
    proven,
    thorough_passes,
    with_weights,
)
from separatrix.core.linear_algebra import STANDARDISE, Factor
from separatrix.core.newton_step import VALUE_ROUNDING, newton_direction
from separatrix.core.problem import Objective
from separatrix.core.rows.frame import LARGEST_FLOAT, raw_weights
from separatrix.core.solvers.newton import Newton, NewtonMemory
from separatrix.core.solvers.state import Memory, Memory_co, Solver, State
from separatrix.core.solvers.stopping import Record, Status, Stopping

# If converting the weights to raw units changes them by at most this rounding error (measured in the frame's
# coordinates), value and bound are not computed again: for columns of size one, scores change by no more.
LARGEST_RAW_UNIT_ERROR = 1e-11
# The status codes of runs whose bound is within the tolerance.
CERTIFIED = ("optimal", "resolved")


@dataclass(frozen=True)
class Run(Generic[Memory_co]):
    """The result of a run.

    Attributes
    ----------
    state : State
        The final state.
    status : Status
        Why the run ended.
    bound : Bound
        The bound on E − min E at the final state.
    trace : tuple of Record
        The record of every state.
    curvature : Curvature or None
        The second derivatives behind the bound, if they were computed.
    stopping : Stopping
        The rules of the run, with its tolerance.
    """

    state: State[Memory_co]
    status: Status
    bound: Bound
    trace: tuple[Record, ...]
    curvature: Curvature | None = None
    stopping: Stopping = field(default_factory=Stopping)


def states(
    solver: Solver[Memory], problem: Objective, start: Array | State[Memory], budget: int | None = None
) -> Iterator[State[Memory]]:
    """Iterate over the states of a run without stopping rules, for stepping by hand.

    Parameters
    ----------
    solver : Solver
        The solver.
    problem : Objective
        The problem.
    start : array (K or 1, d + 1) or State
        The weights to start from, or the state of an earlier run to go on from.
    budget : int, optional
        The most rows that one step reads, for methods that update within an epoch.

    Yields
    ------
    State
        The first state, and the state after each step. The iteration ends if the solver halts.

    Examples
    --------
    >>> from itertools import islice
    >>> from separatrix.core.solvers.gradient_descent import GradientDescent
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> values = [state.at.value for state in islice(states(GradientDescent(), problem, np.zeros((1, 2))), 5)]
    >>> bool(np.all(np.diff(values) < 0))
    True
    """
    state = start if isinstance(start, State) else solver.init(problem, start)
    while True:
        yield state
        if state.halt is not None:
            return
        state = solver.step(problem, state, budget)


def run(
    solver: Solver[Memory],
    problem: Objective,
    start: Array | State[Memory],
    stopping: Stopping[Memory],
    exact_weights: bool = False,
    budget: int | None = None,
) -> Run[Memory]:
    """Run ``solver`` on ``problem`` until ``stopping`` ends the run, and report every state to the watcher.

    Parameters
    ----------
    solver : Solver
        The algorithm with its settings.
    problem : Objective
        The objective to minimise.
    start : array or State
        The first weights, (K or 1, d + 1) in the frame's coordinates, or a state to start from.
    stopping : Stopping
        When the run ends.
    exact_weights : bool
        If second derivatives are known at the end, also take the final Newton steps of ``finished``.
    budget : int, optional
        The most rows that one step reads, for methods that update within an epoch.

    Returns
    -------
    Run
        The final state, why the run ended, the bound and the trace.

    Examples
    --------
    >>> from separatrix.core.solvers.newton import Newton
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> run(Newton(), problem, np.zeros((1, 2)), Stopping(tol=1e-8, max_iter=100)).status.code
    'optimal'
    """
    visited, trace, clock = states(solver, problem, start, budget), list[Record](), time.perf_counter()
    schedule = Schedule(stopping.tol, _proves_by_last_step(solver, problem, exact_weights))
    report = follower(solver.name, lambda: problem.null_value, stopping.tol, problem=problem, method=solver)
    with one_blas_thread:
        while True:
            state = next(visited)
            bound_here = schedule.bound_at(problem, state)
            trace.append(_recorded(problem, state, bound_here, clock))
            if report is not None:
                report(trace[-1], state, schedule.shown(problem, state).value)
            reached = stopping(problem, state, bound_here, trace, solver.converges)
            if reached is None and not schedule.promising:
                continue
            end, status, found = _end(solver, problem, state, reached, schedule.latest, stopping, exact_weights)
            if status is None:
                continue
            if reached is None or end.iteration > state.iteration:
                if end is state:  # its record has no bound
                    trace.pop()
                trace.append(_recorded(problem, end, found.bound, clock))
                if report is not None:
                    report(trace[-1], end, final=True)
            return Run(end, status, found.bound, tuple(trace), found.curvature, stopping)


def _recorded(problem: Objective, state: State, found: Bound, clock: float) -> Record:
    gradient, seconds = state.at.gradient, time.perf_counter() - clock
    slope = problem.subgradient(state.W, gradient) if problem.has_absolute else gradient
    length = sqrt(np.vdot(slope, slope))
    return Record(state.iteration, problem.passes, state.at.value, length, found.value, seconds, state.met)


def _end(
    solver: Solver[Memory],
    problem: Objective,
    state: State[Memory],
    status: Status | None,
    found: Evidence,
    stopping: Stopping[Memory],
    exact_weights: bool,
) -> tuple[State[Memory], Status | None, Evidence]:
    """The solution of a run that ends at ``state``, its status, and the smallest bound that can be proved for it.

    ``status``: the status by the rules; None at a promising state. There the run only ends if the bound after the last
    steps is within the tolerance; otherwise the result has no status.
    """
    end = solver.solution(problem, state)
    if status is not None and status.code not in CERTIFIED:
        found = Evidence(bound(problem, end.W, end.at, thorough=True, last=True))
        # A run that ended for another reason may be within the tolerance.
        status = stopping.certified(problem, found.bound) or stopping.known(problem, status, found.bound)
    elif exact_weights:
        if end.iteration < stopping.max_iter:
            last, there = finished(problem, end, found, small=status is None)
            proof = stopping.certified(problem, there.bound)
            if proof is not None:
                end, status, found = last, proof, there
        found = Evidence(with_weights(problem, found.bound), found.curvature)
    else:
        found = Evidence(found.bound)
    return end, status, found


def delivered(outcome: Run[Memory], problem: Objective) -> tuple[Array, Run[Memory]]:
    """The weights in raw units without those of offset columns, and the run with the bound for these weights.

    If columns are far from zero, the intercept in raw units has a larger rounding error than in the frame's
    coordinates. If this error exceeds LARGEST_RAW_UNIT_ERROR, value and bound are computed again.

    Parameters
    ----------
    outcome : Run
        The run of a solver.
    problem : Objective
        Its problem.

    Returns
    -------
    weights : array (K or 1, d + 1)
        The weights in raw units, intercepts in column 0.
    outcome : Run
        The run, with the bound for these weights.

    Examples
    --------
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.solvers.newton import Newton
    >>> rows = labelled_rows(100.0 + np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    >>> problem = build_objective(rows, 2, Penalty(1.0, np.ones(1)))
    >>> outcome = run(Newton(), problem, np.zeros(problem.shape), Stopping(tol=1e-8, max_iter=100))
    >>> weights, outcome = delivered(outcome, problem)
    >>> weights.shape, outcome.status.code
    ((1, 2), 'optimal')
    """
    raw, outcome = _in_raw_units(outcome, problem)
    if not problem.n_offsets:
        return raw, outcome
    weights, of_offsets = raw[:, : -problem.n_offsets], raw[:, -problem.n_offsets :]
    # The frame hides a constant offset, so the intercept includes it; it is subtracted here.
    weights[:, 0] -= (np.eye(len(raw)) - of_offsets) @ problem.rows.frame.center[-problem.n_offsets :]
    return weights, outcome


def _in_raw_units(outcome: Run[Memory], problem: Objective) -> tuple[Array, Run[Memory]]:
    frame, state = problem.rows.frame, outcome.state
    raw = raw_weights(frame, state.W)
    back = frame.from_original(raw)
    # With absolute values in the penalty, the bound is proportional to the gradient divided by the penalty, not to the
    # square of the gradient.
    least, a = 1.0, problem.absolute_penalty
    if problem.has_absolute:
        least = float(a[a > 0].min(initial=1.0))
    if np.abs(back - state.W).max() <= LARGEST_RAW_UNIT_ERROR * least:
        return raw, outcome
    with one_blas_thread:
        at = problem.value_gradient(back)
        found = bound(problem, back, at, thorough=True)
    status = outcome.status
    if status.code in CERTIFIED:
        beyond = _out_of_range if np.max(np.abs(raw)) >= LARGEST_FLOAT else _beyond_raw_units
        status = outcome.stopping.certified(problem, found) or beyond(problem, raw)
    state = replace(state, W=back, at=at)
    return raw, Run(state, status, found, outcome.trace, outcome.curvature, outcome.stopping)


def _beyond_raw_units(problem: Objective, raw: Array) -> Status:
    """The status of weights that raw units cannot hold, with the column whose offset is largest beside its spread."""
    frame = problem.rows.frame
    with np.errstate(invalid="ignore", divide="ignore"):
        offsets = np.where(np.isfinite(frame.scale), np.abs(frame.center) / frame.scale, 0.0)
    sentence = Message(
        "optimal but for rounding: the offset of ",
        problem.column_name(1 + int(np.argmax(np.nan_to_num(offsets)))),
        " dwarfs its spread, and its weight in raw units cannot hold the digits of the optimum",
        Remedy(STANDARDISE),
    )
    return Status("rounding", sentence, False)


def _out_of_range(problem: Objective, raw: Array) -> Status:
    """The status of weights past float64, with the column that has the largest one."""
    sentence = Message(
        "the optimum's weight of ",
        problem.column_name(1 + int(np.argmax(np.max(np.abs(raw[:, 1:]), axis=0)))),
        " is beyond the range of float64, since the column is nearly zero",
        Remedy(STANDARDISE),
    )
    return Status("rounding", sentence, False)


# --- When a run computes a bound, and which one

# The rate at which bounds fall is estimated from the latest bounds, at most this many.
BOUNDS_FOR_RATE = 4
# The assumed number of passes in one step of a solver that uses no second derivatives.
PASSES_PER_STEP = 2


@dataclass
class Schedule:
    """Decides at every state of a run which bound is computed there.

    The duality bound needs no pass, so it is computed at every state. The thorough bound needs second derivatives. It
    is tried once the solver's own estimate is within the tolerance. For solvers without an estimate, it is tried once a
    step gains less than the square root of the tolerance, since Newton's method squares the error in each step. It is
    tried again after every quarter more iterations. It is not tried while the duality bound falls so fast that a few
    more steps are cheaper.

    For Newton's method on a small dense table (``by_last_step``) even a duality bound takes the interpreter longer than
    a step. There the second derivatives of the last step prove the bound, once they promise it. In standard coordinates
    no entry on the diagonal of the Hessian exceeds 1, so the gap is at least ‖∇E‖²/(2p) for p parameters, and with a
    longer gradient no proof is possible.

    Attributes
    ----------
    latest : Evidence
        The evidence at the last state.
    promising : bool
        Whether the last state seems to be within the tolerance although no bound was computed there, so that the last
        steps are worth taking before a proof.
    """

    tol: float
    by_last_step: bool
    latest: Evidence = NOT_LOOKED_FOR
    promising: bool = False
    next_try: int = 0
    value: float = np.inf
    duality: tuple[float, ...] = ()

    def bound_at(self, problem: Objective, state: State) -> Bound:
        """The bound that decides whether the run ends at this state."""
        goal, self.promising = self.tol * problem.null_value, False
        if not self.by_last_step:
            self._look(problem, state, goal)
        elif state.iteration < self.next_try or np.vdot(state.at.gradient, state.at.gradient) > 2 * problem.size * goal:
            self.latest = NOT_LOOKED_FOR
        elif isinstance(state.memory, NewtonMemory):
            # By the Hessian H of the last step, the gap is about ½ ∇Eᵀ H⁻¹ ∇E.
            half = state.memory.factor.half(problem.subspace.reduce(state.at.gradient))
            self.latest, self.promising = NOT_LOOKED_FOR, 0.5 * half.dot(half) <= goal
        else:  # before the first step
            self.latest = evidence(problem, state.W, state.at, thorough=True)
        if self.promising:
            self.next_try = state.iteration + 1 + state.iteration // 4
        return self.latest.bound

    def _look(self, problem: Objective, state: State, goal: float) -> None:
        """Compute the duality bound, or the thorough bound if that is worth its cost."""
        near, due = self._is_near(problem, state, goal), state.iteration >= self.next_try
        cheap = evidence(problem, state.W, state.at, thorough=False).bound
        self.value, self.duality = state.at.value, (*self.duality, cheap.known)[-BOUNDS_FOR_RATE:]
        self.latest = Evidence(cheap)
        if near and due and cheap.known > goal and not self._falls_soon(problem, state, goal):
            self.latest = evidence(problem, state.W, state.at, thorough=True)
            self.next_try = state.iteration + 1 + state.iteration // 4

    def shown(self, problem: Objective, state: State) -> Bound:
        """The bound at this state for a progress callback."""
        return duality(problem, state.W, state.at) if self.latest is NOT_LOOKED_FOR else self.latest.bound

    def _is_near(self, problem: Objective, state: State, goal: float) -> bool:
        """Whether the run seems to be near its end."""
        if np.isnan(state.expected):
            return self.value - state.at.value <= sqrt(self.tol) * problem.null_value
        # The bound uses only the sample's rows, so it is looser than the estimate by the sample's share of all rows.
        return bool(state.expected <= problem.framed.sampled.n_rows / max(problem.n_rows, 1) * goal)

    def _falls_soon(self, problem: Objective, state: State, goal: float) -> bool:
        """Whether the duality bound should reach the tolerance at a lower cost than a thorough bound."""
        seen = [known for known in self.duality if np.isfinite(known)]
        if len(seen) < 2 or not 0 < goal < seen[-1] < min(seen[0], seen[-2]):
            return False
        if np.isnan(state.expected):  # a Newton step costs as much as a thorough bound, and converges quadratically
            return seen[-1] * (seen[-1] / seen[-2]) ** 2 <= goal
        rate = np.log(seen[0] / seen[-1]) / (len(seen) - 1)
        return bool(PASSES_PER_STEP * np.log(seen[-1] / goal) / rate <= thorough_passes(problem))


def _proves_by_last_step(solver: Solver, problem: Objective, exact_weights: bool) -> bool:
    """Whether this is Newton's method on a small dense table, with the last steps of ``finished``."""
    small = exact_weights and isinstance(solver, Newton) and problem.standard is None
    return small and problem.dense_table is not None and longest_row_is_cheap(problem)


# --- The last steps, which make the weights as accurate as the objective

# The steps end at this distance to the optimum, in standard errors: a coefficient larger than a tenth of its standard
# error then has six correct digits. At most MOST_FINAL_STEPS are taken, each with one pass. One step is enough with the
# Hessian at the current point; two or three are needed with that of an earlier point.
SMALLEST_DISTANCE, MOST_FINAL_STEPS = 1e-7, 3
# The same for small tables, whose passes take little time. After a long last Newton step, its Hessian gains only one or
# two digits per step.
SMALLEST_DISTANCE_OF_SMALL_TABLES, MOST_FINAL_STEPS_OF_SMALL_TABLES = 1e-10, 5


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def finished(
    problem: Objective, start: State[Memory], found: Evidence, small: bool = False
) -> tuple[State[Memory], Evidence]:
    """The state after the last steps, which count as one iteration, and its evidence; ``start`` if no step is accepted.

    If E is within ε of its minimum, the weights have an error of about ε^½: at a relative gap of 1e-8 a coefficient has
    three or four correct digits. A Newton step doubles the number of digits in one pass: W ← W − H⁻¹ ∇E(W), accepted if
    it halves (∇Eᵀ H⁻¹ ∇E)^½ and does not raise E. H also proves the bound at the new point. There is no line search:
    this close to the minimum only rounding could make a full step too long, and half a step would not double the number
    of digits.

    ``small``: whether passes take little time, so that more steps are worth it.

    >>> import numpy as np
    >>> from separatrix.core.gap_bounds import evidence
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> W = np.array([[0.0, 0.4]])
    >>> before = State(W, problem.value_gradient(W))
    >>> after, there = finished(problem, before, evidence(problem, W, before.at, thorough=True))
    >>> bool(np.linalg.norm(after.at.gradient) < 1e-3 * np.linalg.norm(before.at.gradient)), there.bound.known < 1e-9
    (True, True)
    """
    within, most_steps = SMALLEST_DISTANCE, MOST_FINAL_STEPS
    if small:
        within, most_steps = SMALLEST_DISTANCE_OF_SMALL_TABLES, MOST_FINAL_STEPS_OF_SMALL_TABLES
    held = _at_hand(problem, start, found)
    if held is None:
        return start, found
    factor, curvature = held
    state, root = start, sqrt(problem.total_weight)
    V, decrement = _step_from(problem, factor, state)
    for _ in range(most_steps):
        if not root * decrement > within:
            break
        W = state.W + V
        after = State(
            W, problem.value_gradient(W), start.iteration + 1, start.memory, start.halt, start.expected, start.met
        )
        if not after.at.value <= state.at.value + VALUE_ROUNDING * abs(state.at.value):
            break
        next_V, left = _step_from(problem, factor, after)
        if not left <= 0.5 * decrement:
            break
        state, V, decrement = after, next_V, left
    return state, _evidence_at_end(problem, start, state, found, curvature)


def _evidence_at_end(
    problem: Objective, start: State, end: State, found: Evidence, curvature: Curvature | None
) -> Evidence:
    """The evidence at the end of the steps, from the curvature at their start; ``found``: the evidence at the start."""
    if curvature is None:
        return found if end is start else Evidence(duality(problem, end.W, end.at))
    if end is start and curvature is found.curvature:
        return found
    if end is start:
        return Evidence(better(found.bound, proven(problem, end.W, end.at, curvature)), curvature)
    there = curvature.after(problem.subspace.reduce(end.W - start.W))
    sharp = proven(problem, end.W, end.at, there)
    # This close to the optimum the duality bound is no smaller: both bounds are dominated by rounding.
    return Evidence(sharp if sharp.value is not None else duality(problem, end.W, end.at), there)


def _step_from(problem: Objective, factor: Factor, state: State) -> tuple[Array, float]:
    """The step V = −H⁻¹ ∇E from a state, and (∇Eᵀ H⁻¹ ∇E)^½ = (−⟨∇E, V⟩)^½."""
    V = newton_direction(problem, state.at.gradient, factor)
    return V, sqrt(abs(np.vdot(state.at.gradient, V)))


def _at_hand(problem: Objective, state: State, found: Evidence) -> tuple[Factor, Curvature | None] | None:
    """A factor of the Hessian over all rows, at the state or near it, and a curvature that is valid there.

    The factor comes from the bound if that used all rows, otherwise from the last Newton step; for a small table it is
    otherwise computed. None if none of these applies, or if Newton steps do not suit the problem: they need a smooth,
    convex objective in standard coordinates with a Hessian.
    """
    if problem.standard is not None or not (problem.smooth and problem.loss.traits.convex and problem.has_hessian):
        return None
    if found.curvature is not None and found.curvature.complete:
        return found.curvature.factor, found.curvature
    last, proves = state.memory, problem.loss.traits.self_concordance is not None
    if not isinstance(last, NewtonMemory):
        taken = curvature_at(problem, state.W) if proves and counts_all_rows(problem) else None
        return None if taken is None else (taken.factor, taken)
    if not proves:
        return last.factor, None
    if found.curvature is not None or not longest_row_is_cheap(problem):
        return last.factor, found.curvature
    taken = curvature_at(problem, last.start, factor=last.factor)
    return None if taken is None else (last.factor, taken.after(problem.subspace.reduce(state.W - last.start)))


# --- The iterations of a run as a `watch` callback receives them


@dataclass(frozen=True)
class Iteration:
    """One state of a run with its record in the trace.

    Attributes
    ----------
    solver : str
        The name of the solver.
    record : Record
        The record in the trace.
    state : State
        The state. Its weights are in the coordinates of the problem's frame; ``W`` of this object is in the columns'
        units.
    tol : float
        The tolerance.
    first, gap : float or None
        The first and the latest bound on E − min E, relative to the null model's objective.
    measure : str
        The name of the quantity that ``gap`` holds, if it is not the gap.
    problem : Objective or None
        The problem of the run. With it and ``method`` the run can be continued from ``state`` (``solvers.states``).
    method : Solver or None
        The solver with its settings; None if no solver makes the steps.
    final : bool
        Whether the driver came here by its last Newton steps (``finished``), instead of by the solver.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.core.objective_sums import Evaluation
    >>> W, record = np.zeros((1, 2)), Record(7, 9, value=0.5, gradient_norm=1e-3, bound=1e-5, seconds=0.1)
    >>> now = Iteration("newton", record, State(W, Evaluation(0.5, W), 7), tol=1e-8, first=1e-2, gap=1e-5)
    >>> print(now, round(now.share, 3))
    newton: iteration 7, gap 1.0e-05 (tolerance 1e-08) 0.5
    """

    solver: str
    record: Record
    state: State
    tol: float
    first: float | None = None
    gap: float | None = None
    measure: str = "gap"
    problem: Objective | None = None
    method: Solver | None = None
    final: bool = False

    @property
    def W(self) -> Array:
        """The weights in the units of the columns, (K or 1, d + 1), intercepts first."""
        W = self.state.W
        return W if self.problem is None else raw_weights(self.problem.rows.frame, W)

    @property
    def share(self) -> float | None:
        """The progress of the gap towards the tolerance on a logarithmic scale, from 0 to 1; None if unknown."""
        if self.first is None or self.gap is None or not self.tol > 0:
            return None
        if self.gap <= self.tol:
            return 1.0
        top = max(self.first, self.gap)
        return math.log(top / self.gap) / math.log(top / self.tol)

    def __str__(self) -> str:
        return f"{self.solver}: iteration {self.record.iteration}{self._evidence()}"

    def _evidence(self) -> str:
        from separatrix.core.solvers.separation_problem import HullMemory, PerceptronMemory

        memory = self.state.memory
        if self.gap is not None:
            return f", {self.measure} {self.gap:.1e} (tolerance {self.tol:.0e})"
        if isinstance(memory, HullMemory) and memory.lower > 0:
            return f", margin {memory.lower:.4g}, at most {memory.upper:.4g}"
        errors = memory.errors if isinstance(memory, HullMemory | PerceptronMemory) else None
        if errors is not None:
            return f", {errors} row{'s' * (errors != 1)} wrong"
        return ", no bound on the gap yet" if self.tol > 0 else ""


@dataclass
class Follower:
    """Reports each state of one run to the watcher. Bounds are divided by ``unit``."""

    tell: Callable[[Stage], None]
    solver: str
    unit: float
    tol: float
    measure: str = "gap"
    problem: Objective | None = None
    method: Solver | None = None
    first: float | None = None
    gap: float | None = None

    def __call__(self, record: Record, state: State, bound: float | None = None, final: bool = False) -> None:
        """Report a state. ``bound`` replaces the bound of the record."""
        latest = record.bound if bound is None else bound
        if latest is not None and self.unit > 0 and math.isfinite(latest):
            self.gap = latest / self.unit
            self.first = self.gap if self.first is None else self.first
        gaps = (self.tol, self.first, self.gap, self.measure)
        self.tell(Iteration(self.solver, record, state, *gaps, self.problem, self.method, final))


def follower(
    solver: str,
    unit: Callable[[], float],
    tol: float,
    measure: str = "gap",
    problem: Objective | None = None,
    method: Solver | None = None,
) -> Follower | None:
    """The object that reports a run to the watcher; None if there is no callback.

    >>> follower("newton", lambda: 1.0, 1e-8) is None
    True
    """
    tell = watched()
    return None if tell is None else Follower(tell, solver, unit(), tol, measure, problem, method)
