"""The same rows seen otherwise, without a copy: for other classes, with other weights, or with the columns of a model.

A view changes the blocks of rows outside memory as they are read, for example to give them other targets. K problems of
two classes, each class against the rest, are K views of the same rows. A table outside memory is seen by a fitted model
with the model's columns in their order, and with the model's class numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, Matrix
from separatrix.core.base.errors import LabelError, NotFiniteError, TableError
from separatrix.core.base.lazy import cached_property
from separatrix.core.rows.block import Block, as_csr, is_sparse
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.labelled_table import LabelledTable, OutsideMemory
from separatrix.core.rows.memory_rows import MemoryRows
from separatrix.core.rows.protocol import ArraySum, Order, Partial, PassCounter, Rows
from separatrix.core.rows.sampling import RowSample
from separatrix.core.rows.targets import CLASS_NUMBERS, ClassTotals, Coding

# --- Rows whose blocks are changed as they are read

A = TypeVar("A")


@dataclass(frozen=True)
class _OfChanged(Generic[A]):
    """A sum over changed blocks. ``change`` must be small and hold no rows, like every part of a partial."""

    partial: Partial[A]
    change: Callable[[Block], Block]

    def zero(self) -> A:
        return self.partial.zero()

    def add(self, total: A, block: Block) -> A:
        return self.partial.add(total, self.change(block))

    def merge(self, a: A, b: A) -> A:
        return self.partial.merge(a, b)


@dataclass(frozen=True)
class ViewedRows:
    """The rows ``source``, each block changed by ``change``, which must be small and hold no rows.

    ``drawn_by``: the targets of the source from which samples are drawn, in place of those of the view.
    """

    source: Rows
    change: Callable[[Block], Block]
    drawn_by: AnyArray | None = None

    @property
    def n_rows(self) -> int | None:
        return self.source.n_rows

    @property
    def n_features(self) -> int:
        return self.source.n_features

    @property
    def is_sparse(self) -> bool:
        return self.source.is_sparse

    @property
    def is_row_major(self) -> bool:
        return self.source.is_row_major

    @property
    def frame(self) -> Frame:
        return self.source.frame

    @property
    def weight_unit(self) -> float:
        return self.source.weight_unit

    @property
    def counter(self) -> PassCounter:
        return self.source.counter

    def seen_through(self, frame: Frame) -> ViewedRows:
        return replace(self, source=self.source.seen_through(frame))

    def fold(self, partial: Partial[A]) -> A:
        return self.source.fold(_OfChanged(partial, self.change))

    def blocks(self, order: Order) -> Iterator[Block]:
        return map(self.change, self.source.blocks(order))

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> RowSample:
        """A sample of the rows that have a weight in the source."""
        by = targets if targets is None or self.drawn_by is None else self.drawn_by
        drawn = self.source.sample(size, seed, by)
        return replace(drawn, block=self.change(drawn.block))

    def resident(self) -> Block | None:
        block = self.source.resident()
        return None if block is None else self.change(block)


# --- Each class against the rest, and some classes against others


def one_against_rest(rows: Rows, n_classes: int) -> list[Rows]:
    """The rows with targets ±1, once for each problem: one for two classes, one for each class if there are more.

    The targets of ``rows`` are those of ``class_targets`` (`core/rows/targets.py`). Rows in memory have a new counter
    in each problem, so that each problem counts its own passes.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> rows = memory_rows(np.zeros((3, 1)), np.array([0, 1, 2]))
    >>> [each.resident().t.tolist() for each in one_against_rest(rows, 3)]
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    positive = [None] if n_classes == 2 else list(range(n_classes))
    if isinstance(rows, MemoryRows):
        return [replace(rows, t=_signs(rows.t, k), counter=PassCounter()) for k in positive]
    return [rows if k is None else ViewedRows(rows, _Relabel(k), np.arange(n_classes)) for k in positive]


