"""Read the columns of a fitted model, found by name, for prediction or evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from separatrix.base.errors import CellError, ParameterError, TableError
from separatrix.base.labels import quoted
from separatrix.table import select
from separatrix.table.cells import listed
from separatrix.table.encoded_column import Encoded
from separatrix.table.encoded_table import Table
from separatrix.table.encoder import Encoder, Reading, refuse_unseen
from separatrix.table.formats import Source, SparseSource, Spelling, open_source
from separatrix.table.formats.decimals import about_decimals
from separatrix.table.formats.header import called
from separatrix.table.formats.source import row_names
from separatrix.table.reading_notes import filled, unseen_levels, without_label
from separatrix.table.target_column import labels, markers, rows_with_label
from separatrix.table.text import empty_note


def read_rows(
    data: Any,
    encoder: Encoder | Sequence[str],
    strict: bool = False,
    target: str | None = None,
    labelled: bool = False,
    typed: bool = True,
    classes: Sequence[str] = (),
    **spelling: Any,
) -> Table:
    """Read the rows of a file or a frame for prediction, encoded as in training.

    Columns are found by name, in any order. If ``encoder`` is a list of names, all columns are numbers. The notes name
    columns that the model does not have and levels that no training row had; ``strict`` refuses them. If training
    dropped rows with a missing value, such rows are left out here too, and ``rows`` says which remain.

    The table may hold a column of labels, ``target``. With ``labelled`` it is read as y, and rows without a label are
    left out, with a note. Unless ``typed``, labels that are text stay text. ``classes`` lists labels that count as
    labels even if they read like a missing value. ``spelling`` are the arguments of ``Spelling``.

    >>> table = read_rows(pa.table({"b": [1, 2], "c": ["x", "y"], "a": [3, 4]}), ["a", "b"])
    >>> table.X.tolist(), table.notes
    ([[3.0, 1.0], [4.0, 2.0]], ("Not used, since the model has no such columns: 'c'.",))
    """
    how = Spelling(**spelling)
    source = open_source(data, how)
    asked = asked_columns(source, encoder, strict, target, labelled, classes, how.header)
    encoder, of_labels = asked.encoder, asked.of_labels
    notes = list(asked.notes)
    if isinstance(source, SparseSource):
        return _sparse_rows(source, asked.wanted, labelled, notes)
    columns = source.read(asked.names, asked.literal, select.pointed(encoder.columns))
    names, n = row_names(columns), columns.num_rows
    if of_labels is not None:
        known = rows_with_label(source.name, columns.column(of_labels), of_labels, classes)
        notes += without_label(int((~known).sum()), markers(columns.column(of_labels), classes))
        names, columns = names[known], columns.filter(pa.array(known))
    with names.in_errors():
        reading = as_in_training(encoder, columns, source.name, strict)
        y = None
        if of_labels is not None:
            y = labels(source.name, columns.column(of_labels), of_labels, typed, classes)[reading.kept]
    rows = names[reading.kept]
    notes += notes_on(reading, encoder, "left out" if labelled else "not predicted")
    where = (tuple(notes), rows.numbers, n, None, rows.files, reading.missing)
    return Table(source.name, encoder.names, reading.X, asked.target, y, encoder, None, *where)


@dataclass(frozen=True)
class AskedColumns:
    """The columns of a source that a model reads, and the column of labels, if labels are requested.

    ``target``: the column of labels that the source may have. ``literal``: the columns in which NA is text.
    """

    encoder: Encoder
    of_labels: str | None
    target: str | None
    literal: frozenset[str]
    notes: tuple[str, ...]

    @property
    def wanted(self) -> list[str]:
        """The columns of the model."""
        return [column.name for column in self.encoder.columns]

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return self.wanted if self.of_labels is None else [*self.wanted, self.of_labels]


def asked_columns(
    source: Source,
    encoder: Encoder | Sequence[str],
    strict: bool,
    target: str | None,
    labelled: bool,
    classes: Sequence[str],
    header: bool,
) -> AskedColumns:
    """Find the columns of a model in a source, with the arguments of ``read_rows``."""
    if not isinstance(encoder, Encoder):
        encoder = Encoder(tuple(Encoded(name, "number") for name in encoder))
    wanted = [column.name for column in encoder.columns]
    target = source.target if target is None else called(source, target, header)
    notes = [*source.notes, *_extra_columns(source, {*wanted, target, source.target}, strict)]
    of_labels = None
    if not isinstance(source, SparseSource):
        select.refuse_lacking(source, wanted)
        of_labels = _label_column(source, target, wanted) if labelled else None
    literal = select.literal(encoder.columns, target, classes)
    return AskedColumns(encoder, of_labels, target, frozenset(literal), tuple(notes))


def _sparse_rows(source: SparseSource, wanted: Sequence[str], labelled: bool, notes: Sequence[str]) -> Table:
    """The rows of a libsvm file, whose columns are numbers."""
    names = source.row_names
    where = (tuple(notes), names.numbers, len(names), None, names.files)
    y = source.labels if labelled else None
    return Table(source.name, tuple(wanted), source.matrix(wanted), source.target, y, None, None, *where)


def notes_on(reading: Reading, encoder: Encoder, lost: str) -> list[str]:
    """Notes on missing values, unseen levels and texts without n-grams; ``lost``: what happens to dropped rows."""
    notes = filled(reading, encoder.missing, lost)
    notes += unseen_levels(reading.unseen, "no training row had", encoder.levels_of)
    return [*notes, *(note for name, count in reading.wordless.items() for note in empty_note(name, count))]


def as_in_training(encoder: Encoder, columns: pa.Table, source: str, strict: bool) -> Reading:
    """The columns, encoded as in training. Unseen levels are refused if ``strict``."""
    try:
        reading = encoder.read(columns, source)
    except CellError as error:
        raise TableError(source, error.problem, _as_fitted(error)) from error
    if strict and reading.unseen:
        raise refuse_unseen(source, reading.unseen, encoder.levels_of, asked_by_fit=False)
    return reading


def _extra_columns(source: Source, known: set[str | None], strict: bool) -> list[str]:
    """A note on the columns that the model does not have; an error if ``strict``."""
    extra = [name for name in source.names if name not in known]
    if extra and strict:
        raise TableError(source.name, f"the model has no columns {listed(extra)}", "take them out")
    return [f"Not used, since the model has no such columns: {listed(extra)}."] if extra else []


def _label_column(source: Source, target: str | None, wanted: Sequence[str]) -> str:
    name = select.labels_of(source, target, wanted)
    if name in wanted:
        raise ParameterError("target", f"{quoted(name)} is a column that the model reads", "name the column of labels")
    return name


def _as_fitted(error: CellError) -> str:
    """What to do about a cell that the model cannot read. The kinds of its columns were fixed in training."""
    decimals = None if error.cell is None else about_decimals(error.cell, ".")
    return decimals or "correct it: the column must hold values of the same kind as in training"
