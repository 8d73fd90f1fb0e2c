"""Messages with other names of rows, columns and reference levels, such as those in the user's table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from separatrix.base.messages import ColumnName, Message, Part, ReferenceLevel, RowNumber


class Rows(Protocol):
    """The numbers or the names of rows by their index: a sequence, an array, or ``RowNames``."""

    def __getitem__(self, index: Any, /) -> Any: ...


def over_rows(text: str, numbers: Rows) -> str:
    """The message with row i renamed to ``numbers[i]``, a number or a name; a plain string is returned unchanged.

    >>> print(over_rows(Message("row ", RowNumber(1), " is wrong"), [5, 7]))
    row 7 is wrong
    """

    def numbered(one: Part) -> str | Part:
        if not isinstance(one, RowNumber):
            return one
        name = numbers[one.number]
        return RowNumber(one.number, name) if isinstance(name, str) else RowNumber(int(name))

    return text.mapped(numbered) if isinstance(text, Message) else text


def over_columns(text: str, indices: Sequence[int]) -> str:
    """The message with column j renumbered to ``indices[j]``, for a wider table; a plain string is unchanged."""

    def placed(one: Part) -> str | Part:
        return ColumnName(int(indices[one.index]), one.called) if isinstance(one, ColumnName) else one

    return text.mapped(placed) if isinstance(text, Message) else text


def with_columns(text: str, called: Callable[[int], str]) -> str:
    """The message with column j renamed to ``called(j)``; a plain string is returned unchanged.

    >>> print(with_columns(Message(ColumnName(1), " alone separates them"), lambda j: "the age"))
    the age alone separates them
    """

    def named(one: Part) -> str | Part:
        return ColumnName(one.index, called(one.index)) if isinstance(one, ColumnName) else one

    return text.mapped(named) if isinstance(text, Message) else text


def with_references(text: str, references: Mapping[str, str]) -> str:
    """The message with reference levels named by category; a plain string is returned unchanged.

    >>> print(with_references(Message(ReferenceLevel("sex"), " causes it"), {"sex": "f"}))
    the reference level 'f' of 'sex' causes it
    """

    def named(one: Part) -> str | Part:
        return ReferenceLevel(one.of, references.get(one.of)) if isinstance(one, ReferenceLevel) else one

    return text.mapped(named) if isinstance(text, Message) else text
