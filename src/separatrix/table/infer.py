"""Infer the schema of a table: what each column holds, decided on all its rows.

    no value at all, or the same value in all rows      ignored, with a note
    numbers, or text that reads as numbers throughout   number; whole numbers too, unless the schema says category
    true and false, in upper or lower case              boolean; "yes" and "no" and the like are a category
    ISO dates and times                                 date
    other text with at most max(20, min(1000, n/20)) distinct values     category
    text with more distinct values or no repeated one, nested values     text: refused, with advice, which for free
                                                                         text is to use its words
    numbers in at least 95 % of the cells, other text in the rest        text: refused, naming the first such cell

The levels of a category are in alphabetical order, and the first is its reference, unless another one is asked for. So
the reference stays the same when rows are added or left out, as long as it still occurs. Whole numbers that count the
rows, or that never repeat under a name such as "id", are kept, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.base.errors import TableError
from separatrix.base.messages import Message, Remedy, RowNumber, Setting
from separatrix.base.watching import Part, watched
from separatrix.table import cells
from separatrix.table.lookalikes import told
from separatrix.table.marks import forms_of, mark_among_levels, mark_in_category, meaning_nothing, only_mark
from separatrix.table.ngrams import ngrams
from separatrix.table.references import levels_in_order, with_reference
from separatrix.table.schema import Column, Schema

# If at most this share of a column's cells are not numbers, those cells are taken for mistakes, not for categories.
LARGEST_SHARE_OF_STRAY_CELLS = 0.05
# A category may have n / 20 levels in n rows, but at least 20 and at most 1000.
_ROWS_PER_LEVEL, _LEVELS_AT_LEAST, _LEVELS_AT_MOST = 20, 20, 1000
# In fewer rows than this, whole numbers that count up or never repeat are not taken for an index.
_FEWEST_ROWS_OF_AN_INDEX = 20
# Texts with so many words each are taken for free text, judged by the first so many different ones.
_WORDS_IN_FREE_TEXT, _TEXTS_JUDGED = 4, 200
_NUMBER = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
_DAY_FIRST = r"^\d{1,2}([./-])\d{1,2}[./-](\d{2}|\d{4})$"
# Numbers with a currency or per cent sign, brackets around negative money, a typographic minus sign, or separated
# thousands, and with either decimal mark.
_SEPARATED = r"(\d+([ ,_'’\x{a0}\x{202f}]\d{3})*(\.\d*)?|\d+([ .'’\x{a0}\x{202f}]\d{3})*(,\d*)?)"
_MARKED = rf"^([$€£¥]?\s?[-+−]?\s?[$€£¥]?\s?{_SEPARATED}\s?[%‰$€£¥]?|\([$€£¥]\s?{_SEPARATED}\))$"
_COMMA = r"^[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?$"
_INDEX = re.compile(r"(?i:(.*[\W_])?(id|idx|index|key|nr|no|row|rownames?|rownumber|unnamed)[\W_]*\d*)|.*[a-z]I[Dd]")


def most_levels(n: int) -> int:
    """The most distinct values that a category may have in n rows.

    >>> most_levels(100), most_levels(1000), most_levels(10**6)
    (20, 50, 1000)
    """
    return max(_LEVELS_AT_LEAST, min(_LEVELS_AT_MOST, n // _ROWS_PER_LEVEL))


def _completed(name: str, content: Any, given: Column | None, has_reference: bool) -> Column:
    """A column as it is ``given``, with what is not given inferred from its content."""
    if given is None:
        return _judged(name, content)
    if given.kind != "category" or given.levels:
        return given
    return _asked_category(
        replace(given, preferred=None) if has_reference else given, cells.texts("schema", name, content)
    )


def infer(
    table: pa.Table,
    target: str | None = None,
    given: Schema | None = None,
    reference: Mapping[str, str] | None = None,
) -> Schema:
    """The schema of all columns except the target. What ``given`` says about a column overrides what is inferred.

    ``reference`` gives the reference levels of categories, by column.

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
        column = _completed(name, table.column(name), by_name.get(name), name in asked)
        columns.append(with_reference(column, asked[name]) if name in asked else column)
    return Schema(tuple(columns), target, () if given is None else given.classes)


def _judged(name: str, column: Any) -> Column:
    column = cells.decoded(column)
    kind: Any = column.type
    if cells.is_text(kind):
        return _of_text(name, column)
    if pa.types.is_null(kind):
        return _empty(name, len(column))
    if pa.types.is_boolean(kind) or cells.is_number(kind) or cells.is_date(kind):
        what = "date" if cells.is_date(kind) else "boolean" if pa.types.is_boolean(kind) else "number"
        return _measured(name, what, cells.READINGS[what]("schema", name, column))
    note = f"it holds {cells.shortened(str(kind))}, which cannot be turned into numbers"
    return _refused(name, note, Message("leave it out with ", cells.drop(name)), cells.drop(name))


