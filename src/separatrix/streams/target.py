"""Labels and weights of a table that is read in pieces: class numbers, and the totals of each class.

While the rows are read for the first time, labels are numbered in the order in which they appear. Afterwards they are
sorted, and ``Numbering.numbers`` turns the first numbers into class numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import LabelError, NotFiniteError, TableError, WeightError
from separatrix.base.labels import as_label_array, encode, quoted
from separatrix.rows.coding import ClassTotals
from separatrix.table.cells import is_text
from separatrix.table.target_column import labels as read_labels
from separatrix.table.target_column import unlabelled

# A column with more different values than this does not hold classes.
MOST_LABELS = 10_000


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


class Labelling:
    """Numbers the labels of a column in the order of their appearance, and sums the weights of each.

    ``is_text``: the column is text of a file without types, so that "1" and "2" mean numbers. ``given``: all labels, if
    the user has listed them. ``called(row)`` is the name of a row.
    """

    def __init__(
        self,
        source: str,
        column: str,
        called: Callable[[int], str],
        given: AnyArray | None = None,
        is_text: bool = False,
    ) -> None:
        self.source, self.column, self.called, self.given, self.is_text = source, column, called, given, is_text
        self.places: dict[Any, int] = {}
        self.first_rows: list[int] = []
        self.n_rows = 0
        self.rows: Integers = np.zeros(0, dtype=np.int64)
        self.weight, self.largest = np.zeros(0), np.zeros(0)
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
        self.rows = np.append(self.rows, 0)
        self.weight, self.largest = np.append(self.weight, 0.0), np.append(self.largest, 0.0)
        return self.places[value]

    def _count(self, codes: Integers, weight: Array | None) -> None:
        """Add rows to the totals, one after the other, so that sums have the bits of a sum over all rows at once."""
        self.n_rows += len(codes)
        self.rows += np.bincount(codes, minlength=len(self.rows))
        if weight is not None:
            self.lightest = min(self.lightest, float(weight.min(initial=np.inf)))
            np.add.at(self.weight, codes, weight)
            np.maximum.at(self.largest, codes, weight)

    def numbering(self, weighted: bool) -> Numbering:
        """The classes and totals of all rows that have been read."""
        if not self.n_rows:
            raise TableError(self.source, "it has no rows", "give a table with rows of at least two classes")
        labels = self._labels()
        classes, numbers = encode(labels) if self.given is None else self._among_given(labels)
        seen = tuple(self.places)
        rows = np.bincount(numbers, self.rows, len(classes)).astype(np.int64)
        if not weighted:
            return Numbering(
                classes, ClassTotals(rows, rows.astype(np.float64), (rows > 0).astype(np.float64)), numbers, seen
            )
        weight, largest = np.bincount(numbers, self.weight, len(classes)).astype(np.float64), np.zeros(len(classes))
        np.maximum.at(largest, numbers, self.largest)
        if self.lightest == float(largest.max(initial=0.0)):
            weight = rows.astype(np.float64) * self.lightest
        return Numbering(classes, ClassTotals(rows, weight, largest), numbers, seen)

    def _labels(self) -> AnyArray:
        """The labels in the order of appearance."""
        values = list(self.places)
        if self.is_text:
            texts: Any = pa.chunked_array([pa.array(values, pa.string())])
            given = () if self.given is None else tuple(map(str, self.given.tolist()))
            absent = np.flatnonzero(unlabelled(texts, given))
            if len(absent):
                raise self._without_label(self.first_rows[int(absent[0])], values[int(absent[0])])
            return read_labels(self.source, texts, self.column, classes=given)
        labels = as_label_array(values)
        if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
            k = int(np.argmax(labels != np.floor(labels)))
            problem = f"row {self.called(self.first_rows[k])} of column {quoted(self.column)} is {labels[k]}"
            raise LabelError("target", problem, "give a column of classes, not of measurements")
        return labels

    def _among_given(self, labels: AnyArray) -> tuple[AnyArray, Integers]:
        """The given classes, and the place of each label among them."""
        assert self.given is not None
        position = {label: k for k, label in enumerate(self.given.tolist())}
        strange = next((k for k, label in enumerate(labels.tolist()) if label not in position), None)
        if strange is not None:
            row = self.called(self.first_rows[strange])
            problem = f"row {row} of column {quoted(self.column)} has the label {labels.tolist()[strange]!r}"
            raise LabelError("classes", problem, f"list all labels; got {list(position)}")
        return self.given, np.array([position[label] for label in labels.tolist()], dtype=np.int64)

    def _without_label(self, row: int, text: str | None = None) -> LabelError:
        reads = f": it reads {text!r}" if text else ""
        problem = f"row {self.called(row)} of {self.source} has no label in column {quoted(self.column)}{reads}"
        return LabelError("target", problem, "label such rows, or remove them")

    def _too_many(self) -> LabelError:
        problem = f"column {quoted(self.column)} of {self.source} has more than {MOST_LABELS} different values"
        return LabelError("target", problem, "give a column of classes")


def _distinct(column: Any) -> tuple[list[Any], Integers]:
    """The different values of a column without nulls, and for each row the place of its value among them."""
    coded = column if pa.types.is_dictionary(column.type) else compute.dictionary_encode(column)
    values: list[Any] = coded.dictionary.to_pylist()
    return values, np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def refuse_no_labels(source: str, column: str, kind: Any) -> None:
    """Raise an error if a column of this type cannot hold labels."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (is_text(inner) or pa.types.is_integer(inner) or pa.types.is_boolean(inner) or pa.types.is_floating(inner)):
        problem = f"target column {column!r} holds {kind}, which cannot be labels"
        raise TableError(source, problem, "turn it into text or whole numbers")


def checked_weights(column: Any, name: str, source: str, start: int, called: Callable[[int], str]) -> Array:
    """A column of weights as numbers, which must be finite and not negative. ``start``: the number of its first row."""
    weight = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        row = called(start + int(wrong[0]))
        problem = f"row {row} of {source} has the weight {weight[wrong[0]]} in column {quoted(name)}"
        raise WeightError("weight", problem, "give finite weights that are not negative")
    return weight


def refuse_not_finite(X: Any, columns: Any, source: str, start: int, called: Callable[[int], str]) -> None:
    """Raise an error that names the first entry of dense rows X (m, d) that is missing, NaN or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return
    bad = np.flatnonzero(~np.isfinite(X).ravel())
    if not len(bad):  # the sum overflows
        return
    row, column = divmod(int(bad[0]), X.shape[1])
    what = "missing or NaN" if np.isnan(X[row, column]) else "infinite"
    problem = f"row {called(start + row)} of {source} is {what} in column {columns[column]!r}"
    remedy = "fill or remove such rows before, or leave the column out with drop"
    raise NotFiniteError("X", problem, remedy)
