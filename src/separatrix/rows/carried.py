"""Keeps the contents of the rows that a draw chooses, for sources that cannot be read row by row.

A draw is a partial whose total knows the numbers of the rows that it has chosen so far. ``Carried(draw)`` is a partial,
too. It copies the rows that are chosen in a block, and drops them when later rows take their place.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

import numpy as np

from separatrix.base.arrays import Booleans, Integers
from separatrix.rows.block import Block
from separatrix.rows.csr import stacked
from separatrix.rows.frame import Frame

A = TypeVar("A")

# Rows that are no longer chosen are dropped as soon as they are as many as the chosen rows, and at least this many.
FEWEST_ROWS_TO_DROP = 1024


class Draw(Protocol[A]):
    """A partial that chooses rows. ``chosen(total)`` are their numbers, in any order."""

    def zero(self) -> A: ...
    def add(self, total: A, block: Block) -> A: ...
    def merge(self, a: A, b: A) -> A: ...
    def chosen(self, total: A) -> Integers: ...


@dataclass(frozen=True)
class CarriedRows:
    """The contents of rows, in parts, each with the numbers of its rows in increasing order."""

    numbers: tuple[Integers, ...] = ()
    parts: tuple[Block, ...] = ()

    @property
    def n_rows(self) -> int:
        return sum(map(len, self.numbers))

    def with_(self, others: CarriedRows) -> CarriedRows:
        """These rows together with others."""
        return CarriedRows(self.numbers + others.numbers, self.parts + others.parts)

    def only(self, numbers: Integers) -> CarriedRows:
        """The rows with these numbers."""
        wanted = np.sort(numbers)
        keep = [np.flatnonzero(_are_in(held, wanted)) for held in self.numbers]
        some = [(held[k], part.take(k)) for held, part, k in zip(self.numbers, self.parts, keep, strict=True) if len(k)]
        return CarriedRows(tuple(held for held, _ in some), tuple(part for _, part in some))

    def joined(self) -> CarriedRows:
        """The rows in one part, by increasing number; a row that is held twice occurs once."""
        numbers, place = np.unique(np.concatenate(self.numbers), return_index=True)
        first = self.parts[0]
        X, t, weight = (stacked([getattr(part, name) for part in self.parts])[place] for name in ("X", "t", "weight"))
        return CarriedRows((numbers,), (Block(X, t, weight, 0, first.frame),))

    def places(self, numbers: Integers) -> Integers:
        """The positions of the rows with these numbers. The rows must have been joined."""
        return np.searchsorted(self.numbers[0], numbers)

    def block(self, frame: Frame) -> Block:
        """All rows, in one part. The rows must have been joined."""
        return replace(self.parts[0], frame=frame)


def _are_in(numbers: Integers, wanted: Integers) -> Booleans:
    """Which of the numbers are among the wanted numbers, which are sorted."""
    if not len(wanted):
        return np.zeros(len(numbers), dtype=bool)
    place = np.minimum(np.searchsorted(wanted, numbers), len(wanted) - 1)
    return np.asarray(wanted[place] == numbers)


@dataclass
class CarriedTotal(Generic[A]):
    """The total of the draw, and the contents of the rows that it has chosen."""

    total: A
    rows: CarriedRows = field(default_factory=CarriedRows)


@dataclass(frozen=True)
class Carried(Generic[A]):
    """A draw that keeps the rows it chooses."""

    draw: Draw[A]

    def zero(self) -> CarriedTotal[A]:
        return CarriedTotal(self.draw.zero())

    def add(self, total: CarriedTotal[A], block: Block) -> CarriedTotal[A]:
        inner = self.draw.add(total.total, block)
        chosen = self.draw.chosen(inner)
        here = np.sort(chosen[(chosen >= block.start) & (chosen < block.start + block.n_rows)])
        new = CarriedRows((here,), (block.take(here - block.start),)) if len(here) else CarriedRows()
        return self._tidied(inner, total.rows.with_(new), chosen)

    def merge(self, a: CarriedTotal[A], b: CarriedTotal[A]) -> CarriedTotal[A]:
        inner = self.draw.merge(a.total, b.total)
        return self._tidied(inner, a.rows.with_(b.rows), self.draw.chosen(inner))

    def _tidied(self, inner: A, rows: CarriedRows, chosen: Integers) -> CarriedTotal[A]:
        if rows.n_rows > max(2 * len(chosen), len(chosen) + FEWEST_ROWS_TO_DROP):
            rows = rows.only(chosen)
        return CarriedTotal(inner, rows)
