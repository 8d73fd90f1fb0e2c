"""K problems of two classes over the same rows: each class against the rest, without a copy of the rows.

``class_targets`` gives the targets that ``labelled_rows`` has, too: ±1 for two classes, class numbers for more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.labels import signed
from separatrix.rows.block import Block
from separatrix.rows.coding import Coding
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import LabelledTable
from separatrix.rows.memory import MemoryRows
from separatrix.rows.protocol import PassCounter, Rows
from separatrix.rows.sampling import Sample
from separatrix.rows.viewed import ViewedRows

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
class _Relabel:
    """Replaces the targets of a block by ±1: class k against the rest."""

    k: int

    def __call__(self, block: Block) -> Block:
        return replace(block, t=_signs(block.t, self.k))


@dataclass(frozen=True)
class _AgainstRest(ViewedRows):
    """Rows that are not in memory, with the target +1 for class ``k`` and −1 for the rest."""

    source: Rows
    k: int
    n_classes: int

    @property
    def change(self) -> _Relabel:
        return _Relabel(self.k)

    @property
    def frame(self) -> Frame:
        return self.source.frame

    def seen_through(self, frame: Frame) -> _AgainstRest:
        return replace(self, source=self.source.seen_through(frame))

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        """A sample; with ``targets``, the same number of rows is drawn from each class of the source."""
        drawn = self.source.sample(size, seed, None if targets is None else np.arange(self.n_classes))
        return replace(drawn, block=self.change(drawn.block))
