r"""The perceptron's updates: online, batch, worst example (docs/tour.md, P1–P5, P8, P11).

Problem   find w with m_i = t_i w·x̄_i > 0 for all rows, by descending E_p(w) = Σ max(0, −m_i)
Given     a start w, a learning rate η, whether a score of zero is a mistake; weights of rows s_i; a penalty
Returns   the last w; with a pocket, the w with the fewest mistakes so far; with ``average``, the mean of the weights
          after each row (batch and worst: after each step)
Step      online: for each row in turn that is a mistake, w ← w + η s_i t_i x̄_i; a step is an epoch, or ``budget`` rows
          batch:  w ← w + η Σ_{mistakes} s_i t_i x̄_i
          worst:  w ← w + η s_i t_i x̄_i for the mistake with the smallest m_i
          With a penalty, a proximal step of α R(w) follows each row that was processed.
Stops     by the rules; the online method also by itself, if two epochs make no update although the survey counts a
          mistake, which rounding can cause

Rosenblatt, Principles of Neurodynamics (1962); Novikoff (1962) for convergence; Gallant, Perceptron-based learning
algorithms, IEEE Transactions on Neural Networks 1 (1990) for the pocket; Freund and Schapire, Large margin
classification using the perceptron algorithm, Machine Learning 37 (1999) for the mean.

``State.at`` holds E_p/n and a subgradient of it at the state's weights, from one pass after each step. On large tables
online steps before ``survey_from`` skip that pass and hold NaN. ``State.met`` is the mean of max(0, −m) in an online
step, with each margin computed just before the row is processed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import ClassVar

import numpy as np

from separatrix.base.arrays import Array, Integers, all_true
from separatrix.base.errors import ParameterError
from separatrix.losses.margin import Zero
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows import Block, Order
from separatrix.rows.cutting import block_rows
from separatrix.rows.protocol import BLOCK_BYTES
from separatrix.solvers.separating.compiled_walks import compiled_count, compiled_pocket, compiled_survey, compiled_walk
from separatrix.solvers.separating.epoch_walks import after_epochs, epoch_order, is_walked_at_once
from separatrix.solvers.separating.mistakes import Mistakes, Survey, evaluation, survey
from separatrix.solvers.separating.search_memories import PerceptronMemory
from separatrix.solvers.state import Halt, Need, State

__all__ = ["UPDATES", "BatchUpdates", "Mistakes", "OnlineUpdates", "Survey", "WorstUpdates", "evaluation", "survey"]

# In tables of at most this many entries, every online epoch ends with a survey of all rows: a compiled pass over them
# takes about 20 µs.
MOST_SURVEYED_ENTRIES = 20_000


@dataclass(frozen=True)
class Shrinkage:
    """The proximal step of η α ((1 − r) ½‖w‖² + r ‖w‖₁): v ↦ sign(v) max(0, ρ|v| − τ), on all but the intercept.

    >>> Shrinkage.of(eta=1.0, alpha=2.0, l1_ratio=0.5).apply(np.array([[9.0, 3.0, 0.25]])).tolist()
    [[9.0, 1.0, 0.0]]
    """

    rho: float = 1.0
    tau: float = 0.0

    @classmethod
    def of(cls, eta: float, alpha: float, l1_ratio: float) -> Shrinkage:
        rho = 1.0 / (1.0 + eta * alpha * (1.0 - l1_ratio))
        return cls(rho, rho * eta * alpha * l1_ratio)

    def apply(self, W: Array) -> Array:
        """W (1, d + 1) after one step."""
        w = W[:, 1:]
        return np.column_stack([W[:, :1], np.sign(w) * np.maximum(0.0, self.rho * np.abs(w) - self.tau)])


@dataclass(frozen=True)
class _Settings:
    """The settings that all kinds of updates share.

    ``zero``: a score z = 0 is a mistake (m ≤ 0; lectures 000, 004), or predicts + (001, 003) (docs/tour.md, D1).
    ``weighted``: rows have weights. ``alpha``, ``l1_ratio``: the penalty α ((1 − r) ½‖w‖² + r ‖w‖₁) per row.
    """

    eta: float = 1.0
    zero: Zero = "mistake"
    pocket: bool = False
    average: bool = False
    weighted: bool = False
    alpha: float = 0.0
    l1_ratio: float = 0.0
    needs: ClassVar[frozenset[Need]] = frozenset()
    converges: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.eta < np.inf:
            raise ParameterError("eta", f"got {self.eta!r}", "give a positive learning rate")
        if self.zero not in ("mistake", "positive"):
            raise ParameterError("zero", f"got {self.zero!r}", "choose 'mistake' or 'positive'")

    def init(self, problem: Objective, start: Array) -> State[PerceptronMemory]:
        _refuse_frame(problem)
        rows = survey(problem, start, self.zero, self.weighted)
        memory = PerceptronMemory(rows.errors, rows, start, rows.errors, np.zeros(start.shape[1]))
        return State(start, evaluation(problem, rows), memory=memory)

    def answer(self, state: State[PerceptronMemory]) -> Array:
        """The weights to return if the run ended at this state, (1, d + 1)."""
        if self.pocket:
            return state.memory.best_W
        if self.average and state.memory.seen:
            return np.asarray(state.W - state.memory.u / state.memory.seen)
        return state.W

    def solution(self, problem: Objective, state: State[PerceptronMemory]) -> State[PerceptronMemory]:
        answer = self.answer(state)
        if answer is state.W and state.memory.survey is not None:
            return state
        rows = survey(problem, answer, self.zero, self.weighted)
        return replace(state, W=answer, at=evaluation(problem, rows), memory=state.memory.surveyed(rows))

    def arrive(
        self,
        problem: Objective,
        state: State[PerceptronMemory],
        W: Array,
        memory: PerceptronMemory,
        met: float | None = None,
    ) -> State[PerceptronMemory]:
        """The state at new weights. They go into the pocket if they make fewer mistakes."""
        rows = survey(problem, W, self.zero, self.weighted)
        if not (isfinite(rows.cost) and all_true(np.isfinite(W))):
            return replace(state, halt=Halt.STALLED)
        memory = memory.surveyed(rows)
        if rows.errors < memory.best_errors:
            memory = memory._replace(best_W=W, best_errors=rows.errors)
        return State(W, evaluation(problem, rows), state.iteration + 1, memory, met=met)

    def _moved(
        self, problem: Objective, state: State[PerceptronMemory], step: Array, rows: int
    ) -> State[PerceptronMemory]:
        """The state after w ← w + η step and the penalty of ``rows`` rows, for batch and worst-row updates."""
        memory = state.memory
        W = state.W + self.eta * step
        if self.alpha > 0:
            W = Shrinkage.of(self.eta * rows, self.alpha, self.l1_ratio).apply(W)
        memory = memory._replace(mistakes=memory.mistakes + (1 if memory.errors else 0))
        if self.average:
            memory = memory._replace(u=memory.u + memory.seen * (W - state.W)[0], seen=memory.seen + 1)
        return self.arrive(problem, state, W, memory)


def _refuse_frame(problem: Objective) -> None:
    if not problem.rows.frame.is_identity:
        raise ParameterError(
            "problem", "its rows are centred or scaled by a frame", "build the objective from the raw rows"
        )


@dataclass(frozen=True)
class BatchUpdates(_Settings):
    """w ← w + η Σ_{i ∈ M} t_i x̄_i, with M all mistakes (docs/tour.md, P3)."""

    name: ClassVar[str] = "batch perceptron"
    by_sums: ClassVar[bool] = True

    def step(
        self, problem: Objective, state: State[PerceptronMemory], budget: int | None = None
    ) -> State[PerceptronMemory]:
        return self._moved(problem, state, state.memory.known_survey.step, problem.n_rows)


@dataclass(frozen=True)
class WorstUpdates(_Settings):
    """w ← w + η t_i x̄_i with i = argmin t_i w·x̄_i: lecture 000's Algorithm 1 (docs/tour.md, P4)."""

    name: ClassVar[str] = "worst-example perceptron"
    by_sums: ClassVar[bool] = False

    def step(
        self, problem: Objective, state: State[PerceptronMemory], budget: int | None = None
    ) -> State[PerceptronMemory]:
        made = 1 if state.memory.errors else 0
        return self._moved(problem, state, made * state.memory.known_survey.worst_x, 1)


