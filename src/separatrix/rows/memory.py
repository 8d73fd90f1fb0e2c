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
from separatrix.rows.protocol import BLOCK_BYTES, NOT_COUNTED, Order, Partial, PassCounter, fold_strands
from separatrix.rows.sampling import Sample, draw

A = TypeVar("A")

# The fewest rows in a dense block, unless that makes the block larger than four times BLOCK_BYTES: each block repeats
# the work that is done once per column.
FEWEST_ROWS_PER_BLOCK = 64


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
        return MemoryRows(self.X, self.t, self.weight, frame, self.counter, self.weight_unit, self.once)

    def _cut(self, start: int, stop: int) -> Block:
        part, X = slice(start, stop), self.X
        if not is_sparse(X):
            return Block(X[part], self.t[part], self.weight[part], start, self.frame)
        return Block(csr_rows(X, start, stop), self.t[part], self.weight[part], start, self.frame)

    @cached_property
    def _edges(self) -> Integers:
        """Where blocks begin and end. A block has about BLOCK_BYTES of values, whatever the number of threads."""
        n = self.n_rows
        if is_sparse(self.X):
            X: Any = self.X
            filled = X.indptr.astype(np.int64) * 12  # eight bytes for a value, four for its index
            size = max(BLOCK_BYTES, 64 * self.n_features)  # a block has more entries than sums by column
            cuts = np.searchsorted(filled, np.arange(size, filled[-1], size))
            by_rows = np.arange(
                0, n, BLOCK_BYTES // 16
            )  # computing the score of a row takes time even if the row has few values
            return np.unique(np.concatenate([[0], cuts, by_rows, [n]])).astype(np.int64)
        size = self._rows_per_dense_block
        return np.append(np.arange(0, n, size), n).astype(np.int64)

    @cached_property
    def _is_one_dense_block(self) -> bool:
        return not is_sparse(self.X) and 0 < self.n_rows <= self._rows_per_dense_block

    @property
    def _rows_per_dense_block(self) -> int:
        fit = BLOCK_BYTES // max(1, self.n_features * 8)
        return max(1, fit, min(FEWEST_ROWS_PER_BLOCK, 4 * fit))

    def fold(self, partial: Partial[A]) -> A:
        self.counter.add()
        return fold_strands(self._blocks, partial)

    @cached_property
    def _blocks(self) -> Sequence[Block]:
        """All rows as blocks. A single block is cached, and with it the framed copy that it makes."""
        if self._is_one_dense_block:
            return [Block(self.X, self.t, self.weight, 0, self.frame, not self.once)]
        cuts = _Cuts(self, self._edges)
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
        """All rows as one block: the cached one, if they are dense and few. A larger one is new, and caches nothing."""
        if self._is_one_dense_block:
            return self._blocks[0]
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
