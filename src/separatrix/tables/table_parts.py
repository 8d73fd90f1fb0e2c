"""A table in parts: rows X with their labels and weights, from any kind of source.

While the rows are read for the first time, labels are numbered in the order in which they appear. Afterwards they are
sorted, and ``Numbering`` turns the first numbers into class numbers. ``BatchTable`` copies the columns of record
batches into rows of X, in parts of one block. If the user has listed the classes, labels are numbered and counted in
the first pass over the rows (``ListedClasses``).
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.core.base.arrays import AnyArray, Array, Integers, Matrix
from separatrix.core.base.errors import LabelError, NotFiniteError, TableError, WeightError
from separatrix.core.base.labels import as_label_array, encode, quoted
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import read_ahead
from separatrix.core.rows.block import block_rows
from separatrix.core.rows.column_statistics import FEWEST_ENTRIES_TO_COMPILE_SUMS
from separatrix.core.rows.protocol import BLOCK_BYTES
from separatrix.core.rows.targets import ClassTotals, refuse_extreme_weights
from separatrix.core.rows.views import MOST_NAMED_COLUMNS
from separatrix.tables.batches import MOST_ROWS_PER_BATCH, Batches, LabelKind, Stamp, explained
from separatrix.tables.cells import is_number, is_text
from separatrix.tables.target_column import labels as read_labels
from separatrix.tables.target_column import unlabelled

# --- Labels and weights

# A column with more different values than this does not hold classes.
MOST_LABELS = 10_000
# Whole numbers in a range of at most this many are not searched for those that occur.
WIDEST_RANGE = 64


@dataclass(frozen=True)
class Numbering:
    """The sorted ``classes``, the totals of each, and the class of each label in the order of appearance, (labels,).

    ``labels`` are these labels as the source has them, such as the text "1" for the class 1.
    """

    classes: AnyArray
    totals: ClassTotals
    numbers: Integers
    labels: tuple[Any, ...] = ()

    @property
    def is_identity(self) -> bool:
        """Whether labels appeared in the order of their classes."""
        return bool(np.array_equal(self.numbers, np.arange(len(self.numbers))))

    def codes(self, column: Any, source: str) -> Integers:
        """The class numbers of rows that are read again. All their labels must be known."""
        values, index = _distinct(column)
        known = dict(zip(self.labels, self.numbers.tolist(), strict=True))
        strange = next((k for k, value in enumerate(values) if value not in known and (index == k).any()), None)
        if strange is not None or column.null_count:
            what = "an empty label" if strange is None else f"the label {values[strange]!r}"
            problem = f"it has {what} now, which it had not when it was first read"
            raise TableError(source, problem, "leave the source unchanged during a fit")
        place = np.array([known.get(value, -1) for value in values], dtype=np.int64)
        return np.asarray(place[index])


@dataclass(frozen=True)
class LabelColumn:
    """Where labels are: the name of their column, or None, and all labels if the user has listed them."""

    column: str | None
    given: AnyArray | None

    def labelling(self, table: PartTable) -> Labelling | None:
        """A new object that numbers the labels of a table; None if it has no labels."""
        if self.column is None:
            return None
        return Labelling(table.name, self.column, table.called, self.given, table.label_kind)


class Labelling:
    """Numbers the labels of a column in the order of their appearance, and sums the weights of each.

    ``kind``: what labels look like in the source. ``given``: all labels, if the user has listed them. ``called(row)``
    is the name of a row.
    """

    def __init__(
        self,
        source: str,
        column: str,
        called: Callable[[int], str],
        given: AnyArray | None = None,
        kind: LabelKind = "typed",
    ) -> None:
        self.source, self.column, self.called, self.given, self.kind = source, column, called, given, kind
        self.places: dict[Any, int] = {}
        self.first_rows: list[int] = []
        self.among_given: list[int] = []
        self.n_rows = 0
        self.totals = ClassTotals.none(0)
        self.lightest = np.inf

    def codes(self, column: Any, weight: Array | None) -> Integers:
        """The numbers of the labels of the next rows, whose weights are given, or are 1."""
        if column.null_count:
            row = int(compute.index(column.is_null(), True).as_py())
            raise self._without_label(self.n_rows + row)
        values, index = _distinct(column)
        if len(values) > MOST_LABELS:
            raise self._too_many()
        place = np.array([self._place(value, index, k) for k, value in enumerate(values)], dtype=np.int64)
        codes: Integers = place[index] if len(values) else index
        self._count(codes, weight)
        return codes

    def class_numbers(self, column: Any, weight: Array | None) -> Integers:
        """The class numbers of the next rows, if all classes are given. A label that is not among them is refused."""
        codes = self.codes(column, weight)
        return self._place_among_given()[codes]

    def _place(self, value: Any, index: Integers, k: int) -> int:
        place = self.places.get(value)
        if place is not None:
            return place
        first = np.flatnonzero(index == k)[:1]
        if not len(first):  # a level of a dictionary that no row has
            return -1
        row = self.n_rows + int(first[0])
        if value is None or value != value:
            raise self._without_label(row)
        if len(self.places) >= MOST_LABELS:
            raise self._too_many()
        self.places[value] = len(self.places)
        self.first_rows.append(row)
        return self.places[value]

    def _count(self, codes: Integers, weight: Array | None) -> None:
        """Add rows to the totals."""
        self.n_rows += len(codes)
        if weight is not None:
            self.lightest = min(self.lightest, float(weight.min(initial=np.inf)))
        found = ClassTotals.of(codes, np.ones(len(codes)) if weight is None else weight, len(self.places))
        self.totals = self.totals.regrouped(np.arange(len(self.totals.rows)), len(self.places)).merge(found)

    def numbering(self, weighted: bool) -> Numbering:
        """The classes and totals of all rows that have been read."""
        if not self.n_rows:
            raise TableError(self.source, "it has no rows", "give a table with rows of at least two classes")
        if self.given is None:
            classes, numbers = encode(self._labels())
        else:
            classes, numbers = self.given, self._place_among_given()
        totals = self.totals.regrouped(numbers, len(classes))
        heaviest = float(totals.largest.max(initial=0.0))
        refuse_extreme_weights("weight", f"the largest weight of {self.source}", heaviest)
        if weighted and self.lightest == heaviest:
            totals = replace(totals, weight=totals.rows.astype(np.float64) * self.lightest, rest=None)
        return Numbering(classes, totals, numbers, tuple(self.places))

    def _labels(self) -> AnyArray:
        """The labels in the order of appearance."""
        values = list(self.places)
        return self._read_text(values, 0) if self.kind == "text" else self._refuse_fractions(as_label_array(values), 0)

    def _read_text(self, texts: list[str], start: int, typed: bool = True) -> AnyArray:
        """Labels that are text in the source. ``start``: how many labels precede them."""
        column: Any = pa.chunked_array([pa.array(texts, pa.string())])
        given = () if self.given is None else tuple(map(str, self.given.tolist()))
        absent = np.flatnonzero(unlabelled(column, given))
        if len(absent):
            k = int(absent[0])
            raise self._without_label(self.first_rows[start + k], texts[k])
        return read_labels(self.source, column, self.column, typed, given)

    def _refuse_fractions(self, labels: AnyArray, start: int) -> AnyArray:
        if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
            k = int(np.argmax(labels != np.floor(labels)))
            problem = f"row {self.called(self.first_rows[start + k])} is {labels[k]} in column {quoted(self.column)}"
            raise LabelError("target", problem, "give a column of classes, not of measurements")
        return labels.astype(np.int64) if self.kind == "number" and np.all(np.abs(labels) < 2**53) else labels

    def _place_among_given(self) -> Integers:
        """The place of each label among the given classes. New labels are looked up one by one.

        So it does not matter for the meaning of a label which others have been read.
        """
        assert self.given is not None
        known = len(self.among_given)
        if known < len(self.places):
            position = {label: k for k, label in enumerate(self.given.tolist())}
            for k, value in enumerate(list(self.places)[known:], known):
                if self.kind == "text":  # classes that are text are compared as text
                    label = self._read_text([value], k, typed=self.given.dtype.kind in "biuf").tolist()[0]
                else:
                    label = self._refuse_fractions(as_label_array([value]), k).tolist()[0]
                if label not in position:
                    row = self.called(self.first_rows[k])
                    problem = f"row {row} has the label {label!r} in column {quoted(self.column)}"
                    raise LabelError("classes", problem, f"list all labels; got {list(position)}")
                self.among_given.append(position[label])
        return np.array(self.among_given, dtype=np.int64)

    def _without_label(self, row: int, text: str | None = None) -> LabelError:
        reads = f": it reads {text!r}" if text else ""
        problem = f"row {self.called(row)} has no label in column {quoted(self.column)}{reads}"
        return LabelError("target", problem, "label such rows, or remove them")

    def _too_many(self) -> LabelError:
        problem = f"column {quoted(self.column)} of {self.source} has more than {MOST_LABELS} different values"
        return LabelError("target", problem, "give a column of classes")


def _distinct(column: Any) -> tuple[list[Any], Integers]:
    """The different values of a column without nulls, and for each row the place of its value among them.

    For whole numbers in a small range these are all numbers of the range: finding the different ones takes longer.
    """
    if pa.types.is_integer(column.type) and len(column) and not column.null_count:
        numbers = column.to_numpy(zero_copy_only=False)
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < WIDEST_RANGE:
            return list(range(low, high + 1)), (numbers - numbers.dtype.type(low)).astype(np.int64)
    coded = column if pa.types.is_dictionary(column.type) else compute.dictionary_encode(column)
    values: list[Any] = coded.dictionary.to_pylist()
    return values, np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def refuse_no_labels(source: str, column: str, kind: Any) -> None:
    """Raise an error if a column of this type cannot hold labels."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (is_text(inner) or pa.types.is_integer(inner) or pa.types.is_boolean(inner) or pa.types.is_floating(inner)):
        problem = f"target column {column!r} holds {kind}, which cannot be labels"
        raise TableError(source, problem, "turn it into text or whole numbers")


