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

from separatrix.table.cells import NO_NUMBER, listed, texts, truth_levels, truth_readings

# How a date with a time ends where it has a zone, in every engine's regular expressions.
ZONED = r":[0-9].*(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$"
# Truth values in small letters; 1.0 is how some engines spell the number.
TRUE, FALSE = "('true', '1', '1.0')", "('false', '0', '0.0')"
# The white space that ``str.strip`` and Arrow trim. Engines trim the same, so they read a cell as ``predict`` does.
SPACES = tuple(code for code in range(0x3001) if chr(code).isspace())
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


def told(name: str, levels: Sequence[str]) -> list[str]:
    """What becomes of a column of categories that an engine's reader took for another type; a line each.

    >>> told("smoker", ["No", "Yes"])
    ["'smoker': of truth values, true counts as 'Yes', false as 'No'"]
    >>> told("zip", ["007", "12"])
    ["'zip': keep it as text; as numbers, '007' would be levels never seen"]
    """
    counts = truth_levels(levels)
    as_levels = ", ".join(f"{word} {'counts ' * (not k)}as {level!r}" for k, (word, level) in enumerate(counts.items()))
    found = [f"of truth values, {as_levels}"] if any(word != level for word, level in counts.items()) else []
    for word, known in truth_readings(levels).items():
        if len(known) > 1:
            which = f"{counts[word]!r}" if word in counts else "a level never seen"
            found.append(f"keep it as text; as a truth value, {listed(known)} would all be {which}")
    spelled = as_numbers(levels).values()
    other = [level for level in levels if isfinite(_number(level)) and level not in spelled]
    found += [f"keep it as text; as numbers, {listed(other)} would be levels never seen"] if other else []
    return [f"{name!r}: {line}" for line in found]


def unlike(levels: Sequence[str]) -> str:
    """A text that is no level.

    >>> unlike(["red", "other"])
    'other_'
    """
    text = "other"
    while text in levels:
        text += "_"
    return text
