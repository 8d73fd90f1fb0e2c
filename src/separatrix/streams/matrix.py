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
    return np.float32 if all(schema.field(name).type == pa.float32() for name in columns) else np.float64


def refuse_other_types(source: str, schema: pa.Schema, columns: Sequence[str]) -> None:
    """Raise an error that names the first column that does not hold numbers or truth values."""
    for name in columns:
        kind: Any = schema.field(name).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            problem = f"column {name!r} holds {kind}, not numbers"
            raise TableError(source, problem, "leave it out with drop, or turn it into numbers first")


def matrix(batch: pa.RecordBatch, columns: Sequence[str], width: Any) -> Array:
    """The columns as a row-major matrix (m, d); a missing value is NaN."""
    X = np.empty((batch.num_rows, len(columns)), dtype=width)
    for j, name in enumerate(columns):
        column = batch.column(name)
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        X[:, j] = column.to_numpy(zero_copy_only=False)
    return X
