"""Tables with categories, dates and missing values that are read in batches and encoded as numbers, again in each pass.

``StreamedTable`` learns the encoder. ``EncodedRows`` are the rows of a table for classifiers: those that are fitted, or
those that are held out. A cache spares later passes the work of parsing and encoding. ``NewRows`` are rows for a fitted
model, encoded as in training, for predictions and measures.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from separatrix.core.base.arrays import AnyArray, Integers, Matrix
from separatrix.core.base.codec import plain
from separatrix.core.base.files import room_for_temporary
from separatrix.core.base.labels import RowNames, known_codes
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.watching import Part, unwatched, watched
from separatrix.core.rows.block import as_csr, is_sparse
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.hold_out import HeldOut
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.core.rows.streamed import Learnt, Piece, StreamedRows
from separatrix.core.rows.targets import ClassTotals, Coding
from separatrix.tables import selection as select
from separatrix.tables.batches import LARGEST_MEMORY
from separatrix.tables.cache import CacheChoice, CacheFile, CacheWriter, kept_cache, refuse_unwritten, temporary_cache
from separatrix.tables.encoder import EncodedBatch
from separatrix.tables.formats.batched import BatchedSource
from separatrix.tables.learn_encoder import Learned
from separatrix.tables.read_table import AskedColumns, as_in_training, notes_on, without_label
from separatrix.tables.scan import CachedRows, sampled_rows
from separatrix.tables.streamed_table import MOST_COUNTED, StreamedTable, add_counts
from separatrix.tables.table_parts import Numbering
from separatrix.tables.target_column import labels, markers, unlabelled


@dataclass(frozen=True, eq=False)
class EncodedRows(OutsideMemory):
    """The fitted rows of a table, or those ``held`` out.

    ``counts``: the rows of each label of the table that are kept; ``fitted``: those of them that are fitted.
    ``memory``: how many bytes a fit may take.
    """

    table: StreamedTable
    learned: Learned
    rule: HeldOut
    counts: Integers
    fitted: Integers
    held: bool = False
    memory: float = LARGEST_MEMORY

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the columns of X."""
        return self.learned.encoder.names

    @property
    def name(self) -> str:
        return self.table.source

    @property
    def dtype(self) -> Any:
        return np.float64

    @property
    def is_sparse(self) -> bool:
        """Whether a column of words makes the rows sparse."""
        return any(column.text is not None for column in self.learned.encoder.columns)

    def part(self, batched: BatchedSource) -> EncodedRows:
        """Those of these rows that a part of the table has."""
        return EncodedRows(self.table.part(batched), self.learned, self.rule, self.counts, self.fitted, self.held)

    def counted(self) -> Integers:
        """The number of rows of each class, found by reading labels, and cells where rows that lack one are dropped."""
        found = np.zeros(len(self.counts), dtype=np.int64)
        for codes, rows in self.table.kept_codes():
            held = self.rule.held(codes, rows)
            found += np.bincount(codes[held if self.held else ~held], minlength=len(found))
        return found[self._present]

    @cached_property
    def _present(self) -> AnyArray:
        """Which labels of the table kept rows have: with missing="drop" a label may have none."""
        return np.asarray(self.counts > 0)

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        return self.table.labels.classes[self._present]

    @cached_property
    def totals(self) -> ClassTotals:
        """The number of rows of each class, and as many weights of one."""
        rows = (self.counts - self.fitted if self.held else self.fitted)[self._present]
        return ClassTotals(rows, rows.astype(np.float64), np.where(rows > 0, 1.0, 0.0))

    def pieces(self) -> Iterator[tuple[Matrix, Integers]]:
        """X and the class numbers of consecutive rows."""
        encoder, scaling = self.learned.encoder, self.learned.scaling
        number = np.cumsum(self._present) - 1
        for batch in self.table.labelled_batches([column.name for column in encoder.columns]):
            held = self.rule.held(batch.codes, batch.rows)
            with batch.names.in_errors(), unwatched():
                reading = encoder.read(batch.columns, self.name)
            X = reading.X if scaling is None else scaling.apply(reading.X)
            chosen = (held if self.held else ~held)[reading.kept]
            codes = number[batch.codes[reading.kept]]
            if not chosen.all():
                X, codes = X[chosen], codes[chosen]
            if len(codes):
                yield (as_csr(X) if is_sparse(X) else X), codes

    def rows(self, coding: Coding) -> StreamedRows:
        """The rows with the targets and weights of a coding."""
        return sampled_rows(EncodedSource(self, coding), self, coding, self.memory)


