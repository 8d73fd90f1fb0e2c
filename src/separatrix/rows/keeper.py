"""Keeps the rows of a sample while threads read all rows for other sums.

Rows are copied into slots of one array, and the slots of rows that are no longer among the lowest hashes are reused. So
the sample takes little more memory than its rows, however many threads read and however many rows there are.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.rows.block import Block
from separatrix.rows.carried import Carried, CarriedRows, CarriedTotal
from separatrix.rows.csr import is_sparse
from separatrix.rows.protocol import Partial
from separatrix.rows.sampling import SLACK, Lowest, LowestHashes

A = TypeVar("A")

FREE = -1


class DenseRows:
    """Dense rows in places of one array; ``numbers`` says which row is in which place, or that the place is free.

    ``free``: the free places.
    """

    def __init__(self, first: Block, places: int) -> None:
        X: Any = first.X
        self.numbers: Integers = np.full(places, FREE)
        self.free: Integers = np.arange(places)
        self.X = np.empty((places, X.shape[1]), dtype=X.dtype)
        self.t, self.weight = np.empty(places, dtype=first.t.dtype), np.empty(places)
        self.frame = first.frame

    @property
    def n_free(self) -> int:
        return len(self.free)

    def put(self, block: Block, numbers: Integers) -> None:
        """Copy the rows of a block that have these numbers. There must be free places for them."""
        X: Any = block.X
        rows, places = numbers - block.start, self.free[: len(numbers)]
        self.free = self.free[len(numbers) :]
        self.numbers[places] = numbers
        self.X[places], self.t[places], self.weight[places] = X[rows], block.t[rows], block.weight[rows]

    def release(self, chosen: Integers, wanted: int) -> None:
        """Free the places of rows that are not among those chosen, and make more if fewer than ``wanted`` are free."""
        ordered = np.sort(chosen)
        at = np.minimum(np.searchsorted(ordered, self.numbers), len(ordered) - 1)
        self.numbers[ordered[at] != self.numbers] = FREE
        self.free = np.flatnonzero(self.numbers == FREE)
        if self.n_free < wanted:
            self._grow(wanted - self.n_free)

    def _grow(self, more: int) -> None:
        self.free = np.concatenate([self.free, len(self.numbers) + np.arange(more)])
        self.numbers = np.concatenate([self.numbers, np.full(more, FREE)])
        self.X = np.concatenate([self.X, np.empty((more, self.X.shape[1]), dtype=self.X.dtype)])
        self.t = np.concatenate([self.t, np.empty(more, dtype=self.t.dtype)])
        self.weight = np.concatenate([self.weight, np.empty(more)])

    def places(self, numbers: Integers) -> Integers:
        """The places of the rows with these numbers."""
        order = np.argsort(self.numbers)
        return np.asarray(order[np.searchsorted(self.numbers, numbers, sorter=order)])

    def carried(self) -> CarriedRows:
        """The rows in one part, by increasing number."""
        held = np.sort(self.numbers[self.numbers != FREE])
        return CarriedRows((held,), (self.block(self.frame).take(self.places(held)),))

    def block(self, frame: Any) -> Block:
        """All places as a block, in the coordinates of a frame."""
        return Block(self.X, self.t, self.weight, 0, frame)


@dataclass(frozen=True)
class Kept:
    """The total of a draw, and the contents of the rows that it chose."""

    total: list[Lowest]
    rows: DenseRows | CarriedRows


class Keeper:
    """Draws a sample from blocks that threads show to it, in any order, and keeps the rows that it draws.

    The rows that blocks add to the draw are collected and added to its total together, because each addition takes time
    proportional to the size of the total. Until then, rows are compared with the limits of an earlier total, so for a
    while too many rows are kept, but never too few.
    """

    def __init__(self, draw: LowestHashes) -> None:
        self.draw, self.total = draw, draw.zero()
        self.found: list[list[Lowest]] = []
        self.n_found = 0
        self.dense: DenseRows | None = None
        self.sparse: CarriedTotal[list[Lowest]] | None = None
        self.lock = threading.Lock()

    def see(self, block: Block) -> None:
        """Take the rows of a block into account."""
        with self.lock:
            if is_sparse(block.X):
                carried = Carried(self.draw)
                self.sparse = carried.add(self.sparse or carried.zero(), block)
                return
            if self.dense is None:
                self.dense = DenseRows(block, int(SLACK * self.draw.size) + block.n_rows)
            found = self.draw.found(self.total, block)
            self.found.append(found)
            numbers = self.draw.chosen(found)
            self.n_found += len(numbers)
            if self.n_found > (SLACK - 1) * self.draw.size:
                self._count()
            if self.dense.n_free < len(numbers):
                self._count()
                self.dense.release(self.draw.chosen(self.total), len(numbers))
            self.dense.put(block, numbers)

    def kept(self) -> Kept:
        """The rows that were drawn from all blocks."""
        if self.sparse is not None:
            return Kept(self.sparse.total, self.sparse.rows.joined())
        self._count()
        return Kept(self.total, self.dense or CarriedRows())

    def _count(self) -> None:
        """Count the rows that have been found into the total."""
        if self.found:
            self.total = self.draw.merge(self.total, *self.found)
            self.found, self.n_found = [], 0


@dataclass(frozen=True)
class Watched(Generic[A]):
    """A partial whose blocks are shown to a keeper as well."""

    partial: Partial[A]
    keeper: Keeper

    def zero(self) -> A:
        return self.partial.zero()

    def add(self, total: A, block: Block) -> A:
        self.keeper.see(block)
        return self.partial.add(total, block)

    def merge(self, a: A, b: A) -> A:
        return self.partial.merge(a, b)
