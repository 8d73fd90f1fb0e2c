"""Learn an encoder from training rows: the levels of each category, and what replaces missing and unseen values.

``learned`` does so from rows in memory: V (n, p) holds their cells as numbers, with one column for each column of the
table. A cell of a category holds the number of its level; a missing value is NaN. ``LearnedColumns`` makes the same
encoder of ``CellSums``, which are found batch by batch and merged. Both narrow an encoding to the rows fitted, and say
so in notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.core.base.arrays import AnyArray, Array, Booleans, Integers
from separatrix.core.base.errors import TableError
from separatrix.core.base.labels import quoted
from separatrix.core.base.messages import ForColumn, Message, Setting, joined, reason, remedy, solving, together
from separatrix.core.base.watching import Part, watched
from separatrix.tables.cells import drop, listed, shortened
from separatrix.tables.encoder import (
    MISSING,
    UNKNOWN,
    UNSEEN,
    WORDS,
    Encoded,
    Encoder,
    Scaling,
    checked,
    refuse_missing,
    refuse_unseen,
    text_cells,
)
from separatrix.tables.schema import Column, Schema, levels_in_order
from separatrix.tables.text import CountedTexts, TextFeatures, count_texts, learn

# --- The levels of the rows fitted, and notes

# A reference level gets a note if it has at most MOST_ROWS_OF_A_RARE_REFERENCE rows, and another level has at least
# RATIO_TO_A_RARE_REFERENCE times as many.
MOST_ROWS_OF_A_RARE_REFERENCE = 4
RATIO_TO_A_RARE_REFERENCE = 10
# What is done with missing values, before the words "the training rows".
FILLED = {
    "impute": "Missing values are filled with the means (categories: the most frequent levels) of",
    "indicator": "Missing values are filled and marked, as learned from",
}


def level_counts(v: Array, n_levels: int) -> Integers:
    """How many of the cells v (n,) of a category have each level."""
    return np.bincount(v[v >= 0].astype(np.intp), minlength=n_levels)


def lists_levels(given: Schema, column: Column) -> bool:
    """Whether the user's schema lists the levels of a column."""
    known = given.column(column.name)
    return known is not None and bool(known.levels)


