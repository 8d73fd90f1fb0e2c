"""Messages that are worded for users of the Python library or of the command line, and numbers as people write them.

A ``Message`` is a string with the wording for Python, so it can be printed, compared and written to a file like any
other string. It also keeps the typed parts that it was made of, from which the command line makes its own wording:

    part                                  in Python                        in the shell
    Setting("missing", "impute")          missing='impute'                 --missing impute
    Parameter("max_iter")                 max_iter                         --max-iter
    Classifier("MaxMarginClassifier")     MaxMarginClassifier              --model max-margin
    ByAudience("X", shell="the table")    X                                the table
    RowNumber(4)                          4                                the row's number in the user's table
    ColumnName(2)                         column 2                         column 'age'
    ReferenceLevel("sex")                 the reference level of 'sex'     the reference level 'f' of 'sex'
    Remedy("use a finite C")              ; use a finite C                 the same
    Detail(": along +1 for column 2")     : along +1 for column 2          left out where space is short

The pages of the lab have the wording for Python, with the names of their own controls (``teach/lab/requests.py``).

Formatting a message into an f-string or slicing it gives plain text and loses the parts. To combine messages,
pass them to ``Message`` or ``joined``, or add them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias


class MessagePart(ABC):
    """A typed part of a message."""

    @property
    @abstractmethod
    def python(self) -> str:
        """The part in the wording for Python."""

    def mapped(self, change: Change) -> str | MessagePart:
        """The text or part that replaces this part under ``change``."""
        return change(self)

    def within(self) -> Iterator[MessagePart]:
        """The part itself and the parts inside it."""
        yield self


Change: TypeAlias = Callable[[MessagePart], str | MessagePart]


class Message(str):
    """A string with the wording for Python, which also keeps the typed parts that it was made of.

    >>> told = Message("leave it out with ", Setting("drop", "row id"), ", or raise ", Parameter("max_iter"))
    >>> print(told)
    leave it out with drop='row id', or raise max_iter
    >>> [part.name for part in told.within()]
    ['drop', 'max_iter']
    """

    parts: tuple[str | MessagePart, ...]

    def __new__(cls, *parts: str | MessagePart) -> Message:
        flat: list[str | MessagePart] = []
        texts: list[str] = []
        for one in parts:
            if isinstance(one, Message):
                flat += one.parts
                texts.append(one)
            elif isinstance(one, str):
                if one:
                    flat.append(str(one))
                    texts.append(one)
            else:
                flat.append(one)
                texts.append(one.python)
        found = super().__new__(cls, "".join(texts))
        found.parts = tuple(flat)
        return found

    def __add__(self, other: str) -> Message:
        return Message(self, other)

    def __radd__(self, other: str) -> Message:
        return Message(other, self)

    def mapped(self, change: Change) -> Message:
        """The message with each typed part replaced by what ``change`` returns for it."""
        return Message(*(one.mapped(change) if isinstance(one, MessagePart) else one for one in self.parts))

    def within(self) -> Iterator[MessagePart]:
        """All typed parts, in their order."""
        for one in self.parts:
            if isinstance(one, MessagePart):
                yield from one.within()

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows that the message names, by number.

        >>> Message("rows ", RowNumber(3), " and ", RowNumber(5)).rows
        (3, 5)
        """
        return tuple(one.number for one in self.within() if isinstance(one, RowNumber))

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that the message names, by index."""
        return tuple(one.index for one in self.within() if isinstance(one, ColumnName))

    @property
    def remedies(self) -> tuple[MessagePart, ...]:
        """The settings, parameters and classifiers that the message recommends or mentions."""
        return tuple(one for one in self.within() if isinstance(one, Setting | Parameter | Classifier))


def joined(separator: str, messages: Iterable[str]) -> Message:
    """The messages joined by ``separator``, with their typed parts.

    >>> print(joined("; ", ["raise tol", Message("or give ", Setting("C", math.inf))]))
    raise tol; or give C=np.inf
    """
    found: list[str] = []
    for one in messages:
        found += [separator, one] if found else [one]
    return Message(*found)


@dataclass(frozen=True)
class Setting(MessagePart):
    """A parameter with its recommended value or values; without a value, a parameter that the user has to give.

    Several values are alternatives. A tuple is one value: a list in Python, and a repeated option in the shell.

    >>> Setting("missing", "impute", "indicator", "drop").python, Setting("target").python
    ("missing='impute', 'indicator' or 'drop'", 'target=')
    >>> Setting("drop", ("id", "key")).python
    "drop=['id', 'key']"
    """

    name: str
    values: tuple[Any, ...]

    def __init__(self, name: str, *values: Any) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", values)

    @property
    def python(self) -> str:
        return f"{self.name}={choices([_in_python(value) for value in self.values])}"


def _in_python(value: Any) -> str:
    """A value as it is written in Python code; several values of one setting as a list."""
    if isinstance(value, tuple) and all(isinstance(one, ForColumn) for one in value):
        return repr({one.column: one.value for one in value})
    if isinstance(value, tuple):
        return f"[{', '.join(map(_in_python, value))}]"
    if isinstance(value, float) and math.isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


@dataclass(frozen=True)
class ForColumn:
    """The value of a setting for one column: an entry of a mapping in Python, COL=VALUE in the shell.

    >>> value = ForColumn("born", "%d.%m.%Y")
    >>> Setting("date_format", value).python, str(value)
    ("date_format={'born': '%d.%m.%Y'}", 'born=%d.%m.%Y')
    """

    column: str
    value: str

    def __str__(self) -> str:
        return f"{self.column}={self.value}"

    def __repr__(self) -> str:
        return repr({self.column: self.value})


def choices(words: Sequence[str]) -> str:
    """The words joined by commas and "or".

    >>> choices(["a"]), choices(["a", "b", "c"]), choices([])
    ('a', 'a, b or c', '')
    """
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


@dataclass(frozen=True)
class Parameter(MessagePart):
    """The name of a parameter."""

    name: str

    @property
    def python(self) -> str:
        return self.name


@dataclass(frozen=True)
class Classifier(MessagePart):
    """The name of a classifier in Python, with settings.

    >>> Classifier("FisherDiscriminant", Setting("direction", "means")).python
    "FisherDiscriminant(direction='means')"
    """

    name: str
    settings: tuple[Setting, ...]

    def __init__(self, name: str, *settings: Setting) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "settings", settings)

    @property
    def python(self) -> str:
        given = ", ".join(one.python for one in self.settings)
        return f"{self.name}({given})" if given else self.name


@dataclass(frozen=True)
class ByAudience(MessagePart):
    """A text that is different in Python, in the shell and perhaps on the pages of the lab.

    ``page`` is the text on a page; None stands for the text in Python.
    """

    python_words: str
    shell: str
    page: str | None = None

    @property
    def python(self) -> str:
        return self.python_words


@dataclass(frozen=True)
class RowNumber(MessagePart):
    """A row: its index among the fitted rows, until it is replaced by its number or name in the user's table.

    >>> RowNumber(3).python, RowNumber(3, "17 of part-2.csv").python
    ('3', '17 of part-2.csv')
    """

    number: int
    called: str | None = None

    @property
    def python(self) -> str:
        return str(self.number) if self.called is None else self.called


@dataclass(frozen=True)
class ColumnName(MessagePart):
    """A column: its index among the columns of the fit, and its name if known.

    >>> ColumnName(1).python, ColumnName(1, "column 'age'").python
    ('column 1', "column 'age'")
    """

    index: int
    called: str | None = None

    @property
    def python(self) -> str:
        return f"column {self.index}" if self.called is None else self.called


@dataclass(frozen=True)
class ReferenceLevel(MessagePart):
    """The reference level of a category, which has no column of its own; by its name if that is known.

    >>> ReferenceLevel("sex").python, ReferenceLevel("sex", "f").python
    ("the reference level of 'sex'", "the reference level 'f' of 'sex'")
    """

    of: str
    level: str | None = None

    @property
    def python(self) -> str:
        return f"the reference level {'' if self.level is None else f'{self.level!r} '}of {self.of!r}"


@dataclass(frozen=True)
class Remedy(MessagePart):
    """A recommended action, as the last clause of a sentence. ``settings`` alone solve the problem, if there are any.

    >>> told = Message("its values never repeat", Remedy(Message("leave it out with ", Setting("drop", "id"))))
    >>> print(told)
    its values never repeat; leave it out with drop='id'
    >>> print(reason(told)), print(remedy(told))
    its values never repeat
    leave it out with drop='id'
    (None, None)
    """

    remedy: str
    settings: tuple[Setting, ...] = ()

    @property
    def python(self) -> str:
        return f"; {self.remedy}"

    def mapped(self, change: Change) -> str | MessagePart:
        other = change(self)
        return Remedy(_mapped(self.remedy, change), self.settings) if other is self else other

    def within(self) -> Iterator[MessagePart]:
        yield self
        yield from _within(self.remedy)


def reason(text: str) -> str:
    """A message without its remedies; a plain string is returned unchanged."""
    if not isinstance(text, Message):
        return text
    return Message(*(one for one in text.parts if not isinstance(one, Remedy)))


def remedy(text: str) -> str:
    """The remedies of a message, without the rest; empty for a plain string."""
    if not isinstance(text, Message):
        return ""
    return joined("; ", [one.remedy for one in text.parts if isinstance(one, Remedy)])


def solving(text: str) -> tuple[Setting, ...]:
    """The settings that alone solve the problem that a message is about; empty if none do.

    >>> solving(Message("it is text", Remedy("leave it out", (Setting("drop", "id"),))))
    (Setting(name='drop', values=('id',)),)
    """
    parts = text.parts if isinstance(text, Message) else ()
    return tuple(setting for one in parts if isinstance(one, Remedy) for setting in one.settings)


def together(settings: Iterable[Setting]) -> tuple[Setting, ...]:
    """The settings with the values of each parameter joined, in the order of the parameters.

    >>> [one.python for one in together([Setting("drop", "a"), Setting("na", "-"), Setting("drop", "b")])]
    ["drop=['a', 'b']", "na='-'"]
    """
    values: dict[str, dict[Any, None]] = {}
    for setting in settings:
        values.setdefault(setting.name, {}).update(dict.fromkeys(setting.values))
    return tuple(
        Setting(name, *found) if len(found) == 1 else Setting(name, tuple(found)) for name, found in values.items()
    )


@dataclass(frozen=True)
class Detail(MessagePart):
    """A text that the short form of a message omits or shortens.

    >>> print(brief(Message("no optimum exists", Detail(": the weights grow along column 2"))))
    no optimum exists
    """

    full: str
    short: str = ""

    @property
    def python(self) -> str:
        return self.full

    def mapped(self, change: Change) -> str | MessagePart:
        other = change(self)
        return Detail(_mapped(self.full, change), _mapped(self.short, change)) if other is self else other

    def within(self) -> Iterator[MessagePart]:
        yield self
        yield from _within(self.full)


def brief(text: str) -> str:
    """The short form of a message; a plain string is returned unchanged."""
    return _mapped(text, lambda one: one.short if isinstance(one, Detail) else one)


def _mapped(text: str, change: Change) -> str:
    return text.mapped(change) if isinstance(text, Message) else text


def _within(text: str) -> Iterator[MessagePart]:
    if isinstance(text, Message):
        yield from text.within()


# --- Messages with other names of rows, columns and reference levels


class RowNumbering(Protocol):
    """The numbers or the names of rows by their index: a sequence, an array, or ``RowNames``."""

    def __getitem__(self, index: Any, /) -> Any: ...


def over_rows(text: str, numbers: RowNumbering) -> str:
    """The message with row i renamed to ``numbers[i]``, a number or a name; a plain string is returned unchanged.

    >>> print(over_rows(Message("row ", RowNumber(1), " is wrong"), [5, 7]))
    row 7 is wrong
    """

    def numbered(one: MessagePart) -> str | MessagePart:
        if not isinstance(one, RowNumber):
            return one
        name = numbers[one.number]
        return RowNumber(one.number, name) if isinstance(name, str) else RowNumber(int(name))

    return _mapped(text, numbered)


def over_columns(text: str, indices: Sequence[int]) -> str:
    """The message with column j renumbered to ``indices[j]``, for a wider table; a plain string is unchanged."""

    def placed(one: MessagePart) -> str | MessagePart:
        return ColumnName(int(indices[one.index]), one.called) if isinstance(one, ColumnName) else one

    return _mapped(text, placed)


def with_columns(text: str, called: Callable[[int], str]) -> str:
    """The message with column j renamed to ``called(j)``; a plain string is returned unchanged.

    >>> print(with_columns(Message(ColumnName(1), " alone separates them"), lambda j: "the age"))
    the age alone separates them
    """

    def named(one: MessagePart) -> str | MessagePart:
        return ColumnName(one.index, called(one.index)) if isinstance(one, ColumnName) else one

    return _mapped(text, named)


def with_references(text: str, references: Mapping[str, str]) -> str:
    """The message with reference levels named by category; a plain string is returned unchanged.

    >>> print(with_references(Message(ReferenceLevel("sex"), " causes it"), {"sex": "f"}))
    the reference level 'f' of 'sex' causes it
    """

    def named(one: MessagePart) -> str | MessagePart:
        return ReferenceLevel(one.of, references.get(one.of)) if isinstance(one, ReferenceLevel) else one

    return _mapped(text, named)


# --- Numbers and sizes as people write them


def number_text(value: float, digits: int = 4) -> str:
    """A number with at least ``digits`` significant digits before its trailing zeros are left out.

    The integer part is never rounded. Only very small and very large numbers have an exponent: those below 1e-4, whole
    numbers from 1e15 on, and other numbers from 1e7 on. Thousands are separated by commas from 10,000 on.

    >>> [number_text(value) for value in (12345.0, 12345.678, 1987, 1234.5678, 0.000123456, 0.5)]
    ['12,345', '12,346', '1987', '1235', '0.0001235', '0.5']
    >>> [number_text(value) for value in (-2.5e13, 1.23456e13 + 0.5, 1.23456e-7, math.inf)]
    ['-25,000,000,000,000', '1.235e+13', '1.235e-07', 'inf']
    """
    size = abs(value)
    if not math.isfinite(value) or 0 < size < 1e-4:
        return f"{value:.{digits}g}"
    whole = value == round(value)
    if size >= (1e15 if whole else 1e7):
        return f"{value:.{digits}g}"
    if whole or round(size) >= 10 ** (digits - 1):
        rounded = round(value)
        return f"{rounded:,}" if abs(rounded) >= 10_000 else str(rounded)
    return f"{value:.{digits}g}"


def ratio_text(value: float) -> str:
    """Four significant digits, or more if the ratio is close to 1, as for a column in small units such as days.

    A ratio within 0.01 of 1 has three significant digits of its distance from 1, but no more than the 14 decimals that
    mean anything in a float64 near 1.

    >>> ratio_text(0.21893), ratio_text(1.00032615), ratio_text(0.99999123), ratio_text(1.0)
    ('0.2189', '1.000326', '0.99999123', '1')
    """
    distance = abs(value - 1.0)
    if not 0.0 < distance < 0.01:
        return number_text(value)
    return f"{value:.{min(2 - math.floor(math.log10(distance)), 14)}f}"


def size_text(n: float) -> str:
    """A number of bytes in words.

    >>> size_text(3_210_000_000), size_text(450_000_000)
    ('3.2 GB', '450 MB')
    """
    return f"{n / 1e9:.2g} GB" if n >= 1e9 else f"{max(n / 1e6, 1):.0f} MB"


def many(count: int, what: str) -> str:
    """A count with its noun.

    >>> many(1, "row"), many(2000, "class"), many(3, "category")
    ('1 row', '2,000 classes', '3 categories')
    """
    if count == 1:
        return f"1 {what}"
    if what.endswith("y"):
        return f"{count:,} {what[:-1]}ies"
    return f"{count:,} {what}{'es' if what.endswith('s') else 's'}"
