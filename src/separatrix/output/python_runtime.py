"""The functions of exported Python files. They are copied into each file, so they need only standard modules.

A vector is a list of floats. A list of one number is broadcast to the length of the other operand.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import itertools
import math
import operator
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from separatrix.output.algebra import LOWEST_EXPONENT
from separatrix.tables.cells import NO_NUMBER, NO_TEXT
from separatrix.tables.text import hashed_place, murmur3, ngrams, text_row

# A placeholder: an exported file defines its labels under this name.
CLASSES: list[Any] = []
# The modules that the functions below need.
MODULES = (argparse, csv, datetime, io, itertools, math, operator, os, sys)


def as_number(value: Any) -> float | None:
    """A finite number, or None if the value is missing."""
    if value is None or (isinstance(value, str) and value.strip() in NO_NUMBER):
        return None
    if isinstance(value, str) and "_" in value:
        raise ValueError("it is not a number")
    try:
        number = float(value.strip() if isinstance(value, str) else value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise ValueError("it is infinite, or too large for a float")
    return None if math.isnan(number) else number


def as_truth(value: Any) -> float | None:
    """1 for true and 0 for false, or None if the value is missing."""
    said = value.strip().lower() if isinstance(value, str) else value
    number = as_number({"true": 1, "false": 0}.get(said, said))
    if number not in (0, 1, None):
        raise ValueError("it is not true or false")
    return number


def as_days(value: Any) -> float | None:
    """Days since 1970-01-01, or None if the value is missing; a time without a zone is UTC."""
    if value is None or value != value or (isinstance(value, str) and value.strip() in NO_NUMBER):
        return None
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value.strip())
    if not isinstance(value, datetime.date):
        raise ValueError("it is not a date")
    if not isinstance(value, datetime.datetime):
        return float((value - datetime.date(1970, 1, 1)).days)
    value = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    since: datetime.timedelta = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return since / datetime.timedelta(days=1)


def as_level(value: Any, column: Any) -> str | float | None:
    """The text of a category, or None if the value is missing; for a float, its value."""
    if isinstance(value, str):
        return as_text(value, column)
    if value is None or value != value:
        return None
    if str(value) in ("True", "False"):
        text = str(value).lower()
        return str(column["truths"].get(text, text))
    if isinstance(value, datetime.datetime):
        return as_time(value)
    if hasattr(value, "__index__"):
        return str(int(value))
    # The conversion goes through text, so that 0.1 in single precision becomes 0.1 in double precision.
    return float(str(value)) if hasattr(value, "__float__") else str(value)


def as_text(value: str, column: Any) -> str | None:
    """The text without white space around it, or None if it is empty or means a missing value."""
    text = value.strip()
    missing = text == "NA" and value != "NA" and "NA" not in column["rows"]
    return None if missing else text or None


def as_time(value: datetime.datetime) -> str:
    """The text of a time; one with a zone is converted to UTC."""
    zone = "Z" if value.tzinfo else ""
    text = (value.astimezone(datetime.UTC) if zone else value).replace(tzinfo=None).isoformat(" ")
    return (text.rstrip("0") if "." in text else text) + zone


def as_words(value: Any, column: Any) -> tuple[float, ...] | None:
    """The columns of X of a text; None where it is missing and that leaves the row without an answer."""
    text = as_level(value, column)
    if text is None and column["absent"] is None:
        return None
    spelled = "" if text is None else text if isinstance(text, str) else f"{text!r}".removesuffix(".0")
    x = text_row(spelled, column["text"])
    x = [a - b for a, b in zip(x, column["text"]["shifts"], strict=True)] if column["text"]["shifts"] else x
    return (*x, *(column["absent"] if text is None else column["tail"]))


def encoded(row: dict[str, Any], columns: Any, readers: Any) -> list[float] | None:
    """The columns of X for a row, or None if a missing value leaves the row without a prediction."""
    x: list[float] = []
    answered = True
    for column in columns:
        name = column["name"]
        if name not in row:
            raise ValueError(f"the row has no column {name!r}")
        try:
            read = readers[column["kind"]]
            value = read(row[name], column) if column["rows"] or column["text"] else read(row[name])
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r} is {row[name]!r}: {error}") from None
        found = encoded_value(value, column)
        answered = answered and found is not None
        x.extend(found or ())
    return x if answered else None


def encoded_value(value: Any, column: Any) -> Any:
    """The columns of X for a value that was read, or None if it is missing and rows without it are dropped."""
    if value is None:
        if column["absent"] is None and not column["drop"]:
            raise ValueError(f"column {column['name']!r} has no value")
        return column["absent"]
    if column["rows"]:
        found = column["rows"].get(value, column["unseen"])
        if found is None:
            raise ValueError(f"column {column['name']!r} is {value!r}, which no training row had")
        return found
    return value if column["text"] else (value - column["shift"], *column["tail"])


def affine(M: list[list[float]], a: list[float], v: list[float]) -> list[float]:
    """a + M v. Zeros of v are passed over: of the n-grams of a text they are nearly all."""
    used = list(itertools.compress(range(len(v)), v))
    return [b + sum([w[j] * v[j] for j in used]) for b, w in zip(a, M, strict=True)]


def each(f: Callable[..., float], *vectors: list[float]) -> list[float]:
    """f of the first entries, of the second entries, and so on."""
    width = max(map(len, vectors))
    return [f(*entries) for entries in zip(*(v * width if len(v) == 1 else v for v in vectors), strict=True)]


def raised(v: float) -> float:
    """e^v, or 0 if that would be smaller than the smallest normal number."""
    return math.exp(v) if v >= LOWEST_EXPONENT else 0.0


def where(test: float, yes: float, no: float) -> float:
    """``yes`` if test is not negative, else ``no``."""
    return yes if test >= 0 else no


def predict_table(*asked: Any) -> None:
    """``answer_table``, which ends quietly if the reader of its output, such as head, closes the pipe."""
    try:
        try:
            answer_table(*asked)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Discard the buffered output; otherwise Python would report an error when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # The exit status that a shell reports for a program that was ended by SIGPIPE.
        sys.exit(141)


def table_options(about: str, has_probabilities: bool) -> dict[str, bool]:
    """The options of the command line."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=about, formatter_class=form, usage="%(prog)s [options] < rows.csv")
    parser.add_argument("--header", action="store_true", help="print a header line with the names of the columns")
    parser.add_argument(
        "--no-names", action="store_true", help="the table has no header; its columns are those above, in this order"
    )
    if has_probabilities:
        parser.add_argument("--probabilities", action="store_true", help="also print the probability of each class")
    return {"probabilities": False, **vars(parser.parse_args())}


