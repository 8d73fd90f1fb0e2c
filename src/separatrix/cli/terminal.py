"""Output to the terminal: labelled lines that wrap, tables of numbers, JSON, progress; messages worded for the shell.

Everything that the command line prints goes through ``say`` or ``document``, the only callers of ``click.echo``. So
control characters in a name or a cell of a file never reach the terminal.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli.classifier_options import options, switches
from separatrix.core.base.errors import ParameterError, printable
from separatrix.core.base.messages import (
    ByAudience,
    Classifier,
    Message,
    MessagePart,
    Parameter,
    Setting,
    choices,
    number_text,
)
from separatrix.core.base.watching import Stage, watch

if TYPE_CHECKING:
    from separatrix.statistics.finding import Checks

# The width of the labels at the left, as in the lines of a certificate.
LABEL_WIDTH = 11
# The width assumed for a file or a pipe, where lines are not wrapped.
WIDTH_WITHOUT_WRAPPING = 1 << 16
# In a table, a column head with more characters than the first number is wrapped. If all columns are printed side by
# side, the column of names is at least as wide as the second number.
WIDEST_HEAD, NARROWEST_NAMES = 24, 16
# Progress is shown for work that takes longer than this.
SECONDS_BEFORE_PROGRESS = 1.0


def width() -> int:
    """The width of the terminal, or COLUMNS if it is set; unlimited if the output is not a terminal."""
    return max(40, shutil.get_terminal_size((WIDTH_WITHOUT_WRAPPING, 24)).columns)


def say(text: str = "", *, head: str = "", err: bool = False, **style: Any) -> None:
    """Print one line for people: a bold head, then text in a style. Control characters are escaped."""
    shown = click.style(printable(head), bold=True) if head else ""
    click.echo(shown + click.style(printable(text), **style), err=err)


def document(content: str | bytes) -> None:
    """Write output for programs: unchanged into a pipe; on a terminal, with control characters escaped."""
    if isinstance(content, str):
        content = content.encode(errors="backslashreplace")
    if sys.stdout is not None and sys.stdout.isatty():
        content = "\n".join(map(printable, content.decode(errors="backslashreplace").split("\n"))).encode()
    click.echo(content, nl=False)


def command_line(words: Sequence[str]) -> str:
    r"""Words as a line that can be copied to a shell, with control characters in the shell's own escapes.

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
    """Print a label, and text that wraps to its right."""
    wrapped = textwrap.wrap(printable(text), width() - LABEL_WIDTH - 1, break_on_hyphens=False) or [""]
    head = f"{label + ': ':<{LABEL_WIDTH}}" if label else " " * LABEL_WIDTH
    say(wrapped[0], head=head, fg=colour)
    for more in wrapped[1:]:
        say(more, head=" " * LABEL_WIDTH, fg=colour)


def indented(head: str, text: str) -> None:
    """Print text that wraps to the right of a head, or below it on a narrow terminal; both indented as in ``line``."""
    if width() < LABEL_WIDTH + len(head) + NARROWEST_NAMES:
        say(" " * LABEL_WIDTH + head.rstrip())
        line("", text)
        return
    margin = LABEL_WIDTH + len(head)
    for k, part in enumerate(textwrap.wrap(printable(text), width() - margin - 1, break_on_hyphens=False) or [""]):
        say((" " * LABEL_WIDTH + head if k == 0 else " " * margin) + part)


def certificate(shown: Any) -> None:
    """Print the lines of a certificate, with the status in green or red."""
    for label, text in shown.lines():
        line(label, in_shell(text), ("green" if shown.met else "red") if label == "status" else None)


def matrix(
    names: Sequence[str],
    heads: Sequence[str],
    values: Sequence[Sequence[float | None]],
    form: Callable[[float], str] = number_text,
    least: int = 11,
    widest: int = 40,
) -> None:
    """Print a table of numbers with a row for each name. Columns that do not fit follow in further tables.

    ``form`` writes a number, ``least`` the least width of a column, and ``widest`` the most for the names.
    """
    cells = [["none" if one is None else form(one) for one in row] for row in values]
    cell = max(least, *(min(len(head), WIDEST_HEAD) for head in heads))
    table(names, heads, cells, [cell] * len(heads), widest)