def table_against_rest(table: LabelledTable, coding: Coding, n_classes: int) -> list[Rows]:
    """``one_against_rest`` for the rows of a table. A table outside memory makes the targets while it is read.

    >>> from separatrix.core.rows.labelled_table import MemoryTable
    >>> table = MemoryTable(np.zeros((3, 1)), np.array([0, 1, 2]), np.ones(3), 3)
    >>> [each.resident().t.tolist() for each in table_against_rest(table, Coding(), 3)]
    [[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    rows = table.rows(coding)
    if n_classes == 2 or isinstance(rows, MemoryRows):
        return one_against_rest(rows, n_classes)
    two = replace(coding, signs=True)
    return [table.rows(replace(two, numbers=(np.arange(n_classes) == k).astype(np.int64))) for k in range(n_classes)]


def _signs(t: AnyArray, k: int | None) -> AnyArray:
    """±1 for class k against the rest; t itself, which already is ±1, if k is None."""
    return t if k is None else np.where(t == k, 1.0, -1.0)


@dataclass(frozen=True)
class _Relabel:
    """Replaces the targets of a block by ±1: class k against the rest."""

    k: int

    def __call__(self, block: Block) -> Block:
        return replace(block, t=_signs(block.t, self.k))


# --- Every row with weight 1


def _unweighted(block: Block) -> Block:
    return replace(block, weight=np.ones(block.n_rows))


def counted_once(rows: Rows) -> Rows:
    """The rows with weights of 1, for methods that count every row once, whatever its weight.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> rows = memory_rows(np.eye(2), np.array([-1.0, 1.0]), np.array([0.0, 3.0]))
    >>> counted_once(rows).resident().weight.tolist()
    [1.0, 1.0]
    """
    return ViewedRows(rows, _unweighted)


# --- A table as a fitted model reads it

# The most columns that an error names.
MOST_NAMED_COLUMNS = 10
# The place of a column that the table does not have, since it is zero.
ABSENT = -1


def column_order(table: OutsideMemory, names: Sequence[str] | None, n_features: int) -> Integers | None:
    """The place of each column of a model among those of a table; None if the table has just these, in this order.

    Columns are found by name. Columns that the model does not have are not used, and those that the table does not have
    are ``ABSENT`` if they are zero. A model without names takes all columns in their order, and a table without names,
    such as a Dask array, gives them in their order.
    """
    if names is None or not table.has_names:
        if table.n_features != n_features:
            without = " without names" if names is None else ""
            problem = f"it has {table.n_features} columns, and the model was fitted to {n_features}{without}"
            raise TableError(table.name, problem, "give a table with the columns that were fitted")
        return None
    if tuple(names) == table.columns:
        return None
    place = {name: j for j, name in enumerate(table.columns)}
    missing = [name for name in names if name not in place]
    are_zero = table.absent_are_zero and all(re.fullmatch(r"x\d+", name, re.ASCII) for name in missing)
    if missing and not are_zero:
        listed = ", ".join(map(repr, missing[:MOST_NAMED_COLUMNS])) + ", …" * (len(missing) > MOST_NAMED_COLUMNS)
        problem = f"it lacks {len(missing)} of the {len(names)} columns of the model: {listed}"
        near = get_close_matches(missing[0], table.columns, 1)
        remedy = f"rename {near[0]!r}, if that is it" if near else "give a table with the columns that were fitted"
        raise TableError(table.name, problem, remedy)
    return np.array([place.get(name, ABSENT) for name in names], dtype=np.int64)


def names_by_index(table: OutsideMemory, n_features: int) -> tuple[str, ...]:
    """The names of the columns of a table, with those of further columns if these are zero, up to ``n_features``."""
    names = table.columns
    first = int(names[0][1:]) if table.absent_are_zero and names else 1
    more = range(first + len(names), first + n_features) if table.absent_are_zero else ()
    return (*names, *(f"x{j}" for j in more))


def model_matrices(table: OutsideMemory, names: Sequence[str] | None, n_features: int) -> Iterator[Matrix]:
    """X in consecutive pieces with the columns of a model."""
    order = column_order(table, names, n_features)
    return (X if order is None else _picked(X, order) for X in table.matrices())


def _picked(X: Any, order: Integers) -> Any:
    """Some columns of X, row-major or CSR with sorted indices. Only CSR rows may lack some of them."""
    if not is_sparse(X):
        return np.take(X, order, axis=1)
    present = np.flatnonzero(order != ABSENT)
    found = X[:, order[present]]
    if len(present) < len(order):
        from scipy.sparse import csr_array

        found = csr_array((found.data, present[found.indices], found.indptr), shape=(X.shape[0], len(order)))
    return as_csr(found)


@dataclass(frozen=True, eq=False)
class ModelTable(OutsideMemory):
    """A table with the columns of a model, in their order, and the numbers of its classes.

    ``order`` has the place of each column in the table or ``ABSENT``, and is None if nothing changes. ``given`` are the
    classes of the model. ``renumbered`` has the new number of each class of the table, and −1 leaves the rows of a
    class without weight; by default labels keep their meaning, and those of the table must be among ``given``.
    """

    source: OutsideMemory
    columns: tuple[str, ...]
    order: Integers | None
    given: AnyArray
    renumbered: Integers | None = None

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def classes(self) -> AnyArray:
        return self.given

    @property
    def dtype(self) -> Any:
        return self.source.dtype

    @property
    def has_weights(self) -> bool:
        return self.source.has_weights

    @cached_property
    def numbers(self) -> Integers | None:
        """The number of each class of the table among those of the model; None if they are the same."""
        if self.renumbered is not None:
            return self.renumbered
        labels, classes = self.source.classes.tolist(), self.given.tolist()
        if labels == classes:
            return None
        numbers = places(labels, classes)
        if numbers.min(initial=0) < 0:
            problem = f"it has the label {labels[int(np.argmin(numbers))]!r}"
            raise LabelError(self.name, problem, f"use the classes of the fit: {classes}")
        return numbers

    @property
    def totals(self) -> ClassTotals:
        totals = self.source.totals
        return totals if self.numbers is None else totals.regrouped(self.numbers, len(self.given))

    def rows(self, coding: Coding) -> Rows:
        rows = self.source.rows(coding if self.numbers is None else coding.after(self.numbers))
        return (
            rows if self.order is None else _ModelRows(rows, _PickColumns(self.order, Frame.identity(len(self.order))))
        )

    def matrices(self) -> Iterator[Matrix]:
        pieces = self.source.matrices()
        return pieces if self.order is None else (_picked(X, self.order) for X in pieces)


def model_table(table: OutsideMemory, classes: AnyArray, names: Sequence[str] | None, n_features: int) -> OutsideMemory:
    """The table as a model with these classes and columns reads it."""
    order = column_order(table, names, n_features)
    return ModelTable(table, table.columns if order is None else tuple(names or ()), order, np.asarray(classes))


def two_class_table(table: OutsideMemory, numbers: Integers) -> OutsideMemory:
    """The rows of a table as a problem of two classes, with the labels 0 and 1.

    ``numbers`` has the new label of each class of the table; −1 leaves the rows of a class without weight.
    """
    return ModelTable(table, table.columns, None, np.array([0, 1]), numbers)


@dataclass(frozen=True)
class _PickColumns:
    """Picks the columns of a block that belong to a model, in the coordinates of a frame."""

    order: Integers
    frame: Frame

    def __call__(self, block: Block) -> Block:
        return Block(_picked(block.X, self.order), block.t, block.weight, block.start, self.frame)


@dataclass(frozen=True)
class _ModelRows(ViewedRows):
    """Rows outside memory, of which only some columns are seen, in another order and in the coordinates of a frame."""

    change: _PickColumns

    @property
    def frame(self) -> Frame:
        return self.change.frame

    @property
    def n_features(self) -> int:
        return len(self.change.order)

    def seen_through(self, frame: Frame) -> _ModelRows:
        return replace(self, change=_PickColumns(self.change.order, frame))

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> RowSample:
        drawn = super().sample(size, seed, targets)
        return replace(drawn, block=drawn.block.framed_copy(np.arange(drawn.n_rows)))


# --- The accuracy of a scorer on a table


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
