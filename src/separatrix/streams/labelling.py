"""Labels and weights of a table that is read in pieces: class numbers, and the totals of each class.

While the rows are read for the first time, labels are numbered in the order in which they appear. Afterwards they are
sorted, and ``Numbering.numbers`` turns the first numbers into class numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import LabelError, NotFiniteError, TableError, WeightError
from separatrix.base.labels import as_label_array, encode, quoted
from separatrix.base.row_weights import refuse_extreme_weights
from separatrix.rows.coding import ClassTotals
from separatrix.streams.batches import LabelKind
from separatrix.table.cells import is_text
from separatrix.table.target_column import labels as read_labels
from separatrix.table.target_column import unlabelled

# A column with more different values than this does not hold classes.
MOST_LABELS = 10_000
# Whole numbers in a range of at most this many are not searched for those that occur.
WIDEST_RANGE = 64


@dataclass(frozen=True)
class Numbering:
    """The sorted ``classes``, the totals of each, and the class of each label in the order of appearance, (labels,).

    ``labels`` are these labels as the source has them, such as the text "1" for the class 1.
    """

    classes: AnyArray
    totals: ClassTotals
    numbers: Integers
    labels: tuple[Any, ...] = ()

    @property
    def is_identity(self) -> bool:
        """Whether labels appeared in the order of their classes."""
        return bool(np.array_equal(self.numbers, np.arange(len(self.numbers))))

    def codes(self, column: Any, source: str) -> Integers:
        """The class numbers of rows that are read again. All their labels must be known."""
        values, index = _distinct(column)
        known = dict(zip(self.labels, self.numbers.tolist(), strict=True))
        strange = next((k for k, value in enumerate(values) if value not in known and (index == k).any()), None)
        if strange is not None or column.null_count:
            what = "an empty label" if strange is None else f"the label {values[strange]!r}"
            problem = f"it has {what} now, which it had not when it was first read"
            raise TableError(source, problem, "leave the source unchanged during a fit")
        place = np.array([known.get(value, -1) for value in values], dtype=np.int64)
        return np.asarray(place[index])


@dataclass(frozen=True)
class LabelColumn:
    """Where labels are: the name of their column, or None, and all labels if the user has listed them."""

    column: str | None
    given: AnyArray | None

    def labelling(self, table: Labelled) -> Labelling | None:
        """A new object that numbers the labels of a table; None if it has no labels."""
        if self.column is None:
            return None
        return Labelling(table.name, self.column, table.called, self.given, table.label_kind)


class Labelled(Protocol):
    """What is known of the labels of a table, and of its rows' names."""

    @property
    def name(self) -> str: ...
    @property
    def label_kind(self) -> LabelKind: ...
    def called(self, row: int) -> str: ...


