"""The driver for all solvers: it calls init, then step until a stopping rule holds, and records every state.

Warm starts, progress reports, loss curves, cancellation and checkpoints all use the same states. A run that resumes
from ``Run.state`` gives bitwise the same results as an uninterrupted one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Generic

import numpy as np

from separatrix.base.arrays import Array, length
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.messages import ByAudience, Message, Remedy
from separatrix.objectives.bound import Bound
from separatrix.objectives.bounds import NOT_LOOKED_FOR, bound, evidence, with_weights
from separatrix.objectives.curvature import Curvature
from separatrix.objectives.curvature_bound import Evidence
from separatrix.objectives.pass_costs import thorough_passes
from separatrix.objectives.problem import Objective
from separatrix.rows.frame import LARGEST_FLOAT
from separatrix.rows.raw_weights import raw_weights
from separatrix.solvers.finish import finished
from separatrix.solvers.iteration import follower
from separatrix.solvers.separation_rule import Separated
from separatrix.solvers.state import Memory, Memory_co, Solver, State
from separatrix.solvers.stopping import Certified, Halted, MostIterations, Record, Rule, Stationary, Status

# The rate at which bounds fall is estimated from the latest bounds, at most this many.
BOUNDS_FOR_RATE = 4
# The assumed number of passes in one step of a solver that uses no second derivatives.
PASSES_PER_STEP = 2
# If converting the weights to raw units changes them by at most this rounding error (measured in the frame's
# coordinates), value and bound are not computed again: for columns of size one, scores change by no more.
LARGEST_RAW_UNIT_ERROR = 1e-11
# The status codes of runs whose bound is within the tolerance.
CERTIFIED = ("optimal", "resolved")
_STANDARDISE = Message(
    ByAudience("standardise that column first", shell="standardise the columns first, with --standardise")
)


@dataclass(frozen=True)
class Run(Generic[Memory_co]):
    """The result of a run: the final state, the status, the bound, and the record of every state.

    ``curvature``: the second derivatives behind the bound, if they were computed.
    """

    state: State[Memory_co]
    status: Status
    bound: Bound
    trace: tuple[Record, ...]
    curvature: Curvature | None = None


@dataclass
class BoundSchedule:
    """Computes the cheap bound at every state, and the thorough bound when the run seems near its end.

    A thorough bound needs second derivatives. It is tried once the solver's own estimate is within the tolerance. For
    solvers without an estimate, it is tried once a step gains less than the square root of the tolerance, since
    Newton's method squares the error in each step. It is tried again after every quarter more iterations. It is not
    tried while the cheap bound falls so fast that a few more steps are cheaper.
    """

    tol: float
    next_try: int = 0
    tried_at: int = -1
    cheap: tuple[float, ...] = ()
    latest: Evidence = NOT_LOOKED_FOR

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


def default_rules(tol: float, max_iter: int) -> list[Rule]:
    """The stopping rules of every fit, in the order in which they are tested.

    >>> [type(rule).__name__ for rule in default_rules(1e-8, 100)]
    ['Certified', 'Separated', 'Stationary', 'Halted', 'MostIterations']
    """
    return [Certified(tol), Separated(max_iter, tol), Stationary(tol), Halted(), MostIterations(max_iter)]


def states(
    solver: Solver[Memory], problem: Objective, start: Array | State[Memory], budget: int | None = None
) -> Iterator[State[Memory]]:
    """Iterate over the states of a run without stopping rules, for stepping by hand.

    >>> from itertools import islice
    >>> from separatrix.solvers.gradient_descent import GradientDescent
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
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
    rules: Sequence[Rule[Memory]],
    tol: float,
    exact_weights: bool = False,
) -> Run[Memory]:
    """Run ``solver`` on ``problem`` until one of ``rules`` holds, and report every state to the watcher.

    Parameters
    ----------
    solver : Solver
        The algorithm with its settings.
    problem : Objective
        The objective to minimise.
    start : array or State
        The first weights, (K or 1, d + 1) in the frame's coordinates, or a state to resume from.
    rules : sequence of rules
        The stopping rules, tested in order at every state.
    tol : float
        The tolerance on the gap, relative to the null model's objective.
    exact_weights : bool
        If second derivatives are known at the end, also take the final Newton steps of the module ``finish``.

    Returns
    -------
    Run
        The final state, why the run ended, the bound and the trace.

    Examples
    --------
    >>> from separatrix.solvers.newton import Newton
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> run(Newton(), problem, np.zeros((1, 2)), default_rules(1e-8, 100), 1e-8).status.code
    'optimal'
    """
    look, trace = BoundSchedule(tol), list[Record]()
    report = follower(solver.name, lambda: problem.null_value, tol)
    every: list[Rule[Memory]] = [*rules, Halted()]
    before: State[Memory] | None = None
    clock = time.perf_counter()
    with one_blas_thread:
        for state in states(solver, problem, start):
            bound_here = look.at(problem, state, before)
            trace.append(_recorded(problem, state, bound_here, time.perf_counter() - clock))
            if report is not None:
                report(trace[-1], state)
            for rule in every:
                status = rule(problem, state, bound_here, trace)
                if status is not None:
                    break
            if status is not None:
                ended = _end(solver, problem, state, status, look, trace)
                if not (exact_weights and status.code in CERTIFIED):
                    return ended
                last = _finished(problem, ended, look, rules, clock)
                if report is not None and len(last.trace) > len(ended.trace):
                    report(last.trace[-1], last.state)
                return last
            before = state
    raise AssertionError("a run ends by a rule or by its solver's halt")


