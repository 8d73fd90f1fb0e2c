"""Record batches whose columns are decoded by several threads, each of which reads a share of the columns."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import pairwise
from typing import Any

import pyarrow as pa

from separatrix.base.concurrency import thread_count
from separatrix.base.read_ahead import read_ahead

# A thread decodes at least this many columns.
FEWEST_COLUMNS_PER_READER = 4

# The record batches of one reader.
Reader = Generator[Any, None, None]


def read_by_threads(columns: Sequence[str], reader: Callable[[Sequence[str]], Reader]) -> Iterator[pa.RecordBatch]:
    """The record batches of all columns; ``reader(columns)`` reads some of them, always the same rows.

    Threads that read different rows instead would have to keep them until it is their turn.
    """
    shares = column_shares(columns, thread_count())
    readers = [reader(share) for share in shares]
    return side_by_side(readers) if len(readers) == 1 else side_by_side([read_ahead(one) for one in readers])


def column_shares(columns: Sequence[str], most: int) -> list[Sequence[str]]:
    """The columns in at most ``most`` shares of nearly equal size, each with FEWEST_COLUMNS_PER_READER or more.

    >>> column_shares("abcdefghij", 2), column_shares("abc", 2)
    (['abcde', 'fghij'], ['abc'])
    """
    n = max(1, min(most, len(columns) // FEWEST_COLUMNS_PER_READER))
    edges = [len(columns) * k // n for k in range(n + 1)]
    return [columns[begin:end] for begin, end in pairwise(edges)]


def side_by_side(readers: Sequence[Reader]) -> Iterator[pa.RecordBatch]:
    """Record batches with the columns of all readers.

    Batches of the readers may have different lengths: PyArrow ends a batch of categories where a row group ends.
    """
    with ExitStack() as stack:
        for reader in readers:
            stack.enter_context(closing(reader))
        if len(readers) == 1:
            yield from readers[0]
            return
        schema: pa.Schema | None = None
        parts: list[Any] = [None] * len(readers)
        while True:
            parts = [next(reader, None) if part is None else part for part, reader in zip(parts, readers, strict=True)]
            if any(part is None for part in parts):
                return
            rows = min(part.num_rows for part in parts)
            schema = schema or pa.schema([field for part in parts for field in part.schema])
            columns = [column for part in parts for column in part.slice(0, rows).columns]
            parts = [part.slice(rows) if part.num_rows > rows else None for part in parts]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)
            del columns  # freed before the next ones are read