def _of_text(name: str, column: Any) -> Column:
    """What a column of text holds.

    All cells are tried as numbers first. The other readings are tried on the distinct values, which are fewer.
    """
    try:
        return _measured(name, "number", cells.as_floats(column.cast(pa.float64())))
    except pa.ArrowInvalid:
        pass
    counted: Any = column.drop_null().value_counts()
    values, counts = pa.chunked_array([counted.field(0)]), cells.as_array(pa.chunked_array([counted.field(1)]))
    for what, reading in cells.READINGS.items():
        if what == "boolean" and not _spells_truth(values):
            continue
        try:
            reading("schema", name, values)
        except TableError:
            continue
        return _measured(name, what, reading("schema", name, column))
    proper = cells.stripped(values)
    misspelled = _misspelled(name, proper)
    if misspelled is not None:
        return misspelled
    strange = cells.as_array(compute.invert(compute.match_substring_regex(proper, _NUMBER)).fill_null(False))
    if 0 < counts[strange].sum() <= LARGEST_SHARE_OF_STRAY_CELLS * counts.sum():
        return _stray(name, column, values, strange, counts)
    category = mark_in_category(_category(name, cells.trimmed(column)), values, strange, counts)
    if category.kind != "category":
        return category
    texts: list[Any] = values.to_pylist()
    return mark_among_levels(category, zip(texts, counts.tolist(), strict=True))


def _misspelled(name: str, values: Any) -> Column | None:
    """The refusal of a column of dates or numbers in a spelling that is not read; None for other text."""

    def all_match(pattern: str) -> bool:
        return bool(compute.all(compute.match_substring_regex(values, pattern)).as_py())

    def example() -> str:
        return repr(cells.shortened(values.drop_null()[0].as_py()))

    if all_match(_DAY_FIRST):
        remedy, form = forms_of(name, values)
        return _refused(name, f"it seems to hold dates, such as {example()}", remedy, *form)
    if compute.any(compute.match_substring(values, ",")).as_py() and all_match(_COMMA):
        decimals = Setting("decimal", ",")
        advice = Message(
            "if the commas are decimal marks of a text file, give ", decimals, "; remove thousands separators"
        )
        return _refused(name, f"its numbers are written with commas, such as {example()}", advice, decimals)
    if all_match(_MARKED):
        remedy = Message(
            "write bare numbers, without signs and separators of thousands, or make it a category with ",
            Setting("category", name),
        )
        return _refused(name, f"its numbers are written with other symbols, such as {example()}", remedy)
    return None


def _refused(name: str, why: str, remedy: str, *solving: Setting) -> Column:
    """A column that cannot be used as it is. ``solving``: settings with which it can, or is left out."""
    return Column(name, "text", note=Message(why, Remedy(remedy, solving)))


def _spells_truth(values: Any) -> bool:
    known = {*cells.NO_NUMBER, "true", "false"}
    return len(values) <= len(known) and {str(value).strip().lower() for value in values.to_pylist()} <= {
        spelling.lower() for spelling in known
    }


def _measured(name: str, kind: str, v: Any) -> Column:
    """A column of numbers, truth values or days. It is ignored if constant; an index gets a note."""
    known = v[~np.isnan(v)]
    if not len(known):
        return _empty(name, len(v))
    if known.min() == known.max():
        return _constant(name, f"{known[0]:g}", len(v) - len(known))
    index = _index_like(name, known) if kind == "number" and len(known) == len(v) else ""
    if name == "" and index:
        return Column(name, "ignored", note="it has no name and counts the rows")
    leave = Remedy(Message("if it is an index, leave it out with ", cells.drop(name)))
    return Column(name, kind, note=Message(index, leave) if index else "")


def _index_like(name: str, v: Any) -> str:
    """Why numbers v (n,), none missing, look like an index; empty if they do not."""
    if len(v) < _FEWEST_ROWS_OF_AN_INDEX or not np.all(v == np.round(v)):
        return ""
    # The difference of two infinities, which are refused later, or of two numbers near the limit of float64.
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(v)
    if v[0] in (0, 1) and np.all(steps == 1):
        return "it counts the rows"
    if _INDEX.fullmatch(name.strip()) and len(np.unique(v)) == len(v):
        return "its values never repeat"
    return ""


