"""What a watcher is told of a run: its states, one after the other, and how far it has come."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from separatrix.base.watching import Stage, watched
from separatrix.solvers.state import State
from separatrix.solvers.stopping import Record


@dataclass(frozen=True)
class Iteration:
    """One state of a run, and its line in the trace.

    ``gap``: the last known bound on how far from the optimum it is, as a share of the null model's objective, and
    ``first`` the first such; ``tol`` is where it ends. ``measure``: what has fallen so far, where that is not the gap.

    >>> import numpy as np
    >>> from separatrix.objectives.problem import Evaluation
    >>> W, record = np.zeros((1, 2)), Record(7, 9, value=0.5, gradient_norm=1e-3, bound=1e-5, seconds=0.1)
    >>> now = Iteration("newton", record, State(W, Evaluation(0.5, W), 7), tol=1e-8, first=1e-2, gap=1e-5)
    >>> print(now, round(now.share, 3))
    newton: iteration 7, gap 1.0e-05 (1e-08 asked) 0.5
    """

    solver: str
    record: Record
    state: State
    tol: float
    first: float | None = None
    gap: float | None = None
    measure: str = "gap"

    @property
    def share(self) -> float | None:
        """How far the gap has come on its way down to the tolerance, on a logarithmic scale."""
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
            return f", {self.measure} {self.gap:.1e} ({self.tol:.0e} asked)"
        if memory.get("lower", 0.0) > 0:
            return f", margin {memory['lower']:.4g}, at most {memory['upper']:.4g}"
        if "errors" in memory:
            return f", {memory['errors']} row{'s' * (memory['errors'] != 1)} wrong"
        return ", no bound on the gap yet" if self.tol > 0 else ""


@dataclass
class Follower:
    """Tells of each state of one run. ``unit``: what a bound is divided by."""

    tell: Callable[[Stage], None]
    solver: str
    unit: float
    tol: float
    measure: str = "gap"
    first: float | None = None
    gap: float | None = None

    def __call__(self, record: Record, state: State, bound: float | None = None) -> None:
        """``bound``: where it is not the record's."""
        found = record.bound if bound is None else bound
        if found is not None and self.unit > 0 and math.isfinite(found):
            self.gap = found / self.unit
            self.first = self.gap if self.first is None else self.first
        self.tell(Iteration(self.solver, record, state, self.tol, self.first, self.gap, self.measure))


def follower(solver: str, unit: Callable[[], float], tol: float, measure: str = "gap") -> Follower | None:
    """Who tells of a run, where somebody watches.

    >>> follower("newton", lambda: 1.0, 1e-8) is None
    True
    """
    tell = watched()
    return None if tell is None else Follower(tell, solver, unit(), tol, measure)
