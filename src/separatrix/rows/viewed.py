"""Rows outside memory whose blocks are changed as they are read, for example to give them other targets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from separatrix.rows.block import Block
from separatrix.rows.protocol import Order, Partial, PassCounter, Rows

A = TypeVar("A")


@dataclass(frozen=True)
class _OfChanged(Generic[A]):
    """A sum over changed blocks. ``change`` must be small and hold no rows, like every part of a partial."""

    partial: Partial[A]
    change: Callable[[Block], Block]

    def zero(self) -> A:
        return self.partial.zero()

    def add(self, total: A, block: Block) -> A:
        return self.partial.add(total, self.change(block))

    def merge(self, a: A, b: A) -> A:
        return self.partial.merge(a, b)


class ViewedRows(ABC):
    """A view of the rows ``source``. Subclasses say how blocks change, and give coordinates and samples."""

    source: Rows

    @property
    @abstractmethod
    def change(self) -> Callable[[Block], Block]:
        """What is done to each block: a small object without rows."""

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
    def weight_unit(self) -> float:
        return self.source.weight_unit

    @property
    def counter(self) -> PassCounter:
        return self.source.counter

    def fold(self, partial: Partial[A]) -> A:
        return self.source.fold(_OfChanged(partial, self.change))

    def blocks(self, order: Order) -> Iterator[Block]:
        return (self.change(block) for block in self.source.blocks(order))

    def resident(self) -> Block | None:
        block = self.source.resident()
        return None if block is None else self.change(block)
