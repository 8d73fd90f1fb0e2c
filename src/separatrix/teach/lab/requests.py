"""The requests of the lab by name, their answers as JSON, and computations in threads.

A message of the page is ``{"id": 7, "request": "plane.fit", "payload": {...}}``. Its answer is ``{"id": 7, "answer":
{...}}``, or ``{"id": 7, "error": "..."}`` with a sentence for the page. Until the answer comes, a long computation
sends ``{"id": 7, "progress": {...}}``, and ``{"stop": 7}`` ends it.
"""

from __future__ import annotations

import json
import logging
import math
import reprlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from threading import Event
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from separatrix.core.base.errors import InputError, SeparatrixError
from separatrix.core.base.messages import ByAudience, Message, MessagePart, Parameter, Setting, choices
from separatrix.core.base.watching import Stage, watch
from separatrix.tables.read_table import read_table
from separatrix.teach.lab.points import decoded, points

# --- Requests and answers

Payload: TypeAlias = Mapping[str, Any]
Request: TypeAlias = Callable[[Payload], Mapping[str, Any]]


class ProtocolError(SeparatrixError):
    """A message that does not follow the protocol."""


@dataclass(frozen=True)
class Call:
    """A request that a page has sent: its number, the name of the request, and what it carries."""

    id: int
    request: str
    payload: Payload


@dataclass(frozen=True)
class Stop:
    """The page no longer wants the answer to request ``id``."""

    id: int


def parsed(text: str) -> Call | Stop:
    """The message of a page.

    >>> parsed('{"id": 1, "request": "plane.fit", "payload": {}}')
    Call(id=1, request='plane.fit', payload={})
    >>> parsed('{"stop": 1}')
    Stop(id=1)
    """
    try:
        message = json.loads(text)
    except ValueError:
        raise ProtocolError("the message is not JSON") from None
    except RecursionError:
        raise ProtocolError("the message is nested too deeply") from None
    match message:
        case {"stop": int(number)}:
            return Stop(number)
        case {"id": int(number), "request": str(name), "payload": dict(payload)}:
            return Call(number, name, payload)
    raise ProtocolError("the message has no id, request and payload")


def answered(call: Call, requests: Mapping[str, Request]) -> str:
    r"""The answer to a request as JSON. What the user can mend becomes an error with a sentence.

    >>> half = {"half": lambda payload: {"value": payload["x"] / 2}}
    >>> answered(Call(3, "half", {"x": 5}), half)
    '{"id":3,"answer":{"value":2.5}}'
    >>> answered(Call(4, "third", {}), half)
    '{"id":4,"error":"the lab has no request \'third\'"}'
    """
    if call.request not in requests:
        return failed(call, f"the lab has no request {call.request!r}")
    try:
        answer = requests[call.request](_unpacked(call.payload))
    except SeparatrixError as error:
        return failed(call, error_on_page(error))
    return encoded({"id": call.id, "answer": answer})


def start_points(payload: Payload) -> Mapping[str, Any]:
    """The points that the text in the request describes."""
    spec = text(payload, "points")
    X, y = points(spec)
    return {"X": X, "y": y, "preset": spec.partition(";")[0]}


def _unpacked(payload: Payload) -> Payload:
    """A payload with its points X and y, which pages send as one text (``packed`` in ``static/pointset.js``)."""
    if "packed" not in payload:
        return payload
    X, y = decoded(text(payload, "packed"))
    return {**payload, "X": X, "y": y}


def failed(call: Call, sentence: str) -> str:
    """The message that says why a request has no answer."""
    return encoded({"id": call.id, "error": sentence})


def encoded(value: Any) -> str:
    r"""JSON of plain values and NumPy arrays. NaN and infinite numbers become null.

    All characters are ASCII, since a text of a page may hold half of a surrogate pair, which UTF-8 cannot encode.

    >>> encoded({"w": np.array([1.0, np.nan])})
    '{"w":[1.0,null]}'
    >>> print(encoded("σ"))
    "\u03c3"
    """
    try:
        return _dumped(value)
    except (TypeError, ValueError):  # a number that is not finite, or a key that is not a text
        return _dumped(_plain(value))


def _dumped(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_as_list)


