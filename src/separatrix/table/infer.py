"""Table -> schema: what each column holds, judged on all its rows.

    no value at all, or one value in all rows     ignored, and said
    numbers, and text that all reads as numbers   number; whole numbers too, unless the schema says category
    true and false, in any case                   boolean; "yes" and "no" and the like are a category
    ISO dates and times                           date
    other text, at most max(20, n/20, at most 1000) different values         category
    text with more, text that never repeats, nested values                   text: refused, with advice
    numbers in 95 % of the cells or more, and other text                     text: the first such cell is named

The reference of a category is its most frequent level, the first in the alphabet of several; the other levels follow
in alphabetical order. Whole numbers that count the rows, or that never repeat under a name such as "id", are kept and
noted.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.base.errors import TableError
from separatrix.base.messages import Message, Remedy, Setting
from separatrix.base.watching import Part, watched
from separatrix.table import cells
from separatrix.table.lookalikes import told
from separatrix.table.schema import Column, Schema

# A column of numbers with other text in at most this share of its cells is a mistake in those cells, not a category.
STRAY = 0.05
_FEWEST, _MOST, _SHARE = 20, 1000, 20
_NUMBER = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
_DAY_FIRST = r"^\d{1,2}([./-])\d{1,2}[./-](\d{2}|\d{4})$"
# With a sign for money or per cent, a minus of typographers, or thousands set apart.
_MARKED = r"^[$€£¥]?\s?[-+−]?\s?[$€£¥]?\s?\d+([ _'’\x{a0}\x{202f}]\d{3})*(\.\d*)?\s?[%‰$€£¥]?$"
_COMMA = r"^[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?$"
_INDEX = re.compile(r"(?i:(.*[\W_])?(id|idx|index|key|nr|no|row|rownames?|rownumber|unnamed)[\W_]*\d*)|.*[a-z]I[Dd]")


def most_levels(n: int) -> int:
    """How many different values a category may have in n rows.

    >>> most_levels(100), most_levels(1000), most_levels(10**6)
    (20, 50, 1000)
    """
    return max(_FEWEST, min(_MOST, n // _SHARE))


def infer(table: pa.Table, target: str | None = None, given: Schema | None = None) -> Schema:
    """The schema of all columns but the target; what ``given`` says of a column holds.

    >>> table = pa.table({"age": ["31", "?", "40.5"], "sex": ["f", "m", "f"], "one": [1, 1, 1]})
    >>> [(column.name, column.kind, column.levels) for column in infer(table).columns]
    [('age', 'number', ()), ('sex', 'category', ('f', 'm')), ('one', 'ignored', ())]
    """
    by_name = {} if given is None else {column.name: column for column in given.columns}
    columns = []
    tell = watched()
    for k, name in enumerate(table.column_names, 1):
        if name == target:
            continue
        if tell is not None:
            tell(Part("what columns hold: column", k, table.num_columns))
        said = by_name.get(name)
        if said is None:
            columns.append(_judged(name, table.column(name)))
        elif said.kind == "category" and not said.levels:
            columns.append(_category(name, cells.texts("schema", name, table.column(name)), said))
        else:
            columns.append(said)
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
    note = f"it holds {cells.shortened(str(kind))}, which makes no numbers"
    return _refused(name, note, Message("leave it out with ", cells.drop(name)))


def _of_text(name: str, column: Any) -> Column:
    """Numbers first, straight from the cells; else by the distinct values, which are fewer."""
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
    strange = cells.as_array(compute.invert(compute.match_substring_regex(proper, _NUMBER)).fill_null(False))
    if compute.all(compute.match_substring_regex(proper, _DAY_FIRST)).as_py():
        note = f"it seems to hold dates, as {cells.shortened(proper.drop_null()[0].as_py())!r}"
        return _refused(name, note, "write them as year-month-day, 2024-12-31")
    commas = compute.any(compute.match_substring(proper, ",")).as_py()
    if commas and compute.all(compute.match_substring_regex(proper, _COMMA)).as_py():
        note = f"its numbers are written with commas, as {cells.shortened(proper.drop_null()[0].as_py())!r}"
        decimals = Setting("decimal", ",")
        do = Message("give ", decimals, " if they are decimals of a text file, and take marks for thousands out")
        return _refused(name, note, do)
    if compute.all(compute.match_substring_regex(proper, _MARKED)).as_py():
        note = f"its numbers carry marks, as {cells.shortened(proper.drop_null()[0].as_py())!r}"
        return _refused(name, note, "write bare numbers, or make it a category in the schema")
    if 0 < counts[strange].sum() <= STRAY * counts.sum():
        return _stray(name, column, values, strange, counts)
    return _category(name, cells.trimmed(column))


def _refused(name: str, why: str, do: str) -> Column:
    """A column that nothing can be learned from as it is."""
    return Column(name, "text", note=Message(why, Remedy(do)))


def _spells_truth(values: Any) -> bool:
    known = {*cells.NO_NUMBER, "true", "false"}
    return len(values) <= len(known) and {str(value).strip().lower() for value in values.to_pylist()} <= {
        spelling.lower() for spelling in known
    }


def _measured(name: str, kind: str, v: Any) -> Column:
    """Numbers, truth values or days: constant, counting the rows, or as they are."""
    known = v[~np.isnan(v)]
    if not len(known):
        return _empty(name, len(v))
    if known.min() == known.max():
        return _constant(name, f"{known[0]:g}", len(v) - len(known))
    why, leave = "", Remedy(Message("if it is an index, leave it out with ", cells.drop(name)))
    if kind == "number" and len(known) == len(v) >= _FEWEST and np.all(known == np.round(known)):
        with np.errstate(invalid="ignore"):  # of two infinities, which are refused later
            steps = np.diff(known)
        if known[0] in (0, 1) and np.all(steps == 1):
            why = "it counts the rows"
        elif _INDEX.fullmatch(name.strip()) and len(np.unique(known)) == len(known):
            why = "its values never repeat"
    if name == "" and why:
        return Column(name, "ignored", note="it has no name and counts the rows")
    return Column(name, kind, note=Message(why, leave) if why else "")


def _category(name: str, column: Any, said: Column | None = None) -> Column:
    """A category, or why it is none; one that the schema asks for may have more levels, and levels of one row each."""
    known = column.drop_null()
    counted: Any = known.value_counts()
    distinct, n = len(counted), len(known)
    if distinct == 0:
        return _empty(name, len(column))
    if distinct == 1:
        return _constant(name, repr(cells.shortened(counted[0]["values"].as_py())), len(column) - n)
    do = Message("leave it out with ", cells.drop(name), ", or make it a category in the schema with its levels")
    if distinct == n and said is None:
        some = cells.shortened(counted[0]["values"].as_py())
        return _refused(name, f"its {n} texts are all different, as names and keys are ({some!r})", do)
    if distinct > (most_levels(len(column)) if said is None else _MOST):
        return _refused(name, f"it has {distinct} different texts, too many for categories", do)
    counts = {pair["values"]: pair["counts"] for pair in counted.to_pylist()}
    preferred = None if said is None else said.preferred
    if preferred is not None and preferred not in counts:
        came = f"the reference {preferred!r} of column {name!r} is in no row"
        raise TableError("schema", came, f"give one of {cells.listed(sorted(counts))}")
    first = preferred if preferred is not None else min(counts, key=lambda level: (-counts[level], level))
    return Column(
        name, "category", (first, *sorted(level for level in counts if level != first)), told("levels", counts)
    )


def _stray(name: str, column: Any, values: Any, strange: Any, counts: Any) -> Column:
    """Distinct values come in the order of their first rows, so the first strange one is in the first strange row."""
    value = values[int(np.argmax(strange))].as_py()
    row = compute.index(column, value).as_py() + 1
    many = int(counts[strange].sum())
    more = f" ({many} such cells in all)" if many > 1 else ""
    note = f"row {row} is {cells.shortened(value)!r}, not a number, where nearly all others are{more}"
    return _refused(name, note, "correct it, or make the column a category in the schema")


def _empty(name: str, n: int) -> Column:
    return Column(name, "ignored", note=f"none of its {n} rows has a value")


def _constant(name: str, value: str, missing: int) -> Column:
    more = f", and {missing} rows have none" if missing else ""
    return Column(name, "ignored", note=f"its only value is {value}{more}")
