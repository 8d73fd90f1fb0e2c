"""What rows are called: their numbers in the user's table, the first row being row 1; in a folder also their file.

row 17                    of one file or frame
row 17 of part-2.csv      of several files: the 17th row of that file
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.errors import InputError
from separatrix.base.messages import Message, Part, RowNumber
from separatrix.base.renamed_messages import over_rows


@dataclass(frozen=True, eq=False)
class RowNames:
    """The names of rows, by their index. ``numbers`` (m,) count all rows of the table from 1; some may be left out.

    ``files`` are the files that the table consists of, in their order, each with its number of rows; empty for one.

    >>> names = RowNames(np.array([1, 3, 4, 5]), (("a.csv", 3), ("b.csv", 2)))
    >>> names[1], names[3], names[np.array([False, True, True, False])].tolist()
    ('3 of a.csv', '2 of b.csv', ['3 of a.csv', '1 of b.csv'])
    >>> RowNames.first(3)[-1]
    3
    """

    numbers: Integers
    files: tuple[tuple[str, int], ...] = ()

    @classmethod
    def first(cls, n: int, files: tuple[tuple[str, int], ...] = ()) -> RowNames:
        """The names of all n rows of a table."""
        return cls(np.arange(1, n + 1), files)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: Any) -> Any:
        """The name of a row; of several rows, their names."""
        chosen = self.numbers[index]
        return RowNames(chosen, self.files) if isinstance(chosen, np.ndarray) else self.called(int(chosen))

    def __iter__(self) -> Iterator[int | str]:
        return (self.called(int(number)) for number in self.numbers)

    def tolist(self) -> list[int | str]:
        """All names."""
        return list(self)

    def called(self, number: int) -> int | str:
        """The name of a row by its number in the whole table."""
        if not self.files:
            return number
        for name, count in self.files:
            if number <= count:
                return f"{number} of {name}"
            number -= count
        raise IndexError(number)

    @property
    def counted(self) -> str:
        """How rows are counted, in words."""
        return "rows counted from 1 in each file" if self.files else "rows counted from 1, as in the table"

    def told(self, text: str) -> str:
        """A message about rows by their index, such as a status, with their names and how they are counted."""
        if not isinstance(text, Message) or not text.rows:
            return text
        return Message(over_rows(text, self), f" ({self.counted})")

    def named(self, text: str) -> str:
        """A message about rows by their number among these rows, from 1, with their names as plain text."""

        def change(part: Part) -> str | Part:
            return str(self[part.number - 1]) if isinstance(part, RowNumber) else part

        return text.mapped(change) if isinstance(text, Message) else text

    @contextmanager
    def in_errors(self) -> Iterator[None]:
        """Give errors that name rows by their number among these rows, from 1, the names of these rows."""
        try:
            yield
        except InputError as error:
            error.problem = self.named(error.problem)
            error.args = (error.argument, error.problem, error.remedy)
            raise


@dataclass(frozen=True, eq=False)
class RowsFrom(RowNames):
    """The names of consecutive rows from row ``start``, counted from 0, however many there are.

    >>> RowsFrom.of(2, (("a.csv", 3), ("b.csv", 2)))[1]
    '1 of b.csv'
    """

    start: int = 0

    @classmethod
    def of(cls, start: int, files: tuple[tuple[str, int], ...] = ()) -> RowsFrom:
        return cls(np.empty(0, dtype=np.int64), files, start)

    def __getitem__(self, index: Any) -> Any:
        return self.called(self.start + int(index) + 1)


def short_names(paths: Sequence[str]) -> list[str]:
    """The names of files without their folders, unless two would be the same.

    >>> short_names(["d/a.csv", "d/b.csv"]), short_names(["d/a.csv", "e/a.csv"])
    (['a.csv', 'b.csv'], ['d/a.csv', 'e/a.csv'])
    """
    bare = [path.replace("\\", "/").rpartition("/")[2] for path in paths]
    return bare if len(set(bare)) == len(bare) else list(paths)
