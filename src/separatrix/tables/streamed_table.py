"""A table with labels that is read in batches, and what must be known about it before a fit.

Reading it takes three passes: one for the kinds of the columns and the labels, one for the choice of the held-out rows
of small classes, and one for the levels, means and scales of the rows fitted. A pass is made by this process, or by
others that read a part of the rows each. Text is parsed in the first one only; the others read a copy of what was
parsed (``TypedCopy``). ``read_raw`` does the same with rows in memory.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from separatrix.core.base.arrays import Array, Booleans, Integers
from separatrix.core.base.errors import InputError, NoRowsError, TableError
from separatrix.core.base.files import read_whole, room_for_temporary
from separatrix.core.base.labels import RowNames
from separatrix.core.base.messages import ByAudience, Message, RowNumber, Setting
from separatrix.core.base.watching import Amount, Part, unwatched, watched
from separatrix.core.rows.hold_out import HELD_OUT_STREAM, MOST_RANKED, ClassHashes, HeldOut
from separatrix.tables import learn_encoder
from separatrix.tables import selection as select
from separatrix.tables.encoder import counted, refuse_missing, refuse_unseen
from separatrix.tables.formats.batched import Batch, BatchedSource, refuse_unbatched
from separatrix.tables.formats.source import SOME_ROWS
from separatrix.tables.infer import most_levels
from separatrix.tables.read_table import dropped, odd_columns, refuse_no_rows, unseen_levels, with_unread, without_label
from separatrix.tables.schema import Column, Schema
from separatrix.tables.seen_cells import settled
from separatrix.tables.selection import Selection
from separatrix.tables.streamed_columns import (
    AskedCategory,
    BatchColumn,
    CodedLabels,
    GivenColumn,
    SeenColumn,
    SeenTarget,
    TextColumn,
    TypedColumn,
    labelled_rows,
    seen_column,
)
from separatrix.tables.target_column import refuse_measurements

# --- Passes

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
    literal = select.literal_columns(asked.given.columns, asked.target, asked.given.classes)
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


# --- The copy of a text table


class StoredBatch(NamedTuple):
    """The rows of a batch in the file. ``numbers``: the columns stored as numbers, which come first.

    ``ends``: as in ``Batch``. ``place``: where the columns begin. ``sizes``: the bytes of both streams.
    """

    n_rows: int
    ends: tuple[int, ...]
    numbers: tuple[str, ...]
    place: int
    sizes: tuple[int, int]


class CopyWriter:
    """Writes what the first pass parses to a copy, unless it takes too much of the disk.

    A column whose cells have all been numbers so far is stored as float64 once it has too many different texts to
    become a category. Other cells keep their text, since 007 and 7 differ in a category. If a column that was stored as
    numbers is used otherwise nevertheless, the text is parsed in every pass.

    The file has no name, so it vanishes with the process, however that ends. It holds two Arrow streams for each batch:
    the columns stored as numbers, and the others.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        where = tempfile.gettempdir() if folder is None else folder
        self._batches: list[StoredBatch] = []
        self._size = 0
        self._file: Any = None
        try:
            self._room = room_for_temporary(where)
            self._file = tempfile.TemporaryFile(dir=where, buffering=0)  # noqa: SIM115  closed with this object
        except OSError:
            return
        weakref.finalize(self, self._file.close)

    def add(
        self,
        columns: Sequence[BatchColumn],
        seen: Sequence[SeenColumn],
        target: BatchColumn,
        ends: tuple[int, ...] = (),
    ) -> None:
        """Store a batch. ``seen``: what is known about its ``columns``, with this batch. ``ends``: as in ``Batch``."""
        if self._file is None:
            return
        stored = {column.name: _stored(one, column) for one, column in zip(seen, columns, strict=True)}
        stored[target.name] = target.coded
        numbers = tuple(name for name, content in stored.items() if pa.types.is_floating(content.type))
        others = [name for name in stored if name not in numbers]
        parts = (_stream(stored, numbers), _stream(stored, others))
        sizes = (parts[0].size, parts[1].size)
        try:
            if self._size + sum(sizes) > self._room:
                raise OSError("the copy takes too much of the disk")
            for part in parts:
                _write(self._file, part)
        except OSError:
            self._file.close()
            self._file = None
            return
        if self._batches and self._batches[-1].numbers == numbers:
            numbers = self._batches[-1].numbers  # not stored once more in memory
        self._batches.append(StoredBatch(len(target.cells), ends, numbers, self._size, sizes))
        self._size += sum(sizes)

    def finished(self, columns: Sequence[Column], files: tuple[tuple[str, int], ...], name: str) -> TypedCopy | None:
        """The copy of a table with these columns; None if it is not complete, or lacks texts that are needed."""
        if self._file is None:
            return None
        as_numbers = {name for batch in self._batches for name in batch.numbers}
        if any(column.kind != "number" and column.name in as_numbers for column in columns):
            return None
        return TypedCopy(self, self._file, tuple(self._batches), files, name)


