"""The text of values in a column of categories: an engine must spell them as the encoder does.

Engines spell floats in different ways ("3.0", "1e+16"), so floats are compared as numbers: a level that the encoder
makes from a number matches that number and no other. Other differences are in the ``Respelling`` of each engine, which
is written only if a level may be affected.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

import pyarrow as pa

from separatrix.table.cells import NO_NUMBER, listed, texts, truth_levels, truth_readings

# The end of a date with a time and a zone, as a regular expression that every engine understands.
ZONED = r":[0-9].*(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$"
# The texts of truth values, in lower case. Some engines spell the number 1 as 1.0.
TRUE, FALSE = "('true', '1', '1.0')", "('false', '0', '0.0')"
# The white space that ``str.strip`` and Arrow trim. Engines trim the same characters, so cells read as in ``predict``.
SPACES = tuple(code for code in range(0x3001) if chr(code).isspace())
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?(Z?)")


@dataclass(frozen=True)
class Respelling:
    """``text`` replaces a value for which ``test`` holds. It is needed for levels for which ``applies`` is true."""

    applies: Callable[[Sequence[str]], bool]
    test: str
    text: str


def nothing(text: str) -> str:
    """An SQL condition that is true if a text denotes a missing number.

    >>> nothing("x")[:19]
    "x IN ('', 'NA', 'na"
    """
    return f"{text} IN ({', '.join(repr(spelling) for spelling in dict.fromkeys(NO_NUMBER))})"


def as_numbers(levels: Sequence[str]) -> dict[float, str]:
    """The levels that the encoder makes from numbers, as a dictionary from number to level.

    >>> as_numbers(["1", "2.5", "007", "1.0", "red"])
    {1.0: '1', 2.5: '2.5'}
    """
    read = [(value, level) for level in levels if isfinite(value := _number(level))]
    # From a buffer, since PyArrow imports pandas to convert a list.
    values = pa.Array.from_buffers(pa.float64(), len(read), [None, pa.py_buffer(array("d", [v for v, _ in read]))])
    spelled = texts("the levels", "level", pa.chunked_array([values]))
    return {value: level for (value, level), text in zip(read, spelled.to_pylist(), strict=True) if text == level}


def _number(level: str) -> float:
    try:
        return float(level)
    except ValueError:
        return float("nan")


def are_numbers(levels: Sequence[str]) -> bool:
    """Whether a level can be read as a number, even if the encoder spells that number in another way.

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


def notes_on_levels(name: str, levels: Sequence[str]) -> list[str]:
    """What happens to a column of categories if an engine reads it as truth values or numbers; one line each.

    >>> notes_on_levels("smoker", ["No", "Yes"])
    ["'smoker': if the engine holds truth values, true counts as 'Yes', false as 'No'"]
    >>> notes_on_levels("zip", ["007", "12"])
    ["'zip': keep it as text; read as a number, '007' would not be recognised"]
    """
    return [f"{name!r}: {line}" for line in [*_read_as_truth_values(levels), *_read_as_numbers(levels)]]


def _read_as_truth_values(levels: Sequence[str]) -> list[str]:
    counts = truth_levels(levels)
    as_levels = ", ".join(f"{word} {'counts ' * (not k)}as {level!r}" for k, (word, level) in enumerate(counts.items()))
    lines = (
        [f"if the engine holds truth values, {as_levels}"]
        if any(word != level for word, level in counts.items())
        else []
    )
    for word, known in truth_readings(levels).items():
        if len(known) > 1:
            meaning = f"would all be {counts[word]!r}" if word in counts else "would not be recognised"
            lines.append(f"keep it as text; read as a truth value, {listed(known)} {meaning}")
    return lines


def _read_as_numbers(levels: Sequence[str]) -> list[str]:
    spelled = as_numbers(levels).values()
    other = [level for level in levels if isfinite(_number(level)) and level not in spelled]
    return [f"keep it as text; read as a number, {listed(other)} would not be recognised"] if other else []


def unlike(levels: Sequence[str]) -> str:
    """A text that is not a level.

    >>> unlike(["red", "other"])
    'other_'
    """
    text = "other"
    while text in levels:
        text += "_"
    return text
