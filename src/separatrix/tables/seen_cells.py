"""What the cells of a column have shown so far, as the rules of ``infer`` need it.

``SeenNumbers`` and ``SeenTexts`` summarise rows, and two summaries can be merged, so that a table may be read part by
part. What else is here judges texts that ``infer`` cannot use as they are, and says what to do about them: stray texts
among numbers or dates, marks that may mean a missing value, dates in other forms than ISO's, and numbers with commas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.core.base.arrays import AnyArray, Array, Booleans, Integers
from separatrix.core.base.messages import Detail, ForColumn, Message, Remedy, Setting, brief, joined, reason, solving
from separatrix.tables import cells
from separatrix.tables.schema import Column

# --- Different values


@dataclass(frozen=True, eq=False)
class Distinct:
    """Values of an Arrow array without nulls, in the order of their first rows.

    ``counts`` (m,): how many rows have each. ``first`` (m,): the number of the first such row, counted from 0.

    >>> some = Distinct.of(pa.chunked_array([["b", "a", None, "b"]]))
    >>> both = some.merge(Distinct.of(pa.chunked_array([["c", "a"]]), start=4))
    >>> both.values.to_pylist(), both.counts.tolist(), both.first.tolist()
    (['b', 'a', 'c'], [2, 2, 1], [0, 1, 4])
    """

    values: Any
    counts: Integers
    first: Integers

    def __len__(self) -> int:
        return len(self.values)

    @property
    def column(self) -> Any:
        """The values as a column."""
        return pa.chunked_array([self.values])

    @property
    def total(self) -> int:
        """The number of rows that have a value."""
        return int(self.counts.sum())

    @classmethod
    def of(cls, column: Any, start: int | Integers = 0) -> Distinct:
        """The values of a column whose first row has the number ``start``, or whose rows have these numbers."""
        values, codes = encoded(column)
        known = codes >= 0
        counts = np.bincount(codes[known], minlength=len(values))
        # Codes are given in the order of first rows, so a value is new where the largest code so far grows.
        first = np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1) > 0)
        return cls(values, counts, numbered(start, first))

    def merge(self, later: Distinct) -> Distinct:
        """The values of these rows and of later ones."""
        if not len(later):
            return self
        if not len(self):
            return later
        values, codes = encoded(pa.chunked_array([self.values, later.values]))
        counts = np.bincount(codes, np.concatenate([self.counts, later.counts]), len(values)).astype(np.int64)
        first = np.full(len(values), np.iinfo(np.int64).max)
        np.minimum.at(first, codes, np.concatenate([self.first, later.first]))
        return Distinct(values, counts, first)

    def only(self, chosen: Any) -> Distinct:
        """The values of a mask (m,)."""
        return Distinct(self.values.filter(pa.array(chosen)), self.counts[chosen], self.first[chosen])

    def head(self, n: int) -> Distinct:
        """A copy of the first n values, which does not keep the others in memory."""
        return Distinct(self.values.take(pa.array(range(min(n, len(self))))), self.counts[:n], self.first[:n])

    def renamed(self, values: Any) -> Distinct:
        """The same rows with other values, of which some may be equal or null."""
        distinct, codes = encoded(values)
        known = codes >= 0
        counts = np.bincount(codes[known], self.counts[known], len(distinct)).astype(np.int64)
        first = np.full(len(distinct), np.iinfo(np.int64).max)
        np.minimum.at(first, codes[known], self.first[known])
        return Distinct(distinct, counts, first)


def numbered(start: int | Integers, places: Any) -> Any:
    """The numbers of rows at these places: counted from ``start``, or ``start`` has the number of every row."""
    return start[places] if isinstance(start, np.ndarray) else start + places


def encoded(column: Any) -> tuple[Any, Integers]:
    """The different values of a column, and for each row the place of its value among them, −1 for null."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # text of more than 2 GB, or no chunk at all
        whole = pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in whole.chunks])
    coded = whole.dictionary_encode()
    return coded.dictionary, cells.as_places(coded.indices).astype(np.int64)


# --- Texts that do not read as numbers, truth values or dates, as nearly all other cells of the column do

