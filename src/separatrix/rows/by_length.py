"""A sum that is computed in one way over short tables and in another over long ones, for rows of unknown number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from separatrix.rows.block import Block
from separatrix.rows.protocol import Partial

A = TypeVar("A")


class Both(NamedTuple, Generic[A]):
    """The totals of both sums, and the number of rows."""

    short: A
    long: A
    n_rows: int


@dataclass(frozen=True)
class ByLength(Generic[A]):
    """``long`` is the sum for tables of at least ``fewest`` rows, and ``short`` is the sum for shorter tables.

    Both are computed, ``short`` over the first rows only, so that a stream gives the same bits as rows in memory.
    """

    short: Partial[A]
    long: Partial[A]
    fewest: int

    def zero(self) -> Both[A]:
        return Both(self.short.zero(), self.long.zero(), 0)

    def add(self, total: Both[A], block: Block) -> Both[A]:
        short = self.short.add(total.short, block) if block.start < self.fewest else total.short
        return Both(short, self.long.add(total.long, block), total.n_rows + block.n_rows)

    def merge(self, a: Both[A], b: Both[A]) -> Both[A]:
        short = self.short.merge(a.short, b.short) if a.n_rows + b.n_rows < self.fewest else a.short
        return Both(short, self.long.merge(a.long, b.long), a.n_rows + b.n_rows)

    def chosen(self, total: Both[A]) -> tuple[Partial[A], A]:
        """The partial for this number of rows, and its total."""
        if total.n_rows < self.fewest:
            return self.short, total.short
        return self.long, total.long
