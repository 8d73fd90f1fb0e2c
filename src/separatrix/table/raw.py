"""A table before encoding, so that each fit learns its encoding from its own rows.

    decided on all rows, as the file is read     the kind of each column
    learned from the training rows               levels, reference, means, indicators, scales

A level that only held-out rows have counts as unseen. So held-out rows have no influence on the encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import TableError
from separatrix.base.pieces import pieces
from separatrix.base.row_names import RowNames
from separatrix.table.encoded_column import UNKNOWN, WORDS
from separatrix.table.encoded_table import Table
from separatrix.table.encoder import Encoder
from separatrix.table.fitting import learned, missing_counts
from separatrix.table.narrowing import (
    filled,
    left_out,
    level_counts,
    narrowed,
    new_levels,
    rare_reference,
    replaced_references,
    scaled,
)
from separatrix.table.scaling import Scaling
from separatrix.table.schema import Column, Schema
from separatrix.table.text import TextFeatures, empty_note, limit_note, without_terms
from separatrix.table.text_counts import CountedTexts

# Rows are encoded in batches of this many, so that the batch of X stays in the cache while each column is written.
ENCODED_BATCH_ROWS = 4096


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
            notes.append(scaled(encoder, isinstance(X, np.ndarray), who))
        every = (*self.notes, *notes, *self.late)
        where = (self.schema, every, self.rows, self.n_rows, scaling, self.files, self.holes)
        return Table(self.source, names, X, self.target, self.y, encoder, *where)

    def _coded(self, columns: tuple[Column, ...], train: AnyArray | None, who: str) -> tuple[Any, Encoder, list[str]]:
        """X, the encoder, and notes on columns left out, values filled and levels that no training row has."""
        fewer = [self._narrowed(column, self.V[:, j], train) for j, column in enumerate(columns)]
        used = [j for j, (column, _) in enumerate(fewer) if column.kind != "ignored"]
        if not used:
            raise TableError(self.source, f"no column varies in {who}", "hold fewer rows out, or give more columns")
        kept = [fewer[j][0] for j in used]
        V = self._renumbered(used, [fewer[j][1] for j in used])
        encoder = learned(kept, V, self.missing, self.unseen, self.source, train, self.texts)
        words = {column.name: column.text for column in encoder.columns if column.text is not None}
        texts = {name: features.of_counts(self.texts[name]) for name, features in words.items()}
        notes = [
            *left_out([column for column, _ in fewer]),
            *replaced_references(kept),
            *self._rare_references(kept, V, train),
            *filled(missing_counts(kept, V), self.missing, who),
            *self._new_levels(columns, used, V),
            *self._on_words(kept, V, words, texts, train),
        ]
        return encoder.assembled(_dense(encoder, V), texts), encoder, notes

    def _on_words(
        self,
        columns: Sequence[Column],
        V: Array,
        words: Mapping[str, TextFeatures],
        texts: Mapping[str, Any],
        train: AnyArray | None,
    ) -> Iterator[str]:
        """Notes on columns of words: on n-grams that were left out, and on texts without any n-gram."""
        for k, column in enumerate(columns):
            if column.name in texts:
                yield from limit_note(column.name, words[column.name], self.texts[column.name], train)
                yield from empty_note(column.name, without_terms(texts[column.name], np.isnan(V[:, k])))

    def _renumbered(self, used: list[int], renumberings: list[Integers | None]) -> Array:
        """The columns ``used`` of V with new level numbers; V itself where nothing changes."""
        V: Array = self.V if len(used) == self.V.shape[1] else self.V[:, used]
        if any(numbers is not None for numbers in renumberings):
            V = V.copy() if V is self.V else V
            for k, numbers in enumerate(renumberings):
                if numbers is not None:
                    V[:, k] = _with_levels(V[:, k], numbers)
        return V

    def _has_given_levels(self, column: Column) -> bool:
        """Whether the user's schema lists the levels of a column."""
        given = self.given.column(column.name)
        return given is not None and bool(given.levels)

    def _narrowed(self, column: Column, v: Array, train: AnyArray | None) -> tuple[Column, Integers | None]:
        """A category with only the levels that training rows have, and the new number of each old level.

        The numbers are None if they do not change. Levels that the user's schema lists are all kept.
        """
        if column.kind != "category" or self._has_given_levels(column):
            return column, None
        return narrowed(column, level_counts(v if train is None else v[train], len(column.levels)))

    def _rare_references(self, columns: Sequence[Column], V: Array, train: AnyArray | None) -> Iterator[str]:
        """Notes on references that nobody chose and that very few training rows have."""
        for k, column in enumerate(columns):
            if column.kind != "category" or column.preferred is not None or self._has_given_levels(column):
                continue
            v = V[:, k] if train is None else V[train, k]
            yield from rare_reference(column, level_counts(v, len(column.levels)))

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
