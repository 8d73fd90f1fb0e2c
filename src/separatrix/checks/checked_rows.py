"""What is checked: rows without holes, their classes where there are any, and what several checks ask of both, once.

Up to a few passes over all rows; what would cost more is asked of a sample first and then confirmed on all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.cached import cached_property
from separatrix.checks.finding import many
from separatrix.rows import Block, ColumnSummary, MemoryRows, memory_rows, standard_frame, summarise
from separatrix.rows.block import is_sparse
from separatrix.table.infer import infer

# Rows of a sample that proposes.
SAMPLED = 20_000
# Past so many columns what is written out by column and column is not looked for.
MOST_COLUMNS = 1000


@dataclass(frozen=True)
class CheckedRows:
    """X (n, d), float64, dense or CSR, finite; ``codes`` (n,) into ``classes``, None where the target makes none.

    ``rows`` (n,): their numbers, as they are to be told. ``references``: of columns named ``of=level``, what the
    level without a column is called. ``encoded``: the columns are not those of the table, but made of them.
    """

    X: Any
    codes: Integers | None
    classes: AnyArray
    names: tuple[str, ...]
    rows: Integers
    references: Mapping[str, str] = field(default_factory=dict)
    encoded: bool = False

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    def columns(self, count: int | None = None) -> str:
        """So many columns of X, in words: all, where no number is given."""
        return many(self.n_columns if count is None else count, "encoded column" if self.encoded else "column")

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
        """The codes, for checks that run only where there are any."""
        assert self.codes is not None
        return self.codes

    @cached_property
    def counts(self) -> Integers:
        """Rows of each class, (K,)."""
        return np.bincount(self.known_codes, minlength=self.n_classes)

    @cached_property
    def summary(self) -> ColumnSummary:
        return summarise(self._raw, ranges=False)

    @cached_property
    def _raw(self) -> MemoryRows:
        return memory_rows(self.X, np.zeros(self.n_rows, dtype=np.int64) if self.codes is None else self.codes)

    @cached_property
    def standard(self) -> MemoryRows:
        """The rows about their means, in scales near the columns' spreads; a constant column reads zero."""
        return self._raw.seen_through(standard_frame(self.summary, np.zeros(self.n_columns), centred=True))

    @cached_property
    def varying(self) -> Integers:
        """The columns with more than one value."""
        return np.flatnonzero(~self.summary.constant)

    @cached_property
    def counting(self) -> dict[int, str]:
        """Columns that look like a row number, and why."""
        # an index has a value of its own in every row, so at most one zero
        filled = np.diff(self.X.tocsc().indptr) if self.is_sparse else np.full(self.n_columns, self.n_rows)
        candidates = np.intersect1d(self.varying, np.flatnonzero(filled >= self.n_rows - 1)).tolist()
        notes = {j: infer(pa.table({self.names[j]: self.column(j)})).columns[0].note for j in candidates}
        return {j: note for j, note in notes.items() if note}

    @cached_property
    def by_class(self) -> ByClass:
        """What each class has in each column, over all rows."""
        return self._raw.fold(_ByClass(self.n_classes, self.n_columns))

    @cached_property
    def sampled(self) -> Integers:
        """Rows of a sample, the same number of each class or all it has; all rows where they are few."""
        n = self.n_rows
        if n <= SAMPLED:
            return np.arange(n)
        rng = np.random.default_rng(0)
        if self.codes is None:
            return np.sort(rng.choice(n, SAMPLED, replace=False, shuffle=False))
        size = max(1, SAMPLED // self.n_classes)
        groups = [np.flatnonzero(self.codes == k) for k in range(self.n_classes)]
        return np.sort(np.concatenate([g if len(g) <= size else rng.choice(g, size, replace=False) for g in groups]))

    def column(self, j: int, rows: Integers | None = None) -> Array:
        """Column j, dense: of all rows, or of some."""
        X = self.X if rows is None else self.X[rows]
        values = X[:, [j]].toarray()[:, 0] if self.is_sparse else X[:, j]
        return np.asarray(values, dtype=np.float64)

    def numbers(self, rows: Any) -> list[int]:
        """Row numbers as they are to be told."""
        return self.rows[np.asarray(rows, dtype=np.int64)].tolist()  # type: ignore[no-any-return]


class ByClass(NamedTuple):
    """By class and column, all (K, d): least and largest value, how many are 1, how many are not 0."""

    low: Array
    high: Array
    ones: Integers
    nonzero: Integers


@dataclass(frozen=True)
class _ByClass:
    """The partial sum behind ``ByClass``; targets are class numbers."""

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
