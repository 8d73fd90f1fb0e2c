"""The rows at hand in a search for a proof over rows outside memory: a sample, and rows with extreme entries.

The first pass draws the rows with the lowest hashes, the same number from each class, and keeps for each class and
column a row with the smallest and one with the largest entry. So a column that is nonzero in a few rows of one class is
at hand from the start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.row_claims import View
from separatrix.rows import Block, Rows
from separatrix.rows.carried import Carried, CarriedRows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.csr import is_sparse
from separatrix.rows.protocol import Together
from separatrix.rows.sampling import LowestHashes

# Rows of the sample: at most MOST_CORE_ROWS, and at most MOST_CORE_ENTRIES / width, but at least
# SAMPLE_ROWS_PER_DIRECTION for each weight. Of 2 000 000 rows of 10 columns with a thin margin, a hyperplane that
# separates 20 000 has about 700 on the wrong side.
MOST_CORE_ROWS, MOST_CORE_ENTRIES, SAMPLE_ROWS_PER_DIRECTION = 20_000, 4_000_000, 4
# Largest number of columns whose extreme rows are kept: there are up to 2 K of them for each column.
MOST_COLUMNS_WITH_EXTREMES = 500


class ExtremeTotal(NamedTuple):
    """The smallest and the largest entry of each class and column, (K, d), and the numbers of rows that have them.

    A class without rows has infinite entries and rows −1.
    """

    low: Array
    high: Array
    low_row: Integers
    high_row: Integers


@dataclass(frozen=True)
class ExtremeRows:
    """Finds for each class and column a row with the smallest and a row with the largest entry."""

    view: View
    n_features: int

    def zero(self) -> ExtremeTotal:
        shape = (self.view.K, self.n_features)
        return ExtremeTotal(np.full(shape, np.inf), np.full(shape, -np.inf), *(np.full(shape, -1) for _ in range(2)))

    def add(self, total: ExtremeTotal, block: Block) -> ExtremeTotal:
        D, numbers = self.view.of(block)
        found = self.zero()
        for k in np.unique(D.codes).tolist():
            own = np.flatnonzero(D.codes == k)
            part: Any = D.X if len(own) == len(numbers) else D.X[own]
            columns = np.arange(self.n_features)
            for row, value, place in (
                (found.low_row, found.low, part.argmin(axis=0)),
                (found.high_row, found.high, part.argmax(axis=0)),
            ):
                at = np.asarray(place).ravel()
                row[k] = numbers[own[at]]
                values = part[at, columns]
                value[k] = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64).ravel()
        return self.merge(total, found)

    def merge(self, a: ExtremeTotal, b: ExtremeTotal) -> ExtremeTotal:
        lower, higher = ~(a.low <= b.low), ~(a.high >= b.high)  # NaN replaces what it is compared with
        return ExtremeTotal(
            np.where(lower, b.low, a.low),
            np.where(higher, b.high, a.high),
            np.where(lower, b.low_row, a.low_row),
            np.where(higher, b.high_row, a.high_row),
        )

    def chosen(self, total: ExtremeTotal) -> Integers:
        """The numbers of the rows; none if there are many columns."""
        if self.n_features > MOST_COLUMNS_WITH_EXTREMES:
            return np.zeros(0, dtype=np.int64)
        found = np.unique(np.concatenate([total.low_row.ravel(), total.high_row.ravel()]))
        return found[found >= 0]


@dataclass(frozen=True)
class Core:
    """The rows at hand, by increasing number, and the extreme entries of all rows, (K, d) each.

    ``is_whole``: the rows at hand are all rows with a positive weight.
    """

    rows: CarriedRows
    low: Array
    high: Array
    view: View
    is_whole: bool = False

    @property
    def numbers(self) -> Integers:
        (numbers,) = self.rows.numbers
        return numbers

    @property
    def differences(self) -> Differences:
        """The class differences of the rows at hand."""
        (block,) = self.rows.parts
        return self.view.of(block)[0]

    def with_(self, more: CarriedRows) -> Core:
        """These rows and others."""
        return replace(self, rows=self.rows.with_(more).joined())


def first_core(rows: Rows, view: View, targets: AnyArray, names: list[str] | None) -> Core:
    """The rows at hand after the first pass. ``targets``: the value of t in each class.

    Raises an error that names the entry if one is not finite.
    """
    n_columns = view.n_columns(rows)
    width = (view.K - 1) * (n_columns + view.fit_intercept)
    size = max(SAMPLE_ROWS_PER_DIRECTION * width, min(MOST_CORE_ROWS, MOST_CORE_ENTRIES // max(1, width)))
    sample, extremes = LowestHashes(size, 0, targets), ExtremeRows(view, n_columns)
    drawn, extreme = rows.fold(Together((Carried(sample), Carried(extremes))))
    low, high = extreme.total.low, extreme.total.high
    held = np.isfinite(low).any(axis=1) | np.isfinite(high).any(axis=1) | np.isnan(low).any(axis=1)
    if not (np.isfinite(low[held]).all() and np.isfinite(high[held]).all()):
        refuse_not_finite(rows, names)
    kept = drawn.rows.only(sample.chosen(drawn.total)).with_(extreme.rows.only(extremes.chosen(extreme.total)))
    is_whole = sum(part.count for part in drawn.total) <= sample.size
    return Core(kept.joined(), low, high, view, is_whole)
