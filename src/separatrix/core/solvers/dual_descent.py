"""Dual coordinate descent for the logistic loss, for sparse rows whose length is small relative to the penalty.

Problem   min over w, b of Σ_i s_i log(1 + e^{−t_i (w·(x_i − c) + b)}) + ½ Σ_j q_j w_j², every q_j > 0; this is S E(W)
Given     rows in memory; the start is w = 0
Returns   W with E(W) near its minimum
Step      some epochs, then the exact minimum over b for fixed w. An epoch minimises over α_i, for each row in turn,

              ½ ‖Σ_i α_i t_i (x_i − c)‖² + Σ_i α_i log(α_i/s_i) + (s_i − α_i) log(1 − α_i/s_i) − b Σ_i α_i t_i

          where the norm has weights 1/q, and keeps w = Σ_i α_i t_i (x_i − c)/q up to date. It ends with the step
          b ← b + Σ αt / Σ α(1 − α/s), a Newton step in b on the minimum over w. If convergence becomes slow, L-BFGS
          around a diagonal takes over
Stops     by the driver's rules; by itself if L-BFGS does

Yu, Huang and Lin, Dual coordinate descent methods for logistic regression and maximum entropy models, Machine Learning
85 (2011), Algorithm 5, which solves for α subject to 0 < α < s. Here the unknown is the margin m, with α = s σ(−m),
which is unconstrained. The intercept b is not part of w and is not penalised. Rows are centred at the columns' means c
(implicitly, by two numbers per row), so that the best w hardly depends on b. If s_i ‖x_i‖²/q is small, few epochs
suffice. On text this is true even if columns are correlated, which slows down L-BFGS with a diagonal preconditioner;
if they are nearly uncorrelated, L-BFGS is faster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import ParameterError
from separatrix.core.duality_bound import duality
from separatrix.core.losses import Logistic
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block, as_csr, is_sparse
from separatrix.core.rows.protocol import Order
from separatrix.core.solvers.lbfgs import LBFGS, LBFGSMemory
from separatrix.core.solvers.preconditioners import Diagonal
from separatrix.core.solvers.state import Need, State

# The solver that takes over.
FINISH = LBFGS(Diagonal())
# The number of epochs in the first step, and in each later step.
FIRST_EPOCHS, LATER_EPOCHS = 5, 2
# The number of sampled rows from which the mean squared row length is estimated.
ROWS_FOR_LENGTH = 1000
# An epoch shuffles runs of consecutive rows, not single rows. LONGEST_RUN is the most rows in a run; FEWEST_RUNS is the
# fewest runs, so tables with fewer than twice as many rows have runs of one row.
LONGEST_RUN, FEWEST_RUNS = 16, 1024
# The most Newton steps for b. They also end once a step is at most SHORT, since the error is then about its square.
MOST_INTERCEPT_STEPS, SHORT = 20, 1e-6


class DualMemory(NamedTuple):
    """The dual variables α (n,), v = Σ α t x/q (d,), and the intercept b.

    ``square`` (n,) are the rows' squared lengths and ``along`` (n,) their products with c, both with weights 1/q.
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
    """α_i ← argmin over α_i, rows shuffled by (seed, epoch); L-BFGS takes over if convergence is slow.

    Unsupported problems (other losses, columns with large offsets, very long rows, a start that is not zero) are solved
    by L-BFGS from the first step.

    Parameters
    ----------
    seed : int, default 0
        The seed of the order of the rows.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])), np.array([0, 1, 0])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(2)))
    >>> solver = DualDescent()
    >>> state = solver.step(problem, solver.init(problem, np.zeros(problem.shape)))
    >>> bool(duality(problem, state.W, state.at).known < 1e-3)
    True
    """

    seed: int = 0
    name: ClassVar[str] = "dual"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.RIDGE, Need.STANDARD, Need.RESIDENT, Need.HELD})
    by_sums: ClassVar[bool] = False
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ParameterError("seed", f"got {self.seed}", "give a whole number that is not negative")

    def init(self, problem: Objective, start: Array) -> State[DualMemory | LBFGSMemory]:
        rows = None if np.any(start[:, 1:]) else _CentredRows.of(problem)
        if rows is None:
            return FINISH.init(problem, start)
        memory = rows.begun()
        # With longer rows α is not accurate enough.
        if not np.max(memory.square, initial=0.0) <= 1e12:
            return FINISH.init(problem, start)
        return State(start, rows.evaluate(start), memory=memory)

    def step(
        self, problem: Objective, state: State[DualMemory | LBFGSMemory], budget: int | None = None
    ) -> State[DualMemory | LBFGSMemory]:
        memory = state.memory
        if isinstance(memory, LBFGSMemory):
            before = State(state.W, state.at, state.iteration, memory, state.halt, state.expected)
            return FINISH.step(problem, before, budget)
        rows = _CentredRows.of(problem)
        if memory.slow or rows is None:
            taken = FINISH.step(problem, FINISH.init(problem, state.W), budget)
            return replace(taken, iteration=state.iteration + 1)
        first = memory.epoch == 0
        memory = memory._replace(alpha=memory.alpha.copy(), v=memory.v.copy())
        for _ in range(FIRST_EPOCHS if first else LATER_EPOCHS):
            memory = rows.after_epoch(memory, self.seed)
        W = rows.settled(memory)
        at = rows.evaluate(W)
        last_gap, gap = (duality(problem, *there).known for there in ((state.W, state.at), (W, at)))
        # After a step, other than the first, that leaves a larger share of the duality gap, L-BFGS takes over.
        slow = not first and not gap <= 0.3 * last_gap
        return State(W, at, state.iteration + 1, memory._replace(b=float(W[0, 0]), slow=slow))

    def solution(self, problem: Objective, state: State[DualMemory | LBFGSMemory]) -> State[DualMemory | LBFGSMemory]:
        return state