# If at most this share of a column's cells are not of one kind, those cells are taken for mistakes, not for categories.
LARGEST_SHARE_OF_STRAY_CELLS = 0.05
# The stray texts are compared only if there are fewer different ones than this.
MOST_STRAYS_KEPT = 9
_LEAP_YEAR = r"(\d\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
_DAY_OF_ANY_YEAR = r"((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))"
_HOUR, _SIXTY = r"([01]\d|2[0-3])", r"[0-5]\d"
_ZONE = rf"(Z|[-+]{_HOUR}(:?{_SIXTY})?)"
_TIME = rf"[ T]({_HOUR}|{_HOUR}:{_SIXTY}(:{_SIXTY}(\.\d{{1,6}})?)?{_ZONE}?)"
# What ``cells.READINGS`` reads, as patterns, which say it of each text. Infinite numbers do not match.
PATTERNS = {
    "number": r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$",
    "boolean": r"^(?i:true|false)$",
    "date": rf"^(\d{{4}}-{_DAY_OF_ANY_YEAR}|{_LEAP_YEAR}-02-29)({_TIME})?$",
}


@dataclass(frozen=True)
class Strays:
    """The texts of a column that are not of one kind.

    ``rows``: how many rows have such a text; ``fitting``: how many have a value of the kind. ``first``: the first
    different texts, each with its row.
    """

    rows: int
    fitting: int
    first: tuple[tuple[str, int], ...] = ()

    @property
    def are_few(self) -> bool:
        """Whether nearly all values are of the kind, but not all.

        >>> Strays(5, 95).are_few, Strays(6, 94).are_few, Strays(0, 100).are_few
        (True, False, False)
        """
        return 0 < self.rows <= LARGEST_SHARE_OF_STRAY_CELLS * (self.rows + self.fitting)

    def merge(self, later: Strays) -> Strays:
        """The strays of these rows and of later ones."""
        texts = list(dict.fromkeys(text for text, _ in (*self.first, *later.first)))[:MOST_STRAYS_KEPT]
        row_of = dict([*reversed(later.first), *reversed(self.first)])
        first = tuple((text, row_of[text]) for text in texts)
        return Strays(self.rows + later.rows, self.fitting + later.fitting, first)


def strays_among(texts: Distinct, proper: Any) -> dict[str, Strays]:
    """The strays by kind. ``proper``: the same texts without white space, null where they spell a missing value."""
    n_known = int(texts.counts[cells.as_array(proper.is_valid())].sum())
    return {kind: _strays(texts, unlike(proper, kind), n_known) for kind in PATTERNS}


def _strays(texts: Distinct, odd: Booleans, n_known: int) -> Strays:
    first = tuple((texts.values[int(k)].as_py(), int(texts.first[k])) for k in np.flatnonzero(odd)[:MOST_STRAYS_KEPT])
    rows = int(texts.counts[odd].sum())
    return Strays(rows, n_known - rows, first)


def unlike(proper: Any, kind: str) -> Booleans:
    """Which of the texts, null where they spell a missing value, are not of a kind."""
    odd: Booleans = cells.as_array(
        compute.invert(compute.match_substring_regex(proper, PATTERNS[kind])).fill_null(False)
    )
    return odd


# --- What to suggest for a column of text
#
# 1.5, 2, -, 3, -        all numbers, or all dates, but for one text without digits: it may mean a missing value
# red, ?, blue           a level of a category that often means a missing value
# 0.2, -999, 1.7, -999   a number that stands out and repeats: it may mean a missing value
# 31.12.2024, 01.02.…    dates that only one form reads

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
            problem = f"its texts are {_VALUES_OF_A_KIND[kind]}, but for {cells.shortened(mark)!r}"
            return _with_mark(column, f"{problem} in {cells.rows_counted(strays.rows)}", mark)
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
    which = f"its level {marks[0]!r}" if one else f"its levels {cells.listed(marks)}"
    condition = "if it does, give " if one else "if they do, give "
    remedy = Message(condition, joined(" and ", [Message(setting) for setting in settings]))
    return Message(f"{which}, in {cells.rows_counted(rows)}, may mean a missing value", Remedy(remedy, settings))


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


