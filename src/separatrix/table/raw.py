"""A table before encoding, so that each fit learns its encoding from its own rows.

    decided on all rows, as the file is read     the kind of each column
    learned from the training rows               levels, reference, means, indicators, scales

A level that only held-out rows have counts as unseen. So held-out rows have no influence on the encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import TableError
from separatrix.base.labels import quoted
from separatrix.base.messages import ForColumn, Message, Setting
from separatrix.base.pieces import pieces
from separatrix.base.row_names import RowNames
from separatrix.table.cells import listed, shortened
from separatrix.table.encoded_table import Table
from separatrix.table.encoder import UNKNOWN, WORDS, Encoder, refuse_unseen
from separatrix.table.fitting import learned, missing_counts
from separatrix.table.references import levels_in_order
from separatrix.table.scaling import Scaling
from separatrix.table.schema import Column, Schema
from separatrix.table.text import empty_note, limit_note, without_terms
from separatrix.table.text_counts import CountedTexts

# Rows are encoded in batches of this many, so that the batch of X stays in the cache while each column is written.
ENCODED_BATCH_ROWS = 4096
# A reference level gets a note if it has at most MOST_ROWS_OF_A_RARE_REFERENCE rows, and another level has at least
# RATIO_TO_A_RARE_REFERENCE times as many.
MOST_ROWS_OF_A_RARE_REFERENCE = 4
RATIO_TO_A_RARE_REFERENCE = 10
# What is done with missing values, before the words "the training rows".
FILLED = {
    "impute": "Missing values are filled with the means (categories: the most frequent levels) of",
    "indicator": "Missing values are filled and marked, as learned from",
}


@dataclass(frozen=True, eq=False)
class RawTable:
    """Cells V (n, p) and labels y (n,) of a table.

    V holds the cells of ``columns``. If ``columns`` is None, V is a matrix of numbers, dense or CSR, with column
    ``names``. A cell of a category holds the number of its level, NaN if it has no value, or ``UNKNOWN`` if the schema
    ``given`` by the user does not list the level. A cell of words is 0 or NaN, and ``texts`` has the n-grams of these
    columns, counted in the same rows. The other fields are as in ``Table``; ``late`` notes come last.

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
    texts: Mapping[str, CountedTexts] = field(default_factory=dict)
    files: tuple[tuple[str, int], ...] = ()

    @property
    def row_names(self) -> RowNames:
        """What the rows are called, as in ``Table``."""
        return RowNames.first(self.V.shape[0]) if self.rows is None else RowNames(self.rows, self.files)

    @property
    def holes(self) -> dict[str, int]:
        """The number of missing values in each column that has any."""
        return {} if self.columns is None else missing_counts(self.columns, self.V)

    def learned(self, train: AnyArray | None = None, standardise: bool = False) -> Table:
        """All rows, with the encoding learned from the rows ``train`` (n,), or from all if None."""
        train = None if train is None or train.all() else train
        who = "all rows" if train is None else "the rows fitted"
        if self.columns is None:
            X, encoder, names, notes = self.V, None, self.names, list[str]()
        else:
            X, encoder, notes = self._coded(self.columns, train, who)
            names = encoder.names
        scaling = Scaling.of(X, train) if standardise else None
        if scaling is not None:
            scaling = scaling if encoder is None else scaling.only(encoder.measured)
            X = scaling.apply(X)
            notes.append(scaled_note(encoder, isinstance(X, np.ndarray), who))
        every = (*self.notes, *notes, *self.late)
        where = (self.schema, every, self.rows, self.n_rows, scaling, self.files)
        return Table(self.source, names, X, self.target, self.y, encoder, *where)

    def _coded(self, columns: tuple[Column, ...], train: AnyArray | None, who: str) -> tuple[Any, Encoder, list[str]]:
        """X, the encoder, and notes on columns left out, values filled and levels that no training row has."""
        fewer = [self._narrowed(column, self.V[:, j], train) for j, column in enumerate(columns)]
        used = [j for j, (column, _) in enumerate(fewer) if column.kind != "ignored"]
        if not used:
            raise TableError(self.source, f"no column varies in {who}", "hold fewer rows out, or give more columns")
        ignored = [column for column, _ in fewer if column.kind == "ignored"]
        kept = [fewer[j][0] for j in used]
        notes = narrowed_notes(ignored, kept)
        V = self._renumbered(used, [fewer[j][1] for j in used])
        notes += [note for k, column in enumerate(kept) for note in self._rare_reference(column, V[:, k], train)]
        encoder = learned(kept, V, self.missing, self.unseen, self.source, train, self.texts)
        filled = missing_counts(kept, V)
        notes += filled_notes(filled, self.missing, who)
        notes += self._new_levels(columns, used, V)
        words = {column.name: column.text for column in encoder.columns if column.text is not None}
        texts = {name: features.of_counts(self.texts[name]) for name, features in words.items()}
        for k, column in enumerate(kept):
            if column.name in texts:
                notes += limit_note(column.name, words[column.name], self.texts[column.name], train)
                notes += empty_note(column.name, without_terms(texts[column.name], np.isnan(V[:, k])))
        return encoder.assembled(_dense(encoder, V), texts), encoder, notes

    def _renumbered(self, used: list[int], renumberings: list[Integers | None]) -> Array:
        """The columns ``used`` of V with new level numbers; V itself where nothing changes."""
        V: Array = self.V if len(used) == self.V.shape[1] else self.V[:, used]
        if any(numbers is not None for numbers in renumberings):
            V = V.copy() if V is self.V else V
            for k, numbers in enumerate(renumberings):
                if numbers is not None:
                    V[:, k] = _with_levels(V[:, k], numbers)
        return V

    def _narrowed(self, column: Column, v: Array, train: AnyArray | None) -> tuple[Column, Integers | None]:
        """``narrowed`` to the levels that training rows have."""
        if column.kind != "category" or self._lists(column):
            return column, None
        return narrowed(column, level_counts(v if train is None else v[train], len(column.levels)))

    def _rare_reference(self, column: Column, v: Array, train: AnyArray | None) -> Iterator[str]:
        """A note on a reference that nobody chose and that very few training rows have."""
        if column.kind != "category" or column.preferred is not None or self._lists(column):
            return iter(())
        return rare_reference(column, level_counts(v if train is None else v[train], len(column.levels)))

    def _lists(self, column: Column) -> bool:
        """Whether the user's schema lists the levels of a category, which are then all kept."""
        given = self.given.column(column.name)
        return given is not None and bool(given.levels)

    def _new_levels(self, columns: tuple[Column, ...], used: list[int], V: Array) -> Iterator[str]:
        """Notes on levels that only held-out rows have; an error if ``unseen`` is "error", as in prediction."""
        strange: dict[str, dict[str, int]] = {}
        for k, j in enumerate(used):
            if columns[j].kind == "category":
                codes = self.V[(V[:, k] == UNKNOWN) & (self.V[:, j] >= 0), j].astype(np.intp)
                counts = np.bincount(codes, minlength=len(columns[j].levels)).tolist()
                new = {level: n for level, n in zip(columns[j].levels, counts, strict=True) if n}
                strange |= {columns[j].name: new} if new else {}
        yield from new_levels(self.source, strange, self.unseen)


