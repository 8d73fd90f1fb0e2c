"""Columns -> arrays: numbers as float64, labels as what they are. Every refusal names the row and the column.

Rows are counted from 1, without the header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.arrays import AnyArray, Array
from separatrix.errors import TableError

Column: TypeAlias = "pa.ChunkedArray[Any]"

_WHOLE = re.compile(r"-?[1-9]\d{0,17}|0")
_DECIMAL = re.compile(r"[-+]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][-+]?\d+)?")
_TRUTH = {"true": True, "false": False}
# Longer labels are kept as objects: a fixed-width array would take four bytes a letter for every row.
_LONGEST_FIXED = 256


@dataclass(frozen=True)
class Table:
    """Rows for a classifier: X (n, d), float64 in C order, of the columns ``names``; y (n,) with a target."""

    source: str
    names: tuple[str, ...]
    X: Array
    target: str | None = None
    y: AnyArray | None = None


def features(source: str, columns: pa.Table, names: Sequence[str]) -> Array:
    """X (n, d) of the columns ``names``, finite throughout.

    >>> features("a table", pa.table({"b": [True, False], "a": [1, 2]}), ["a", "b"]).tolist()
    [[1.0, 1.0], [2.0, 0.0]]
    """
    X = np.empty((columns.num_rows, len(names)), dtype=np.float64)
    missing = np.zeros(len(names), dtype=np.int64)
    first: tuple[int, int] | None = None
    for j, name in enumerate(names):
        X[:, j] = _numbers(source, name, columns.column(name))
        holes = np.isnan(X[:, j])
        missing[j] = holes.sum()
        if missing[j] and (first is None or int(np.argmax(holes)) < first[0]):
            first = (int(np.argmax(holes)), j)
    if first is not None:
        raise _missing(source, first[0], names[first[1]], missing)
    infinite = np.argwhere(np.isinf(X)) if not np.isfinite(X).all() else np.empty((0, 2), dtype=np.int64)
    if len(infinite):
        row, j = infinite[0]
        came = f"row {row + 1}, column {names[j]!r} is infinite, or too large for a float64"
        raise TableError(source, came, "give finite numbers, or take the row out")
    return X


def _missing(source: str, row: int, name: str, missing: AnyArray) -> TableError:
    total, where = int(missing.sum()), int((missing > 0).sum())
    more = f" ({total} values are missing in all, in {where} column{'s' * (where > 1)})" if total > 1 else ""
    came = f"row {row + 1}, column {name!r} has no value{more}"
    return TableError(source, came, f"fill such cells, take the rows out, or leave the column out with {drop(name)}")


def _numbers(source: str, name: str, column: Column) -> Array:
    """The column as float64, NaN where it has no value."""
    kind: Any = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif _is_text(kind):
        column = _parsed(source, name, column)
    elif not (_is_number(kind) or pa.types.is_null(kind)):
        raise TableError(source, f"column {name!r} holds {kind}, not numbers", f"leave it out with {drop(name)}")
    # Whole numbers past 2^53 are rounded to the nearest float64, as their decimal spelling would be.
    cast: Any = column.cast(pa.float64(), safe=False)
    if cast.null_count or not cast.num_chunks:
        return np.asarray(cast.to_numpy(), dtype=np.float64)
    # Where all is well, not ``to_numpy``: it imports pandas if there is one, which takes longer than to predict.
    return np.concatenate([np.from_dlpack(chunk) for chunk in cast.chunks])


def _parsed(source: str, name: str, column: Column) -> Column:
    """Text as numbers, or as truth values where all of it reads true or false."""
    cells: Any = compute.utf8_trim_whitespace(column.cast(pa.string()))
    cells = compute.if_else(compute.equal(cells, pa.scalar("")), None, cells)
    try:
        return cells.cast(pa.float64())  # type: ignore[no-any-return]
    except pa.ArrowInvalid:
        spelled: Any = compute.utf8_lower(cells)
        if set(spelled.unique().to_pylist()) <= {*_TRUTH, None}:
            return compute.equal(spelled, pa.scalar("true")).cast(pa.int8())  # type: ignore[no-any-return]
        row = _first_refused(cells)
        value = _shortened(str(cells[row].as_py()))
        came = f"row {row + 1}, column {name!r} is {value!r}, not a number"
        do = f"leave the column out with {drop(name)}, or turn it into numbers"
        raise TableError(source, came, do) from None


def _first_refused(cells: Any) -> int:
    """The first cell that is no number, by halves, so that the same parser judges."""
    start, stop = 0, len(cells)
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            cells.slice(start, middle - start).cast(pa.float64())
            start = middle
        except pa.ArrowInvalid:
            stop = middle
    return start


def labels(source: str, column: Column, name: str) -> AnyArray:
    """One label a row: text, whole numbers, decimals or truth values; a row without a label is refused.

    Text becomes numbers where all of it reads so; codes such as 007 stay text.

    >>> labels("a table", pa.chunked_array([["7", "-1"]]), "y").tolist()
    [7, -1]
    >>> labels("a table", pa.chunked_array([["007", "7"]]), "y").tolist()
    ['007', '7']
    """
    kind: Any = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    known: Any = column.is_valid()
    if pa.types.is_floating(kind):
        known = compute.and_(known, compute.invert(column.is_nan()))
    absent = np.flatnonzero(~np.asarray(known.to_numpy(), dtype=bool))
    if len(absent):
        more = f" ({len(absent)} rows have none)" if len(absent) > 1 else ""
        came = f"row {absent[0] + 1}, target column {name!r} has no label{more}"
        raise TableError(source, came, "label such rows, or take them out")
    if _is_text(kind):
        return _typed(column.cast(pa.string()))
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif not (_is_number(kind) or pa.types.is_boolean(kind)):
        came = f"target column {name!r} holds {kind}, which makes no labels"
        raise TableError(source, came, "turn it into text or whole numbers")
    return np.asarray(column.to_numpy())


def _typed(column: Column) -> AnyArray:
    coded: Any = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    distinct: list[str] = coded.dictionary.to_pylist()
    values: AnyArray
    if all(_WHOLE.fullmatch(label) for label in distinct):
        values = np.array([int(label) for label in distinct], dtype=np.int64)
    elif all(_DECIMAL.fullmatch(label) for label in distinct):
        values = np.array([float(label) for label in distinct])
    elif all(label.lower() in _TRUTH for label in distinct):
        values = np.array([_TRUTH[label.lower()] for label in distinct])
    else:
        wide = max(len(label) for label in distinct) > _LONGEST_FIXED
        values = np.array(distinct, dtype=object if wide else np.str_)
    return np.asarray(values[coded.indices.to_numpy(zero_copy_only=False)])


def drop(name: str) -> str:
    """How the command line leaves a column out."""
    return f"--drop {quote(name)}"


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _shortened(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