def _as_list(value: Any) -> Any:
    """An array or a number of NumPy, or another mapping, as plain values."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return _plain(value) if isinstance(value, Mapping) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, str) else value


def got(value: Any) -> str:
    """What a payload has in place of a valid value, shortened for a sentence.

    >>> got("red"), got(list(range(100)))
    ("got 'red'", 'got [0, 1, 2, 3, 4, 5, ...]')
    """
    return f"got {reprlib.repr(value)}"


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a value of a payload is a whole number. In Python, truth values are whole numbers, too.

    >>> is_whole(1), is_whole(True), is_whole(1.0)
    (True, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool)


def number(payload: Payload, name: str, low: float, high: float) -> float:
    """A number of a payload, from ``low`` to ``high``.

    >>> number({"p": 0.5}, "p", 0, 1)
    0.5
    """
    value = payload.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InputError(name, got(value), f"give a number from {low:g} to {high:g}")
    return float(value)


def text(payload: Payload, name: str, longest: int = 100_000) -> str:
    """A text of a payload.

    >>> text({"spec": "outlier"}, "spec")
    'outlier'
    """
    value = payload.get(name)
    if not isinstance(value, str) or len(value) > longest:
        raise InputError(name, "it is not a text, or too long", f"give a text of at most {longest} characters")
    return value


# --- Computations

# Most computations end before the first report of their progress.
SECONDS_BEFORE_REPORT, SECONDS_BETWEEN_REPORTS = 0.3, 0.2
STOPPED = "The computation was stopped."
BROKEN = "The computation failed because of an error in the program; its log has the details."

_log = logging.getLogger("separatrix.teach.lab")


class Stopped(Exception):
    """The page has asked to stop the computation."""


class Job:
    """A computation in a thread.

    If it takes longer than ``SECONDS_BEFORE_REPORT``, it reports its progress, and ends at its next report once the
    page has asked to stop.
    """

    def __init__(self, call: Call, requests: Mapping[str, Request], tell: Callable[[str], None]) -> None:
        self.call, self.requests, self.tell = call, requests, tell
        self.stopping = Event()
        self.reported = time.monotonic() + SECONDS_BEFORE_REPORT - SECONDS_BETWEEN_REPORTS

    def run(self) -> str:
        """The answer as JSON. Run it in a thread of its own."""
        try:
            with watch(self._watch):
                return answered(self.call, self.requests)
        except Stopped:
            return failed(self.call, STOPPED)
        except Exception:
            _log.exception("The request %s failed.", self.call.request)
            return failed(self.call, BROKEN)

    def _watch(self, stage: Stage, within: tuple[Stage, ...]) -> None:
        if self.stopping.is_set():
            raise Stopped
        now = time.monotonic()
        if now - self.reported > SECONDS_BETWEEN_REPORTS:
            self.reported = now
            outer = within[0] if within else stage
            progress = {"id": self.call.id, "progress": {"share": outer.share, "text": str(stage)}}
            self.tell(encoded(progress))


# --- The words of the page

# How the page lists what is done with missing values, as in static/data.js.
MISSING = {
    "error": "are refused",
    "impute": "are filled",
    "indicator": "are filled and marked",
    "drop": "leave their row out",
}
# The settings of the reader that the page has a control for.
OFFERED = frozenset({"data", "target", "drop", "missing"})


def on_page(text: str) -> str:
    """The text with settings named as the page names them; settings of classifiers have the same names as in Python.

    >>> print(on_page(Message("choose ", Setting("missing", "impute", "drop"), ", or clear ", Setting("drop", "id"))))
    choose "are filled" or "leave their row out" for Missing values, or clear the box 'id' under Columns used
    """
    return str(text.mapped(_on_page)) if isinstance(text, Message) else text


def error_on_page(error: SeparatrixError) -> str:
    """The message of an error for the page; it says which of the advised settings the page does not have.

    >>> print(error_on_page(InputError("t.csv", "it is UTF-16 text", Message("give ", Setting("encoding", "utf-16")))))
    t.csv: it is UTF-16 text; give encoding='utf-16'. This page does not have the setting encoding: change the file, ...
    """
    if not isinstance(error, InputError):
        return str(error)
    lacking = sorted({one.name for one in error.remedies if isinstance(one, Setting | Parameter)} & _not_offered())
    words = on_page(error.message)
    if not lacking:
        return words
    named = f"setting{'s' * (len(lacking) > 1)} {' and '.join(lacking)}"
    return f"{words} This page does not have the {named}: change the file, or use the command separatrix fit."


@cache
def _not_offered() -> frozenset[str]:
    """The settings of the reader that the page has no control for."""
    return frozenset(signature(read_table).parameters) - OFFERED


def _on_page(part: MessagePart) -> str | MessagePart:
    if isinstance(part, ByAudience) and part.page is not None:
        return part.page
    if isinstance(part, Setting) and part.name == "missing":
        words = [f'"{MISSING[value]}"' for value in part.values]
        return " ".join(filter(None, [choices(words), "for Missing values"]))
    if isinstance(part, Setting) and part.name == "drop":
        return _boxes([one for value in part.values for one in (value if isinstance(value, tuple) else (value,))])
    return part


def _boxes(columns: list[str]) -> str:
    """The boxes of columns in the list of those that are used.

    >>> _boxes(["id"]), _boxes(["id", "key"]), _boxes([])
    ("the box 'id' under Columns used", "the boxes 'id', 'key' under Columns used", 'the boxes under Columns used')
    """
    named = ["the box" if len(columns) == 1 else "the boxes", ", ".join(map(repr, columns)), "under Columns used"]
    return " ".join(filter(None, named))