def _stored(seen: SeenColumn, column: BatchColumn) -> Any:
    """A column of a batch as it is stored."""
    if isinstance(seen, TextColumn):
        if seen.texts.is_complete:
            return column.coded
        return column.cells if seen.numbers is None else column.as_numbers
    if isinstance(seen, GivenColumn) and seen.given.kind == "number" and column.numbers is not None:
        return column.as_numbers
    few = isinstance(seen, AskedCategory) or (isinstance(seen, GivenColumn) and seen.given.kind == "category")
    return column.coded if few else column.cells


def _stream(stored: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Some columns as an Arrow stream."""
    sink = pa.BufferOutputStream()
    table = pa.table([stored[name] for name in names], list(names)).combine_chunks()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    return sink.getvalue()


def _write(file: Any, part: Any) -> None:
    rest = memoryview(part)
    while len(rest):
        rest = rest[file.write(rest) :]


@dataclass(frozen=True, eq=False)
class TypedCopy:
    """A complete copy, to be read instead of the text. ``writer`` keeps the file open."""

    writer: CopyWriter
    file: Any
    stored: tuple[StoredBatch, ...]
    files: tuple[tuple[str, int], ...]
    name: str

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """The batches of the first pass, with these columns."""
        start = 0
        for batch in self.stored:
            columns = self._read(batch, names)
            names_of_rows = RowNames(np.arange(start + 1, start + 1 + batch.n_rows), self.files)
            yield Batch(columns, start, names_of_rows, batch.ends)
            start += batch.n_rows
            del columns

    def _read(self, batch: StoredBatch, names: Sequence[str]) -> pa.Table:
        found: dict[str, Any] = {}
        place = batch.place
        numbers = [name for name in names if name in batch.numbers]
        others = [name for name in names if name not in batch.numbers]
        for size, wanted in zip(batch.sizes, (numbers, others), strict=True):
            if wanted:
                table = self._stream(place, size)
                found |= {name: table.column(name) for name in wanted}
            place += size
        return pa.table([found[name] for name in names], list(names))

    def _stream(self, place: int, size: int) -> pa.Table:
        content: Any = np.empty(size, dtype=np.uint8)
        if not read_whole(self.file, content, place):
            problem = "the temporary copy of its rows was cut short while it was in use"
            raise TableError(self.name, problem, "run the fit again")
        return pa.ipc.open_stream(pa.py_buffer(content)).read_all()


# --- The first pass


@dataclass(frozen=True)
class FirstPass:
    """What the first pass finds: the target's cells, the columns of all rows and those of the rows with a label.

    ``infinite``: the columns with infinite numbers, each with the number of the first such row.
    """

    target: SeenTarget
    every: tuple[Column, ...]
    labelled: tuple[Column, ...]
    infinite: tuple[tuple[str, int], ...]
    n_rows: int
    files: tuple[tuple[str, int], ...]


Columns = tuple[SeenColumn, ...]


@dataclass(frozen=True, eq=False)
class Looked:
    """What some rows show: all of them, and those with a label.

    ``labelled`` is None if every row has a label, so that it would be the same as ``every``. ``signed`` is the same
    where − is a label; it is one if + is among the labels of the whole table.
    """

    target: SeenTarget
    every: Columns
    labelled: Columns | None
    signed: Columns | None
    n_rows: int
    files: tuple[tuple[str, int], ...] = ()

    def merge(self, later: Looked) -> Looked:
        """These rows and the ones after them."""
        return Looked(
            self.target.merge(later.target),
            _merged(self.every, later.every),
            self._merged(later, self.labelled, later.labelled),
            self._merged(later, self.signed, later.signed),
            self.n_rows + later.n_rows,
            later.files or self.files,
        )

    def _merged(self, later: Looked, some: Columns | None, more: Columns | None) -> Columns | None:
        if some is None and more is None:
            return None
        return _merged(self.every if some is None else some, later.every if more is None else more)


def _merged(seen: Columns, later: Columns) -> Columns:
    return tuple(one.merge(other) for one, other in zip(seen, later, strict=True))


@dataclass(frozen=True)
class FirstQuestion:
    """What is asked of the first pass: the columns ``features`` and the target."""

    asked: Selection
    features: tuple[str, ...]
    missing: str

    def looked(self, batched: BatchedSource, copy: CopyWriter | None = None) -> Looked:
        """What the rows of a source, or of a part of it, show. What is parsed is written to the ``copy``."""
        asked, source, target = self.asked, self.asked.source.name, self.asked.labels
        by_name = {column.name: column for column in asked.given.columns}
        every: Columns = tuple(
            seen_column(name, by_name.get(name), asked.reference.get(name), source) for name in self.features
        )
        labelled: Columns | None = None
        signed: Columns | None = None
        labels, n, files = SeenTarget(target), 0, tuple[tuple[str, int], ...]()
        for batch in read_batches(asked, batched, [*self.features, target], None):
            columns = [BatchColumn(name, batch.columns.column(name)) for name in self.features]
            cells = BatchColumn(target, batch.columns.column(target))
            with batch.names.in_errors():
                labels = labels.add(cells, batch.start, source)
                before, every = every, _added(every, columns, batch.start)
                known, with_signs = (self._with_label(cells, plus) for plus in (False, True))
                alike = signed is labelled and np.array_equal(known, with_signs)
                labelled = _added_some(before, labelled, columns, batch.start, known)
                signed = labelled if alike else _added_some(before, signed, columns, batch.start, with_signs)
            if copy is not None:
                copy.add(columns, every, cells, batch.ends)
            n, files = n + batch.columns.num_rows, batch.names.files
        return Looked(labels, every, labelled, signed, n, files)

    def _with_label(self, target: BatchColumn, plus: bool) -> Booleans:
        if self.missing == "error":
            return np.ones(len(target.cells), dtype=bool)
        return labelled_rows(target, self.asked.given.classes, plus)


def _added(seen: Columns, columns: Sequence[BatchColumn], start: int | Integers) -> Columns:
    return tuple(one.add(column, start) for one, column in zip(seen, columns, strict=True))


def _added_some(
    every: Columns, some: Columns | None, columns: Sequence[BatchColumn], start: int, chosen: Booleans
) -> Columns | None:
    """What ``some`` rows show, with those of a batch that are ``chosen``; None if all rows so far have been chosen.

    ``every``: what all rows before the batch show.
    """
    if some is None and chosen.all():
        return None
    fewer = columns if chosen.all() else [column.only(chosen) for column in columns]
    return _added(every if some is None else some, fewer, start + np.flatnonzero(chosen))


def first_pass(
    asked: Selection,
    batched: BatchedSource,
    features: Sequence[str],
    missing: str,
    passes: Passes,
    copy: CopyWriter | None = None,
) -> FirstPass:
    """What the columns hold, and the labels. ``copy``: where to write what is parsed, if this process reads it."""
    question = FirstQuestion(asked, tuple(features), missing)
    task = question.looked if copy is None else partial(question.looked, copy=copy)
    whole = reduce(Looked.merge, passes.over(batched, task))
    if not whole.n_rows:
        raise NoRowsError(question.asked.source.name, "it has no rows", SOME_ROWS)
    decided = _decided(whole.every)
    first = [_first_infinite(column) for column in whole.every]
    infinite = tuple((name, row) for name, row in zip(question.features, first, strict=True) if row is not None)
    some = whole.signed if whole.target.has_plus_and_minus else whole.labelled
    fewer = decided if some is None else _decided(some)
    return FirstPass(whole.target, decided, fewer, infinite, whole.n_rows, whole.files)


def _decided(seen: Columns) -> tuple[Column, ...]:
    """What the columns hold, as ``infer`` decides it."""
    return tuple(settled([column.decided() for column in seen], lambda: any(map(_has_other_numbers, seen))))


def _has_other_numbers(column: SeenColumn) -> bool:
    """Whether a column has numbers that a file with decimal commas would not have."""
    if isinstance(column, TypedColumn):
        return column.kind == "number"
    return isinstance(column, TextColumn) and column.texts.about.has_points


def _first_infinite(column: SeenColumn) -> int | None:
    """The number of the first row with an infinite number in a column, if there is one."""
    seen = column.numbers if isinstance(column, TextColumn | TypedColumn) else None
    return None if seen is None else seen.infinite


# --- Streamed tables

# Of the levels, columns and markers that were not expected, at most this many different ones are counted.
MOST_COUNTED = 1000

# Sums over rows, the missing values of each column, by column the rows of each level that the schema does not list, and
# the number of rows of each class that are fitted.
LearnedSums = tuple[learn_encoder.CellSums, Integers, dict[str, dict[str, int]], Integers]


class LabelledBatch(NamedTuple):
    """The rows of a batch that have a label: their columns, class numbers, numbers from 0, names, and ends of parts."""

    columns: pa.Table
    codes: Integers
    rows: Integers
    names: RowNames
    ends: tuple[int, ...]

    def parts(self, rows: Integers) -> Iterator[slice]:
        """Slices of some of its rows, given by their sorted numbers, one for each part of which it was joined."""
        places = [*np.searchsorted(rows, self.ends[:-1]).tolist(), len(rows)]
        return (slice(begin, end) for begin, end in zip([0, *places], places, strict=False))


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """A table whose columns and labels are known. ``columns``: those that become X. ``passes``: who reads it.

    ``fingerprint``: that of its files before they were first read, with which every pass compares them.
    """

    asked: Selection
    batched: BatchedSource
    labels: CodedLabels
    found: Schema
    columns: tuple[Column, ...]
    missing: str
    unseen: str
    n_rows: int
    files: tuple[tuple[str, int], ...]
    passes: Passes = ONE_READER
    fingerprint: str = ""

    @property
    def source(self) -> str:
        return self.batched.name

    @property
    def target(self) -> str:
        return self.asked.labels

    @property
    def schema(self) -> Schema:
        """What all columns hold, with those that are not read."""
        return with_unread(self.found, self.asked.source, self.target)

    @property
    def notes(self) -> list[str]:
        """What was found while reading it, before the encoding was learned."""
        return [*self.asked.source.notes, *odd_columns(self.found)]

    @property
    def late_notes(self) -> list[str]:
        """A note on rows without a label."""
        return without_label(self.labels.n_unlabelled, self.labels.spellings)

    def part(self, batched: BatchedSource) -> StreamedTable:
        """A part of the rows, which the process that is given it reads."""
        return replace(self, batched=batched, passes=ONE_READER)

    def labelled_batches(self, names: Sequence[str]) -> Iterator[LabelledBatch]:
        """The rows that have a label, with these columns."""
        n_rows = None if self.batched.is_part else self.n_rows
        for batch in read_batches(self.asked, self.batched, [*names, self.target], n_rows):
            codes = self.labels.codes(batch.columns.column(self.target))
            known = codes >= 0
            columns = batch.columns.select(list(names))
            rows = batch.start + np.arange(len(codes))
            if known.all():
                yield LabelledBatch(columns, codes, rows, batch.names, batch.ends)
            else:
                some, names_of_rows = columns.filter(pa.array(known)), batch.names[known]
                yield LabelledBatch(some, codes[known], rows[known], names_of_rows, batch.ends)
        if not self.batched.is_part and self.batched.fingerprint != self.fingerprint:
            problem = "it has changed since it was first read"
            raise TableError(self.source, problem, "leave the file unchanged during a fit, and fit again")

    def _cells(self) -> Iterator[tuple[LabelledBatch, Array]]:
        """The rows with a label and their cells V."""
        for batch in self.labelled_batches([column.name for column in self.columns]):
            with batch.names.in_errors(), unwatched():
                V = learn_encoder.read_cells(self.columns, batch.columns, self.source)
            yield batch, V

    def held_out(self, share: float, seed: int) -> tuple[HeldOut, Integers]:
        """The rows to hold out, and the number of rows of each class that are kept."""
        no_pass = self.missing != "drop" and not share
        found = ClassHashes(seed, self.labels.counts, {}) if no_pass else self.class_hashes(seed, HELD_OUT_STREAM)
        refuse_no_rows(self.source, int(found.counts.sum()))
        self._refuse_measurements(found.counts)
        return found.held_out(share), found.counts

    def class_hashes(self, seed: int, stream: int) -> ClassHashes:
        """The number of kept rows of each class, and the hashes of small classes, found in a pass if there are any."""
        counts = self.labels.counts
        if self.missing != "drop" and (counts[counts > 0] > MOST_RANKED).all():
            return ClassHashes(seed, counts, {})
        parts = self.passes.over(self.batched, partial(_class_hashes, self.part(self.batched), seed, stream))
        return reduce(ClassHashes.merge, parts)

    def kept_codes(self) -> Iterator[tuple[Integers, Integers]]:
        """The class numbers and row numbers of the rows that are kept."""
        if self.missing != "drop":
            for batch in self.labelled_batches([]):
                yield batch.codes, batch.rows
            return
        for batch, V in self._cells():
            kept = learn_encoder.without_holes(V, self.missing)
            yield batch.codes[kept], batch.rows[kept]

    def _refuse_measurements(self, counts: Integers) -> None:
        present = counts > 0
        order = np.argsort(self.labels.first_rows[present])
        y, n = self.labels.classes[present][order], int(counts.sum())
        names = RowNames(self.labels.first_rows[present][order] + 1, self.files)
        refuse_measurements(self.source, y, self.target, names, most_levels(n), n)

    def learned(self, rule: HeldOut, standardise: bool) -> tuple[learn_encoder.Learned, Integers]:
        """The encoder of the rows that are not held out, with all notes on the table, and their number by class."""
        parts = self.passes.over(self.batched, partial(_sums, self.part(self.batched), rule))
        sums, lost, strange, counts = reduce(_both, parts)
        holes = learn_encoder.counts_by_name(self.columns, sums.holes)
        if holes and self.missing == "error":
            raise refuse_missing(self.source, holes, sums.n)
        if strange and self.unseen == "error":
            raise refuse_unseen(self.source, strange)
        lesson = learn_encoder.LearnedColumns(self.source, self.columns, self.asked.given, self.missing, self.unseen)
        found = lesson.learned(sums, standardise)
        n = int(self.labels.counts.sum())
        left_out = dropped(learn_encoder.counts_by_name(self.columns, lost), n - sums.n, n)
        listed = unseen_levels(strange, "the schema does not list")
        notes = (*self.notes, *left_out, *listed, *self.labels.notes(), *found.notes, *self.late_notes)
        return replace(found, notes=notes), counts

    def summed(self, rule: HeldOut) -> LearnedSums:
        """The sums over all kept rows, the missing values before rows were dropped, and the levels not listed."""
        total: learn_encoder.CellSums | None = None
        lost = np.zeros(len(self.columns), dtype=np.int64)
        strange: dict[str, dict[str, int]] = {}
        counts = np.zeros(len(self.labels.classes), dtype=np.int64)
        for batch, V in self._cells():
            lost += np.isnan(V).sum(axis=0)
            for name, rows in learn_encoder.unlisted(self.columns, V).items():
                add_counts(strange.setdefault(name, {}), counted(batch.columns, name, rows, self.source))
            kept = learn_encoder.without_holes(V, self.missing)
            codes, numbers, V = batch.codes[kept], batch.rows[kept], V if kept.all() else V[kept]
            fitted = ~rule.held(codes, numbers)
            counts += np.bincount(codes[fitted], minlength=len(counts))
            for part in batch.parts(numbers):
                sums = learn_encoder.CellSums.of(self.columns, V[part], fitted[part])
                total = sums if total is None else total.merge(sums)
        if total is None:  # a part without any row that has a label
            none = np.empty((0, len(self.columns)))
            total = learn_encoder.CellSums.of(self.columns, none, np.zeros(0, dtype=bool))
        return total, lost, strange, counts


def _class_hashes(table: StreamedTable, seed: int, stream: int, part: BatchedSource) -> ClassHashes:
    rest, none = (seed, stream, len(table.labels.classes)), np.empty(0, dtype=np.int64)
    found = (ClassHashes.of(codes, rows, *rest) for codes, rows in table.part(part).kept_codes())
    return reduce(ClassHashes.merge, found, ClassHashes.of(none, none, *rest))


def _sums(table: StreamedTable, rule: HeldOut, part: BatchedSource) -> LearnedSums:
    return table.part(part).summed(rule)


def _both(a: LearnedSums, b: LearnedSums) -> LearnedSums:
    """The sums of both parts of the rows."""
    strange = {name: dict(levels) for name, levels in a[2].items()}
    for name, levels in b[2].items():
        add_counts(strange.setdefault(name, {}), levels)
    return a[0].merge(b[0]), a[1] + b[1], strange, a[3] + b[3]


def streamed_table(
    asked: Selection,
    batched: BatchedSource,
    missing: str,
    unseen: str,
    passes: Passes = ONE_READER,
    folder: Path | None = None,
) -> StreamedTable:
    """Find out what the columns of a table hold, and its labels, in one pass.

    What the pass parses of text is kept in a temporary file in ``folder``, or in the system's folder for such files.
    """
    refuse_unbatched(asked.source)
    source, target, given = asked.source, asked.labels, asked.given
    unread = [*asked.drop, *(column.name for column in given.columns if column.kind == "ignored")]
    features = select.features_of(source, target, unread)
    _refuse_vocabularies(source.name, given)
    fingerprint = batched.fingerprint
    writer = CopyWriter(folder) if batched.is_text and passes.in_this_process else None
    found = first_pass(asked, batched, features, missing, passes, writer)
    names = RowNames.following(0, found.files)
    with names.in_errors():
        every, schema = (Schema(columns, target, given.classes) for columns in (found.every, found.labelled))
        select.refuse_nameless(source, [column.name for column in every.used])
        if missing != "error" and found.target.lacks_labels(given.classes):
            learn_encoder.encodable(every, source.name, missing)
            _refuse_infinite(source.name, found.infinite)
        labels = CodedLabels.of(source.name, found.target, given.classes, missing, names)
        columns = learn_encoder.encodable(schema, source.name, missing)
        _refuse_infinite(source.name, found.infinite)
    parts = (labels, schema, columns, missing, unseen, found.n_rows, found.files)
    copy = None if writer is None else writer.finished(columns, found.files, source.name)
    return StreamedTable(asked, replace(batched, copy=copy), *parts, passes, fingerprint)


def _refuse_infinite(source: str, infinite: Sequence[tuple[str, int]]) -> None:
    for name, row in infinite:
        problem = Message("row ", RowNumber(row + 1), f", column {name!r} is infinite, or too large for a float64")
        raise TableError(source, problem, "give finite numbers, or take the row out")


def _refuse_vocabularies(source: str, given: Schema) -> None:
    """Refuse columns of text with a vocabulary, whose size grows with the number of rows."""
    for column in given.columns:
        if column.kind == "words" and not column.text.hashed:
            problem = f"the vocabulary of column {column.name!r} needs the table in memory, and it does not fit"
            hashed = ByAudience("TextSettings(hashed=True)", shell="--text-hashed")
            raise TableError(source, problem, Message("give ", hashed, ", or raise ", Setting("memory")))


def add_counts(known: dict[str, int], more: Mapping[str, int]) -> None:
    """Add counts by name to those known, of at most MOST_COUNTED different names."""
    for name, n in more.items():
        if name in known or len(known) < MOST_COUNTED:
            known[name] = known.get(name, 0) + n
