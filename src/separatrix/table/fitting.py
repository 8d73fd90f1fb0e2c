"""Schema and training rows -> encoder: levels as the schema has them, means of what is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from separatrix.arrays import Array
from separatrix.errors import TableError
from separatrix.table.cells import drop
from separatrix.table.encoder import MISSING, UNSEEN, Encoded, Encoder, Reading, checked
from separatrix.table.schema import Schema


def fit_encoder(
    schema: Schema, table: pa.Table, missing: str = "error", unseen: str = "average", source: str = "the table"
) -> Encoder:
    """The encoder of the schema's columns, with the means of these rows; of all that are kept, if some are dropped.

    >>> from separatrix.table.infer import infer
    >>> table = pa.table({"age": [20.0, None, 40.0], "sex": ["f", "m", "f"]})
    >>> [column.fill for column in fit_encoder(infer(table), table, missing="impute").columns]
    [(30.0,), (0.3333333333333333,)]
    """
    return fit_and_read(schema, table, missing, unseen, source)[0]


def fit_and_read(schema: Schema, table: pa.Table, missing: str, unseen: str, source: str) -> tuple[Encoder, Reading]:
    """The same, and the rows as the encoder reads them."""
    checked("missing", missing, MISSING)
    checked("unseen", unseen, UNSEEN)
    _refuse_text(schema, source)
    columns = tuple(Encoded(column.name, column.kind, column.levels) for column in schema.used)
    if not columns:
        came = "no column is left to learn from" if schema.columns else "there is no column beside the target"
        raise TableError(source, came, _why_none(schema))
    # A first reading with fills of zero: sums of what is known are then sums over all rows.
    zero = tuple(replace(column, fill=(0.0,) * column.values) for column in columns)
    found = Encoder(zero, "drop" if missing == "drop" else "impute", "average").read(table, source)
    unknown = {name: sum(levels.values()) for name, levels in found.unseen.items()}
    fitted, start = [], 0
    for column in columns:
        own = found.X[:, start : start + column.values]
        holes = unknown.get(column.name, 0) + (0 if missing == "drop" else found.missing.get(column.name, 0))
        marked = missing == "indicator" and column.name in found.missing
        fitted.append(replace(column, fill=_means(own, len(own) - holes), indicator=marked))
        start += column.values
    encoder = Encoder(tuple(fitted), missing, unseen)
    _refuse_one_name(encoder, source)
    whole = not found.missing and not found.unseen  # then there was nothing to fill, and X is X
    return encoder, found if whole else encoder.read(table, source)


def _means(X: Array, known: int) -> tuple[float, ...]:
    """Column sums over the rows that are known, scaled where the sum itself would overflow."""
    with np.errstate(over="ignore"):
        total = X.sum(axis=0) / max(known, 1)
    if not np.isfinite(total).all():
        largest = np.maximum(np.abs(X).max(axis=0), 1.0)
        total = (X / largest).sum(axis=0) / max(known, 1) * largest
    return tuple(total.tolist())


def _refuse_text(schema: Schema, source: str) -> None:
    refused = [column for column in schema.columns if column.kind == "text"]
    if not refused:
        return
    first, *rest = refused
    note = first.note or f"its kind is text; leave it out with {drop(first.name)}, or say what it is in the schema"
    came, _, do = note.partition("; ")
    more = f" (and {len(rest)} more: {', '.join(repr(column.name) for column in rest[:8])})" if rest else ""
    raise TableError(source, f"column {first.name!r}: {came}{more}", do or f"leave it out with {drop(first.name)}")


def _why_none(schema: Schema) -> str:
    notes = [f"{column.name!r}: {column.note}" for column in schema.columns if column.note]
    return f"give columns that vary ({'; '.join(notes[:3])})" if notes else "give at least one column to learn from"


def _refuse_one_name(encoder: Encoder, source: str) -> None:
    names = encoder.names
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise TableError(
            source, f"two columns of X would be called {twice!r}", "rename a column of the table, or a level"
        )
