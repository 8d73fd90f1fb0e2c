"""Read a column of any Arrow type as float64 or as text, by its kind in the schema.

    number     its value
    boolean    1 for true, 0 for false; the numbers 1 and 0 are accepted too
    date       days since 1970-01-01, with the time of day as a fraction; UTC if no time zone is given
    category   its text. Numbers and seconds are spelled without trailing zeros ("3", never "3.0"). A time with a zone
               is converted to UTC ("2024-12-31 23:59:00Z"). A truth value is "true" or "false", or the known level that
               means it, such as Yes or No (``truth_levels``).

White space around a cell is ignored. A missing value is NaN, or null in a column of text. Rows are counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias
from unicodedata import normalize

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.errors import CellError, TableError
from separatrix.core.base.labels import quoted
from separatrix.core.base.messages import Message, RowNumber, Setting

Column: TypeAlias = "pa.ChunkedArray[Any]"

# A blank cell is missing, and so is NA in a CSV file, unless a schema lists "NA" among the levels. In columns of
# numbers, truth values and dates, N/A, NaN, null, None and ? are missing too, in these spellings or in lower case.
NA = "NA"
NO_TEXT = ("", NA)
_ALSO_IN_LOWER_CASE = ("N/A", "NaN", "null", "None")
NO_NUMBER = (*NO_TEXT, "na", "?", "NULL", *_ALSO_IN_LOWER_CASE, *(text.lower() for text in _ALSO_IN_LOWER_CASE))
_ZONED = r":\d.*(Z|[+-]\d\d(:?\d\d)?)$"
# Spellings of true and false, in lower case. DuckDB's CSV reader turns the first three pairs into truth values.
_TRUTHS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"), ("on", "off"), ("1", "0"))
# The length of a day in each of Arrow's time units.
_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def numbers(source: str, name: str, column: Column) -> Array:
    """The column as float64, NaN where a value is missing.

    >>> numbers("a table", "a", pa.chunked_array([["1", " 2.5", "?"]])).tolist()
    [1.0, 2.5, nan]
    """
    column = decoded(column)
    kind: Any = column.type
    if pa.types.is_float64(kind):
        return as_floats(column)
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    elif is_text(kind):
        column = _parsed(source, name, column, pa.float64(), "not a number")
    elif not (is_number(kind) or pa.types.is_null(kind)):
        raise _unlike(source, name, kind, "numbers")
    # Whole numbers past 2^53 are rounded to the nearest float64, as their decimal spelling would be.
    return as_floats(column.cast(pa.float64(), safe=False))


def truths(source: str, name: str, column: Column) -> Array:
    """1 for true, 0 for false, NaN where a value is missing.

    >>> truths("a table", "a", pa.chunked_array([["true", "False", None]])).tolist()
    [1.0, 0.0, nan]
    """
    column = decoded(column)
    if is_text(column.type):
        column = _parsed(source, name, compute.utf8_lower(column), pa.bool_(), "not true or false")
    values = numbers(source, name, column)
    other = np.flatnonzero((values != 0) & (values != 1) & ~np.isnan(values))
    if len(other):
        unlike = f", column {name!r} is {values[other[0]]:g}, not true or false"
        problem = Message("row ", RowNumber(int(other[0]) + 1), unlike)
        raise TableError(source, problem, "write true, false, 1 or 0")
    return values


def days(source: str, name: str, column: Column) -> Array:
    """Days since 1970-01-01 with the time of day as a fraction, NaN where a value is missing.

    >>> days("a table", "a", pa.chunked_array([["1970-01-02", "1970-01-01 12:00", "1970-01-01T12:00+12:00"]])).tolist()
    [1.0, 0.5, 0.0]
    """
    column = decoded(column)
    kind: Any = column.type
    if is_text(kind):
        column = _instants(source, name, column)
    elif pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    elif not pa.types.is_temporal(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        raise _unlike(source, name, kind, "dates")
    if pa.types.is_date32(column.type):
        return as_floats(column.cast(pa.int32()).cast(pa.float64()))
    unit = "ms" if pa.types.is_date64(column.type) else column.type.unit
    return as_floats(column.cast(pa.int64()).cast(pa.float64(), safe=False)) / _DAY[unit]


def texts(source: str, name: str, column: Column) -> Column:
    """The column as text, null where a value is missing.

    >>> texts("a table", "a", pa.chunked_array([[3.0, None, 0.5]])).to_pylist()
    ['3', None, '0.5']
    """
    column = decoded(column)
    kind: Any = column.type
    if is_text(kind):
        return trimmed(column)
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    if pa.types.is_floating(column.type):
        column = compute.if_else(compute.is_nan(column), _null(column), column)
    if pa.types.is_timestamp(kind):
        return _spelled_instants(column)
    if is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind) or is_date(kind):
        text: Any = column.cast(pa.string())
        spelled: Column = compute.if_else(reads(text, ["-0"]), plain_texts(["0"])[0], text)
        return spelled
    raise _unlike(source, name, kind, "categories")


def _spelled_instants(column: Any) -> Column:
    """Times as text without trailing zeros. Arrow prints as many digits as the column's time unit has."""
    kind = column.type
    text: Any = (column if kind.tz is None else column.cast(pa.timestamp(kind.unit, "UTC"))).cast(pa.string())
    for places, short in ((r"(\.\d*?)0+(Z?)$", r"\1\2"), (r"\.(Z?)$", r"\1")):
        text = compute.replace_substring_regex(text, places, short)
    spelled: Column = text
    return spelled


