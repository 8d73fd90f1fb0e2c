"""One driver for all solvers: init, then step until a rule holds. Everything seen on the way is in the trace.

Warm starts, progress, loss curves, cancelling and checkpoints all use the same states, so nothing re-implements
an algorithm to watch it. A run taken up from ``Run.state`` goes on with the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from separatrix.base.arrays import Array, length
from separatrix.base.concurrency import one_blas_thread
from separatrix.objectives.bound import Bound
from separatrix.objectives.bounds import NOT_LOOKED_FOR, Evidence, bound, evidence, thorough_passes, with_weights
from separatrix.objectives.curvature import Curvature
from separatrix.objectives.problem import Objective
from separatrix.rows.block import LARGEST_FLOAT
from separatrix.rows.raw_weights import raw_weights
from separatrix.solvers.finish import finished
from separatrix.solvers.iteration import follower
from separatrix.solvers.separation_rule import Separated
from separatrix.solvers.state import Solver, State
from separatrix.solvers.stopping import Certified, Halted, MostIterations, Record, Rule, Stationary, Status

# Bounds from which the rate is taken; and what a step costs of a solver that takes no second derivatives.
RECENT, PASSES_A_STEP = 4, 2
# Raw and framed weights that differ by no more than this are the same fit: scores differ by no more, of columns of
# size one.
ROUNDED = 1e-11
# Codes of a run whose bound is within the tolerance.
CERTIFIED = ("optimal", "resolved")

BEYOND_RAW_UNITS = Status(
    "rounding",
    "optimal but for rounding: a column's offset dwarfs its spread, and its weight in raw units cannot hold the digits "
    "of the optimum; subtract the offset from that column first",
    False,
)

OUT_OF_RANGE = Status(
    "rounding",
    "the optimum's weight of a column is beyond the range of float64, since the column is nearly zero; multiply that "
    "column by a power of two first",
    False,
)


@dataclass(frozen=True)
class Run:
    """How a run went: the state it ended in, why, and every record on the way.

    ``curvature``: second derivatives that prove the bound, where they are at hand.
    """

    state: State
    status: Status
    bound: Bound
    trace: tuple[Record, ...]
    curvature: Curvature | None = None


@dataclass
class BoundSchedule:
    """The bound at each state: the cheap one always, the thorough one when the run seems near its end.

    A thorough bound costs second derivatives. It is tried once the solver expects to be within the tolerance, or, of
    solvers that expect nothing, once a step gains less than the root of the tolerance (Newton's error squares each
    step); then again after every quarter more of the iterations. Not where the cheap bound falls so fast that a few
    steps more bring it to the tolerance for less.
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
        self.cheap = (*self.cheap, cheap.known)[-RECENT:]
        enough = cheap.known <= self.tol * problem.null_value
        if enough or not (near and due) or self._falls_soon(problem, state):
            self.latest = Evidence(cheap)
        else:
            self.latest = evidence(problem, state.W, state.at, thorough=True)
            self.tried_at, self.next_try = state.iteration, state.iteration + 1 + state.iteration // 4
        return self.latest.bound

    def _falls_soon(self, problem: Objective, state: State) -> bool:
        """Whether the cheap bound should be within the tolerance after steps that cost less than a thorough one."""
        goal, seen = self.tol * problem.null_value, [known for known in self.cheap if np.isfinite(known)]
        if len(seen) < 2 or not 0 < goal < seen[-1] < min(seen[0], seen[-2]):
            return False
        if np.isnan(state.expected):  # a step costs as much, and the rate of Newton's steps squares
            return seen[-1] * (seen[-1] / seen[-2]) ** 2 <= goal
        rate = np.log(seen[0] / seen[-1]) / (len(seen) - 1)
        return bool(PASSES_A_STEP * np.log(seen[-1] / goal) / rate <= thorough_passes(problem))

    def _near(self, problem: Objective, state: State, before: State | None) -> bool:
        if np.isnan(state.expected):
            gained = np.inf if before is None else before.at.value - state.at.value
            return gained <= sqrt(self.tol) * problem.null_value
        # Only the sample's rows serve the bound, so it is looser than the guess by their share.
        share = problem.sampled.n_rows / max(problem.n_rows, 1)
        return bool(state.expected <= share * self.tol * problem.null_value)


def default_rules(tol: float, max_iter: int) -> list[Rule]:
    """What every fit stops on, in the order they are asked.

    >>> [type(rule).__name__ for rule in default_rules(1e-8, 100)]
    ['Certified', 'Separated', 'Stationary', 'Halted', 'MostIterations']
    """
    return [Certified(tol), Separated(max_iter, tol), Stationary(tol), Halted(), MostIterations(max_iter)]


