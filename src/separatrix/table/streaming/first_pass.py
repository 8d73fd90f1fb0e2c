"""The first pass over a table: what its columns hold, and its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import Booleans
from separatrix.base.errors import NoRowsError
from separatrix.table.formats.batched import Batch, BatchedSource
from separatrix.table.formats.source import SOME_ROWS
from separatrix.table.schema import Column
from separatrix.table.selection import Selection
from separatrix.table.streaming.passes import Passes, read_batches
from separatrix.table.streaming.streamed_columns import SeenColumn, TextColumn, TypedColumn, seen_column
from separatrix.table.streaming.streamed_labels import SeenTarget, labelled_rows


@dataclass(frozen=True)
class FirstPass:
    """What the first pass finds: the target's cells, the columns of all rows and those of the rows with a label."""

    target: SeenTarget
    every: tuple[Column, ...]
    labelled: tuple[Column, ...]
    infinite: tuple[tuple[str, int], ...]
    n_rows: int
    files: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Looked:
    """What some rows show. ``labelled`` is None if every row has a label, so that it would be the same as ``every``."""

    target: SeenTarget
    every: tuple[SeenColumn, ...]
    labelled: tuple[SeenColumn, ...] | None
    n_rows: int
    files: tuple[tuple[str, int], ...] = ()

    @property
    def of_labelled(self) -> tuple[SeenColumn, ...]:
        """What the rows with a label show."""
        return self.every if self.labelled is None else self.labelled

    def merge(self, later: Looked) -> Looked:
        """These rows and the ones after them."""
        labelled = None
        if self.labelled is not None or later.labelled is not None:
            labelled = _merged(self.of_labelled, later.of_labelled)
        target, every = self.target.merge(later.target), _merged(self.every, later.every)
        return Looked(target, every, labelled, self.n_rows + later.n_rows, later.files or self.files)


def _merged(seen: Sequence[SeenColumn], later: Sequence[SeenColumn]) -> tuple[SeenColumn, ...]:
    return tuple(one.merge(other) for one, other in zip(seen, later, strict=True))


@dataclass(frozen=True)
class FirstQuestion:
    """What is asked of the first pass: the columns ``features`` and the target. ``plus``: whether − is a label."""

    asked: Selection
    features: tuple[str, ...]
    missing: str
    plus: bool = False

    def looked(self, batched: BatchedSource) -> Looked:
        """What the rows of a source, or of a part of it, show."""
        asked, source, target = self.asked, self.asked.source.name, self.asked.labels
        by_name = {column.name: column for column in asked.given.columns}
        every: tuple[SeenColumn, ...] = tuple(
            seen_column(name, by_name.get(name), asked.reference.get(name), source) for name in self.features
        )
        labelled: tuple[SeenColumn, ...] | None = None
        labels, n, files = SeenTarget(target), 0, tuple[tuple[str, int], ...]()
        for batch in read_batches(asked, batched, [*self.features, target], None):
            with batch.names.in_errors():
                labels = labels.add(batch.columns.column(target), batch.start, source)
                known = self._with_label(batch)
                before, every = every, self._added(every, batch.columns, batch.start)
                if labelled is not None or not known.all():
                    some = batch.columns if known.all() else batch.columns.filter(pa.array(known))
                    labelled = self._added(
                        before if labelled is None else labelled, some, batch.start + np.flatnonzero(known)
                    )
            n, files = n + batch.columns.num_rows, batch.names.files
        return Looked(labels, every, labelled, n, files)

    def _added(self, seen: Sequence[SeenColumn], columns: pa.Table, start: Any) -> tuple[SeenColumn, ...]:
        return tuple(one.add(columns.column(name), start) for one, name in zip(seen, self.features, strict=True))

    def _with_label(self, batch: Batch) -> Booleans:
        if self.missing == "error":
            return np.ones(batch.columns.num_rows, dtype=bool)
        return labelled_rows(batch.columns.column(self.asked.labels), self.asked.given.classes, self.plus)


def first_pass(
    asked: Selection, batched: BatchedSource, features: Sequence[str], missing: str, passes: Passes
) -> FirstPass:
    """What the columns hold, and the labels. A second pass is needed where − turns out to be a label."""
    found = _answered(FirstQuestion(asked, tuple(features), missing), batched, passes)
    if missing != "error" and found.target.has_plus_and_minus:  # − has been taken for a missing label.
        return _answered(FirstQuestion(asked, tuple(features), missing, plus=True), batched, passes)
    return found


def _answered(question: FirstQuestion, batched: BatchedSource, passes: Passes) -> FirstPass:
    whole = reduce(Looked.merge, passes.over(batched, partial(FirstQuestion.looked, question)))
    if not whole.n_rows:
        raise NoRowsError(question.asked.source.name, "it has no rows", SOME_ROWS)
    decided = tuple(column.decided() for column in whole.every)
    infinite = tuple(_infinite(name, column) for name, column in zip(question.features, whole.every, strict=True))
    fewer = decided if whole.labelled is None else tuple(column.decided() for column in whole.labelled)
    found = tuple(pair for pair in infinite if pair[1] >= 0)
    return FirstPass(whole.target, decided, fewer, found, whole.n_rows, whole.files)


def _infinite(name: str, column: SeenColumn) -> tuple[str, int]:
    """The number of the first row with an infinite number in a column, −1 if there is none."""
    seen = column.numbers if isinstance(column, TextColumn | TypedColumn) else None
    return name, -1 if seen is None or seen.infinite is None else seen.infinite
