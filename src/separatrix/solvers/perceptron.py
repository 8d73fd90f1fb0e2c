r"""The perceptron's updates: online, batch, worst example. TEXTBOOK P1–P5, P8, P11.

Problem   find w with m_i = t_i w·x̄_i > 0 for all rows, by descending E_p(w) = Σ max(0, −m_i)
Given     a start w, a learning rate η, what a score of zero counts as
Returns   w, or with a pocket the w with the fewest mistakes among all that were passed through
Step      online: for each row in turn that is a mistake, w ← w + η t_i x̄_i; a step is an epoch, or ``budget`` rows
          batch:  w ← w + η Σ_{mistakes} t_i x̄_i
          worst:  w ← w + η t_i x̄_i for the mistake with the smallest m_i
Stops     where the rules say; online by itself where an epoch changes nothing, though rounding leaves a mistake

Rosenblatt, Principles of Neurodynamics (1962); Novikoff (1962) for why it ends; Gallant, Perceptron-based learning
algorithms, IEEE Transactions on Neural Networks 1 (1990) for the pocket.

``State.at`` holds the mean of max(0, −m) and −(1/n) Σ_{mistakes} t_i x̄_i, all from one pass after each step; online
steps before ``survey_from`` spare that pass, and hold the same sums as the walk met the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import Array, Integers
from separatrix.errors import ParameterError
from separatrix.losses.margin import Zero, ZeroOne
from separatrix.objective import Evaluation, Objective
from separatrix.rows import Block, Order
from separatrix.rows.block import is_sparse
from separatrix.solvers.state import Halt, Need, State


class Survey(NamedTuple):
    """Of all rows under some w: mistakes, Σ max(0, −m), Σ_{mistakes} t x̄, the smallest m, and the worst mistake."""

    errors: int
    cost: float
    pull: Array
    smallest: float
    worst: float
    row: int
    worst_x: Array


@dataclass(frozen=True)
class Mistakes:
    """The partial sum behind ``Survey``; of equally bad mistakes the first is the worst."""

    W: Array
    zero_score: Zero

    def zero(self) -> Survey:
        width = self.W.shape[1]
        return Survey(0, 0.0, np.zeros(width), np.inf, np.inf, -1, np.zeros(width))

    def add(self, total: Survey, block: Block) -> Survey:
        z = block.scores(self.W)[:, 0]
        m = block.t * z
        wrong = ZeroOne(self.zero_score).value(block.t, z)
        pull = block.adjoint((block.t * wrong)[:, None])[0]
        part = Survey(
            int(wrong.sum()), float(np.maximum(-m, 0.0).sum()), pull, float(m.min()), np.inf, -1, total.worst_x
        )
        if part.errors and m.min() < total.worst:
            k = int(np.argmin(np.where(wrong > 0, m, np.inf)))
            worst_x = block.t[k] * block.take(np.array([k])).homogeneous()[0]
            part = part._replace(worst=float(m[k]), row=block.start + k, worst_x=worst_x)
        return self.merge(total, part)

    def merge(self, a: Survey, b: Survey) -> Survey:
        worse = b if b.worst < a.worst else a
        return Survey(
            a.errors + b.errors,
            a.cost + b.cost,
            a.pull + b.pull,
            min(a.smallest, b.smallest),
            worse.worst,
            worse.row,
            worse.worst_x,
        )


def survey(problem: Objective, W: Array, zero: Zero) -> Survey:
    """What all rows say of W, in one pass."""
    problem.passes += 1
    with np.errstate(over="ignore", invalid="ignore"):
        found = problem.rows.fold(Mistakes(W, zero))
    if not problem.fit_intercept:
        found.pull[0] = found.worst_x[0] = 0.0
    return found


def evaluation(problem: Objective, found: Survey) -> Evaluation:
    """E_p and a subgradient of it, per unit of weight."""
    S = problem.total_weight
    return Evaluation(found.cost / S, -found.pull[None, :] / S)


@dataclass(frozen=True)
class _Settings:
    """``zero``: z = 0 is a mistake (m ≤ 0; lectures 000, 004), or predicts + (001, 003). TEXTBOOK D1."""

    eta: float = 1.0
    zero: Zero = "mistake"
    pocket: bool = False
    needs: ClassVar[frozenset[Need]] = frozenset()
    converges: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.eta < np.inf:
            raise ParameterError("eta", f"got {self.eta!r}", "give a positive learning rate")
        if self.zero not in ("mistake", "positive"):
            raise ParameterError("zero", f"got {self.zero!r}", "choose 'mistake' or 'positive'")

    def init(self, problem: Objective, start: Array) -> State:
        _refuse_frame(problem)
        found = survey(problem, start, self.zero)
        memory = {**NOTHING_WALKED, "best_W": start, "best_errors": found.errors, **_seen(found)}
        return State(start, evaluation(problem, found), memory=memory)

    def solution(self, problem: Objective, state: State) -> State:
        if not self.pocket and state.memory["surveyed"]:
            return state
        best = state.memory["best_W"] if self.pocket else state.W
        found = survey(problem, best, self.zero)
        return replace(state, W=best, at=evaluation(problem, found), memory={**state.memory, **_seen(found)})

    def arrive(self, problem: Objective, state: State, W: Array, memory: Mapping[str, Any]) -> State:
        """The state at new weights; they go into the pocket where they make fewer mistakes."""
        found = survey(problem, W, self.zero)
        if not (np.all(np.isfinite(W)) and np.isfinite(found.cost)):
            return replace(state, halt=Halt.STALLED)
        memory = {**memory, **_seen(found)}
        if found.errors < memory["best_errors"]:
            memory |= {"best_W": W, "best_errors": found.errors}
        return State(W, evaluation(problem, found), state.iteration + 1, memory)


NOTHING_WALKED: dict[str, Any] = {"mistakes": 0, "epoch": 0, "position": 0, "since": 0, "clear": 0}


def _refuse_frame(problem: Objective) -> None:
    if not problem.rows.frame.is_identity:
        raise ParameterError("problem", "its rows are seen through a frame", "pose them as they are")


def _seen(found: Survey) -> dict[str, Any]:
    return {
        "surveyed": True,
        "errors": found.errors,
        "pull": found.pull,
        "smallest": found.smallest,
        "worst_row": found.row,
        "worst_x": found.worst_x,
    }


@dataclass(frozen=True)
class BatchUpdates(_Settings):
    """w ← w + η Σ_{i ∈ M} t_i x̄_i, with M all mistakes. TEXTBOOK P3."""

    name: ClassVar[str] = "batch perceptron"
    by_sums: ClassVar[bool] = True

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        made = 1 if state.memory["errors"] else 0
        memory = {**state.memory, "mistakes": state.memory["mistakes"] + made}
        return self.arrive(problem, state, state.W + self.eta * state.memory["pull"], memory)


@dataclass(frozen=True)
class WorstUpdates(_Settings):
    """w ← w + η t_i x̄_i with i = argmin t_i w·x̄_i: lecture 000's Algorithm 1. TEXTBOOK P4."""

    name: ClassVar[str] = "worst-example perceptron"
    by_sums: ClassVar[bool] = False

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        made = 1 if state.memory["errors"] else 0
        memory = {**state.memory, "mistakes": state.memory["mistakes"] + made}
        return self.arrive(problem, state, state.W + self.eta * made * state.memory["worst_x"], memory)