class Labelling:
    """Numbers the labels of a column in the order of their appearance, and sums the weights of each.

    ``kind``: what labels look like in the source. ``given``: all labels, if
    the user has listed them. ``called(row)`` is the name of a row.
    """

    def __init__(
        self,
        source: str,
        column: str,
        called: Callable[[int], str],
        given: AnyArray | None = None,
        kind: LabelKind = "typed",
    ) -> None:
        self.source, self.column, self.called, self.given, self.kind = source, column, called, given, kind
        self.places: dict[Any, int] = {}
        self.first_rows: list[int] = []
        self.among_given: list[int] = []
        self.n_rows = 0
        self.totals = _no_rows(0)
        self.lightest = np.inf

    def codes(self, column: Any, weight: Array | None) -> Integers:
        """The numbers of the labels of the next rows, whose weights are given, or are 1."""
        if column.null_count:
            row = int(compute.index(column.is_null(), True).as_py())
            raise self._without_label(self.n_rows + row)
        values, index = _distinct(column)
        if len(values) > MOST_LABELS:
            raise self._too_many()
        place = np.array([self._place(value, index, k) for k, value in enumerate(values)], dtype=np.int64)
        codes: Integers = place[index] if len(values) else index
        self._count(codes, weight)
        return codes

    def class_numbers(self, column: Any, weight: Array | None) -> Integers:
        """The class numbers of the next rows, if all classes are given. A label that is not among them is refused."""
        codes = self.codes(column, weight)
        return self._place_among_given()[codes]

    def _place(self, value: Any, index: Integers, k: int) -> int:
        place = self.places.get(value)
        if place is not None:
            return place
        first = np.flatnonzero(index == k)[:1]
        if not len(first):  # a level of a dictionary that no row has
            return -1
        row = self.n_rows + int(first[0])
        if value is None or value != value:
            raise self._without_label(row)
        if len(self.places) >= MOST_LABELS:
            raise self._too_many()
        self.places[value] = len(self.places)
        self.first_rows.append(row)
        return self.places[value]

    def _count(self, codes: Integers, weight: Array | None) -> None:
        """Add rows to the totals."""
        self.n_rows += len(codes)
        if weight is not None:
            self.lightest = min(self.lightest, float(weight.min(initial=np.inf)))
        found = ClassTotals.of(codes, np.ones(len(codes)) if weight is None else weight, len(self.places))
        more = len(self.places) - len(self.totals.rows)
        before = ClassTotals.stacked([self.totals, _no_rows(more)]) if more else self.totals
        self.totals = before.merge(found)

    def numbering(self, weighted: bool) -> Numbering:
        """The classes and totals of all rows that have been read."""
        if not self.n_rows:
            raise TableError(self.source, "it has no rows", "give a table with rows of at least two classes")
        if self.given is None:
            classes, numbers = encode(self._labels())
        else:
            classes, numbers = self.given, self._place_among_given()
        by_class = [_no_rows(1)] * len(classes)
        for label, number in enumerate(numbers.tolist()):
            by_class[number] = by_class[number].merge(self.totals.of_class(label))
        totals = ClassTotals.stacked(by_class)
        heaviest = float(totals.largest.max(initial=0.0))
        refuse_extreme_weights("weight", f"the largest weight of {self.source}", heaviest)
        if weighted and self.lightest == heaviest:
            totals = replace(totals, weight=totals.rows.astype(np.float64) * self.lightest, rest=None)
        return Numbering(classes, totals, numbers, tuple(self.places))

    def _labels(self) -> AnyArray:
        """The labels in the order of appearance."""
        values = list(self.places)
        return self._read_text(values, 0) if self.kind == "text" else self._refuse_fractions(as_label_array(values), 0)

    def _read_text(self, texts: list[str], start: int, typed: bool = True) -> AnyArray:
        """Labels that are text in the source. ``start``: how many labels precede them."""
        column: Any = pa.chunked_array([pa.array(texts, pa.string())])
        given = () if self.given is None else tuple(map(str, self.given.tolist()))
        absent = np.flatnonzero(unlabelled(column, given))
        if len(absent):
            k = int(absent[0])
            raise self._without_label(self.first_rows[start + k], texts[k])
        return read_labels(self.source, column, self.column, typed, given)

    def _refuse_fractions(self, labels: AnyArray, start: int) -> AnyArray:
        if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
            k = int(np.argmax(labels != np.floor(labels)))
            problem = f"row {self.called(self.first_rows[start + k])} is {labels[k]} in column {quoted(self.column)}"
            raise LabelError("target", problem, "give a column of classes, not of measurements")
        return labels.astype(np.int64) if self.kind == "number" and np.all(np.abs(labels) < 2**53) else labels

    def _place_among_given(self) -> Integers:
        """The place of each label among the given classes. New labels are looked up one by one.

        So it does not matter for the meaning of a label which others have been read.
        """
        assert self.given is not None
        known = len(self.among_given)
        if known < len(self.places):
            position = {label: k for k, label in enumerate(self.given.tolist())}
            for k, value in enumerate(list(self.places)[known:], known):
                if self.kind == "text":  # classes that are text are compared as text
                    label = self._read_text([value], k, typed=self.given.dtype.kind in "biuf").tolist()[0]
                else:
                    label = self._refuse_fractions(as_label_array([value]), k).tolist()[0]
                if label not in position:
                    row = self.called(self.first_rows[k])
                    problem = f"row {row} has the label {label!r} in column {quoted(self.column)}"
                    raise LabelError("classes", problem, f"list all labels; got {list(position)}")
                self.among_given.append(position[label])
        return np.array(self.among_given, dtype=np.int64)

    def _without_label(self, row: int, text: str | None = None) -> LabelError:
        reads = f": it reads {text!r}" if text else ""
        problem = f"row {self.called(row)} has no label in column {quoted(self.column)}{reads}"
        return LabelError("target", problem, "label such rows, or remove them")

    def _too_many(self) -> LabelError:
        problem = f"column {quoted(self.column)} of {self.source} has more than {MOST_LABELS} different values"
        return LabelError("target", problem, "give a column of classes")


def _no_rows(n_classes: int) -> ClassTotals:
    """The totals of classes without rows."""
    return ClassTotals(np.zeros(n_classes, dtype=np.int64), np.zeros(n_classes), np.zeros(n_classes))


def _distinct(column: Any) -> tuple[list[Any], Integers]:
    """The different values of a column without nulls, and for each row the place of its value among them.

    For whole numbers in a small range these are all numbers of the range: finding the different ones takes longer.
    """
    if pa.types.is_integer(column.type) and len(column) and not column.null_count:
        numbers = column.to_numpy(zero_copy_only=False)
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < WIDEST_RANGE:
            return list(range(low, high + 1)), (numbers - numbers.dtype.type(low)).astype(np.int64)
    coded = column if pa.types.is_dictionary(column.type) else compute.dictionary_encode(column)
    values: list[Any] = coded.dictionary.to_pylist()
    return values, np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def refuse_no_labels(source: str, column: str, kind: Any) -> None:
    """Raise an error if a column of this type cannot hold labels."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (is_text(inner) or pa.types.is_integer(inner) or pa.types.is_boolean(inner) or pa.types.is_floating(inner)):
        problem = f"target column {column!r} holds {kind}, which cannot be labels"
        raise TableError(source, problem, "turn it into text or whole numbers")


def checked_weights(column: Any, name: str, start: int, called: Callable[[int], str]) -> Array:
    """A column of weights as numbers, which must be finite and not negative. ``start``: the number of its first row."""
    weight = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        row = called(start + int(wrong[0]))
        problem = f"row {row} has the weight {weight[wrong[0]]} in column {quoted(name)}"
        raise WeightError("weight", problem, "give finite weights that are not negative")
    return weight


def refuse_not_finite(X: Any, columns: Any, start: int, called: Callable[[int], str]) -> None:
    """Raise an error that names the first entry of dense rows X (m, d) that is missing, NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(X).ravel())
    if not len(bad):
        return
    row, column = divmod(int(bad[0]), X.shape[1])
    what = "missing or NaN" if np.isnan(X[row, column]) else "infinite"
    problem = f"row {called(start + row)} is {what} in column {columns[column]!r}"
    remedy = "fill or remove such rows before, or leave the column out with drop"
    raise NotFiniteError("X", problem, remedy)