def scaled_note(encoder: Encoder | None, dense: bool, who: str) -> str:
    """A note on the columns that were standardised."""
    which = "Columns" if encoder is None or encoder.measured.all() else "Numbers and dates"
    how = "standardised" if dense else "divided by their standard deviations"
    return f"{which} are {how}, using {who}."


def narrowed_notes(ignored: Sequence[Column], kept: Sequence[Column]) -> list[str]:
    """Notes on columns that do not vary in the rows fitted, and on references that are in no row fitted."""
    notes: list[str] = [Message(f"Column {quoted(column.name)} is left out: ", column.note, ".") for column in ignored]
    return notes + [
        f"The reference {quoted(column.preferred)} of column {quoted(column.name)} is in no row fitted; "
        f"{quoted(column.levels[0])} takes its place."
        for column in kept
        if column.preferred is not None and column.preferred != column.levels[0]
    ]


def filled_notes(filled: Mapping[str, int], missing: str, who: str) -> list[str]:
    """A note on the missing values that were filled, by column."""
    where = ", ".join(f"{count} in {quoted(name)}" for name, count in filled.items())
    return [f"{FILLED[missing]} {who}: {where}."] if filled else []


def level_counts(v: Array, n_levels: int) -> Integers:
    """How many of the cells v (n,) of a category have each level."""
    return np.bincount(v[v >= 0].astype(np.intp), minlength=n_levels)


