r"""Proximal Newton on a working set of columns, screened by the gap: absolute values, many columns. TEXTBOOK R8.

Problem   min_W E(W) = f(W) + Σ a_j |W_kj|, f smooth and convex, with columns so many that most weights will be zero
Given     a start W, how many columns to begin with
Returns   W with E(W) near its minimum, and exact zeros where the minimum has them
Step      from ∇f over all columns: the columns that no minimum uses are left out for good; of the others, those in use
          and those that most want to be, up to twice as many, are gathered in one pass; on them, proximal Newton
          with scores kept up to date, until they are nearer to their minimum than all columns were, by a factor
Stops     where the driver's rules say; by itself where rounding hides any descent

Screening. With G = ∇ of the loss at W, and p the loss's derivatives by row: a convex loss whose derivative is
L-Lipschitz in the score has E(W) − E(W*) ≥ ‖p − p*‖²/2L, so |G_j − G*_j| ≤ (2L gap)^½ ‖x̃_j‖, and where |G_j| plus that
is below a_j, weight j is zero at every minimum. The frame's scales hold ‖x̃_j‖ below 2.

Ndiaye, Fercoq, Gramfort and Salmon 2017 (gap-safe rules); Massias, Gramfort and Salmon 2018 (working sets by distance
to the constraint); Johnson and Guestrin 2015 (Blitz); Yuan, Ho and Lin 2012 (newGLMNET) for the inner steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import ParameterError
from separatrix.objectives.bounds import duality
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows.block import is_sparse
from separatrix.solvers.compiled import CompiledSums
from separatrix.solvers.gathered_columns import Gathered, gather
from separatrix.solvers.proximal import advanced, unshifted
from separatrix.solvers.restricted import NOISE, furthest, restricted
from separatrix.solvers.start import begun
from separatrix.solvers.state import Halt, Need, State

# How near to its minimum a working set is brought, in units of the penalty, once it seems to hold all columns that are
# needed; before that, as a share of how far all columns are from theirs.
NEAR, NEARER = 3e-9, 1e-3
# It does not seem so while there is a column so far from its minimum, or while so large a share of the set is in use.
FAR, CROWDED = 10.0, 0.65
# How many times more columns one step may take on.
GROWTH = 4
# Bytes of gathered columns: so many, or a share of X where that is more; twice that for those in use; and some always.
LEAST_BYTES, SHARE, NEEDED, FEWEST = 7 << 22, 0.025, 2.0, 16
# Steps without progress that end a run: few where one step sees every column that matters, more where they take turns.
SHORT, LONG = 2, 100
LONGEST_COLUMN = 2.0


@dataclass
class Held:
    """The columns gathered last, which all states of a run share: one set at a time is in memory."""

    chosen: Integers | None = None
    gathered: Gathered | None = None

    def columns(self, problem: Objective, chosen: Integers) -> Gathered:
        """The chosen columns; gathered anew, in place of the last, where they are others."""
        if self.chosen is None or self.gathered is None or not np.array_equal(chosen, self.chosen):
            self.gathered = None
            self.chosen, self.gathered = chosen, gather(problem, chosen)
        return self.gathered


@dataclass(frozen=True)
class WorkingSet:
    """Proximal Newton on ``first`` columns, then on as many as the minimum asks for.

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
            raise ParameterError("first", f"got {self.first}", "begin with at least one column")

    def init(self, problem: Objective, start: Array) -> State:
        return self.begin(problem, start, begun(problem, start))

    def begin(self, problem: Objective, start: Array, at: Evaluation, before: State | None = None) -> State:
        """A run's first state where E is known there already.

        ``before``: the last state of a run with another penalty on the same rows in the same frame, whose gathered
        columns serve here, too.
        """
        kept = np.isfinite(problem.rows.frame.scale)
        nothing = {"chosen": None, "held": Held()}
        memory = nothing if before is None else {key: before.memory[key] for key in nothing}
        return State(start, at, memory={"kept": kept, **memory})

    def step(self, problem: Objective, state: State, budget: int | None = None) -> State:
        memory = {key: state.memory[key] for key in ("kept", "chosen", "held")}
        memory["kept"] = memory["kept"] & ~screened(problem, state)
        if not self._enough(problem, state, memory):
            memory["chosen"] = self._chosen(problem, state, memory["kept"])
        held = np.concatenate([[0], memory["chosen"] + 1])
        part = restricted(problem, state.W, held, memory["held"].columns(problem, memory["chosen"]))
        far = furthest(state.W, state.at.gradient, problem.absolute_penalty)
        to = part.minimised(NEARER * far)
        if far <= FAR and np.mean(np.any(to != 0, axis=0)) <= CROWDED:
            to = part.minimised(min(NEAR, NEARER * far))
        V = np.zeros(problem.shape)
        V[:, held] = to - state.W[:, held]
        W = state.W + unshifted(problem, V)
        at = (CompiledSums.of(problem) or problem).value_gradient(W)
        if not at.value <= state.at.value * (1 + NOISE):
            return replace(state, halt=Halt.STALLED)
        patience = SHORT if self._enough(problem, state, memory) else LONG
        return advanced(problem, state, W, at, patience, **memory)

    def solution(self, problem: Objective, state: State) -> State:
        return state

    def _enough(self, problem: Objective, state: State, memory: Mapping[str, Any]) -> bool:
        """Whether the last step's working set holds every column that is in use or wants to be."""
        if memory["chosen"] is None:
            return False
        outside = np.ones(problem.shape[1], dtype=bool)
        outside[memory["chosen"] + 1] = outside[0] = False
        outside[1:] &= memory["kept"]
        wanted = np.any(problem.subgradient(state.W, state.at.gradient) != 0, axis=0)
        return not np.any(outside & (wanted | np.any(state.W != 0, axis=0)))

    def _chosen(self, problem: Objective, state: State, kept: AnyArray) -> Integers:
        """Columns in use or unpenalised, then by how near to the kink's edge; as many as memory allows."""
        a = problem.absolute_penalty[1:]
        used = np.any(state.W[:, 1:] != 0, axis=0) | (problem.unpenalised[1:] & kept)
        distance = a - np.max(np.abs(state.at.gradient[:, 1:]), axis=0)
        n_used, n_wanted = int(used.sum()), int(np.sum(kept & ~used & (distance < 0)))
        size = max(self.first, 2 * n_used, min(n_used + n_wanted, GROWTH * max(self.first, n_used)))
        order = np.lexsort((distance, ~used, ~(kept | used)))[: min(size, int(np.sum(kept | used)))]
        length = _bytes(problem)
        most = _within(length, order)
        if n_used >= most:  # room for these, as far as there is any, and for some beside them
            most = min(n_used + max(FEWEST, n_used // 4), _within(length, order, NEEDED))
        if n_used < most:
            return np.sort(order[:most])
        # Memory has no room for more: those that are furthest from their minimum take turns.
        slope = np.max(np.abs(problem.subgradient(state.W, state.at.gradient)[:, 1:]), axis=0)
        order = np.argsort(-slope, kind="stable")
        return np.sort(order[: _within(length, order, NEEDED)])


def screened(problem: Objective, state: State) -> AnyArray:
    """Which columns, (d,), have weight zero at every minimum, as far as the gap at this state proves it."""
    a, lipschitz = problem.absolute_penalty[1:], problem.loss.traits.lipschitz
    gap = duality(problem, state.W, state.at).known
    if lipschitz is None or not np.isfinite(gap):
        return np.zeros(len(a), dtype=bool)
    G = state.at.gradient - problem.penalty_gradient(state.W)
    reach = np.sqrt(2 * lipschitz * gap) * LONGEST_COLUMN
    return np.asarray(np.max(np.abs(G[:, 1:]), axis=0) + reach < a)


def _bytes(problem: Objective) -> Array:
    """What each column takes where it is gathered, (d,)."""
    whole, d = problem.rows.resident(), problem.rows.n_features
    X: Any = None if whole is None else whole.X
    if is_sparse(X):
        from separatrix.kernels.coordinate import count_chosen

        entries = np.zeros(d, np.int64)
        count_chosen(X.indices, np.arange(d, dtype=np.int32), entries)
        return np.asarray(12.0 * entries)  # eight bytes of value, four of index
    return np.full(d, 8.0 * problem.n_rows)


def _within(length: Array, order: Integers, rooms: float = 1.0) -> int:
    """How many columns, in this order, fit into so many times the room that there is; some always do."""
    room = max(LEAST_BYTES, SHARE * float(length.sum()))
    return max(FEWEST, int(np.searchsorted(np.cumsum(length[order]), rooms * room, side="right")))
