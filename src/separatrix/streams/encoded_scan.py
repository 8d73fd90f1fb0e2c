"""A table with categories, dates and missing values that is read in batches and encoded as numbers, again in each pass.

``table.streaming`` learns the encoder. Here it turns batches into rows for classifiers: those that are fitted, or those
that are held out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from separatrix.base.arrays import AnyArray, Integers, Matrix
from separatrix.base.cached import cached_property
from separatrix.base.watching import unwatched
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.csr import as_csr, is_sparse
from separatrix.rows.held_out import HeldOut, held_counts
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.streamed import Piece, StreamedRows
from separatrix.streams.memory_limit import LARGEST_MEMORY
from separatrix.streams.streamed_likelihood import sampled_rows
from separatrix.table.formats.batched import BatchedSource
from separatrix.table.streaming.learning import Learned
from separatrix.table.streaming.streamed_table import StreamedTable


@dataclass(frozen=True, eq=False)
class EncodedRows(OutsideMemory):
    """The fitted rows of a table, or those ``held`` out. ``counts``: the kept rows of each label of the table.

    ``memory``: how many bytes a fit may take.
    """

    table: StreamedTable
    learned: Learned
    rule: HeldOut
    counts: Integers
    share: float
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
        parts = (self.table.part(batched), self.learned, self.rule, self.counts, self.share, self.held)
        return EncodedRows(*parts)

    def counted(self) -> Integers:
        """The number of rows of each class, found by reading labels, and cells where rows that lack one are dropped."""
        found = np.zeros(len(self.counts), dtype=np.int64)
        for codes, rows in self.table.kept_codes():
            held = self.rule.held_rows(rows, codes)
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
        held = held_counts(self.counts, self.share) if self.share else np.zeros_like(self.counts)
        rows = (held if self.held else self.counts - held)[self._present]
        return ClassTotals(rows, rows.astype(np.float64), np.where(rows > 0, 1.0, 0.0))

    def pieces(self) -> Iterator[tuple[Matrix, Integers]]:
        """X and the class numbers of consecutive rows."""
        encoder, scaling = self.learned.encoder, self.learned.scaling
        number = np.cumsum(self._present) - 1
        for batch in self.table.labelled_batches([column.name for column in encoder.columns]):
            held = self.rule.held_rows(batch.rows, batch.codes)
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


class CodedPieces(Protocol):
    """A table that gives X and class numbers of consecutive rows."""

    @property
    def name(self) -> str: ...
    @property
    def n_features(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...
    def pieces(self) -> Iterator[tuple[Matrix, Integers]]: ...


@dataclass(frozen=True)
class EncodedSource:
    """The rows as a ``Source``, with the targets and weights of a coding."""

    encoded: CodedPieces
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
    learned = table.learned(rule, standardise)
    fitted = EncodedRows(table, learned, rule, counts, share, memory=memory)
    held = EncodedRows(table, learned, rule, counts, share, held=True, memory=memory) if rule.any_held.any() else None
    return learned, fitted, held
