"""Tables for fitting and for prediction: a source, its schema and its encoder brought together.

read_table     all columns that can be learned from, and the labels
read_rows      the columns of a model, by name
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.errors import ParameterError, TableError
from separatrix.table import select
from separatrix.table.cells import listed, shortened
from separatrix.table.encoder import MISSING, UNSEEN, Encoded, Encoder, Reading, checked
from separatrix.table.fitting import fit_and_read, fit_encoder
from separatrix.table.infer import infer, most_levels
from separatrix.table.labels import labels, refuse_measurements, unlabelled
from separatrix.table.schema import Column, Schema
from separatrix.table.sources import Source, SparseSource, open_source
from separatrix.table.tables import Table


def read_table(
    data: Any,
    target: str | None = None,
    drop: Sequence[str] = (),
    schema: Schema | None = None,
    missing: str = "error",
    unseen: str = "average",
    encoding: str = "utf-8",
) -> Table:
    """The rows of a file or a frame for fitting: X, y, how the columns became X, and notes on all that was left out.

    ``data``: a path (CSV, TSV, Parquet, Arrow, libsvm), a folder or pattern of such, ``-``, ``demo:NAME``, or a frame
    of pandas, polars or PyArrow. ``missing``: "error", "impute" (by means), "indicator" (by means, and marked) or
    "drop" (the row); a row without a label is left out by all but "error".

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 25, 47, 52], "sex": ["f", "m", "f", "m"], "ill": [0, 0, 1, 1]})
    >>> table = read_table(frame, target="ill")
    >>> table.names, table.X[0].tolist(), table.y.tolist()
    (('age', 'sex=m'), [31.0, 0.0], [0, 0, 1, 1])
    """
    checked("missing", missing, MISSING)
    checked("unseen", unseen, UNSEEN)
    source = open_source(data, encoding)
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
    columns = source.read([*select.features_of(source, target, unread), target])
    kept = ~unlabelled(columns.column(target)) if missing != "error" else np.ones(columns.num_rows, dtype=bool)
    if not kept.any():
        raise TableError(source.name, f"no row has a label in the target column {target!r}", "predict another column")
    found = infer(columns, target, given)
    select.refuse_nameless(source, [column.name for column in found.used])
    if not kept.all():
        fit_encoder(found, columns, "impute", "average", source.name)  # a bad cell is named by its row in the source
        columns = columns.filter(pa.array(kept))
        found = infer(columns, target, given)
    y = labels(source.name, columns.column(target), target)
    encoder, reading = fit_and_read(found, columns, missing, unseen, source.name)
    y, rows = y[reading.kept], (np.flatnonzero(kept) + 1)[reading.kept]
    if not len(y):
        came = "no row is left: each lacks a value or its label"
        raise TableError(source.name, came, "choose missing='impute' or 'indicator', or leave columns out with --drop")
    refuse_measurements(source.name, y, target, rows, most_levels(len(y)))
    notes = [
        *source.notes,
        *_odd(found),
        *_filled(reading, missing, "the means of all rows"),
        *_unseen(reading, "the schema does not list"),
    ]
    if not kept.all():
        notes.append(f"Left out, without a label: {_rows(int((~kept).sum()))}.")
    whole = _with_unread(found, source, target)
    return Table(source.name, encoder.names, reading.X, target, y, encoder, whole, tuple(notes), rows, len(kept))


def read_rows(
    data: Any,
    encoder: Encoder | Sequence[str],
    strict: bool = False,
    target: str | None = None,
    labelled: bool = False,
    encoding: str = "utf-8",
    typed: bool = True,
) -> Table:
    """The rows of a file or a frame for prediction: columns by name, in any order, read as in training.

    Names in place of an encoder are columns of numbers. Columns that the model does not know, and levels that it has
    never seen, are said in the notes; ``strict`` refuses them. A row with a missing value is left out where training
    dropped such rows; ``rows`` says which remain. ``target`` may be among the columns; ``labelled`` asks for it, as y;
    not ``typed``, labels that are text stay so.

    >>> table = read_rows(pa.table({"b": [1, 2], "c": ["x", "y"], "a": [3, 4]}), ["a", "b"])
    >>> table.X.tolist(), table.notes
    ([[3.0, 1.0], [4.0, 2.0]], ("Not used, since the model has no such columns: 'c'.",))
    """
    source = open_source(data, encoding)
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
    asked = [select.chosen_target(source, target)] if labelled else []
    if asked and asked[0] in wanted:
        raise ParameterError("--target", f"{asked[0]!r} is a column that the model reads", "name the column of labels")
    columns = source.read([*wanted, *asked])
    reading = (replace(encoder, unseen="error") if strict else encoder).read(columns, source.name)
    y = labels(source.name, columns.column(asked[0]), asked[0], typed)[reading.kept] if asked else None
    rows, n = np.flatnonzero(reading.kept) + 1, columns.num_rows
    notes += [*_filled(reading, encoder.missing, "training means"), *_unseen(reading, "no training row had")]
    return Table(source.name, encoder.names, reading.X, target, y, encoder, None, tuple(notes), rows, n)


def _sparse(source: SparseSource, target: str, drop: Sequence[str]) -> Table:
    if target != source.target:
        raise TableError(source.name, f"its labels are in its first column, not in {target!r}", "leave --target out")
    names = select.features_of(source, target, drop)
    rows = np.arange(1, len(source.labels) + 1)
    refuse_measurements(source.name, source.labels, target, rows, most_levels(len(rows)))
    X = source.matrix(names)
    return Table(source.name, names, X, target, source.labels, None, None, source.notes, rows, len(rows))


def _with_unread(found: Schema, source: Source, target: str) -> Schema:
    """The schema with the columns that were not even read, in the source's order."""
    by_name = {column.name: column for column in found.columns}
    every = (by_name.get(name, Column(name, "ignored", note="left out as asked")) for name in source.names)
    return Schema(tuple(column for column in every if column.name != target), target)


def _odd(schema: Schema) -> list[str]:
    return [
        f"Column {column.name!r} is {'left out' if column.kind == 'ignored' else 'kept'}: {column.note}."
        for column in schema.columns
        if column.note
    ]


def _filled(reading: Reading, missing: str, by: str) -> list[str]:
    if not reading.missing:
        return []
    where = ", ".join(f"{name!r} {count}" for name, count in reading.missing.items())
    if missing == "drop":
        lost = int((~reading.kept).sum())
        return [f"Left out, with a missing value: {_rows(lost)} of {len(reading.kept)} ({where})."]
    return [f"Filled with {by}: missing values in {where}."]


def _unseen(reading: Reading, which: str) -> list[str]:
    return [
        f"Column {name!r} has levels that {which}, in {_rows(sum(levels.values()))}, counted as average: "
        f"{listed([shortened(level) for level in levels])}."
        for name, levels in reading.unseen.items()
    ]


def _rows(n: int) -> str:
    return f"{n} row{'s' * (n != 1)}"
