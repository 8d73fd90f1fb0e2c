"""Infer what each column of a table holds.

All rows are looked at:

    no value at all, or the same value in all rows      ignored, with a note
    numbers, or text that reads as numbers throughout   number; whole numbers too, unless the schema says category
    true and false, in upper or lower case              boolean; "yes" and "no" and the like are a category
    ISO dates and times                                 date
    other text with at most max(20, min(1000, n/20)) distinct values     category
    text with more distinct values or no repeated one, nested values     text: refused, with advice, which for free
                                                                         text is to use its words
    numbers, truth values or dates in at least 95 % of the cells, other text in the rest
                                                                         text: refused, naming the first such cell
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.core.base.errors import TableError
from separatrix.core.base.messages import Message, Remedy, RowNumber, Setting
from separatrix.core.base.watching import Part, watched
from separatrix.tables import cells, seen_cells
from separatrix.tables.schema import Column, Schema, levels_in_order, with_reference
from separatrix.tables.seen_cells import Facts, SeenNumbers, SeenTexts, Strays
from separatrix.tables.text import ngrams

# A category may have n / 20 levels in n rows, but at least 20 and at most 1000.
_ROWS_PER_LEVEL, _LEVELS_AT_LEAST, _LEVELS_AT_MOST = 20, 20, 1000
_NOT_OF_THE_KIND = {"number": "not a number", "boolean": "not true or false", "date": "not a date"}
# In fewer rows than this, whole numbers that count up or never repeat are not taken for an index.
_FEWEST_ROWS_OF_AN_INDEX = 20
# A column is taken for free text if half of its different texts have at least this many words.
_WORDS_IN_FREE_TEXT = 4
_INDEX = re.compile(r"(?i:(.*[\W_])?(id|idx|index|key|nr|no|row|rownames?|rownumber|unnamed)[\W_]*\d*)|.*[a-z]I[Dd]")


def most_levels(n: int) -> int:
    """The most distinct values that a category may have in n rows.

    >>> most_levels(100), most_levels(1000), most_levels(10**6)
    (20, 50, 1000)
    """
    return max(_LEVELS_AT_LEAST, min(_LEVELS_AT_MOST, n // _ROWS_PER_LEVEL))


def infer(
    table: pa.Table,
    target: str | None = None,
    given: Schema | None = None,
    reference: Mapping[str, str] | None = None,
) -> Schema:
    """The schema of all columns except the target. What ``given`` says about a column overrides what is inferred.

    The levels of a category are in alphabetical order, and the first is its reference, unless ``reference`` gives
    another one for the column. So the reference stays the same when rows are added or left out, as long as it still
    occurs.

    >>> table = pa.table({"age": ["31", "?", "40.5"], "sex": ["f", "m", "f"], "one": [1, 1, 1]})
    >>> [(column.name, column.kind, column.levels) for column in infer(table).columns]
    [('age', 'number', ()), ('sex', 'category', ('f', 'm')), ('one', 'ignored', ())]
    """
    by_name = {} if given is None else {column.name: column for column in given.columns}
    asked = reference or {}
    columns = []
    tell = watched()
    for k, name in enumerate(table.column_names, 1):
        if name == target:
            continue
        if tell is not None:
            tell(Part("what columns hold: column", k, table.num_columns))
        column = by_name.get(name) or _judged(name, table.column(name))
        if name in by_name and column.kind == "category" and not column.levels:
            wanted = replace(column, preferred=None) if name in asked else column
            column = asked_category(wanted, SeenTexts.of(cells.texts("schema", name, table.column(name))))
        columns.append(with_reference(column, asked[name]) if name in asked else column)
    others = (table.column(name) for name in table.column_names if name != target and name not in by_name)
    columns = seen_cells.settled(columns, lambda: any(map(_has_other_numbers, others)))
    return Schema(tuple(columns), target, () if given is None else given.classes)


def _has_other_numbers(column: Any) -> bool:
    """Whether a column has numbers that a file with decimal commas would not have."""
    column = cells.decoded(column)
    if cells.is_text(column.type):
        return SeenTexts.of(column).about.has_points
    return cells.is_number(column.type)


def _judged(name: str, column: Any) -> Column:
    column = cells.decoded(column)
    kind: Any = column.type
    if cells.is_text(kind):
        return _of_text(name, column)
    if pa.types.is_null(kind):
        return empty(name, len(column))
    what = kind_of(kind)
    if what is None:
        return nested(name, kind)
    return measured(
        name, what, SeenNumbers.of(cells.READINGS[what]("schema", name, column), distinct=index_named(name))
    )


def kind_of(kind: Any) -> str | None:
    """The kind of a column with this Arrow type, if that is not text; None if it cannot be used."""
    if not (pa.types.is_boolean(kind) or cells.is_number(kind) or cells.is_date(kind)):
        return None
    return "date" if cells.is_date(kind) else "boolean" if pa.types.is_boolean(kind) else "number"


def nested(name: str, kind: Any) -> Column:
    """A column of a type that cannot be used."""
    note = f"it holds {cells.shortened(str(kind))}, which cannot be turned into numbers"
    return _refused(name, note, Message("leave it out with ", cells.drop(name)), cells.drop(name))


def _of_text(name: str, column: Any) -> Column:
    """What a column of text holds.

    All cells are tried as numbers first. The other readings are tried on the distinct values, which are fewer.
    """
    try:
        v = cells.as_floats(column.cast(pa.float64()))
        return measured(name, "number", SeenNumbers.of(v, distinct=index_named(name)))
    except pa.ArrowInvalid:
        pass
    seen = SeenTexts.of(column)
    values = seen.texts.column
    for what, reading in cells.READINGS.items():
        if what == "boolean" and not spells_truth(values):
            continue
        try:
            reading("schema", name, values)
        except TableError:
            continue
        v = reading("schema", name, column)
        return measured(name, what, SeenNumbers.of(v, distinct=index_named(name)))
    return of_words(name, seen)


def of_words(name: str, seen: SeenTexts) -> Column:
    """What a column holds whose texts read neither as numbers nor as truth values nor as dates."""
    about = seen.about
    misspelled = _misspelled(name, about)
    if misspelled is not None:
        return misspelled
    for kind, strays in about.strays.items():
        if strays.are_few:
            return _stray(name, kind, strays)
    category = seen_cells.mark_in_category(_category(name, seen.trimmed()), about.strays, seen.n_different)
    if category.kind != "category":
        return category
    texts: list[Any] = seen.texts.values.to_pylist()
    return seen_cells.mark_among_levels(category, zip(texts, seen.texts.counts.tolist(), strict=True))


def _misspelled(name: str, about: Facts) -> Column | None:
    """The refusal of a column of dates or numbers in a spelling that is not read; None for other text."""
    example = repr(cells.shortened(about.example or ""))
    if seen_cells.DAY_FIRST in about.patterns:
        remedy, form = seen_cells.forms_told(name, about.forms)
        return _refused(name, f"it seems to hold dates, such as {example}", remedy, *form)
    if about.comma is not None and seen_cells.COMMA in about.patterns:
        return seen_cells.with_commas(name, about.comma, about.patterns)
    if seen_cells.MARKED in about.patterns:
        remedy = Message(
            "write bare numbers, without signs and separators of thousands, or make it a category with ",
            Setting("category", name),
        )
        return _refused(name, f"its numbers are written with other symbols, such as {example}", remedy)
    return None


def _refused(name: str, why: str, remedy: str, *solving: Setting) -> Column:
    """A column that cannot be used as it is. ``solving``: settings with which it can, or is left out."""
    return Column(name, "text", note=Message(why, Remedy(remedy, solving)))


def spells_truth(values: Any) -> bool:
    """Whether all these different texts spell true or false, or a missing value."""
    known = {*cells.NO_NUMBER, "true", "false"}
    return len(values) <= len(known) and {str(value).strip().lower() for value in values.to_pylist()} <= {
        spelling.lower() for spelling in known
    }


def measured(name: str, kind: str, seen: SeenNumbers) -> Column:
    """A column of numbers, truth values or days. It is ignored if constant.

    Whole numbers that count the rows, or that never repeat under a name such as "id", are kept, with a note.
    """
    if not seen.known:
        return empty(name, seen.n)
    if seen.low == seen.high:
        return _constant(name, f"{seen.first:g}", seen.n - seen.known)
    index = _index_like(name, seen) if kind == "number" and seen.known == seen.n else ""
    if name == "" and index:
        return Column(name, "ignored", note="it has no name and counts the rows")
    leave = Remedy(Message("if it is an index, leave it out with ", cells.drop(name)))
    return Column(name, kind, note=Message(index, leave) if index else "")


def index_named(name: str) -> bool:
    """Whether a column has the name of an index, so that it matters whether its values repeat."""
    return _INDEX.fullmatch(name.strip()) is not None


def _index_like(name: str, seen: SeenNumbers) -> str:
    """Why numbers, none missing, look like an index; empty if they do not."""
    if seen.n < _FEWEST_ROWS_OF_AN_INDEX or not seen.whole:
        return ""
    if seen.first in (0, 1) and seen.counts_up:
        return "it counts the rows"
    if index_named(name) and seen.never_repeats:
        return "its values never repeat"
    return ""


def _category(name: str, seen: SeenTexts) -> Column:
    """A column of text as a category, or refused if it has too many distinct values."""
    distinct, n = seen.n_different, seen.texts.total
    if distinct < 2:
        return _without_levels(name, seen)
    most = most_levels(seen.n)
    if (distinct == n or distinct > most) and _is_free_text(seen):
        return _free_text(name, seen)
    if distinct == n and seen.is_complete:
        example = cells.shortened(seen.texts.values[0].as_py())
        why = f"its {n} texts are all different, as in a column of names or keys ({example!r})"
        return _refused(name, why, _leave_out_or_list(name), cells.drop(name))
    if distinct > most or not seen.is_complete:
        return _refused(name, _too_many(seen), _leave_out_or_list(name), cells.drop(name))
    counts = _counts_by_level(seen)
    return Column(name, "category", levels_in_order(counts), cells.told("levels", counts))


def _is_free_text(seen: SeenTexts) -> bool:
    """Whether half of the texts have several words, unlike names and keys."""
    texts = seen.texts.values.slice(0, seen_cells.TEXTS_JUDGED).to_pylist()
    return bool(np.median([len(ngrams(text, 1)) for text in texts]) >= _WORDS_IN_FREE_TEXT)


def _free_text(name: str, seen: SeenTexts) -> Column:
    """The refusal of a column of free text, which can be used if that is asked for."""
    example = cells.shortened(seen.texts.values[0].as_py())
    n = seen.texts.total if seen.is_complete else seen.about.n_known
    why = f"it seems to hold free text, {_at_least(seen)} different ones in {n} rows ({example!r})"
    use = Message("use its words with ", Setting("text", name), ", or leave it out with ", cells.drop(name))
    return _refused(name, why, use, Setting("text", name))


def asked_category(given: Column, seen: SeenTexts) -> Column:
    """A category that the schema asks for: it may have more levels than others, and levels of one row each."""
    if seen.n_different < 2:
        return _without_levels(given.name, seen)
    if seen.n_different > _LEVELS_AT_MOST or not seen.is_complete:
        leave = cells.drop(given.name)
        remedy = Message("leave it out with ", leave, ", or make it a category in the schema with its levels")
        return _refused(given.name, _too_many(seen), remedy, leave)
    counts = _counts_by_level(seen)
    if given.preferred is not None and given.preferred not in counts:
        problem = f"the reference {given.preferred!r} of column {given.name!r} is in no row"
        raise TableError("schema", problem, f"give one of {cells.listed(sorted(counts))}")
    levels = levels_in_order(counts, given.preferred)
    category = Column(given.name, "category", levels, cells.told("levels", counts), given.preferred)
    return seen_cells.mark_among_levels(category, counts.items())


def _counts_by_level(seen: SeenTexts) -> dict[str, int]:
    return dict(zip(seen.texts.values.to_pylist(), seen.texts.counts.tolist(), strict=True))


def _without_levels(name: str, seen: SeenTexts) -> Column:
    """A column with one distinct text, or none."""
    if not seen.n_different:
        return empty(name, seen.n)
    ((only, count),) = _counts_by_level(seen).items()
    return _constant(name, repr(cells.shortened(only)), seen.n - count)


def _at_least(seen: SeenTexts) -> str:
    return f"{'' if seen.is_complete else 'more than '}{seen.n_different}"


def _too_many(seen: SeenTexts) -> str:
    if seen.has_long_texts:
        most = f"{seen_cells.MOST_BYTES_KEPT >> 20} MB"
        return f"its different texts take more than {most}, too much for the levels of a category"
    return f"it has {_at_least(seen)} different texts, too many for a category"


def _leave_out_or_list(name: str) -> Message:
    return Message("leave it out with ", cells.drop(name), ", or make it a category with ", Setting("category", name))


def _stray(name: str, kind: str, strays: Strays) -> Column:
    """A column of one kind with other text in a few cells, refused with the first such cell."""
    value, row = strays.first[0]
    more = f" ({strays.rows} such cells in all)" if strays.rows > 1 else ""
    unlike = f" is {cells.shortened(value)!r}, {_NOT_OF_THE_KIND[kind]}, where nearly all others are{more}"
    note = Message("row ", RowNumber(row + 1), unlike)
    mark = seen_cells.only_mark(strays.first)
    if mark is not None:
        return _refused(name, note, *seen_cells.meaning_nothing(name, mark))
    remedy = Message("correct it, or make the column a category with ", Setting("category", name))
    return _refused(name, note, remedy)


def empty(name: str, n: int) -> Column:
    """A column of n rows without a value."""
    return Column(name, "ignored", note=f"none of its {n} rows has a value")


def _constant(name: str, value: str, missing: int) -> Column:
    more = f", and {missing} row{'s have' if missing > 1 else ' has'} none" if missing else ""
    return Column(name, "ignored", note=f"its only value is {value}{more}")
