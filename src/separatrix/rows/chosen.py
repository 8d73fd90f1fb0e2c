"""A few rows by their numbers, from any kind of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.rows.block import Block
from separatrix.rows.csr import is_sparse
from separatrix.rows.protocol import Rows


@dataclass(frozen=True)
class _Chosen:
    """Collects the rows with the given numbers, which are sorted and unique."""

    numbers: Integers

    def zero(self) -> list[Block]:
        return []

    def add(self, total: list[Block], block: Block) -> list[Block]:
        first, last = np.searchsorted(self.numbers, [block.start, block.start + block.n_rows])
        if total and first == last:  # the first part is kept although it may be empty, for its number of columns
            return total
        return [*total, block.take(self.numbers[first:last] - block.start)]

    def merge(self, a: list[Block], b: list[Block]) -> list[Block]:
        return a + b


def chosen_rows(rows: Rows, numbers: Integers) -> Block:
    """The rows with these numbers, in this order. Rows that are not in memory are read in one pass.

    >>> from separatrix.rows import memory_rows
    >>> chosen_rows(memory_rows(np.arange(4.0)[:, None], np.arange(4)), np.array([3, 1])).t.tolist()
    [3, 1]
    """
    whole = rows.resident()
    if whole is not None:
        return whole.take(numbers)
    unique, place = np.unique(numbers, return_inverse=True)
    parts = rows.fold(_Chosen(unique))
    t, weight = (np.concatenate([getattr(part, name) for part in parts]) for name in ("t", "weight"))
    return Block(_stacked([part.X for part in parts]), t, weight, 0, rows.frame).take(place)


def _stacked(parts: list[Any]) -> Any:
    if not is_sparse(parts[0]):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, format="csr")