def _category(name: str, column: Any) -> Column:
    """A column of text as a category, or refused if it has too many distinct values."""
    known = column.drop_null()
    counted: Any = known.value_counts()
    distinct, n = len(counted), len(known)
    if distinct < 2:
        return _without_levels(name, counted, len(column))
    if (distinct == n or distinct > most_levels(len(column))) and _is_free_text(counted):
        return _free_text(name, counted, n)
    if distinct == n:
        example = cells.shortened(counted[0]["values"].as_py())
        why = f"its {n} texts are all different, as in a column of names or keys ({example!r})"
        return _refused(name, why, _leave_out_or_list(name), cells.drop(name))
    if distinct > most_levels(len(column)):
        return _refused(name, _too_many(distinct), _leave_out_or_list(name), cells.drop(name))
    counts = _counts_by_level(counted)
    return Column(name, "category", levels_in_order(counts), told("levels", counts))


def _is_free_text(counted: Any) -> bool:
    """Whether half of the texts have several words, unlike names and keys."""
    texts = [pair["values"] for pair in counted.slice(0, _TEXTS_JUDGED).to_pylist()]
    return bool(np.median([len(ngrams(text, 1)) for text in texts]) >= _WORDS_IN_FREE_TEXT)


def _free_text(name: str, counted: Any, n: int) -> Column:
    """The refusal of a column of free text, which can be used if that is asked for."""
    example = cells.shortened(counted[0]["values"].as_py())
    why = f"it seems to hold free text, {len(counted)} different ones in {n} rows ({example!r})"
    use = Message("use its words with ", Setting("text", name), ", or leave it out with ", cells.drop(name))
    return _refused(name, why, use, Setting("text", name))


def _asked_category(given: Column, column: Any) -> Column:
    """A category that the schema asks for: it may have more levels than others, and levels of one row each."""
    counted: Any = column.drop_null().value_counts()
    if len(counted) < 2:
        return _without_levels(given.name, counted, len(column))
    if len(counted) > _LEVELS_AT_MOST:
        return _refused(given.name, _too_many(len(counted)), _leave_out(given.name), cells.drop(given.name))
    counts = _counts_by_level(counted)
    if given.preferred is not None and given.preferred not in counts:
        problem = f"the reference {given.preferred!r} of column {given.name!r} is in no row"
        raise TableError("schema", problem, f"give one of {cells.listed(sorted(counts))}")
    levels = levels_in_order(counts, given.preferred)
    category = Column(given.name, "category", levels, told("levels", counts), given.preferred)
    return mark_among_levels(category, counts.items())


def _counts_by_level(counted: Any) -> dict[str, int]:
    return {pair["values"]: pair["counts"] for pair in counted.to_pylist()}


def _without_levels(name: str, counted: Any, n: int) -> Column:
    """A column of n rows with one distinct text, or none."""
    if not len(counted):
        return _empty(name, n)
    ((only, count),) = _counts_by_level(counted).items()
    return _constant(name, repr(cells.shortened(only)), n - count)


def _too_many(distinct: int) -> str:
    return f"it has {distinct} different texts, too many for a category"


def _leave_out(name: str) -> Message:
    return Message("leave it out with ", cells.drop(name), ", or make it a category in the schema with its levels")


def _leave_out_or_list(name: str) -> Message:
    return Message("leave it out with ", cells.drop(name), ", or make it a category with ", Setting("category", name))


def _stray(name: str, column: Any, values: Any, strange: Any, counts: Any) -> Column:
    """A column of numbers with other text in a few cells, refused with the first such cell.

    The distinct values are in the order of their first rows, so the first strange value is in the first strange row.
    """
    value = values[int(np.argmax(strange))].as_py()
    row = compute.index(column, value).as_py() + 1
    many = int(counts[strange].sum())
    more = f" ({many} such cells in all)" if many > 1 else ""
    unlike = f" is {cells.shortened(value)!r}, not a number, where nearly all others are{more}"
    note = Message("row ", RowNumber(row), unlike)
    mark = only_mark(values, strange)
    if mark is not None:
        return _refused(name, note, *meaning_nothing(name, mark))
    remedy = Message("correct it, or make the column a category with ", Setting("category", name))
    return _refused(name, note, remedy)


def _empty(name: str, n: int) -> Column:
    return Column(name, "ignored", note=f"none of its {n} rows has a value")


def _constant(name: str, value: str, missing: int) -> Column:
    more = f", and {missing} row{'s have' if missing > 1 else ' has'} none" if missing else ""
    return Column(name, "ignored", note=f"its only value is {value}{more}")