def narrowed(column: Column, counts: Integers) -> tuple[Column, Integers | None]:
    """A category with only the levels that occur, by their ``counts``, and the new number of each old level.

    The numbers are None if they do not change.
    """
    present = {level: int(n) for level, n in zip(column.levels, counts, strict=True) if n}
    if len(present) < 2:
        only = f"its only value is {quoted(shortened(next(iter(present))))}" if present else "it has no value"
        return replace(column, kind="ignored", note=f"{only} in the rows fitted"), None
    levels = levels_in_order(present, column.preferred)
    if levels == column.levels:
        return column, None
    numbers = {level: k for k, level in enumerate(levels)}
    return replace(column, levels=levels), np.array([numbers.get(level, int(UNKNOWN)) for level in column.levels])


def rare_reference(column: Column, counts: Integers) -> Iterator[str]:
    """A note on the reference of a category if very few rows have it; ``counts``: the fitted rows of each level."""
    n, most = int(counts[0]), int(counts.argmax())
    if 0 < n <= MOST_ROWS_OF_A_RARE_REFERENCE and counts[most] >= RATIO_TO_A_RARE_REFERENCE * n:
        said = f"is in {n} of the rows fitted, so the weights of the others are uncertain"
        frequent = Setting("reference", ForColumn(column.name, column.levels[most]))
        start = f"The reference {quoted(shortened(column.levels[0]))} of column {quoted(column.name)} {said}; "
        yield Message(start, "to compare with the most frequent level, give ", frequent, ".")


def new_levels(source: str, strange: Mapping[str, dict[str, int]], unseen: str) -> Iterator[str]:
    """Notes on levels that only held-out rows have; an error if ``unseen`` is "error", as in prediction."""
    if strange and unseen == "error":
        raise refuse_unseen(source, dict(strange))
    for name, levels in strange.items():
        n = sum(levels.values())
        said = f"in {n} row{'s' * (n != 1)} held out, counted as average"
        some = listed(list(map(shortened, levels)))
        yield f"Column {quoted(name)} has levels that no fitted row has, {said}: {some}."


def _with_levels(v: Array, numbers: Integers) -> Array:
    """Cells v (n,) of a category with level k renumbered ``numbers[k]``."""
    renumbered = v.copy()
    known = np.flatnonzero(v >= 0)
    renumbered[known] = numbers[v[known].astype(np.intp)]
    return renumbered


def _dense(encoder: Encoder, V: Array) -> Array:
    """The columns of X that are not n-grams; V itself if they are its columns and no value is missing."""
    plain = all(column.kind not in ("category", WORDS) and not column.indicator for column in encoder.columns)
    if plain and not np.isnan(V).any():
        return V
    X = np.zeros((len(V), encoder.n_dense))
    for part in pieces(len(V), ENCODED_BATCH_ROWS):
        for j, (column, target) in enumerate(encoder.places(X[part])):
            column.write(target, V[part, j])
    return X
