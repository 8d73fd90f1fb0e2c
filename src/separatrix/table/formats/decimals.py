"""Turn decimal commas into decimal points in the text columns of a file, where the user says that it has them.

    1,5  ,5  -2,5e3        a number: the comma becomes a point
    1.234,5  1.234  1.5    refused in a column of numbers: the point may separate thousands or decimals
    anything else          unchanged, as dates such as 31.12.2024 and versions such as 2.0.1

The decimal mark is never guessed: 1,234 may mean 1.234 or 1234. Columns that the user says are dates, categories or
text may hold any points.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import pyarrow as pa
from pyarrow import compute

from separatrix.base.errors import TableError
from separatrix.base.messages import Message, RowNumber, Setting
from separatrix.table.cells import shortened, stripped

_COMMA = r"^\s*[-+]?(\d+,\d*|,\d+)([eE][-+]?\d+)?\s*$"
_POINT = r"^[-+]?(\d+\.\d*|\.\d+|\d{1,3}(\.\d{3})+(,\d*)?)([eE][-+]?\d+)?$"
_ANY = r"^[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?$"


def with_points(source: str, table: pa.Table, pointed: Collection[str] = ()) -> pa.Table:
    """The table with decimal points. The columns ``pointed`` hold no numbers, so points in them are not refused.

    >>> with_points("a table", pa.table({"a": ["1,5", "2"], "b": ["x, y", "2.0.1"]})).to_pydict()
    {'a': ['1.5', '2'], 'b': ['x, y', '2.0.1']}
    """
    columns = [_with_points(source, name, table.column(name), name in pointed) for name in table.column_names]
    return pa.table(columns, table.column_names)


def _with_points(source: str, name: str, column: Any, pointed: bool) -> Any:
    if not pointed and compute.any(compute.match_substring(column, ".")).as_py():
        _refuse_points(source, name, column)
    commas = compute.match_substring_regex(column, _COMMA)
    if not compute.any(commas).as_py():
        return column
    return compute.if_else(commas, compute.replace_substring(column, ",", ".", max_replacements=1), column)


def _refuse_points(source: str, name: str, column: Any) -> None:
    """Refuse points in a column whose cells are all numbers. Dates, versions and names do not match."""
    cells = stripped(column)
    pointed = compute.match_substring_regex(cells, _POINT)
    if compute.all(compute.match_substring_regex(cells, _ANY)).as_py() and compute.any(pointed).as_py():
        row = compute.index(pointed, True).as_py()
        unlike = f", column {name!r} is {shortened(cells[row].as_py())!r}, with a point"
        problem = Message("row ", RowNumber(row + 1), unlike)
        raise TableError(source, problem, _no_points())


def about_decimals(cell: str, decimal: str) -> str | None:
    """What to do about a cell in a file with this decimal mark, if it is a number with the other one; else None.

    >>> about_decimals("1,5", "."), about_decimals("x", ".")
    ("for a file with decimal commas give decimal=','; else correct that cell", None)
    """
    if decimal == "." and re.fullmatch(_COMMA, cell):
        return Message("for a file with decimal commas give ", Setting("decimal", ","), "; else correct that cell")
    if decimal == "," and re.fullmatch(_POINT, cell.strip()):
        return _no_points()
    return None


def _no_points() -> str:
    leave = Setting("decimal", ",")
    return Message("with decimal commas, remove thousands separators; otherwise leave ", leave, " out")
