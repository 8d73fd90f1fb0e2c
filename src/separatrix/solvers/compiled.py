"""Compiled loops for E, ∇E and second moments of a logistic objective, in one pass without copies.

A pass reads every entry once, whereas two matrix products read it twice. It releases the interpreter lock (GIL), for
which NumPy calls in two threads would compete. Rows are divided into strands, ranges of rows that are summed in
parallel. The division depends only on the data and the sums are merged in order, so the number of threads does not
change the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.cached import cached_property
from separatrix.base.concurrency import in_order
from separatrix.losses.margin import Logistic
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows import Block
from separatrix.rows.csr import is_sparse

# The most strands (ranges of rows that are summed in parallel).
MOST_STRANDS = 8
# A strand has at least FEWEST_ENTRIES_PER_STRAND entries, and at least FEWEST_ENTRIES_PER_SUM entries per column, so
# that merging the strands' column sums is cheap compared with summing.
FEWEST_ENTRIES_PER_STRAND, FEWEST_ENTRIES_PER_SUM = 1 << 15, 3
# Fewer dense entries than this are summed by NumPy: importing the compiler's package would take longer.
FEWEST_DENSE_ENTRIES_TO_COMPILE = 1 << 22


@dataclass(frozen=True)
class CompiledSums:
    """The sums of a logistic objective over rows in memory, which are read in raw units.

    Columns with a large offset are centred while they are read. This is supported for dense rows only, since a sparse
    column with a large offset has few zeros.

    >>> from scipy.sparse import csr_array
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
    >>> rows, codes = csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])), np.array([0, 1, 0])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(2)))
    >>> there = CompiledSums(problem, problem.rows.resident()).value_gradient(np.zeros(problem.shape))
    >>> bool(np.allclose(there.gradient, problem.value_gradient(np.zeros(problem.shape)).gradient))
    True
    """

    problem: Objective
    block: Block

    @classmethod
    def of(cls, problem: Objective) -> CompiledSums | None:
        """The sums of a problem, or None if the compiled loops do not support it."""
        block = problem.rows.resident()
        if block is None or not isinstance(problem.loss, Logistic):
            return None
        X: Any = block.X
        if is_sparse(X):
            fits = not problem.rows.frame.has_large_offset
        else:
            fits = X.flags.c_contiguous and X.size >= FEWEST_DENSE_ENTRIES_TO_COMPILE
        return cls(problem, block) if fits else None

    @cached_property
    def _edges(self) -> Integers:
        """The row numbers at which strands begin and end; all strands have about the same number of entries."""
        X: Any = self.block.X
        if not is_sparse(X):
            return np.linspace(0, X.shape[0], MOST_STRANDS + 1).astype(np.int64)
        most = min(X.nnz // FEWEST_ENTRIES_PER_STRAND, X.nnz // (FEWEST_ENTRIES_PER_SUM * max(1, X.shape[1])))
        shares = np.linspace(0, X.nnz, int(np.clip(most, 1, MOST_STRANDS)) + 1)
        edges = np.searchsorted(X.indptr, shares).astype(np.int64)
        edges[0], edges[-1] = 0, X.shape[0]  # includes empty rows at either end
        return edges

    def _summed(self, strand: Callable[[int, int, Array], Array]) -> tuple[Array, Array]:
        """The totals over all strands of the values that ``strand`` returns, and of its sums by column."""

        def strand_sums(k: int) -> tuple[Array, Array]:
            by_column = np.zeros(self.block.X.shape[1])
            return strand(int(self._edges[k]), int(self._edges[k + 1]), by_column), by_column

        self.problem.rows.counter.add()
        parts = in_order(strand_sums, range(len(self._edges) - 1))
        numbers, by_column = next(parts)
        for more, added in parts:
            numbers, by_column = numbers + more, np.add(by_column, added, out=by_column)
        return numbers, by_column

    def value_gradient(self, W: Array) -> Evaluation:
        """E(W) and ∇E(W), (1, d + 1), in one pass."""
        from separatrix.kernels import csr, dense

        problem, rows, frame = self.problem, self.block, self.problem.rows.frame
        X: Any = rows.X
        # Columns with a large offset are summed as x − c; the others as x, and c is subtracted from the sums.
        far = np.where(frame.is_far, frame.center, 0.0) if frame.has_large_offset else None
        near = frame.center if far is None else frame.center - far
        w = W[0, 1:] / frame.scale
        b = float(W[0, 0] - w @ near)

        def strand(begin: int, end: int, gradient: Array) -> Array:
            given = (begin, end, rows.t, rows.weight, w, b, gradient)
            if is_sparse(X):
                return np.array(csr.logistic_pass(X.data, X.indices, X.indptr, *given))
            return np.array(dense.logistic_pass(X, *given, far))

        (value, first), gradient = self._summed(strand)
        framed = (gradient - first * near) / frame.scale
        whole = problem.without_pinned(np.concatenate([[first], framed])[None, :] / problem.total_weight)
        return Evaluation(
            float(value) / problem.total_weight + problem.penalty_value(W), whole + problem.penalty_gradient(W)
        )

    def second_moments(self) -> Array:
        """The mean of x̄_j² by column, (d + 1), in one pass."""
        from separatrix.kernels import csr

        rows, frame, S = self.block, self.problem.rows.frame, self.problem.total_weight
        X: Any = rows.X
        if not is_sparse(X):
            return np.asarray(self.problem.root_second_moments**2)

        def strand(begin: int, end: int, squares: Array) -> Array:
            csr.square_pass(X.data, X.indices, X.indptr, begin, end, rows.weight, frame.scale, squares)
            return np.empty(0)

        _, squares = self._summed(strand)
        c = frame.center / frame.scale
        mean = self.problem.class_sums[:, 1:].sum(axis=0) / S  # of framed columns; that of x/scale is mean + c
        return np.concatenate([[1.0], np.maximum(squares / S - 2 * c * (mean + c) + c**2, 0.0)])
