"""What every solver is made of: its problem, its state, its needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Protocol, runtime_checkable

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.objective.problem import Evaluation, Objective
from separatrix.rows import Block


class Need(Enum):
    """What a solver asks of the problem; ``auto`` offers it only where there is that."""

    SMOOTH = "a smooth loss"
    SMOOTHED = "a loss that is smooth, or offers smooth losses near it"
    RIDGE = "a penalty without absolute values (l1_ratio=0)"
    HESSIAN = "few enough parameters for a matrix of second derivatives"
    GRAM = "few enough columns for a matrix of their products"
    STANDARD = "standard coordinates"
    RESIDENT = "rows in memory"
    RANDOM_ORDER = "rows in a random order, which a stream does not have"
    HELD = "a penalty on every column"


# Needs that rows which are read from a stream cannot meet.
NOT_STREAMED = frozenset({Need.RESIDENT, Need.RANDOM_ORDER})


class Halt(Enum):
    """Why a solver cannot go on by itself."""

    DIVERGED = "the step is too large: the objective grows"
    STALLED = "rounding: no step along the direction lowers the objective"
    CRAWLING = "rounding: the last steps together lowered the objective by less than 1e-7 of the null model's"
    SINGULAR = "the Hessian is singular to working precision"
    PATIENCE = "patience ran out"


@dataclass(frozen=True)
class State:
    """Where a solver is: arrays and numbers only, so that it can be kept, sent, and taken up again to the bit.

    ``memory`` holds what only that solver needs (pairs of L-BFGS, the best weights of stochastic descent).
    ``expected``: the solver's own guess at E − min E, which proves nothing but says when a proof is worth its price;
    NaN where it has none.
    """

    W: Array
    at: Evaluation
    iteration: int = 0
    memory: Mapping[str, Any] = field(default_factory=dict)
    halt: Halt | None = None
    expected: float = float("nan")


@runtime_checkable
class Solver(Protocol):
    """An algorithm: a frozen dataclass of its settings, three functions of (problem, state).

    ``budget`` limits the rows that one step walks over, for methods that move inside an epoch. ``by_sums``: the
    method sees rows only through sums over all of them, so their order and repetition cannot matter. ``converges``:
    on a strictly convex problem it reaches any tolerance.
    """

    name: ClassVar[str]
    needs: ClassVar[frozenset[Need]]
    by_sums: ClassVar[bool]
    converges: ClassVar[bool]

    def init(self, problem: Objective, start: Array) -> State: ...
    def step(self, problem: Objective, state: State, budget: int | None = None) -> State: ...
    def solution(self, problem: Objective, state: State) -> State: ...


def in_memory(problem: Objective, solver: str) -> Block:
    """All rows of a problem, for a solver that needs them in memory; refuses a stream by the solver's name."""
    block = problem.rows.resident()
    if block is None:
        do = "read the rows into memory first, or use a method that needs only sums over them"
        raise ParameterError("solver", f"{solver!r} needs {Need.RESIDENT.value}, and these are streamed", do)
    return block
