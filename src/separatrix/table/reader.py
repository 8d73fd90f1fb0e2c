"""Tables for fitting and for prediction: a source, its schema and its encoder brought together.

read_table     all columns that can be learned from, and the labels
read_raw       the same, before anything is learned from values: each fit then learns from its own rows
read_rows      the columns of a model, by name
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import CellError, ParameterError, TableError
from separatrix.base.labels import quoted
from separatrix.base.messages import Message, Setting
from separatrix.table import select
from separatrix.table.cells import listed, shortened
from separatrix.table.encoded_table import Table
from separatrix.table.encoder import (
    MISSING,
    UNKNOWN,
    UNSEEN,
    Encoded,
    Encoder,
    Reading,
    checked,
    counted,
    refuse_unseen,
)
from separatrix.table.fitting import encodable, kept_rows, missing_counts, read_cells
from separatrix.table.formats import Source, SparseSource, Spelling, open_source
from separatrix.table.infer import infer, most_levels
from separatrix.table.raw import RawTable
from separatrix.table.schema import Column, Schema
from separatrix.table.target_column import labels, markers, odd_labels, refuse_measurements, refuse_unlisted, unlabelled

# A cell that is a number with a decimal comma.
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+")


def read_table(
    data: Any,
    target: str | None = None,
    drop: Sequence[str] = (),
    schema: Schema | None = None,
    missing: str = "error",
    unseen: str = "average",
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str = ".",
    max_columns: int | None = None,
    max_unpacked: float | None = None,
) -> Table:
    """The rows of a file or a frame for fitting: X, y, how the columns became X, and notes on all that was left out.

    ``data``: a path (CSV, TSV, Parquet, Arrow, libsvm), a folder or pattern of such, ``-``, ``demo:NAME``, or a frame
    of pandas, polars or PyArrow. ``missing``: "error", "impute" (by means), "indicator" (by means, and marked) or
    "drop" (the row); a row without a label is left out by all but "error". Of text files: ``encoding``, ``delimiter``
    (recognised by the header if None) and ``decimal``, "." or ",". ``max_columns`` of libsvm files and
    ``max_unpacked``, in GB, of compressed ones stand in place of the usual limits, which refuse a small file that makes
    a huge table.

    Levels, references and means are those of all rows: to measure a model on rows held out, fit a pipeline with
    ``TableEncoder`` to the frame itself, which learns them from the rows of each fit.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 25, 47, 52], "sex": ["f", "m", "f", "m"], "ill": [0, 0, 1, 1]})
    >>> table = read_table(frame, target="ill")
    >>> table.names, table.X[0].tolist(), table.y.tolist()
    (('age', 'sex=m'), [31.0, 0.0], [0, 0, 1, 1])
    """
    how = (encoding, delimiter, decimal, max_columns, max_unpacked)
    return read_raw(data, target, drop, schema, missing, unseen, *how).learned()


def read_raw(
    data: Any,
    target: str | None = None,
    drop: Sequence[str] = (),
    schema: Schema | None = None,
    missing: str = "error",
    unseen: str = "average",
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str = ".",
    max_columns: int | None = None,
    max_unpacked: float | None = None,
) -> RawTable:
    """The rows that ``read_table`` reads, before anything is learned from their values.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 25, 47, 52], "sex": ["f", "m", "f", "x"], "ill": [0, 0, 1, 1]})
    >>> read_raw(frame, target="ill").learned(np.array([True, True, True, False])).names
    ('age', 'sex=m')
    """
    checked("missing", missing, MISSING)
    checked("unseen", unseen, UNSEEN)
    source = open_source(data, Spelling(encoding, delimiter, decimal, max_columns, max_unpacked))
    drop = (drop,) if isinstance(drop, str) else tuple(drop)
    if not isinstance(schema, Schema | None):
        do = "give a Schema: read_schema(path), or Schema.from_plain(...)"
        raise ParameterError("schema", f"got {type(schema).__name__}", do)
    given = schema or Schema(())
    target = select.chosen_target(source, given.target if target is None else target, drop)
    for name in given.names:
        select.refuse_unknown(source, name)
    if isinstance(source, SparseSource):
        return _sparse(source, target, drop)
    unread = [*drop, *(column.name for column in given.columns if column.kind == "ignored")]
    features = select.features_of(source, target, unread)
    columns = source.read([*features, target], select.literal(given.columns, target, given.classes))
    kept = (
        ~unlabelled(columns.column(target), given.classes)
        if missing != "error"
        else np.ones(columns.num_rows, dtype=bool)
    )
    if not kept.any():
        raise TableError(
            source.name, f"no row has a label in the target column {quoted(target)}", "predict another column"
        )
    reads = markers(columns.column(target), given.classes)
    said = f", {listed(reads)} among them" if reads else ""
    found = infer(columns, target, given)
    select.refuse_nameless(source, [column.name for column in found.used])
    if not kept.all():
        read_cells(encodable(found, source.name), columns, source.name)  # a bad cell is named by its row in the source
        columns = columns.filter(pa.array(kept))
        found = infer(columns, target, given)
    y = labels(source.name, columns.column(target), target, classes=given.classes)
    refuse_unlisted(source.name, columns.column(target), target, given.classes, np.flatnonzero(kept) + 1)
    used = encodable(found, source.name)
    V = read_cells(used, columns, source.name)
    whole = kept_rows(used, V, missing, source.name)
    y, rows = y[whole], (np.flatnonzero(kept) + 1)[whole]
    if not len(y):
        came = "no row is left: each lacks a value or its label"
        ways = Message("choose ", Setting("missing", "impute", "indicator"))
        raise TableError(source.name, came, Message(ways, ", or leave columns out with ", Setting("drop")))
    refuse_measurements(source.name, y, target, rows, most_levels(len(y)))
    unlisted = _unlisted(used, V, columns, source.name)
    if unlisted and unseen == "error":
        raise refuse_unseen(source.name, unlisted)
    notes = [*source.notes, *_odd(found)]
    if not whole.all():
        notes += _dropped(missing_counts(used, V), whole)
    notes += _unseen(unlisted, "the schema does not list")
    notes += odd_labels(y, target)
    late = [] if kept.all() else [f"Left out, without a label: {_rows(int((~kept).sum()))}{said}."]
    return RawTable(
        source.name,
        V if whole.all() else V[whole],
        y,
        columns=used,
        given=given,
        missing=missing,
        unseen=unseen,
        target=target,
        schema=_with_unread(found, source, target),
        notes=tuple(notes),
        late=tuple(late),
        rows=rows,
        n_rows=len(kept),
    )


def read_rows(
    data: Any,
    encoder: Encoder | Sequence[str],
    strict: bool = False,
    target: str | None = None,
    labelled: bool = False,
    encoding: str = "utf-8",
    typed: bool = True,
    classes: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
    max_columns: int | None = None,
    max_unpacked: float | None = None,
) -> Table:
    """The rows of a file or a frame for prediction: columns by name, in any order, read as in training.

    Names in place of an encoder are columns of numbers. Columns that the model does not know, and levels that it has
    never seen, are said in the notes; ``strict`` refuses them. A row with a missing value is left out where training
    dropped such rows; ``rows`` says which remain. ``target`` may be among the columns; ``labelled`` asks for it, as y;
    not ``typed``, labels that are text stay so; ``classes`` are labels, even where they read as a missing value.

    >>> table = read_rows(pa.table({"b": [1, 2], "c": ["x", "y"], "a": [3, 4]}), ["a", "b"])
    >>> table.X.tolist(), table.notes
    ([[3.0, 1.0], [4.0, 2.0]], ("Not used, since the model has no such columns: 'c'.",))
    """
    source = open_source(data, Spelling(encoding, delimiter, decimal, max_columns, max_unpacked))
    if not isinstance(encoder, Encoder):
        encoder = Encoder(tuple(Encoded(name, "number") for name in encoder))
    wanted = [column.name for column in encoder.columns]
    target = source.target if target is None else target
    known = {*wanted, target, source.target}
    extra = [name for name in source.names if name not in known]
    if extra and strict:
        raise TableError(source.name, f"the model has no columns {listed(extra)}", "take them out")
    notes = [*source.notes]
    if extra:
        notes.append(f"Not used, since the model has no such columns: {listed(extra)}.")
    if isinstance(source, SparseSource):
        X, y = source.matrix(wanted), source.labels if labelled else None
        rows = np.arange(1, X.shape[0] + 1)
        return Table(source.name, tuple(wanted), X, source.target, y, notes=tuple(notes), rows=rows, n_rows=len(rows))
    select.refuse_lacking(source, wanted)
    asked = [select.labels_of(source, target, wanted)] if labelled else []
    if asked and asked[0] in wanted:
        raise ParameterError(
            "target", f"{quoted(asked[0])} is a column that the model reads", "name the column of labels"
        )
    columns = source.read([*wanted, *asked], select.literal(encoder.columns, target, classes))
    try:
        reading = (replace(encoder, unseen="error") if strict else encoder).read(columns, source.name)
    except CellError as error:
        raise TableError(source.name, error.came, _as_fitted(error)) from error
    y = None
    if asked:
        do = "label such rows, or take them out"
        y = labels(source.name, columns.column(asked[0]), asked[0], typed, classes, do)[reading.kept]
    rows, n = np.flatnonzero(reading.kept) + 1, columns.num_rows
    notes += [*_filled(reading, encoder.missing), *_unseen(reading.unseen, "no training row had")]
    return Table(source.name, encoder.names, reading.X, target, y, encoder, None, tuple(notes), rows, n)


def _sparse(source: SparseSource, target: str, drop: Sequence[str]) -> RawTable:
    if target != source.target:
        came = f"its labels are in its first column, not in {quoted(target)}"
        raise TableError(source.name, came, Message("leave ", Setting("target"), " out"))
    names = select.features_of(source, target, drop)
    rows = np.arange(1, len(source.labels) + 1)
    refuse_measurements(source.name, source.labels, target, rows, most_levels(len(rows)))
    X, y = source.matrix(names), source.labels
    return RawTable(source.name, X, y, names, target=target, notes=source.notes, rows=rows, n_rows=len(rows))


def _as_fitted(error: CellError) -> str:
    """What to do with a cell that does not fit the model, whose columns are as they are."""
    if error.cell is not None and _DECIMAL_COMMA.fullmatch(error.cell):
        return Message("for a file with decimal commas give ", Setting("decimal", ","), "; else correct that cell")
    return "correct it: the model needs there what the rows of its fit had"


def _with_unread(found: Schema, source: Source, target: str) -> Schema:
    """The schema with the columns that were not even read, in the source's order."""
    by_name = {column.name: column for column in found.columns}
    every = (by_name.get(name, Column(name, "ignored", note="left out as asked")) for name in source.names)
    return Schema(tuple(column for column in every if column.name != target), target, found.classes)