@dataclass(frozen=True)
class OnlineUpdates(_Settings):
    """w ← w + η t_i x̄_i for each mistake, circling through the rows. TEXTBOOK P2.

    ``shuffle``: a new order in every epoch, by (seed, epoch). ``by_update``: a step ends at the first update. The
    pocket looks at the weights after every update, which costs up to a pass each. ``survey_from``: before this step,
    all that is asked after an epoch is whether a mistake is left, by looking ahead to the next epoch's first one, where
    the next walk begins.
    """

    shuffle: bool = False
    seed: int = 0
    by_update: bool = False
    survey_from: int = 0
    name: ClassVar[str] = "online perceptron"
    by_sums: ClassVar[bool] = False

    def init(self, problem: Objective, start: Array) -> State:
        rows = _resident(problem)
        wrong = rows.n_rows if self.zero == "mistake" else int(np.sum(rows.t < 0))
        if self.survey_from == 0 or start.any() or not wrong:
            return _Settings.init(self, problem, start)
        _refuse_frame(problem)  # at zero every score is zero: the mistakes are known, and cost nothing
        memory = {**NOTHING_WALKED, "best_W": start, "best_errors": wrong, "errors": wrong, "surveyed": False}
        return State(start, Evaluation(0.0, np.zeros_like(start)), memory=memory)

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        rows = _resident(problem)
        memory = dict(state.memory)
        order = self._order(rows, memory["epoch"])
        begin, w = memory["position"], state.W[0].copy()
        end = rows.n_rows if budget is None else min(rows.n_rows, begin + max(1, budget))
        position, made, cost = min(max(begin, memory["clear"]), end), 0, 0.0
        while position < end:
            position, more, met = _walk(rows, order, position, end, w, self, problem.fit_intercept)
            made, cost = made + more, cost + met
            if more and self.pocket:
                errors, _ = _count(rows, order[:0], w, self.zero, memory["best_errors"])
                if errors < memory["best_errors"]:
                    memory |= {"best_W": w[None, :].copy(), "best_errors": errors}
            if more and self.by_update:
                break
        problem.passes += 1
        memory["mistakes"] += made
        memory["since"] = 0 if made else memory["since"] + position - begin
        memory["position"] = position % rows.n_rows
        memory["epoch"] += int(position == rows.n_rows)
        memory["clear"] = 0 if made or position == rows.n_rows else memory["clear"]
        after = self._arrived(problem, rows, state, w, memory, cost)
        idle = after.memory["errors"] and after.memory["since"] >= 2 * rows.n_rows
        return replace(after, halt=Halt.STALLED) if idle else after

    def _order(self, rows: Block, epoch: int) -> Integers:
        """The rows' order in an epoch; empty for the given one."""
        return Order(1, "shuffled", self.seed, epoch).rows(rows.n_rows) if self.shuffle else NO_ORDER

    def _arrived(
        self, problem: Objective, rows: Block, state: State, w: Array, memory: dict[str, Any], cost: float
    ) -> State:
        W, sound = w[None, :], bool(np.all(np.isfinite(w)) and np.isfinite(cost))
        if state.iteration + 1 >= self.survey_from or memory["position"] or not sound:
            return self.arrive(problem, state, W, memory)
        wrong, looked = _count(rows, self._order(rows, memory["epoch"]), w, self.zero, 1)
        if not wrong:
            memory["clear"] = looked
            return self.arrive(problem, state, W, memory)
        memory |= {"clear": looked - 1, "errors": wrong, "surveyed": False}
        S = problem.total_weight
        return State(W, Evaluation(cost / S, (state.W - W) / self.eta / S), state.iteration + 1, memory)


