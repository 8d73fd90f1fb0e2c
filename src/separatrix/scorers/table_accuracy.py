"""The accuracy of a scorer on a table outside memory, as a sum over its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import NotFiniteError
from separatrix.rows import ArraySum, Block, Rows
from separatrix.rows.coding import CLASS_NUMBERS
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.model_columns import model_table


def numbered(scorer: Any) -> Any:
    """The same scorer, which predicts the numbers of classes instead of their labels."""
    return replace(scorer, classes=np.arange(len(scorer.classes)))


def places(labels: Sequence[Any], among: Sequence[Any]) -> Integers:
    """The place of each label among others, −1 for a label that is not there.

    >>> places(["b", "z"], ["a", "b"]).tolist()
    [1, -1]
    """
    place = {label: k for k, label in enumerate(among)}
    return np.array([place.get(label, -1) for label in labels], dtype=np.int64)


@contextmanager
def cells_named(rows: Rows, names: list[str] | None) -> Iterator[None]:
    """Make errors about NaN and infinity name the row of the table. A block counts rows from its own start."""
    try:
        yield
    except NotFiniteError:
        refuse_not_finite(rows, names)
        raise


@dataclass(frozen=True)
class _Right(ArraySum):
    """Σ s over the rows that are classified correctly, and over all rows; ``place``: (K,) of the model's classes."""

    scorer: Any
    place: Integers
    shape: tuple[int, ...] = (2,)

    def add(self, total: Array, block: Block) -> Array:
        is_right = self.place[self.scorer.predict(block.X)] == block.t
        total += [float(block.weight @ is_right), float(block.weight.sum())]
        return total


def table_accuracy(scorer: Any, table: OutsideMemory, names: list[str] | None, n_features: int) -> float:
    """The share, by weight, of the rows of a table that are classified correctly.

    A label that the model does not know counts as a mistake.
    """
    seen = model_table(table, table.classes, names, n_features)
    rows = seen.rows(CLASS_NUMBERS)
    place = places(scorer.classes.tolist(), seen.classes.tolist())
    with cells_named(rows, list(seen.columns)):
        right, total = rows.fold(_Right(numbered(scorer), np.where(place < 0, -2, place)))
    return float(right / total)
