"""Rows for a fitted model that are read in batches and encoded as in training, for predictions and measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Integers, Matrix
from separatrix.base.cached import cached_property
from separatrix.base.labels import known_codes
from separatrix.base.row_names import RowNames
from separatrix.base.watching import Part, unwatched, watched
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.csr import as_csr, is_sparse
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.streamed import Learnt, StreamedRows
from separatrix.streams.encoded_scan import EncodedSource
from separatrix.table import select
from separatrix.table.encoder import Reading
from separatrix.table.formats.batched import BatchedSource
from separatrix.table.new_rows import AskedColumns, as_in_training, notes_on
from separatrix.table.reading_notes import without_label
from separatrix.table.target_column import labels, markers, unlabelled

# Of the levels and markers that were not expected, at most this many different ones are counted.
MOST_COUNTED = 1000


class NewBatch(NamedTuple):
    """X of the rows that are kept, their places in the batch, the number of rows of the batch, labels, and names."""

    X: Any
    places: Integers
    n_rows: int
    y: AnyArray | None
    names: RowNames


@dataclass
class _Seen:
    """What all batches together had: rows, rows without a label or a value, unseen levels."""

    n_rows: int = 0
    n_unlabelled: int = 0
    n_dropped: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, dict[str, int]] = field(default_factory=dict)
    wordless: dict[str, int] = field(default_factory=dict)
    markers: set[str] = field(default_factory=set)

    def merge(self, later: _Seen) -> None:
        """Add what later rows had."""
        self.n_rows += later.n_rows
        self.n_unlabelled += later.n_unlabelled
        self.n_dropped += later.n_dropped
        _count(self.missing, later.missing)
        _count(self.wordless, later.wordless)
        for name, levels in later.unseen.items():
            _count(self.unseen.setdefault(name, {}), levels)
        self.markers.update(later.markers)

    def add(self, reading: Reading) -> None:
        self.n_dropped += int((~reading.kept).sum())
        _count(self.missing, reading.missing)
        _count(self.wordless, reading.wordless)
        for name, levels in reading.unseen.items():
            _count(self.unseen.setdefault(name, {}), levels)


def _count(known: dict[str, int], more: dict[str, int]) -> None:
    for name, n in more.items():
        if name in known or len(known) < MOST_COUNTED:
            known[name] = known.get(name, 0) + n


@dataclass(eq=False)
class NewRows:
    """The rows of a source for a model. ``scaled`` standardises X as in training. ``seen``: what a pass has found."""

    batched: BatchedSource
    asked: AskedColumns
    scaled: Callable[[Any], Any]
    strict: bool = False
    typed: bool = True
    classes: Sequence[str] = ()
    seen: _Seen = field(default_factory=_Seen)

    def batches(self) -> Iterator[NewBatch]:
        """The rows, encoded. ``notes`` are complete after the last batch."""
        asked, source = self.asked, self.batched.name
        tell = None if self.batched.reports_bytes else watched()
        self.seen = _Seen()
        for batch in self.batched.batches(asked.names, asked.literal, select.pointed(asked.encoder.columns)):
            columns, names, places = batch.columns, batch.names, np.arange(batch.columns.num_rows)
            if asked.of_labels is not None:
                known = ~unlabelled(columns.column(asked.of_labels), self.classes)
                if not known.all():
                    self.seen.n_unlabelled += int((~known).sum())
                    self.seen.markers.update(markers(columns.column(asked.of_labels), self.classes)[:MOST_COUNTED])
                    columns, names, places = columns.filter(pa.array(known)), names[known], places[known]
            with names.in_errors(), unwatched():
                reading = as_in_training(asked.encoder, columns, source, self.strict)
                y = None
                if asked.of_labels is not None:
                    column = columns.column(asked.of_labels)
                    y = labels(source, column, asked.of_labels, self.typed, self.classes)[reading.kept]
            self.seen.add(reading)
            self.seen.n_rows += batch.columns.num_rows
            yield NewBatch(self.scaled(reading.X), places[reading.kept], batch.columns.num_rows, y, names[reading.kept])
            if tell is not None:
                tell(Part("rows read:", self.seen.n_rows))

    def part(self, batched: BatchedSource) -> NewRows:
        """The rows of a part of the source."""
        return replace(self, batched=batched, seen=_Seen())

    @property
    def notes(self) -> list[str]:
        """What was found in the batches that have been read."""
        seen, encoder = self.seen, self.asked.encoder
        kept = np.ones(seen.n_rows - seen.n_unlabelled, dtype=bool)
        kept[: seen.n_dropped] = False
        reading = Reading(None, kept, seen.missing, seen.unseen, seen.wordless)
        lost = "left out" if self.asked.of_labels is not None else "not predicted"
        unlabelled_note = without_label(seen.n_unlabelled, sorted(seen.markers))
        return [*self.asked.notes, *unlabelled_note, *notes_on(reading, encoder, lost)]


@dataclass(frozen=True, eq=False)
class LabelledNewRows(OutsideMemory):
    """New rows with labels, for measures. ``model_classes`` are the labels of the model."""

    source: NewRows
    model_classes: AnyArray
    checked: Callable[[NewBatch], None]

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the columns of X."""
        return self.source.asked.encoder.names

    @property
    def name(self) -> str:
        return self.source.batched.name

    @property
    def dtype(self) -> Any:
        return np.float64

    @property
    def classes(self) -> AnyArray:
        return self.model_classes

    @cached_property
    def totals(self) -> ClassTotals:
        """The number of rows of each class, found in a pass in which all labels are checked."""
        rows = self.counted()
        return ClassTotals(rows, rows.astype(np.float64), np.where(rows > 0, 1.0, 0.0))

    def part(self, batched: BatchedSource) -> LabelledNewRows:
        """The rows of a part of the source."""
        return replace(self, source=self.source.part(batched))

    def counted(self) -> Integers:
        """The number of rows of each class, found in a pass in which all labels are checked."""
        rows = np.zeros(len(self.model_classes), dtype=np.int64)
        for batch in self.source.batches():
            self.checked(batch)
            rows += np.bincount(known_codes(batch.y, self.model_classes), minlength=len(rows))
        return rows

    @property
    def n_features(self) -> int:
        return len(self.columns)

    @property
    def is_sparse(self) -> bool:
        return any(column.text is not None for column in self.source.asked.encoder.columns)

    def pieces(self) -> Iterator[tuple[Matrix, Integers]]:
        """X and the class numbers of consecutive rows."""
        for batch in self.source.batches():
            if len(batch.places):
                X: Matrix = as_csr(batch.X) if is_sparse(batch.X) else batch.X
                yield X, known_codes(batch.y, self.model_classes)

    def rows(self, coding: Coding) -> StreamedRows:
        """The rows with the targets and weights of a coding."""
        learnt, frame = Learnt(self.n_rows), Frame.identity(self.n_features)
        return StreamedRows(EncodedSource(self, coding), frame, weight_unit=coding.unit, learnt=learnt)
