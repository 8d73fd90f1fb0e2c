"""Progress callbacks: the caller of a fit can follow it step by step, and stop it.

    with watch(callback):
        model.fit(X, y)

Progress is reported in stages. A stage is one of several parts (a fold, a value of C), an amount (rows, bytes), or an
iteration of a solver (``Iteration``, with its record and state). The callback receives the stage and the
enclosing stages, outermost first. If the callback raises an exception, the work ends immediately without a fitted
model. Work that takes long between two stages reports that it is still running (``Working``), about every 50
milliseconds.

The callback belongs to the thread or the asyncio task that called ``watch``, because context variables are not passed
to threads. The thread that divides work among threads reports its progress; only bytes of files are reported by the
thread that reads them. Without a callback, a stage costs one lookup of a context variable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Thread
from typing import ClassVar, Protocol, TypeVar

T = TypeVar("T")


class Stage(Protocol):
    """The progress of a computation. ``str(stage)`` describes it in words."""

    @property
    def share(self) -> float | None:
        """The share that is done, from 0 to 1; None if unknown."""

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Part:
    """Part ``number``, counted from 1, of ``total`` parts is in progress; ``total`` is None if it is unknown.

    >>> print(Part("fold", 2, 5), Part("fold", 2, 5).share, Part("value of C", 3, note="C = 0.5"))
    fold 2 of 5 0.2 value of C 3: C = 0.5
    """

    what: str
    number: int
    total: int | None = None
    note: str = ""

    @property
    def share(self) -> float | None:
        """The share of finished parts."""
        return None if self.total is None else (self.number - 1) / self.total

    def __str__(self) -> str:
        of = "" if self.total is None else f" of {self.total}"
        return f"{self.what} {self.number}{of}{': ' * bool(self.note)}{self.note}"


@dataclass(frozen=True)
class Amount:
    """``done`` of ``total`` units are finished.

    >>> print(Amount("rows", 8192, 20000), Amount("rows", 8192, 20000).share)
    8,192 of 20,000 rows 0.4096
    """

    unit: str
    done: float
    total: float
    note: str = ""

    @property
    def share(self) -> float | None:
        """The finished share."""
        return self.done / self.total if self.total else None

    def __str__(self) -> str:
        return f"{_number(self.done)} of {_number(self.total)} {self.unit}{', ' * bool(self.note)}{self.note}"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


@dataclass(frozen=True)
class Working:
    """A long computation is still running. It is reported only so that the callback can stop it.

    >>> print(Working("solving a linear program"), Working("reading rows").share)
    solving a linear program None
    """

    what: str

    share: ClassVar[None] = None

    def __str__(self) -> str:
        return self.what


# A long computation reports this often, in seconds, that it is still running, so that it can be stopped in twice this.
PULSE_SECONDS = 0.05


Watcher = Callable[[Stage, tuple[Stage, ...]], None]


@dataclass(frozen=True)
class _Watch:
    """``latest`` has the time of the latest report, and is shared by nested stages."""

    watcher: Watcher
    latest: list[float]
    within: tuple[Stage, ...] = ()

    def __call__(self, now: Stage) -> None:
        self.watcher(now, self.within)
        self.latest[0] = time.monotonic()


_watch: ContextVar[_Watch | None] = ContextVar("separatrix_watch", default=None)


@contextmanager
def watch(watcher: Watcher) -> Iterator[None]:
    """Call ``watcher(stage, within)`` at every stage of the work inside a ``with`` block.

    Parameters
    ----------
    watcher : callable
        It receives the stage and the tuple of enclosing stages, outermost first. A stage has a ``share`` from 0 to 1,
        or None, and a readable string form. If the callback raises, the work ends with that exception and nothing is
        fitted.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import separatrix as sx
    >>> seen = []
    >>> with sx.watch(lambda stage, within: seen.append(stage)):
    ...     model = sx.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> tuple(stage.record for stage in seen) == model.trace_, seen[-1].share
    (True, 1.0)
    """
    with _set(_Watch(watcher, [time.monotonic()])):
        yield


@contextmanager
def unwatched() -> Iterator[None]:
    """Suppress progress reports inside a ``with`` block, for the many small fits of a larger computation.

    >>> with watch(print), unwatched():
    ...     print(watched())
    None
    """
    with _set(None):
        yield


def watched() -> Callable[[Stage], None] | None:
    """The function that reports a stage; None if there is no callback. A loop needs to fetch it only once.

    >>> watched() is None
    True
    """
    return _watch.get()


@contextmanager
def stage(now: Stage) -> Iterator[None]:
    """Report a stage, which encloses all stages that are reported inside the ``with`` block.

    >>> with watch(lambda stage, within: print(*within, stage, sep=" > ")), stage(Part("fold", 1, 2)):
    ...     watched()(Amount("rows", 10, 40))
    fold 1 of 2
    fold 1 of 2 > 10 of 40 rows
    """
    around = _watch.get()
    if around is not None:
        around(now)
        around = _Watch(around.watcher, around.latest, (*around.within, now))
    with _set(around):
        yield


def part(what: str, number: int, total: int | None = None, note: str = "") -> AbstractContextManager[None]:
    """Report one part as a stage, unless ``total`` is 1.

    >>> with watch(lambda stage, within: print(stage)), part("class", 1, 1), part("fold", 2, 3):
    ...     pass
    fold 2 of 3
    """
    return nullcontext() if total == 1 else stage(Part(what, number, total, note))


def pulse(what: str) -> None:
    """Report that a computation is still running, unless something was reported in the last 50 milliseconds.

    Loops that may take longer than that between two stages call it, so that the callback can end them.

    >>> with watch(lambda stage, within: print(stage)):
    ...     pulse("reading rows")  # too early
    """
    around = _watch.get()
    if around is not None and time.monotonic() - around.latest[0] >= PULSE_SECONDS:
        around(Working(what))


def waited(function: Callable[[], T], what: str) -> T:
    """The result of a function that cannot be interrupted, such as a call of a compiled library.

    If there is a callback, another thread computes the result, so that the callback can end the wait. The result of
    that thread is then discarded.

    >>> waited(lambda: 2 + 2, "adding")
    4
    """
    if _watch.get() is None:
        return function()
    outcome: Future[T] = Future()

    def compute() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=compute, name="separatrix-waited", daemon=True).start()
    while not outcome.done():
        wait([outcome], timeout=PULSE_SECONDS)
        pulse(what)
    return outcome.result()


@contextmanager
def _set(value: _Watch | None) -> Iterator[None]:
    token = _watch.set(value)
    try:
        yield
    finally:
        _watch.reset(token)
