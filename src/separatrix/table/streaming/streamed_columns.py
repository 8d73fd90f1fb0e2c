"""What the columns of a table hold, by the rules of ``infer``, found batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import TableError
from separatrix.table import cells
from separatrix.table.comma_numbers import COMMA, MARKS, THOUSANDS
from separatrix.table.distinct import Distinct, numbered
from separatrix.table.encoded_column import Encoded
from separatrix.table.infer import asked_category, empty, index_named, kind_of, measured, nested, of_words, spells_truth
from separatrix.table.references import with_reference
from separatrix.table.schema import Column
from separatrix.table.seen_numbers import SeenNumbers
from separatrix.table.seen_texts import Facts, SeenTexts
from separatrix.table.stray_texts import PATTERNS, Strays
from separatrix.table.streaming.batch_column import BatchColumn


class SeenColumn(Protocol):
    """What is known about a column after some rows."""

    def add(self, column: BatchColumn, start: int | Integers) -> SeenColumn:
        """The same with more rows, the first of which has the number ``start``; or ``start`` has all their numbers."""

    def merge(self, later: Any) -> SeenColumn:
        """These rows and the ones after them, of the same column."""

    def decided(self) -> Column:
        """What the column holds."""


def seen_column(name: str, given: Column | None, reference: str | None, source: str) -> SeenColumn:
    """What is known about a column before the first row. ``given``: what the user says about it."""
    if given is None:
        return NewColumn(name, reference)
    if given.kind == "category" and not given.levels:
        return AskedCategory(replace(given, preferred=None) if reference is not None else given, reference)
    return GivenColumn(given, reference, source)


@dataclass(frozen=True, eq=False)
class NewColumn:
    """A column without any value so far: ``n`` rows, all of Arrow's null type."""

    name: str
    reference: str | None = None
    n: int = 0

    def add(self, column: BatchColumn, start: int | Integers) -> SeenColumn:
        kind: Any = column.cells.type
        if pa.types.is_null(kind):
            return replace(self, n=self.n + len(column.cells))
        if cells.is_text(kind):
            return self._as_text().add(column, start)
        if kind_of(kind) is None:
            return NestedColumn(self.name, kind)
        return TypedColumn(self.name, str(kind_of(kind)), _missing(self.n), self.reference).add(column, start)

    def _as_text(self) -> TextColumn:
        return TextColumn.of(BatchColumn(self.name, _nulls(self.n)), 0, reference=self.reference)

    def merge(self, later: Any) -> SeenColumn:
        if isinstance(later, NewColumn):
            return replace(self, n=self.n + later.n)
        if isinstance(later, TextColumn):
            return self._as_text().merge(later)
        if isinstance(later, TypedColumn):
            return replace(later, numbers=_missing(self.n).merge(later.numbers))
        found: SeenColumn = later
        return found

    def decided(self) -> Column:
        return _referring(empty(self.name, self.n), self.reference)


@dataclass(frozen=True, eq=False)
class NestedColumn:
    """A column of a type that cannot be used."""

    name: str
    type: Any

    def add(self, column: BatchColumn, start: int | Integers) -> NestedColumn:
        return self

    def merge(self, later: Any) -> NestedColumn:
        return self

    def decided(self) -> Column:
        return nested(self.name, self.type)


