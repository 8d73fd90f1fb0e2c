"""What a few rows, or a few columns, show before the moments of all rows are used.

All rows are seen alike, wherever they are stored: the first look takes rows from the first block only, so that a stream
need not be read twice.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.pieces import pieces, rows_per_piece
from separatrix.rows import Block, Frame, Rows, first_rows
from separatrix.rows.block import LARGEST_DENSE_BLOCK
from separatrix.rows.csr import is_sparse
from separatrix.rows.cutting import block_rows
from separatrix.rows.frame import power_of_two
from separatrix.rows.protocol import BLOCK_BYTES

# Number of rows from which the first estimate of the columns' centres and scales is taken, before the pass.
ROWS_FOR_FIRST_FRAME = 256


def first_frame(rows: Rows) -> Frame:
    """Centres and scales estimated from a few rows, close enough that sums in this frame lose no precision.

    The rows are evenly spaced in the first block.
    """
    size = max(ROWS_FOR_FIRST_FRAME, block_rows(BLOCK_BYTES, rows.n_features))
    block = first_rows(rows, size)
    if block is None:
        return Frame.identity(rows.n_features)
    counted = np.flatnonzero(block.weight > 0)
    few: Any = block.X[counted[:: max(1, len(counted) // ROWS_FOR_FIRST_FRAME)][:ROWS_FOR_FIRST_FRAME]]
    few = np.asarray(few.toarray() if is_sparse(few) else few, dtype=np.float64)
    if not len(few) or not np.all(np.isfinite(few)):
        return Frame.identity(rows.n_features)
    with np.errstate(over="ignore", invalid="ignore"):
        center, scale = few.mean(axis=0), power_of_two(few.std(axis=0))
    if rows.is_sparse:  # a constant column's standard deviation is a rounding error; dense rows are always centred
        constant = few.min(axis=0) == few.max(axis=0)
        center[constant] = few[0, constant]
        scale[constant] = power_of_two(np.maximum(np.abs(few[0, constant]), 1.0))
    sound = np.isfinite(center) & np.isfinite(scale)
    return Frame(np.where(sound, center, 0.0), np.where(sound, scale, 1.0))


def extremes(X: Any) -> tuple[Array, Array]:
    """The smallest and the largest entry of each column, (d,); in CSR rows, entries that are not stored are zeros."""
    low, high = X.min(axis=0), X.max(axis=0)
    if is_sparse(X):
        low, high = low.toarray(), high.toarray()
    return np.asarray(low, dtype=np.float64).ravel(), np.asarray(high, dtype=np.float64).ravel()


class SeenValues(NamedTuple):
    """The values of some columns in rows with weight, None before the first such row, and whether one varies."""

    values: Array | None = None
    varies: bool = False


@dataclass(frozen=True)
class ColumnValues:
    """The values of columns, if each of them has the same value in all rows with weight. Other rows must be finite."""

    columns: Integers

    def zero(self) -> SeenValues:
        return SeenValues()

    def add(self, total: SeenValues, block: Block) -> SeenValues:
        X: Any = block.X
        counted = block.weight > 0
        if total.varies:
            return total
        if is_sparse(X):
            return self.merge(total, self._of_sparse(X[:, self.columns], counted))
        values = total.values
        if values is None and counted.any():
            values = np.asarray(X[np.argmax(counted), self.columns], dtype=np.float64)
        for part in pieces(block.n_rows, rows_per_piece(LARGEST_DENSE_BLOCK, len(self.columns))):
            seen = X[part, self.columns]
            is_same = False if values is None else seen == values
            if not np.all(is_same | (~counted[part, None] & np.isfinite(seen))):
                return SeenValues(values, True)
        return SeenValues(values)

    def _of_sparse(self, X: Any, counted: AnyArray) -> SeenValues:
        if not np.all(np.isfinite(X.data)):
            return SeenValues(None, True)
        if not counted.any():
            return SeenValues()
        low, high = extremes(X[np.flatnonzero(counted)])
        return SeenValues(low, bool(np.any(low != high)))

    def merge(self, a: SeenValues, b: SeenValues) -> SeenValues:
        if a.values is None or b.values is None:
            return SeenValues(b.values if a.values is None else a.values, a.varies or b.varies)
        return SeenValues(a.values, a.varies or b.varies or bool(np.any(a.values != b.values)))


def constant_values(rows: Rows, columns: Integers) -> Array | None:
    """The values of columns that are constant, checked entry by entry; None where one varies or is not finite.

    Without columns nothing is read. In memory only these columns are read, which does not count as a pass.
    """
    if not len(columns):
        return np.empty(0)
    with nullcontext() if rows.resident() is None else rows.counter.paused():
        found = rows.fold(ColumnValues(columns))
    if found.varies or found.values is None or not np.all(np.isfinite(found.values)):
        return None
    return found.values
