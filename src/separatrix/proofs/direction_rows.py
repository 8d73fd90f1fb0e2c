"""Which rows directions of quasi-complete separation touch, and which they move, for rows outside memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Booleans, Integers
from separatrix.proofs.naming import NAMED
from separatrix.proofs.quasi import on
from separatrix.proofs.row_claims import View
from separatrix.rows import Block


class Moved(NamedTuple):
    """The rows that the first direction touches, with the classes that tie, and the rows that some direction moves.

    ``n_moved`` is the number of moved rows, and ``first`` has the numbers of the first ``NAMED`` of them.
    """

    touching: Integers
    against: Integers
    first: Integers
    n_moved: int


@dataclass(frozen=True)
class DirectionRows:
    """Finds touching and moved rows. ``directions``: integer vectors (width,), the first of which decides who touches.

    The total has a number of eight bytes for every touching row.
    """

    directions: tuple[AnyArray, ...]
    view: View

    def zero(self) -> list[Moved]:
        return []

    def add(self, total: list[Moved], block: Block) -> list[Moved]:
        D, numbers = self.view.of(block)
        if len(numbers) == 0:
            return total
        tied = [D.named(on(D, v)) for v in self.directions]
        moves = moved_rows([rows for rows, _ in tied], len(numbers), D.K)
        gaining = numbers[moves]
        return [*total, Moved(numbers[tied[0][0]], tied[0][1], gaining[:NAMED], len(gaining))]

    def merge(self, a: list[Moved], b: list[Moved]) -> list[Moved]:
        return a + b

    def joined(self, total: list[Moved]) -> Moved:
        """The rows of all blocks."""
        none = np.zeros(0, dtype=np.int64)
        return Moved(
            np.concatenate([none, *(part.touching for part in total)]),
            np.concatenate([none, *(part.against for part in total)]),
            np.concatenate([none, *(part.first for part in total)])[:NAMED],
            sum(part.n_moved for part in total),
        )


def moved_rows(tied: list[Integers], n_rows: int, n_classes: int) -> Booleans:
    """A mask (n_rows,) of the rows whose likelihood grows along a direction.

    ``tied``: for each direction, the row of every pair of a row and another class that stays at zero. With K classes a
    row may stay at zero against one class and gain against another. It gains unless it stays at zero against all.

    >>> moved_rows([np.array([0, 0, 1])], 3, 3).tolist()
    [False, True, True]
    """
    return np.asarray(np.any([np.bincount(rows, minlength=n_rows) < n_classes - 1 for rows in tied], axis=0))
