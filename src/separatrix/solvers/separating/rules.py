"""Stopping rules of the search for a separating hyperplane: found, proved not to exist, or out of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

import numpy as np

from separatrix.base.concurrency import in_order
from separatrix.base.errors import InputError
from separatrix.base.messages import ByAudience, Message, Parameter, Setting
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.losses import LOSSES
from separatrix.losses.margin import Zero
from separatrix.objectives.bound import Bound
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.problem import Objective
from separatrix.proofs.enclosure import surely_positive
from separatrix.proofs.naming import numbered
from separatrix.proofs.separability import verdict_on
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict
from separatrix.rows import Block, Rows, number_of_rows, some_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.csr import is_sparse
from separatrix.rows.protocol import BLOCK_BYTES
from separatrix.solvers.separating.max_margin import NearestPointMemory
from separatrix.solvers.separating.search_memories import HullMemory, PerceptronMemory
from separatrix.solvers.state import Memory, State
from separatrix.solvers.stopping import Code, Record, Status

# A proof of inseparability is attempted after EARLIEST steps, plus one step for every ENTRIES_A_STEP entries of the
# table, but at most LATEST more: its linear programs and passes cost about as much as that many steps.
EARLIEST, ENTRIES_A_STEP, LATEST = 10, 2000, 100
# No proof is attempted automatically for tables with more entries than this, because each pass takes seconds.
MOST_ENTRIES = 1_000_000_000
# If the margin, relative to the length of the rows, is at most this, the search is given up: Novikoff's theorem then
# allows 1e24 mistakes.
HOPELESS = 1e-12

# A proof is first attempted on a sample with this many rows per column, if the table has at least
# FEWEST_SAMPLES_IN_TABLE times as many rows as the sample.
SAMPLE_ROWS_PER_COLUMN, FEWEST_SAMPLES_IN_TABLE = 20, 4

# If the largest entry of the rows is outside this range, their squared lengths underflow or overflow float64.
SMALLEST_SQUARABLE_SIZE, LARGEST_SQUARABLE_SIZE = 1e-152, 1e152
INSEPARABLE: Code = "inseparable"


def build_separation_objective(rows: Rows, fit_intercept: bool = True, names: list[str] | None = None) -> Objective:
    """The objective with the perceptron's cost, for rows with targets ±1. Raises an error for NaN and infinity.

    >>> from separatrix.rows import memory_rows
    >>> problem = build_separation_objective(memory_rows(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])))
    >>> problem.value_gradient(np.array([[1.0, 1.0]])).value  # m = -1 and 3
    0.5
    """
    largest = _largest_entry(rows)
    if not np.isfinite(largest):
        refuse_not_finite(rows, names)
    if largest > 0 and not SMALLEST_SQUARABLE_SIZE < largest < LARGEST_SQUARABLE_SIZE:
        raise InputError("X", f"its largest entry is {largest:.3g}", "rescale it: lengths of rows are squared here")
    return _posed(rows, fit_intercept)


def build_separation_objectives(
    each: Sequence[Rows], fit_intercept: bool = True, names: list[str] | None = None
) -> Iterator[Objective]:
    """One objective for each of several target vectors on the same rows, whose entries are checked only once.

    Row weights multiply the updates; mistakes and cost count every row once.

    >>> from separatrix.rows import memory_rows
    >>> X, targets = np.array([[0.0], [2.0]]), [np.array([-1.0, 1.0]), np.array([1.0, -1.0])]
    >>> one, other = build_separation_objectives([memory_rows(X, t) for t in targets])
    >>> one.passes, other.passes
    (1, 0)
    """
    yield build_separation_objective(each[0], fit_intercept, names)
    for rows in each[1:]:
        yield _posed(rows, fit_intercept)


def _posed(rows: Rows, fit_intercept: bool) -> Objective:
    known = {"total_weight": float(number_of_rows(rows)), "null_value": 0.0}  # every row counts once, and E(0) = 0
    return Objective(rows, LOSSES["perceptron"], Penalty.none(rows.n_features), 2, fit_intercept, known=known)


@dataclass(frozen=True)
class _LargestEntry:
    """max |x_ij|; NaN if any entry is NaN."""

    def zero(self) -> float:
        return 0.0

    def add(self, total: float, block: Block) -> float:
        X: Any = block.X
        return self.merge(total, _largest(X.data if is_sparse(X) else X))

    def merge(self, a: float, b: float) -> float:
        return float(np.maximum(a, b))


def _largest(values: Any) -> float:
    return float(np.maximum(np.max(values, initial=0.0), -np.min(values, initial=0.0)))


def _largest_entry(rows: Rows) -> float:
    """max |x_ij|; NaN if any entry is NaN. Columns need no other check here, so this runs at memory speed."""
    block = rows.resident()
    if block is None:
        return rows.fold(_LargestEntry())
    rows.counter.add()
    X: Any = block.X
    values = X.data if is_sparse(X) else X  # in storage order, so that CSR rows need not be cut into blocks
    size = rows_per_piece(BLOCK_BYTES // 8 * len(values), values.size)
    return float(np.max([0.0, *in_order(lambda part: _largest(values[part]), pieces(len(values), size))]))


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
        due = state.iteration >= EARLIEST + min(LATEST, _entries(problem) // ENTRIES_A_STEP)
        status = self.ask(problem) if due and self.about is not problem else None
        return status if self.ends else None

    def ask(self, problem: Objective) -> Status | None:
        """The status if the rows are inseparable, otherwise None; None, too, if the table is too large for a proof."""
        rows = problem.rows.resident()
        if rows is None or _entries(problem) > MOST_ENTRIES:
            return None
        few = _by_some(rows, problem)
        return self._judged(rows, problem, few)

    def ask_some(self, problem: Objective) -> Status | None:
        """The status if a sample of the rows proves that all are inseparable; None if it leaves the question open."""
        rows = problem.rows.resident()
        few = None if rows is None else _by_some(rows, problem)
        return None if rows is None or few is None else self._judged(rows, problem, few)

    def _judged(self, rows: Block, problem: Objective, few: Inseparable | None) -> Status | None:
        self.about = problem
        self.verdict = verdict = verdict_on(problem.rows, problem.fit_intercept) if few is None else few
        if isinstance(verdict, Doubtful) and verdict.margin <= HOPELESS:
            sentence = Message("stopped, since the search would not end in any practical time: ", verdict.reason)
            return Status("rounding", sentence, False)
        return self.known(problem)

    def known(self, problem: Objective) -> Status | None:
        """The status from the verdict that is already known; None if that is no proof of inseparability."""
        rows, verdict = problem.rows.resident(), self.verdict
        if rows is None or not isinstance(verdict, Inseparable | QuasiSeparable):
            return None
        if self.zero == "positive" and not (rows.t[verdict.rows] < 0).any():
            return None
        return Status(INSEPARABLE, not_separable(verdict), False)


def _by_some(rows: Block, problem: Objective) -> Inseparable | None:
    """The verdict on a sample of rows, if it proves an overlap and the sample spans all columns; otherwise None.

    Such a proof holds for all rows.
    """
    width = rows.X.shape[1] + problem.fit_intercept
    stride = rows.n_rows // (SAMPLE_ROWS_PER_COLUMN * width)
    if stride < FEWEST_SAMPLES_IN_TABLE:
        return None
    some = rows.take(slice(0, None, stride))
    verdict = verdict_on(some_rows(some), problem.fit_intercept)
    if not isinstance(verdict, Inseparable) or not surely_positive(verdict.signed):
        return None
    return replace(verdict, rows=verdict.rows * stride)


def not_separable(verdict: Inseparable | QuasiSeparable) -> Message:
    """The message that states the proof that no hyperplane separates the rows.

    >>> from separatrix.rows import memory_rows
    >>> not_separable(verdict_on(memory_rows(np.arange(3.0)[:, None], np.array([1.0, -1.0, 1.0]))))[:45]
    'not separable: 3 rows prove it (0, 1, 2): wit'
    """
    only = "" if isinstance(verdict, Inseparable) else ", only quasi-separable"
    return Message(f"not separable{only}: ", verdict.proof)


def _entries(problem: Objective) -> int:
    return problem.n_rows * (problem.rows.n_features + problem.fit_intercept)


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
        status = self.proof.ask(problem) if self.proof.about is not problem else self.proof.known(problem)
        if status is not None:
            return status if self.proof.ends else replace(status, sentence=Message(status.sentence, "; ", left))
        if isinstance(self.proof.verdict, Separable):
            return Status("max_iter", Message(left, "; ", self.advice(problem, self.proof.verdict)), False)
        if self.proof.verdict is None:
            ask = ByAudience(": separability(X, y) does", shell="")
            unknown = Message("; whether a hyperplane separates so large a table was not asked", ask)
            return Status("max_iter", Message(left, unknown), False)
        return Status("max_iter", Message(left, "; ", self.proof.verdict.explain()), False)

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


@dataclass
class NoImprovement(Generic[Memory]):
    """The rule that a measure has not fallen by more than ``tol`` in ``patience`` consecutive steps.

    ``measure``: a function of the problem and a state, which returns None if the measure is not known. ``what``: the
    name of the measure in the message.
    """

    tol: float
    patience: int
    measure: Callable[[Objective, State[Memory]], float | None]
    what: str
    best: float = np.inf
    since: int = 0

    def __call__(
        self, problem: Objective, state: State[Memory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        now = self.measure(problem, state) if state.iteration else None
        if now is None:
            return None
        self.since = 0 if now < self.best - self.tol else self.since + 1
        self.best = min(self.best, now)
        if self.since < self.patience:
            return None
        sentence = f"stopped as asked: {self.what} has not fallen by more than {self.tol:g} in {self.patience} steps"
        return Status("patience", f"{sentence}, and is {now:.4g}", True)


@dataclass(frozen=True)
class Separates:
    """The rule that every row has a positive margin: Kozinec's algorithm ends at its first separating hyperplane."""

    def __call__(
        self, problem: Objective, state: State[HullMemory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        lower, upper = state.memory.lower, state.memory.upper
        if lower <= 0:
            return None
        sentence = (
            f"separates: every row is at least {lower:.4g} on its own side; no hyperplane has more than {upper:.4g}"
        )
        return Status("separated", sentence, True)


@dataclass(frozen=True)
class MarginWithin:
    """The rule that the margin is proved to be within ``eps``, or within the share ``relative``, of the largest one."""

    eps: float = 0.0
    relative: float = 0.0

    def __call__(
        self, problem: Objective, state: State[HullMemory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        lower, upper = state.memory.lower, state.memory.upper
        if lower <= 0 or upper - lower > max(self.eps, self.relative * upper):
            return None
        sentence = (
            f"optimal: the margin is {lower:.6g}, and no hyperplane's exceeds it by more than "
            f"{max(0.0, upper - lower):.1e}"
        )
        return Status("optimal", sentence, True)


@dataclass(frozen=True)
class HullsMeet:
    """The rule that the nearest points of the two hulls coincide, up to rounding; a proof is then attempted."""

    proof: ProvenInseparable
    rounding: float = 1e-13

    def __call__(
        self, problem: Objective, state: State[HullMemory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        memory = state.memory
        if memory.upper > self.rounding * memory.longest:
            return None
        within = f"the classes come within {2 * memory.upper:.1e} of each other, which is rounding here"
        proven = self.proof.ask(problem) or (_by_support(problem, memory) if self.proof.verdict is None else None)
        return proven or Status("rounding", within, False)


def _by_support(problem: Objective, memory: HullMemory) -> Status | None:
    """The status if the support rows of the nearest points prove inseparability; for tables too large for `ask`."""
    rows = problem.rows.resident()
    if rows is None or not isinstance(memory, NearestPointMemory):
        return None
    support = np.unique(memory.pairs[memory.pairs >= 0])
    verdict = verdict_on(some_rows(rows.take(support)), problem.fit_intercept)
    if not isinstance(verdict, Inseparable | QuasiSeparable):
        return None
    sentence = Message(
        f"not separable: {len(verdict.rows)} rows alone prove it (",
        numbered(support[verdict.rows]),
        "), since with weights λ > 0 they sum to zero",
    )
    return Status(INSEPARABLE, sentence, False)


@dataclass(frozen=True)
class AtRounding:
    """The rule that the solver halted because rounding hides any progress.

    A margin within the share ``near`` of the largest one counts as optimal. Otherwise the status reports the margin and
    its upper bound.
    """

    proof: ProvenInseparable
    near: float = 1e-6

    def __call__(
        self, problem: Objective, state: State[HullMemory], bound: Bound, trace: Sequence[Record]
    ) -> Status | None:
        if state.halt is None:
            return None
        found = MarginWithin(relative=self.near)(problem, state, bound, trace) or self.proof.ask(problem)
        if found is not None:
            return found
        do = "columns may differ by many orders of magnitude: scale them alike, which changes what a distance is"
        return Status("rounding", f"went as far as float64 goes, {_between(state.memory)}; {do}", False)