def narrowed(column: Column, counts: Integers) -> tuple[Column, Integers | None]:
    """A category with only the levels that occur, by their ``counts``, and the new number of each old level.

    The numbers are None if they do not change.

    >>> narrowed(Column("city", "category", ("a", "b", "c")), np.array([3, 0, 1]))[0].levels
    ('a', 'c')
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


def column_note(column: Column) -> Message:
    """The note on a column as a sentence, which says whether the column is used.

    >>> print(column_note(Column("id", "number", note="its values never repeat")))
    Column 'id' is kept: its values never repeat.
    """
    done = "left out" if column.kind == "ignored" else "kept"
    return Message(f"Column {quoted(column.name)} is {done}: ", column.note, ".")


def left_out(columns: Sequence[Column]) -> Iterator[str]:
    """Notes on the columns that are ignored."""
    return (column_note(column) for column in columns if column.kind == "ignored")


def replaced_references(columns: Sequence[Column]) -> Iterator[str]:
    """Notes on categories whose chosen reference no training row has."""
    for column in columns:
        if column.preferred is not None and column.preferred != column.levels[0]:
            yield (
                f"The reference {quoted(column.preferred)} of column {quoted(column.name)} is in no row fitted; "
                f"{quoted(column.levels[0])} takes its place."
            )


def rare_reference(column: Column, counts: Integers) -> Iterator[str]:
    """A note on the reference of a category if very few rows have it; ``counts``: the fitted rows of each level."""
    n, most = int(counts[0]), int(counts.argmax())
    if 0 < n <= MOST_ROWS_OF_A_RARE_REFERENCE and counts[most] >= RATIO_TO_A_RARE_REFERENCE * n:
        said = f"is in {n} of the rows fitted, so the weights of the others are uncertain"
        frequent = Setting("reference", ForColumn(column.name, column.levels[most]))
        start = f"The reference {quoted(shortened(column.levels[0]))} of column {quoted(column.name)} {said}; "
        yield Message(start, "to compare with the most frequent level, give ", frequent, ".")


def filled(missing: Mapping[str, int], how: str, who: str) -> Iterator[str]:
    """A note on the missing values, which are counted by column; ``how``: what is done with them."""
    if missing:
        where = ", ".join(f"{count} in {quoted(name)}" for name, count in missing.items())
        yield f"{FILLED[how]} {who}: {where}."


def new_levels(source: str, strange: Mapping[str, dict[str, int]], unseen: str) -> Iterator[str]:
    """Notes on levels that only held-out rows have; an error if ``unseen`` is "error", as in prediction."""
    if strange and unseen == "error":
        raise refuse_unseen(source, dict(strange))
    for name, levels in strange.items():
        n = sum(levels.values())
        said = f"in {n} row{'s' * (n != 1)} held out, counted as average"
        some = listed(list(map(shortened, levels)))
        yield f"Column {quoted(name)} has levels that no fitted row has, {said}: {some}."


def scaled(encoder: Encoder | None, dense: bool, who: str) -> str:
    """A note on the columns that were standardised."""
    which = "Columns" if encoder is None or encoder.measured.all() else "Numbers and dates"
    how = "standardised" if dense else "divided by their standard deviations"
    return f"{which} are {how}, using {who}."


# --- Rows in memory


def fit_encoder(
    schema: Schema, table: pa.Table, missing: str = "error", unseen: str = "average", source: str = "the table"
) -> Encoder:
    """The encoder of the schema's columns, learned from these rows, or from those that are not dropped.

    >>> from separatrix.tables.infer import infer
    >>> table = pa.table({"age": [20.0, None, 40.0], "sex": ["f", "m", "f"]})
    >>> [column.fill for column in fit_encoder(infer(table), table, missing="impute").columns]
    [(30.0,), (0.0,)]
    """
    checked("missing", missing, MISSING)
    checked("unseen", unseen, UNSEEN)
    columns = encodable(schema, source, missing)
    V = read_cells(columns, table, source)
    kept = kept_rows(columns, V, missing, source)
    return learned(columns, V, missing, unseen, source, kept, read_texts(columns, table, source))


def encodable(schema: Schema, source: str, missing: str = "error") -> tuple[Column, ...]:
    """The columns that become X. A column of text, or a table without usable columns, is an error."""
    _refuse_text(schema, source, missing)
    if not schema.used:
        problem = "no column is left to learn from" if schema.columns else "the target is the only column"
        raise TableError(source, problem, _why_none(schema))
    return schema.used


def read_cells(columns: Sequence[Column], table: pa.Table, source: str) -> Array:
    """V (n, p), in C order."""
    V, tell = np.empty((table.num_rows, len(columns))), watched()
    for j, column in enumerate(columns):
        if tell is not None:
            tell(Part("as numbers: column", j + 1, len(columns)))
        V[:, j] = Encoded(column.name, column.kind, column.levels).read(table, source)
    return V


def read_texts(columns: Sequence[Column], table: pa.Table, source: str) -> dict[str, CountedTexts]:
    """The counted n-grams of each column of words."""
    return {
        column.name: count_texts(text_cells(table, column.name, source), column.text)
        for column in columns
        if column.kind == WORDS
    }


def missing_counts(columns: Sequence[Column], V: Array) -> dict[str, int]:
    """The number of missing values in each column that has any."""
    return counts_by_name(columns, np.isnan(V).sum(axis=0))


def counts_by_name(columns: Sequence[Column], counts: Integers) -> dict[str, int]:
    """The counts by the names of the columns, without zeros."""
    return {column.name: int(n) for column, n in zip(columns, counts, strict=True) if n}


def kept_rows(columns: Sequence[Column], V: Array, missing: str, source: str) -> AnyArray:
    """A mask (n,) of the training rows: all, or the complete ones if ``missing`` is "drop". "error" refuses holes."""
    lacking = missing_counts(columns, V)
    if lacking and missing == "error":
        raise refuse_missing(source, lacking, len(V))
    return without_holes(V, missing)


def without_holes(V: Array, missing: str) -> Booleans:
    """Which rows are kept: all, or the complete ones if ``missing`` is "drop"."""
    return np.ones(len(V), dtype=bool) if missing != "drop" else np.asarray(~np.isnan(V).any(axis=1))


def learned(
    columns: Sequence[Column],
    V: Array,
    missing: str,
    unseen: str,
    source: str,
    train: AnyArray | None = None,
    texts: Mapping[str, CountedTexts] | None = None,
) -> Encoder:
    """The encoder learned from the rows ``train`` (n,) of V and of ``texts``, or from all rows if None.

    With ``missing="indicator"``, a column gets an indicator if a training row lacks its value.

    >>> V = np.array([[20.0], [40.0], [90.0]])
    >>> learned([Column("age", "number")], V, "impute", "average", "t", np.array([1, 1, 0])).columns[0].fill
    (30.0,)
    """
    rows = np.ones(len(V), dtype=bool) if train is None else np.asarray(train, dtype=bool)
    known = ~np.isnan(V) & rows[:, None]
    means = column_means(V, known)
    holes = int(rows.sum()) - known.sum(axis=0)
    fitted = []
    for j, column in enumerate(columns):
        marked = missing == "indicator" and bool(holes[j])
        if column.kind == WORDS:
            text = learn(column.name, column.text, (texts or {})[column.name], train, source)
            fitted.append(Encoded(column.name, column.kind, indicator=marked, text=text))
            continue
        counts = level_counts(V[known[:, j], j], len(column.levels)) if column.kind == "category" else None
        fitted.append(encoded_column(column, means[j], counts, marked))
    return checked_encoder(Encoder(tuple(fitted), missing, unseen), source)


def encoded_column(column: Column, mean: float, counts: Integers | None, marked: bool) -> Encoded:
    """A column other than words, with the ``mean`` of its training rows, or with the ``counts`` of a category's levels.

    ``marked``: whether an indicator marks missing values.
    """
    if counts is None:
        mean = float(mean > 0.5) if column.kind == "boolean" else mean
        return Encoded(column.name, column.kind, column.levels, (mean,), marked)
    fill = _replacement(column.levels, counts, marked)
    shares = tuple((counts[1:] / max(int(counts.sum()), 1)).tolist())
    return Encoded(column.name, column.kind, column.levels, fill, marked, shares)


def checked_encoder(encoder: Encoder, source: str) -> Encoder:
    """The encoder, after checking that its columns of X have different names."""
    names = encoder.names
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        problem = f"two columns of X would have the name {twice!r}"
        raise TableError(source, problem, "rename a column of the table, or a level")
    return encoder


def column_means(V: Array, known: AnyArray) -> list[float]:
    """Column means of the known values. If a sum overflows, the values are scaled before they are added."""
    counts = np.maximum(known.sum(axis=0), 1)
    with np.errstate(over="ignore"):
        means = V.sum(axis=0, where=known) / counts
    if not np.isfinite(means).all():
        largest = np.abs(V).max(axis=0, where=known, initial=1.0)
        means = (V / largest).sum(axis=0, where=known) / counts * largest
    return [float(mean) for mean in means]


def _replacement(levels: Sequence[str], counts: Integers, marked: bool) -> tuple[float, ...]:
    """The columns of a missing value: those of the most frequent level, or zeros if an indicator marks it.

    Among equally frequent levels it is the first in alphabetical order, whichever is the reference.

    >>> _replacement(["b", "a", "c"], np.array([2, 2, 1]), marked=False)
    (1.0, 0.0)
    """
    order = sorted(range(len(levels)), key=lambda k: (-int(counts[k]), levels[k]))
    return tuple(float(k == order[0] and not marked) for k in range(1, len(levels)))


def _refuse_text(schema: Schema, source: str, missing: str) -> None:
    """Refuse columns that cannot be used, with the settings that solve all of them where each can be solved."""
    refused = [column for column in schema.columns if column.kind == "text"]
    if not refused:
        return
    first, *rest = refused
    problem, remedy = refusal(first)
    settings = solution(refused, missing)
    if rest and settings:
        all_left_out = [setting.name for setting in settings] == ["drop"]
        remedy = Message("leave them out with " if all_left_out else "give ", joined(" ", map(Message, settings)))
    more = f" (and {len(rest)} more: {', '.join(repr(column.name) for column in rest[:8])})" if rest else ""
    raise TableError(source, Message(f"column {first.name!r}: ", problem, more), remedy, settings)


def solution(refused: Sequence[Column], missing: str = "error") -> tuple[Setting, ...]:
    """The settings with which a table with these columns can be read; empty if a column needs more than settings.

    >>> from separatrix.core.base.messages import Remedy
    >>> told = [Column(name, "text", note=Message("it is text", Remedy("", (drop(name),)))) for name in ("id", "key")]
    >>> [setting.python for setting in solution(told)]
    ["drop=['id', 'key']"]
    """
    each = [solving(column.note) for column in refused]
    if not all(each):
        return ()
    settings = together(setting for one in each for setting in one)
    marks = missing == "error" and any(setting.name == "na" for setting in settings)
    return (*settings, Setting("missing", "impute")) if marks else settings


def refusal(column: Column) -> tuple[str, str]:
    """Why a column of text cannot be used, and what to do.

    An inferred note says both. A note that comes from the user's schema does not.

    >>> problem, remedy = refusal(Column("city", "text", note="asked for"))
    >>> problem, str(remedy)
    ('its kind in the schema is text', "leave it out with drop='city', or say what it holds in the schema")
    """
    if remedy(column.note):
        return reason(column.note), remedy(column.note)
    advice = Message("leave it out with ", drop(column.name), ", or say what it holds in the schema")
    return "its kind in the schema is text", advice


def _why_none(schema: Schema) -> str:
    notes = [Message(f"{column.name!r}: ", column.note) for column in schema.columns if column.note]
    if not notes:
        return "give at least one column to learn from"
    return Message("give columns that vary (", joined("; ", notes[:3]), ")")


# --- Rows in batches


@dataclass(frozen=True, eq=False)
class CellSums:
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
    def of(cls, columns: Sequence[Column], V: Array, fitted: Booleans) -> CellSums:
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

    def merge(self, other: CellSums) -> CellSums:
        """The sums of these rows and of others (Chan, Golub and LeVeque 1983 for means and squares)."""
        a, b = self.n_fitted - self.holes_fitted, other.n_fitted - other.holes_fitted
        share = b / np.maximum(a + b, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            apart = other.mean - self.mean
            mean = np.where(a > 0, self.mean + apart * share, other.mean)
            squares = self.squares + other.squares + np.where((a > 0) & (b > 0), apart**2 * a * share, 0.0)
        return CellSums(
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
class LearnedColumns:
    """What is learned: how ``columns`` become X. ``given``: the schema of the user."""

    source: str
    columns: tuple[Column, ...]
    given: Schema
    missing: str
    unseen: str

    def learned(self, sums: CellSums, standardise: bool) -> Learned:
        """The encoder, as ``RawTable.learned`` makes it from rows in memory."""
        who = "all rows" if sums.n_fitted == sums.n else "the rows fitted"
        fewer = [self._narrowed(j, sums) for j in range(len(self.columns))]
        used = [j for j, column in enumerate(fewer) if column.kind != "ignored"]
        if not used:
            raise TableError(self.source, f"no column varies in {who}", "hold fewer rows out, or give more columns")
        notes = [*left_out(fewer), *self._about_references(used, fewer, sums)]
        encoded = tuple(self._encoded(j, fewer[j], sums) for j in used)
        encoder = checked_encoder(Encoder(encoded, self.missing, self.unseen), self.source)
        notes += filled(counts_by_name([self.columns[j] for j in used], sums.holes[used]), self.missing, who)
        notes += new_levels(self.source, self._only_held(used, fewer, sums), self.unseen)
        scaling = None
        if standardise:
            scaling = self._scaling(encoder, used, fewer, sums)
            notes.append(scaled(encoder, not any(column.text for column in encoder.columns), who))
        return Learned(encoder, scaling, tuple(notes))

    def _about_references(self, used: Sequence[int], fewer: Sequence[Column], sums: CellSums) -> list[str]:
        """Notes on reference levels that were replaced, and on those that few rows have."""
        notes = [*replaced_references([fewer[j] for j in used])]
        for j in used:
            if fewer[j].kind == "category" and fewer[j].preferred is None and not lists_levels(self.given, fewer[j]):
                notes += rare_reference(fewer[j], self._counts(j, fewer[j], sums))
        return notes

    def _narrowed(self, j: int, sums: CellSums) -> Column:
        column = self.columns[j]
        if column.kind != "category" or lists_levels(self.given, column):
            return column
        return narrowed(column, sums.levels_fitted[j])[0]

    def _counts(self, j: int, column: Column, sums: CellSums) -> Integers:
        """The fitted rows of each level of a category with fewer or reordered levels."""
        by_level = dict(zip(self.columns[j].levels, sums.levels_fitted[j].tolist(), strict=True))
        return np.array([by_level[level] for level in column.levels])

    def _encoded(self, j: int, column: Column, sums: CellSums) -> Encoded:
        marked = self.missing == "indicator" and bool(sums.holes_fitted[j])
        if column.kind == WORDS:
            return Encoded(column.name, column.kind, indicator=marked, text=TextFeatures(column.text))
        counts = self._counts(j, column, sums) if column.kind == "category" else None
        return encoded_column(column, float(sums.mean[j]), counts, marked)

    def _only_held(self, used: Sequence[int], fewer: Sequence[Column], sums: CellSums) -> dict[str, dict[str, int]]:
        """By column, the levels that only held-out rows have, with the number of rows."""
        found: dict[str, dict[str, int]] = {}
        for j in used:
            if fewer[j].kind == "category":
                counts = dict(zip(self.columns[j].levels, sums.levels[j].tolist(), strict=True))
                new = {level: n for level, n in counts.items() if n and level not in fewer[j].levels}
                found |= {fewer[j].name: new} if new else {}
        return found

    def _scaling(self, encoder: Encoder, used: Sequence[int], fewer: Sequence[Column], sums: CellSums) -> Scaling:
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
    """By column, the rows whose level the user's schema does not list."""
    found: dict[str, Any] = {c.name: V[:, j] == UNKNOWN for j, c in enumerate(columns) if c.kind == "category"}
    return {name: rows for name, rows in found.items() if rows.any()}
