"""The rules that end a run, and the messages that say why it ended.

A rule is a function of a run that returns a ``Status``, or None to continue. Most rules compare a number with a limit.
One proves that no finite optimum exists: without a penalty, a direction V leads to infinity if its margins are ≥ 0 on
every row and > 0 on some, so that the likelihood never decreases along it. Under complete separation, weights that
classify every row correctly are such a direction. Under quasi-complete separation, Newton's steps approach one: scores
grow along it by about one per step, while all finite components converge. The test without a fit is in
``core/proofs/separability.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeAlias

import numpy as np

from separatrix.core.base.arrays import EPS, Array
from separatrix.core.base.messages import Message, Parameter, Remedy, Setting, many
from separatrix.core.certificate import Bound
from separatrix.core.gap_bounds import largest_curvature, unresolved_reason
from separatrix.core.linear_algebra import limiting_columns, oversized_column
from separatrix.core.problem import Objective
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.state import Halt, Memory, State

if TYPE_CHECKING:
    from separatrix.core.proofs.verdicts import Verdict

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

# The codes of runs without an optimum, because the classes are separated.
APART = ("separated", "quasi-separated")
# If rounding has stalled a run without a bound, a gradient of this norm counts as small.
SMALL_AT_ROUNDING = 1e-6
# The advice where columns differ by less than float64 resolves.
_LEAVE_ONE_OUT = Remedy(Message("leave one of them out, or use a finite ", Parameter("C")))
# What solvers that do not converge to the tolerance say when they end.
_ONLY_NEAR = Message(
    "; this method approaches the minimum, but does not reach the tolerance",
    Remedy(Message("use ", Setting("solver", "auto"))),
)


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
class Stopping(Generic[Memory]):
    """When a run ends: at a rule that holds, when the solver halts, or after ``max_iter`` iterations.

    A fit ends when the bound on E − min E is within the tolerance, when a direction is found along which E has no
    minimum, or, if no bound is known, when the gradient is small. A search has ``rules`` of its own instead.

    Parameters
    ----------
    rules : sequence of rules
        The rules of a search, tested in order at every state.
    tol : float
        The tolerance of the bound, relative to the null model's objective.
    max_iter : int
        The most iterations; by default there is no limit.
    verdicts : list
        The verdict on rows outside memory, once it was asked for.

    Examples
    --------
    >>> Stopping(tol=1e-8, max_iter=100).tol, Stopping([SmallGradient(1e-6)]).tol
    (1e-08, 0.0)
    """

    rules: Sequence[Rule[Memory]] = ()
    tol: float = 0.0
    max_iter: int = sys.maxsize
    verdicts: list[Verdict] = field(default_factory=list, repr=False, compare=False)

    def __call__(
        self,
        problem: Objective,
        state: State[Memory],
        bound: Bound,
        trace: Sequence[Record],
        converges: bool = True,
    ) -> Status | None:
        """The status of a run that ends here, or None. ``converges``: whether the solver reaches any tolerance."""
        status = None
        for rule in self.rules:
            status = status or rule(problem, state, bound, trace)
        if not self.rules:
            status = self.certified(problem, bound) or self._separated(problem, state, bound, trace)
            status = status or self._stationary(problem, state, bound, trace)
        if status is not None:
            return status
        if state.halt is not None:
            return halted(problem, state)
        return out_of_iterations(problem, self.max_iter, converges) if state.iteration >= self.max_iter else None

    def certified(self, problem: Objective, bound: Bound) -> Status | None:
        """The status if the bound is at most ``tol`` times the null model's objective, otherwise None.

        Its code is "resolved" if this is proved only for the directions that float64 resolves, and the columns have
        other directions.
        """
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

    def known(self, problem: Objective, status: Status, bound: Bound) -> Status:
        """The status of a run that ended with a small gradient, after a bound was found that is above the tolerance."""
        if status.code != "gradient" or bound.value is None:
            return status
        relative = bound.value / problem.null_value if problem.null_value > 0 else 0.0
        sentence = (
            f"stationary, and the objective exceeds its minimum by at most {relative:.1e} of the null model's "
            f"objective (tolerance {self.tol:.0e})"
        )
        return Status("gradient", sentence, status.met)

    def _stationary(
        self, problem: Objective, state: State[Memory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        """The status if there is no bound for the problem, and the gradient's norm is small."""
        traits, length = problem.loss.traits, trace[-1].gradient_norm
        if traits.convex and (traits.self_concordance is not None or bound.value is not None):
            return None
        # NaN is not small, either.
        if not length <= (SMALL_AT_ROUNDING if state.halt is Halt.STALLED else self.tol):
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

    def _separated(
        self, problem: Objective, state: State[Memory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        """The status if no optimum exists; tested if the loss is nearly 0, the solver stalls, or the run is long."""
        if bound.value is not None or bound.resolved is not None or state.iteration == 0:
            return None
        if not (problem.has_unpenalised and problem.loss.traits.likelihood):
            return None
        # Without a bound, a small gradient does not prove convergence: gradients also vanish on the way to infinity.
        flat = problem.loss.traits.self_concordance is None and trace[-1].gradient_norm <= self.tol
        ended = state.halt not in (None, Halt.DIVERGED) or state.iteration >= self.max_iter
        if flat or ended or state.iteration in LOOKS:
            return completely(problem, state.W) or self._quasi(problem)
        if state.at.value <= SEPARATED_SHARE * problem.null_value:
            return completely(problem, state.W)
        early = state.iteration >= LOOK_OUTSIDE_MEMORY and not self.verdicts and problem.rows.resident() is None
        return self._quasi(problem) if early else None

    def _quasi(self, problem: Objective) -> Status | None:
        """``quasi``; for rows outside memory by linear programs, and only once."""
        if problem.rows.resident() is not None or problem.n_offsets or not problem.unpenalised[1:].all():
            return quasi(problem)
        from separatrix.core.proofs.naming import About
        from separatrix.core.proofs.row_claims import View
        from separatrix.core.proofs.separability import decide_streamed
        from separatrix.core.proofs.verdicts import QuasiSeparable

        if not self.verdicts:
            about, view = About(problem.fit_intercept), View(problem.n_classes, problem.fit_intercept)
            self.verdicts.append(decide_streamed(problem.rows, view, about).verdict)
        return QUASI_SEPARATED if isinstance(self.verdicts[0], QuasiSeparable) else None


def out_of_iterations(problem: Objective, max_iter: int, converges: bool = True) -> Status:
    """The status of a run that has made ``max_iter`` iterations."""
    if not converges:
        return Status("max_iter", Message("stopped at ", Setting("max_iter", max_iter), _ONLY_NEAR), False)
    cause = oversized_column(problem)
    raised = Message("raise ", Parameter("max_iter"), ", raise ", Parameter("tol"))
    why = Message(": ", cause) if cause else Remedy(Message(raised, ", or leave the solver at 'auto'"))
    ended = Message("stopped at ", Setting("max_iter", max_iter), " before the tolerance was reached", why)
    return Status("max_iter", ended, False)


def halted(problem: Objective, state: State) -> Status:
    """The status of a run whose solver has halted."""
    if state.halt is Halt.DIVERGED:
        return Status("diverged", _diverged(problem, state), False)
    if state.halt is Halt.PATIENCE:
        epochs = many(getattr(state.memory, "idle", 0), "epoch")
        return Status("patience", Message(f"patience ran out: {epochs} without a lower error", _ONLY_NEAR), False)
    cause = limiting_columns(problem)
    why = Message(": ", cause) if cause else Remedy(Message("raise ", Parameter("tol")))
    reason = "" if state.halt is None else state.halt.value
    ended = f"went as far as float64 goes ({reason}) before the tolerance was reached"
    return Status("rounding", Message(ended, why), False)


def _diverged(problem: Objective, state: State) -> str:
    """That the learning rate is too large, with one that is not."""
    from separatrix.core.solvers.gradient_descent import StochasticMemory, row_eta

    eta = getattr(state.memory, "eta", None)  # of gradient descent
    sentence = f"diverged: the learning rate{'' if eta is None else f' eta={eta:.3g}'} is too large for these columns; "
    if isinstance(state.memory, StochasticMemory):
        return f"{sentence}by default it is {row_eta(problem):.3g}"
    steepest = max(largest_curvature(problem), 1e-300)
    return f"{sentence}descent is certain below {2.0 / steepest:.3g}; the best weights seen are returned"


# --- Separated classes

# Complete separation is tested once E is at most this share of the null model's, to save passes.
SEPARATED_SHARE = 0.05
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
        if k >= FIRST_TESTED_STEP:
            # Entries that are only rounding errors are set to zero: for a row at the centres of all other columns, such
            # an entry would determine the sign of the margin.
            moved = np.where(np.abs(direction) <= ZERO_MARGIN * np.abs(direction).max(), 0.0, direction)
            margins = problem.relative_margins(moved)
            if margins.least >= -ZERO_MARGIN and margins.most > POSITIVE_MARGIN:
                return QUASI_SEPARATED
    return None
