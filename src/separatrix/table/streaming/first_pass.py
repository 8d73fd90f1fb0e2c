"""The first pass over a table: what its columns hold, and its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

from separatrix.base.arrays import Booleans, Integers
from separatrix.base.errors import NoRowsError
from separatrix.table.comma_numbers import settled
from separatrix.table.formats.batched import BatchedSource
from separatrix.table.formats.source import SOME_ROWS
from separatrix.table.schema import Column
from separatrix.table.selection import Selection
from separatrix.table.streaming.batch_column import BatchColumn
from separatrix.table.streaming.passes import Passes, read_batches
from separatrix.table.streaming.streamed_columns import SeenColumn, TextColumn, TypedColumn, seen_column
from separatrix.table.streaming.streamed_labels import SeenTarget, labelled_rows
from separatrix.table.streaming.typed_copy import CopyWriter


@dataclass(frozen=True)
class FirstPass:
    """What the first pass finds: the target's cells, the columns of all rows and those of the rows with a label."""

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
    infinite = tuple(_infinite(name, column) for name, column in zip(question.features, whole.every, strict=True))
    some = whole.signed if whole.target.has_plus_and_minus else whole.labelled
    fewer = decided if some is None else _decided(some)
    found = tuple(pair for pair in infinite if pair[1] >= 0)
    return FirstPass(whole.target, decided, fewer, found, whole.n_rows, whole.files)


def _decided(seen: Columns) -> tuple[Column, ...]:
    """What the columns hold, as ``infer`` decides it."""
    return tuple(settled([column.decided() for column in seen], lambda: any(map(_has_other_numbers, seen))))


def _has_other_numbers(column: SeenColumn) -> bool:
    """Whether a column has numbers that a file with decimal commas would not have."""
    if isinstance(column, TypedColumn):
        return column.kind == "number"
    return isinstance(column, TextColumn) and column.has_points


def _infinite(name: str, column: SeenColumn) -> tuple[str, int]:
    """The number of the first row with an infinite number in a column, −1 if there is none."""
    seen = column.numbers if isinstance(column, TextColumn | TypedColumn) else None
    return name, -1 if seen is None or seen.infinite is None else seen.infinite
