"""Record batches that can be read any number of times: what every kind of source gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, Protocol

import pyarrow as pa

from separatrix.base.errors import TableError
from separatrix.table.formats.source import UNREADABLE

# The size in bytes of the numbers of a record batch, unless memory is scarcer.
BATCH_BYTES = 1 << 22
# A batch has at least this many rows, however wide they are, and at most this many.
FEWEST_ROWS_PER_BATCH, MOST_ROWS_PER_BATCH = 256, 1 << 16


# Labels have the type of their column; or are text of a file without types, in which "1" and "2" mean numbers; or are
# numbers, which mean whole numbers if all of them are.
LabelKind = Literal["typed", "text", "number"]


class Stamp(NamedTuple):
    """What identifies a version of a file: its type of file system, path, size in bytes and last change."""

    filesystem: str
    path: str
    size: int
    changed: int


class Batches(Protocol):
    """Record batches with the same columns, always the same rows in the same order.

    ``n_rows`` is None if the source does not know it before it has been read. ``stamps`` identify the files; they are
    empty for a query, whose rows cannot be recognised later. ``is_slow``: reading is much slower than reading numbers
    from the disk, since text is parsed or a query is computed. ``label_kind``: what labels look like in the
    source. ``called(row)`` is the name of a row for messages, such as "3 of part-2.csv".
    ``read(columns, rows)`` gives batches of that many rows, if the source can be read so. ``spelled`` says how text is
    written; it is empty for sources with types.
    """

    @property
    def name(self) -> str: ...
    @property
    def schema(self) -> pa.Schema: ...
    @property
    def n_rows(self) -> int | None: ...
    @property
    def stamps(self) -> tuple[Stamp, ...]: ...
    @property
    def is_slow(self) -> bool: ...
    @property
    def batch_bytes(self) -> int: ...
    @property
    def label_kind(self) -> LabelKind: ...
    @property
    def spelled(self) -> str: ...
    def read(self, columns: Sequence[str], rows: int | None = None) -> Iterator[pa.RecordBatch]: ...
    def called(self, row: int) -> str: ...


def rows_per_batch(n_columns: int, batch_bytes: int = BATCH_BYTES) -> int:
    """The number of rows of a batch of about ``batch_bytes``.

    >>> rows_per_batch(20), rows_per_batch(10**6)
    (26214, 256)
    """
    fit = batch_bytes // (8 * max(1, n_columns))
    return min(max(fit, FEWEST_ROWS_PER_BATCH), MOST_ROWS_PER_BATCH)


@contextmanager
def explained(name: str, what: str) -> Iterator[None]:
    """Turn the exceptions of PyArrow about a file or a query into a ``TableError``."""
    try:
        yield
    except TableError:
        raise
    except FileNotFoundError as error:
        raise TableError(name, "there is no such file", "check the path") from error
    except UNREADABLE as error:
        reason = " ".join(str(error).split())[:200]
        raise TableError(name, f"it cannot be read as {what} ({reason})", "check it, or write it again") from error


def explained_batches(name: str, what: str, batches: Iterator[Any]) -> Iterator[Any]:
    """The batches; exceptions that reading them raises become a ``TableError``.

    At the end, memory that Arrow keeps for later use is given back to the system.
    """
    try:
        while True:
            with explained(name, what):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch
            del batch  # freed before the next one is read
    finally:
        pa.default_memory_pool().release_unused()
