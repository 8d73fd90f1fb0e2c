"""The perceptron's updates: online, batch, worst example (docs/tour.md, P1–P5, P8, P11).

Problem   find w with m_i = t_i w·x̄_i > 0 for all rows, by descending E_p(w) = Σ max(0, −m_i)
Given     a start w, a learning rate η, whether a score of zero is a mistake; weights of rows s_i
Returns   the last w; with a pocket, the w with the fewest mistakes so far; with ``average``, the mean of the weights
          after each row (batch and worst: after each step)
Step      online: for each row in turn that is a mistake, w ← w + η s_i t_i x̄_i; a step is an epoch, or ``budget`` rows
          batch:  w ← w + η Σ_{mistakes} s_i t_i x̄_i
          worst:  w ← w + η s_i t_i x̄_i for the mistake with the smallest m_i
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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.losses import Zero
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block, block_rows, is_sparse
from separatrix.core.rows.protocol import BLOCK_BYTES, Order
from separatrix.core.solvers.separation_problem import PerceptronMemory, evaluation, survey
from separatrix.core.solvers.state import Halt, Need, State

# In tables of at most this many entries, every online epoch ends with a survey of all rows: a compiled pass over them
# takes about 20 µs.
MOST_SURVEYED_ENTRIES = 20_000
NO_ORDER: Integers = np.zeros(0, dtype=np.int64)
NOTHING: Array = np.zeros(0)


@dataclass(frozen=True)
class _Settings:
    """The settings that all kinds of updates share.

    ``zero``: a score z = 0 is a mistake (m ≤ 0; lectures 000, 004), or predicts + (001, 003) (docs/tour.md, D1).
    ``weighted``: rows have weights.
    """

    eta: float = 1.0
    zero: Zero = "mistake"
    pocket: bool = False
    average: bool = False
    weighted: bool = False
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

    def solution(self, problem: Objective, state: State[PerceptronMemory]) -> State[PerceptronMemory]:
        W, memory = state.W, state.memory
        if self.pocket:
            W = memory.best_W
        elif self.average and memory.seen:
            W = np.asarray(W - memory.u / memory.seen)
        if W is state.W and memory.survey is not None:
            return state
        rows = survey(problem, W, self.zero, self.weighted)
        return replace(state, W=W, at=evaluation(problem, rows), memory=memory.surveyed(rows))

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
        if not _is_finite(W, rows.cost):
            return replace(state, halt=Halt.STALLED)
        memory = memory.surveyed(rows)
        if rows.errors < memory.best_errors:
            memory = memory._replace(best_W=W, best_errors=rows.errors)
        return State(W, evaluation(problem, rows), state.iteration + 1, memory, met=met)

    def _moved(self, problem: Objective, state: State[PerceptronMemory], step: Array) -> State[PerceptronMemory]:
        """The state after w ← w + η step, for batch and worst-example updates."""
        memory = state.memory
        W = state.W + self.eta * step
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
        return self._moved(problem, state, state.memory.known_survey.step)


@dataclass(frozen=True)
class WorstUpdates(_Settings):
    """w ← w + η t_i x̄_i with i = argmin t_i w·x̄_i: lecture 000's Algorithm 1 (docs/tour.md, P4)."""

    name: ClassVar[str] = "worst-example perceptron"
    by_sums: ClassVar[bool] = False

    def step(
        self, problem: Objective, state: State[PerceptronMemory], budget: int | None = None
    ) -> State[PerceptronMemory]:
        return self._moved(problem, state, state.memory.known_survey.worst_x)


