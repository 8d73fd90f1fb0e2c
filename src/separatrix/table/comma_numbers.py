"""Columns of numbers that are written with commas: what to say about them.

    1,5  ,5  2           decimal commas, unless other columns have decimal points: ``decimal=","`` reads them
    1,234  900  5,000    commas that look like thousands separators, which have to be removed from the file
    1.234,5  2,5         both marks; the thousands separators have to be removed first

Numbers are refused in all three cases, since 1,234 may mean 1.234 or 1234.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from separatrix.base.messages import Detail, Message, Remedy, Setting, brief, reason, solving
from separatrix.table.cells import shortened
from separatrix.table.schema import Column

# A number with any commas and points.
COMMA = r"^[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?$"
# A text without commas, or whole thousands in groups of three digits; above the last group, of two as well (12,34,567).
THOUSANDS = r"^([^,]*|[-+]?[1-9]\d{0,2}(,\d{2,3})*,\d{3}(\.\d*)?)$"
# A text without commas and points, or a number with a decimal comma.
DECIMALS = r"^([^,.]*|[-+]?(\d+,\d*|,\d+)([eE][-+]?\d+)?)$"
# A text without points, or with several that do not separate thousands, as in dates, versions and addresses.
_OTHER_GROUP = r"(\d{1,2}|\d{4,})"
NO_POINTS = rf"^([^.]*|\d+(\.\d+)*\.{_OTHER_GROUP}(\.\d+)+|\d+(\.\d+)+\.{_OTHER_GROUP}(\.\d+)*)$"
# What is asked about the texts of a column if all of them match COMMA.
MARKS = (THOUSANDS, DECIMALS, NO_POINTS)
_DECIMAL_COMMA = Setting("decimal", ",")


class _ThousandsRemedy(Remedy):
    """The remedy for commas that look like thousands separators, but may be decimal marks."""


def with_commas(name: str, example: str, patterns: Set[str]) -> Column:
    """The refusal of a column of numbers. ``patterns``: those of MARKS that all its texts match."""
    why = f"its numbers are written with commas, such as {shortened(example)!r}"
    if THOUSANDS in patterns:
        kind = _ThousandsRemedy if DECIMALS in patterns else Remedy
        removed = kind(_or_category("remove them from the file", name))
        return Column(name, "text", note=Message(why, Detail(", which look like thousands separators"), removed))
    if DECIMALS in patterns:
        return _with_decimal_commas(name, why)
    remedy = _or_category("write them without thousands separators", name)
    return Column(name, "text", note=Message(why, Remedy(remedy)))


def settled(columns: list[Column], has_other_numbers: Callable[[], bool]) -> list[Column]:
    """The columns of a table, with the same decimal mark for all.

    If a column has decimal commas, so has one such as 1,234, whose commas look like thousands separators by themselves.
    Where other columns have decimal points, no column has decimal commas. ``has_other_numbers`` says whether a column
    has numbers with points, or numbers by its type and not as text.
    """
    if not any(map(_has_decimal_commas, columns)):
        return columns
    change = _beside_points if has_other_numbers() else _beside_decimal_commas
    return [change(column) for column in columns]


def _has_decimal_commas(column: Column) -> bool:
    return _DECIMAL_COMMA in solving(column.note)


def _with_decimal_commas(name: str, why: str) -> Column:
    remedy = Message("if the commas are decimal marks of a text file, give ", _DECIMAL_COMMA)
    return Column(name, "text", note=Message(why, Remedy(remedy, (_DECIMAL_COMMA,))))


def _beside_decimal_commas(column: Column) -> Column:
    parts = column.note.parts if isinstance(column.note, Message) else ()
    if not any(isinstance(part, _ThousandsRemedy) for part in parts):
        return column
    return _with_decimal_commas(column.name, brief(reason(column.note)))


def _beside_points(column: Column) -> Column:
    if not _has_decimal_commas(column):
        return column
    why = Message(reason(column.note), ", but those of other columns are not")
    remedy = _or_category("write them with decimal points and without thousands separators", column.name)
    return replace(column, note=Message(why, Remedy(remedy)))


def _or_category(remedy: str, name: str) -> Message:
    return Message(f"{remedy}, or make the column a category with ", Setting("category", name))