def states(solver: Solver, problem: Objective, start: Array | State, budget: int | None = None) -> Iterator[State]:
    """The states of a run without end: for stepping by hand, in a page or a test.

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
    solver: Solver,
    problem: Objective,
    start: Array | State,
    rules: Sequence[Rule],
    tol: float,
    exact_weights: bool = False,
) -> Run:
    """Run ``solver`` on ``problem`` until one of ``rules`` holds; whoever watches is told of every state.

    ``exact_weights``: where second derivatives are at hand at the end, take the last steps of ``finish``, too.

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
    told = follower(solver.name, lambda: problem.null_value, tol)
    every: list[Rule] = [*rules, Halted()]
    before: State | None = None
    clock = time.perf_counter()
    with one_blas_thread:
        for state in states(solver, problem, start):
            found = look.at(problem, state, before)
            trace.append(_recorded(problem, state, found, time.perf_counter() - clock))
            if told is not None:
                told(trace[-1], state)
            for rule in every:
                status = rule(problem, state, found, trace)
                if status is not None:
                    break
            if status is not None:
                ended = _end(solver, problem, state, status, look, trace)
                if not (exact_weights and status.code in CERTIFIED):
                    return ended
                last = _finished(problem, ended, look, rules, clock)
                if told is not None and len(last.trace) > len(ended.trace):
                    told(last.trace[-1], last.state)
                return last
            before = state
    raise AssertionError("a run ends by a rule or by its solver's halt")


def _recorded(problem: Objective, state: State, found: Bound, seconds: float) -> Record:
    slope = length(problem.subgradient(state.W, state.at.gradient))
    met = state.memory.get("met")
    return Record(state.iteration, problem.passes, state.at.value, slope, found.value, seconds, met)


def _finished(problem: Objective, ended: Run, look: BoundSchedule, rules: Sequence[Rule], clock: float) -> Run:
    """The run with its last steps, if the limit on iterations leaves one, and the status in their light."""
    most = min((rule.max_iter for rule in rules if isinstance(rule, MostIterations)), default=np.inf)
    state, found, trace, status = ended.state, look.latest, ended.trace, None
    if state.iteration < most:
        state, found = finished(problem, state, found)
        if state is not ended.state:
            trace = (*trace, _recorded(problem, state, found.bound, time.perf_counter() - clock))
        status = Certified(look.tol)(problem, state, found.bound, trace)
    if status is None:  # no room for a step, or one that loses what was proven
        return replace(ended, bound=with_weights(problem, ended.bound), curvature=look.latest.curvature)
    return Run(state, status, with_weights(problem, found.bound), trace, found.curvature)


def _end(
    solver: Solver, problem: Objective, state: State, status: Status, look: BoundSchedule, trace: list[Record]
) -> Run:
    """The solver's answer, with the sharpest bound on it that there is."""
    final, found = solver.solution(problem, state), look.latest.bound
    if status.code not in CERTIFIED:
        found = bound(problem, final.W, final.at, thorough=True, last=True)
    return Run(final, _judged(status, problem, final, found, look.tol, trace), found, tuple(trace))


def _judged(
    status: Status, problem: Objective, state: State, found: Bound, tol: float, trace: Sequence[Record]
) -> Status:
    """The status in the light of the last bound: what ended for another reason may yet be within the tolerance."""
    return status if status.met else Certified(tol)(problem, state, found, trace) or status


def delivered(outcome: Run, problem: Objective, tol: float) -> tuple[Array, Run]:
    """The weights in raw units, those of an offset's columns left out, and the run judged by them.

    Beside a large offset the raw intercept rounds away digits that the frame's kept, so value and bound are taken
    anew where that shows.
    """
    raw, outcome = _in_raw_units(outcome, problem, tol)
    if not problem.n_offsets:
        return raw, outcome
    own, beside = raw[:, : -problem.n_offsets], raw[:, -problem.n_offsets :]
    # A constant offset has no column in the frame: the intercept stood in for it.
    own[:, 0] -= (np.eye(len(raw)) - beside) @ problem.rows.frame.center[-problem.n_offsets :]
    return own, outcome


def _in_raw_units(outcome: Run, problem: Objective, tol: float) -> tuple[Array, Run]:
    frame, state = problem.rows.frame, outcome.state
    raw = raw_weights(frame, state.W)
    back = frame.from_original(raw)
    # Beside absolute values a bound falls with the gradient, as a share of the penalty, and not with its square.
    least = float(np.min(problem.absolute_penalty[problem.absolute_penalty > 0], initial=1.0))
    if np.max(np.abs(back - state.W)) <= ROUNDED * least:
        return raw, outcome
    with one_blas_thread:
        at = problem.value_gradient(back)
        found = bound(problem, back, at, thorough=True)
    status = outcome.status
    if status.code in CERTIFIED:
        beyond = OUT_OF_RANGE if np.max(np.abs(raw)) >= LARGEST_FLOAT else BEYOND_RAW_UNITS
        status = Certified(tol)(problem, state, found, outcome.trace) or beyond
    return raw, Run(replace(state, W=back, at=at), status, found, outcome.trace, outcome.curvature)