def _odd(schema: Schema) -> list[str]:
    done = {column.name: "left out" if column.kind == "ignored" else "kept" for column in schema.columns}
    return [
        Message(f"Column {quoted(column.name)} is {done[column.name]}: ", column.note, ".")
        for column in schema.columns
        if column.note
    ]


def _filled(reading: Reading, missing: str) -> list[str]:
    if not reading.missing:
        return []
    if missing == "drop":
        return _dropped(reading.missing, reading.kept)
    where = ", ".join(f"{quoted(name)} {count}" for name, count in reading.missing.items())
    return [f"Filled with training means: missing values in {where}."]


def _dropped(missing: dict[str, int], kept: AnyArray) -> list[str]:
    where = ", ".join(f"{quoted(name)} {count}" for name, count in missing.items())
    return [f"Left out, with a missing value: {_rows(int((~kept).sum()))} of {len(kept)} ({where})."]


def _unlisted(used: Sequence[Column], V: Array, columns: pa.Table, source: str) -> dict[str, dict[str, int]]:
    """Levels that the schema does not list, by column, with how many rows have them."""
    strange = {c.name: V[:, j] == UNKNOWN for j, c in enumerate(used) if c.kind == "category"}
    return {name: counted(columns, name, rows, source) for name, rows in strange.items() if rows.any()}


def _unseen(unseen: dict[str, dict[str, int]], which: str) -> list[str]:
    return [
        f"Column {quoted(name)} has levels that {which}, in {_rows(sum(levels.values()))}, counted as average: "
        f"{listed([shortened(level) for level in levels])}."
        for name, levels in unseen.items()
    ]


def _rows(n: int) -> str:
    return f"{n} row{'s' * (n != 1)}"
