"""The columns of a record batch as a matrix of numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import TableError
from separatrix.base.labels import quoted
from separatrix.rows.model_columns import MOST_NAMED_COLUMNS


def float_width(schema: pa.Schema, columns: Sequence[str]) -> Any:
    """float32 if every column is float32, else float64."""
    return np.float32 if columns and all(schema.field(name).type == pa.float32() for name in columns) else np.float64


def refuse_other_types(source: str, schema: pa.Schema, columns: Sequence[str], has_target: bool) -> None:
    """Raise an error that names the columns that do not hold numbers or truth values."""
    others = [name for name in columns if not is_numeric(schema.field(name).type)]
    if not others:
        return
    problem, remedy = (_one_other_type if len(others) == 1 else _several_other_types)(schema, others, has_target)
    raise TableError(source, problem, remedy)


def _one_other_type(schema: pa.Schema, others: Sequence[str], has_target: bool) -> tuple[str, str]:
    """The problem and the remedy if one column does not hold numbers."""
    name = quoted(others[0])
    problem = f"column {name} holds {schema.field(others[0]).type}, not numbers"
    remedy = f"leave it out with drop={name}, or turn it into numbers first, as TableEncoder does in memory"
    return problem, remedy if has_target else f"if it has the labels, name it with target={name}; otherwise {remedy}"


def _several_other_types(schema: pa.Schema, others: Sequence[str], has_target: bool) -> tuple[str, str]:
    """The problem and the remedy if several columns do not hold numbers."""
    shown, left = others[:MOST_NAMED_COLUMNS], len(others) - MOST_NAMED_COLUMNS
    named = ", ".join(f"{quoted(name)} ({schema.field(name).type})" for name in shown)
    problem = f"columns do not hold numbers: {named}{f' and {left} more' if left > 0 else ''}"
    drop = f"[{', '.join(map(quoted, shown))}{', ...' if left > 0 else ''}]"
    remedy = f"leave them out with drop={drop}, or turn them into numbers first, as TableEncoder does in memory"
    if has_target:
        return problem, remedy
    return problem, f"if one of them has the labels, name it, as with target={quoted(others[0])}; otherwise {remedy}"


def is_numeric(kind: Any) -> bool:
    """Whether a column of this type can be a column of X: numbers, decimals and truth values."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


class BatchColumns:
    """The columns of record batches, one batch after the other, from which rows of X are written.

    What does not change from batch to batch is found once, since Arrow's functions take a microsecond or two for every
    column, and a batch has few rows.
    """

    def __init__(self, columns: Sequence[str], dtype: Any) -> None:
        self.columns, self.dtype = columns, np.dtype(dtype)
        self.schema: pa.Schema | None = None
        self.places: list[int] = []
        self.plain_places = np.empty(0, dtype=np.int64)
        self.batch: Any = None
        self.addresses: Integers | None = None
        self.kept: list[Any] = []

    def take(self, batch: pa.RecordBatch) -> None:
        """Make this batch the one from which rows are written."""
        schema = batch.schema
        if self.schema is None or not schema.equals(self.schema):
            wanted = _ARROW_TYPES[self.dtype]
            self.schema, self.places = schema, [schema.get_field_index(name) for name in self.columns]
            plain = [j if schema.field(j).type == wanted else -1 for j in self.places]
            self.plain_places = np.array(plain, dtype=np.int64)
        self.batch, self.addresses, self.kept = batch, None, []

    def release(self) -> None:
        """Forget the batch, whose memory is then used for the next one."""
        self.batch, self.addresses, self.kept = None, None, []

    def write(self, begin: int, X: Array, compiled: bool) -> bool:
        """Write rows ``begin``, … of the batch to X (m, d), row-major; a missing value is NaN.

        Whether all entries are known to be finite. ``compiled``: by a compiled loop, which takes half the time; loading
        it pays for long tables.
        """
        if not compiled:
            for j, place in enumerate(self.places):
                X[:, j] = _values(self.batch.column(place).slice(begin, len(X)))
            with np.errstate(over="ignore", invalid="ignore"):
                return bool(np.isfinite(X.sum()))
        from separatrix.kernels.interleave import interleaved

        if self.addresses is None:
            self.addresses = self._found_addresses()
        return bool(interleaved(self.addresses + begin * self.dtype.itemsize, X))

    def _found_addresses(self) -> Integers:
        """Where the numbers of each column begin in memory, (d,), in the type of X.

        The batch and the converted columns are kept, so that the numbers are not freed before they are read. The batch
        is exported as a whole: asking Arrow for each of 20 columns took more than twice as long.
        """
        from separatrix.kernels.interleave import column_addresses

        _, exported = self.batch.__arrow_c_array__()
        self.kept.append(exported)
        found: Integers = column_addresses(_address(exported), self.plain_places, self.dtype.itemsize)
        for j in np.flatnonzero(found == 0).tolist():
            converted = np.ascontiguousarray(_values(self.batch.column(self.places[j])), dtype=self.dtype)
            self.kept.append(converted)
            found[j] = converted.__array_interface__["data"][0]
        return found


_ARROW_TYPES = {np.dtype(np.float64): pa.float64(), np.dtype(np.float32): pa.float32()}
_capsule_address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _address(exported: Any) -> int:
    """The address of the struct that a batch was exported to, in Arrow's C data interface."""
    found: int = _capsule_address(exported, b"arrow_array")
    return found


def _values(column: Any) -> Any:
    """A column as an array of numbers."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False)
