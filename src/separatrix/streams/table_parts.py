"""A table in parts: rows X with their labels and weights, from any kind of source."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import Array, Matrix
from separatrix.base.cached import cached_property
from separatrix.base.read_ahead import read_ahead
from separatrix.rows.column_statistics import FEWEST_ENTRIES_TO_COMPILE_SUMS
from separatrix.rows.cutting import block_rows
from separatrix.rows.protocol import BLOCK_BYTES
from separatrix.streams.batches import MOST_ROWS_PER_BATCH, Batches, LabelKind, Stamp, explained
from separatrix.streams.labelling import checked_weights, refuse_not_finite
from separatrix.streams.matrix import BatchColumns, float_width

# Batches that wait to be copied. Some take longer than others to read or to sum; with a single one, either thread
# waits for the other more often, and a fit to 20 000 000 rows of 20 columns took up to a fifth longer.
BATCHES_WAITING = 2


class Part(NamedTuple):
    """Consecutive rows: X (m, d), labels as an Arrow array (m,) and weights (m,), each None if not requested."""

    X: Matrix | None
    labels: Any
    weight: Array | None


class PartTable(Protocol):
    """Rows that can be read any number of times, in parts.

    ``description`` says what is read of the source. ``parts_ahead()`` yields the same parts as ``parts()`` and reads
    the next rows in another thread. ``settled(X)`` gives rows of a part all columns, whose number some sources know
    only after they have been read. The other attributes are those of ``Batches``.
    """

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def is_slow(self) -> bool: ...
    @property
    def label_kind(self) -> LabelKind: ...
    @property
    def n_rows(self) -> int | None: ...
    @property
    def stamps(self) -> tuple[Stamp, ...]: ...
    @property
    def description(self) -> str: ...
    def called(self, row: int) -> str: ...
    def parts(self, numbers: bool = True) -> Iterator[Part]: ...
    def parts_ahead(self) -> Generator[Part, None, None]: ...
    def settled(self, X: Any) -> Any: ...


@dataclass(frozen=True)
class BatchTable:
    """The columns of record batches: ``columns`` are those of X, ``target`` and ``weight`` are names or None."""

    batches: Batches
    columns: tuple[str, ...]
    target: str | None
    weight: str | None
    is_sparse: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.batches.name

    @cached_property
    def dtype(self) -> Any:
        return float_width(self.batches.schema, self.columns)

    @property
    def is_slow(self) -> bool:
        return self.batches.is_slow

    @property
    def label_kind(self) -> LabelKind:
        return self.batches.label_kind

    @property
    def n_rows(self) -> int | None:
        return self.batches.n_rows

    @property
    def stamps(self) -> tuple[Stamp, ...]:
        return self.batches.stamps

    @property
    def description(self) -> str:
        """What is read of the files: columns with their types, the target and the weight, and how text is written."""
        schema = self.batches.schema
        chosen = (*self.columns, *(name for name in (self.target, self.weight) if name is not None))
        types = [f"{name!r}: {schema.field(name).type}" for name in chosen]
        return f"{types} target={self.target!r} weight={self.weight!r} {self.batches.spelled}"

    def called(self, row: int) -> str:
        return self.batches.called(row)

    @property
    def _block_rows(self) -> int:
        """The rows of a part: those of a block that is summed, so that blocks need not be copied."""
        return min(MOST_ROWS_PER_BATCH, block_rows(BLOCK_BYTES, len(self.columns)))

    @property
    def _batch_rows(self) -> int:
        """The rows of a batch that is read from the source, of which several fill a part."""
        return min(MOST_ROWS_PER_BATCH, block_rows(min(BLOCK_BYTES, self.batches.batch_bytes), len(self.columns)))

    def settled(self, X: Any) -> Any:
        """X, which has all columns."""
        return X

    def parts(self, numbers: bool = True) -> Iterator[Part]:
        """The rows; without ``numbers`` their labels and weights alone."""
        if numbers:
            yield from self._filled(self._batches_of_rows())
            return
        start = 0
        for batch in self.batches.read(self._label_and_weight_columns):
            yield Part(None, *self._labels_and_weights(batch, start))
            start += batch.num_rows

    def parts_ahead(self) -> Generator[Part, None, None]:
        """The rows. Another thread reads batches; the calling thread copies them into parts.

        Copying takes a quarter of the time, so both threads are busy. Only batches wait in the queue; they are smaller
        than parts.
        """
        with closing(read_ahead(self._batches_of_rows(), BATCHES_WAITING)) as batches:
            yield from self._filled(batches)

    def _batches_of_rows(self) -> Iterator[pa.RecordBatch]:
        return self.batches.read([*self.columns, *self._label_and_weight_columns], self._batch_rows)

    @property
    def _label_and_weight_columns(self) -> list[str]:
        """The columns of labels and weights."""
        return [name for name in (self.target, self.weight) if name is not None]

    def _filled(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Part]:
        """The rows of the batches, copied to parts."""
        filling = _Filling(self, self._block_rows)
        for batch in batches:
            yield from filling.add(batch)
            del batch  # freed before the next one is read
        yield from filling.rest()

    def _labels_and_weights(self, batch: Any, start: int) -> tuple[Any, Array | None]:
        labels = None if self.target is None else self._typed(batch.column(self.target))
        if self.weight is None:
            return labels, None
        return labels, checked_weights(batch.column(self.weight), self.weight, start, self.called)

    @cached_property
    def _label_type(self) -> Any:
        """The type of the labels of all files together."""
        return None if self.target is None else self.batches.schema.field(self.target).type

    def _typed(self, labels: Any) -> Any:
        if labels.type == self._label_type:
            return labels
        values = labels.dictionary_decode() if pa.types.is_dictionary(labels.type) else labels
        with explained(self.name, f"labels of type {self._label_type} in all files"):
            return values.cast(self._label_type)


class _Filling:
    """Fills parts of ``size`` rows with the columns of record batches of any size."""

    def __init__(self, table: BatchTable, size: int) -> None:
        self.table, self.size = table, size
        self.columns = BatchColumns(table.columns, table.dtype)
        self.n_rows = self.filled = 0
        self.X: Array | None = None
        self.others: list[tuple[Any, Array | None]] = []

    def add(self, batch: Any) -> Iterator[Part]:
        """Copy a batch, and give the parts that are full."""
        self.columns.take(batch)
        labels, weight = self.table._labels_and_weights(batch, self.n_rows)
        begin = 0
        while begin < batch.num_rows:
            if self.X is None:
                self.X = np.empty((self.size, len(self.table.columns)), dtype=self.table.dtype)
            end = begin + min(self.size - self.filled, batch.num_rows - begin)
            self._write(begin, self.X[self.filled : self.filled + end - begin])
            self.others.append((_some(labels, begin, end), _some(weight, begin, end)))
            begin = end
            if self.filled == self.size:
                yield from self.rest()
        self.columns.release()

    def rest(self) -> Iterator[Part]:
        """The part that has been begun, if there is one."""
        if self.X is None:
            return
        X, others = self.X[: self.filled], self.others
        self.X, self.filled, self.others = None, 0, []
        labels, weights = zip(*others, strict=True)
        yield Part(X, _together(labels), None if weights[0] is None else np.concatenate(weights))

    def _write(self, begin: int, X: Array) -> None:
        """Copy rows ``begin``, … of the batch to X."""
        table = self.table
        long = (self.n_rows + len(X)) * len(table.columns) >= FEWEST_ENTRIES_TO_COMPILE_SUMS
        if not self.columns.write(begin, X, long):
            refuse_not_finite(X, table.columns, self.n_rows, table.called)
        self.filled += len(X)
        self.n_rows += len(X)


def _some(values: Any, begin: int, end: int) -> Any:
    """Values ``begin`` to ``end`` of an array, if there is one."""
    return values if values is None or end - begin == len(values) else values[begin:end]


def _together(labels: Sequence[Any]) -> Any:
    """Arrow arrays of one type, one after the other."""
    return labels[0] if labels[0] is None or len(labels) == 1 else pa.concat_arrays(labels)