def checked_weights(column: Any, name: str, start: int, called: Callable[[int], str]) -> Array:
    """A column of weights as numbers, which must be finite and not negative. ``start``: the number of its first row."""
    weight = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        row = called(start + int(wrong[0]))
        problem = f"row {row} has the weight {weight[wrong[0]]} in column {quoted(name)}"
        raise WeightError("weight", problem, "give finite weights that are not negative")
    return weight


def refuse_not_finite(X: Any, columns: Any, start: int, called: Callable[[int], str]) -> None:
    """Raise an error that names the first entry of dense rows X (m, d) that is missing, NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(X).ravel())
    if not len(bad):
        return
    row, column = divmod(int(bad[0]), X.shape[1])
    what = "missing or NaN" if np.isnan(X[row, column]) else "infinite"
    problem = f"row {called(start + row)} is {what} in column {columns[column]!r}"
    remedy = "fill or remove such rows before, or leave the column out with drop"
    raise NotFiniteError("X", problem, remedy)


# --- Numbers


def refuse_other_types(source: str, schema: pa.Schema, columns: Sequence[str], has_target: bool) -> None:
    """Raise an error that names the columns that do not hold numbers or truth values."""
    kinds = {name: schema.field(name).type for name in columns}
    others = [name for name, kind in kinds.items() if not (is_number(kind) or pa.types.is_boolean(kind))]
    if not others:
        return
    problem, remedy = (_one_other_type if len(others) == 1 else _several_other_types)(schema, others, has_target)
    raise TableError(source, problem, remedy)


def _one_other_type(schema: pa.Schema, others: Sequence[str], has_target: bool) -> tuple[str, str]:
    """The problem and the remedy if one column does not hold numbers."""
    name = quoted(others[0])
    problem = f"column {name} holds {schema.field(others[0]).type}, not numbers"
    remedy = f"leave it out with drop={name}, or turn it into numbers first, as TableEncoder does in memory"
    return problem, remedy if has_target else f"if it has the labels, name it with target={name}; otherwise {remedy}"


def _several_other_types(schema: pa.Schema, others: Sequence[str], has_target: bool) -> tuple[str, str]:
    """The problem and the remedy if several columns do not hold numbers."""
    shown, left = others[:MOST_NAMED_COLUMNS], len(others) - MOST_NAMED_COLUMNS
    named = ", ".join(f"{quoted(name)} ({schema.field(name).type})" for name in shown)
    problem = f"columns do not hold numbers: {named}{f' and {left} more' if left > 0 else ''}"
    drop = f"[{', '.join(map(quoted, shown))}{', ...' if left > 0 else ''}]"
    remedy = f"leave them out with drop={drop}, or turn them into numbers first, as TableEncoder does in memory"
    if has_target:
        return problem, remedy
    return problem, f"if one of them has the labels, name it, as with target={quoted(others[0])}; otherwise {remedy}"


class BatchColumns:
    """The columns of record batches, one batch after the other, from which rows of X are written.

    What does not change from batch to batch is found once, since Arrow's functions take a microsecond or two for every
    column, and a batch has few rows.
    """

    def __init__(self, columns: Sequence[str], dtype: Any) -> None:
        self.columns, self.dtype = columns, np.dtype(dtype)
        self.schema: pa.Schema | None = None
        self.places: list[int] = []
        self.plain_places = np.empty(0, dtype=np.int64)
        self.batch: Any = None
        self.addresses: Integers | None = None
        self.kept: list[Any] = []

    def take(self, batch: pa.RecordBatch) -> None:
        """Make this batch the one from which rows are written."""
        schema = batch.schema
        if self.schema is None or not schema.equals(self.schema):
            wanted = _ARROW_TYPES[self.dtype]
            self.schema, self.places = schema, [schema.get_field_index(name) for name in self.columns]
            plain = [j if schema.field(j).type == wanted else -1 for j in self.places]
            self.plain_places = np.array(plain, dtype=np.int64)
        self.batch, self.addresses, self.kept = batch, None, []

    def release(self) -> None:
        """Forget the batch, whose memory is then used for the next one."""
        self.batch, self.addresses, self.kept = None, None, []

    def write(self, begin: int, X: Array, compiled: bool) -> bool:
        """Write rows ``begin``, … of the batch to X (m, d), row-major; a missing value is NaN.

        Whether all entries are known to be finite. ``compiled``: by a compiled loop, which takes half the time; loading
        it pays for long tables.
        """
        if not compiled:
            for j, place in enumerate(self.places):
                X[:, j] = _values(self.batch.column(place).slice(begin, len(X)))
            with np.errstate(over="ignore", invalid="ignore"):
                return bool(np.isfinite(X.sum()))
        from separatrix.core.kernels.interleave import interleaved

        if self.addresses is None:
            self.addresses = self._found_addresses()
        return bool(interleaved(self.addresses + begin * self.dtype.itemsize, X))

    def _found_addresses(self) -> Integers:
        """Where the numbers of each column begin in memory, (d,), in the type of X.

        The batch and the converted columns are kept, so that the numbers are not freed before they are read. The batch
        is exported as a whole: asking Arrow for each of 20 columns took more than twice as long.
        """
        from separatrix.core.kernels.interleave import column_addresses

        _, exported = self.batch.__arrow_c_array__()
        self.kept.append(exported)
        found: Integers = column_addresses(_address(exported), self.plain_places, self.dtype.itemsize)
        for j in np.flatnonzero(found == 0).tolist():
            converted = np.ascontiguousarray(_values(self.batch.column(self.places[j])), dtype=self.dtype)
            self.kept.append(converted)
            found[j] = converted.__array_interface__["data"][0]
        return found


_ARROW_TYPES = {np.dtype(np.float64): pa.float64(), np.dtype(np.float32): pa.float32()}
_capsule_address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _address(exported: Any) -> int:
    """The address of the struct that a batch was exported to, in Arrow's C data interface."""
    found: int = _capsule_address(exported, b"arrow_array")
    return found


