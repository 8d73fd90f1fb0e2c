"""E, ∇E and second moments of a logistic objective by compiled loops, in one pass without copies.

A pass reads every entry once, whereas two matrix products read it twice. It releases the interpreter lock (GIL), for
which NumPy calls in several threads would compete. The loops are partials, so that any source of rows can sum them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.losses import Logistic
from separatrix.core.objective_sums import Evaluation
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.protocol import ArraySum, Together

# Fewer dense entries than this are summed by NumPy: importing the compiler's package would take longer.
FEWEST_DENSE_ENTRIES_TO_COMPILE = 1 << 22


@dataclass(frozen=True)
class CompiledSums:
    """The sums of a logistic objective over rows, which are read in raw units.

    Columns with a large offset are centred while they are read. This is supported for dense rows only, since a sparse
    column with a large offset has few zeros.

    >>> from scipy.sparse import csr_array
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])), np.array([0, 1, 0])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(2)))
    >>> there = CompiledSums(problem).value_gradient(np.zeros(problem.shape))
    >>> bool(np.allclose(there.gradient, problem.value_gradient(np.zeros(problem.shape)).gradient))
    True
    """

    problem: Objective

    @classmethod
    def of(cls, problem: Objective) -> CompiledSums | None:
        """The sums of a problem, or None if the compiled loops do not support it."""
        rows = problem.rows
        if not isinstance(problem.loss, Logistic):
            return None
        if rows.is_sparse:
            fits = not rows.frame.has_large_offset
        else:
            fits = rows.is_row_major and problem.n_rows * rows.n_features >= FEWEST_DENSE_ENTRIES_TO_COMPILE
        return cls(problem) if fits else None

    @property
    def most_together(self) -> int:
        return self.problem.most_together

    def value_gradient(self, W: Array) -> Evaluation:
        """E(W) and ∇E(W), (1, d + 1), in one pass."""
        return self._evaluated(W, self.problem.rows.fold(self._sums(W)))

    def value_gradients(self, Ws: Sequence[Array]) -> list[Evaluation]:
        """E and ∇E at several points in one pass."""
        if len(Ws) == 1:
            return [self.value_gradient(Ws[0])]
        totals = self.problem.rows.fold(Together(tuple(self._sums(W) for W in Ws)))
        return [self._evaluated(W, total) for W, total in zip(Ws, totals, strict=True)]

    def _centers(self) -> tuple[Array | None, Array]:
        """The centres to subtract from x (for columns with a large offset), and those to subtract from the sums."""
        frame = self.problem.rows.frame
        far = np.where(frame.is_far, frame.center, 0.0) if frame.has_large_offset else None
        return far, frame.center if far is None else frame.center - far

    def _sums(self, W: Array) -> LogisticSums:
        far, near = self._centers()
        w = W[0, 1:] / self.problem.rows.frame.scale
        return LogisticSums(w, float(W[0, 0] - w @ near), far)

    def _evaluated(self, W: Array, total: Array) -> Evaluation:
        problem, (_, near) = self.problem, self._centers()
        value, first, gradient = float(total[0]), float(total[1]), total[2:]
        framed = (gradient - first * near) / problem.rows.frame.scale
        whole = problem.without_pinned(np.concatenate([[first], framed])[None, :] / problem.total_weight)
        return Evaluation(value / problem.total_weight + problem.penalty_value(W), whole + problem.penalty_gradient(W))

    def second_moments(self) -> Array:
        """The mean of x̄_j² by column, (d + 1), in one pass."""
        frame, S = self.problem.rows.frame, self.problem.total_weight
        if not self.problem.rows.is_sparse:
            return np.asarray(self.problem.framed.root_second_moments**2)
        squares = self.problem.rows.fold(ScaledSquares(frame.scale))
        c = frame.center / frame.scale
        mean = self.problem.framed.class_sums[:, 1:].sum(axis=0) / S  # of framed columns; that of x/scale is mean + c
        return np.concatenate([[1.0], np.maximum(squares / S - 2 * c * (mean + c) + c**2, 0.0)])


@dataclass(frozen=True)
class LogisticSums(ArraySum):
    """Σ s ℓ, Σ s ∂ℓ and Σ s ∂ℓ x, (2 + d,), for the logistic loss of the score w·x + b in raw units.

    ``far`` (d,), if given, is subtracted from x while dense rows are read.
    """

    w: Array
    b: float
    far: Array | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return (2 + len(self.w),)

    def add(self, total: Array, block: Block) -> Array:
        from separatrix.core.kernels import dense_rows as dense
        from separatrix.core.kernels import sparse_rows as csr

        X: Any = block.X
        given = (0, block.n_rows, block.t, block.weight, self.w, self.b, total[2:])
        if is_sparse(X):
            total[:2] += csr.logistic_pass(X.data, X.indices, X.indptr, *given)
        else:
            total[:2] += dense.logistic_pass(X, *given, self.far)
        return total


@dataclass(frozen=True)
class ScaledSquares(ArraySum):
    """Σ s (x_j/scale_j)² by column of CSR rows, (d,)."""

    scale: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.scale.shape

    def add(self, total: Array, block: Block) -> Array:
        from separatrix.core.kernels import sparse_rows as csr

        X: Any = block.X
        csr.square_pass(X.data, X.indices, X.indptr, 0, block.n_rows, block.weight, self.scale, total)
        return total
