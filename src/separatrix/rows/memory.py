"""Rows in memory. `Block` handles dense and CSR arrays, so one class serves both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers, Matrix
from separatrix.base.cached import cached_property
from separatrix.base.pieces import pieces
from separatrix.rows.block import Block
from separatrix.rows.csr import as_csr, csr_rows, is_sparse
from separatrix.rows.frame import Frame
from separatrix.rows.protocol import NOT_COUNTED, Order, Partial, PassCounter, bytes_per_block, fold_strands
from separatrix.rows.sampling import Sample, draw

A = TypeVar("A")

# The fewest rows in a dense block, unless that makes the block larger than four times BLOCK_BYTES: each block repeats
# the work that is done once per column.
FEWEST_ROWS_PER_BLOCK = 64
# An entry of CSR rows has a value of eight bytes and an index of four.
BYTES_PER_SPARSE_ENTRY = 12
# A block of CSR rows has at least this many bytes of entries per column, so that merging sums by column is cheap.
FEWEST_BYTES_PER_SPARSE_COLUMN = 256
# A CSR row counts as this many bytes at least, since the score of a row takes time even if the row has few entries.
BYTES_PER_SPARSE_ROW = 16


@dataclass(frozen=True)
class MemoryRows:
    """X (n, d) dense or CSR, targets t (n,), weights (n,), in the coordinates of a frame.

    The weights have been divided by ``weight_unit``. ``counter`` counts passes; it is ``NOT_COUNTED`` for a subset of
    the rows. ``once``: the rows are read only once or twice, so blocks cache nothing.

    >>> rows = memory_rows(np.eye(3), np.array([1.0, -1.0, 1.0]))
    >>> rows.n_rows, rows.n_features
    (3, 3)
    """

    X: Matrix
    t: AnyArray
    weight: Array
    frame: Frame
    counter: PassCounter = field(default_factory=PassCounter, repr=False, compare=False)
    weight_unit: float = 1.0
    once: bool = False

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    def seen_through(self, frame: Frame) -> MemoryRows:
        """The same rows in other coordinates, without a copy."""
        return replace(self, frame=frame)

    def _cut(self, start: int, stop: int) -> Block:
        part, X = slice(start, stop), self.X
        if not is_sparse(X):
            return Block(X[part], self.t[part], self.weight[part], start, self.frame)
        return Block(csr_rows(X, start, stop), self.t[part], self.weight[part], start, self.frame)

    def _edges(self, block_bytes: int) -> Integers:
        """Where blocks begin and end. A block has about ``block_bytes`` of values, whatever the number of threads."""
        n, d = self.n_rows, self.n_features
        if is_sparse(self.X):
            X: Any = self.X
            filled = X.indptr.astype(np.int64) * BYTES_PER_SPARSE_ENTRY
            size = max(block_bytes, FEWEST_BYTES_PER_SPARSE_COLUMN * d)
            cuts = np.searchsorted(filled, np.arange(size, filled[-1], size))
            by_rows = np.arange(0, n, max(1, block_bytes // BYTES_PER_SPARSE_ROW))
            return np.unique(np.concatenate([[0], cuts, by_rows, [n]])).astype(np.int64)
        fit = block_bytes // max(1, d * 8)
        size = max(1, fit, min(FEWEST_ROWS_PER_BLOCK, 4 * fit))
        return np.append(np.arange(0, n, size), n).astype(np.int64)

    def fold(self, partial: Partial[A]) -> A:
        self.counter.add()
        size = bytes_per_block(partial)
        if size not in self._cut_by_size:
            self._cut_by_size[size] = self._cuts(size)
        return fold_strands(self._cut_by_size[size], partial)

    @cached_property
    def _cut_by_size(self) -> dict[int, Sequence[Block]]:
        """The blocks of each size that was asked for."""
        return {}

    def _cuts(self, block_bytes: int) -> Sequence[Block]:
        """All rows as blocks. A single block is kept, and with it the framed copy that it makes."""
        cuts = _Cuts(self, self._edges(block_bytes))
        return [replace(cuts[0], kept=not self.once)] if len(cuts) == 1 else cuts

    def blocks(self, order: Order) -> Iterator[Block]:
        """Batches of ``order.size`` rows. Batches in the given order are views."""
        self.counter.add()
        n = self.n_rows
        if order.draw == "given":
            for part in pieces(n, order.size):
                yield self._cut(part.start, part.stop)
            return
        chosen = order.rows(n)
        whole = self._cut(0, n)
        for part in pieces(n, order.size):
            yield whole.take(chosen[part])

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        self.counter.add()  # a source outside memory reads every row to draw a sample
        return draw(self, self._cut(0, self.n_rows), size, seed, targets)

    def resident(self) -> Block | None:
        return Block(self.X, self.t, self.weight, 0, self.frame)  # a slice of all CSR rows would copy them


@dataclass(frozen=True)
class _Cuts(Sequence[Block]):
    """The blocks between the edges, created on access."""

    rows: MemoryRows
    edges: Integers

    def __len__(self) -> int:
        return max(0, len(self.edges) - 1)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        return self.rows._cut(int(self.edges[index]), int(self.edges[index + 1]))


def some_rows(block: Block) -> MemoryRows:
    """The rows of a block as ``Rows`` that do not count passes."""
    return MemoryRows(block.X, block.t, block.weight, block.frame, NOT_COUNTED)


def memory_rows(
    X: Any,
    t: AnyArray,
    weight: Array | None = None,
    frame: Frame | None = None,
    counter: PassCounter | None = None,
    weight_unit: float = 1.0,
) -> MemoryRows:
    """Rows over arrays in memory; weights default to 1, the frame to the identity, the counter to a new one."""
    matrix: Matrix = as_csr(X) if is_sparse(X) else np.asarray(X)
    n, d = matrix.shape
    return MemoryRows(
        matrix,
        t,
        np.ones(n) if weight is None else weight,
        Frame.identity(d) if frame is None else frame,
        PassCounter() if counter is None else counter,
        weight_unit,
    )