# --- Columns of numbers that are written with commas
#
#     1,5  ,5  2           decimal commas, unless other columns have decimal points: ``decimal=","`` reads them
#     1,234  900  5,000    commas that look like thousands separators, which have to be removed from the file
#     1.234,5  2,5         both marks; the thousands separators have to be removed first
#
# Numbers are refused in all three cases, since 1,234 may mean 1.234 or 1234.

# A number with any commas and points.
COMMA = r"^[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?$"
# A text without commas, or whole thousands in groups of three digits; above the last group, of two as well (12,34,567).
THOUSANDS = r"^([^,]*|[-+]?[1-9]\d{0,2}(,\d{2,3})*,\d{3}(\.\d*)?)$"
# A text without commas and points, or a number with a decimal comma.
DECIMALS = r"^([^,.]*|[-+]?(\d+,\d*|,\d+)([eE][-+]?\d+)?)$"
# A text without points, or with several that do not separate thousands, as in dates, versions and addresses.
_OTHER_GROUP = r"(\d{1,2}|\d{4,})"
NO_POINTS = rf"^([^.]*|\d+(\.\d+)*\.{_OTHER_GROUP}(\.\d+)+|\d+(\.\d+)+\.{_OTHER_GROUP}(\.\d+)*)$"
# What is asked about the texts of a column if all of them match COMMA.
MARKS = (THOUSANDS, DECIMALS, NO_POINTS)
_DECIMAL_COMMA = Setting("decimal", ",")


class _ThousandsRemedy(Remedy):
    """The remedy for commas that look like thousands separators, but may be decimal marks."""


def with_commas(name: str, example: str, patterns: Set[str]) -> Column:
    """The refusal of a column of numbers. ``patterns``: those of MARKS that all its texts match."""
    why = f"its numbers are written with commas, such as {cells.shortened(example)!r}"
    if THOUSANDS in patterns:
        kind = _ThousandsRemedy if DECIMALS in patterns else Remedy
        removed = kind(_or_category("remove them from the file", name))
        return Column(name, "text", note=Message(why, Detail(", which look like thousands separators"), removed))
    if DECIMALS in patterns:
        return _with_decimal_commas(name, why)
    remedy = _or_category("write them without thousands separators", name)
    return Column(name, "text", note=Message(why, Remedy(remedy)))


def settled(columns: list[Column], has_other_numbers: Callable[[], bool]) -> list[Column]:
    """The columns of a table, with the same decimal mark for all.

    If a column has decimal commas, so has one such as 1,234, whose commas look like thousands separators by themselves.
    Where other columns have decimal points, no column has decimal commas. ``has_other_numbers`` says whether a column
    has numbers with points, or numbers by its type and not as text.
    """
    if not any(map(_has_decimal_commas, columns)):
        return columns
    change = _beside_points if has_other_numbers() else _beside_decimal_commas
    return [change(column) for column in columns]


def _has_decimal_commas(column: Column) -> bool:
    return _DECIMAL_COMMA in solving(column.note)


def _with_decimal_commas(name: str, why: str) -> Column:
    remedy = Message("if the commas are decimal marks of a text file, give ", _DECIMAL_COMMA)
    return Column(name, "text", note=Message(why, Remedy(remedy, (_DECIMAL_COMMA,))))


def _beside_decimal_commas(column: Column) -> Column:
    parts = column.note.parts if isinstance(column.note, Message) else ()
    if not any(isinstance(part, _ThousandsRemedy) for part in parts):
        return column
    return _with_decimal_commas(column.name, brief(reason(column.note)))


def _beside_points(column: Column) -> Column:
    if not _has_decimal_commas(column):
        return column
    why = Message(reason(column.note), ", but those of other columns are not")
    remedy = _or_category("write them with decimal points and without thousands separators", column.name)
    return replace(column, note=Message(why, Remedy(remedy)))


def _or_category(remedy: str, name: str) -> Message:
    return Message(f"{remedy}, or make the column a category with ", Setting("category", name))


# --- Summaries of rows

# At most this many values are kept to find out whether a value repeats. Past them, values are known not to repeat only
# if they increase.
MOST_VALUES_KEPT = 1 << 20


