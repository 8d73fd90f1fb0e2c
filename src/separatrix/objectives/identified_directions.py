r"""The directions of W on which E depends, from Gram matrices of the columns and the penalty.

The Gram matrix is (1/S) Σ s x̄ x̄ᵀ, of all rows or of a sample; a root of it keeps twice the digits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.objectives.dense_table import DenseTable
from separatrix.objectives.framed_penalty import FramedPenalty
from separatrix.objectives.identification import columns_alone, identified_columns
from separatrix.objectives.partials import Gram, RootGram
from separatrix.objectives.resolution import unresolved
from separatrix.objectives.statistic import depends_on
from separatrix.objectives.subspace import Subspace, contrasts, identified, row_rank
from separatrix.rows import Block, some_rows

# With more columns than this, computing their rank from singular values would take longer than the fit.
MOST_RANK_COLUMNS = 1000


def _without_products(products: Array, pinned: AnyArray) -> Array:
    """A Gram matrix without the pinned columns."""
    kept = products.copy()
    kept[:, pinned] = kept[pinned, :] = 0.0
    return kept


def _without_columns(root: Array, pinned: AnyArray) -> Array:
    """A root of a Gram matrix without the pinned columns."""
    kept = root.copy()
    kept[:, pinned] = 0.0
    return kept


class IdentifiedDirections(FramedPenalty):
    """Gram matrices, the rank of the columns, and the directions that rows and penalty identify."""

    @depends_on("rows", "frame", "penalty", "pinned", "loss")
    def dense_table(self) -> DenseTable | None:
        """The rows as one array, if they are small and dense; None otherwise."""
        return DenseTable.of(self)

    @depends_on("rows", "frame", "pinned", narrowed=_without_products)
    def gram(self) -> Array:
        """(1/S) Σ s x̄ x̄ᵀ in the frame's coordinates."""
        return self.gram_of(None)

    def gram_of(self, block: Block | None) -> Array:
        """The Gram matrix of a block's rows, or of all rows."""
        if block is None and self.dense_table is not None:
            return self.dense_table.gram()
        partial = Gram(self.shape[1])
        total = (self.rows if block is None else some_rows(block)).fold(partial)
        total[self.pinned, :] = total[:, self.pinned] = 0.0
        return total / (self.total_weight if block is None else float(block.weight.sum()))

    @depends_on("rows", "frame", "pinned", narrowed=_without_products)
    def sample_gram(self) -> Array:
        """The Gram matrix of the sample, or of all rows if the sample holds them all."""
        if self.sample_size >= self.n_rows or self.sampled.n_rows >= self.n_rows:
            return self.gram
        return self.gram_of(self.standing_sample)

    @depends_on("rows", "frame", "pinned", narrowed=_without_columns)
    def root_gram(self) -> Array:
        """R with RᵀR the Gram matrix."""
        return self.root_gram_of(None)

    def root_gram_of(self, block: Block | None) -> Array:
        """R with RᵀR the Gram matrix of a block's rows, or of all rows, computed by QR without squaring."""
        partial = RootGram(self.shape[1])
        R: Array = (self.rows if block is None else some_rows(block)).fold(partial)
        R[:, self.pinned] = 0.0
        return np.asarray(R / np.sqrt(self.total_weight if block is None else float(block.weight.sum())))

    @depends_on("rows", "frame", "pinned")
    def columns_alone(self) -> Subspace:
        """The identified directions of the columns without a penalty."""
        return columns_alone(self)

    @depends_on("rows", "frame", "pinned")
    def sample_columns_alone(self) -> Subspace | None:
        """The directions that the sample identifies without a penalty; None if float64 does not decide it."""
        return identified(0.25 * self.sample_gram)

    @depends_on("rows", "frame", "penalty", "pinned")
    def subspace(self) -> Subspace:
        """The directions of W on which E depends.

        They are computed from X and the penalty, never from a Hessian at some W: the Hessian also loses rank where
        classes are separated, although E depends on W there.

        Columns that are independent without a penalty are independent with any penalty, and the certificate needs their
        rank anyway, so they are tested first. Let the curvature be D A D with D² its diagonal and A ⪰ δI, δ < 1. With a
        penalty P it is at least δ D² + P, which is at least δ (D² + P).
        """
        if not self.has_ridge:
            columns = self.columns_alone
        elif (alone := self.sample_columns_alone) is not None and alone.Z is None:
            columns = alone
        else:
            columns = identified_columns(self, self.root_penalty)
        return columns if self.shape[0] == 1 else replace(columns, Q=contrasts(self.shape[0]))

    @depends_on("rows", "pinned")
    def rank(self) -> int | None:
        """The rank of X̄ (of X without an intercept) to working precision; None for too many columns."""
        if self.shape[1] > MOST_RANK_COLUMNS:
            return None
        block = self.rows.resident() if self.n_rows < self.shape[1] else None
        if block is None:
            return self.columns_alone.rank
        rows = block.homogeneous()
        return row_rank(rows[:, ~self.pinned] if self.pinned.any() else rows, self.column_noise)

    @depends_on("rows", "frame", "penalty", "pinned")
    def unresolved(self) -> tuple[int, ...]:
        """The columns of W in directions on which E depends but that float64 cannot resolve (``resolution``)."""
        if self.subspace.Z is None:
            return ()
        return unresolved(self.rows, self.subspace, self.pinned, self.held)
