"""The first lines of a text file: names of columns, or a row of data where a header was expected.

A first line is taken for data if

    all its cells are numbers, and not just 0, 1, 2, … or 1, 2, 3, …, as programs number columns; or
    it has a number above each column of numbers, and a text that occurs again below it; or
    no column holds numbers, and all its cells occur again below them.

Such a file is still read with a header, and a note names the option to give.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from numbers import Integral

from separatrix.base.errors import TableError
from separatrix.base.messages import Message, Setting
from separatrix.table.cells import NO_NUMBER, shortened
from separatrix.table.formats.source import Source

# The number of rows below the first line that it is compared with.
_ROWS_COMPARED = 200
NO_HEADER = Setting("header", False)


def made_up_names(n: int, target_place: tuple[int, int] | None = None) -> tuple[str, ...]:
    """The names of n columns without a header: x1, x2, …, as in a libsvm file.

    If the file has one column fewer than the training file, it lacks the target (``Spelling.target_place``).

    >>> made_up_names(3), made_up_names(3, target_place=(4, 2))
    (('x1', 'x2', 'x3'), ('x1', 'x3', 'x4'))
    """
    whole, target = (n, 0) if target_place is None or target_place[0] != n + 1 else target_place
    return tuple(f"x{j}" for j in range(1, whole + 1) if j != target)


def is_made_up(name: str) -> bool:
    """Whether a column may have got its name by ``made_up_names``.

    >>> is_made_up("x12"), is_made_up("xy")
    (True, False)
    """
    return name.startswith("x") and name[1:].isascii() and name[1:].isdecimal()


def called(source: Source, column: str | int, header: bool = True) -> str:
    """The name of a column. Without a header it may be given by its number, from 1, or from −1 for the last.

    >>> from separatrix.table.formats import open_source
    >>> called(open_source("demo:xor"), "-1", header=False), called(open_source("demo:xor"), "x2")
    ('sign', 'x2')
    """
    if header or column in source.names or not _is_name_or_number(column):
        return str(column)
    try:
        number = int(column)
    except ValueError:
        return str(column)
    n = len(source.names)
    if not 1 <= abs(number) <= n:
        problem = f"it has {n} columns, and no column {number}"
        raise TableError(source.name, problem, f"give a number from 1 to {n}, or from -1 for the last to -{n}")
    return source.names[number - (number > 0)]


def _is_name_or_number(column: object) -> bool:
    return isinstance(column, str | Integral) and not isinstance(column, bool)


@dataclass(frozen=True)
class FirstLines:
    """The first line as cells, None for an empty file, and some rows below it. ``n_blank`` blank lines come first."""

    line: list[str] | None
    rows: list[list[str]]
    n_blank: int = 0

    @classmethod
    def of(cls, lines: Iterator[str], delimiter: str, quote: str | None) -> FirstLines:
        r"""Read the first lines. A row that cannot be read ends them, since the parser will report it.

        >>> FirstLines.of(iter(["a,b\n", "1,2\n"]), ",", '"').line
        ['a', 'b']
        """
        n_blank, lines = _without_blank_start(lines)
        if quote is None:
            reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        else:
            reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
        records = (record for record in reader if len(record) > 1 or any(cell.strip() for cell in record))
        line, rows = next(records, None), list[list[str]]()
        try:
            rows.extend(islice(records, _ROWS_COMPARED))
        except (csv.Error, UnicodeError):
            rows.append([])
        return cls(line, rows, n_blank)

    @property
    def has_rows(self) -> bool:
        return bool(self.rows)

    def refuse_repeated(self, source: str) -> None:
        """Refuse equal names in a first line that looks like data, with the option for a file without a header."""
        line = self.line or []
        if len(set(line)) < len(line) and self._looks_like_data():
            problem = f"its first line repeats a name, and looks like a row of data ({self._shown()})"
            raise TableError(source, problem, Message("if the file has no header, give ", NO_HEADER))

    def doubts(self) -> list[str]:
        """A note if the first line looks like data."""
        if not self._looks_like_data():
            return []
        told = (
            f"Its first line looks like a row of data, not like names of columns ({self._shown()}). If it is one, give "
        )
        return [Message(told, NO_HEADER, ".")]

    def _shown(self) -> str:
        return shortened(", ".join(self.line or []), 60)

    def _looks_like_data(self) -> bool:
        line = [cell.strip() for cell in self.line or []]
        if not self.rows or not any(line):
            return False
        if all(map(_is_number, line)):
            return not _counts_up(line)
        above_numbers, above_texts = list[str](), list[bool]()
        for j, cell in enumerate(line):
            below = _column(self.rows, j)
            if below and all(map(_is_number, below)):
                above_numbers.append(cell)
            else:
                above_texts.append(cell in below)
        return _is_like_numbers(above_numbers) and any(above_texts) if above_numbers else all(above_texts)


def _is_like_numbers(cells: Sequence[str]) -> bool:
    """Whether there is a number among the cells, and every other cell means a missing value."""
    return any(map(_is_number, cells)) and all(_is_number(cell) or cell in NO_NUMBER for cell in cells)


def _without_blank_start(lines: Iterator[str]) -> tuple[int, Iterator[str]]:
    r"""The number of blank lines at the start, and the lines after them.

    >>> count, rest = _without_blank_start(iter(["\n", " \n", "a,b\n", "1,2\n"]))
    >>> count, list(rest)
    (2, ['a,b\n', '1,2\n'])
    """
    count = 0
    for line in lines:
        if line.strip():
            return count, chain([line], lines)
        count += 1
    return count, iter(())


def _column(rows: Sequence[Sequence[str]], j: int) -> set[str]:
    """The texts of column j in the rows, without those that mean a missing value."""
    return {row[j].strip() for row in rows if j < len(row)} - set(NO_NUMBER)


def _counts_up(line: Sequence[str]) -> bool:
    """Whether the cells are 0, 1, 2, … or 1, 2, 3, …."""
    return any(list(line) == [str(j) for j in range(start, start + len(line))] for start in (0, 1))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text not in NO_NUMBER
