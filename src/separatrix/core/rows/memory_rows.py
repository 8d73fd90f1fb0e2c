"""Rows in memory. `Block` handles dense and CSR arrays, so one class serves both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, Matrix, pieces
from separatrix.core.base.lazy import cached_property
from separatrix.core.rows.block import Block, as_csr, block_rows, csr_rows, cuts, is_sparse
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.protocol import BLOCK_BYTES, NOT_COUNTED, Order, Partial, PassCounter, fold_strands
from separatrix.core.rows.sampling import Sample, draw

A = TypeVar("A")


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

    @property
    def is_sparse(self) -> bool:
        return is_sparse(self.X)

    @property
    def is_row_major(self) -> bool:
        X: Any = self.X
        return is_sparse(X) or bool(X.flags.c_contiguous)

    def seen_through(self, frame: Frame) -> MemoryRows:
        """The same rows in other coordinates, without a copy."""
        return MemoryRows(self.X, self.t, self.weight, frame, self.counter, self.weight_unit, self.once)

    def _cut(self, start: int, stop: int) -> Block:
        part = slice(start, stop)
        X = csr_rows(self.X, start, stop) if is_sparse(self.X) else self.X[part]
        return Block(X, self.t[part], self.weight[part], start, self.frame)

    def _edges(self) -> Integers:
        """Where blocks begin and end, whatever the number of threads."""
        return np.unique(np.concatenate([[0], cuts(self.X, BLOCK_BYTES), [self.n_rows]])).astype(np.int64)

    def fold(self, partial: Partial[A]) -> A:
        self.counter.add()
        only = self._only_block
        return fold_strands(self._blocks if only is None else (only,), partial)

    @cached_property
    def _blocks(self) -> Sequence[Block]:
        """All rows as blocks. A single block is kept, and with it the framed copy that it makes."""
        blocks = _Blocks(self, self._edges())
        return [replace(blocks[0], kept=not self.once)] if len(blocks) == 1 else blocks

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
        only = self._only_block
        # A slice of all CSR rows would copy them.
        return Block(self.X, self.t, self.weight, 0, self.frame) if only is None else only

    @cached_property
    def _only_block(self) -> Block | None:
        """The block of all rows, if they are dense and few."""
        if is_sparse(self.X) or not 0 < self.n_rows <= block_rows(BLOCK_BYTES, self.n_features):
            return None
        return Block(self.X, self.t, self.weight, 0, self.frame, not self.once)


@dataclass(frozen=True)
class _Blocks(Sequence[Block]):
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