def table_rows(columns: Any, no_names: bool) -> Iterator[dict[str, Any]]:
    """The rows of the CSV on standard input, with None for missing values."""
    csv.field_size_limit(2**31 - 1)  # The default, 131072 letters, is too few for some texts.
    cells = io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig", newline="")
    names = [column["name"] for column in columns] if no_names else None
    literal = {column["name"] for column in columns if "NA" in column["rows"]}
    for row in csv.DictReader(cells, names):
        yield {name: None if cell in NO_TEXT and name not in literal else cell for name, cell in row.items()}


def answer_table(
    about: str, columns: Any, predict: Callable[[dict[str, Any]], Any], probabilities: Callable[..., Any] | None = None
) -> None:
    """Read CSV from standard input and print one prediction per line; a row without one gives an empty line."""
    asked = table_options(about, probabilities is not None)
    classes = CLASSES if asked["probabilities"] else []
    answers: Any = sys.stdout
    answers.reconfigure(encoding="utf-8", newline="", line_buffering=True)
    lines = csv.writer(answers, lineterminator="\n")
    if asked["header"]:
        lines.writerow(["label", *map("probability={}".format, classes)])
    for number, given in enumerate(table_rows(columns, asked["no_names"]), 1):
        try:
            answer = predict(given)
            found = (probabilities(given) if probabilities and classes else None) or {}
        except ValueError as error:
            sys.exit(f"row {number}: {error}")
        if answer is None and not classes:
            print(file=answers)
        else:
            lines.writerow([answer, *map(found.get, classes)])


FUNCTIONS = (
    as_number,
    as_truth,
    as_days,
    as_level,
    as_text,
    as_time,
    encoded,
    encoded_value,
    affine,
    each,
    raised,
    where,
    predict_table,
    table_options,
    table_rows,
    answer_table,
)
# The modules and functions that models with a column of text need besides.
TEXT_MODULES = (re,)
TEXT_FUNCTIONS = (ngrams, murmur3, hashed_place, text_row, as_words)
