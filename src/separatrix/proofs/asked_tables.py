"""A table outside memory that a verdict is asked about: its rows are read in passes, its proof rows are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.errors import LabelError, ParameterError
from separatrix.base.labels import known_codes
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.naming import About
from separatrix.proofs.row_claims import Broken, RowClaim, View
from separatrix.rows import Rows, number_of_rows
from separatrix.rows.chosen import chosen_rows
from separatrix.rows.coding import CLASS_NUMBERS
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.protocol import Together


@dataclass(frozen=True)
class AskedTable:
    """The rows of a table, with class numbers as targets, and how they become class differences."""

    rows: Rows
    view: View

    @classmethod
    def of(cls, table: OutsideMemory, y: Any, about: About) -> AskedTable:
        """The rows to verify a verdict on, with the classes of that verdict."""
        if y is not None:
            raise ParameterError("y", f"got one together with {table.name}", "leave it out: the scan has its labels")
        K = len(about.classes) or 2
        if not len(about.classes) and len(table.classes) != K:
            raise LabelError("y", f"it has {len(table.classes)} classes", "give the two classes of the verdict")
        code_of = known_codes(table.classes, about.classes) if len(about.classes) else np.arange(K)
        return cls(table.rows(CLASS_NUMBERS), View(K, about.fit_intercept, code_of))

    @property
    def no_rows(self) -> Differences:
        """Class differences of the width of this table, without rows."""
        X, none = np.zeros((0, self.rows.n_features)), np.zeros(0, dtype=np.int64)
        return Differences(X, none, self.view.K, self.view.fit_intercept, is_part=True)

    def at(self, numbers: Integers) -> Differences | None:
        """The class differences of the rows with these numbers, in this order; None if there are no such rows."""
        if len(numbers) == 0 or numbers.min() < 0 or numbers.max() >= number_of_rows(self.rows):
            return None
        block = chosen_rows(self.rows, numbers)
        return self.view.of(replace(block, weight=np.ones(block.n_rows)))[0]

    def satisfies(self, claims: Sequence[RowClaim]) -> bool:
        """Whether every row satisfies all claims, in one pass."""
        checks = tuple(Broken(claim, self.view, 0) for claim in claims)
        return not any(found.n_broken for found in self.rows.fold(Together(checks)))
