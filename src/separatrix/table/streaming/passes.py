"""A pass over a table in batches: by this process, or by others that read a part of the rows each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from separatrix.base.errors import InputError, TableError
from separatrix.base.row_names import RowNames
from separatrix.base.watching import Amount, Part, watched
from separatrix.table import select
from separatrix.table.formats.batched import Batch, BatchedSource
from separatrix.table.selection import Selection

T = TypeVar("T")


class Passes(Protocol):
    """Who reads the rows. The answers of parts come in the order of the rows, and are merged in it.

    ``in_this_process``: whether this process reads them all.
    """

    @property
    def in_this_process(self) -> bool: ...
    def over(self, batched: BatchedSource, task: Callable[[BatchedSource], T]) -> Iterator[T]:
        """The results of ``task``, which is given the whole source, or each of its parts."""


class OneReader:
    """All rows are read by this process."""

    in_this_process: ClassVar[bool] = True

    def over(self, batched: BatchedSource, task: Callable[[BatchedSource], T]) -> Iterator[T]:
        yield task(batched)


ONE_READER = OneReader()


def read_batches(asked: Selection, batched: BatchedSource, names: Sequence[str], n_rows: int | None) -> Iterator[Batch]:
    """The batches of these columns, with reports of progress. ``n_rows``: how many rows there are, if that is known."""
    literal = select.literal(asked.given.columns, asked.target, asked.given.classes)
    tell, n = None if batched.reports_bytes else watched(), 0
    batches = batched.batches(names, literal, select.pointed(asked.given.columns))
    if batched.is_text and batched.copy is None and batched.most_rows is not None:
        batches = _joined(batches, batched.most_rows, batched.parts_joined)
    for batch in batches:
        yield batch
        n += batch.columns.num_rows
        if tell is not None:
            tell(Part("rows read:", n) if n_rows is None else Amount("rows", n, n_rows))
    if n_rows is not None and n != n_rows:
        problem = f"it had {n_rows} rows when it was first read, and {n} rows now"
        raise TableError(batched.name, problem, "leave the file unchanged during a fit")


def _joined(batches: Iterator[Batch], most_rows: int, most_parts: int) -> Iterator[Batch]:
    """The batches, several of which are joined if they have few rows: work on a column has a price for each batch.

    Before an error, the rows that were read are returned.
    """
    parts, n = list[Batch](), 0
    try:
        for batch in batches:
            if parts and (n + batch.columns.num_rows > most_rows or len(parts) == most_parts):
                yield _whole(parts)
                parts, n = [], 0
            parts.append(batch)
            n += batch.columns.num_rows
    except InputError:
        if parts:
            yield _whole(parts)
        raise
    if parts:
        yield _whole(parts)


def _whole(parts: Sequence[Batch]) -> Batch:
    first, last = parts[0], parts[-1]
    if first is last:
        return first
    columns = pa.concat_tables([part.columns for part in parts])
    ends = tuple(part.start + part.columns.num_rows for part in parts)
    return Batch(columns, first.start, RowNames(np.arange(first.start + 1, ends[-1] + 1), last.names.files), ends)
