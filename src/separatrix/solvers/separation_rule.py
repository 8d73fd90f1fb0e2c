"""The stopping rule for complete and quasi-complete separation: without a penalty, no finite optimum exists.

A direction V leads to infinity if its margins are ≥ 0 on every row and > 0 on some, so that the likelihood never
decreases along it. Under complete separation, weights that classify every row correctly are such a direction. Under
quasi-complete separation, Newton's steps approach one: scores grow along it by about one per step, while all finite
components converge. The test without a fit is ``proofs.separability``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.objectives.bound import Bound
from separatrix.objectives.problem import Objective
from separatrix.proofs.naming import About
from separatrix.proofs.row_claims import View
from separatrix.proofs.separability import class_values
from separatrix.proofs.streamed_separability import decide_streamed
from separatrix.proofs.verdicts import QuasiSeparable, Verdict
from separatrix.solvers.newton import Newton
from separatrix.solvers.state import Halt, State
from separatrix.solvers.stopping import Record, Status

# Directions to infinity are tested after this many Newton steps from zero, and at most this many steps are taken.
# Before the first, the finite components have not converged; after the last, second derivatives are lost to rounding.
FIRST_TESTED_STEP, LAST_TESTED_STEP = 8, 60
# Limits on relative margins, which are margins divided by the size of their terms. Relative margins within ±ZERO_MARGIN
# count as zero, and those above POSITIVE_MARGIN as positive. Entries of a direction below ZERO_MARGIN times the largest
# one count as zero, too.
ZERO_MARGIN, POSITIVE_MARGIN = 1e-11, 1e-6
# The iterations at which a run without a bound is tested for quasi-complete separation. Newton's method never needs
# more iterations than the first of them.
LOOKS = frozenset({30, 100, 300, 1000, 3000})
# The iteration after which rows outside memory are tested once for quasi-complete separation, if there is no bound yet.
# Newton steps that look for a direction would read them up to 80 times; linear programs on a few rows read them about
# three times, and their answer is final.
LOOK_OUTSIDE_MEMORY = 6
QUASI_SEPARATED = Status(
    "quasi-separated",
    "no optimum exists: along one direction the rows either do not move or move to their own side, so without a "
    "penalty the likelihood keeps growing along it and some weights are infinite",
    False,
)


@dataclass(frozen=True)
class Separated:
    """The rule that no optimum exists. It is tested if the loss is nearly 0, the solver stalls, or the run is long.

    Parameters
    ----------
    max_iter : int
        The most iterations of the run.
    tol : float
        The tolerance of the run.
    share : float, default 0.05
        Complete separation is tested once the loss is below this share of the null model's.
    asked : list
        The verdict on rows outside memory, once it was asked for.

    Examples
    --------
    >>> Separated(100, 1e-8).share
    0.05
    """

    max_iter: int
    tol: float
    share: float = 0.05  # above it, complete separation is not tested, to save passes
    asked: list[Verdict] = field(default_factory=list, repr=False, compare=False)

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        if not self._is_open(problem, state, bound):
            return None
        if self._long_enough(problem, state, trace):
            return completely(problem, state.W) or self._quasi(problem)
        if state.at.value <= self.share * problem.null_value:
            return completely(problem, state.W)
        early = state.iteration >= LOOK_OUTSIDE_MEMORY and not self.asked and problem.rows.resident() is None
        return self._quasi(problem) if early else None

    @staticmethod
    def _is_open(problem: Objective, state: State, bound: Bound) -> bool:
        """Whether an optimum may not exist: the loss is an unpenalised likelihood, and no bound is known yet."""
        if bound.value is not None or bound.resolved is not None or state.iteration == 0:
            return False
        return problem.has_unpenalised and problem.loss.traits.likelihood

    def _quasi(self, problem: Objective) -> Status | None:
        """``quasi``; for rows outside memory by linear programs, and only once."""
        if problem.rows.resident() is not None or problem.n_offsets or not problem.unpenalised[1:].all():
            return quasi(problem)
        if not self.asked:
            K = problem.n_classes
            about, view = About(problem.fit_intercept), View(K, problem.fit_intercept)
            self.asked.append(decide_streamed(problem.rows, view, about, class_values(K)).verdict)
        return QUASI_SEPARATED if isinstance(self.asked[0], QuasiSeparable) else None

    def _long_enough(self, problem: Objective, state: State, trace: Sequence[Record]) -> bool:
        """Whether to search for a direction to infinity: the run is stalled or long, or its gradient is small."""
        if state.halt in (Halt.STALLED, Halt.CRAWLING, Halt.SINGULAR, Halt.PATIENCE):
            return True
        # Without a bound, a small gradient does not prove convergence: gradients also vanish on the way to infinity.
        flat = problem.loss.traits.self_concordance is None and trace[-1].gradient_norm <= self.tol
        return flat or state.iteration in LOOKS or state.iteration >= self.max_iter


def completely(problem: Objective, W: Array) -> Status | None:
    """The status for complete separation if W classifies every row correctly, otherwise None."""
    margins = problem.relative_margins(np.where(problem.unpenalised, W, 0.0))
    if not margins.least > 4 * problem.shape[1] * EPS:  # the rounding error of a sum of d + 1 products
        return None
    return Status(
        "separated",
        "no optimum exists: these weights put every row on its own side (no margin is below "
        f"{margins.smallest:.3g}), so without a penalty the likelihood keeps growing along them",
        False,
    )


def quasi(problem: Objective) -> Status | None:
    """The status for quasi-complete separation, if a Newton step from zero is a direction to infinity, else None."""
    problem = problem.standard or problem
    if not problem.has_hessian:
        return None
    state, longest = Newton().init(problem, np.zeros(problem.shape)), 0.0
    for k in range(LAST_TESTED_STEP):
        state = Newton().step(problem, state)
        if state.halt is not None or state.memory is None:
            return None
        direction = np.where(problem.unpenalised, state.memory.direction, 0.0)
        longest = max(longest, float(np.linalg.norm(direction)))
        if np.linalg.norm(direction) < 1e-6 * longest:
            return None  # the steps converge, so an optimum exists
        if k >= FIRST_TESTED_STEP and _leads_to_infinity(problem, direction):
            return QUASI_SEPARATED
    return None


def _leads_to_infinity(problem: Objective, direction: Array) -> bool:
    """Whether no margin along a direction is negative, up to rounding error, and some are positive."""
    # Entries that are only rounding errors are set to zero: for a row at the centres of all other columns, such an
    # entry would determine the sign of the margin.
    moved = np.where(np.abs(direction) <= ZERO_MARGIN * np.abs(direction).max(), 0.0, direction)
    margins = problem.relative_margins(moved)
    return margins.least >= -ZERO_MARGIN and margins.most > POSITIVE_MARGIN
