"""What second derivatives cost, in passes over the rows, so that solvers and bounds can choose the cheaper way."""

from __future__ import annotations

from typing import Any

from separatrix.objectives.problem import Objective
from separatrix.rows.csr import is_sparse

# Second derivatives that cost more passes than this are not computed if the duality bound becomes as small by passes.
MOST_PASSES_FOR_CURVATURE = 100
# The number of multiplications that a matrix product makes in the time of one multiplication of a pass.
PRODUCTS_PER_PASS_OPERATION = 10
# Rows times squared parameters up to which second derivatives of all rows cost no more than the overhead of few passes.
MOST_PRODUCTS_OF_ALL_ROWS = 1 << 20
# The same for the longest row alone, with a factor of second derivatives that is already known.
MOST_PRODUCTS_FOR_LONGEST_ROW = 1 << 22


def hessian_passes(objective: Objective) -> float:
    """The cost of a matrix of second derivatives in passes over the rows: p² products per row against its entries."""
    block, entries = objective.rows.resident(), float(objective.rows.n_features)
    if block is not None and is_sparse(block.X):
        X: Any = block.X
        entries = X.nnz / max(1, block.n_rows)
    return objective.size**2 / (PRODUCTS_PER_PASS_OPERATION * max(1.0, entries))


def counts_all_rows(objective: Objective) -> bool:
    """Whether second derivatives of all rows are cheap enough that no sample of them is needed."""
    return objective.n_rows * objective.size**2 <= MOST_PRODUCTS_OF_ALL_ROWS


def longest_row_is_cheap(objective: Objective) -> bool:
    """Whether a factor of second derivatives that is already known should be used for a bound over all rows."""
    return objective.n_rows * objective.size**2 <= MOST_PRODUCTS_FOR_LONGEST_ROW


def share_of_rows(objective: Objective) -> float:
    """The share of the rows whose second derivatives the affine bound uses."""
    if counts_all_rows(objective):
        return 1.0
    return min(1.0, objective.sample_size / max(1, objective.n_rows))


def factor_passes(objective: Objective) -> float:
    """The cost of a factor of second derivatives, in passes."""
    entries = max(1, objective.n_rows) * max(1, objective.rows.n_features)
    return hessian_passes(objective) + objective.size**3 / (PRODUCTS_PER_PASS_OPERATION * entries)


def thorough_passes(objective: Objective) -> float:
    """The cost of the affine bound in passes: a factor, a root of its inverse, and the lengths of the sample's rows.

    >>> import numpy as np
    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> problem = build_objective(labelled_rows(np.eye(20), np.arange(20) % 2, 2), 2, Penalty(1.0, np.ones(20)))
    >>> round(thorough_passes(problem), 3)
    6.725
    """
    second = hessian_passes(objective)
    return 2 * share_of_rows(objective) * second + factor_passes(objective) - second