@dataclass(frozen=True)
class OnlineUpdates(_Settings):
    """w ← w + η t_i x̄_i for each mistake, cycling through the rows (docs/tour.md, P2).

    ``shuffle``: use a new order in every epoch, which depends on (seed, epoch). ``by_update``: a step ends at the first
    update. The pocket counts the mistakes after every update, each time in up to a pass. ``survey_from``: before this
    step, a large table is only searched for the first mistake of the next epoch, at which the next step begins.

    Rows outside memory are processed block by block, with the same updates as in memory; ``shuffle`` mixes them by a
    buffer, in another order than in memory. An epoch without an update only confirms that there is no mistake, so it
    does not count as a step.
    """

    shuffle: bool = False
    seed: int = 0
    by_update: bool = False
    survey_from: int = 0
    name: ClassVar[str] = "online perceptron"
    by_sums: ClassVar[bool] = False

    def init(self, problem: Objective, start: Array) -> State[PerceptronMemory]:
        rows = problem.rows.resident()
        if rows is None:
            return _Settings.init(self, problem, start)
        wrong = rows.n_rows if self.zero == "mistake" else int(np.sum(rows.t < 0))
        if self.survey_from == 0 or start.any() or not wrong or _cheap(rows):
            return _Settings.init(self, problem, start)
        _refuse_frame(problem)  # at w = 0 every score is zero, so the mistakes are known without a pass
        memory = PerceptronMemory(wrong, None, start, wrong, np.zeros(start.shape[1]))
        return State(start, Evaluation(0.0, np.full_like(start, np.nan)), memory=memory)

    def step(
        self, problem: Objective, state: State[PerceptronMemory], budget: int | None = None
    ) -> State[PerceptronMemory]:
        rows, memory = problem.rows.resident(), state.memory
        if rows is None:
            return self._streamed_epoch(problem, state, budget)
        order = self._order(rows, memory.epoch)
        begin, w = memory.position, state.W[0].copy()
        end = rows.n_rows if budget is None else min(rows.n_rows, begin + max(1, budget))
        ahead = memory.clear if self.alpha == 0 else 0  # a penalty moves the weights at every row
        (position, made, cost), memory = self._walk(
            rows, order, begin, min(max(begin, ahead), end), end, w, problem, memory
        )
        problem.rows.counter.add()
        epoch_ends = position == rows.n_rows
        memory = memory._replace(
            mistakes=memory.mistakes + made,
            since=0 if made or self.alpha > 0 else memory.since + position - begin,
            position=position % rows.n_rows,
            epoch=memory.epoch + int(epoch_ends),
            clear=0 if made or epoch_ends else memory.clear,
        )
        after = self._arrived(problem, rows, state, w, memory, cost / (position - begin))
        return _halted_if_idle(after, rows.n_rows)

    def walked(self, problem: Objective, state: State[PerceptronMemory], epochs: int) -> State[PerceptronMemory]:
        """The state after several epochs if only the last weights and their mean are needed.

        Rows in memory are walked by one call of the compiled loop, and mistakes are not surveyed: ``solution`` does
        that for the weights that are returned. The weights and the mean are those of as many steps.
        """
        rows, memory = problem.rows.resident(), state.memory
        if rows is None or not is_walked_at_once(self, rows, state, epochs):
            for _ in range(epochs):
                state = self.step(problem, state)
            return state
        order = epoch_order(self, rows, memory.epoch, epochs)
        w = state.W[0].copy()
        (_, made, cost), memory = self._walk(rows, order, 0, 0, len(order), w, problem, memory)
        return after_epochs(problem, state, w, memory, (made, cost), epochs)

    def _streamed_epoch(
        self, problem: Objective, state: State[PerceptronMemory], budget: int | None
    ) -> State[PerceptronMemory]:
        """The state after an epoch over rows outside memory."""
        self._refuse_steps_within_epochs(budget)
        w = state.W[0].copy()
        (n, made, cost), memory = self._walk_blocks(w, problem, state.memory)
        idle = made == 0 and self.alpha == 0
        # An epoch that only confirms adds nothing to the mean of the weights.
        memory = state.memory._replace(since=memory.since + n) if idle else memory._replace(since=0)
        memory = memory._replace(mistakes=memory.mistakes + made, epoch=memory.epoch + 1)
        W, met = w[None, :], cost / n
        if idle or self.alpha > 0 or self._must_survey(state, w, met):
            before = replace(state, iteration=state.iteration - 1) if idle else state
            return _halted_if_idle(self.arrive(problem, before, W, memory, met), n)
        memory = memory._replace(errors=made, survey=None)  # made stands for "some": they were not counted
        return State(W, Evaluation(np.nan, np.full_like(W, np.nan)), state.iteration + 1, memory, met=met)

    def _refuse_steps_within_epochs(self, budget: int | None) -> None:
        """Refuse settings for which a step is not an epoch, or reads all rows after each update."""
        if self.pocket or self.by_update or budget is not None:
            what = "a pocket counts the mistakes on all rows after each update" if self.pocket else "a step is an epoch"
            raise ParameterError("update", f"got 'online' for rows outside memory, where {what}", "use 'batch'")

    def _walk_blocks(
        self, w: Array, problem: Objective, memory: PerceptronMemory
    ) -> tuple[tuple[int, int, float], PerceptronMemory]:
        """Process all rows, block by block; like ``_walk``, with the number of rows in place of the end position."""
        n, made, cost = 0, 0, 0.0
        size = block_rows(BLOCK_BYTES, problem.rows.n_features)
        for block in problem.rows.blocks(Order(size, "shuffled" if self.shuffle else "given", self.seed, memory.epoch)):
            walked, memory = self._walk(block, NO_ORDER, 0, 0, block.n_rows, w, problem, memory)
            n, made, cost = n + block.n_rows, made + walked[1], cost + walked[2]
        return (n, made, cost), memory

    def _must_survey(self, state: State[PerceptronMemory], w: Array, met: float) -> bool:
        """Whether the state after this step needs a survey: at ``survey_from`` and later, and where floats overflow."""
        return state.iteration + 1 >= self.survey_from or not (isfinite(met) and all_true(np.isfinite(w)))

    def _walk(
        self,
        rows: Block,
        order: Integers,
        begin: int,
        position: int,
        end: int,
        w: Array,
        problem: Objective,
        memory: PerceptronMemory,
    ) -> tuple[tuple[int, int, float], PerceptronMemory]:
        """Process rows ``position`` to ``end`` by the compiled loop for these settings; changes w in place.

        Returns the end position, the number of updates and Σ max(0, −m), and the memory with an updated pocket and
        updated sums for the mean.
        """
        if position >= end:
            return (end, 0, 0.0), memory._replace(seen=memory.seen + end - begin) if self.average else memory
        how = (float(self.eta), self.zero == "mistake", bool(problem.fit_intercept))
        if self.alpha > 0:
            shrink = Shrinkage.of(self.eta, self.alpha, self.l1_ratio)
            rest = (shrink.rho, shrink.tau)
            return compiled_walk(rows, order, position, end, w, how, rest, shrinking=True), memory
        if self.pocket and not self.by_update:
            best = memory.best_W[0].copy()
            walked = compiled_pocket(rows, order, position, end, w, how, (best, memory.best_errors))
            return walked[:3], memory._replace(best_W=best[None, :], best_errors=walked[3])
        u = memory.u.copy() if self.average else memory.u[:0]
        skipped = memory.seen + position - begin
        ended = compiled_walk(rows, order, position, end, w, how, (self.by_update, u, skipped))
        return ended, memory._replace(u=u, seen=memory.seen + ended[0] - begin) if self.average else memory

    def _order(self, rows: Block, epoch: int) -> Integers:
        """The order of the rows in an epoch; empty for the given order."""
        return Order(1, "shuffled", self.seed, epoch).rows(rows.n_rows) if self.shuffle else NO_ORDER

    def _arrived(
        self,
        problem: Objective,
        rows: Block,
        state: State[PerceptronMemory],
        w: Array,
        memory: PerceptronMemory,
        met: float,
    ) -> State[PerceptronMemory]:
        W = w[None, :]
        if memory.position or self._must_survey(state, w, met):
            return self.arrive(problem, state, W, memory, met)
        if _cheap(rows):
            return self._surveyed(problem, rows, state, W, memory, met)
        wrong, looked = compiled_count(rows, self._order(rows, memory.epoch), w, self.zero, 1)
        if not wrong:
            return self.arrive(problem, state, W, memory._replace(clear=looked), met)
        memory = memory._replace(clear=looked - 1, errors=wrong, survey=None)
        return State(W, Evaluation(np.nan, np.full_like(W, np.nan)), state.iteration + 1, memory, met=met)

    def _surveyed(
        self,
        problem: Objective,
        rows: Block,
        state: State[PerceptronMemory],
        W: Array,
        memory: PerceptronMemory,
        met: float,
    ) -> State[PerceptronMemory]:
        """The state with a survey by a compiled pass, which on a small table takes a tenth of the time of a fold."""
        problem.rows.counter.add()
        wrong, cost, _, pull = compiled_survey(rows, W[0], self.zero, bool(problem.fit_intercept))
        if not wrong or not isfinite(cost):
            return self.arrive(problem, state, W, memory, met)
        memory = memory._replace(errors=wrong, survey=None)
        S = problem.total_weight
        return State(W, Evaluation(cost / S, -pull[None, :] / S), state.iteration + 1, memory, met=met)


NO_ORDER: Integers = np.zeros(0, dtype=np.int64)


def _halted_if_idle(after: State[PerceptronMemory], n_rows: int) -> State[PerceptronMemory]:
    """The state, stalled if two epochs made no update although the survey counts a mistake."""
    idle = after.memory.errors and after.memory.since >= 2 * n_rows
    return replace(after, halt=Halt.STALLED) if idle else after


def _cheap(rows: Block) -> bool:
    return bool(rows.n_rows * rows.X.shape[1] <= MOST_SURVEYED_ENTRIES)


UPDATES: dict[str, type[OnlineUpdates] | type[BatchUpdates] | type[WorstUpdates]] = {
    "online": OnlineUpdates,
    "batch": BatchUpdates,
    "worst": WorstUpdates,
}
