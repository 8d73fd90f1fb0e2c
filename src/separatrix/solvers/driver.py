"""The driver for all solvers: it calls init, then step until a stopping rule holds, and records every state.

Warm starts, progress reports, loss curves and cancellation all use the same states. A run that starts from
``Run.state`` gives bitwise the same results as an uninterrupted one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic

import numpy as np

from separatrix.base.arrays import Array, all_true, length
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.messages import Message, Remedy
from separatrix.objectives.bound import Bound
from separatrix.objectives.bounds import bound, with_weights
from separatrix.objectives.curvature import Curvature
from separatrix.objectives.limiting_columns import STANDARDISE
from separatrix.objectives.problem import Objective
from separatrix.rows.frame import LARGEST_FLOAT
from separatrix.rows.raw_weights import raw_weights
from separatrix.solvers.bound_schedule import Schedule, schedule
from separatrix.solvers.finish import MOST_FINAL_STEPS_OF_SMALL_TABLES, SMALLEST_DISTANCE_OF_SMALL_TABLES, finished
from separatrix.solvers.iteration import follower
from separatrix.solvers.separation_rule import Separated
from separatrix.solvers.state import Memory, Memory_co, Solver, State
from separatrix.solvers.stopping import Certified, Halted, MostIterations, Record, Rule, Stationary, Status

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
    """

    state: State[Memory_co]
    status: Status
    bound: Bound
    trace: tuple[Record, ...]
    curvature: Curvature | None = None


def default_rules(tol: float, max_iter: int) -> list[Rule]:
    """The stopping rules of every fit, in the order in which they are tested.

    Parameters
    ----------
    tol : float
        The tolerance, relative to the null model's objective.
    max_iter : int
        The most iterations.

    Returns
    -------
    list of rules

    Examples
    --------
    >>> [type(rule).__name__ for rule in default_rules(1e-8, 100)]
    ['Certified', 'Separated', 'Stationary', 'Halted', 'MostIterations']
    """
    return [Certified(tol), Separated(max_iter, tol), Stationary(tol), Halted(), MostIterations(max_iter)]


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
        The first weights, (K or 1, d + 1) in the frame's coordinates, or a state to start from.
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
    look, trace = schedule(solver, problem, tol, exact_weights), list[Record]()
    report = follower(solver.name, lambda: problem.null_value, tol, problem=problem, method=solver)
    every = _with_halt(rules)
    before: State[Memory] | None = None
    clock = time.perf_counter()
    with one_blas_thread:
        for state in states(solver, problem, start):
            bound_here = look.at(problem, state, before)
            trace.append(_recorded(problem, state, bound_here, time.perf_counter() - clock))
            if report is not None:
                report(trace[-1], state, look.shown(problem, state).value)
            status = _first_status(every, problem, state, bound_here, trace)
            ended: Run[Memory] | None = None
            if status is not None:
                ended = _end(solver, problem, state, status, look, trace)
                if exact_weights and status.code in CERTIFIED:
                    ended = _finished(problem, ended, look, rules, clock)
            elif look.promising:
                ended = _proved(problem, state, look, trace, clock)
                if ended is None:
                    look.failed(state)
            if ended is not None:
                if report is not None and ended.trace[-1] is not trace[-1]:  # the final steps added a record
                    report(ended.trace[-1], ended.state, final=True)
                return ended
            before = state
    raise AssertionError("a run ends by a rule or by its solver's halt")


def _with_halt(rules: Sequence[Rule[Memory]]) -> list[Rule[Memory]]:
    """The rules, with the one that ends the run if the solver halts."""
    return [*rules] if Halted in map(type, rules) else [*rules, Halted()]


def _first_status(
    rules: Sequence[Rule[Memory]], problem: Objective, state: State[Memory], found: Bound, trace: list[Record]
) -> Status | None:
    """The status of the first rule that holds; None if none does."""
    for rule in rules:
        status = rule(problem, state, found, trace)
        if status is not None:
            return status
    return None


def _recorded(problem: Objective, state: State, found: Bound, seconds: float) -> Record:
    gradient = state.at.gradient
    slope = length(problem.subgradient(state.W, gradient) if problem.has_absolute else gradient)
    return Record(state.iteration, problem.passes, state.at.value, slope, found.value, seconds, state.met)


def _proved(
    problem: Objective, state: State[Memory], look: Schedule, trace: list[Record], clock: float
) -> Run[Memory] | None:
    """The run that ends with the steps of ``finish`` from a promising state, if the bound after them proves it."""
    within, most_steps = SMALLEST_DISTANCE_OF_SMALL_TABLES, MOST_FINAL_STEPS_OF_SMALL_TABLES
    end, found = finished(problem, state, look.latest, within, most_steps)
    status = Certified(look.tol)(problem, end, found.bound, trace)
    if status is None:
        return None
    earlier = trace if end is not state else trace[:-1]
    last = _recorded(problem, end, found.bound, time.perf_counter() - clock)
    return Run(end, status, with_weights(problem, found.bound), (*earlier, last), found.curvature)


def _finished(
    problem: Objective, ended: Run[Memory], look: Schedule, rules: Sequence[Rule[Memory]], clock: float
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
    look: Schedule,
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

    Parameters
    ----------
    outcome : Run
        The run of a solver.
    problem : Objective
        Its problem.
    tol : float
        The tolerance of the run.

    Returns
    -------
    weights : array (K or 1, d + 1)
        The weights in raw units, intercepts in column 0.
    outcome : Run
        The run, with the bound for these weights.

    Examples
    --------
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.solvers.newton import Newton
    >>> rows = labelled_rows(100.0 + np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    >>> problem = build_objective(rows, 2, Penalty(1.0, np.ones(1)))
    >>> outcome = run(Newton(), problem, np.zeros(problem.shape), default_rules(1e-8, 100), 1e-8)
    >>> weights, outcome = delivered(outcome, problem, 1e-8)
    >>> weights.shape, outcome.status.code
    ((1, 2), 'optimal')
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
    least, a = 1.0, problem.absolute_penalty
    if problem.has_absolute:
        least = float(a[a > 0].min(initial=1.0))
    if all_true(np.abs(back - state.W) <= LARGEST_RAW_UNIT_ERROR * least):
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
