"""What a terminal shows: labelled lines that wrap, columns of numbers, JSON, and a note while work goes on."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

# The certificate's own lines have this much room for their labels.
LABEL = 11
# Lines that go to a file or a pipe are not wrapped.
UNWRAPPED = 1 << 16
# Work that ends within so many seconds is not spoken of.
PATIENCE = 1.0


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


def line(label: str, text: str, colour: str | None = None) -> None:
    """A label, and text that wraps beside it."""
    wrapped = textwrap.wrap(printable(text), width() - LABEL - 1, break_on_hyphens=False) or [""]
    head = f"{label + ': ':<{LABEL}}" if label else " " * LABEL
    click.echo(click.style(head, bold=True) + click.style(wrapped[0], fg=colour))
    for more in wrapped[1:]:
        click.echo(" " * LABEL + click.style(more, fg=colour))


def certificate(found: Any) -> None:
    """A certificate's own lines, its status in green or red."""
    for one in str(found).splitlines():
        label = one[:LABEL].strip().removesuffix(":")
        line(label, one[LABEL:], ("green" if found.met else "red") if label == "status" else None)


def matrix(
    names: Sequence[str],
    heads: Sequence[str],
    values: Sequence[Sequence[float]],
    form: str = ".4g",
    least: int = 11,
    widest: int = 40,
) -> None:
    """A row of numbers for each name, as many columns at once as fit; numbers have at least so much room."""
    left = min(max((len(name) for name in names), default=0), max(8, min(widest, width() - least - 5)))
    cell = max(least, *(min(len(head), 24) for head in heads)) + 2
    at_once = max(1, (width() - left - 3) // cell)
    for start in range(0, len(heads), at_once):
        part = range(start, min(start + at_once, len(heads)))
        titles = "".join(f"{clipped(heads[k], cell - 2):>{cell}}" for k in part)
        click.echo(click.style(f"  {'':<{left}}{titles}", bold=True))
        for name, row in zip(names, values, strict=True):
            click.echo(f"  {clipped(name, left):<{left}}" + "".join(f"{row[k]:>{cell}{form}}" for k in part))


def clipped(text: str, most: int) -> str:
    """Text of at most so many letters.

    >>> clipped("a long name", 8)
    'a lon...'
    """
    return text if len(text) <= most else text[: most - 3] + "..."


def some(texts: Sequence[str], most: int) -> str:
    """The first few of several texts, and how many more there are.

    >>> some(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def count(n: int, what: str) -> str:
    """So many of something.

    >>> count(1, "row"), count(1234, "row")
    ('1 row', '1234 rows')
    """
    return f"{n} {what}{'s' * (n != 1)}"


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
def working(text: str) -> Iterator[Callable[[str], None]]:
    """A spinner on standard error while something takes longer than a second; only on a terminal, gone afterwards.

    Gives a function that changes the text.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    spinner = _Spinner(printable(text))
    timer = threading.Timer(PATIENCE, spinner.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda said: spinner.say(printable(said))
    finally:
        timer.cancel()
        spinner.stop()


class _Spinner:
    """Shown by a timer, hidden by the work's own thread: whichever comes first, it is not shown afterwards."""

    def __init__(self, text: str) -> None:
        self.text, self.ended = text, False
        self.shown: Any = None
        self.lock = threading.Lock()

    def start(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self.lock:
            if self.ended:
                return
            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            self.shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self.shown.add_task(self.text, total=None)
            self.shown.start()

    def say(self, text: str) -> None:
        with self.lock:
            self.text = text
            if self.shown is not None:
                self.shown.update(0, description=text)

    def stop(self) -> None:
        with self.lock:
            self.ended = True
            if self.shown is not None:
                self.shown.stop()