def _values(column: Any) -> Any:
    """A column as an array of numbers."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)


# --- Parts

# Batches that wait to be copied. Some take longer than others to read or to sum; with a single one, either thread
# waits for the other more often, and a fit to 20 000 000 rows of 20 columns took up to a fifth longer.
BATCHES_WAITING = 2


class TablePart(NamedTuple):
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
    def parts(self, numbers: bool = True) -> Iterator[TablePart]: ...
    def parts_ahead(self) -> Generator[TablePart, None, None]: ...
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
        """float32 if every column is, else float64."""
        kinds = {self.batches.schema.field(name).type for name in self.columns}
        return np.float32 if kinds == {pa.float32()} else np.float64

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

    def parts(self, numbers: bool = True) -> Iterator[TablePart]:
        """The rows; without ``numbers`` their labels and weights alone."""
        if numbers:
            yield from self._filled(self._batches_of_rows())
            return
        start = 0
        for batch in self.batches.read(self._label_and_weight_columns):
            yield TablePart(None, *self._labels_and_weights(batch, start))
            start += batch.num_rows

    def parts_ahead(self) -> Generator[TablePart, None, None]:
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

    def _filled(self, batches: Iterator[pa.RecordBatch]) -> Iterator[TablePart]:
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

    def add(self, batch: Any) -> Iterator[TablePart]:
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

    def rest(self) -> Iterator[TablePart]:
        """The part that has been begun, if there is one."""
        if self.X is None:
            return
        X, others = self.X[: self.filled], self.others
        self.X, self.filled, self.others = None, 0, []
        labels, weights = zip(*others, strict=True)
        yield TablePart(X, _together(labels), None if weights[0] is None else np.concatenate(weights))

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


# --- Classes that the user has listed

# The most parts that are searched for rows of all classes. If a class is missing in them, the labels are read first.
MOST_PARTS_KEPT = 8


@dataclass
class _Begun:
    """A pass that has been begun: its parts so far with their class numbers, and the iterator that gives the others."""

    labelling: Labelling
    others: Iterator[TablePart]
    parts: list[tuple[TablePart, Integers]] = field(default_factory=list)

    def next(self) -> tuple[TablePart, Integers] | None:
        """The next part; None at the end."""
        part = next(self.others, None)
        return None if part is None else (part, self.labelling.class_numbers(part.labels, part.weight))


class ListedClasses:
    """The labels of ``table``, all of which ``labels.given`` lists. ``weighted``: rows have weights.

    They are numbered and counted in the first pass over the rows, so that no pass over the column of labels precedes
    it. Which of the classes have rows must be known before, since classes without rows are left out of a fit. The first
    rows usually show all of them. These rows are kept until the first pass, which continues where they end, so that the
    source is opened no more often than there are passes.
    """

    def __init__(self, table: PartTable, labels: LabelColumn, weighted: bool) -> None:
        self.table, self.labels, self.weighted = table, labels, weighted
        self.numbering: Numbering | None = None
        # The pass that has been begun, if there is one. Adding to a deque and taking from it need no lock.
        self._begun: deque[_Begun] = deque(maxlen=1)

    def __getstate__(self) -> dict[str, Any]:
        """Without the pass that has been begun, which belongs to this process."""
        return {"table": self.table, "labels": self.labels, "weighted": self.weighted, "numbering": self.numbering}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["table"], state["labels"], state["weighted"])  # type: ignore[misc]
        self.numbering = state["numbering"]

    def seen_totals(self) -> ClassTotals | None:
        """The totals of the first rows, if these have all classes; None if that is not so, or weights differ."""
        if self.weighted:
            return None
        begun, wanted = self._taken(), set(range(len(self.labels.given)))  # type: ignore[arg-type]
        while wanted != set(begun.labelling.among_given) and len(begun.parts) < MOST_PARTS_KEPT:
            found = begun.next()
            if found is None:
                break
            begun.parts.append(found)
        if wanted != set(begun.labelling.among_given):
            return None
        totals = begun.labelling.numbering(self.weighted).totals
        self._begun.append(begun)
        return totals

    def parts(self) -> Iterator[tuple[TablePart, Integers]]:
        """All parts with their class numbers: the first pass, which continues after the rows that have been kept."""
        begun = self._taken()
        begun.parts.reverse()
        while begun.parts:
            yield begun.parts.pop()
        with closing(read_ahead(iter(begun.next, None))) as others:
            yield from others
        self.numbering = begun.labelling.numbering(self.weighted)

    def _taken(self) -> _Begun:
        """The pass that has been begun, which only one caller gets, or a new one."""
        try:
            return self._begun.pop()
        except IndexError:
            labelling = self.labels.labelling(self.table)
            assert labelling is not None
            return _Begun(labelling, self.table.parts())
