"""Stopping rules of the search for a separating hyperplane. The rule of a proof is in ``inseparability``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from separatrix.base.messages import ByAudience, Message, Parameter, Setting
from separatrix.objectives.bound import Bound
from separatrix.objectives.problem import Objective
from separatrix.proofs.verdicts import Separable
from separatrix.solvers.separating.inseparability import ProvenInseparable, by_support
from separatrix.solvers.separating.limiting_sizes import because
from separatrix.solvers.separating.search_memories import HullMemory, PerceptronMemory
from separatrix.solvers.state import State
from separatrix.solvers.stopping import Record, Status


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
        status = self.proof.ask(problem) if self.proof.about is not problem else self.proof.known(problem)
        if status is not None:
            return status if self.proof.ends else replace(status, sentence=Message(status.sentence, "; ", left))
        if isinstance(self.proof.verdict, Separable):
            return Status("max_iter", Message(left, "; ", self.advice(problem, self.proof.verdict)), False)
        if self.proof.verdict is None:
            ask = ByAudience("; separability(X, y) tests it", shell="")
            unknown = Message("; whether a hyperplane separates the classes was not tested on so large a table", ask)
            return Status("max_iter", Message(left, unknown), False)
        return Status("max_iter", Message(left, "; ", self.proof.verdict.explain(), because(problem, "; ")), False)

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
        proven = self.proof.ask(problem) or (by_support(problem, memory) if self.proof.verdict is None else None)
        if proven is not None:
            return proven
        within = f"the classes come within {2 * memory.upper:.1e} of each other, which is rounding here"
        return Status("rounding", Message(within, because(problem)), False)


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
        ended = f"went as far as float64 goes, {_between(state.memory)}"
        return Status("rounding", Message(ended, because(problem)), False)
