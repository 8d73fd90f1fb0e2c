"""The columns of a record batch as a matrix of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import Array
from separatrix.base.errors import TableError


def float_width(schema: pa.Schema, columns: Sequence[str]) -> Any:
    """float32 if every column is float32, else float64."""
    return np.float32 if columns and all(schema.field(name).type == pa.float32() for name in columns) else np.float64


def refuse_other_types(source: str, schema: pa.Schema, columns: Sequence[str]) -> None:
    """Raise an error that names the first column that does not hold numbers or truth values."""
    for name in columns:
        kind: Any = schema.field(name).type
        if not is_numeric(kind):
            problem = f"column {name!r} holds {kind}, not numbers"
            remedy = f"leave it out with drop={name!r}, or turn it into numbers first, as TableEncoder does in memory"
            raise TableError(source, problem, remedy)


def is_numeric(kind: Any) -> bool:
    """Whether a column of this type can be a column of X: numbers, decimals and truth values."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def matrix(batch: pa.RecordBatch, columns: Sequence[str], width: Any) -> Array:
    """The columns as a row-major matrix (m, d); a missing value is NaN."""
    X = np.empty((batch.num_rows, len(columns)), dtype=width)
    for j, name in enumerate(columns):
        X[:, j] = _values(batch.column(name))
    return X


def _values(column: Any) -> Any:
    """A column as an array of numbers."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)
