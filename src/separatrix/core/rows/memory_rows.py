"""Rows in memory. `Block` handles dense and CSR arrays, so one class serves both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Matrix, pieces
from separatrix.core.base.lazy import cached_property
from separatrix.core.rows.block import Block, as_csr, block_edges, csr_rows, is_sparse
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.protocol import BLOCK_BYTES, NOT_COUNTED, Order, Partial, PassCounter, fold_strands

if TYPE_CHECKING:
    from separatrix.core.rows.sampling import RowSample

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

    @cached_property
    def _edges(self) -> list[int]:
        """Where blocks begin and end, whatever the number of threads."""
        return block_edges(self.X, BLOCK_BYTES)

    def fold(self, partial: Partial[A]) -> A:
        self.counter.add()
        if self._only_block is not None:
            return partial.add(partial.zero(), self._only_block)
        edges = self._edges
        return fold_strands(len(edges) - 1, lambda k: self._cut(edges[k], edges[k + 1]), partial)

    def blocks(self, order: Order) -> Iterator[Block]:
        """Batches of ``order.size`` rows. Batches in the given order are views."""
        self.counter.add()
        n = self.n_rows
        if order.draw == "given":
            for part in pieces(n, order.size):
                yield self._cut(part.start, part.stop)
            return
        chosen = order.rows(n)
        whole = Block(self.X, self.t, self.weight, 0, self.frame)
        for part in pieces(n, order.size):
            yield whole.take(chosen[part])

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> RowSample:
        from separatrix.core.rows.sampling import draw  # most fits of small tables draw none

        self.counter.add()  # a source outside memory reads every row to draw a sample
        return draw(self, Block(self.X, self.t, self.weight, 0, self.frame), size, seed, targets)

    def resident(self) -> Block | None:
        """All rows as one block: the cached one, if there is only one. A larger one is new, and caches nothing."""
        return Block(self.X, self.t, self.weight, 0, self.frame) if self._only_block is None else self._only_block

    @cached_property
    def _only_block(self) -> Block | None:
        """The block of all rows, if they fit into one. It is kept, and with it the framed copy that it makes."""
        is_one = len(self._edges) == 2
        return Block(self.X, self.t, self.weight, 0, self.frame, not self.once) if is_one else None


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
