"""The iterations of a run as a `watch` callback receives them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from separatrix.base.arrays import Array
from separatrix.base.watching import Stage, watched
from separatrix.objectives.problem import Objective
from separatrix.rows.raw_weights import raw_weights
from separatrix.solvers.separating.search_memories import HullMemory, PerceptronMemory
from separatrix.solvers.state import Solver, State
from separatrix.solvers.stopping import Record


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
        Whether the driver came here by the last Newton steps of the module ``finish``, instead of by the solver.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.objectives.problem import Evaluation
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
