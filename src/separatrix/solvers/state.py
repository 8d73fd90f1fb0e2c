"""The `Solver` protocol, the state of a run, and the requirements of solvers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Protocol, runtime_checkable

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows import Block


class Need(Enum):
    """A requirement of a solver. ``auto`` only chooses solvers whose requirements the problem meets."""

    SMOOTH = "a smooth loss"
    SMOOTHED = "a loss that is smooth, or offers smooth losses near it"
    RIDGE = "a penalty without absolute values (l1_ratio=0)"
    HESSIAN = "few enough parameters for a matrix of second derivatives"
    GRAM = "few enough columns for a matrix of their products"
    STANDARD = "standard coordinates"
    RESIDENT = "rows in memory"
    RANDOM_ORDER = "rows in a random order, which a stream does not have"
    HELD = "a penalty on every column"


# Requirements that streamed rows cannot meet.
NOT_STREAMED = frozenset({Need.RESIDENT, Need.RANDOM_ORDER})


class Halt(Enum):
    """Why a solver cannot continue."""

    DIVERGED = "the step is too large: the objective grows"
    STALLED = "rounding: no step along the direction lowers the objective"
    CRAWLING = "rounding: the last steps together lowered the objective by less than 1e-7 of the null model's"
    SINGULAR = "the Hessian is singular to working precision"
    PATIENCE = "patience ran out"


@dataclass(frozen=True)
class State:
    """The state of a run: arrays and numbers only, so a run can be saved, sent and resumed with identical bits.

    Parameters
    ----------
    W : (K or 1, d + 1) array
        The weights in the coordinates of the problem's frame, intercepts in column 0.
    at : Evaluation
        The objective and its gradient at W.
    iteration : int
        The number of steps taken.
    memory : mapping
        Data of one solver only, such as the pairs of L-BFGS or the best weights of stochastic descent.
    halt : Halt, optional
        Why the solver cannot continue.
    expected : float
        The solver's own estimate of E − min E. It proves nothing, but it tells when computing a bound is worthwhile;
        NaN if the solver has no estimate.
    """

    W: Array
    at: Evaluation
    iteration: int = 0
    memory: Mapping[str, Any] = field(default_factory=dict)
    halt: Halt | None = None
    expected: float = float("nan")


@runtime_checkable
class Solver(Protocol):
    """An algorithm: a frozen dataclass of its settings with three functions of (problem, state).

    ``init`` makes the first state, ``step`` the next one, and ``solution`` the state to return at the end. ``budget``
    limits the rows that one step reads, for methods that update within an epoch. ``by_sums``: the method reads rows
    only through sums over all rows, so their order and repetition do not matter. ``converges``: on a strictly convex
    problem it reaches any tolerance.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[Need]]
    by_sums: ClassVar[bool]
    converges: ClassVar[bool]

    def init(self, problem: Objective, start: Array) -> State: ...
    def step(self, problem: Objective, state: State, budget: int | None = None) -> State: ...
    def solution(self, problem: Objective, state: State) -> State: ...


def in_memory(problem: Objective, solver: str) -> Block:
    """All rows of a problem as one block. Refuses streamed rows with a message that names the solver."""
    block = problem.rows.resident()
    if block is None:
        do = "read the rows into memory first, or use a method that needs only sums over them"
        raise ParameterError("solver", f"{solver!r} needs {Need.RESIDENT.value}, and these are streamed", do)
    return block
