"""Data frames: pandas, and every library with an Arrow interface (polars, PyArrow and others)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from separatrix.base.dask_types import is_dask
from separatrix.base.errors import NoRowsError, TableError
from separatrix.rows.labelled import OutsideMemory
from separatrix.table.formats.source import SOME_ROWS, MemorySource, distinct

FRAME = "the frame"


def open_frame(frame: Any) -> MemorySource:
    """A source of the frame's columns; the index of a pandas frame is not a column.

    >>> open_frame(pa.table({"a": [1, 2], "y": ["u", "v"]})).names
    ('a', 'y')
    """
    pandas = _is_pandas(frame)
    if not is_frame(frame):
        outside = is_dask(frame) or isinstance(frame, OutsideMemory)
        problem = "got a Dask collection" if is_dask(frame) else f"got {type(frame).__name__}"
        remedy = "give a path, or a frame of pandas, polars or PyArrow (collect a lazy one)"
        elsewhere = "; fit, evaluate and summary take rows outside memory" if outside else ""
        raise TableError("data", problem, f"{remedy}{elsewhere}")
    try:
        if pandas:
            names = distinct(FRAME, [str(name) for name in frame.columns])
            columns = pa.Table.from_pandas(frame, preserve_index=False).rename_columns(list(names))
        else:
            columns = pa.table(frame)
            columns.validate(full=True)  # A frame read from a damaged file may point outside its memory.
            distinct(FRAME, columns.column_names)
    except TableError:
        raise
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        reason = "; ".join(" ".join(str(part).split()) for part in error.args)[:200]
        problem = f"its columns cannot be read ({reason})"
        raise TableError(FRAME, problem, "give each column values of one type") from error
    if columns.num_rows == 0:
        raise NoRowsError(FRAME, "it has no rows", SOME_ROWS)
    return MemorySource(FRAME, columns)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas or of a library with an Arrow interface.

    >>> is_frame(pa.table({"a": [1, 2]})), is_frame([[1, 2]])
    (True, False)
    """
    return _is_pandas(X) or hasattr(X, "__arrow_c_stream__")


def holds_numbers(frame: Any) -> bool:
    """Whether all columns of a frame have a type of numbers or truth values.

    >>> holds_numbers(pa.table({"a": [1, 2]})), holds_numbers(pa.table({"a": ["u", "v"]}))
    (True, False)
    """
    if _is_pandas(frame):
        return all(getattr(dtype, "kind", "O") in "biuf" for dtype in frame.dtypes)
    types = open_frame(frame).columns.schema.types
    return all(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) for kind in types)


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas" and hasattr(frame, "columns")
