"""Cells of training rows -> encoder: levels as the columns have them, means of what is known.

Cells are numbers, V (n, p), one column of V a column of the table: a value as it is, of a category the number of its
level; NaN where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import TableError
from separatrix.base.messages import Message, joined, reason, remedy
from separatrix.base.watching import Part, watched
from separatrix.table.cells import drop
from separatrix.table.encoder import MISSING, UNSEEN, Encoded, Encoder, checked, refuse_missing
from separatrix.table.schema import Column, Schema


def fit_encoder(
    schema: Schema, table: pa.Table, missing: str = "error", unseen: str = "average", source: str = "the table"
) -> Encoder:
    """The encoder of the schema's columns, with the means of these rows; of all that are kept, if some are dropped.

    >>> from separatrix.table.infer import infer
    >>> table = pa.table({"age": [20.0, None, 40.0], "sex": ["f", "m", "f"]})
    >>> [column.fill for column in fit_encoder(infer(table), table, missing="impute").columns]
    [(30.0,), (0.3333333333333333,)]
    """
    checked("missing", missing, MISSING)
    checked("unseen", unseen, UNSEEN)
    columns = encodable(schema, source)
    V = read_cells(columns, table, source)
    kept = kept_rows(columns, V, missing, source)
    return learned(columns, V, missing, unseen, source, kept)


def encodable(schema: Schema, source: str) -> tuple[Column, ...]:
    """The columns that make X; text, and a table without any, is refused."""
    _refuse_text(schema, source)
    if not schema.used:
        came = "no column is left to learn from" if schema.columns else "there is no column beside the target"
        raise TableError(source, came, _why_none(schema))
    return schema.used


def read_cells(columns: Sequence[Column], table: pa.Table, source: str) -> Array:
    """V (n, p), C order."""
    V, tell = np.empty((table.num_rows, len(columns))), watched()
    for j, column in enumerate(columns):
        if tell is not None:
            tell(Part("as numbers: column", j + 1, len(columns)))
        V[:, j] = Encoded(column.name, column.kind, column.levels).read(table, source)
    return V


def missing_counts(columns: Sequence[Column], V: Array) -> dict[str, int]:
    """How many values are missing, by column, of those that lack any."""
    counts = np.isnan(V).sum(axis=0).tolist()
    return {column.name: count for column, count in zip(columns, counts, strict=True) if count}


def kept_rows(columns: Sequence[Column], V: Array, missing: str, source: str) -> AnyArray:
    """Which rows (n,) are learned from: all, but for ``missing="drop"``; holes are refused by "error"."""
    lacking = missing_counts(columns, V)
    if lacking and missing == "error":
        raise refuse_missing(source, lacking, len(V))
    if missing != "drop":
        return np.ones(len(V), dtype=bool)
    return np.asarray(~np.isnan(V).any(axis=1))


def learned(
    columns: Sequence[Column], V: Array, missing: str, unseen: str, source: str, train: AnyArray | None = None
) -> Encoder:
    """The encoder that the rows ``train`` (n,) of V teach, all if None; a hole there marks its column, if asked.

    >>> V = np.array([[20.0], [40.0], [90.0]])
    >>> learned([Column("age", "number")], V, "impute", "average", "t", np.array([1, 1, 0])).columns[0].fill
    (30.0,)
    """
    rows = np.ones(len(V), dtype=bool) if train is None else np.asarray(train, dtype=bool)
    known = ~np.isnan(V) & rows[:, None]
    means = _means(V, known)
    holes = int(rows.sum()) - known.sum(axis=0)
    fitted = []
    for j, column in enumerate(columns):
        category = column.kind == "category"
        fill = _shares(V[known[:, j], j], len(column.levels)) if category else (means[j],)
        marked = missing == "indicator" and bool(holes[j])
        fitted.append(Encoded(column.name, column.kind, column.levels, fill, marked))
    encoder = Encoder(tuple(fitted), missing, unseen)
    _refuse_one_name(encoder, source)
    return encoder


def _means(V: Array, known: AnyArray) -> list[float]:
    """Column means over what is known, scaled where a sum itself would overflow."""
    counts = np.maximum(known.sum(axis=0), 1)
    with np.errstate(over="ignore"):
        found = V.sum(axis=0, where=known) / counts
    if not np.isfinite(found).all():
        largest = np.abs(V).max(axis=0, where=known, initial=1.0)
        found = (V / largest).sum(axis=0, where=known) / counts * largest
    return [float(mean) for mean in found]


def _shares(v: Array, n_levels: int) -> tuple[float, ...]:
    """Of each level but the first among cells v (m,) that are known; of none at all, zeros."""
    counts = np.bincount(v[v >= 0].astype(np.intp), minlength=n_levels)
    return tuple((counts[1:] / max(int(counts.sum()), 1)).tolist())


def _refuse_text(schema: Schema, source: str) -> None:
    refused = [column for column in schema.columns if column.kind == "text"]
    if not refused:
        return
    first, *rest = refused
    came, do = refusal(first)
    more = f" (and {len(rest)} more: {', '.join(repr(column.name) for column in rest[:8])})" if rest else ""
    raise TableError(source, Message(f"column {first.name!r}: ", came, more), do)


def refusal(column: Column) -> tuple[str, str]:
    """Why nothing can be learned from a column of text, and what to do.

    A note that was inferred says both; one out of a schema is for people.

    >>> came, do = refusal(Column("city", "text", note="asked for"))
    >>> came, str(do)
    ('its kind in the schema is text', "leave it out with drop='city', or say what it holds in the schema")
    """
    if remedy(column.note):
        return reason(column.note), remedy(column.note)
    do = Message("leave it out with ", drop(column.name), ", or say what it holds in the schema")
    return "its kind in the schema is text", do


def _why_none(schema: Schema) -> str:
    notes = [Message(f"{column.name!r}: ", column.note) for column in schema.columns if column.note]
    if not notes:
        return "give at least one column to learn from"
    return Message("give columns that vary (", joined("; ", notes[:3]), ")")


def _refuse_one_name(encoder: Encoder, source: str) -> None:
    names = encoder.names
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise TableError(
            source, f"two columns of X would be called {twice!r}", "rename a column of the table, or a level"
        )