@dataclass(frozen=True, eq=False)
class TypedColumn:
    """A column of numbers, truth values or dates by its type."""

    name: str
    kind: str
    numbers: SeenNumbers
    reference: str | None = None

    def add(self, column: BatchColumn, start: int | Integers) -> TypedColumn:
        v = cells.READINGS[self.kind]("schema", self.name, column.cells)
        more = SeenNumbers.of(v, start, index_named(self.name))
        return replace(self, numbers=self.numbers.merge(more))

    def merge(self, later: Any) -> TypedColumn:
        more = _missing(later.n) if isinstance(later, NewColumn) else later.numbers
        return replace(self, numbers=self.numbers.merge(more))

    def decided(self) -> Column:
        return _referring(measured(self.name, self.kind, self.numbers), self.reference)


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column of text. ``numbers`` and ``days``: its values as such, None if a text does not read so."""

    name: str
    texts: SeenTexts
    numbers: SeenNumbers | None
    days: SeenNumbers | None
    reference: str | None = None

    @classmethod
    def of(
        cls,
        column: BatchColumn,
        start: int | Integers,
        before: TextColumn | None = None,
        reference: str | None = None,
    ) -> TextColumn:
        """The texts of a batch. What ``before`` has found out to be otherwise is not looked for again."""
        v = None if before is not None and before.numbers is None else column.numbers
        numbers = None if v is None else SeenNumbers.of(v, start, index_named(column.name))
        if v is not None and numbers is not None and before is not None and before.texts.facts is not None:
            texts = _of_numbers(column.cells, v, start, before.texts.facts, numbers.infinite is not None)
            return cls(column.name, texts, numbers, None, reference)
        texts = SeenTexts.of(column.coded, start)
        days = None if before is not None and before.days is None else _days(column.name, texts)
        return cls(column.name, texts, numbers, days, reference)

    def add(self, column: BatchColumn, start: int | Integers) -> TextColumn:
        return self.merge(TextColumn.of(column, start, self))

    def merge(self, later: Any) -> TextColumn:
        """These rows and the ones after them."""
        if isinstance(later, NewColumn):
            return self.add(BatchColumn(self.name, _nulls(later.n)), 0)
        return TextColumn(
            self.name,
            self.texts.merge(later.texts),
            _both(self.numbers, later.numbers),
            _both(self.days, later.days),
            self.reference,
        )

    def decided(self) -> Column:
        return _referring(self._kind(), self.reference)

    @property
    def has_points(self) -> bool:
        """Whether the texts are numbers of which some have points."""
        return self.texts.about.has_points

    def _kind(self) -> Column:
        if self.numbers is not None:
            return measured(self.name, "number", self.numbers)
        if self.texts.is_complete and spells_truth(self.texts.texts.column):
            return measured(self.name, "boolean", _read_once(self.name, "boolean", self.texts))
        if self.days is not None:
            return measured(self.name, "date", self.days)
        return of_words(self.name, self.texts)


@dataclass(frozen=True, eq=False)
class AskedCategory:
    """A category that the user asks for without listing its levels."""

    given: Column
    reference: str | None
    texts: SeenTexts | None = None

    def add(self, column: BatchColumn, start: int | Integers) -> AskedCategory:
        more = SeenTexts.of(cells.texts("schema", self.given.name, column.cells), start)
        return self._with(more)

    def merge(self, later: Any) -> AskedCategory:
        return self if later.texts is None else self._with(later.texts)

    def _with(self, more: SeenTexts) -> AskedCategory:
        return replace(self, texts=more if self.texts is None else self.texts.merge(more))

    def decided(self) -> Column:
        texts = SeenTexts.of(_nulls(0)) if self.texts is None else self.texts
        return _referring(asked_category(self.given, texts), self.reference)


@dataclass(frozen=True, eq=False)
class GivenColumn:
    """A column of which the user says what it holds. A cell that does not is an error."""

    given: Column
    reference: str | None
    source: str

    def add(self, column: BatchColumn, start: int | Integers) -> GivenColumn:
        if self.given.kind not in ("text", "ignored") and not self._is_finite(column):
            table = pa.table({self.given.name: column.cells})
            Encoded(self.given.name, self.given.kind, self.given.levels).read(table, self.source)
        return self

    def _is_finite(self, column: BatchColumn) -> bool:
        """Whether the cells are finite numbers, as they should be."""
        v = column.numbers if self.given.kind == "number" and cells.is_text(column.cells.type) else None
        return v is not None and not np.isinf(v).any()

    def merge(self, later: Any) -> GivenColumn:
        return self

    def decided(self) -> Column:
        return _referring(self.given, self.reference)


# The patterns that texts match if all of them are numbers, without points and with some; and if one is infinite.
_WITHOUT_POINTS, _WITH_POINTS = frozenset({COMMA, *MARKS}), frozenset({COMMA, THOUSANDS})
_WITH_INFINITE = frozenset[str]()
_NO_TEXTS = Distinct(pa.nulls(0, pa.string()), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def _referring(column: Column, reference: str | None) -> Column:
    return column if reference is None else with_reference(column, reference)


def _missing(n: int) -> SeenNumbers:
    """What is known about n rows without a number."""
    return SeenNumbers.of(np.full(n, np.nan))


def _nulls(n: int) -> Any:
    return pa.chunked_array([pa.nulls(n, pa.string())])


def _of_numbers(column: Any, v: Array, start: int | Integers, before: Facts, some_infinite: bool) -> SeenTexts:
    """What matters about texts that all read as numbers, if their different spellings are not kept.

    Signs and separators of thousands are not looked for. If the rows ``before`` have an example, it is kept.
    """
    infinite: Any = np.flatnonzero(np.isinf(v)) if some_infinite else np.empty(0, dtype=np.int64)
    numbers = np.flatnonzero(~np.isnan(v))
    strays = dict.fromkeys(PATTERNS, _strays(column, numbers, 0, start))
    strays["number"] = _strays(column, infinite, len(numbers) - len(infinite), start)
    known = len(column) - column.null_count
    example = None if not known else before.example or column.drop_null()[0].as_py()
    pointed = before.has_points or compute.any(compute.match_substring(column, ".")).as_py()
    patterns = _WITH_INFINITE if some_infinite else _WITH_POINTS if pointed else _WITHOUT_POINTS
    return SeenTexts(len(column), _NO_TEXTS, Facts(known, patterns, None, strays, (), example))


def _strays(column: Any, places: Integers, fitting: int, start: int | Integers) -> Strays:
    """The cells at these places as strays, of which only the first is kept."""
    return Strays(len(places), fitting, tuple((column[int(k)].as_py(), int(numbered(start, k))) for k in places[:1]))


def _days(name: str, texts: SeenTexts) -> SeenNumbers | None:
    """The texts as days; None if one is not a date."""
    try:
        cells.days("schema", name, texts.texts.column.slice(0, 1))  # Most columns are refused by their first text.
        return _read_once(name, "date", texts)
    except TableError:
        return None


def _read_once(name: str, kind: str, seen: SeenTexts) -> SeenNumbers:
    """The texts as numbers of a kind, each different one read once: what matters but for their order."""
    v = cells.READINGS[kind]("schema", name, seen.texts.column)
    known = int(seen.texts.counts[~np.isnan(v)].sum())
    return replace(SeenNumbers.of(v), n=seen.n, known=known)


def _both(a: SeenNumbers | None, b: SeenNumbers | None) -> SeenNumbers | None:
    return None if a is None or b is None else a.merge(b)
