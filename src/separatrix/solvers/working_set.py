r"""Proximal Newton on a working set of columns with gap-safe screening, for the lasso with many columns.

See docs/tour.md, R8.

Problem   min_W E(W) = f(W) + Σ a_j |W_kj|, f smooth and convex, with many columns, most of which have weight zero
Given     a start W, the number of columns in the first working set
Returns   W with E(W) near its minimum, and exact zeros where the minimum has them
Step      compute ∇f over all columns. Screening removes columns whose weights are zero at every minimum, permanently.
          Of the others, gather in one pass those in use and those with the largest subgradients, up to twice as many.
          Run proximal Newton on them, with the scores kept up to date, until their subgradients have fallen by a given
          factor
Stops     by the driver's rules; by itself if rounding hides any descent

Screening. Let G be the gradient of the loss at W, and p the derivatives of the loss for each row. A convex loss whose
derivative is L-Lipschitz in the score satisfies E(W) − E(W*) ≥ ‖p − p*‖²/2L, so |G_j − G*_j| ≤ (2L gap)^½ ‖x̃_j‖. If
|G_j| plus this bound is below a_j, weight j is zero at every minimum. The scales of the frame keep ‖x̃_j‖ below 2.

Ndiaye, Fercoq, Gramfort and Salmon 2017 (gap-safe rules); Massias, Gramfort and Salmon 2018 (working sets by distance
to the constraint); Johnson and Guestrin 2015 (Blitz); Yuan, Ho and Lin 2012 (newGLMNET) for the inner steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import ParameterError
from separatrix.objectives.duality_bound import duality
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows.csr import is_sparse
from separatrix.solvers.compiled import CompiledSums
from separatrix.solvers.gathered_columns import Gathered, gather
from separatrix.solvers.proximal import Progress, halted, progressed, unshifted
from separatrix.solvers.restricted import MEAN_ROUNDING, furthest, restricted
from separatrix.solvers.start import begun
from separatrix.solvers.state import Halt, Need, State

# The problem on a working set is solved until no subgradient exceeds FINAL_ACCURACY, in units of the penalty, once the
# set seems to hold all needed columns; before that, ACCURACY_SHARE times the largest subgradient of all columns.
FINAL_ACCURACY, ACCURACY_SHARE = 3e-9, 1e-3
# A working set seems to hold all needed columns if no subgradient exceeds LARGEST_FINAL_DISTANCE, in units of the
# penalty, and if at most LARGEST_USED_SHARE of its columns are in use.
LARGEST_FINAL_DISTANCE, LARGEST_USED_SHARE = 10.0, 0.65
# One step may increase the number of columns in the working set by at most this factor.
LARGEST_WORKING_SET_GROWTH = 4
# The memory limit for gathered columns is SMALLEST_ROOM_BYTES, or ROOM_SHARE of the size of X if that is more. If the
# columns in use exceed it, the limit is USED_COLUMN_ROOMS times as large. FEWEST_COLUMNS columns are always allowed.
SMALLEST_ROOM_BYTES, ROOM_SHARE, USED_COLUMN_ROOMS, FEWEST_COLUMNS = 7 << 22, 0.025, 2.0, 16
# A run ends after this many consecutive steps without progress: SHORT_PATIENCE if the working set holds every column
# that is needed, LONG_PATIENCE if memory is too small for that and columns take turns.
SHORT_PATIENCE, LONG_PATIENCE = 2, 100
# A bound on the root mean square of a column in the frame's coordinates.
LONGEST_COLUMN = 2.0


@dataclass
class Held:
    """The latest gathered columns. All states of a run share them, so that only one set is in memory at a time."""

    chosen: Integers | None = None
    gathered: Gathered | None = None

    def columns(self, problem: Objective, chosen: Integers) -> Gathered:
        """The chosen columns, gathered again if they differ from the latest ones."""
        if self.chosen is None or self.gathered is None or not np.array_equal(chosen, self.chosen):
            self.gathered = None
            self.chosen, self.gathered = chosen, gather(problem, chosen)
        return self.gathered


class WorkingSetMemory(NamedTuple):
    """The columns that screening has kept, (d,), those of the last working set, their gathered rows, and progress."""

    kept: AnyArray
    chosen: Integers | None
    held: Held
    progress: Progress | None = None


@dataclass(frozen=True)
class WorkingSet:
    """Proximal Newton on a working set of ``first`` columns, which grows to hold all columns that the minimum uses.

    Parameters
    ----------
    first : int, default 1024
        The number of columns of the first working set.

    Examples
    --------
    >>> WorkingSet(first=64)
    WorkingSet(first=64)
    """

    first: int = 1024
    name: ClassVar[str] = "working-set"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.SMOOTH, Need.STANDARD})
    by_sums: ClassVar[bool] = True
    converges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.first < 1:
            raise ParameterError("first", f"got {self.first}", "give at least one column")

    def init(self, problem: Objective, start: Array) -> State[WorkingSetMemory]:
        return self.begin(problem, start, begun(problem, start))

    def begin(
        self, problem: Objective, start: Array, at: Evaluation, before: State | None = None
    ) -> State[WorkingSetMemory]:
        """The first state of a run if E is already known.

        ``before``: the last state of a run with another penalty on the same rows in the same frame, whose gathered
        columns are reused.
        """
        kept = np.isfinite(problem.rows.frame.scale)
        last = None if before is None else before.memory
        if isinstance(last, WorkingSetMemory):
            return State(start, at, memory=WorkingSetMemory(kept, last.chosen, last.held))
        return State(start, at, memory=WorkingSetMemory(kept, None, Held()))

    def step(
        self, problem: Objective, state: State[WorkingSetMemory], budget: int | None = None
    ) -> State[WorkingSetMemory]:
        memory = state.memory
        kept, chosen = memory.kept & ~screened(problem, state), memory.chosen
        if chosen is None or not self._enough(problem, state, kept, chosen):
            chosen = self._chosen(problem, state, kept)
        held = np.concatenate([[0], chosen + 1])
        part = restricted(problem, state.W, held, memory.held.columns(problem, chosen))
        far = furthest(state.W, state.at.gradient, problem.absolute_penalty)
        to = part.minimised(ACCURACY_SHARE * far)
        if far <= LARGEST_FINAL_DISTANCE and np.mean(np.any(to != 0, axis=0)) <= LARGEST_USED_SHARE:
            to = part.minimised(min(FINAL_ACCURACY, ACCURACY_SHARE * far))
        V = np.zeros(problem.shape)
        V[:, held] = to - state.W[:, held]
        W = state.W + unshifted(problem, V)
        at = (CompiledSums.of(problem) or problem).value_gradient(W)
        if not at.value <= state.at.value * (1 + MEAN_ROUNDING):
            return replace(state, halt=Halt.STALLED)
        patience = SHORT_PATIENCE if self._enough(problem, state, kept, chosen) else LONG_PATIENCE
        progress = progressed(problem, state, memory.progress, W, at)
        after = WorkingSetMemory(kept, chosen, memory.held, progress)
        return State(W, at, state.iteration + 1, after, halted(progress, patience))

    def solution(self, problem: Objective, state: State[WorkingSetMemory]) -> State[WorkingSetMemory]:
        return state

    def _enough(self, problem: Objective, state: State, kept: AnyArray, chosen: Integers) -> bool:
        """Whether a working set holds every kept column that is in use or has a nonzero subgradient."""
        outside = np.ones(problem.shape[1], dtype=bool)
        outside[chosen + 1] = outside[0] = False
        outside[1:] &= kept
        wanted = np.any(problem.subgradient(state.W, state.at.gradient) != 0, axis=0)
        return not np.any(outside & (wanted | np.any(state.W != 0, axis=0)))

    def _chosen(self, problem: Objective, state: State, kept: AnyArray) -> Integers:
        """The columns of the next working set, within the memory limit.

        Columns in use or unpenalised come first, then the others in the order of penalty − |gradient|.
        """
        a = problem.absolute_penalty[1:]
        used = np.any(state.W[:, 1:] != 0, axis=0) | (problem.unpenalised[1:] & kept)
        distance = a - np.max(np.abs(state.at.gradient[:, 1:]), axis=0)
        n_used, n_wanted = int(used.sum()), int(np.sum(kept & ~used & (distance < 0)))
        size = max(self.first, 2 * n_used, min(n_used + n_wanted, LARGEST_WORKING_SET_GROWTH * max(self.first, n_used)))
        order = np.lexsort((distance, ~used, ~(kept | used)))[: min(size, int(np.sum(kept | used)))]
        length = _bytes(problem)
        most = _within(length, order)
        if n_used >= most:  # raise the limit to hold the columns in use and some more
            most = min(n_used + max(FEWEST_COLUMNS, n_used // 4), _within(length, order, USED_COLUMN_ROOMS))
        if n_used < most:
            return np.sort(order[:most])
        # If the columns in use do not fit into memory, those with the largest subgradients take turns.
        slope = np.max(np.abs(problem.subgradient(state.W, state.at.gradient)[:, 1:]), axis=0)
        order = np.argsort(-slope, kind="stable")
        return np.sort(order[: _within(length, order, USED_COLUMN_ROOMS)])


def screened(problem: Objective, state: State) -> AnyArray:
    """Which columns, (d,), are proved by the gap at this state to have weight zero at every minimum."""
    a, lipschitz = problem.absolute_penalty[1:], problem.loss.traits.lipschitz
    gap = duality(problem, state.W, state.at).known
    if lipschitz is None or not np.isfinite(gap):
        return np.zeros(len(a), dtype=bool)
    G = state.at.gradient - problem.penalty_gradient(state.W)
    reach = np.sqrt(2 * lipschitz * gap) * LONGEST_COLUMN
    return np.asarray(np.max(np.abs(G[:, 1:]), axis=0) + reach < a)


def _bytes(problem: Objective) -> Array:
    """The number of bytes of each column when gathered, (d,)."""
    whole, d = problem.rows.resident(), problem.rows.n_features
    X: Any = None if whole is None else whole.X
    if is_sparse(X):
        from separatrix.kernels.coordinate import count_chosen

        entries = np.zeros(d, np.int64)
        count_chosen(X.indices, np.arange(d, dtype=np.int32), entries)
        return np.asarray(12.0 * entries)  # eight bytes for a value, four for its index
    return np.full(d, 8.0 * problem.n_rows)


def _within(length: Array, order: Integers, rooms: float = 1.0) -> int:
    """The number of columns, in this order, that fit into ``rooms`` times the memory limit; at least FEWEST_COLUMNS."""
    room = max(SMALLEST_ROOM_BYTES, ROOM_SHARE * float(length.sum()))
    return max(FEWEST_COLUMNS, int(np.searchsorted(np.cumsum(length[order]), rooms * room, side="right")))