def row_length(problem: Objective) -> float:
    """The mean of s_i ‖x_i − c‖², with weights 1/q, over a sample of rows; infinite if dual descent is not supported.

    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = np.array([[1.0], [-1.0], [1.0], [-1.0]]), np.array([0, 1, 1, 0])
    >>> round(row_length(build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0 / 8.0, np.ones(1)))), 9)
    8.0
    """
    rows = _CentredRows.of(problem)
    if rows is None:
        return np.inf
    n = rows.block.n_rows
    some = rows.block.take(np.unique(np.linspace(0, n - 1, ROWS_FOR_LENGTH).astype(np.int64)))
    held = problem.root_penalty > 0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # squares of entries may overflow
        squares = some.squares(some.weight)[held] / problem.root_penalty[held] ** 2
        return float(np.sum(squares) / problem.total_weight / some.n_rows)


@dataclass(frozen=True)
class _CentredRows:
    """CSR rows x_i − c, whose lengths are computed with weights 1/q; the frame defines c and the hidden columns."""

    problem: Objective
    block: Block

    @classmethod
    def of(cls, problem: Objective) -> _CentredRows | None:
        """The rows of a problem, or None if dual descent does not support it."""
        block = problem.rows.resident()
        fits = isinstance(problem.loss, Logistic) and not problem.rows.frame.has_large_offset
        if block is None or not fits or problem.has_absolute or not np.all(problem.penalty.quadratic > 0):
            return None
        X: Any = block.X if is_sparse(block.X) else as_csr(block.X)
        return cls(problem, replace(block, X=X))

    @property
    def inverse(self) -> Array:
        """1/q, (d,); 0 for a column that the frame hides."""
        return np.where(np.isinf(self.block.frame.scale), 0.0, 1.0 / self.problem.penalty.quadratic)

    def evaluate(self, W: Array) -> Evaluation:
        return self.problem.value_gradient(W)

    def _read(self) -> tuple[Array, Any, Any]:
        """The three CSR arrays, as the kernels take them. Counts as one pass."""
        self.problem.rows.counter.add()
        X: Any = self.block.X
        return X.data, X.indices, X.indptr

    def begun(self) -> DualMemory:
        """The memory at α = 0, with the rows' lengths and the null model's b."""
        from separatrix.core.kernels import sparse_rows as dual

        n, d = self.block.X.shape
        square, along = np.empty(n), np.empty(n)
        dual.row_lengths(*self._read(), self.inverse, self.block.frame.center, np.zeros(d), square, along)
        less, more = self.problem.framed.class_sums[:, 0]
        b = float(np.log(more / less)) if self.problem.fit_intercept and min(less, more) > 0 else 0.0
        return DualMemory(np.zeros(n), np.zeros(d), square, along, b)

    def after_epoch(self, memory: DualMemory, seed: int) -> DualMemory:
        """The memory after one epoch over α and one Newton step in b; the arrays α and v are changed in place."""
        from separatrix.core.kernels import sparse_rows as dual

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
        for _ in range(MOST_INTERCEPT_STEPS):
            curvature = float(s @ loss.curvature_product(t, z + b, np.ones_like(z)))
            step = -float(s @ loss.derivative(t, z + b)) / curvature if curvature > 0 else 0.0
            b += float(np.clip(step, -1.0, 1.0))  # the curvature is only valid nearby, and there is no line search
            if abs(step) <= SHORT:
                break
        W[0, 0] = b
        return W
