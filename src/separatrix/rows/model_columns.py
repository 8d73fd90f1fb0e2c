"""A table outside memory as a fitted model reads it: the model's columns in their order, and its class numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np

from separatrix.base.arrays import AnyArray, Integers, Matrix
from separatrix.base.cached import cached_property
from separatrix.base.errors import LabelError, TableError
from separatrix.rows.block import Block
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.csr import as_csr, is_sparse
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.protocol import Rows
from separatrix.rows.sampling import Sample
from separatrix.rows.viewed import ViewedRows

A = TypeVar("A")
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
    if missing and not _are_zero(table, missing):
        listed = ", ".join(map(repr, missing[:MOST_NAMED_COLUMNS])) + ", …" * (len(missing) > MOST_NAMED_COLUMNS)
        problem = f"it lacks {len(missing)} of the {len(names)} columns of the model: {listed}"
        near = get_close_matches(missing[0], table.columns, 1)
        remedy = f"rename {near[0]!r}, if that is it" if near else "give a table with the columns that were fitted"
        raise TableError(table.name, problem, remedy)
    return np.array([place.get(name, ABSENT) for name in names], dtype=np.int64)


def _are_zero(table: OutsideMemory, missing: Sequence[str]) -> bool:
    """Whether columns that a table does not have are zero in it."""
    return table.absent_are_zero and all(re.fullmatch(r"x\d+", name, re.ASCII) for name in missing)


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
    return as_csr(_spread(X[:, order[present]], present, len(order)))


def _spread(X: Any, place: Integers, width: int) -> Any:
    """CSR rows whose columns take these places among ``width`` columns, of which the others are zero."""
    from scipy.sparse import csr_array

    if len(place) == width:
        return X
    return csr_array((X.data, place[X.indices], X.indptr), shape=(X.shape[0], width))


@dataclass(frozen=True, eq=False)
class ModelTable(OutsideMemory):
    """A table with the columns of a model, in their order, and the numbers of its classes.

    ``order`` has the place of each column in the table or ``ABSENT``, and is None if nothing changes. The labels
    of the table are among ``classes``.
    """

    source: OutsideMemory
    columns: tuple[str, ...]
    order: Integers | None
    given: AnyArray

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
        if self.source.classes.tolist() == self.given.tolist():
            return None
        position = {label: k for k, label in enumerate(self.given.tolist())}
        labels = self.source.classes.tolist()
        unknown = next((label for label in labels if label not in position), None)
        if unknown is not None:
            problem = f"it has the label {unknown!r}"
            raise LabelError(self.name, problem, f"use the classes of the fit: {list(position)}")
        return np.array([position[label] for label in labels], dtype=np.int64)

    @property
    def totals(self) -> ClassTotals:
        totals, numbers = self.source.totals, self.numbers
        if numbers is None:
            return totals
        none = ClassTotals(np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1))
        place = {int(number): k for k, number in enumerate(numbers)}
        each = [totals.of_class(place[k]) if k in place else none for k in range(len(self.given))]
        return ClassTotals.stacked(each)

    def rows(self, coding: Coding) -> Rows:
        rows = self.source.rows(coding if self.numbers is None else coding.after(self.numbers))
        return rows if self.order is None else _ModelRows(rows, self.order, Frame.identity(len(self.order)))

    def matrices(self) -> Iterator[Matrix]:
        pieces = self.source.matrices()
        return pieces if self.order is None else (_picked(X, self.order) for X in pieces)


def model_table(table: OutsideMemory, classes: AnyArray, names: Sequence[str] | None, n_features: int) -> OutsideMemory:
    """The table as a model with these classes and columns reads it."""
    order = column_order(table, names, n_features)
    return ModelTable(table, table.columns if order is None else tuple(names or ()), order, np.asarray(classes))


@dataclass(frozen=True)
class _Columns:
    """Picks the columns of a block that belong to a model, in the coordinates of a frame."""

    order: Integers
    frame: Frame

    def __call__(self, block: Block) -> Block:
        return Block(_picked(block.X, self.order), block.t, block.weight, block.start, self.frame)


@dataclass(frozen=True)
class _ModelRows(ViewedRows):
    """Rows outside memory, of which only some columns are seen, in another order and in the coordinates of a frame."""

    source: Rows
    order: Integers
    frame: Frame

    @property
    def change(self) -> _Columns:
        return _Columns(self.order, self.frame)

    @property
    def n_features(self) -> int:
        return len(self.order)

    def seen_through(self, frame: Frame) -> _ModelRows:
        return replace(self, frame=frame)

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        drawn = self.source.sample(size, seed, targets)
        return replace(drawn, block=self.change(drawn.block).written_out(np.arange(drawn.n_rows)))
