"""When a search for a separating hyperplane ends: it has one, none exists (with proof), or it was long enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

import numpy as np

from separatrix.base.concurrency import in_order
from separatrix.base.errors import InputError
from separatrix.base.messages import ByAudience, Message, Parameter, Setting
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
from separatrix.rows.block import is_sparse
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.protocol import BLOCK_BYTES
from separatrix.solvers.separating.max_margin import NearestPointMemory
from separatrix.solvers.separating.memory import HullMemory, PerceptronMemory
from separatrix.solvers.state import Memory, State
from separatrix.solvers.stopping import Code, Record, Status

# A proof is looked for after so many steps at the earliest, and one more for so many entries of the table, up to
# LATEST: linear programs cost about as much as that many steps, and then some passes.
EARLIEST, ENTRIES_A_STEP, LATEST = 10, 2000, 100
# Past so many entries a table is not asked about unbidden: its passes take seconds each.
MOST_ENTRIES = 1_000_000_000
# Below this margin, in units of the rows, the theorem allows 1e24 mistakes.
HOPELESS = 1e-12

# So many rows a column are asked first, where there are so many times as many.
SOME, WORTHWHILE = 20, 4

# Rows whose largest entry lies outside have lengths that float64 cannot square.
SMALLEST, LARGEST = 1e-152, 1e152
INSEPARABLE: Code = "inseparable"


def build_separation_objective(rows: Rows, fit_intercept: bool = True, names: list[str] | None = None) -> Objective:
    """Rows with targets ±1 and the perceptron's cost, in the coordinates of their frame; refuses NaN and infinity.

    >>> from separatrix.rows import memory_rows
    >>> problem = build_separation_objective(memory_rows(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])))
    >>> problem.value_gradient(np.array([[1.0, 1.0]])).value  # m = -1 and 3
    0.5
    """
    largest = _largest_entry(rows)
    if not np.isfinite(largest):
        refuse_not_finite(rows, names)
    if largest > 0 and not SMALLEST < largest < LARGEST:
        raise InputError("X", f"its largest entry is {largest:.3g}", "rescale it: lengths of rows are squared here")
    return _posed(rows, fit_intercept)


def build_separation_objectives(
    each: Sequence[Rows], fit_intercept: bool = True, names: list[str] | None = None
) -> Iterator[Objective]:
    """A problem for each of several targets of the same rows, whose entries are looked through once.

    Weights say by how much a row's update counts; mistakes and cost count every row once.

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
    known = {"total_weight": float(number_of_rows(rows)), "null_value": 0.0}  # rows count once, and w = 0 costs nothing
    return Objective(rows, LOSSES["perceptron"], Penalty.none(rows.n_features), 2, fit_intercept, known=known)


@dataclass(frozen=True)
class _LargestEntry:
    """max |x_ij|; NaN where there is one."""

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
    """max |x_ij|; NaN where there is one. All that is asked of the columns here, so at the speed of reading them."""
    block = rows.resident()
    if block is None:
        return rows.fold(_LargestEntry())
    rows.counter.add()
    X: Any = block.X
    values = X.data if is_sparse(X) else X  # as they lie, so that CSR rows need not be cut into blocks
    size = max(1, BLOCK_BYTES // 8 * len(values) // max(1, values.size))
    return float(np.max([0.0, *in_order(lambda k: _largest(values[k : k + size]), range(0, len(values), size))]))


@dataclass(frozen=True)
class AllCorrect:
    """No row is a mistake."""

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
    """The search can never end: rows prove it. Asked once a problem, when that has become cheap beside going on; the
    answer stays in ``verdict``. With ``zero="positive"`` a proof needs a row of the class −: others may lie at zero.

    ``ends``: whether a proof ends the search. A pocket goes on, since it looks for the fewest mistakes; the proof is
    then part of its last status.
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
        """The status if the rows are inseparable; None too where the table is too large to ask."""
        rows = problem.rows.resident()
        if rows is None or _entries(problem) > MOST_ENTRIES:
            return None
        few = _by_some(rows, problem)
        return self._judged(rows, problem, few)

    def ask_some(self, problem: Objective) -> Status | None:
        """The status where a few of many rows prove already that all are inseparable; None says nothing."""
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
        """The status by the verdict that there is already; None where it proves nothing."""
        rows, verdict = problem.rows.resident(), self.verdict
        if rows is None or not isinstance(verdict, Inseparable | QuasiSeparable):
            return None
        if self.zero == "positive" and not (rows.t[verdict.rows] < 0).any():
            return None
        return Status(INSEPARABLE, not_separable(verdict), False)


def _by_some(rows: Block, problem: Objective) -> Inseparable | None:
    """The verdict of a few of many rows, where they prove an overlap and span all columns: then it is that of all."""
    width = rows.X.shape[1] + problem.fit_intercept
    stride = rows.n_rows // (SOME * width)
    if stride < WORTHWHILE:
        return None
    some = rows.take(slice(0, None, stride))
    verdict = verdict_on(some_rows(some), problem.fit_intercept)
    if not isinstance(verdict, Inseparable) or not surely_positive(verdict.signed):
        return None
    return replace(verdict, rows=verdict.rows * stride)


def not_separable(verdict: Inseparable | QuasiSeparable) -> Message:
    """A proof that no hyperplane has every row on its own side, in words.

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
    """So many steps have been made; says what is known of whether more would help.

    ``pocket``: whether the weights that will be returned are those of the pocket. ``advice``: what to do about rows
    that are separable.
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
        """Where it stopped: by the distances of a search between hulls, else by the rows that are wrong."""
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
    """A measure that should fall has not fallen by more than ``tol`` in ``patience`` steps in a row.

    ``measure``: from the problem and a state, or None where it is not known. ``what``: its name.
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
    """Every row has a positive distance: the first separation that Kozinec's algorithm comes to."""

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
    """The margin is proven to be within ``eps``, or within the share ``relative``, of the largest one."""

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
    """The nearest points of the classes are one point, to rounding: then a proof is asked for."""

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
    """In a table too large to ask about as a whole: whether the rows that the nearest points are made of prove it."""
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
    """The solver halted: no step gets nearer. What is within a millionth of the largest margin is the largest; else
    the status gives what the margin is, and what it could be at most.
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
