"""What a terminal shows: labelled lines that wrap, columns of numbers, JSON, and a note while work goes on.

Everything that the command line prints goes through ``say`` or ``document``, the only callers of ``click.echo``, so no
name or cell of a file reaches the terminal with its control characters.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from separatrix.base.errors import printable
from separatrix.base.pieces import pieces
from separatrix.base.watching import Stage, watch
from separatrix.cli.wording import in_shell

# The certificate's own lines have this much room for their labels.
LABEL = 11
# Lines that go to a file or a pipe are not wrapped.
UNWRAPPED = 1 << 16
# Work that ends within so many seconds is not spoken of.
PATIENCE = 1.0


def width() -> int:
    """Columns of the terminal; of COLUMNS where that is set; no limit where the output is no terminal."""
    return max(40, shutil.get_terminal_size((UNWRAPPED, 24)).columns)


def say(text: str = "", *, head: str = "", err: bool = False, **style: Any) -> None:
    """Print one line for people: a head in bold, then text in the style asked for; control characters spelled out."""
    shown = click.style(printable(head), bold=True) if head else ""
    click.echo(shown + click.style(printable(text), **style), err=err)


def document(content: str | bytes) -> None:
    """Write to standard output what programs read: as it is into a pipe, its control characters spelled out on a
    terminal. Bytes that are not text stay as they are.
    """
    if isinstance(content, str):
        content = content.encode(errors="backslashreplace")
    if sys.stdout is not None and sys.stdout.isatty():
        content = "\n".join(map(printable, content.decode(errors="backslashreplace").split("\n"))).encode()
    click.echo(content, nl=False)


def command_line(words: Sequence[str]) -> str:
    r"""Words as a line for the shell; control characters are spelled in the shell's own way, so the line can be copied.

    >>> print(command_line(["separatrix", "show", "my model.json", "a\x1bb"]))
    separatrix show 'my model.json' $'a\x1bb'
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _ansi_quoted(word) for word in words)


def _ansi_quoted(word: str) -> str:
    shown = []
    for one in word:
        plain = f"\\{one}" if one in "'\\" else one
        spelled = "".join(f"\\x{byte:02x}" for byte in one.encode(errors="surrogateescape"))
        shown.append(plain if one.isprintable() else spelled)
    return f"$'{''.join(shown)}'"


def line(label: str, text: str, colour: str | None = None) -> None:
    """A label, and text that wraps beside it."""
    wrapped = textwrap.wrap(printable(text), width() - LABEL - 1, break_on_hyphens=False) or [""]
    head = f"{label + ': ':<{LABEL}}" if label else " " * LABEL
    say(wrapped[0], head=head, fg=colour)
    for more in wrapped[1:]:
        say(more, head=" " * LABEL, fg=colour)


def certificate(found: Any) -> None:
    """A certificate's own lines, its status in green or red."""
    for label, text in found.lines():
        line(label, in_shell(text), ("green" if found.met else "red") if label == "status" else None)


def matrix(
    names: Sequence[str],
    heads: Sequence[str],
    values: Sequence[Sequence[float | None]],
    form: str = ".4g",
    least: int = 11,
    widest: int = 40,
) -> None:
    """A row of numbers for each name, as many columns at once as fit; numbers have at least so much room, None has
    that of a number.
    """
    left = min(max((len(name) for name in names), default=0), max(8, min(widest, width() - least - 5)))
    cell = max(least, *(min(len(head), 24) for head in heads)) + 2
    at_once = max(1, (width() - left - 3) // cell)
    for shown in pieces(len(heads), at_once):
        part = range(shown.start, shown.stop)
        titles = "".join(f"{clipped(heads[k], cell - 2):>{cell}}" for k in part)
        say(f"  {'':<{left}}{titles}", bold=True)
        for name, row in zip(names, values, strict=True):
            cells = ["none" if (one := row[k]) is None else f"{one:{form}}" for k in part]
            say(f"  {clipped(name, left):<{left}}" + "".join(f"{text:>{cell}}" for text in cells))


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


def item(text: str) -> str:
    r"""Text that stands in a list: in quotes where its own marks, or space around it, would be taken for the list's.

    >>> item("Praha"), item("O'Hara, Praha"), item(" a")
    ('Praha', '"O\'Hara, Praha"', "' a'")
    """
    plain = text.strip() == text != "" and not any(mark in text for mark in ",;'\"")
    mark = '"' if "'" in text else "'"
    return text if plain else f"{mark}{text}{mark}"


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

    >>> print(json_text({"C": float("inf")}), end="")
    {
      "C": "inf"
    }
    """
    return escaped(json.dumps(_jsonable(value), indent=indent, ensure_ascii=False, allow_nan=False)) + "\n"


def escaped(text: str) -> str:
    r"""JSON with its control characters as escapes: the same values, and nothing that a terminal would obey.

    >>> print(escaped('["\x9b31m", "č"]'))
    ["\u009b31m", "č"]
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


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
def working(text: str, prints: bool = False) -> Iterator[Callable[[str], None]]:
    """Show on standard error what is being done, and how far it has come, once that takes longer than a second.

    Only on a terminal that can move its cursor; gone afterwards. Gives a function that changes the text. ``prints``:
    the work itself writes to standard output, which then must not be that terminal.
    """
    if not _drawable(sys.stderr) or (prints and sys.stdout is not None and sys.stdout.isatty()):
        yield lambda _: None
        return
    work = Work(text)
    timer = threading.Timer(PATIENCE, work.show)
    timer.daemon = True
    timer.start()
    try:
        with watch(work.see):
            yield work.say
    finally:
        timer.cancel()
        work.end()


def _drawable(stream: Any) -> bool:
    return stream is not None and stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")


class Work:
    """What is being done, and the stages it is in: ``said``. Shown by a timer, ended by the work's own thread:
    whichever comes first, it is not shown afterwards.
    """

    def __init__(self, text: str) -> None:
        self.begun, self.ended = time.monotonic(), False
        self.said: tuple[str, tuple[Stage, ...]] = (printable(text), ())
        self.shown: Any = None
        self.lock = threading.Lock()

    def say(self, text: str) -> None:
        """Go on to something else."""
        self.said = (printable(text), ())

    def see(self, stage: Stage, within: tuple[Stage, ...]) -> None:
        """Be told of a stage: one assignment, for work tells of many that nobody will see."""
        self.said = (self.said[0], (*within, stage))

    def show(self) -> None:
        """Draw from now on."""
        from separatrix.cli.progress import drawing

        with self.lock:
            if not self.ended:
                self.shown = drawing(self)
                self.shown.start()

    def end(self) -> None:
        """Wipe away what is drawn."""
        with self.lock:
            self.ended = True
            if self.shown is not None:
                self.shown.stop()