READINGS: dict[str, Callable[[str, str, Column], Array]] = {"number": numbers, "boolean": truths, "date": days}


def codes(source: str, name: str, column: Column, levels: tuple[str, ...]) -> tuple[AnyArray, AnyArray]:
    """The index of each row's level, -1 if it is not among ``levels``; and whether the value is missing.

    >>> [a.tolist() for a in codes("a table", "a", pa.chunked_array([["x", "z", None]]), ("w", "x"))]
    [[1, -1, -1], [False, False, True]]
    """
    text: Any = texts(source, name, column)
    kind: Any = decoded(column).type
    if NA in levels and is_text(kind):
        text = trimmed(decoded(column), literal=True)
    spelled = [level.strip() for level in levels]
    if pa.types.is_boolean(kind):
        words = {level: word for word, level in truth_levels(spelled).items()}
        spelled = [words.get(level, level) for level in spelled]
    indices = compute.index_in(text, value_set=plain_texts(spelled))
    return _filled(indices, -1), as_array(text.is_null())


def truth_readings(levels: Sequence[str]) -> dict[str, list[str]]:
    """The levels that mean "true" and those that mean "false", in upper or lower case.

    >>> truth_readings(["No", "Yes", "yes", "maybe"])
    {'true': ['Yes', 'yes'], 'false': ['No']}
    """
    read = zip(("true", "false"), zip(*_TRUTHS, strict=True), strict=True)
    return {word: [level for level in levels if level.lower() in spellings] for word, spellings in read}


def truth_levels(levels: Sequence[str]) -> dict[str, str]:
    """The level that a truth value counts as: the one with exactly that text, otherwise the only one that means it.

    >>> truth_levels(["No", "Yes"]), truth_levels(["T", "true"]), truth_levels(["yes", "Yes", "F", "M"])
    ({'true': 'Yes', 'false': 'No'}, {'true': 'true'}, {'false': 'F'})
    """
    readings = {word: [word] if word in known else known for word, known in truth_readings(levels).items()}
    return {word: known[0] for word, known in readings.items() if len(known) == 1}