@dataclass(frozen=True)
class EncodedSource:
    """The rows as a ``Source``, with the targets and weights of a coding."""

    encoded: EncodedRows | LabelledNewRows
    coding: Coding
    reads_ahead: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.encoded.name

    @property
    def n_features(self) -> int:
        return self.encoded.n_features

    @property
    def is_sparse(self) -> bool:
        return self.encoded.is_sparse

    def pieces(self) -> Iterator[Piece]:
        for X, codes in self.encoded.pieces():
            yield Piece(X, *self.coding.of(codes, np.ones(len(codes))))


def split_rows(
    table: StreamedTable, share: float, seed: int, standardise: bool, memory: float = LARGEST_MEMORY
) -> tuple[Learned, EncodedRows, EncodedRows | None]:
    """Hold out a share of each class and learn the encoder of the other rows; None if no row is held out."""
    rule, counts = table.held_out(share, seed)
    learned, fitted = table.learned(rule, standardise)
    rows = EncodedRows(table, learned, rule, counts, fitted, memory=memory)
    return learned, rows, replace(rows, held=True) if (fitted < counts).any() else None


@dataclass(frozen=True, eq=False)
class CachedEncodedRows(EncodedRows):
    """Encoded rows that are read from a cache after the first pass."""

    cache: CacheChoice = field(default_factory=CacheChoice)

    @cached_property
    def _file(self) -> CacheFile | None:
        """The cache, which is written when it is first used; None if there is no room for it."""
        try:
            if self.cache.folder is None:
                return temporary_cache("", self._write)
            key = self._key
            return kept_cache(self.cache.folder / f"{key}.rows", key, self._write)
        except OSError as error:
            refuse_unwritten(self.cache, error)
            return None

    def _write(self, path: Path, key: str, lasting: bool) -> None:
        with CacheWriter(path, np.float64, lasting) as writer:
            for X, codes in self.pieces():
                writer.add(X, codes, None)
            numbering = Numbering(self.classes, self.totals, np.arange(len(self.classes)))
            writer.finish(key, list(self.columns), numbering)

    @property
    def _key(self) -> str:
        learned, table, rule = self.learned, self.table, self.rule
        rows = (table.batched.fingerprint, table.missing, rule.seed, rule.thresholds.tolist(), self.held)
        content = [rows, plain(learned.encoder), plain(learned.scaling)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]

    def rows(self, coding: Coding) -> StreamedRows:
        """The rows with the targets and weights of a coding, from the cache if there is one."""
        file = self._file
        source = EncodedSource(self, coding) if file is None else CachedRows(self.name, file, coding)
        return sampled_rows(source, self, coding, self.memory)


def cached_rows(rows: EncodedRows, cache: Any) -> EncodedRows:
    """The rows with a cache: in a folder, if one is given, or in a temporary file, if the disk has room.

    Sparse rows are encoded again in every pass.
    """
    choice = CacheChoice.of(cache)
    size = rows.n_rows * (8 * rows.n_features + 8)  # at most 8 bytes for a class number
    room = choice.folder is not None or size <= room_for_temporary(tempfile.gettempdir())
    if rows.is_sparse or not choice.allowed or not room:
        return rows
    kept = {name: getattr(rows, name) for name in ("table", "learned", "rule", "counts", "fitted", "held", "memory")}
    return CachedEncodedRows(**kept, cache=choice)


# --- Rows for a fitted model


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
        add_counts(self.missing, later.missing)
        add_counts(self.wordless, later.wordless)
        for name, levels in later.unseen.items():
            add_counts(self.unseen.setdefault(name, {}), levels)
        self.markers.update(later.markers)


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
            n_rows, n_dropped = batch.columns.num_rows, int((~reading.kept).sum())
            self.seen.merge(_Seen(n_rows, 0, n_dropped, reading.missing, reading.unseen, reading.wordless))
            yield NewBatch(self.scaled(reading.X), places[reading.kept], n_rows, y, names[reading.kept])
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
        reading = EncodedBatch(None, kept, seen.missing, seen.unseen, seen.wordless)
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
