"""Several epochs of the online perceptron in one call, if only the last weights and their mean are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows import Block
from separatrix.rows.csr import is_sparse
from separatrix.solvers.separating.compiled_walks import compiled_walk_of_classes
from separatrix.solvers.separating.epoch_orders import MOST_ROWS_AT_ONCE, shuffled_epochs
from separatrix.solvers.separating.search_memories import PerceptronMemory
from separatrix.solvers.state import State

if TYPE_CHECKING:
    from separatrix.solvers.separating.perceptron import OnlineUpdates


def walked_together(
    solver: OnlineUpdates, problems: Sequence[Objective], states: Sequence[State[PerceptronMemory]], epochs: int
) -> list[State[PerceptronMemory]]:
    """The states of several problems after some more epochs: ``OnlineUpdates.walked`` for each of them.

    Problems of one class against the rest have the same rows and visit them in the same order. In the plane one
    compiled loop updates the weights of all classes: while it waits for the score of one class, it computes the next.

    >>> from separatrix.rows import memory_rows
    >>> from separatrix.solvers.separating.perceptron import OnlineUpdates
    >>> from separatrix.solvers.separating.separation_objective import build_separation_objective
    >>> X, solver = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), OnlineUpdates(shuffle=True, average=True)
    >>> targets = [np.array([1.0, -1.0, -1.0]), np.array([-1.0, 1.0, -1.0])]
    >>> problems = [build_separation_objective(memory_rows(X, t), True) for t in targets]
    >>> states = [solver.init(problem, np.zeros((1, 3))) for problem in problems]
    >>> [state.memory.epoch for state in walked_together(solver, problems, states, 5)]
    [5, 5]
    """
    blocks = [problem.rows.resident() for problem in problems]
    held = [block for block in blocks if block is not None]
    if len(held) < len(blocks) or not _share_a_walk(solver, problems, held, states, epochs):
        return [solver.walked(problem, state, epochs) for problem, state in zip(problems, states, strict=True)]
    first, memories = held[0], [state.memory for state in states]
    order = epoch_order(solver, first, memories[0].epoch, epochs)
    W, U = np.concatenate([state.W for state in states]), np.array([memory.u for memory in memories])
    how = (float(solver.eta), solver.zero == "mistake", bool(problems[0].fit_intercept))
    made, cost = compiled_walk_of_classes(first, [block.t for block in held], order, W, how, U, memories[0].seen)
    ends = zip(problems, states, W, U, made.tolist(), cost.tolist(), strict=True)
    return [
        after_epochs(problem, state, w, state.memory._replace(u=u, seen=state.memory.seen + len(order)), (m, c), epochs)
        for problem, state, w, u, m, c in ends
    ]


def _share_a_walk(
    solver: OnlineUpdates,
    problems: Sequence[Objective],
    blocks: Sequence[Block],
    states: Sequence[State[PerceptronMemory]],
    epochs: int,
) -> bool:
    """Whether the problems differ only in their targets and weights w, and there is a loop for all of them."""
    first = blocks[0]
    if len(blocks) < 2 or not solver.average or is_sparse(first.X) or first.X.shape[1] != 2:
        return False
    same_rows = all(block.X is first.X and block.weight is first.weight for block in blocks)
    same_places = len({(state.memory.epoch, state.memory.seen) for state in states}) == 1
    same_intercepts = len({problem.fit_intercept for problem in problems}) == 1
    at_once = all(is_walked_at_once(solver, first, state, epochs) for state in states)
    return same_rows and same_places and same_intercepts and at_once


def is_walked_at_once(solver: OnlineUpdates, rows: Block, state: State[PerceptronMemory], epochs: int) -> bool:
    """Whether one call of a compiled loop walks all epochs: it has no penalty, no pocket and no steps by update."""
    plain = not (solver.alpha > 0 or solver.pocket or solver.by_update)
    return plain and rows.n_rows * epochs <= MOST_ROWS_AT_ONCE and state.memory.position == 0


def epoch_order(solver: OnlineUpdates, rows: Block, first: int, epochs: int) -> Integers:
    """The order in which the rows are visited in all epochs."""
    if solver.shuffle:
        return shuffled_epochs(rows.n_rows, solver.seed, first, epochs)
    return np.tile(np.arange(rows.n_rows), epochs)


def after_epochs(
    problem: Objective,
    state: State[PerceptronMemory],
    w: Array,
    memory: PerceptronMemory,
    walked: tuple[int, float],
    epochs: int,
) -> State[PerceptronMemory]:
    """The state with the weights w after several epochs; ``walked``: the updates made in them, and Σ max(0, −m).

    Mistakes are not surveyed: ``solution`` does that for the weights that are returned.
    """
    made, cost = walked
    problem.rows.counter.add(epochs)
    memory = memory._replace(mistakes=memory.mistakes + made, epoch=memory.epoch + epochs, survey=None)
    at = Evaluation(np.nan, np.full((1, len(w)), np.nan))
    visits = epochs * problem.n_rows
    return State(w[None, :], at, state.iteration + epochs, memory, met=cost / visits)