def decoded(column: Column) -> Column:
    """A dictionary-encoded column as plain values, and every kind of text as Arrow's plain strings."""
    kind: Any = column.type
    if pa.types.is_dictionary(kind):
        plain = pa.string() if is_text(kind.value_type) else kind.value_type
        chunks: Any = column.chunks
        parts = [chunk.dictionary.cast(plain).take(chunk.indices) for chunk in chunks]
        return pa.chunked_array(parts, plain)
    return column.cast(pa.string()) if is_text(kind) and kind != pa.string() else column


def as_array(column: Any) -> AnyArray:
    """A column without nulls as an array. Arrow's own ``to_numpy`` would import pandas where it is installed."""
    if not column.num_chunks:
        return np.empty(0, dtype=column.type.to_pandas_dtype())
    if pa.types.is_boolean(column.type):
        return as_array(column.cast(pa.uint8())).astype(bool)
    return np.concatenate([np.from_dlpack(chunk) for chunk in column.chunks])


def as_floats(column: Any) -> Array:
    """A column of float64 as an array, null as NaN."""
    return _filled(column, np.nan)


def as_places(indices: Any) -> AnyArray:
    """The indices of a dictionary array as an array, −1 for nulls."""
    return _filled(pa.chunked_array([indices]), -1)


def _filled(column: Any, value: float) -> AnyArray:
    """A column of numbers as an array, with ``value`` for nulls. Arrow's ``fill_null`` would import pandas."""
    if not column.null_count:
        return as_array(column)
    kind = column.type.to_pandas_dtype()
    parts = [np.frombuffer(chunk.buffers()[1], kind)[chunk.offset :][: len(chunk)] for chunk in column.chunks]
    return np.where(as_array(column.is_valid()), np.concatenate(parts), value).astype(kind)


def plain_texts(texts: Sequence[str]) -> pa.StringArray:
    """Text as an Arrow array. ``pa.array`` would import pandas where it is installed, which takes 0.2 s.

    >>> plain_texts(["No", "naïve"]).to_pylist()
    ['No', 'naïve']
    """
    spelled = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, spelled)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(spelled), pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(spelled)))


def _parsed(source: str, name: str, column: Column, kind: Any, unlike: str) -> Column:
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        cells = stripped(column)
    try:
        parsed: Column = cells.cast(kind)
        return parsed
    except pa.ArrowInvalid:
        row = _first_refused(cells, kind)
        cell = str(cells[row].as_py())
        problem = Message("row ", RowNumber(row + 1), f", column {name!r} is {shortened(cell)!r}, {unlike}")
        category = Setting("category", name)
        remedy = Message(
            "correct that cell, make the column a category with ", category, ", or leave it out with ", drop(name)
        )
        raise CellError(source, problem, remedy, cell) from None


def trimmed(column: Column, literal: bool = False) -> Column:
    """Text without surrounding white space; null where nothing is left.

    Unless ``literal``, an NA that had white space around it becomes null too. An NA without stays: in a CSV file it is
    null already, and in a frame it was meant as text.

    >>> trimmed(pa.chunked_array([[" yes", "yes ", "  ", " NA", "NA"]])).to_pylist()
    ['yes', 'yes', None, None, 'NA']
    """
    bare: Any = compute.utf8_trim_whitespace(column)
    gone = reads(bare, [""])
    if not literal:
        gone = compute.or_(gone, compute.and_not(reads(bare, [NA]), reads(column, [NA])))
    text: Column = compute.if_else(gone, _null(bare), bare)
    return text


def reads(column: Any, words: Sequence[str]) -> Any:
    """Which cells of text equal one of the words. Null cells do not.

    >>> reads(pa.chunked_array([["a", None, "b"]]), ["b"]).to_pylist()
    [False, False, True]
    """
    return compute.is_in(column, value_set=plain_texts(words))


def stripped(column: Column) -> Any:
    """Text without surrounding white space; null where it spells a missing value, as in columns of numbers."""
    cells: Any = compute.utf8_trim_whitespace(column)
    return compute.if_else(reads(cells, NO_NUMBER), _null(cells), cells)