def _recorded(problem: Objective, state: State, found: Bound, seconds: float) -> Record:
    slope = length(problem.subgradient(state.W, state.at.gradient))
    return Record(state.iteration, problem.passes, state.at.value, slope, found.value, seconds, state.met)


def _finished(
    problem: Objective, ended: Run[Memory], look: BoundSchedule, rules: Sequence[Rule[Memory]], clock: float
) -> Run[Memory]:
    """The run after the steps of ``finish``, if ``max_iter`` allows another iteration, with its new status."""
    most = min((rule.max_iter for rule in rules if isinstance(rule, MostIterations)), default=np.inf)
    state, found, trace, status = ended.state, look.latest, ended.trace, None
    if state.iteration < most:
        state, found = finished(problem, state, found)
        if state is not ended.state:
            trace = (*trace, _recorded(problem, state, found.bound, time.perf_counter() - clock))
        status = Certified(look.tol)(problem, state, found.bound, trace)
    if status is None:  # no step was allowed, or the bound after the step exceeds the tolerance
        return replace(ended, bound=with_weights(problem, ended.bound), curvature=look.latest.curvature)
    return Run(state, status, with_weights(problem, found.bound), trace, found.curvature)


def _end(
    solver: Solver[Memory],
    problem: Objective,
    state: State[Memory],
    status: Status,
    look: BoundSchedule,
    trace: list[Record],
) -> Run[Memory]:
    """The solver's solution with the smallest bound that can be proved for it."""
    final, found = solver.solution(problem, state), look.latest.bound
    if status.code not in CERTIFIED:
        found = bound(problem, final.W, final.at, thorough=True, last=True)
    return Run(final, _judged(status, problem, final, found, look.tol, trace), found, tuple(trace))


def _judged(
    status: Status, problem: Objective, state: State, found: Bound, tol: float, trace: Sequence[Record]
) -> Status:
    """The status given the last bound: a run that ended for another reason may be within the tolerance."""
    return status if status.met else Certified(tol)(problem, state, found, trace) or status


def delivered(outcome: Run[Memory], problem: Objective, tol: float) -> tuple[Array, Run[Memory]]:
    """The weights in raw units without those of offset columns, and the run with the bound for these weights.

    If columns are far from zero, the intercept in raw units has a larger rounding error than in the frame's
    coordinates. If this error exceeds LARGEST_RAW_UNIT_ERROR, value and bound are computed again.
    """
    raw, outcome = _in_raw_units(outcome, problem, tol)
    if not problem.n_offsets:
        return raw, outcome
    weights, of_offsets = raw[:, : -problem.n_offsets], raw[:, -problem.n_offsets :]
    # The frame hides a constant offset, so the intercept includes it; it is subtracted here.
    weights[:, 0] -= (np.eye(len(raw)) - of_offsets) @ problem.rows.frame.center[-problem.n_offsets :]
    return weights, outcome


def _in_raw_units(outcome: Run[Memory], problem: Objective, tol: float) -> tuple[Array, Run[Memory]]:
    frame, state = problem.rows.frame, outcome.state
    raw = raw_weights(frame, state.W)
    back = frame.from_original(raw)
    # With absolute values in the penalty, the bound is proportional to the gradient divided by the penalty, not to the
    # square of the gradient.
    least = float(np.min(problem.absolute_penalty[problem.absolute_penalty > 0], initial=1.0))
    if np.max(np.abs(back - state.W)) <= LARGEST_RAW_UNIT_ERROR * least:
        return raw, outcome
    with one_blas_thread:
        at = problem.value_gradient(back)
        found = bound(problem, back, at, thorough=True)
    status = outcome.status
    if status.code in CERTIFIED:
        beyond = _out_of_range if np.max(np.abs(raw)) >= LARGEST_FLOAT else _beyond_raw_units
        status = Certified(tol)(problem, state, found, outcome.trace) or beyond(problem, raw)
    return raw, Run(replace(state, W=back, at=at), status, found, outcome.trace, outcome.curvature)


def _beyond_raw_units(problem: Objective, raw: Array) -> Status:
    """The status of weights that raw units cannot hold, with the column whose offset is largest beside its spread."""
    frame = problem.rows.frame
    with np.errstate(invalid="ignore", divide="ignore"):
        offsets = np.where(np.isfinite(frame.scale), np.abs(frame.center) / frame.scale, 0.0)
    sentence = Message(
        "optimal but for rounding: the offset of ",
        problem.column_name(1 + int(np.argmax(np.nan_to_num(offsets)))),
        " dwarfs its spread, and its weight in raw units cannot hold the digits of the optimum",
        Remedy(_STANDARDISE),
    )
    return Status("rounding", sentence, False)


def _out_of_range(problem: Objective, raw: Array) -> Status:
    """The status of weights past float64, with the column that has the largest one."""
    sentence = Message(
        "the optimum's weight of ",
        problem.column_name(1 + int(np.argmax(np.max(np.abs(raw[:, 1:]), axis=0)))),
        " is beyond the range of float64, since the column is nearly zero",
        Remedy(_STANDARDISE),
    )
    return Status("rounding", sentence, False)
