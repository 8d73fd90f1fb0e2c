"""Levels, means and standard deviations of the rows fitted, found batch by batch, and the encoder made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Booleans, Integers
from separatrix.base.errors import TableError
from separatrix.table.encoded_column import UNKNOWN, WORDS, Encoded
from separatrix.table.encoder import Encoder
from separatrix.table.fitting import checked_encoder, column_means, encoded_column
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
from separatrix.table.text import TextFeatures


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows of cells V (n, p): of all rows, and of the rows fitted.

    ``n``, ``n_fitted``: the numbers of rows. ``holes``, ``holes_fitted`` (p,): those without a value. ``mean``,
    ``squares``, ``low``, ``high`` (p,): the mean, the sum of squared deviations from it, and the range of the known
    values of the rows fitted. ``levels``, ``levels_fitted``: by column of a category, the rows of each level.
    """

    n: int
    n_fitted: int
    holes: Integers
    holes_fitted: Integers
    mean: Array
    squares: Array
    low: Array
    high: Array
    levels: Mapping[int, Integers] = field(default_factory=dict)
    levels_fitted: Mapping[int, Integers] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Sequence[Column], V: Array, fitted: Booleans) -> Sums:
        """The sums of a batch, of which the rows of the mask ``fitted`` (n,) are fitted."""
        missing = np.isnan(V)
        known = ~missing & fitted[:, None]
        mean = np.array(column_means(V, known))
        with np.errstate(over="ignore", invalid="ignore"):
            squares = (np.where(known, V - mean, 0.0) ** 2).sum(axis=0)
        low, high = V.min(axis=0, where=known, initial=np.inf), V.max(axis=0, where=known, initial=-np.inf)
        categories = [j for j, column in enumerate(columns) if column.kind == "category"]
        levels = {j: level_counts(V[:, j], len(columns[j].levels)) for j in categories}
        fitted_levels = {j: level_counts(V[fitted, j], len(columns[j].levels)) for j in categories}
        holes, n_fitted = missing.sum(axis=0), int(fitted.sum())
        return cls(
            len(V), n_fitted, holes, n_fitted - known.sum(axis=0), mean, squares, low, high, levels, fitted_levels
        )

    def merge(self, other: Sums) -> Sums:
        """The sums of these rows and of others (Chan, Golub and LeVeque 1983 for means and squares)."""
        a, b = self.n_fitted - self.holes_fitted, other.n_fitted - other.holes_fitted
        share = b / np.maximum(a + b, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            apart = other.mean - self.mean
            mean = np.where(a > 0, self.mean + apart * share, other.mean)
            squares = self.squares + other.squares + np.where((a > 0) & (b > 0), apart**2 * a * share, 0.0)
        return Sums(
            self.n + other.n,
            self.n_fitted + other.n_fitted,
            self.holes + other.holes,
            self.holes_fitted + other.holes_fitted,
            mean,
            squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            {j: counts + other.levels[j] for j, counts in self.levels.items()},
            {j: counts + other.levels_fitted[j] for j, counts in self.levels_fitted.items()},
        )


@dataclass(frozen=True, eq=False)
class Learned:
    """The encoder that the rows fitted teach, the scaling if it was asked for, and notes."""

    encoder: Encoder
    scaling: Scaling | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Lesson:
    """What is learned: how ``columns`` become X. ``given``: the schema of the user."""

    source: str
    columns: tuple[Column, ...]
    given: Schema
    missing: str
    unseen: str

    def learned(self, sums: Sums, standardise: bool) -> Learned:
        """The encoder, as ``RawTable.learned`` makes it from rows in memory."""
        who = "all rows" if sums.n_fitted == sums.n else "the rows fitted"
        fewer = [self._narrowed(j, sums) for j in range(len(self.columns))]
        used = [j for j, column in enumerate(fewer) if column.kind != "ignored"]
        if not used:
            raise TableError(self.source, f"no column varies in {who}", "hold fewer rows out, or give more columns")
        notes = [*left_out(fewer), *self._about_references(used, fewer, sums)]
        encoder = Encoder(tuple(self._encoded(j, fewer[j], sums) for j in used), self.missing, self.unseen)
        checked_encoder(encoder, self.source)
        notes += filled(with_names([self.columns[j] for j in used], sums.holes[used]), self.missing, who)
        notes += new_levels(self.source, self._only_held(used, fewer, sums), self.unseen)
        scaling = None
        if standardise:
            scaling = self._scaling(encoder, used, fewer, sums)
            notes.append(scaled(encoder, not any(column.text for column in encoder.columns), who))
        return Learned(encoder, scaling, tuple(notes))

    def _about_references(self, used: Sequence[int], fewer: Sequence[Column], sums: Sums) -> list[str]:
        """Notes on reference levels that were replaced, and on those that few rows have."""
        notes = [*replaced_references([fewer[j] for j in used])]
        for j in used:
            if fewer[j].kind == "category" and fewer[j].preferred is None and not self._lists(fewer[j]):
                notes += rare_reference(fewer[j], self._counts(j, fewer[j], sums))
        return notes

    def _lists(self, column: Column) -> bool:
        given = self.given.column(column.name)
        return given is not None and bool(given.levels)

    def _narrowed(self, j: int, sums: Sums) -> Column:
        column = self.columns[j]
        if column.kind != "category" or self._lists(column):
            return column
        return narrowed(column, sums.levels_fitted[j])[0]

    def _counts(self, j: int, column: Column, sums: Sums) -> Integers:
        """The fitted rows of each level of a category with fewer or reordered levels."""
        by_level = dict(zip(self.columns[j].levels, sums.levels_fitted[j].tolist(), strict=True))
        return np.array([by_level[level] for level in column.levels])

    def _encoded(self, j: int, column: Column, sums: Sums) -> Encoded:
        marked = self.missing == "indicator" and bool(sums.holes_fitted[j])
        if column.kind == WORDS:
            return Encoded(column.name, column.kind, indicator=marked, text=TextFeatures(column.text))
        counts = self._counts(j, column, sums) if column.kind == "category" else None
        return encoded_column(column, float(sums.mean[j]), counts, marked)

    def _only_held(self, used: Sequence[int], fewer: Sequence[Column], sums: Sums) -> dict[str, dict[str, int]]:
        """By column, the levels that only held-out rows have, with the number of rows."""
        found: dict[str, dict[str, int]] = {}
        for j in used:
            if fewer[j].kind == "category":
                counts = dict(zip(self.columns[j].levels, sums.levels[j].tolist(), strict=True))
                new = {level: n for level, n in counts.items() if n and level not in fewer[j].levels}
                found |= {fewer[j].name: new} if new else {}
        return found

    def _scaling(self, encoder: Encoder, used: Sequence[int], fewer: Sequence[Column], sums: Sums) -> Scaling:
        """The mean and standard deviation of each measured column of X; missing values are filled with the mean."""
        d = encoder.n_columns
        center, scale = np.zeros(d), np.ones(d)
        sparse = any(column.text is not None for column in encoder.columns)
        place = 0
        for j, column in zip(used, encoder.columns, strict=True):
            if fewer[j].kind in ("number", "date"):
                std = float(np.sqrt(sums.squares[j] / max(sums.n_fitted, 1)))
                varies = sums.low[j] < sums.high[j] and np.isfinite(std) and std > 0
                center[place] = 0.0 if sparse else sums.mean[j] if sums.low[j] < sums.high[j] else sums.low[j]
                scale[place] = std if varies else 1.0
            place += column.width
        return Scaling(center, scale)


def unlisted(columns: Sequence[Column], V: Array) -> dict[str, Booleans]:
    """By column, the rows of a batch whose level the user's schema does not list."""
    found: dict[str, Any] = {c.name: V[:, j] == UNKNOWN for j, c in enumerate(columns) if c.kind == "category"}
    return {name: rows for name, rows in found.items() if rows.any()}


def without_holes(V: Array, missing: str) -> Booleans:
    """Which rows of a batch are kept: all, or the complete ones if ``missing`` is "drop"."""
    return np.ones(len(V), dtype=bool) if missing != "drop" else np.asarray(~np.isnan(V).any(axis=1))


def with_names(columns: Sequence[Column], counts: Integers) -> dict[str, int]:
    """The counts by the names of the columns, without zeros."""
    return {column.name: int(n) for column, n in zip(columns, counts, strict=True) if n}
