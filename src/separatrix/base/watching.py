"""Watching work from outside: whoever calls a fit can follow it step by step, and stop it.

    with watch(callback):
        model.fit(X, y)

Work says where it is, by stages: one of several parts (a fold, a value of C), so much of an amount (rows, bytes), an
iteration of a solver (``solvers.Iteration``, with its record and state). The callback is given the stage and those
around it, outermost first. What it raises ends the work there and then, and nothing is fitted.

The callback belongs to the thread, or the asyncio task, that said ``watch``: context variables do not travel into
threads. Work that is divided among threads is told of by the thread that divides it; only bytes of files are told by
the thread that reads them. Without a watcher, a stage costs one look at a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


class Stage(Protocol):
    """Where work is; its text is for people."""

    @property
    def share(self) -> float | None:
        """How much is done, from 0 to 1; None where nobody knows."""

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Part:
    """The part with this number, from 1, of ``total``, None where that is open, is being worked on.

    >>> print(Part("fold", 2, 5), Part("fold", 2, 5).share, Part("value of C", 3, note="C = 0.5"))
    fold 2 of 5 0.2 value of C 3: C = 0.5
    """

    what: str
    number: int
    total: int | None = None
    note: str = ""

    @property
    def share(self) -> float | None:
        """Parts that are done, of all."""
        return None if self.total is None else (self.number - 1) / self.total

    def __str__(self) -> str:
        of = "" if self.total is None else f" of {self.total}"
        return f"{self.what} {self.number}{of}{': ' * bool(self.note)}{self.note}"


@dataclass(frozen=True)
class Amount:
    """So much of ``total`` is done, in some unit.

    >>> print(Amount("rows", 8192, 20000), Amount("rows", 8192, 20000).share)
    8,192 of 20,000 rows 0.4096
    """

    unit: str
    done: float
    total: float
    note: str = ""

    @property
    def share(self) -> float | None:
        """Of the total."""
        return self.done / self.total if self.total else None

    def __str__(self) -> str:
        return f"{_number(self.done)} of {_number(self.total)} {self.unit}{', ' * bool(self.note)}{self.note}"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


Watcher = Callable[[Stage, tuple[Stage, ...]], None]


@dataclass(frozen=True)
class _Watch:
    watcher: Watcher
    within: tuple[Stage, ...] = ()

    def __call__(self, now: Stage) -> None:
        self.watcher(now, self.within)


_watch: ContextVar[_Watch | None] = ContextVar("separatrix_watch", default=None)
_NOTHING: AbstractContextManager[None] = nullcontext()


@contextmanager
def watch(watcher: Watcher) -> Iterator[None]:
    """Have ``watcher(stage, within)`` called at every stage of what runs inside the block; it may raise to stop that.

    >>> import separatrix as sx
    >>> seen = []
    >>> with sx.watch(lambda stage, within: seen.append(stage)):
    ...     model = sx.LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> tuple(stage.record for stage in seen) == model.trace_, seen[-1].share
    (True, 1.0)
    """
    with _set(_Watch(watcher)):
        yield


@contextmanager
def unwatched() -> Iterator[None]:
    """Say nothing of what runs inside the block: the many small fits of something larger.

    >>> with watch(print), unwatched():
    ...     print(watched())
    None
    """
    with _set(None):
        yield


def watched() -> Callable[[Stage], None] | None:
    """What is to be told of a stage; None where nobody watches. Asked once, it serves a whole loop.

    >>> watched() is None
    True
    """
    return _watch.get()


def stage(now: Stage) -> AbstractContextManager[None]:
    """Tell of a stage, which is then around all that is told inside the block.

    >>> with watch(lambda stage, within: print(*within, stage, sep=" > ")), stage(Part("fold", 1, 2)):
    ...     watched()(Amount("rows", 10, 40))
    fold 1 of 2
    fold 1 of 2 > 10 of 40 rows
    """
    around = _watch.get()
    return _NOTHING if around is None else _inside(around, now)


@contextmanager
def _inside(around: _Watch, now: Stage) -> Iterator[None]:
    around(now)
    with _set(_Watch(around.watcher, (*around.within, now))):
        yield


def part(what: str, number: int, total: int | None = None, note: str = "") -> AbstractContextManager[None]:
    """The stage of one part; an only part is none.

    >>> with watch(lambda stage, within: print(stage)), part("class", 1, 1), part("fold", 2, 3):
    ...     pass
    fold 2 of 3
    """
    return _NOTHING if total == 1 or _watch.get() is None else stage(Part(what, number, total, note))


@contextmanager
def _set(value: _Watch | None) -> Iterator[None]:
    token = _watch.set(value)
    try:
        yield
    finally:
        _watch.reset(token)