NO_ORDER: Integers = np.zeros(0, dtype=np.int64)


def _resident(problem: Objective) -> Block:
    rows = problem.rows.resident()
    if rows is None:
        raise ParameterError("update", "'online' walks over rows in memory", "use 'batch' or 'worst'")
    return rows


def _walk(
    rows: Block, order: Integers, begin: int, end: int, w: Array, how: OnlineUpdates, fit_intercept: bool
) -> tuple[int, int, float]:
    """The compiled walk over these rows; changes w."""
    from separatrix.kernels import perceptron as kernels

    once = how.by_update or how.pocket
    rest = (rows.t, order, begin, end, w, float(how.eta), how.zero == "mistake", bool(fit_intercept), once)
    X: Any = rows.X
    if is_sparse(X):
        return kernels.walk_sparse(X.data, X.indices, X.indptr, *rest)  # type: ignore[no-any-return]
    return kernels.walk_dense(np.ascontiguousarray(X), *rest)  # type: ignore[no-any-return]


def _count(rows: Block, order: Integers, w: Array, zero: Zero, most: int) -> tuple[int, int]:
    """How many rows are mistakes, up to ``most``, and how many were looked at."""
    from separatrix.kernels import perceptron as kernels

    X: Any = rows.X
    rest = (rows.t, order, w, zero == "mistake", most)
    if is_sparse(X):
        return kernels.count_sparse(X.data, X.indices, X.indptr, *rest)  # type: ignore[no-any-return]
    return kernels.count_dense(np.ascontiguousarray(X), *rest)  # type: ignore[no-any-return]


UPDATES: dict[str, type[OnlineUpdates] | type[BatchUpdates] | type[WorstUpdates]] = {
    "online": OnlineUpdates,
    "batch": BatchUpdates,
    "worst": WorstUpdates,
}