def rows_counted(n: int) -> str:
    """A number of rows in words.

    >>> rows_counted(1), rows_counted(2)
    ('1 row', '2 rows')
    """
    return f"{n} row{'s' * (n != 1)}"


def _null(cells: Any) -> Any:
    """A missing value of the type of the cells. PyArrow would import pandas to convert None."""
    return pa.nulls(1, cells.type)[0]


def _instants(source: str, name: str, column: Column) -> Column:
    """ISO dates and times as timestamps in UTC. Some may have a time zone and others none."""
    cells = stripped(column)
    zoned = compute.match_substring_regex(cells, _ZONED)
    plain = compute.if_else(zoned, _null(cells), cells)
    with_zone = compute.if_else(zoned, cells, _null(cells))
    local = _parsed(source, name, plain, pa.timestamp("us"), "not a date such as 2024-12-31")
    world = _parsed(source, name, with_zone, pa.timestamp("us", "UTC"), "not a date such as 2024-12-31T23:59Z")
    merged: Column = compute.coalesce(local, world.cast(pa.timestamp("us")))
    return merged


def _first_refused(cells: Any, kind: Any) -> int:
    """The index of the first cell that Arrow cannot cast, by bisection with the same cast."""
    start, stop = 0, len(cells)
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            cells.slice(start, middle - start).cast(kind)
            start = middle
        except pa.ArrowInvalid:
            stop = middle
    return start


def drop(name: str) -> Setting:
    """The setting that leaves a column out."""
    return Setting("drop", name)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is a number."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_date(kind: Any) -> bool:
    """Whether an Arrow type is a date, with or without a time of day."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def shortened(text: str, most: int = 40) -> str:
    """Text cut to at most ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in quotes; at most ``most``, then the number of others.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(map(quoted, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _unlike(source: str, name: str, kind: Any, wanted: str) -> TableError:
    problem = f"column {name!r} holds {shortened(str(kind))}, not {wanted}"
    return CellError(source, problem, Message("leave it out with ", drop(name), f", or turn it into {wanted}"))


# --- Texts that look the same to a person and differ for a computer

# A note names this many groups; naming all could make it very long.
_GROUPS_SHOWN = 3


def alike(texts: Iterable[str]) -> list[list[str]]:
    """Groups of texts that differ only in case, in white space or in the encoding of their letters.

    They stay different, since codes may differ by case alone, and a note mentions them.

    >>> alike(["yes", "no", "Yes", "New  York", "new york"])
    [['yes', 'Yes'], ['New  York', 'new york']]
    """
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(" ".join(normalize("NFKC", text).casefold().split()), []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def perhaps(text: str, known: Iterable[str]) -> str:
    """A suggestion of a known text that looks the same, in brackets; empty if there is none.

    >>> perhaps("yes ", ["no", "Yes"])
    " (perhaps 'Yes')"
    """
    near = [group for group in alike([text, *known]) if text in group]
    return f" (perhaps {_spelled(near[0][1])})" if near else ""


def told(what: str, texts: Iterable[str]) -> str:
    """A clause about the groups of ``alike``; empty if there are none.

    >>> told("levels", ["yes", "Yes"])
    "its levels 'Yes' and 'yes' differ only in case, space or the encoding of letters"
    """
    groups = alike(sorted(texts))
    if not groups:
        return ""
    shown = ", ".join(" and ".join(map(_spelled, group)) for group in groups[:_GROUPS_SHOWN])
    more = f" (and {len(groups) - _GROUPS_SHOWN} more)" if len(groups) > _GROUPS_SHOWN else ""
    return f"its {what} {shown}{more} differ only in case, space or the encoding of letters"


def _spelled(text: str) -> str:
    """The text in quotes. Letters in an unusual encoding are escaped, since they would look like the usual ones."""
    return repr(shortened(text)) if text == normalize("NFC", text) else ascii(shortened(text))
