r"""Dual coordinate descent: the logistic loss over sparse rows that are short, as the penalty measures them.

Problem   min over w, b of Σ_i s_i log(1 + e^{−t_i (w·(x_i − c) + b)}) + ½ Σ_j q_j w_j², every q_j > 0: S times E(W)
Given     rows in memory; starts at w = 0
Returns   W with E(W) near its minimum
Step      some epochs, then b at its best for that w, exactly. In an epoch for each row in turn the best α_i of

              ½ ‖Σ_i α_i t_i (x_i − c)‖² + Σ_i α_i log(α_i/s_i) + (s_i − α_i) log(1 − α_i/s_i) − b Σ_i α_i t_i

          with 1/q in the norm, and w = Σ_i α_i t_i (x_i − c)/q kept up to date; then b ← b + Σ αt / Σ α(1 − α/s), a
          Newton step on the minimum over w. Where that gets slow, the steps of L-BFGS around a diagonal
Stops     where the driver's rules say; by itself where L-BFGS does

Yu, Huang and Lin, Dual coordinate descent methods for logistic regression and maximum entropy models, Machine Learning
85 (2011), Algorithm 5, which solves for α between its ends. Here it is solved for the margin m, with α = s σ(−m), which
has no ends. b is no part of w and free; rows are centred at the columns' means c (implicitly, by two numbers a row), so
that the best w hardly depends on it. Where s_i ‖x_i‖²/q is small few epochs do, on text also where columns have much in
common, which slows L-BFGS around a diagonal; where they have little, that is the faster.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.losses.margin import Logistic
from separatrix.objectives.duality_bound import duality
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows import Block, Order
from separatrix.rows.block import as_csr, is_sparse
from separatrix.solvers.compiled import CompiledSums
from separatrix.solvers.diagonal import DiagonalLBFGS, DiagonalMemory
from separatrix.solvers.state import Need, State

# Epochs in the first step, and in each after it.
FIRST, LATER = 5, 2
# A later step that leaves more than this share of the bound is slow.
SLOW = 0.3
# Past this squared length of a row its α holds too few digits.
LONGEST = 1e12
# Rows that stand for all where their length is asked for.
SOME = 1000
# Neighbours that are walked together, where rows are many; and how many runs of them there must be.
LONGEST_RUN, FEWEST_RUNS = 16, 1024
# Newton steps on b at most, and the length of the last: its error is about the square.
MOST_STEPS, SHORT = 20, 1e-6


class DualMemory(NamedTuple):
    """α (n,), v = Σ α t x/q (d,), the rows' squared lengths and their products with c, both with 1/q, and b.

    ``balance`` is Σ αt, and ``cv`` is c·v. ``epoch``: the number of epochs so far; ``slow``: whether L-BFGS takes over.
    """

    alpha: Array
    v: Array
    square: Array
    along: Array
    b: float
    balance: float = 0.0
    cv: float = 0.0
    epoch: int = 0
    slow: bool = False


@dataclass(frozen=True)
class DualDescent:
    """α_i ← argmin over α_i, rows shuffled by (seed, epoch); ``finish`` takes over where that is slow.

    What it is not for (other losses, large offsets, huge rows, a start that is not zero) goes to ``finish`` at once.

    >>> from scipy.sparse import csr_array
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
    >>> rows, codes = csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])), np.array([0, 1, 0])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(2)))
    >>> solver = DualDescent()
    >>> state = solver.step(problem, solver.init(problem, np.zeros(problem.shape)))
    >>> bool(duality(problem, state.W, state.at).known < 1e-3)
    True
    """

    seed: int = 0
    finish: DiagonalLBFGS = field(default_factory=DiagonalLBFGS)
    name: ClassVar[str] = "dual"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.STANDARD, Need.RESIDENT, Need.HELD})
    by_sums: ClassVar[bool] = False
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ParameterError("seed", f"got {self.seed}", "give a whole number that is not negative")

    def init(self, problem: Objective, start: Array) -> State[DualMemory | DiagonalMemory]:
        rows = None if np.any(start[:, 1:]) else _CentredRows.of(problem)
        if rows is None:
            return self.finish.init(problem, start)
        memory = rows.begun()
        if not np.max(memory.square, initial=0.0) <= LONGEST:
            return self.finish.init(problem, start)
        return State(start, rows.evaluate(start), memory=memory)

    def step(
        self, problem: Objective, state: State[DualMemory | DiagonalMemory], budget: int | None = None
    ) -> State[DualMemory | DiagonalMemory]:
        memory = state.memory
        if isinstance(memory, DiagonalMemory):
            before = State(state.W, state.at, state.iteration, memory, state.halt, state.expected)
            return self.finish.step(problem, before, budget)
        rows = _CentredRows.of(problem)
        if memory.slow or rows is None:
            taken = self.finish.step(problem, self.finish.init(problem, state.W), budget)
            return replace(taken, iteration=state.iteration + 1)
        first = memory.epoch == 0
        memory = memory._replace(alpha=memory.alpha.copy(), v=memory.v.copy())
        for _ in range(FIRST if first else LATER):
            memory = rows.after_epoch(memory, self.seed)
        W = rows.settled(memory)
        at = rows.evaluate(W)
        last_gap, gap = (duality(problem, *there).known for there in ((state.W, state.at), (W, at)))
        slow = not first and not gap <= SLOW * last_gap
        return State(W, at, state.iteration + 1, memory._replace(b=float(W[0, 0]), slow=slow))

    def solution(
        self, problem: Objective, state: State[DualMemory | DiagonalMemory]
    ) -> State[DualMemory | DiagonalMemory]:
        return state


def row_length(problem: Objective) -> float:
    """The mean of s_i ‖x_i − c‖², with 1/q in the norm, over some of the rows; infinite where the method has no use.

    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
    >>> rows, codes = np.array([[1.0], [-1.0], [1.0], [-1.0]]), np.array([0, 1, 1, 0])
    >>> round(row_length(build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0 / 8.0, np.ones(1)))), 9)
    8.0
    """
    rows = _CentredRows.of(problem)
    if rows is None:
        return np.inf
    n = rows.block.n_rows
    some = rows.block.take(np.unique(np.linspace(0, n - 1, SOME).astype(np.int64)))
    held = problem.root_penalty > 0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # columns may be of any size
        squares = some.squares(some.weight)[held] / problem.root_penalty[held] ** 2
        return float(np.sum(squares) / problem.total_weight / some.n_rows)


@dataclass(frozen=True)
class _CentredRows:
    """CSR rows x_i − c, of lengths by 1/q; c and the columns that read zero are the frame's."""

    problem: Objective
    block: Block

    @classmethod
    def of(cls, problem: Objective) -> _CentredRows | None:
        """The rows of a problem, or None where they are not for this method."""
        block = problem.rows.resident()
        fits = isinstance(problem.loss, Logistic) and not problem.rows.frame.has_large_offset
        if block is None or not fits or problem.has_absolute or not np.all(problem.penalty.quadratic > 0):
            return None
        X: Any = block.X if is_sparse(block.X) else as_csr(block.X)
        return cls(problem, replace(block, X=X))

    @property
    def inverse(self) -> Array:
        """1/q, (d,); zero for a column that the frame hides."""
        return np.where(np.isinf(self.block.frame.scale), 0.0, 1.0 / self.problem.penalty.quadratic)

    def evaluate(self, W: Array) -> Evaluation:
        return (CompiledSums.of(self.problem) or self.problem).value_gradient(W)

    def _read(self) -> tuple[Array, Any, Any]:
        """The rows as a kernel takes them, one pass noted."""
        self.problem.rows.counter.add()
        X: Any = self.block.X
        return X.data, X.indices, X.indptr

    def begun(self) -> DualMemory:
        """The memory at α = 0: rows' lengths, and the null model's b."""
        from separatrix.kernels import dual

        n, d = self.block.X.shape
        square, along = np.empty(n), np.empty(n)
        dual.row_lengths(*self._read(), self.inverse, self.block.frame.center, np.zeros(d), square, along)
        less, more = self.problem.class_sums[:, 0]
        b = float(np.log(more / less)) if self.problem.fit_intercept and min(less, more) > 0 else 0.0
        return DualMemory(np.zeros(n), np.zeros(d), square, along, b)

    def after_epoch(self, memory: DualMemory, seed: int) -> DualMemory:
        """The memory after one epoch over α and a step of b; the arrays α and v are changed in place."""
        from separatrix.kernels import dual

        rows, c, inverse = self.block, self.block.frame.center, self.inverse
        n = rows.n_rows
        length = int(np.clip(n // FEWEST_RUNS, 1, LONGEST_RUN))
        runs = Order(1, "shuffled", seed, memory.epoch).rows(-(-n // length))
        lengths = (inverse, memory.square, memory.along, float(c @ (c * inverse)))
        held = (memory.b, memory.alpha, memory.v, memory.balance, memory.cv)
        A, cv, curvature = dual.epoch(*self._read(), runs, length, rows.t, rows.weight, *lengths, *held)
        b = memory.b + A / curvature if self.problem.fit_intercept and curvature > 0 else memory.b
        return memory._replace(b=b, balance=A, cv=cv, epoch=memory.epoch + 1)

    def settled(self, memory: DualMemory) -> Array:
        """W = (b, w) in the frame's coordinates with the best b for this w, in one pass."""
        frame, loss = self.block.frame, self.problem.loss
        scale = np.where(np.isinf(frame.scale), 0.0, frame.scale)
        w = memory.v - memory.balance * frame.center * self.inverse
        W = np.concatenate([[0.0], w * scale])[None, :]
        if not self.problem.fit_intercept:
            return W
        self._read()
        t, s = self.block.t, self.block.weight
        z, b = self.block.scores(W)[:, 0], memory.b
        for _ in range(MOST_STEPS):
            curvature = float(s @ loss.curvature_product(t, z + b, np.ones_like(z)))
            step = -float(s @ loss.derivative(t, z + b)) / curvature if curvature > 0 else 0.0
            b += float(np.clip(step, -1.0, 1.0))  # farther away the curvature differs; no value is computed to damp it
            if abs(step) <= SHORT:
                break
        W[0, 0] = b
        return W