@dataclass(frozen=True)
class OnlineUpdates(_Settings):
    """w ← w + η t_i x̄_i for each mistake, cycling through the rows (docs/tour.md, P2).

    ``shuffle``: use a new order in every epoch, which depends on (seed, epoch). ``by_update``: a step ends at the first
    update. The pocket counts the mistakes after every update, each time in up to a pass. ``survey_from``: before this
    step, the mistakes of a large table are not counted after each epoch. An epoch without an update then confirms that
    there are none, and does not count as a step.

    Rows outside memory are processed block by block, with the same updates as in memory; ``shuffle`` mixes them by a
    buffer, in another order than in memory.
    """

    shuffle: bool = False
    seed: int = 0
    by_update: bool = False
    survey_from: int = 0
    name: ClassVar[str] = "online perceptron"
    by_sums: ClassVar[bool] = False

    def init(self, problem: Objective, start: Array) -> State[PerceptronMemory]:
        rows = problem.rows.resident()
        if rows is None or self.survey_from == 0 or start.any() or _cheap(rows):
            return _Settings.init(self, problem, start)
        wrong = rows.n_rows if self.zero == "mistake" else int(np.sum(rows.t < 0))
        if not wrong:
            return _Settings.init(self, problem, start)
        _refuse_frame(problem)  # at w = 0 every score is zero, so the mistakes are known without a pass
        memory = PerceptronMemory(wrong, None, start, wrong, np.zeros(start.shape[1]))
        return State(start, Evaluation(0.0, np.full_like(start, np.nan)), memory=memory)

    def step(
        self, problem: Objective, state: State[PerceptronMemory], budget: int | None = None
    ) -> State[PerceptronMemory]:
        before = memory = state.memory
        w, n, made, cost = state.W[0].copy(), 0, 0, 0.0
        for rows, order, begin, end in self._pieces(problem, before, budget):
            (stop, more, paid), memory = self._walk(rows, order, begin, end, w, problem.fit_intercept, memory)
            n, made, cost = n + stop - begin, made + more, cost + paid
        position, since = (before.position + n) % problem.n_rows, 0 if made else before.since + n
        memory = memory._replace(
            mistakes=memory.mistakes + made, since=since, position=position, epoch=memory.epoch + (position == 0)
        )
        W = w[None, :]
        met: float | None = cost / n
        if since >= problem.n_rows and before.survey is None:
            # This epoch only confirms the weights of the last step: it is no step, and adds nothing to their mean.
            memory, met = memory._replace(seen=before.seen), state.met
            state = replace(state, iteration=state.iteration - 1)
        if not made or position or state.iteration + 1 >= self.survey_from or not _is_finite(w, cost):
            after = self.arrive(problem, state, W, memory, met)
            # Two epochs without an update although the survey counts a mistake: rounding decides whether it is one.
            return replace(after, halt=Halt.STALLED) if after.memory.errors and since >= 2 * problem.n_rows else after
        resident = problem.rows.resident()
        if resident is not None and _cheap(resident):
            return self._surveyed(problem, resident, state, W, memory, met)
        memory = memory._replace(errors=made, survey=None)  # ``made`` stands for "some": they were not counted
        return State(W, Evaluation(np.nan, np.full_like(W, np.nan)), state.iteration + 1, memory, met=met)

    def _pieces(
        self, problem: Objective, memory: PerceptronMemory, budget: int | None
    ) -> Iterator[tuple[Block, Integers, int, int]]:
        """The rows of one step: blocks, and for each the order of its rows and the first and the last place in it."""
        rows = problem.rows.resident()
        if rows is not None:
            problem.rows.counter.add()
            order = Order(1, "shuffled", self.seed, memory.epoch).rows(rows.n_rows) if self.shuffle else NO_ORDER
            most = rows.n_rows if budget is None else memory.position + max(1, budget)
            yield rows, order, memory.position, min(rows.n_rows, most)
            return
        if self.pocket or self.by_update or budget is not None:
            what = "a pocket counts the mistakes on all rows after each update" if self.pocket else "a step is an epoch"
            raise ParameterError("update", f"got 'online' for rows outside memory, where {what}", "use 'batch'")
        size = block_rows(BLOCK_BYTES, problem.rows.n_features)
        for block in problem.rows.blocks(Order(size, "shuffled" if self.shuffle else "given", self.seed, memory.epoch)):
            yield block, NO_ORDER, 0, block.n_rows

    def _walk(
        self,
        rows: Block,
        order: Integers,
        begin: int,
        end: int,
        w: Array,
        fit_intercept: bool,
        memory: PerceptronMemory,
    ) -> tuple[tuple[int, int, float], PerceptronMemory]:
        """Process the rows at these places by the compiled loop; changes w in place.

        Returns the end position, the number of updates and Σ max(0, −m), and the memory with an updated pocket and
        updated sums for the mean.
        """
        from separatrix.core.kernels import perceptron_loops as perceptron

        u = memory.u.copy() if self.average else NOTHING
        best = memory.best_W[0].copy() if self.pocket and not self.by_update else NOTHING
        how = (float(self.eta), self.zero == "mistake", bool(fit_intercept), self.by_update)
        *walked, fewest = perceptron.walk(
            *_arrays(rows), rows.t, rows.weight, order, begin, end, w, *how, u, memory.seen, best, memory.best_errors
        )
        if self.average:
            memory = memory._replace(u=u, seen=memory.seen + walked[0] - begin)
        if len(best):
            memory = memory._replace(best_W=best[None, :], best_errors=fewest)
        return tuple(walked), memory

    def _surveyed(
        self,
        problem: Objective,
        rows: Block,
        state: State[PerceptronMemory],
        W: Array,
        memory: PerceptronMemory,
        met: float | None,
    ) -> State[PerceptronMemory]:
        """The state with a survey by a compiled pass, which on a small table takes a tenth of the time of a fold."""
        from separatrix.core.kernels import perceptron_loops as perceptron

        problem.rows.counter.add()
        pull, S = np.zeros_like(W), problem.total_weight
        how = (self.zero == "mistake", bool(problem.fit_intercept))
        wrong, cost = perceptron.survey(*_arrays(rows), rows.t, W[0], *how, pull[0])
        if not wrong or not isfinite(cost):
            return self.arrive(problem, state, W, memory, met)
        return State(
            W, Evaluation(cost / S, -pull / S), state.iteration + 1, memory._replace(errors=wrong, survey=None), met=met
        )


def _arrays(rows: Block) -> tuple[Any, Any, Any]:
    """The rows as the kernels take them: an array without indices, or the three arrays of CSR rows."""
    X: Any = rows.X
    return (X.data, X.indices, X.indptr) if is_sparse(X) else (np.ascontiguousarray(X), None, None)


def _is_finite(w: Array, cost: float) -> bool:
    return bool(isfinite(cost) and np.isfinite(w).all())


def _cheap(rows: Block) -> bool:
    return bool(rows.n_rows * rows.X.shape[1] <= MOST_SURVEYED_ENTRIES)


UPDATES: dict[str, type[OnlineUpdates] | type[BatchUpdates] | type[WorstUpdates]] = {
    "online": OnlineUpdates,
    "batch": BatchUpdates,
    "worst": WorstUpdates,
}