@dataclass(frozen=True, eq=False)
class SeenNumbers:
    """Numbers, truth values or days of consecutive rows.

    Parameters
    ----------
    n, known : int
        The number of rows, and of those with a value.
    first, last, low, high : float
        The first, last, lowest and highest value; NaN if there is none.
    counts_up : bool
        Whether each value is one more than the value before.
    whole, increases : bool
        Whether all values are whole numbers, and whether each is above the one before.
    infinite : int or None
        The number, from 0, of the first row whose value is infinite.
    values : (m,) array or None
        The different values, sorted; None if a value repeats, or if they are too many or need not be known.
    """

    n: int
    known: int
    first: float
    last: float
    low: float
    high: float
    counts_up: bool
    whole: bool
    increases: bool
    infinite: int | None = None
    values: Array | None = None

    @classmethod
    def of(cls, v: Array, start: int | Integers = 0, distinct: bool = False) -> SeenNumbers:
        """The numbers v (n,), NaN where one is missing. ``distinct``: whether it matters that a value repeats.

        >>> seen = SeenNumbers.of(np.array([1.0, np.nan, 3.0]))
        >>> seen.known, seen.low, seen.high, seen.counts_up
        (2, 1.0, 3.0, False)
        """
        missing = np.isnan(v)
        known: Array = v[~missing] if missing.any() else v
        if not len(known):
            nan = float("nan")
            return cls(len(v), 0, nan, nan, nan, nan, True, True, True, None, np.empty(0))
        low, high = float(known.min()), float(known.max())
        whole = bool(np.all(known == np.round(known)))
        # The difference of two infinities, which are refused later, or of two numbers near the limit of float64.
        with np.errstate(invalid="ignore", over="ignore"):
            steps = np.diff(known) if whole else np.empty(0)
        infinite = int(numbered(start, int(np.argmax(np.isinf(v))))) if np.isinf(low) or np.isinf(high) else None
        ends = (float(known[0]), float(known[-1]), low, high)
        ups = (whole and bool(np.all(steps == 1)), whole, whole and bool(np.all(steps > 0)))
        values = _unique(known) if distinct and whole else None
        return cls(len(v), len(known), *ends, *ups, infinite, values)

    def merge(self, later: SeenNumbers) -> SeenNumbers:
        """These rows and the ones after them."""
        if not self.known or not later.known:
            return replace(later if later.known else self, n=self.n + later.n)
        values = [seen.values for seen in (self, later) if seen.values is not None]
        return SeenNumbers(
            self.n + later.n,
            self.known + later.known,
            self.first,
            later.last,
            min(self.low, later.low),
            max(self.high, later.high),
            self.counts_up and later.counts_up and later.first == self.last + 1,
            self.whole and later.whole,
            self.increases and later.increases and later.first > self.last,
            later.infinite if self.infinite is None else self.infinite,
            _unique(np.concatenate(values)) if len(values) == 2 else None,
        )

    @property
    def never_repeats(self) -> bool:
        """Whether all values are known to be different."""
        return self.increases or self.values is not None


def _unique(known: AnyArray) -> Array | None:
    """The values, sorted; None if one repeats or there are too many to keep."""
    values = np.unique(known)
    return values if len(values) == len(known) <= MOST_VALUES_KEPT else None


# The most different texts, and the most bytes of them, that are kept of a column that is read in parts. A category has
# at most 1000 levels.
MOST_TEXTS_KEPT, MOST_BYTES_KEPT = 5000, 4 << 20
# Whether a column is free text is judged by this many of its different texts, the first ones.
TEXTS_JUDGED = 200
DAY_FIRST = r"^\d{1,2}([./-])\d{1,2}[./-](\d{2}|\d{4})$"
# Numbers with a currency or per cent sign, brackets around negative money, a typographic minus sign, or separated
# thousands, and with either decimal mark.
_SEPARATED = r"(\d+([ ,_'’\x{a0}\x{202f}]\d{3})*(\.\d*)?|\d+([ .'’\x{a0}\x{202f}]\d{3})*(,\d*)?)"
MARKED = rf"^([$€£¥]?\s?[-+−]?\s?[$€£¥]?\s?{_SEPARATED}\s?[%‰$€£¥]?|\([$€£¥]\s?{_SEPARATED}\))$"


