"""How values of a column are spelled as text, so that an engine's text of a category is the encoder's.

A float is compared as a number, as engines spell it in ways of their own ("3.0", "1e+16"): a level that the encoder
makes of a number stands for that number, and for no other. What else is spelled otherwise, an engine's ``Respelling``
says; it is written only where some level may be meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

import pyarrow as pa

from separatrix.table.cells import NO_NUMBER, texts

# How a date with a time ends where it has a zone, in every engine's regular expressions.
ZONED = r":[0-9].*(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$"
# Truth values in small letters; 1.0 is how some engines spell the number.
TRUE, FALSE = "('true', '1', '1.0')", "('false', '0', '0.0')"
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?(Z?)")


@dataclass(frozen=True)
class Respelling:
    """Where ``test`` holds of a column, its text is ``text``; for levels of which ``applies`` holds."""

    applies: Callable[[Sequence[str]], bool]
    test: str
    text: str


def nothing(text: str) -> str:
    """Whether a text spells that there is no number.

    >>> nothing("x")[:19]
    "x IN ('', 'NA', 'na"
    """
    return f"{text} IN ({', '.join(repr(spelling) for spelling in dict.fromkeys(NO_NUMBER))})"


def as_numbers(levels: Sequence[str]) -> dict[float, str]:
    """The levels that the encoder makes of numbers, by these.

    >>> as_numbers(["1", "2.5", "007", "1.0", "red"])
    {1.0: '1', 2.5: '2.5'}
    """
    read = [(value, level) for level in levels if isfinite(value := _number(level))]
    spelled = texts("the levels", "level", pa.chunked_array([[value for value, _ in read]], pa.float64()))
    return {value: level for (value, level), text in zip(read, spelled.to_pylist(), strict=True) if text == level}


def _number(level: str) -> float:
    try:
        return float(level)
    except ValueError:
        return float("nan")


def are_numbers(levels: Sequence[str]) -> bool:
    """Whether a level reads as a number, if not as the encoder spells it.

    >>> are_numbers(["red", "1.0"]), are_numbers(["red"])
    (True, False)
    """
    return any(isfinite(_number(level)) for level in levels)


def are_instants(levels: Sequence[str]) -> bool:
    """Whether a level is a date with a time.

    >>> are_instants(["2024-12-31 23:59:00", "red"]), are_instants(["2024-12-31"])
    (True, False)
    """
    return any(_INSTANT.fullmatch(level) for level in levels)


def are_zoned(levels: Sequence[str]) -> bool:
    """Whether a level is a date with a time and a zone."""
    return any(level.endswith("Z") and _INSTANT.fullmatch(level) for level in levels)


def are_truths(levels: Sequence[str]) -> bool:
    """Whether levels are truth values, and none a number that could be meant.

    >>> are_truths(["true", "false"]), are_truths(["true", "1"])
    (True, False)
    """
    return bool({"true", "false"} & set(levels)) and not {"0", "1"} & set(levels)


def unlike(levels: Sequence[str]) -> str:
    """A text that is no level.

    >>> unlike(["red", "other"])
    'other_'
    """
    text = "other"
    while text in levels:
        text += "_"
    return text
