"""A table outside memory as a problem of two classes: some classes against others, without a copy of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers, Matrix
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.protocol import Rows


@dataclass(frozen=True, eq=False)
class TwoClassTable(OutsideMemory):
    """The rows of a table with the labels 0 and 1.

    ``numbers`` has the new label of each class of the table; −1 leaves the rows of a class without weight.
    """

    source: OutsideMemory
    numbers: Integers

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.source.columns

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def classes(self) -> AnyArray:
        return np.array([0, 1])

    @property
    def dtype(self) -> Any:
        return self.source.dtype

    @property
    def has_weights(self) -> bool:
        return self.source.has_weights

    @property
    def totals(self) -> ClassTotals:
        totals = self.source.totals
        sides = (np.flatnonzero(self.numbers == k).tolist() for k in (0, 1))
        return ClassTotals.stacked([reduce(ClassTotals.merge, map(totals.of_class, side)) for side in sides])

    def rows(self, coding: Coding) -> Rows:
        return self.source.rows(coding.after(self.numbers))

    def matrices(self) -> Iterator[Matrix]:
        return self.source.matrices()