@dataclass(frozen=True)
class Facts:
    """What is known about all texts. ``patterns``: those that every text matches, apart from missing values.

    ``comma``: the first text with a comma, if there is one.
    ``strays``: the texts that are not numbers, those that are not truth values and those that are not dates, by kind.
    ``forms``: the forms of dates that read every text. ``example``: the first text with a value.
    """

    n_known: int
    patterns: frozenset[str]
    comma: str | None
    strays: Mapping[str, Strays]
    forms: tuple[str, ...]
    example: str | None

    @classmethod
    def of(cls, texts: Distinct) -> Facts:
        """The facts about these texts."""
        proper = cells.stripped(texts.column)
        known = proper.drop_null()
        patterns = frozenset(pattern for pattern in (DAY_FIRST, COMMA, MARKED) if _all_match(known, pattern))
        if COMMA in patterns:
            patterns |= {pattern for pattern in MARKS if _all_match(known, pattern)}
        forms = tuple(date_forms(known.to_pylist())) if DAY_FIRST in patterns and len(known) else ()
        commas = known.filter(compute.match_substring(known, ","))
        return cls(texts.total, patterns, _first(commas), strays_among(texts, proper), forms, _first(known))

    def merge(self, later: Facts) -> Facts:
        """The facts about these texts and those of later rows."""
        forms = tuple(form for form in self.forms if form in later.forms)
        if self.example is None or later.example is None:  # one of the two has no text
            forms = later.forms if self.example is None else self.forms
        return Facts(
            self.n_known + later.n_known,
            self.patterns & later.patterns,
            later.comma if self.comma is None else self.comma,
            {kind: strays.merge(later.strays[kind]) for kind, strays in self.strays.items()},
            forms,
            later.example if self.example is None else self.example,
        )

    @property
    def has_points(self) -> bool:
        """Whether the texts are numbers of which some have points, which may separate decimals or thousands."""
        return COMMA in self.patterns and NO_POINTS not in self.patterns


def _first(texts: Any) -> str | None:
    return texts[0].as_py() if len(texts) else None


@dataclass(frozen=True, eq=False)
class SeenTexts:
    """The texts of ``n`` rows: all different ones, with their counts, or the first of them and ``facts`` about all.

    In memory all are kept.
    """

    n: int
    texts: Distinct
    facts: Facts | None = None

    @classmethod
    def of(cls, column: Any, start: int | Integers = 0) -> SeenTexts:
        """The texts of a column.

        >>> import pyarrow as pa
        >>> SeenTexts.of(pa.chunked_array([["a", "b", None, "a"]])).n_different
        2
        """
        return cls(len(column), Distinct.of(column, start))

    def merge(self, later: SeenTexts) -> SeenTexts:
        """These rows and the ones after them, with at most MOST_TEXTS_KEPT texts."""
        n = self.n + later.n
        if self.facts is not None:
            return SeenTexts(n, self.texts, self.facts.merge(later.about))
        texts = self.texts.merge(later.texts)
        if later.facts is None and len(texts) <= MOST_TEXTS_KEPT and texts.values.nbytes <= MOST_BYTES_KEPT:
            return SeenTexts(n, texts)
        kept = texts.head(MOST_TEXTS_KEPT)
        if kept.values.nbytes > MOST_BYTES_KEPT:
            kept = kept.head(TEXTS_JUDGED)
        return SeenTexts(n, kept, self.about.merge(later.about))

    @property
    def about(self) -> Facts:
        """The facts about all texts."""
        return Facts.of(self.texts) if self.facts is None else self.facts

    @property
    def is_complete(self) -> bool:
        """Whether ``texts`` has all different texts."""
        return self.facts is None

    @property
    def has_long_texts(self) -> bool:
        """Whether texts are left out because of their length, not because of their number."""
        return not self.is_complete and len(self.texts) < MOST_TEXTS_KEPT

    @property
    def n_different(self) -> int:
        """The number of different texts that are kept. If some were left out, the column has more."""
        return len(self.texts)

    def trimmed(self) -> SeenTexts:
        """The texts without surrounding white space; a blank text is missing."""
        return SeenTexts(self.n, self.texts.renamed(cells.trimmed(self.texts.column)), self.facts)


def _all_match(texts: Any, pattern: str) -> bool:
    """Whether all texts match; also if there is none."""
    return compute.all(compute.match_substring_regex(texts, pattern), min_count=0).as_py() is True
