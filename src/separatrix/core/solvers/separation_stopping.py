"""The rules that end a search for a separating hyperplane: it is found, or proved not to exist, or no longer awaited.

Where no hyperplane exists the search would never end. So ``ProvenInseparable`` attempts a proof once it has become
cheap compared with continuing; the other rules compare the mistakes or the margin with a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import numpy as np

from separatrix.core.base.messages import Message, Parameter, Setting
from separatrix.core.certificate import Bound
from separatrix.core.losses import Zero
from separatrix.core.problem import Objective
from separatrix.core.proofs.separability import verdict_on
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict
from separatrix.core.rows.memory_rows import some_rows
from separatrix.core.rows.sampling import Carried, LowestHashes, chosen_rows
from separatrix.core.rows.views import counted_once
from separatrix.core.solvers.separation_problem import HullMemory, PerceptronMemory, because
from separatrix.core.solvers.state import State
from separatrix.core.solvers.stopping import Code, Record, Status

# A proof of inseparability is attempted after EARLIEST steps, plus one step for every ENTRIES_A_STEP entries of the
# table, but at most LATEST more: its linear programs and passes cost about as much as that many steps.
EARLIEST, ENTRIES_A_STEP, LATEST = 10, 2000, 100
# Outside memory a proof is attempted after this many steps: it reads the rows about as often as one or two of them.
EARLIEST_OUTSIDE_MEMORY = 3
# If the margin, relative to the length of the rows, is at most this, the search is given up: Novikoff's theorem then
# allows 1e24 mistakes.
HOPELESS = 1e-12
# Nearest points of two hulls that differ by at most this share of the rows' length differ by rounding only.
SAME_POINT = 1e-13
# When the solver halts, since rounding hides any progress, a margin within this share of the largest counts as optimal.
NEARLY_LARGEST = 1e-6
# A proof is first attempted on a sample with this many rows per column, if the table has at least
# FEWEST_SAMPLES_IN_TABLE times as many rows as the sample.
SAMPLE_ROWS_PER_COLUMN, FEWEST_SAMPLES_IN_TABLE = 20, 4
INSEPARABLE: Code = "inseparable"
# The targets of the two classes, from each of which the sample has the same number of rows.
SIGNS = np.array([-1.0, 1.0])


@dataclass
class ProvenInseparable:
    """The rule that the rows are proved to be inseparable, so that the search would never end.

    A proof is attempted once per problem, when it has become cheap compared with continuing; the result is kept in
    ``verdict``. With ``zero="positive"`` a proof must contain a row of the class −, because rows of the class + may
    have score zero. ``ends``: whether a proof ends the search. A search with a pocket continues, since it minimises the
    number of mistakes; the proof is then part of its final status.
    """

    zero: Zero = "mistake"
    ends: bool = True
    verdict: Verdict | None = None
    about: Objective | None = field(default=None, repr=False)

    def __call__(self, problem: Objective, state: State, bound: Bound, trace: Sequence[Record]) -> Status | None:
        status = self.ask(problem) if self.about is not problem and state.iteration >= _first_step(problem) else None
        return status if self.ends else None

    def ask(self, problem: Objective, by_sample: bool = False) -> Status | None:
        """The status if the rows are inseparable, otherwise None; ``by_sample``: only if a sample of rows proves it."""
        if self.about is not problem:
            few = _by_some(problem)
            if few is None and by_sample:
                return None
            self.about = problem
            self.verdict = verdict_on(counted_once(problem.rows), problem.fit_intercept) if few is None else few
        if isinstance(self.verdict, Doubtful) and self.verdict.margin <= HOPELESS:
            ended = "stopped, since the search would not end in any practical time: "
            return Status("rounding", Message(ended, self.verdict.reason, because(problem, "; ")), False)
        return self.known(problem)

    def known(self, problem: Objective) -> Status | None:
        """The status from the verdict that is already known; None if it does not prove inseparability."""
        verdict = self.verdict
        if not isinstance(verdict, Inseparable | QuasiSeparable):
            return None
        if self.zero == "positive" and not (chosen_rows(problem.rows, verdict.rows).t < 0).any():
            return None
        only = "" if isinstance(verdict, Inseparable) else ", only quasi-separable"
        return Status(INSEPARABLE, Message(f"not separable{only}: ", verdict.proof), False)


def _first_step(problem: Objective) -> int:
    """The number of steps after which a proof is attempted."""
    if problem.rows.resident() is None:
        return EARLIEST_OUTSIDE_MEMORY
    return EARLIEST + min(LATEST, _entries(problem) // ENTRIES_A_STEP)


def _by_some(problem: Objective) -> Inseparable | None:
    """The verdict on a sample of rows, if it proves an overlap and the sample spans all columns; otherwise None.

    Such a proof holds for all rows. The sample has the rows of each class whose numbers have the lowest hashes, so that
    rows outside memory, which are read once for it, have the same proof as rows in memory.
    """
    rows = problem.rows
    size = SAMPLE_ROWS_PER_COLUMN * (rows.n_features + problem.fit_intercept)
    if problem.n_rows < FEWEST_SAMPLES_IN_TABLE * size:
        return None
    draw = LowestHashes(size, 0, SIGNS)
    # In memory, drawing the sample does not count as a pass.
    with nullcontext() if rows.resident() is None else rows.counter.paused():
        drawn = counted_once(rows).fold(Carried(draw))
    lowest = np.concatenate([part.cut(size // len(SIGNS)).rows for part in drawn.total])
    some = drawn.rows.only(lowest).joined()
    verdict = verdict_on(some_rows(some.block(rows.frame)), problem.fit_intercept)
    # Without given multipliers the rows were proven to span all columns, in floating point.
    if not isinstance(verdict, Inseparable) or verdict.given is not None:
        return None
    return replace(verdict, rows=some.numbers[0][verdict.rows])


def _entries(problem: Objective) -> int:
    return problem.n_rows * (problem.rows.n_features + problem.fit_intercept)


# --- The rules about mistakes, steps and margins


@dataclass(frozen=True)
class AllCorrect:
    """The rule that no row is a mistake."""

    def __call__(
        self, problem: Objective, state: State[PerceptronMemory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        if state.memory.errors > 0:
            return None
        made = state.memory.mistakes
        sentence = f"finished: every row is on its own side, after {made} mistake{'' if made == 1 else 's'}"
        return Status("separated", sentence, True)


def _raise_max_iter(problem: Objective, verdict: Separable) -> str:
    return Message("the rows are separable, so the search ends: raise ", Parameter("max_iter"))


@dataclass(frozen=True)
class OutOfSteps:
    """The rule that ``max_iter`` steps have been made; its status reports whether more steps could help, if known.

    ``pocket``: whether the weights of the pocket will be returned. ``advice``: returns the advice for rows that are
    separable.
    """

    max_iter: int
    proof: ProvenInseparable
    pocket: bool = False
    advice: Callable[[Objective, Separable], str] = _raise_max_iter

    def __call__(
        self, problem: Objective, state: State[PerceptronMemory | HullMemory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        if state.iteration < self.max_iter:
            return None
        left = Message("stopped at ", Setting("max_iter", self.max_iter), " ", self._left(state.memory))
        status = self.proof.ask(problem)
        if status is not None:
            return status if self.proof.ends else replace(status, sentence=Message(status.sentence, "; ", left))
        if isinstance(self.proof.verdict, Separable):
            return Status("max_iter", Message(left, "; ", self.advice(problem, self.proof.verdict)), False)
        told = "" if self.proof.verdict is None else self.proof.verdict.explain()
        return Status("max_iter", Message(left, "; ", told, because(problem, "; ")), False)

    def _left(self, memory: PerceptronMemory | HullMemory) -> str:
        """A description of the last state: bounds on the margin for hull methods, otherwise the number of mistakes."""
        if isinstance(memory, HullMemory):
            return _between(memory)
        wrong = memory.best_errors if self.pocket else memory.errors
        return f"with {wrong} row{'' if wrong == 1 else 's'} still wrong"


def _between(memory: HullMemory) -> str:
    if memory.lower > 0:
        return f"with a margin of {memory.lower:.6g}, where no hyperplane has more than {memory.upper:.6g}"
    return f"before its hyperplane separated the rows; no hyperplane has a margin of more than {memory.upper:.6g}"


@dataclass(frozen=True)
class LargestMargin:
    """The rule that the largest margin is known to within ``eps``, or a share ``relative`` of it, or lost in rounding.

    With an infinite ``eps`` the first separating hyperplane ends the search. If the nearest points of the two hulls
    coincide, up to rounding, or rounding hides any progress of the solver, a proof of inseparability is attempted.
    """

    proof: ProvenInseparable
    eps: float = 0.0
    relative: float = 0.0

    def __call__(
        self, problem: Objective, state: State[HullMemory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        memory, halted = state.memory, state.halt is not None
        lower, upper, meet = memory.lower, memory.upper, memory.upper <= SAME_POINT * memory.longest
        relative = NEARLY_LARGEST if halted and not meet else self.relative
        if lower > 0 and upper - lower <= max(self.eps, relative * upper):
            if self.eps == np.inf:
                separates = f"separates: every row is at least {lower:.4g} on its own side; "
                return Status("separated", f"{separates}no hyperplane has more than {upper:.4g}", True)
            optimal = f"optimal: the margin is {lower:.6g}, and no hyperplane's exceeds it by more than "
            return Status("optimal", f"{optimal}{max(0.0, upper - lower):.1e}", True)
        if not (halted or meet):
            return None
        proven = self.proof.ask(problem)
        if proven is not None:
            return proven
        within = f"the classes come within {2 * upper:.1e} of each other, which is rounding here"
        ended = within if meet else f"went as far as float64 goes, {_between(memory)}"
        return Status("rounding", Message(ended, because(problem)), False)
