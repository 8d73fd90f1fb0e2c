"""The target's column -> one label a row: text, whole numbers, decimals or truth values."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.arrays import AnyArray
from separatrix.errors import LabelError, TableError
from separatrix.table.cells import Column, as_array, decoded, is_number, is_text

_WHOLE = re.compile(r"-?[1-9]\d{0,17}|0")
_DECIMAL = re.compile(r"[-+]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][-+]?\d+)?")
_TRUTH = {"true": True, "false": False}
# Longer labels are kept as objects: a fixed-width array would take four bytes a letter for every row.
_LONGEST_FIXED = 256


def unlabelled(column: Column) -> AnyArray:
    """Which rows (n,) have no label."""
    absent: Any = column.is_null()
    if pa.types.is_floating(column.type):
        absent = compute.or_kleene(absent, compute.is_nan(column))
    return as_array(absent)


def labels(source: str, column: Column, name: str, typed: bool = True) -> AnyArray:
    """One label a row; a row without a label is refused.

    Text becomes numbers where all of it reads so; codes such as 007 stay text. Not ``typed``, all text stays text: for
    a model whose classes are text, whichever of them a file holds.

    >>> labels("a table", pa.chunked_array([["7", "-1"]]), "y").tolist()
    [7, -1]
    >>> labels("a table", pa.chunked_array([["007", "7"]]), "y").tolist()
    ['007', '7']
    """
    column = decoded(column)
    absent = np.flatnonzero(unlabelled(column))
    if len(absent):
        more = f" ({len(absent)} rows have none)" if len(absent) > 1 else ""
        came = f"row {absent[0] + 1}, target column {name!r} has no label{more}"
        raise TableError(source, came, "label such rows, or take them out (missing='drop' does)")
    if is_text(column.type):
        return _typed(column) if typed else _spelled(column.to_pylist())
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    elif not (is_number(column.type) or pa.types.is_boolean(column.type)):
        came = f"target column {name!r} holds {column.type}, which makes no labels"
        raise TableError(source, came, "turn it into text or whole numbers")
    return as_array(column)


def refuse_measurements(source: str, y: AnyArray, name: str, rows: AnyArray, most: int) -> None:
    """Labels that make no classes: one alone, numbers with decimals, or more than ``most`` different ones.

    ``rows`` are the rows' numbers, for the message.
    """
    where = f"{source}, target column {name!r}"
    if (y == y[0]).all():
        came = f"every row has the one label {y[:1].tolist()[0]!r}"
        raise LabelError(where, came, "give rows of at least two classes")
    if y.dtype.kind == "f" and (y != np.round(y)).any():
        k = int(np.argmax(y != np.round(y)))
        came = f"row {rows[k]} is {y[k]}, a measurement rather than a class"
        raise LabelError(where, came, "cut the numbers into classes first, or predict another column")
    if (distinct := len(set(y.tolist()))) > most:
        came = f"it has {distinct} different labels in {len(y)} rows"
        raise LabelError(where, came, f"give at most {most} classes: group them, or predict another column")


def _are_floats(spelled: list[str]) -> bool:
    """Whether floats can tell these numbers apart as far as they differ: codes of 19 digits they cannot."""
    exact = {Decimal(label) for label in spelled}
    floats = {float(label) for label in spelled}
    return len(floats) == len(exact) and all(math.isfinite(value) for value in floats)


def _spelled(texts: list[Any]) -> AnyArray:
    wide = max(map(len, texts), default=0) > _LONGEST_FIXED
    return np.array(texts, dtype=object if wide else np.str_)


def _typed(column: Column) -> AnyArray:
    coded: Any = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    distinct: list[str] = coded.dictionary.to_pylist()
    values: AnyArray
    if all(_WHOLE.fullmatch(label) for label in distinct):
        values = np.array([int(label) for label in distinct], dtype=np.int64)
    elif all(_DECIMAL.fullmatch(label) for label in distinct) and _are_floats(distinct):
        values = np.array([float(label) for label in distinct])
    elif all(label.lower() in _TRUTH for label in distinct):
        values = np.array([_TRUTH[label.lower()] for label in distinct])
    else:
        values = _spelled(distinct)
    return np.asarray(values[coded.indices.to_numpy(zero_copy_only=False)])
