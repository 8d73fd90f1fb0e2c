"""The labels and weights of a partition, and the classes of all partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import InputError, LabelError, WeightError
from separatrix.base.labels import as_label_array, encode, known_codes, refuse_fractions
from separatrix.base.row_weights import refuse_extreme_weights
from separatrix.rows.coding import ClassTotals


@dataclass(frozen=True)
class PartLabels:
    """The labels that occur in a partition, sorted, and the rows and weights of each."""

    classes: AnyArray
    totals: ClassTotals

    @property
    def n_rows(self) -> int:
        return self.totals.n_rows

    @classmethod
    def of(cls, part: int, y: Any, weight: Any) -> PartLabels:
        """The labels of partition number ``part``. ``weight`` is None if all rows have weight one."""
        labels = labels_of(part, y)
        if len(labels) == 0:
            return cls(labels, ClassTotals.of(np.empty(0, dtype=np.int64), np.empty(0), 0))
        classes, codes = encode(labels)
        return cls(classes, ClassTotals.of(codes, weights_of(part, weight, len(labels)), len(classes)))


def labels_of(part: int, y: Any) -> AnyArray:
    """The labels of a partition, (m,). Errors name the partition."""
    values = np.asarray(y)
    try:
        labels = as_label_array(values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values)
        refuse_fractions(labels)
    except LabelError as error:
        raise in_partition(error, part) from error
    return labels


def weights_of(part: int, weight: Any, n_rows: int) -> Array:
    """The weights of a partition, (m,); ones if there are none."""
    if weight is None:
        return np.ones(n_rows)
    weights: Array = np.asarray(weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        problem = f"partition {part} has {n_rows} labels, and weights of shape {weights.shape}"
        raise WeightError("sample_weight", problem, "give one weight per row, in partitions like those of y")
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        problem = f"row {row} of partition {part} has {weights[row]}"
        raise WeightError("sample_weight", problem, "give finite weights that are not negative")
    return weights


def codes_of(part: int, y: Any, classes: AnyArray) -> Integers:
    """The class numbers of the rows of a partition, (m,)."""
    try:
        return known_codes(labels_of(part, y), classes)
    except LabelError as error:
        raise in_partition(error, part) from error


def in_partition(error: InputError, part: int) -> InputError:
    """The same error, with the number of the partition added."""
    return type(error)(error.argument, f"in partition {part}, {error.problem}", error.remedy)


def united(parts: Sequence[PartLabels]) -> tuple[AnyArray, ClassTotals]:
    """The classes of all partitions, sorted, and their totals.

    >>> one, two = PartLabels.of(0, ["b", "b"], None), PartLabels.of(1, ["c", "a", "b"], None)
    >>> classes, totals = united([one, two])
    >>> classes.tolist(), totals.rows.tolist()
    (['a', 'b', 'c'], [1, 3, 1])
    """
    filled = [part for part in parts if part.n_rows]
    if not filled:
        raise LabelError("y", "it holds no labels", "give at least one row of each of two classes")
    classes, places = encode(_together([part.classes for part in filled]))
    K = len(classes)
    totals, begin = ClassTotals(np.zeros(K, dtype=np.int64), np.zeros(K), np.zeros(K)), 0
    for part in filled:
        place = places[begin : begin + len(part.classes)]
        begin += len(part.classes)
        spread = ClassTotals(np.zeros(K, dtype=np.int64), np.zeros(K), np.zeros(K))
        spread.rows[place], spread.weight[place] = part.totals.rows, part.totals.weight
        spread.largest[place] = part.totals.largest
        totals = totals.merge(spread)
    refuse_extreme_weights("sample_weight", "the largest", float(totals.largest.max()))
    return classes, totals


def _together(labels: Sequence[AnyArray]) -> AnyArray:
    """All labels in one array. Labels of different kinds, such as text and numbers, keep their types."""
    kinds = {"n" if each.dtype.kind in "biuf" else each.dtype.kind for each in labels}
    if len(kinds) == 1:
        return np.concatenate(labels)
    return np.concatenate([each.astype(object) for each in labels])
