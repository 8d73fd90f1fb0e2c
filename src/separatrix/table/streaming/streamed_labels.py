"""The labels of a table, found batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Booleans, Integers
from separatrix.base.cached import cached_property
from separatrix.base.errors import LabelError, TableError
from separatrix.base.labels import encode, quoted
from separatrix.base.row_names import RowNames
from separatrix.table import cells
from separatrix.table.distinct import Distinct, encoded
from separatrix.table.streaming.batch_column import BatchColumn
from separatrix.table.target_column import labels, markers, odd_labels, refuse_unlisted, unlabelled

# A target with more different cells than this is refused at once: there are at most 1000 classes.
MOST_DIFFERENT_CELLS = 20_000


@dataclass(frozen=True, eq=False)
class SeenTarget:
    """The different cells of the target in ``n`` rows, and the number of the first empty one, if there is any."""

    name: str
    n: int = 0
    cells: Distinct | None = None
    first_null: int | None = None

    def add(self, column: BatchColumn, start: int, source: str) -> SeenTarget:
        """The same with more rows, the first of which has the number ``start``."""
        found, n = column.cells, len(column.cells)
        null = start + int(np.argmax(cells.as_array(found.is_null()))) if found.null_count else None
        merged = self.merge(SeenTarget(self.name, n, Distinct.of(column.coded, start), null))
        if merged.cells is not None and len(merged.cells) > MOST_DIFFERENT_CELLS:
            problem = f"it has more than {MOST_DIFFERENT_CELLS} different labels in the first {start + n} rows"
            remedy = "cut the numbers into classes first, or predict another column"
            raise LabelError(f"{source}, target column {self.name!r}", problem, remedy)
        return merged

    def merge(self, later: SeenTarget) -> SeenTarget:
        """These rows and the ones after them."""
        known = later.cells if self.cells is None else self.cells
        if self.cells is not None and later.cells is not None:
            known = self.cells.merge(_of_type(later.cells, self.cells))
        null = later.first_null if self.first_null is None else self.first_null
        return SeenTarget(self.name, self.n + later.n, known, null)

    @property
    def has_plus_and_minus(self) -> bool:
        """Whether + and − are among the cells, so that − is a label."""
        values = [] if self.cells is None else self.cells.values.to_pylist()
        return {"+", "-"} <= {value.strip() for value in values if isinstance(value, str)}

    def lacks_labels(self, given: Sequence[str]) -> bool:
        """Whether a row has no label."""
        return bool(unlabelled(self.whole().column, given).any())

    def whole(self) -> Distinct:
        """The cells in the order of their first rows, with null if there is an empty one."""
        assert self.cells is not None
        if self.first_null is None:
            return self.cells
        values = pa.concat_arrays([self.cells.values, pa.nulls(1, self.cells.values.type)])
        counts = np.append(self.cells.counts, self.n - self.cells.total)
        first = np.append(self.cells.first, self.first_null)
        order = np.argsort(first)
        return Distinct(values.take(pa.array(order)), counts[order], first[order])


def _of_type(more: Distinct, known: Distinct) -> Distinct:
    """The values in the type of those known: a file of a folder may have whole numbers where another has decimals."""
    same = more.values.type == known.values.type
    return more if same else Distinct(more.values.cast(known.values.type), more.counts, more.first)


@dataclass(frozen=True, eq=False)
class Labels:
    """The classes of a target, and the class number of each of its cells, −1 for a cell without a label."""

    name: str
    classes: AnyArray
    distinct: Distinct
    numbers: Integers
    given: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, seen: SeenTarget, given: Sequence[str], missing: str, names: RowNames) -> Labels:
        """The labels of a target. ``given``: the labels that the schema lists. Rows are called by ``names``."""
        whole = seen.whole()
        first = RowNames(whole.first + 1, names.files)
        absent = unlabelled(whole.column, given)
        if absent.all() and missing != "error":
            problem = f"no row has a label in the target column {quoted(seen.name)}"
            raise TableError(source, problem, "predict another column")
        known = whole if missing == "error" else whole.only(~absent)
        with first.in_errors():
            y = labels(source, known.column, seen.name, classes=given, counts=known.counts)
        refuse_unlisted(source, known.column, seen.name, given, first if missing == "error" else first[~absent])
        classes, codes = encode(y)
        numbers = np.full(len(whole), -1)
        numbers[slice(None) if missing == "error" else ~absent] = codes
        return cls(seen.name, classes, whole, numbers, tuple(given))

    @cached_property
    def _number_of(self) -> Mapping[Any, int]:
        return dict(zip(self.distinct.values.to_pylist(), self.numbers.tolist(), strict=True))

    def codes(self, column: Any) -> Integers:
        """The class number of each row of a batch, −1 where it has no label."""
        values, places = encoded(cells.decoded(column))
        known = np.array([self._number_of.get(value, -1) for value in values.to_pylist()] + [-1], dtype=np.int64)
        return known[places]  # Null has the place −1, the last.

    @property
    def counts(self) -> Integers:
        """The number of rows of each class."""
        known = self.numbers >= 0
        return np.bincount(self.numbers[known], self.distinct.counts[known], len(self.classes)).astype(np.int64)

    @property
    def n_unlabelled(self) -> int:
        """The number of rows without a label."""
        return int(self.distinct.counts[self.numbers < 0].sum())

    @property
    def spellings(self) -> list[str]:
        """The texts of the cells without a label that are not blank."""
        return markers(self.distinct.column, self.given)

    @property
    def first_rows(self) -> Integers:
        """The number of the first row of each class, counted from 0."""
        first = np.full(len(self.classes), np.iinfo(np.int64).max)
        known = self.numbers >= 0
        np.minimum.at(first, self.numbers[known], self.distinct.first[known])
        return first

    def notes(self) -> list[str]:
        """Notes on labels that look alike, or that look like a missing value."""
        return odd_labels(self.classes, self.name)


def labelled_rows(column: BatchColumn, given: Sequence[str], plus: bool) -> Booleans:
    """Which rows of a batch have a label. ``plus``: whether + is among the labels, so that − is one, too."""
    if not cells.is_text(column.cells.type):
        return np.asarray(~unlabelled(column.cells, given))
    values, places = encoded(column.coded)
    if not len(values):
        return np.zeros(len(places), dtype=bool)
    more = [pa.array(["+"])] if plus else []
    known = ~unlabelled(pa.chunked_array([values, *more]), given)[: len(values)]
    return np.append(known, False)[places]
