"""The labels and weights of a scan: which classes there are, and the class number of each row of a batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import LabelError, WeightError
from separatrix.base.labels import encode, quoted
from separatrix.rows.coding import ClassTotals


@dataclass(frozen=True)
class Target:
    """The column of labels and the column of weights, or None. ``classes``: the labels, sorted."""

    source: str
    column: str
    weight: str | None
    classes: AnyArray

    def codes(self, batch: pa.RecordBatch) -> Integers:
        """The class number of each row."""
        known, place = _distinct(batch.column(self.column), self.source, self.column)
        position = {label: k for k, label in enumerate(self.classes.tolist())}
        unknown = next((label for label in known if label not in position), None)
        if unknown is not None:
            problem = f"column {quoted(self.column)} holds the label {unknown!r}"
            raise LabelError("classes", problem, f"list all labels; got {list(position)}")
        return np.array([position[label] for label in known], dtype=np.int64)[place]

    def weights(self, batch: pa.RecordBatch) -> Array:
        """The weight of each row, 1 without a column of weights."""
        return _weights(batch, self.weight, self.source)


def _weights(batch: pa.RecordBatch, name: str | None, source: str) -> Array:
    if name is None:
        return np.ones(batch.num_rows)
    weight = np.asarray(batch.column(name).to_numpy(zero_copy_only=False), dtype=np.float64)
    if not np.all(np.isfinite(weight) & (weight >= 0)):
        problem = f"column {quoted(name)} of {source} holds a weight that is negative or no number"
        raise WeightError("weight", problem, "give finite weights that are not negative")
    return weight


def _distinct(column: Any, source: str, name: str) -> tuple[list[Any], Integers]:
    """The different values of a column, and for each row the place of its value among them."""
    if column.null_count:
        raise LabelError("target", f"column {quoted(name)} of {source} has rows without a label", "drop these rows")
    coded = column if pa.types.is_dictionary(column.type) else compute.dictionary_encode(column)
    values: list[Any] = coded.dictionary.to_pylist()
    return values, np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def found_classes(
    batches: Iterable[pa.RecordBatch], source: str, name: str, weight: str | None
) -> tuple[AnyArray, ClassTotals]:
    """The labels of a column, sorted, and the totals of each class, in one pass over these columns."""
    totals: dict[Any, ClassTotals] = {}
    for batch in batches:
        values, place = _distinct(batch.column(name), source, name)
        found = ClassTotals.of(place, _weights(batch, weight, source), len(values))
        for k, value in enumerate(values):
            part = found.of_class(k)
            totals[value] = totals[value].merge(part) if value in totals else part
    present = [value for value, part in totals.items() if part.n_rows]
    if not present:
        raise LabelError("target", f"{source} has no rows", "give a table with rows of at least two classes")
    classes, codes = encode(present)
    return classes, ClassTotals.stacked([totals[present[int(k)]] for k in np.argsort(codes)])
