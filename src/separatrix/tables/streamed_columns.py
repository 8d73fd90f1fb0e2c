"""What the columns of a table hold, by the rules of ``infer``, and its labels, found batch by batch.

There is a class for each thing that a column can turn out to be, with the methods of ``SeenColumn``. Two of them merge,
so that different processes may read the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.core.base.arrays import AnyArray, Array, Booleans, Integers
from separatrix.core.base.errors import LabelError, TableError
from separatrix.core.base.labels import RowNames, encode, quoted
from separatrix.core.base.lazy import cached_property
from separatrix.tables import cells, infer
from separatrix.tables.encoder import Encoded
from separatrix.tables.schema import Column, with_reference
from separatrix.tables.seen_cells import (
    COMMA,
    MARKS,
    PATTERNS,
    THOUSANDS,
    Distinct,
    Facts,
    SeenNumbers,
    SeenTexts,
    Strays,
    encoded,
    numbered,
)
from separatrix.tables.target_column import labels, markers, odd_labels, refuse_unlisted, unlabelled


@dataclass(frozen=True, eq=False)
class BatchColumn:
    """The cells of a column in consecutive rows, with what is found out about them, so that each is examined only once.

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


# --- What columns hold


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
        if infer.kind_of(kind) is None:
            return NestedColumn(self.name, kind)
        return TypedColumn(self.name, str(infer.kind_of(kind)), _missing(self.n), self.reference).add(column, start)

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
        return _referring(infer.empty(self.name, self.n), self.reference)


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
        return infer.nested(self.name, self.type)


@dataclass(frozen=True, eq=False)
class TypedColumn:
    """A column of numbers, truth values or dates by its type."""

    name: str
    kind: str
    numbers: SeenNumbers
    reference: str | None = None

    def add(self, column: BatchColumn, start: int | Integers) -> TypedColumn:
        v = cells.READINGS[self.kind]("schema", self.name, column.cells)
        more = SeenNumbers.of(v, start, infer.index_named(self.name))
        return replace(self, numbers=self.numbers.merge(more))

    def merge(self, later: Any) -> TypedColumn:
        more = _missing(later.n) if isinstance(later, NewColumn) else later.numbers
        return replace(self, numbers=self.numbers.merge(more))

    def decided(self) -> Column:
        return _referring(infer.measured(self.name, self.kind, self.numbers), self.reference)


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
        numbers = None if v is None else SeenNumbers.of(v, start, infer.index_named(column.name))
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

    def _kind(self) -> Column:
        if self.numbers is not None:
            return infer.measured(self.name, "number", self.numbers)
        if self.texts.is_complete and infer.spells_truth(self.texts.texts.column):
            return infer.measured(self.name, "boolean", _read_once(self.name, "boolean", self.texts))
        if self.days is not None:
            return infer.measured(self.name, "date", self.days)
        return infer.of_words(self.name, self.texts)


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
        return _referring(infer.asked_category(self.given, texts), self.reference)


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


# The patterns that texts match if all of them are finite numbers, without points and with some.
_WITHOUT_POINTS, _WITH_POINTS = frozenset({COMMA, *MARKS}), frozenset({COMMA, THOUSANDS})
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
    patterns = frozenset[str]() if some_infinite else _WITH_POINTS if pointed else _WITHOUT_POINTS
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


# --- Labels

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
            # In the type of the cells known: a file of a folder may have whole numbers where another has decimals.
            kind, more = self.cells.values.type, later.cells
            same = more.values.type == kind
            known = self.cells.merge(more if same else Distinct(more.values.cast(kind), more.counts, more.first))
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


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """The classes of a target, and the class number of each of its cells, −1 for a cell without a label."""

    name: str
    classes: AnyArray
    distinct: Distinct
    numbers: Integers
    given: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, seen: SeenTarget, given: Sequence[str], missing: str, names: RowNames) -> CodedLabels:
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
