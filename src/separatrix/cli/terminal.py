"""What a terminal shows: labelled lines that wrap, columns of numbers, JSON, and a note while work goes on."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

# The certificate's own lines have this much room for their labels.
LABEL = 11
# Lines that go to a file or a pipe are not wrapped.
UNWRAPPED = 1 << 16


def width() -> int:
    """Columns of the terminal; of COLUMNS where that is set; no limit where the output is no terminal."""
    return max(40, shutil.get_terminal_size((UNWRAPPED, 24)).columns)


def printable(text: str) -> str:
    r"""Text without control characters, so that no name can move the cursor or break a line.

    >>> print(printable("two\nlines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def line(label: str, text: str) -> None:
    """A label, and text that wraps beside it."""
    wrapped = textwrap.wrap(printable(text), width() - LABEL - 1, break_on_hyphens=False) or [""]
    head = f"{label + ':':<{LABEL}}" if label else " " * LABEL
    click.echo(click.style(head, bold=True) + wrapped[0])
    for more in wrapped[1:]:
        click.echo(" " * LABEL + more)


def lines(text: str) -> None:
    """Lines that are already labelled, such as those of a certificate."""
    for one in text.splitlines():
        line(one[:LABEL].strip().removesuffix(":"), one[LABEL:])


def matrix(names: Sequence[str], heads: Sequence[str], values: Sequence[Sequence[float]]) -> None:
    """A row of numbers for each name, as many columns at once as fit."""
    left = min(max((len(name) for name in names), default=0), 40)
    cell = max(11, *(min(len(head), 24) for head in heads)) + 2
    at_once = max(1, (width() - left - 3) // cell)
    for start in range(0, len(heads), at_once):
        part = range(start, min(start + at_once, len(heads)))
        titles = "".join(f"{clipped(heads[k], cell - 2):>{cell}}" for k in part)
        click.echo(click.style(f"  {'':<{left}}{titles}", bold=True))
        for name, row in zip(names, values, strict=True):
            click.echo(f"  {clipped(name, left):<{left}}" + "".join(f"{row[k]:>{cell}.4g}" for k in part))


def clipped(text: str, most: int) -> str:
    """Text of at most so many letters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def share(value: float) -> str:
    """A share of rows, by three digits."""
    return f"{value:.3f}"


def json_text(value: Any, indent: int | None = 2) -> str:
    """JSON. A float that is not finite has no form in JSON: infinity is "inf", NaN is null.

    >>> print(json_text({"C": float("inf")}))
    {
      "C": "inf"
    }
    """
    return json.dumps(_jsonable(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _jsonable(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return value


@contextmanager
def working(text: str) -> Iterator[None]:
    """A note on standard error while something takes its time; only on a terminal, gone afterwards."""
    seen = sys.stderr.isatty()
    if seen:
        click.echo(f"{printable(text)} ...", err=True, nl=False)
    try:
        yield
    finally:
        if seen:
            click.echo("\r\033[K", err=True, nl=False)
