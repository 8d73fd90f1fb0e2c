"""Stopping rules and status messages. Each rule is a function of a run that returns a `Status`, or None to continue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from separatrix.base.messages import Message, Parameter, Remedy, Setting
from separatrix.objectives.bound import Bound
from separatrix.objectives.bounds import largest_curvature
from separatrix.objectives.curvature_bound import unresolved_reason
from separatrix.objectives.limiting_columns import limiting_columns, oversized_column
from separatrix.objectives.problem import Objective
from separatrix.solvers.gradient_descent import DescentMemory
from separatrix.solvers.state import Halt, Memory, State

Code = Literal[
    "optimal",
    "resolved",
    "gradient",
    "patience",
    "rounding",
    "separated",
    "quasi-separated",
    "diverged",
    "max_iter",
    "inseparable",
]

# The advice in the message of a run that ended before the tolerance was reached.
_GO_ON = Remedy(
    Message("raise ", Parameter("max_iter"), ", raise ", Parameter("tol"), ", or leave the solver at 'auto'")
)
# The advice where columns differ by less than float64 resolves.
_LEAVE_ONE_OUT = Remedy(Message("leave one of them out, or use a finite ", Parameter("C")))


class Record(NamedTuple):
    """One iteration in the trace of a run.

    Attributes
    ----------
    iteration : int
        The number of the iteration.
    passes : int
        The passes over the rows so far.
    value, gradient_norm : float
        The objective and the length of its gradient at the weights after the iteration, or NaN if the solver skipped
        the pass that computes them.
    bound : float or None
        An upper bound on E − min E; None if none is known.
    seconds : float
        The time since the run began.
    met : float or None
        For online methods, the mean cost of the rows in the iteration, each computed with the weights just before the
        row was processed; None for other methods.
    """

    iteration: int
    passes: int
    value: float
    gradient_norm: float
    bound: float | None
    seconds: float
    met: float | None = None


@dataclass(frozen=True)
class Status:
    """Why a run ended.

    Attributes
    ----------
    code : str
        The kind of status.
    sentence : str
        The explanation. If it mentions rows, columns or settings, it is a `Message`, which holds them as typed parts.
    met : bool
        Whether the run reached its goal.
    """

    code: Code
    sentence: str
    met: bool


Rule: TypeAlias = Callable[[Objective, State[Memory], Bound, Sequence[Record]], "Status | None"]


@dataclass(frozen=True)
class Certified:
    """The rule that the bound is at most ``tol`` times the null model's objective.

    The status code is "resolved" if this is proved only for the directions that float64 resolves, and the columns have
    other directions.

    Parameters
    ----------
    tol : float
        The tolerance, relative to the null model's objective.

    Examples
    --------
    >>> Certified(1e-8)
    Certified(tol=1e-08)
    """

    tol: float

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        known = bound.known if bound.resolved is None else bound.resolved
        if not known <= self.tol * problem.null_value:
            return None
        relative = known / problem.null_value if problem.null_value > 0 else 0.0
        if bound.resolved is not None:
            resolved = Message(
                f"optimal among the weights that float64 resolves, within {relative:.1e} of the null model's "
                "objective, but perhaps not among all: ",
                bound.reason,
                _LEAVE_ONE_OUT,
            )
            return Status("resolved", resolved, True)
        sentence = (
            f"optimal: the objective exceeds its minimum by at most {relative:.1e} of the null model's objective "
            f"(tolerance {self.tol:.0e})"
        )
        return Status("optimal", sentence, True)


@dataclass(frozen=True)
class SmallGradient:
    """The rule of the lectures: the gradient's norm is at most ``length``. It does not prove a bound on E − min E.

    Parameters
    ----------
    length : float
        The norm at which the run stops.

    Examples
    --------
    >>> SmallGradient(1e-6)
    SmallGradient(length=1e-06)
    """

    length: float

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        if not trace[-1].gradient_norm <= self.length:
            return None
        return Status("gradient", f"the gradient's length fell to {trace[-1].gradient_norm:.1e}", True)


@dataclass(frozen=True)
class Stationary:
    """The rule for problems without a bound: the gradient's norm is at most ``tol``.

    If the solver has stalled because of rounding, ``near`` replaces ``tol``.

    Parameters
    ----------
    tol : float
        The norm at which the run stops.
    near : float, default 1e-6
        The norm at which a run that rounding has stalled counts as converged.

    Examples
    --------
    >>> Stationary(1e-8)
    Stationary(tol=1e-08, near=1e-06)
    """

    tol: float
    near: float = 1e-6

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        traits, length = problem.loss.traits, trace[-1].gradient_norm
        if traits.convex and (traits.self_concordance is not None or bound.value is not None):
            return None
        if not length <= (self.near if state.halt is Halt.STALLED else self.tol):  # NaN is not small, either
            return None
        if traits.convex and (unresolved := unresolved_reason(problem)):
            sentence = Message(
                f"stationary among the weights that float64 resolves: the gradient's length fell to {length:.1e}, but "
                "the minimum may be lower: ",
                unresolved,
                _LEAVE_ONE_OUT,
            )
            return Status("gradient", sentence, True)
        kind = (
            "near the minimum, though no bound proves how near"
            if traits.convex
            else "at a minimum, perhaps not the lowest: the cost is not convex"
        )
        return Status("gradient", f"stationary: the gradient's length fell to {length:.1e}, {kind}", True)


@dataclass(frozen=True)
class MostIterations:
    """The rule that ``max_iter`` iterations have been made.

    Parameters
    ----------
    max_iter : int
        The most iterations.

    Examples
    --------
    >>> MostIterations(100)
    MostIterations(max_iter=100)
    """

    max_iter: int

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        if state.iteration < self.max_iter:
            return None
        cause = oversized_column(problem)
        why = Message(": ", cause) if cause else _GO_ON
        ended = Message("stopped at ", Setting("max_iter", self.max_iter), " before the tolerance was reached", why)
        return Status("max_iter", ended, False)


@dataclass(frozen=True)
class Halted:
    """The rule that the solver has halted (``State.halt``)."""

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        if state.halt is None:
            return None
        if state.halt is Halt.DIVERGED:
            return _diverged(problem, state)
        if state.halt is Halt.PATIENCE:
            sentence = Message(
                "patience ran out before the tolerance was reached: the last epochs improved the objective by too "
                "little",
                Remedy("leave the solver at 'auto'"),
            )
            return Status("patience", sentence, False)
        ended = f"went as far as float64 goes ({state.halt.value}) before the tolerance was reached"
        cause = limiting_columns(problem)
        why = Message(": ", cause) if cause else Remedy(Message("raise ", Parameter("tol")))
        return Status("rounding", Message(ended, why), False)


def _diverged(problem: Objective, state: State) -> Status:
    safe = 2.0 / max(largest_curvature(problem), 1e-300)
    eta = f" eta={state.memory.eta:.3g}" if isinstance(state.memory, DescentMemory) else ""
    return Status(
        "diverged",
        f"diverged: the learning rate{eta} is too large for these columns; descent is certain below "
        f"{safe:.3g}; the best weights seen are returned",
        False,
    )
