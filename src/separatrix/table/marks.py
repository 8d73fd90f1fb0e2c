"""Marks that may mean a missing value, and forms of dates: what to suggest for a column of text.

1.5, 2, -, 3, -        all numbers, or all dates, but for one text without digits: it may mean a missing value
red, ?, blue           a level of a category that often means a missing value
0.2, -999, 1.7, -999   a number that stands out and repeats: it may mean a missing value
31.12.2024, 01.02.…    dates that only one form reads
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.messages import ForColumn, Message, Remedy, Setting, joined, solving
from separatrix.table.cells import listed, rows_counted, shortened
from separatrix.table.schema import Column
from separatrix.table.stray_texts import Strays

# The forms of dates that are tried. Those with a year of two digits come last, since they read fewer dates.
_ORDERS = ("%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%d{0}%m{0}%y", "%m{0}%d{0}%y")
# Levels that often mean a missing value. In a category only a blank cell and NA have none, unless the user says so.
# "None" is not among them, since it often means "no amount of something".
_MARKS = ("?", "-", "--", ".", "na", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
# Numbers that often mean a missing value. One is noted if it is in at least _FEWEST_ROWS_OF_A_CODE rows, and if its
# distance from all other values is at least _DISTANCE_OF_A_CODE times the range of those.
_CODES = tuple(sign * code for code in (99.0, 999.0, 9999.0, 99999.0, 999999.0) for sign in (-1, 1))
_FEWEST_ROWS_OF_A_CODE, _DISTANCE_OF_A_CODE = 3, 3.0
# With fewer different values than this beside the mark, a column is more likely a category.
_FEWEST_VALUES = 3
_VALUES_OF_A_KIND = {"number": "numbers", "boolean": "true or false", "date": "dates"}


def only_mark(strays: Iterable[tuple[str, int]]) -> str | None:
    """The only text among the strays, each with its row, if it has no digits; otherwise None.

    >>> only_mark([(" - ", 3), ("-", 8)]), only_mark([("-", 3), ("?", 8)]), only_mark([("3a", 3)])
    ('-', None, None)
    """
    texts = {text.strip() for text, _ in strays}
    mark = texts.pop() if len(texts) == 1 else None
    return None if mark is None or any(letter.isdigit() for letter in mark) else mark


def meaning_nothing(name: str, mark: str) -> tuple[Message, Setting]:
    """What to do about a mark among numbers or dates, and the setting that does it."""
    setting = Setting("na", mark)
    category = Setting("category", name)
    known = Message("if it means a missing value, give ", setting)
    remedy = Message(known, "; if not, correct it, or make the column a category with ", category)
    return remedy, setting


def mark_in_category(column: Column, by_kind: Mapping[str, Strays], n_different: int) -> Column:
    """A category, or a refused column, all of whose texts but one are of one kind, with a word about that text.

    ``by_kind``: the texts that are not of a kind. There are ``n_different`` texts in all.
    """
    for kind, strays in by_kind.items():
        mark = only_mark(strays.first)
        if mark is not None and n_different - 1 >= _FEWEST_VALUES and strays.rows <= strays.fitting:
            problem = f"its texts are {_VALUES_OF_A_KIND[kind]}, but for {shortened(mark)!r}"
            return _with_mark(column, f"{problem} in {rows_counted(strays.rows)}", mark)
    return column


def _with_mark(column: Column, problem: str, mark: str) -> Column:
    """The column with a note, or the reason of its refusal, about a mark that may mean a missing value."""
    remedy, setting = meaning_nothing(column.name, mark)
    if column.kind == "text":
        return replace(column, note=Message(problem, Remedy(remedy, (setting,))))
    told = Message(problem, Remedy(Message("if that means a missing value, give ", setting), (setting,)))
    return replace(column, note=joined("; ", [column.note, told]) if column.note else told)


def mark_among_levels(column: Column, counts: Iterable[tuple[str, int]]) -> Column:
    """A category with a note on its levels that often mean a missing value; ``counts`` are its texts and their rows.

    >>> print(mark_among_levels(Column("c", "category", ("?", "red")), [("red", 9), (" ?", 2)]).note)
    its level '?', in 2 rows, may mean a missing value; if it does, give na='?'
    """
    marks = [mark for mark in _MARKS if mark in column.levels and not (mark == "-" and "+" in column.levels)]
    if column.kind != "category" or not marks or solving(column.note):
        return column
    told = _may_be_missing(marks, sum(n for text, n in counts if text.strip() in marks))
    return replace(column, note=joined("; ", [column.note, told]) if column.note else told)


def _may_be_missing(marks: list[str], rows: int) -> Message:
    """The note on levels, in this many rows, that often mean a missing value."""
    one, settings = len(marks) == 1, tuple(Setting("na", mark) for mark in marks)
    which = f"its level {marks[0]!r}" if one else f"its levels {listed(marks)}"
    condition = "if it does, give " if one else "if they do, give "
    remedy = Message(condition, joined(" and ", [Message(setting) for setting in settings]))
    return Message(f"{which}, in {rows_counted(rows)}, may mean a missing value", Remedy(remedy, settings))


def code_among_numbers(v: Array) -> tuple[str, int, float, float] | None:
    """A number such as −999 that stands out among v (n,), how many rows have it, and the range of the others.

    >>> import numpy as np
    >>> code_among_numbers(np.array([1.5, -999, 2, -999, 0.5, np.nan, -999]))
    ('-999', 3, 0.5, 2.0)
    >>> code_among_numbers(np.array([400.0, 999, 700, 999, 250, 999]))
    """
    for code in _CODES:
        rows = int(np.count_nonzero(v == code))
        others = v[np.isfinite(v) & (v != code)]
        if rows < _FEWEST_ROWS_OF_A_CODE or not len(others):
            continue
        low, high = float(others.min()), float(others.max())
        distance = max(low - code, code - high)
        if high > low and distance >= _DISTANCE_OF_A_CODE * (high - low):
            return f"{code:.0f}", rows, low, high
    return None


def date_forms(texts: list[str]) -> list[str]:
    """The forms of dates that read all of these texts, which begin with a day or a month.

    >>> date_forms(["31.12.2024", "01.02.2024"])
    ['%d.%m.%Y']
    """
    mark = next(letter for letter in texts[0] if not letter.isdigit())
    return [form for order in _ORDERS if _reads_all(texts, form := order.format(mark))]


def forms_told(name: str, forms: Sequence[str]) -> tuple[str, tuple[Setting, ...]]:
    """What to do about a column of dates that are not ISO's, and the setting that does it if only one form reads them.

    >>> print(forms_told("day", ["%d.%m.%Y"])[0])
    give their form with date_format={'day': '%d.%m.%Y'}, or write them as 2024-12-31
    """
    iso = ", or write them as 2024-12-31"
    if not forms:
        return "write them as year-month-day, 2024-12-31", ()
    settings = tuple(Setting("date_format", ForColumn(name, form)) for form in forms)
    remedy = Message("give their form with ", joined(" or ", [Message(one) for one in settings]), iso)
    return remedy, settings if len(settings) == 1 else ()


def _reads_all(texts: list[str], form: str) -> bool:
    try:
        for text in texts:
            datetime.strptime(text, form)
    except ValueError:
        return False
    return True