def table(
    names: Sequence[str],
    heads: Sequence[str],
    cells: Sequence[Sequence[str]],
    widths: Sequence[int] | None = None,
    widest: int = 40,
) -> None:
    """Print a table of texts with a row for each name.

    Names and heads are never cut: longer ones than the room for them continue on further lines, and the cells stand on
    the last line of their name. Columns that do not fit follow in further tables, unless the names can be narrower.
    ``widths`` are the widths of the columns, by default those of their contents; ``widest`` is the most for the names.
    """
    widths = _widths(heads, cells) if widths is None else widths
    longest = max((len(name) for name in names), default=0)
    beside = width() - 3 - sum(widths) - 2 * len(widths)
    left = min(longest, beside if beside >= NARROWEST_NAMES else max(8, min(widest, width() - max(widths) - 5)))
    for part in _columns_at_once(widths, width() - left - 3):
        room = [widths[k] for k in part]
        _say_heads([heads[k] for k in part], room, left)
        for name, row in zip(names, cells, strict=True):
            *first, last = textwrap.wrap(name, left, break_on_hyphens=False) or [""]
            for text in first:
                say(f"  {text}")
            say((f"  {last:<{left}}" + _right_aligned([row[k] for k in part], room)).rstrip())


def _widths(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    """The widths of the columns of a table by their contents. Heads longer than WIDEST_HEAD are wrapped."""
    columns = zip(heads, zip(*cells, strict=True), strict=True)
    return [max(min(len(head), WIDEST_HEAD), *map(len, column)) for head, column in columns]


def _say_heads(heads: Sequence[str], widths: Sequence[int], left: int) -> None:
    """Print the heads of a table, ``left`` columns of the terminal further right. All end on the same line."""
    titles = [textwrap.wrap(head, wide) or [""] for head, wide in zip(heads, widths, strict=True)]
    for line_no in range(-max(map(len, titles)), 0):
        shown = [title[line_no] if len(title) >= -line_no else "" for title in titles]
        say("  " + " " * left + _right_aligned(shown, widths), bold=True)


def _columns_at_once(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """The columns of a table in groups that fit into ``room``.

    >>> list(_columns_at_once([8, 8, 8], 20)), list(_columns_at_once([8, 30], 20))
    ([[0, 1], [2]], [[0], [1]])
    """
    group: list[int] = []
    for k, wide in enumerate(widths):
        if group and sum(widths[j] + 2 for j in group) + wide + 2 > room:
            yield group
            group = []
        group.append(k)
    yield group


def _right_aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"  {text:>{wide}}" for text, wide in zip(cells, widths, strict=True))


def clipped(text: str, most: int) -> str:
    """Text shortened to at most ``most`` characters.

    >>> clipped("a long name", 8)
    'a lon...'
    """
    return text if len(text) <= most else text[: most - 3] + "..."


def some(texts: Sequence[str], most: int) -> str:
    """The first ``most`` texts, and the number of others.

    >>> some(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def item(text: str) -> str:
    r"""Text as an item of a list: in quotes if it has commas, quotes or surrounding white space.

    >>> item("Praha"), item("O'Hara, Praha"), item(" a")
    ('Praha', '"O\'Hara, Praha"', "' a'")
    """
    plain = text.strip() == text != "" and not any(mark in text for mark in ",;'\"")
    mark = '"' if "'" in text else "'"
    return text if plain else f"{mark}{text}{mark}"


def count(n: int, what: str) -> str:
    """A number with its noun.

    >>> count(1, "row"), count(1234, "row")
    ('1 row', '1234 rows')
    """
    return f"{n} {what}{'s' * (n != 1)}"


def share(value: float) -> str:
    """A share with three digits."""
    return f"{value:.3f}"


# --- JSON


def json_text(value: Any, indent: int | None = 2) -> str:
    """A value as JSON. Floats that JSON does not have are written as "inf" and "-inf", and NaN as null.

    >>> print(json_text({"C": float("inf")}), end="")
    {
      "C": "inf"
    }
    """
    return escaped(json.dumps(_jsonable(value), indent=indent, ensure_ascii=False, allow_nan=False)) + "\n"


def escaped(text: str) -> str:
    r"""JSON with control characters escaped, so that a terminal does not interpret them.

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


# --- Progress


@contextmanager
def working(text: str, prints: bool = False) -> Iterator[Callable[[str], None]]:
    """Show progress on standard error while work takes longer than a second.

    It is shown only on a terminal that can move its cursor, and erased afterwards. The context gives a function that
    changes the text. ``prints`` says that the work writes to standard output; then nothing is shown if that is a
    terminal.
    """
    if not _drawable(sys.stderr) or (prints and sys.stdout is not None and sys.stdout.isatty()):
        yield lambda _: None
        return
    work = Work(text)
    timer = threading.Timer(SECONDS_BEFORE_PROGRESS, work.show)
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
    """The current text and stages of work, ``said``. A timer shows it, and the working thread ends it.

    The lock makes sure that it is not shown after it has ended.
    """

    def __init__(self, text: str) -> None:
        self.begun, self.ended = time.monotonic(), False
        self.said: tuple[str, tuple[Stage, ...]] = (printable(text), ())
        self.shown: Any = None
        self.lock = threading.Lock()

    def say(self, text: str) -> None:
        """Change the text."""
        self.said = (printable(text), ())

    def see(self, stage: Stage, within: tuple[Stage, ...]) -> None:
        """Note the current stage. This is a single assignment, since work may report thousands of stages."""
        self.said = (self.said[0], (*within, stage))

    def show(self) -> None:
        """Start to draw."""
        from separatrix.cli.progress import drawing

        with self.lock:
            if not self.ended:
                self.shown = drawing(self)
                self.shown.start()

    def end(self) -> None:
        """Stop, and erase what is drawn."""
        with self.lock:
            self.ended = True
            if self.shown is not None:
                self.shown.stop()


# --- Messages in the words of the shell


def in_shell(text: str) -> str:
    """The text with each of its typed parts (``core/base/messages.py``) in the words of the command line.

    A setting such as missing='impute' becomes --missing impute, a parameter such as max_iter becomes --max-iter, and a
    classifier such as MaxMarginClassifier becomes --model max-margin. Text without typed parts, such as a name or a
    cell of the user's, stays as it is.

    >>> in_shell(Message("leave it out with ", Setting("drop", "row id"), ", or raise ", Parameter("max_iter")))
    "leave it out with --drop 'row id', or raise --max-iter"
    >>> in_shell(Message("use ", Classifier("FisherDiscriminant", Setting("direction", "means"))))
    'use --model fisher --direction means'
    """
    return str(text.mapped(_in_shell)) if isinstance(text, Message) else text


def _in_shell(part: MessagePart) -> str | MessagePart:
    if isinstance(part, Setting) and part.name in options():
        return _option(part)
    if isinstance(part, Parameter):
        return options().get(part.name, part.name)
    if isinstance(part, Classifier) and part.name in _models():
        return " ".join(["--model", _models()[part.name], *map(_option, part.settings)])
    return part.shell if isinstance(part, ByAudience) else part


def _option(setting: Setting) -> str:
    option = options()[setting.name]
    if not setting.values or setting.name in _flags():
        return option
    if len(setting.values) == 1:
        return " ".join(map(_quoted, option_words(setting)))
    return f"{option} {choices([_quoted(str(value)) for value in setting.values])}"


def _quoted(value: str) -> str:
    """A word as the shell reads it; a single quote alone stands in double quotes.

    >>> print(_quoted("a b"), _quoted("'"))
    'a b' "'"
    """
    return '"\'"' if value == "'" else shlex.quote(value)


def option_words(setting: Setting) -> list[str]:
    """The words of a command that give a setting its value. A tuple of values repeats the option.

    >>> option_words(Setting("drop", ("id", "key"))), option_words(Setting("header", False))
    (['--drop', 'id', '--drop', 'key'], ['--no-header'])
    """
    option, (value,) = options()[setting.name], setting.values
    if setting.name in _flags():
        return [option]
    return [word for single in (value if isinstance(value, tuple) else (value,)) for word in (option, str(single))]


@contextmanager
def as_options(options: Mapping[str, str] | None = None) -> Iterator[None]:
    """Errors in this block name options in place of parameters: these by parameter, or by default --PARAMETER for all.

    >>> with as_options({"path": "--out"}):
    ...     raise ParameterError("path", "it is read-only", "give another")
    Traceback (most recent call last):
    ...
    separatrix.core.base.errors.ParameterError: --out: it is read-only; give another.
    """
    try:
        yield
    except ParameterError as error:
        name = error.argument
        option = f"--{name.removeprefix('--')}" if options is None else options.get(name, name)
        raise ParameterError(option, error.problem, error.remedy) from error


@cache
def _flags() -> frozenset[str]:
    """The settings whose options take no value."""
    return frozenset({"header", *switches()})


@cache
def _models() -> dict[str, str]:
    """The command-line names of the models by their class names."""
    from separatrix.classifiers import OFFERED

    return {kind: name for name, (_, kind) in OFFERED.items()}


def checks_in_shell(checks: Checks) -> Checks:
    """The findings and notes with settings written as options."""
    findings = tuple(
        replace(one, sentence=in_shell(one.sentence), remedy=in_shell(one.remedy)) for one in checks.findings
    )
    return replace(checks, findings=findings, notes=tuple(map(in_shell, checks.notes)))
