"""One column of a table, and how its cells become columns of X (``encoder`` explains the rules)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import TableError
from separatrix.base.messages import Message, RowNumber
from separatrix.table import cells
from separatrix.table.text import TextFeatures

# The kind of a column of free text that becomes n-grams.
WORDS = "words"
KINDS = ("number", "boolean", "category", "date", WORDS)
# The kinds whose values have a unit.
MEASURED = ("number", "date")
# The code of a category's cell whose level is not among the known ones.
UNKNOWN = -1.0


@dataclass(frozen=True)
class Encoded:
    """One column of the table, and the columns of X that it becomes.

    >>> Encoded("student", "category", ("No", "Yes", "Part"), (0.0, 0.0), indicator=True).names
    ('student=Yes', 'student=Part', 'student=missing')
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    fill: tuple[float, ...] = ()
    indicator: bool = False
    average: tuple[float, ...] = ()
    text: TextFeatures | None = None

    @property
    def values(self) -> int:
        """The number of columns of X, without the indicator."""
        if self.text is not None:
            return self.text.width
        return len(self.levels) - 1 if self.kind == "category" else 1

    @property
    def n_dense(self) -> int:
        """The number of columns of X that are not n-grams."""
        return self.width if self.text is None else int(self.indicator)

    @property
    def unseen(self) -> tuple[float, ...]:
        """The columns of X for a level that no training row had, without the indicator; empty if they are not known."""
        return self.average or self.fill

    @property
    def width(self) -> int:
        """The number of columns of X."""
        return self.values + self.indicator

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of X."""
        if self.text is not None:
            names = self.text.names(self.name)
        else:
            names = tuple(f"{self.name}={level}" for level in self.levels[1:]) or (self.name,)
        return (*names, f"{self.name}=missing") if self.indicator else names

    @property
    def n_letters(self) -> int:
        """The total length of ``names``, computed without building them.

        >>> column = Encoded("student", "category", ("No", "Yes", "Part"), (0.0, 0.0), indicator=True)
        >>> column.n_letters == sum(map(len, column.names))
        True
        """
        if self.text is not None:
            letters = self.text.n_letters(self.name)
        else:
            letters = sum(len(self.name) + 1 + len(level) for level in self.levels[1:]) or len(self.name)
        return letters + (len(self.name) + len("=missing")) * self.indicator

    def read(self, table: pa.Table, source: str) -> Array:
        """The column's cells (n,) as numbers, NaN where missing.

        A cell of a category is the number of its level, or ``UNKNOWN`` if it is not among ``levels``. A text is 0.
        """
        column = table.column(self.name)
        found = self._read_once(column, source)
        return self._read(column, source) if found is None else found

    def _read_once(self, column: Any, source: str) -> Array | None:
        """The cells of a column of Arrow's dictionary type, each different value read once.

        None for another column, for one with more values than rows, and if a value is refused: it may be in no row, and
        an error names rows.
        """
        if not pa.types.is_dictionary(column.type):
            return None
        parts = []
        for chunk in column.chunks:
            if len(chunk.dictionary) > len(chunk):
                return None
            try:
                v = self._read(pa.chunked_array([chunk.dictionary]), source)
            except TableError:
                return None
            places = cells.as_places(chunk.indices)
            parts.append(np.append(v, np.nan)[places])
        return np.concatenate(parts) if parts else None

    def _read(self, column: Any, source: str) -> Array:
        if self.kind == WORDS:
            return np.where(cells.as_array(cells.texts(source, self.name, column).is_null()), np.nan, 0.0)
        if self.kind == "category":
            codes, missing = cells.codes(source, self.name, column, self.levels)
            return np.where(missing, np.nan, codes)
        v = cells.READINGS[self.kind](source, self.name, column)
        infinite = np.isinf(v)
        if infinite.any():
            unlike = f", column {self.name!r} is infinite, or too large for a float64"
            problem = Message("row ", RowNumber(int(np.argmax(infinite)) + 1), unlike)
            raise TableError(source, problem, "give finite numbers, or take the row out")
        return v

    def strange(self, v: Array) -> AnyArray:
        """Which of the cells v (n,) have a level that is not among ``levels``."""
        return (v == UNKNOWN) if self.kind == "category" else np.zeros(len(v), dtype=bool)

    def write(self, X: Array, v: Array) -> None:
        """Write cells v (n,) into X (n, n_dense), which holds zeros. N-grams are not written: they are sparse.

        A missing cell gets ``fill`` and a cell with an unseen level ``unseen``, if they are known.
        """
        if self.text is not None:
            X[:, : self.indicator] = np.isnan(v)[:, None]
            return
        if self.kind == "category":
            rows = np.flatnonzero(v > 0)
            X[rows, v[rows].astype(np.intp) - 1] = 1.0
        else:
            X[:, 0] = v
        missing = np.isnan(v)
        if self.fill:
            X[np.flatnonzero(missing), : self.values] = self.fill
        if self.unseen:
            X[np.flatnonzero(self.strange(v)), : self.values] = self.unseen
        if self.indicator:
            X[:, -1] = missing
