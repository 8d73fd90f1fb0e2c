r"""The regularisation path with warm starts: the same rows, each fit starting from the last one (docs/tour.md, R8).

Problem   min_W E(W) for a sequence of values of C
Given     rows, the penalty at C = 1
Returns   for each C the problem, the run of a solver on it, and the reason for the choice of the solver
Step      the rows are summarised once. At the start for the next C, the loss and its gradient are known from the last
          fit, so only the penalty is evaluated again. Columns gathered for the last C are reused

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

# The smallest l1_ratio for computing the C below which all weights are zero; smaller ones are replaced by it, because
# for ridge there is no such C.
SMALLEST_L1_RATIO = 1e-3
# The C at which weights become nonzero is multiplied by this, so that they stay zero despite rounding.
JUST_BELOW = 1 - 1e-10


class Solved(NamedTuple):
    """The problem of one C, and how it was solved."""

    problem: Objective
    solver: Solver
    why: str
    outcome: Run


@runtime_checkable
class _TakesUp(Protocol):
    """A solver that can start with a known E, and reuse the gathered columns of a run with another penalty."""

    def begin(self, problem: Objective, start: Array, at: Evaluation, before: State | None = None) -> State: ...


@dataclass
class WarmPath:
    """The current point of the path: the problem at the last C, and the final state of its run.

    >>> from separatrix.rows import labelled_rows
    >>> X, codes = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> walk = WarmPath.over(labelled_rows(X, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> weak, strong = (abs(walk.solved(C).outcome.state.W[0, 1]) for C in (10.0, 0.1))
    >>> bool(weak > strong)
    True
    """

    penalty: Penalty  # the penalty at C = 1, in the units of the rows' weights
    scale: Array  # the scales of the columns, which do not depend on the penalty
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
        """A new path, on which no C has been solved yet. ``penalty``: the penalty at C = 1."""
        lasso = replace(penalty, l1_ratio=1.0)  # no quadratic part, so the frame depends only on the columns
        problem = build_objective(rows, n_classes, lasso, fit_intercept, names=names, loss=loss, n_offsets=n_offsets)
        kept = replace(problem.penalty, l1_ratio=penalty.l1_ratio)
        return cls(kept, problem.rows.frame.scale, problem)

    @property
    def null_gradient(self) -> Array:
        """∇E of the null model for each class's score, (classes, d + 1), from the class sums without a pass."""
        problem = self.problem
        sums = problem.class_sums / problem.total_weight
        share = sums[:, 0] if problem.fit_intercept else np.full(len(sums), 1.0 / len(sums))
        return np.asarray(np.outer(share, sums.sum(axis=0)) - sums)

    def zero(self) -> float:
        """The largest C at which all weights of penalised columns are zero."""
        largest = np.max(np.abs(self.null_gradient)[:, 1:], axis=0)
        ratio = max(self.penalty.l1_ratio, SMALLEST_L1_RATIO)
        wanted = largest > 0
        lasso = replace(self.penalty, l1_ratio=1.0)
        a = ratio * self.problem.with_(penalty=lasso).absolute_penalty[1:][wanted] / largest[wanted]
        return JUST_BELOW * float(np.min(a[a > 0])) if np.any(a > 0) else 1.0

    def solved(self, C: float, solver: Solver | None = None, tol: float = 1e-8, max_iter: int = 1000) -> Solved:
        """The fit at C, with a warm start from the last fit. If ``solver`` is None, it is chosen automatically."""
        problem = self.objective(C)
        solver, why = choose(problem) if solver is None else (solver, f"{solver.name}: chosen by the user")
        refuse_unmet(solver, problem)
        outcome = run(solver, problem, self._start(solver, problem), default_rules(tol, max_iter), tol)
        self.problem, self.solver, self.state = problem, solver, outcome.state
        return Solved(problem, solver, why, outcome)

    def objective(self, C: float) -> Objective:
        """The problem at C, with the same rows and the cached quantities that remain valid."""
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
    """The factors, (d + 1), powers of two, that convert weights from one frame to another with the same centre."""
    hidden = np.isinf(after.scale)
    return np.concatenate([[1.0], np.where(hidden, 1.0, after.scale / np.where(hidden, 1.0, before.scale))])
