r"""The regularisation path with warm starts: the same rows, each fit starting from the last one. TEXTBOOK R8.

Problem   min_W E(W) for one C after another
Given     rows, the penalty of C = 1
Returns   for each C the problem, the run of a solver on it, and why that solver
Step      the rows are summarised once; from one C to the next the loss and its gradient are known, so only what the
          new penalty changes is looked at, and columns gathered for the last C serve the next

Friedman, Hastie and Tibshirani 2010, section 2.5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from separatrix.base.arrays import Array
from separatrix.objectives.build import build_objective
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows import Frame, Rows
from separatrix.rows.frame import power_of_two
from separatrix.solvers import Run, Solver, State, choose, default_rules, refuse_unmet, run

# The smallest share of absolute values for computing the C at which weights vanish: a ridge has no such C.
SMALLEST_L1_RATIO = 1e-3
# The C is reduced by this factor, so that weights stay zero despite rounding.
JUST_BELOW = 1 - 1e-10


class Solved(NamedTuple):
    """The problem of one C, and how it was solved."""

    problem: Objective
    solver: Solver
    why: str
    outcome: Run


@runtime_checkable
class _TakesUp(Protocol):
    """A solver that can begin where E is known, and use what a run with another penalty has gathered."""

    def begin(self, problem: Objective, start: Array, at: Evaluation, before: State | None = None) -> State: ...


@dataclass
class WarmPath:
    """Where the path is: the problem of the last C, and the state it ended in.

    >>> from separatrix.rows import labelled_rows
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> walk = WarmPath.over(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> weak, strong = (abs(walk.solved(C).outcome.state.W[0, 1]) for C in (10.0, 0.1))
    >>> bool(weak > strong)
    True
    """

    penalty: Penalty  # of C = 1, in the units of the rows' weights
    scale: Array  # of the columns alone, whatever the penalty
    problem: Objective
    solver: Solver | None = None
    state: State | None = None

    @classmethod
    def over(
        cls,
        rows: Rows,
        n_classes: int,
        penalty: Penalty,
        fit_intercept: bool = True,
        names: list[str] | None = None,
        loss: str = "logistic",
        n_offsets: int = 0,
    ) -> WarmPath:
        """At the beginning: no C has been solved. ``penalty``: of C = 1."""
        lasso = replace(penalty, l1_ratio=1.0)  # without squares, so that the frame is that of the columns
        problem = build_objective(rows, n_classes, lasso, fit_intercept, names=names, loss=loss, n_offsets=n_offsets)
        kept = replace(problem.penalty, l1_ratio=penalty.l1_ratio)
        return cls(kept, problem.rows.frame.scale, problem)

    @property
    def null_gradient(self) -> Array:
        """∇E of the null model in each class's score, (classes, d + 1), from the sums of the classes alone."""
        problem = self.problem
        sums = problem.class_sums / problem.total_weight
        share = sums[:, 0] if problem.fit_intercept else np.full(len(sums), 1.0 / len(sums))
        return np.asarray(np.outer(share, sums.sum(axis=0)) - sums)

    def zero(self) -> float:
        """The largest C at which no penalised column has a weight."""
        largest = np.max(np.abs(self.null_gradient)[:, 1:], axis=0)
        ratio = max(self.penalty.l1_ratio, SMALLEST_L1_RATIO)
        wanted = largest > 0
        lasso = replace(self.penalty, l1_ratio=1.0)
        a = ratio * self.problem.with_(penalty=lasso).absolute_penalty[1:][wanted] / largest[wanted]
        return JUST_BELOW * float(np.min(a[a > 0])) if np.any(a > 0) else 1.0

    def solved(self, C: float, solver: Solver | None = None, tol: float = 1e-8, max_iter: int = 1000) -> Solved:
        """The fit at C, from where the last one ended; without a solver, by the one for the problem's shape."""
        problem = self.objective(C)
        solver, why = choose(problem) if solver is None else (solver, f"{solver.name}: asked for")
        refuse_unmet(solver, problem)
        outcome = run(solver, problem, self._start(solver, problem), default_rules(tol, max_iter), tol)
        self.problem, self.solver, self.state = problem, solver, outcome.state
        return Solved(problem, solver, why, outcome)

    def objective(self, C: float) -> Objective:
        """The problem of C: the same rows, and all that is known of them already."""
        penalty = self.penalty.times(0.0 if np.isinf(C) else 1.0 / C)
        last, frame = self.problem, self.problem.rows.frame
        spread = 2 * np.sqrt(penalty.quadratic / last.total_weight)
        scale = np.where(np.isinf(self.scale), np.inf, power_of_two(np.hypot(self.scale, spread)))
        if np.array_equal(scale, frame.scale):
            return last.with_(penalty=penalty, count_anew=True)
        stretched = Frame(frame.center, scale)
        known = {"class_sums": last.class_sums / _stretch(frame, stretched)}
        return last.with_(frame=stretched, penalty=penalty, known=known, count_anew=True)

    def _start(self, solver: Solver, problem: Objective) -> Array | State:
        last, state = self.problem, self.state
        if state is None:
            return np.zeros(problem.shape) if problem.offsets is None else problem.null_weights
        stretch = _stretch(last.rows.frame, problem.rows.frame)
        W = state.W * stretch
        if not isinstance(solver, _TakesUp):
            return W
        value = state.at.value - last.penalty_value(state.W) + problem.penalty_value(W)
        loss_gradient = (state.at.gradient - last.penalty_gradient(state.W)) / stretch
        at = Evaluation(value, loss_gradient + problem.penalty_gradient(W))
        goes_on = last.rows is problem.rows and solver == self.solver
        return solver.begin(problem, W, at, state if goes_on else None)


def _stretch(before: Frame, after: Frame) -> Array:
    """By how much weights grow from one frame to another with the same centre, (d + 1): powers of two."""
    hidden = np.isinf(after.scale)
    return np.concatenate([[1.0], np.where(hidden, 1.0, after.scale / np.where(hidden, 1.0, before.scale))])
