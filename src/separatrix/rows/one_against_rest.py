"""K problems of two classes over the same rows: each class against the rest, without a copy of the rows.

``class_targets`` gives the targets that ``labelled_rows`` has, too: ±1 for two classes, class numbers for more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.labels import signed
from separatrix.rows.block import Block
from separatrix.rows.coding import Coding
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import LabelledTable
from separatrix.rows.memory import MemoryRows
from separatrix.rows.protocol import Order, Partial, PassCounter, Rows, bytes_per_block
from separatrix.rows.sampling import Sample

A = TypeVar("A")


def class_targets(codes: Integers, n_classes: int) -> AnyArray:
    """The targets of rows with these class numbers: ±1 for two classes, the class numbers for more.

    >>> class_targets(np.array([0, 1]), 2).tolist(), class_targets(np.array([0, 2]), 3).tolist()
    ([-1.0, 1.0], [0, 2])
    """
    return signed(codes) if n_classes == 2 else codes


def one_against_rest(rows: Rows, n_classes: int) -> list[Rows]:
    """The rows with targets ±1, once for each problem: one for two classes, one for each class if there are more.

    The targets of ``rows`` are those of ``class_targets``. Rows in memory have a new counter in each problem, so that
    each problem counts its own passes.

    >>> from separatrix.rows import memory_rows
    >>> rows = memory_rows(np.zeros((3, 1)), class_targets(np.array([0, 1, 2]), 3))
    >>> [each.resident().t.tolist() for each in one_against_rest(rows, 3)]
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    positive = [None] if n_classes == 2 else list(range(n_classes))
    if isinstance(rows, MemoryRows):
        return [replace(rows, t=_signs(rows.t, k), counter=PassCounter()) for k in positive]
    return [rows if k is None else _AgainstRest(rows, k, n_classes) for k in positive]


def table_against_rest(table: LabelledTable, coding: Coding, n_classes: int) -> list[Rows]:
    """``one_against_rest`` for the rows of a table. A table outside memory makes the targets while it is read.

    >>> from separatrix.rows.labelled import MemoryTable
    >>> table = MemoryTable(np.zeros((3, 1)), np.array([0, 1, 2]), np.ones(3), 3)
    >>> [each.resident().t.tolist() for each in table_against_rest(table, Coding(), 3)]
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    rows = table.rows(coding)
    if n_classes == 2 or isinstance(rows, MemoryRows):
        return one_against_rest(rows, n_classes)
    two = replace(coding, signs=True)
    return [table.rows(replace(two, numbers=(np.arange(n_classes) == k).astype(np.int64))) for k in range(n_classes)]


def _signs(t: AnyArray, k: int | None) -> AnyArray:
    """±1 for class k against the rest; t itself, which already is ±1, if k is None."""
    return t if k is None else np.where(t == k, 1.0, -1.0)


@dataclass(frozen=True)
class _Relabelled(Generic[A]):
    """A sum over rows whose targets are replaced by ±1, block by block."""

    partial: Partial[A]
    k: int

    @property
    def block_bytes(self) -> int:
        return bytes_per_block(self.partial)

    def zero(self) -> A:
        return self.partial.zero()

    def add(self, total: A, block: Block) -> A:
        return self.partial.add(total, replace(block, t=_signs(block.t, self.k)))

    def merge(self, a: A, b: A) -> A:
        return self.partial.merge(a, b)


@dataclass(frozen=True)
class _AgainstRest:
    """Rows that are not in memory, with the target +1 for class ``k`` and −1 for the rest."""

    source: Rows
    k: int
    n_classes: int

    @property
    def n_rows(self) -> int | None:
        return self.source.n_rows

    @property
    def n_features(self) -> int:
        return self.source.n_features

    @property
    def is_sparse(self) -> bool:
        return self.source.is_sparse

    @property
    def is_row_major(self) -> bool:
        return self.source.is_row_major

    @property
    def frame(self) -> Frame:
        return self.source.frame

    @property
    def weight_unit(self) -> float:
        return self.source.weight_unit

    @property
    def counter(self) -> PassCounter:
        return self.source.counter

    def seen_through(self, frame: Frame) -> _AgainstRest:
        return replace(self, source=self.source.seen_through(frame))

    def fold(self, partial: Partial[A]) -> A:
        return self.source.fold(_Relabelled(partial, self.k))

    def blocks(self, order: Order) -> Iterator[Block]:
        return (self._relabelled(block) for block in self.source.blocks(order))

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        """A sample; with ``targets``, the same number of rows is drawn from each class of the source."""
        drawn = self.source.sample(size, seed, None if targets is None else np.arange(self.n_classes))
        return replace(drawn, block=self._relabelled(drawn.block))

    def resident(self) -> Block | None:
        block = self.source.resident()
        return None if block is None else self._relabelled(block)

    def _relabelled(self, block: Block) -> Block:
        return replace(block, t=_signs(block.t, self.k))
