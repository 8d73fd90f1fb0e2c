"""A pass over a table in batches: by this process, or by others that read a part of the rows each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from separatrix.base.errors import TableError
from separatrix.base.watching import Amount, Part, watched
from separatrix.table import select
from separatrix.table.formats.batched import Batch, BatchedSource
from separatrix.table.selection import Selection

T = TypeVar("T")


class Passes(Protocol):
    """Who reads the rows. The answers of parts come in the order of the rows, and are merged in it."""

    def over(self, batched: BatchedSource, task: Callable[[BatchedSource], T]) -> Iterator[T]:
        """The results of ``task``, which is given the whole source, or each of its parts."""


class OneReader:
    """All rows are read by this process."""

    def over(self, batched: BatchedSource, task: Callable[[BatchedSource], T]) -> Iterator[T]:
        yield task(batched)


ONE_READER = OneReader()


def read_batches(asked: Selection, batched: BatchedSource, names: Sequence[str], n_rows: int | None) -> Iterator[Batch]:
    """The batches of these columns, with reports of progress. ``n_rows``: how many rows there are, if that is known."""
    literal = select.literal(asked.given.columns, asked.target, asked.given.classes)
    tell, n = None if batched.reports_bytes else watched(), 0
    for batch in batched.batches(names, literal, select.pointed(asked.given.columns)):
        yield batch
        n += batch.columns.num_rows
        if tell is not None:
            tell(Part("rows read:", n) if n_rows is None else Amount("rows", n, n_rows))
    if n_rows is not None and n != n_rows:
        problem = f"it had {n_rows} rows when it was first read, and {n} rows now"
        raise TableError(batched.name, problem, "leave the file unchanged during a fit")
