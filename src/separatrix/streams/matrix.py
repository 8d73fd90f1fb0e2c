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


def refuse_other_types(source: str, schema: pa.Schema, columns: Sequence[str], has_target: bool) -> None:
    """Raise an error that names the first column that does not hold numbers or truth values."""
    for name in columns:
        kind: Any = schema.field(name).type
        if not is_numeric(kind):
            problem = f"column {name!r} holds {kind}, not numbers"
            remedy = f"leave it out with drop={name!r}, or turn it into numbers first, as TableEncoder does in memory"
            if not has_target:
                remedy = f"if it has the labels, name it with target={name!r}; otherwise {remedy}"
            raise TableError(source, problem, remedy)


def is_numeric(kind: Any) -> bool:
    """Whether a column of this type can be a column of X: numbers, decimals and truth values."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def write_rows(batch: pa.RecordBatch, columns: Sequence[str], X: Array, compiled: bool) -> bool:
    """Write the columns to X (m, d), row-major; a missing value is NaN. Whether all entries are known to be finite.

    ``compiled``: by a compiled loop, which takes half the time; loading it pays for long tables.
    """
    if not compiled:
        for j, name in enumerate(columns):
            X[:, j] = _values(batch.column(name))
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(X.sum()))
    from separatrix.kernels.interleave import interleaved

    kept, addresses = list[Any](), np.empty(len(columns), dtype=np.int64)
    for j, name in enumerate(columns):
        addresses[j], held = _address(batch.column(name), X.dtype)
        kept.append(held)  # the numbers must not be freed before they are read
    return bool(interleaved(addresses, X) == 0)


def _address(column: Any, width: Any) -> tuple[int, Any]:
    """Where the numbers of a column begin in memory, in the type ``width``, and the object that owns them."""
    if column.type == _ARROW_TYPES[width] and not column.null_count:
        values = column.buffers()[1]
        return values.address + column.offset * width.itemsize, values
    converted = np.ascontiguousarray(_values(column), dtype=width)
    return converted.__array_interface__["data"][0], converted


_ARROW_TYPES = {np.dtype(np.float64): pa.float64(), np.dtype(np.float32): pa.float32()}


def _values(column: Any) -> Any:
    """A column as an array of numbers."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)
