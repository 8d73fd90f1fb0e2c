"""The rows and classes that are checked, with cached results that several checks need.

The checks make a few passes over all rows. Costlier searches use a sample, and what they find is confirmed on all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Array, Booleans, Integers
from separatrix.base.cached import cached_property
from separatrix.base.number_text import many
from separatrix.base.row_names import RowNames
from separatrix.rows import Block, ColumnSummary, MemoryRows, memory_rows, standard_frame, summarise
from separatrix.rows.csr import is_sparse
from separatrix.table.infer import infer

# The number of rows in a sample. What is found there is confirmed on all rows.
CHECKED_SAMPLE_ROWS = 20_000
# With more columns than this, checks that need a matrix of columns by columns are skipped.
MOST_COLUMNS_FOR_GRAM_MATRIX = 1000


@dataclass(frozen=True)
class CheckedRows:
    """The rows X (n, d), float64, dense or CSR, all finite, and their classes.

    ``codes`` (n,) index ``classes``; None if the target does not hold classes. ``rows`` (n,) are the numbers or names
    by which findings name the rows. ``references`` names the reference level of each category, which has no column
    ``of=level``. ``encoded`` says that X has other columns than the table. ``ngrams`` (d,) marks n-grams of a text, if
    there are any: they are rare and of unit length by design, so that checks of single columns do not report it.
    ``sources`` (d,) names the column of the table that each column of X was made from; by default they are the same.
    ``unread`` and ``constant`` are columns of the table that X lacks, since they are text or have less than two values.
    """

    X: Any
    codes: Integers | None
    classes: AnyArray
    names: tuple[str, ...]
    rows: Integers | RowNames
    references: Mapping[str, str] = field(default_factory=dict)
    encoded: bool = False
    ngrams: Booleans | None = None
    sources: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    def columns(self, count: int | None = None) -> str:
        """The number of columns in words, for ``count`` columns or all."""
        return many(self.n_columns if count is None else count, "encoded column" if self.encoded else "column")

    def tabled(self, columns: Iterable[int]) -> list[str]:
        """The columns of the table that these columns of X were made from, each once."""
        names = self.sources or self.names
        return list(dict.fromkeys(names[j] for j in columns))

    @property
    def ignored(self) -> list[str]:
        """The columns of the table that a comparison of rows ignores: row numbers, and those of text that X lacks."""
        return [*(self.names[j] for j in self.counting), *self.unread]

    @property
    def is_sparse(self) -> bool:
        return is_sparse(self.X)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def labels(self) -> list[Any]:
        """The classes as plain values."""
        return self.classes.tolist()  # type: ignore[no-any-return]

    @property
    def known_codes(self) -> Integers:
        """The codes, for checks that run only if there are classes."""
        assert self.codes is not None
        return self.codes

    @cached_property
    def counts(self) -> Integers:
        """The number of rows of each class, (K,)."""
        return np.bincount(self.known_codes, minlength=self.n_classes)

    @cached_property
    def summary(self) -> ColumnSummary:
        return summarise(self._raw, ranges=False)

    @cached_property
    def _raw(self) -> MemoryRows:
        return memory_rows(self.X, np.zeros(self.n_rows, dtype=np.int64) if self.codes is None else self.codes)

    @cached_property
    def standard(self) -> MemoryRows:
        """The rows centred at their means and scaled by about their standard deviations; constant columns are zero."""
        return self._raw.seen_through(standard_frame(self.summary, np.zeros(self.n_columns), centred=True))

    @cached_property
    def varying(self) -> Integers:
        """The columns with more than one value."""
        return np.flatnonzero(~self.summary.constant)

    def without_ngrams(self, columns: Integers) -> Integers:
        """The columns that are not n-grams of a text."""
        return columns if self.ngrams is None else columns[~self.ngrams[columns]]

    @cached_property
    def counting(self) -> dict[int, str]:
        """Columns that look like a row number, and why."""
        # The values of an index are all different, so at most one of them is zero.
        filled = np.diff(self.X.tocsc().indptr) if self.is_sparse else np.full(self.n_columns, self.n_rows)
        candidates = np.intersect1d(self.varying, np.flatnonzero(filled >= self.n_rows - 1)).tolist()
        notes = {j: infer(pa.table({self.names[j]: self.column(j)})).columns[0].note for j in candidates}
        return {j: note for j, note in notes.items() if note}

    @cached_property
    def by_class(self) -> ByClass:
        """Ranges and counts by class and column, over all rows."""
        return self._raw.fold(_ByClass(self.n_classes, self.n_columns))

    @cached_property
    def sampled(self) -> Integers:
        """A sample of rows, stratified by class: the same number of each, or all it has. All rows if they are few."""
        n = self.n_rows
        if n <= CHECKED_SAMPLE_ROWS:
            return np.arange(n)
        rng = np.random.default_rng(0)
        if self.codes is None:
            return np.sort(rng.choice(n, CHECKED_SAMPLE_ROWS, replace=False, shuffle=False))
        size = max(1, CHECKED_SAMPLE_ROWS // self.n_classes)
        groups = [np.flatnonzero(self.codes == k) for k in range(self.n_classes)]
        return np.sort(np.concatenate([g if len(g) <= size else rng.choice(g, size, replace=False) for g in groups]))

    def column(self, j: int, rows: Integers | None = None) -> Array:
        """Column j as a dense array, of all rows or of some."""
        X = self.X if rows is None else self.X[rows]
        values = X[:, [j]].toarray()[:, 0] if self.is_sparse else X[:, j]
        return np.asarray(values, dtype=np.float64)

    def numbers(self, rows: Any) -> list[int | str]:
        """The numbers or names by which findings name these rows."""
        return self.rows[np.asarray(rows, dtype=np.int64)].tolist()  # type: ignore[no-any-return]


class ByClass(NamedTuple):
    """By class and column, all (K, d): minimum, maximum, the number of ones and of nonzero values."""

    low: Array
    high: Array
    ones: Integers
    nonzero: Integers


@dataclass(frozen=True)
class _ByClass:
    """The partial sum that computes ``ByClass``. The targets of the rows are class codes."""

    n_classes: int
    n_columns: int

    def zero(self) -> ByClass:
        shape = (self.n_classes, self.n_columns)
        counts = np.zeros((2, *shape), dtype=np.int64)
        return ByClass(np.full(shape, np.inf), np.full(shape, -np.inf), counts[0], counts[1])

    def add(self, total: ByClass, block: Block) -> ByClass:
        X: Any = block.X
        for k in np.unique(block.t).tolist():
            part = X[np.flatnonzero(block.t == k)]
            low, high = part.min(axis=0), part.max(axis=0)
            if is_sparse(part):
                low, high = low.toarray().ravel(), high.toarray().ravel()
                total.ones[k] += np.bincount(part.indices[part.data == 1], minlength=self.n_columns)
                total.nonzero[k] += np.bincount(part.indices[part.data != 0], minlength=self.n_columns)
            else:
                total.ones[k] += np.count_nonzero(part == 1, axis=0)
                total.nonzero[k] += np.count_nonzero(part, axis=0)
            np.minimum(total.low[k], low, out=total.low[k])
            np.maximum(total.high[k], high, out=total.high[k])
        return total

    def merge(self, a: ByClass, b: ByClass) -> ByClass:
        return ByClass(np.minimum(a.low, b.low), np.maximum(a.high, b.high), a.ones + b.ones, a.nonzero + b.nonzero)
