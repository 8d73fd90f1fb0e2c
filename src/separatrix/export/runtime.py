"""What an exported Python file does at run time: its functions are copied there, so they need only standard modules.

A vector is a list of floats; a list of one number counts for every entry beside a longer one.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
import operator
import sys
from collections.abc import Callable
from typing import Any

from separatrix.export.algebra import LOWEST_EXPONENT
from separatrix.table.cells import NO_NUMBER, NO_TEXT

# The modules that the functions below need.
MODULES = (csv, datetime, io, math, operator, sys)


def as_number(value: Any) -> float | None:
    """A finite number, or None where there is no value."""
    if value is None or (isinstance(value, str) and value.strip() in NO_NUMBER):
        return None
    number = float(value)
    if math.isinf(number):
        raise ValueError("it is infinite")
    return None if math.isnan(number) else number


def as_truth(value: Any) -> float | None:
    """1 for true and 0 for false, or None where there is no value."""
    said = value.strip().lower() if isinstance(value, str) else value
    number = as_number({"true": 1, "false": 0}.get(said, said))
    if number not in (0, 1, None):
        raise ValueError("it is not true or false")
    return number


def as_days(value: Any) -> float | None:
    """Days since 1970-01-01, or None where there is no value; a time without a zone is UTC."""
    if value is None or value != value or (isinstance(value, str) and value.strip() in NO_NUMBER):
        return None
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value.strip())
    if not isinstance(value, datetime.datetime):
        return float((value - datetime.date(1970, 1, 1)).days)
    value = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    since: datetime.timedelta = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return since / datetime.timedelta(days=1)


def as_level(value: Any) -> str | None:
    """The text of a category, or None where there is no value; a number is as short as it goes."""
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def encoded(row: dict[str, Any], columns: Any, readers: Any) -> list[float] | None:
    """The columns of X for a row, or None where a missing value leaves it without an answer."""
    x: list[float] = []
    answered = True
    for column in columns:
        name = column["name"]
        if name not in row:
            raise ValueError(f"the row has no column {name!r}")
        try:
            value = readers[column["kind"]](row[name])
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r} is {row[name]!r}: {error}") from None
        if value is None:
            found = column["absent"]
            answered = answered and found is not None
            if found is None and not column["drop"]:
                raise ValueError(f"column {name!r} has no value")
        elif column["kind"] == "category":
            found = column["rows"].get(value, column["unseen"])
            if found is None:
                raise ValueError(f"column {name!r} is {value!r}, which no training row had")
        else:
            found = (value - column["shift"], *column["tail"])
        x.extend(found or ())
    return x if answered else None


def affine(M: list[list[float]], a: list[float], v: list[float]) -> list[float]:
    """a + M v."""
    return [b + sum(map(operator.mul, w, v)) for b, w in zip(a, M, strict=True)]


def each(f: Callable[..., float], *vectors: list[float]) -> list[float]:
    """f of the first entries, of the second entries, and so on."""
    width = max(map(len, vectors))
    return [f(*entries) for entries in zip(*(v * width if len(v) == 1 else v for v in vectors), strict=True)]


def raised(v: float) -> float:
    """e^v, 0 where that is below the normal numbers."""
    return math.exp(v) if v >= LOWEST_EXPONENT else 0.0


def where(test: float, yes: float, no: float) -> float:
    """``yes`` where test is not negative, else ``no``."""
    return yes if test >= 0 else no


def predict_lines(predict: Callable[[dict[str, Any]], Any]) -> None:
    """CSV with a header on standard input, one answer a line on standard output; no answer is an empty line."""
    cells = io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", newline="")
    answers = io.TextIOWrapper(sys.stdout.buffer, "utf-8", line_buffering=True)
    for number, row in enumerate(csv.DictReader(cells), 1):
        try:
            answer = predict({name: None if cell in NO_TEXT else cell for name, cell in row.items()})
        except ValueError as error:
            sys.exit(f"row {number}: {error}")
        print("" if answer is None else answer, file=answers)


FUNCTIONS = (
    as_number,
    as_truth,
    as_days,
    as_level,
    encoded,
    affine,
    each,
    raised,
    where,
    predict_lines,
)
