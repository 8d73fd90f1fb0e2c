"""A table outside memory that is made of arrays, to be given to ``fit`` and to other functions in place of X and y."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray
from separatrix.core.base.labels import encode
from separatrix.core.rows.labelled_table import MemoryTable, OutsideMemory
from separatrix.core.rows.streamed import StreamedRows
from separatrix.core.rows.targets import ClassTotals, Coding
from tests.streamed import CopiedPieces, streamed


@dataclass(frozen=True, eq=False)
class StreamedTable(OutsideMemory):
    """Rows that are handed out ``size`` at a time. ``reads`` counts how often they were read."""

    memory: MemoryTable
    labels: AnyArray
    columns: tuple[str, ...]
    size: int
    sources: list[CopiedPieces] = field(default_factory=list)

    @classmethod
    def of(cls, X: Any, y: Any, size: int = 7, weight: Any = None) -> StreamedTable:
        classes, codes = encode(y)
        weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
        names = tuple(f"x{j}" for j in range(X.shape[1]))
        return cls(MemoryTable(X, codes, weight, len(classes)), classes, names, size)

    @property
    def name(self) -> str:
        return "a stream of a test"

    @property
    def classes(self) -> AnyArray:
        return self.labels

    @property
    def dtype(self) -> Any:
        return self.memory.X.dtype

    @property
    def totals(self) -> ClassTotals:
        return self.memory.totals

    @property
    def reads(self) -> int:
        return sum(source.reads for source in self.sources)

    def rows(self, coding: Coding) -> StreamedRows:
        rows = streamed(self.memory.rows(coding), self.size)
        self.sources.append(rows.source)
        return rows
