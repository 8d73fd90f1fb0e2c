"""What all solvers share: the ``Solver`` protocol, the ``State`` of a run, its start, and a solver's requirements.

A solver is a frozen dataclass of settings, and everything that changes in a run is in its state. So a run can be
stopped at any state, pickled, and continued with bitwise the same results.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import log
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import ParameterError
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block

# The type of a solver's memory (``State.memory``). `State` without a type argument may hold memory of any type, typed
# as object; for `Solver` without one, the type of the memory is not checked.
if TYPE_CHECKING:  # defaults of type variables, which Python supports from 3.13 on
    Memory = TypeVar("Memory", default=Any)
    Memory_co = TypeVar("Memory_co", covariant=True, default=object)
else:
    Memory, Memory_co = TypeVar("Memory"), TypeVar("Memory_co", covariant=True)


class Need(Enum):
    """A requirement of a solver. ``auto`` only chooses solvers whose requirements the problem meets."""

    SMOOTH = "a smooth loss"
    SMOOTHED = "a loss that is smooth, or offers smooth losses near it"
    RIDGE = "a penalty without absolute values (l1_ratio=0)"
    HESSIAN = "few enough parameters for a matrix of second derivatives"
    GRAM = "few enough columns for a matrix of their products"
    STANDARD = "standard coordinates"
    RESIDENT = "rows in memory"
    HELD = "a penalty on every column"


# Requirements that streamed rows cannot meet.
NOT_STREAMED = frozenset({Need.RESIDENT})


class Halt(Enum):
    """Why a solver cannot continue."""

    DIVERGED = "the step is too large: the objective grows"
    STALLED = "rounding: no step along the direction lowers the objective"
    CRAWLING = "rounding: the last steps together lowered the objective by less than 1e-7 of the null model's"
    SINGULAR = "the Hessian is singular to working precision"
    PATIENCE = "patience ran out"


@dataclass(frozen=True)
class State(Generic[Memory_co]):
    """The state of a run. It is immutable and can be pickled. A run that starts from it gives bitwise the same results.

    Parameters
    ----------
    W : (K or 1, d + 1) array
        The weights in the coordinates of the problem's frame, intercepts in column 0.
    at : Evaluation
        The objective and its gradient at W.
    iteration : int
        The number of steps taken.
    memory : object, optional
        Data that the solver keeps between steps, such as the pairs of L-BFGS or the best weights of stochastic descent:
        a frozen dataclass or a named tuple that the solver defines. None if the solver keeps no data.
    halt : Halt, optional
        Why the solver cannot continue.
    expected : float
        The solver's estimate of E − min E. It is not a proven bound, but it indicates when computing a bound is
        worthwhile. NaN if the solver has no estimate.
    met : float, optional
        For online methods, the mean cost of the rows in the last step, each computed with the weights just before the
        row was processed.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.core.objective_sums import Evaluation
    >>> W = np.zeros((1, 2))
    >>> State(W, Evaluation(0.7, W)).iteration
    0
    """

    W: Array
    at: Evaluation
    iteration: int = 0
    memory: Memory_co = None  # type: ignore[assignment]  # for solvers that keep no data
    halt: Halt | None = None
    expected: float = float("nan")
    met: float | None = None


@runtime_checkable
class Solver(Protocol[Memory]):
    """An algorithm: a frozen dataclass of its settings with three functions of (problem, state).

    ``init`` returns the first state, ``step`` the next one, and ``solution`` the state to return at the end. ``budget``
    limits the number of rows that one step reads, for methods that update within an epoch. ``by_sums``: the method uses
    rows only through sums over all rows, so the result does not depend on their order, and a weight of 2 equals
    repeating a row. ``converges``: on a strictly convex problem the method reaches any tolerance. ``Memory`` is the
    type of ``State.memory``.
    """

    name: ClassVar[str]
    converges: ClassVar[bool]

    @property
    def needs(self) -> frozenset[Need]: ...
    @property
    def by_sums(self) -> bool: ...

    def init(self, problem: Objective, start: Array) -> State[Memory]:
        """The first state of a run from the weights ``start``."""

    def step(self, problem: Objective, state: State[Memory], budget: int | None = None) -> State[Memory]:
        """The state after one more step."""

    def solution(self, problem: Objective, state: State[Memory]) -> State[Memory]:
        """The state that the run returns if it ends at ``state``."""


def in_memory(problem: Objective, solver: str) -> Block:
    """All rows of a problem as one block. Raises an error that names the solver if rows are streamed."""
    block = problem.rows.resident()
    if block is None:
        remedy = "read the rows into memory first, or use a method that needs only sums over them"
        raise ParameterError("solver", f"{solver!r} needs {Need.RESIDENT.value}, and these are streamed", remedy)
    return block


def begun(problem: Objective, start: Array) -> Evaluation:
    """E(start) and ∇E(start) in one pass, or from the class sums alone if all weights are zero.

    At W = 0 the derivative of a row's loss depends only on its class.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), 2, ridge)
    >>> at, passes = begun(problem, np.zeros((1, 2))), problem.passes
    >>> bool(np.allclose(at.gradient, problem.value_gradient(np.zeros((1, 2))).gradient)), problem.passes - passes
    (True, 1)
    """
    if np.count_nonzero(start):
        return problem.value_gradient(start)
    K, sums = problem.shape[0], problem.framed.mean_class_sums
    if problem.loss.traits.canonical:  # every class has the probability 1/K
        gradient = 0.5 * (sums[:1] - sums[1:]) if K == 1 else problem.framed.mean_row / K - sums
        return Evaluation(log(problem.n_classes), problem.without_pinned(gradient))
    z = np.zeros((problem.n_classes, K) if problem.loss.traits.multiclass else problem.n_classes)
    value, slope = problem.loss.value_derivative(problem.targets, z)
    gradient = slope.reshape(problem.n_classes, K).T @ sums
    return Evaluation(float(sums[:, 0] @ value), problem.without_pinned(gradient))
