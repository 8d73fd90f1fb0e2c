"""A table with labels that is read in batches, and what must be known about it before a fit.

Reading it takes three passes: one for the kinds of the columns and the labels, one for the choice of the held-out rows,
and one for the levels, means and scales of the rows fitted. Text is parsed in the first one only; the others read a
copy of what was parsed (``typed_copy``). ``read_raw`` does the same with rows in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import TableError
from separatrix.base.messages import ByAudience, Message, RowNumber, Setting
from separatrix.base.row_names import RowNames, RowsFrom
from separatrix.base.watching import unwatched
from separatrix.rows.held_out import HELD_OUT_STREAM, HashWindows, HeldOut
from separatrix.rows.row_hash import row_hashes
from separatrix.table import select
from separatrix.table.encoder import counted, refuse_missing, refuse_unseen
from separatrix.table.fitting import encodable, read_cells
from separatrix.table.formats.batched import BatchedSource, refuse_unbatched
from separatrix.table.infer import most_levels
from separatrix.table.reader import refuse_no_rows, with_unread
from separatrix.table.reading_notes import dropped, odd_columns, unseen_levels, without_label
from separatrix.table.schema import Column, Schema
from separatrix.table.selection import Selection
from separatrix.table.streaming.first_pass import first_pass
from separatrix.table.streaming.learning import Learned, Lesson, Sums, unlisted, with_names, without_holes
from separatrix.table.streaming.passes import ONE_READER, Passes, read_batches
from separatrix.table.streaming.streamed_labels import Labels
from separatrix.table.streaming.typed_copy import CopyWriter
from separatrix.table.target_column import refuse_measurements

# Of the levels that the user's schema does not list, at most this many different ones are counted for each column.
MOST_UNLISTED_LEVELS = 1000


# Sums over rows, the missing values of each column, and by column the rows of each level that the schema does not list.
LearnedSums = tuple[Sums, Integers, dict[str, dict[str, int]]]


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
    labels: Labels
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
                V = read_cells(self.columns, batch.columns, self.source)
            yield batch, V

    def held_out(self, share: float, seed: int) -> tuple[HeldOut, Integers]:
        """The rows to hold out, and the number of rows of each class that are kept."""
        if self.missing != "drop" and not share:
            counts, windows = self.labels.counts, HashWindows(share)
        else:
            parts = self.passes.over(self.batched, partial(_kept, self.part(self.batched), share, seed))
            counts, windows = reduce(lambda a, b: (a[0] + b[0], a[1].merge(b[1])), parts)
        refuse_no_rows(self.source, int(counts.sum()))
        self._refuse_measurements(counts)
        if not share:
            return HeldOut(np.zeros(len(counts), dtype=np.uint64), np.zeros(len(counts), dtype=bool), seed), counts
        return windows.chosen(counts, seed), counts

    def kept_counts(self, share: float, seed: int) -> tuple[Integers, HashWindows]:
        """The kept rows of each class, and the hashes that decide which of them are held out."""
        counts, windows = np.zeros(len(self.labels.classes), dtype=np.int64), HashWindows(share)
        for codes, rows in self.kept_codes():
            counts += np.bincount(codes, minlength=len(counts))
            windows = _with_hashes(windows, codes, rows, seed) if share else windows
        return counts, windows

    def kept_codes(self) -> Iterator[tuple[Integers, Integers]]:
        """The class numbers and row numbers of the rows that are kept."""
        if self.missing != "drop":
            for batch in self.labelled_batches([]):
                yield batch.codes, batch.rows
            return
        for batch, V in self._cells():
            kept = without_holes(V, self.missing)
            yield batch.codes[kept], batch.rows[kept]

    def _refuse_measurements(self, counts: Integers) -> None:
        present = counts > 0
        order = np.argsort(self.labels.first_rows[present])
        y, n = self.labels.classes[present][order], int(counts.sum())
        names = RowNames(self.labels.first_rows[present][order] + 1, self.files)
        refuse_measurements(self.source, y, self.target, names, most_levels(n), n)

    def learned(self, held: HeldOut, standardise: bool) -> Learned:
        """The encoder of the rows that are not held out, with all notes on the table."""
        parts = self.passes.over(self.batched, partial(_sums, self.part(self.batched), held))
        sums, lost, strange = reduce(_both, parts)
        holes = with_names(self.columns, sums.holes)
        if holes and self.missing == "error":
            raise refuse_missing(self.source, holes, sums.n)
        if strange and self.unseen == "error":
            raise refuse_unseen(self.source, strange)
        lesson = Lesson(self.source, self.columns, self.asked.given, self.missing, self.unseen)
        found = lesson.learned(sums, standardise)
        n = int(self.labels.counts.sum())
        left_out = dropped(with_names(self.columns, lost), n - sums.n, n)
        listed = unseen_levels(strange, "the schema does not list")
        notes = (*self.notes, *left_out, *listed, *self.labels.notes(), *found.notes, *self.late_notes)
        return replace(found, notes=notes)

    def summed(self, held: HeldOut) -> LearnedSums:
        """The sums over all kept rows, the missing values before rows were dropped, and the levels not listed."""
        total: Sums | None = None
        lost = np.zeros(len(self.columns), dtype=np.int64)
        strange: dict[str, dict[str, int]] = {}
        for batch, V in self._cells():
            lost += np.isnan(V).sum(axis=0)
            for name, rows in unlisted(self.columns, V).items():
                _count(strange.setdefault(name, {}), counted(batch.columns, name, rows, self.source))
            kept = without_holes(V, self.missing)
            numbers, V = batch.rows[kept], V if kept.all() else V[kept]
            fitted = ~held.held_rows(numbers, batch.codes[kept])
            for part in batch.parts(numbers):
                sums = Sums.of(self.columns, V[part], fitted[part])
                total = sums if total is None else total.merge(sums)
        if total is None:  # a part without any row that has a label
            none = np.empty((0, len(self.columns)))
            total = Sums.of(self.columns, none, np.zeros(0, dtype=bool))
        return total, lost, strange


def _kept(table: StreamedTable, share: float, seed: int, part: BatchedSource) -> tuple[Integers, HashWindows]:
    return table.part(part).kept_counts(share, seed)


def _sums(table: StreamedTable, held: HeldOut, part: BatchedSource) -> LearnedSums:
    return table.part(part).summed(held)


def _both(a: LearnedSums, b: LearnedSums) -> LearnedSums:
    """The sums of both parts of the rows."""
    strange = {name: dict(levels) for name, levels in a[2].items()}
    for name, levels in b[2].items():
        _count(strange.setdefault(name, {}), levels)
    return a[0].merge(b[0]), a[1] + b[1], strange


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
    names = RowsFrom.of(0, found.files)
    with names.in_errors():
        every, schema = (Schema(columns, target, given.classes) for columns in (found.every, found.labelled))
        select.refuse_nameless(source, [column.name for column in every.used])
        if missing != "error" and found.target.lacks_labels(given.classes):
            encodable(every, source.name, missing)
            _refuse_infinite(source.name, found.infinite)
        labels = Labels.of(source.name, found.target, given.classes, missing, names)
        columns = encodable(schema, source.name, missing)
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


def _with_hashes(windows: HashWindows, codes: Integers, rows: Integers, seed: int) -> HashWindows:
    if not len(rows):
        return windows
    start = int(rows[0])
    hashes = row_hashes(start, int(rows[-1]) - start + 1, seed, HELD_OUT_STREAM)[rows - start]
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    for k in np.unique(codes).tolist():
        windows = windows.add(k, hashes[order[ends[k - 1] if k else 0 : ends[k]]])
    return windows


def _count(known: dict[str, int], more: Mapping[str, int]) -> None:
    for level, n in more.items():
        if level in known or len(known) < MOST_UNLISTED_LEVELS:
            known[level] = known.get(level, 0) + n
