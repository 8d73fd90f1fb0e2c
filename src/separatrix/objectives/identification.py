"""Finds the directions of the columns that the rows and the penalty identify, from as few rows as show them.

Columns that are independent on a sample are independent on all rows, so the sample is read first. If its columns seem
dependent, one pass over all rows tests whether the directions outside are zero on every row. Only if they are not is
the Gram matrix of all rows built, and where its eigenvalues do not decide, a root of it, which keeps twice the digits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from separatrix.base.arrays import Array, all_true
from separatrix.objectives.partials import ScoreSquares
from separatrix.objectives.penalty import Penalty
from separatrix.objectives.resolution import all_null
from separatrix.objectives.subspace import Subspace, identified, identified_by_root, split_by_gap
from separatrix.rows import Frame
from separatrix.rows.frame import power_of_two

if TYPE_CHECKING:
    from separatrix.objectives.identified_directions import IdentifiedDirections

# The squares of smaller entries underflow.
SMALLEST_SQUARABLE_ENTRY = 1e-140
# Framed columns whose root penalty is below this are not small, because the frame scales columns and penalty together.
LARGEST_ROOT_PENALTY_OF_FULL_COLUMNS = 0.25


def columns_alone(problem: IdentifiedDirections) -> Subspace:
    """The identified directions of the columns without a penalty.

    The frame is chosen for columns and penalty together, so with a strong penalty a framed column may be nearly zero.
    Such a column is rescaled to its own size first, which takes a pass. A sample saves the pass if its columns are
    independent and their squares do not underflow.
    """
    alone = problem.sample_columns_alone
    if alone is not None and alone.Z is None and all_true(problem.sample_gram.diagonal() > SMALLEST_SQUARABLE_ENTRY**2):
        return alone
    none = np.zeros(problem.shape[1])
    strong = np.any(problem.root_penalty > LARGEST_ROOT_PENALTY_OF_FULL_COLUMNS)
    size = problem.largest_entries[1:] if strong else none[1:]
    small = (size > 0) & (size < SMALLEST_SQUARABLE_ENTRY)
    if not np.any(small):
        return identified_columns(problem, none)
    frame = problem.rows.frame
    with np.errstate(under="ignore"):
        rescaled = Frame(frame.center, np.where(small, frame.scale * power_of_two(size), frame.scale))
    return problem.with_(frame=rescaled, penalty=Penalty.none(problem.rows.n_features)).columns_alone


def identified_columns(problem: IdentifiedDirections, root_penalty: Array) -> Subspace:
    """The identified directions of the columns with this penalty, which may differ from the problem's."""
    curvature = 0.25 * problem.sample_gram + (penalty := np.diag(root_penalty**2))
    space = identified(curvature) if np.any(root_penalty) else problem.sample_columns_alone
    if space is None and problem.sampled.n_rows < problem.n_rows:
        guess = split_by_gap(curvature)
        if guess is None:
            guess = _by_root(problem, problem.root_gram_of(problem.sampled.block), root_penalty)
        space = _shown_on_all(problem, guess)
    space = space or identified(0.25 * problem.gram + penalty)
    return space or _by_root(problem, problem.root_gram, root_penalty)


def _by_root(problem: IdentifiedDirections, root: Array, root_penalty: Array) -> Subspace:
    return identified_by_root(np.vstack([0.5 * root, np.diag(root_penalty)]), problem.column_noise)


def _shown_on_all(problem: IdentifiedDirections, space: Subspace) -> Subspace | None:
    """The subspace found on a sample, or None if a direction outside it is not zero on all rows.

    Without a penalty the directions outside are first counted exactly. Directions that a sample resolves are not null,
    so if all others are null, then the sample's rows span the same space as all rows, whatever the rounding errors of
    its basis.
    """
    outside = space.outside()
    if not len(outside):
        return space
    if not np.any(problem.root_penalty):
        space = replace(space, others_null=all_null(problem.rows, space, problem.pinned, problem.held))
        if space.others_null:
            return space
    length = np.sqrt(problem.rows.fold(ScoreSquares(outside)) / problem.total_weight)
    size = np.sqrt(outside**2 @ np.diag(problem.sample_gram))
    return space if np.all(length <= problem.column_noise * np.sqrt(problem.shape[1]) * size) else None
