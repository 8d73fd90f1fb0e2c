"""A column of a batch, with facts about all its cells, so that each cell is examined only once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from separatrix.base.arrays import Array, Booleans
from separatrix.base.cached import cached_property
from separatrix.base.errors import TableError
from separatrix.table import cells


@dataclass(frozen=True, eq=False)
class BatchColumn:
    """The cells of a column in consecutive rows, as they were read.

    >>> column = BatchColumn("a", pa.chunked_array([["1", " 2.50", "?"]]))
    >>> column.numbers.tolist(), column.as_numbers.type
    ([1.0, 2.5, nan], DataType(double))
    """

    name: str
    read: Any

    @cached_property
    def cells(self) -> Any:
        """The cells, with text as Arrow's plain strings."""
        return cells.decoded(self.read)

    @cached_property
    def numbers(self) -> Array | None:
        """The texts as numbers, NaN where one is missing; None if one is not a number."""
        try:
            return cells.as_floats(self.cells.cast(pa.float64()))
        except pa.ArrowInvalid:
            pass
        try:
            return cells.numbers("schema", self.name, self.cells)
        except TableError:
            return None

    @property
    def as_numbers(self) -> Any:
        """``numbers`` as an Arrow column."""
        v: Any = self.numbers
        column: Any = pa.Array.from_buffers(pa.float64(), len(v), [None, pa.py_buffer(v)])
        return pa.chunked_array([column])

    @cached_property
    def coded(self) -> Any:
        """The cells as a column of Arrow's dictionary type, with the different values in the order of their rows."""
        return self.cells.dictionary_encode()

    def only(self, chosen: Booleans) -> BatchColumn:
        """The cells of a mask (n,)."""
        some = BatchColumn(self.name, self.cells.filter(pa.array(chosen)))
        v = vars(self).get("numbers")
        if v is not None:  # They are not parsed again.
            vars(some)["numbers"] = v[chosen]
        return some
