"""Directions in which every row scores zero, proven exactly on every row.

A fit omits directions that it considers null, by residues of their products with the rows (``all_null``). A check of
the fit does not rely on that code: it computes the exact null directions of a few rows and tests them on every row.
Rows that are not orthogonal to these directions are added to the few rows, until every row is orthogonal or no
direction remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, pieces
from separatrix.core.exact_arithmetic import across, vanishing
from separatrix.core.linear_algebra import left_out, nullity
from separatrix.core.problem import Objective
from separatrix.core.proofs.class_differences import ROWS_EXPANDED_AT_ONCE
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.protocol import Rows


def leaves_out_null_directions_only(problem: Objective) -> bool:
    """Whether every direction outside the problem's subspace is null, exactly.

    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> X, codes = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), np.array([0, 1, 0, 1])
    >>> leaves_out_null_directions_only(build_objective(labelled_rows(X, codes, 2), 2, Penalty(0.0, np.ones(2))))
    True
    >>> X[3, 1] += 1e-15
    >>> leaves_out_null_directions_only(build_objective(labelled_rows(X, codes, 2), 2, Penalty(0.0, np.ones(2))))
    False
    """
    candidates = left_out(problem.rows, problem.subspace, problem.pinned, problem.held)
    if candidates is None:
        return True
    columns, count = candidates.together, len(candidates.each)
    # Integer systems of this many columns take about a second. For more, residues modulo newly drawn primes decide.
    if len(columns) > 200:
        return nullity(problem.rows, columns) >= count
    return len(columns) > 0 and _null_space(problem.rows, columns).shape[1] >= count


def _null_space(rows: Rows, columns: Integers) -> AnyArray:
    """An integer basis (w, q) of the null directions of these columns of W; column 0 is the intercept."""
    A = np.zeros((0, len(columns)))
    while True:
        # A prime fails if it divides a determinant.
        null = next((basis for _ in range(4) if (basis := across(A)) is not None), None)
        if null is None:
            return np.zeros((len(columns), 0), dtype=object)
        more = rows.fold(_NotOrthogonal(columns, null.basis))
        if null.basis.shape[1] == 0 or len(more) == 0:
            return null.basis
        A = np.vstack([A, more])


@dataclass(frozen=True)
class _NotOrthogonal:
    """Rows, at most one per column, that are not orthogonal to a basis."""

    columns: Integers
    basis: AnyArray

    def zero(self) -> Array:
        return np.zeros((0, len(self.columns)))

    def add(self, total: Array, block: Block) -> Array:
        for rows in pieces(block.n_rows, ROWS_EXPANDED_AT_ONCE):
            if len(total) == len(self.columns) or self.basis.shape[1] == 0:
                break
            part = block.take(rows)
            part = part if np.all(part.weight > 0) else part.take(np.flatnonzero(part.weight > 0))
            is_feature = self.columns > 0
            X: Any = part.X[:, self.columns[is_feature] - 1]
            A = np.ones((part.n_rows, len(self.columns)))  # these columns of x̄ = (1, x), unscaled
            A[:, is_feature] = X.toarray() if is_sparse(X) else X
            total = self.merge(total, A[~vanishing(A, self.basis)])
        return total

    def merge(self, a: Array, b: Array) -> Array:
        return np.vstack([a, b])[: len(self.columns)]
