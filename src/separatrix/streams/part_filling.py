"""Record batches copied to the rows of X, in parts, by several threads that each read and copy a share of the columns.

Threads that read different rows instead would have to keep them until it is their turn. A thread frees the batches that
it has read itself: memory that another thread frees cannot be used again at once.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.concurrency import thread_count
from separatrix.base.errors import TableError
from separatrix.base.read_ahead import read_ahead
from separatrix.rows.column_statistics import FEWEST_ENTRIES_TO_COMPILE_SUMS
from separatrix.streams.matrix import BatchColumns

# A thread reads at least this many columns.
FEWEST_COLUMNS_PER_READER = 4


class Share(NamedTuple):
    """Columns ``first``, … of X, by name, and other columns that are read together with them."""

    first: int
    columns: Sequence[str]
    others: Sequence[str]


class Written(NamedTuple):
    """What a share has written of a part: rows, whether their entries are known to be finite, and the other columns.

    The other columns are those of each batch, as record batches.
    """

    n_rows: int
    finite: bool
    others: list[Any]


def column_shares(columns: Sequence[str], others: Sequence[str], most: int) -> list[Share]:
    """The columns in at most ``most`` shares of nearly equal size; the last one reads the other columns, too.

    >>> [(share.first, share.columns, share.others) for share in column_shares("abcdefghi", "y", 2)]
    [(0, 'abcd', ''), (4, 'efghi', 'y')]
    >>> column_shares("abc", "y", 2)
    [Share(first=0, columns='abc', others='y')]
    """
    n = max(1, min(most, len(columns) // FEWEST_COLUMNS_PER_READER))
    edges = [len(columns) * k // n for k in range(n + 1)]
    return [
        Share(begin, columns[begin:end], others if end == len(columns) else others[:0])
        for begin, end in pairwise(edges)
    ]


@dataclass(frozen=True)
class PartFilling:
    """Fills parts of ``size`` rows with ``columns``. ``read(columns)`` gives their record batches, of any size."""

    name: str
    columns: Sequence[str]
    others: Sequence[str]
    dtype: Any
    size: int
    read: Any
    matrices: _Matrices = field(default_factory=lambda: _Matrices())

    def parts(self, by_threads: bool) -> Iterator[tuple[Array, bool, list[Any]]]:
        """For each part X (m, d), whether all entries are known to be finite, and the batches of the other columns.

        ``by_threads``: some columns can be read without the others, so that threads share the work.
        """
        readers = [
            self._written(share)
            for share in column_shares(self.columns, self.others, thread_count() if by_threads else 1)
        ]
        ahead = readers if len(readers) == 1 else [read_ahead(reader) for reader in readers]
        with ExitStack() as stack:
            for reader in ahead:
                stack.enter_context(closing(reader))
            part = 0
            while True:
                written = [next(reader, None) for reader in ahead]
                counts = {0 if one is None else one.n_rows for one in written}
                if len(counts) > 1:
                    problem = "its columns have different numbers of rows"
                    raise TableError(self.name, problem, "leave the file unchanged while it is read, and run again")
                if written[-1] is None:
                    return
                X = self.matrices.taken(part)[: counts.pop()]
                yield X, all(one.finite for one in written if one is not None), written[-1].others
                del X, written  # freed before the next ones are read
                part += 1

    def _written(self, share: Share) -> Generator[Written, None, None]:
        """Write the columns of a share to one part after the other."""
        columns = BatchColumns(share.columns, self.dtype)
        part = filled = n_rows = 0
        finite, others = True, list[Any]()
        for batch in self.read([*share.columns, *share.others]):
            columns.take(batch)
            kept = batch.select(list(share.others)) if share.others else None
            begin = 0
            while begin < batch.num_rows:
                m = min(self.size - filled, batch.num_rows - begin)
                n_rows += m
                long = n_rows * len(self.columns) >= FEWEST_ENTRIES_TO_COMPILE_SUMS
                X = self.matrices.of(part, self.size, len(self.columns), self.dtype)[filled : filled + m]
                finite &= columns.write(begin, X, share.first, long)
                if kept is not None:
                    others.append(kept.slice(begin, m))
                begin, filled = begin + m, filled + m
                if filled == self.size:
                    yield Written(filled, finite, others)
                    part, filled, finite, others = part + 1, 0, True, []
            columns.release()
            del batch
        if filled:
            yield Written(filled, finite, others)


class _Matrices:
    """The matrices of parts that threads fill together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[int, Array] = {}

    def of(self, part: int, n_rows: int, n_columns: int, dtype: Any) -> Array:
        """The matrix of a part, which the first thread that asks for it makes."""
        with self._lock:
            if part not in self._made:
                self._made[part] = np.empty((n_rows, n_columns), dtype=dtype)
            return self._made[part]

    def taken(self, part: int) -> Array:
        """The matrix of a part that is complete."""
        with self._lock:
            return self._made.pop(part)
