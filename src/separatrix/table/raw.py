"""Rows as they are read, before anything is learned from their values: every fit learns from its own rows.

    what a cell holds (its kind)                     by all rows: that is how the file is read
    levels, reference, means, indicators, scales     by the rows that are fitted

A level that only other rows have is one never seen. So a row that is held out says nothing on how it is coded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import TableError
from separatrix.base.labels import quoted
from separatrix.base.messages import Message
from separatrix.base.pieces import pieces
from separatrix.table.cells import listed, shortened
from separatrix.table.encoded_table import Table
from separatrix.table.encoder import UNKNOWN, Encoder, refuse_unseen
from separatrix.table.fitting import learned, missing_counts
from separatrix.table.scaling import Scaling
from separatrix.table.schema import Column, Schema

# Rows that are coded together: columns of X lie side by side, so that more of them would be written past the cache.
BLOCK = 4096


@dataclass(frozen=True, eq=False)
class RawTable:
    """Cells V (n, p) of ``columns``, or numbers by ``names``, dense or CSR, where there are no columns; labels y (n,).

    A cell of a category is the number of its level, NaN where it has no value, ``UNKNOWN`` where the schema that was
    ``given`` does not list its level. The rest is as in ``Table``; ``late`` notes come last.

    >>> raw = RawTable("a table", np.array([[1.0], [2.0], [9.0]]), np.array([0, 1, 1]), ("age",))
    >>> raw.learned(np.array([True, True, False]), standardise=True).X.ravel().tolist()
    [-1.0, 1.0, 15.0]
    """

    source: str
    V: Any
    y: AnyArray | None
    names: tuple[str, ...] = ()
    columns: tuple[Column, ...] | None = None
    given: Schema = field(default_factory=lambda: Schema(()))
    missing: str = "error"
    unseen: str = "average"
    target: str | None = None
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    rows: Integers | None = None
    n_rows: int = 0

    @property
    def holes(self) -> dict[str, int]:
        """How many values are missing, by column, of those that lack any."""
        return {} if self.columns is None else missing_counts(self.columns, self.V)

    def learned(self, train: AnyArray | None = None, standardise: bool = False) -> Table:
        """All rows, coded by what the rows ``train`` (n,) teach; by all of them, if None."""
        train = None if train is None or train.all() else train
        who = "all rows" if train is None else "the rows fitted"
        if self.columns is None:
            X, encoder, names, notes = self.V, None, self.names, list[str]()
        else:
            X, encoder, notes = self._coded(self.columns, train, who)
            names = encoder.names
        scaling = Scaling.of(X, train) if standardise else None
        if scaling is not None:
            X = scaling.apply(X)
            how = "divided by their standard deviations" if not scaling.center.any() else "standardised"
            notes.append(f"Columns are {how}, by {who}.")
        every = (*self.notes, *notes, *self.late)
        where = (self.schema, every, self.rows, self.n_rows, scaling)
        return Table(self.source, names, X, self.target, self.y, encoder, *where)

    def _coded(self, columns: tuple[Column, ...], train: AnyArray | None, who: str) -> tuple[Any, Encoder, list[str]]:
        narrowed = [self._narrowed(column, self.V[:, j], train) for j, column in enumerate(columns)]
        used = [j for j, (column, _) in enumerate(narrowed) if column.kind != "ignored"]
        ignored = [column for column, _ in narrowed if column.kind == "ignored"]
        notes: list[str] = [
            Message(f"Column {quoted(column.name)} is left out: ", column.note, ".") for column in ignored
        ]
        if not used:
            raise TableError(self.source, f"no column varies in {who}", "hold fewer rows out, or give more columns")
        V = self.V if len(used) == len(columns) else self.V[:, used]
        moved = {k: places for k, j in enumerate(used) if (places := narrowed[j][1]) is not None}
        if moved:
            V = V.copy() if V is self.V else V
            for k, places in moved.items():
                V[:, k] = _moved(V[:, k], places)
        kept = [narrowed[j][0] for j in used]
        encoder = learned(kept, V, self.missing, self.unseen, self.source, train)
        filled = missing_counts(kept, V)
        if filled:
            where = ", ".join(f"{quoted(name)} {count}" for name, count in filled.items())
            notes.append(f"Filled with the means of {who}: missing values in {where}.")
        notes += self._new_levels(columns, used, V)
        return _matrix(encoder, V), encoder, notes

    def _narrowed(self, column: Column, v: Array, train: AnyArray | None) -> tuple[Column, Integers | None]:
        """A category with the levels that training rows have, and the new numbers of its levels, None if the same."""
        said = self.given.column(column.name)
        if column.kind != "category" or (said is not None and said.levels):
            return column, None
        held = v if train is None else v[train]
        counts = np.bincount(held[held >= 0].astype(np.intp), minlength=len(column.levels))
        present = {level: int(n) for level, n in zip(column.levels, counts, strict=True) if n}
        if len(present) < 2:
            only = f"its only value is {quoted(shortened(next(iter(present))))}" if present else "it has no value"
            return replace(column, kind="ignored", note=f"{only} in the rows fitted"), None
        first = None if said is None or said.preferred not in present else said.preferred
        first = min(present, key=lambda level: (-present[level], level)) if first is None else first
        levels = (first, *sorted(level for level in present if level != first))
        if levels == column.levels:
            return column, None
        place = {level: k for k, level in enumerate(levels)}
        places = np.array([place.get(level, int(UNKNOWN)) for level in column.levels])
        return replace(column, levels=levels), places

    def _new_levels(self, columns: tuple[Column, ...], used: list[int], V: Array) -> Iterator[str]:
        """Levels of rows held out that no training row has: told, or refused, as at prediction."""
        strange: dict[str, dict[str, int]] = {}
        for k, j in enumerate(used):
            if columns[j].kind == "category":
                codes = self.V[(V[:, k] == UNKNOWN) & (self.V[:, j] >= 0), j].astype(np.intp)
                counts = np.bincount(codes, minlength=len(columns[j].levels)).tolist()
                found = {level: n for level, n in zip(columns[j].levels, counts, strict=True) if n}
                strange |= {columns[j].name: found} if found else {}
        if strange and self.unseen == "error":
            raise refuse_unseen(self.source, strange)
        for name, levels in strange.items():
            n = sum(levels.values())
            said = f"in {n} row{'s' * (n != 1)} held out, counted as average"
            some = listed(list(map(shortened, levels)))
            yield f"Column {quoted(name)} has levels that no fitted row has, {said}: {some}."


def _moved(v: Array, places: Integers) -> Array:
    """Cells of a category with its levels numbered anew."""
    found = v.copy()
    known = np.flatnonzero(v >= 0)
    found[known] = places[v[known].astype(np.intp)]
    return found


def _matrix(encoder: Encoder, V: Array) -> Array:
    """X; V itself where a cell is a column of X."""
    if all(column.kind != "category" and not column.indicator for column in encoder.columns) and not np.isnan(V).any():
        return V
    X = np.zeros((len(V), encoder.n_columns))
    for part in pieces(len(V), BLOCK):
        for j, (column, own) in enumerate(encoder.places(X[part])):
            column.write(own, V[part, j])
    return X
