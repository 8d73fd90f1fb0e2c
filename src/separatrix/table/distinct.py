"""The different values of a column, with their counts and first rows, found part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import Integers


@dataclass(frozen=True, eq=False)
class Distinct:
    """Values of an Arrow array without nulls, in the order of their first rows.

    ``counts`` (m,): how many rows have each. ``first`` (m,): the number of the first such row, counted from 0.

    >>> some = Distinct.of(pa.chunked_array([["b", "a", None, "b"]]))
    >>> both = some.merge(Distinct.of(pa.chunked_array([["c", "a"]]), start=4))
    >>> both.values.to_pylist(), both.counts.tolist(), both.first.tolist()
    (['b', 'a', 'c'], [2, 2, 1], [0, 1, 4])
    """

    values: Any
    counts: Integers
    first: Integers

    def __len__(self) -> int:
        return len(self.values)

    @property
    def column(self) -> Any:
        """The values as a column."""
        return pa.chunked_array([self.values])

    @property
    def total(self) -> int:
        """The number of rows that have a value."""
        return int(self.counts.sum())

    @classmethod
    def of(cls, column: Any, start: int | Integers = 0) -> Distinct:
        """The values of a column whose first row has the number ``start``, or whose rows have these numbers."""
        values, codes = encoded(column)
        known = codes >= 0
        counts = np.bincount(codes[known], minlength=len(values))
        # Codes are given in the order of first rows, so a value is new where the largest code so far grows.
        first = np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1) > 0)
        return cls(values, counts, numbered(start, first))

    def merge(self, later: Distinct) -> Distinct:
        """The values of these rows and of later ones."""
        if not len(later):
            return self
        if not len(self):
            return later
        values, codes = encoded(pa.chunked_array([self.values, later.values]))
        counts = np.bincount(codes, np.concatenate([self.counts, later.counts]), len(values)).astype(np.int64)
        first = np.full(len(values), np.iinfo(np.int64).max)
        np.minimum.at(first, codes, np.concatenate([self.first, later.first]))
        return Distinct(values, counts, first)

    def only(self, chosen: Any) -> Distinct:
        """The values of a mask (m,)."""
        return Distinct(self.values.filter(pa.array(chosen)), self.counts[chosen], self.first[chosen])

    def head(self, n: int) -> Distinct:
        """A copy of the first n values, which does not keep the others in memory."""
        return Distinct(self.values.take(pa.array(range(min(n, len(self))))), self.counts[:n], self.first[:n])

    def renamed(self, values: Any) -> Distinct:
        """The same rows with other values, of which some may be equal or null."""
        distinct, codes = encoded(values)
        known = codes >= 0
        counts = np.bincount(codes[known], self.counts[known], len(distinct)).astype(np.int64)
        first = np.full(len(distinct), np.iinfo(np.int64).max)
        np.minimum.at(first, codes[known], self.first[known])
        return Distinct(distinct, counts, first)


def numbered(start: int | Integers, places: Any) -> Any:
    """The numbers of rows at these places: counted from ``start``, or ``start`` has the number of every row."""
    return start[places] if isinstance(start, np.ndarray) else start + places


def encoded(column: Any) -> tuple[Any, Integers]:
    """The different values of a column, and for each row the place of its value among them, −1 for null."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # text of more than 2 GB, or no chunk at all
        whole = pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in whole.chunks])
    coded = whole.dictionary_encode()
    codes: Any = coded.indices
    if codes.null_count:
        filled = np.frombuffer(codes.buffers()[1], np.int32)[codes.offset :][: len(codes)].astype(np.int64)
        valid = np.from_dlpack(codes.is_valid().cast(pa.uint8())).astype(bool)
        return coded.dictionary, np.where(valid, filled, -1)
    return coded.dictionary, np.from_dlpack(codes).astype(np.int64)
