"""Reads the next items of an iterator in a thread of its own, while the caller works with the current one."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextvars import copy_context
from queue import Empty, Full, Queue
from typing import Any, TypeVar

from separatrix.base.concurrency import thread_count

T = TypeVar("T")

# A waiting thread checks after this many seconds whether it is still needed.
SECONDS_BETWEEN_ATTEMPTS = 0.1


def read_ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """Yield the items, while another thread already reads the next one. With one thread, nothing is read ahead.

    An exception during reading is raised here. When the generator is closed, the thread ends after its current item.

    >>> list(read_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    if thread_count() < 2:
        yield from items
        return
    ready: Queue[tuple[str, Any]] = Queue(maxsize=1)
    ended = threading.Event()
    reader = threading.Thread(target=copy_context().run, args=(_read, items, ready, ended), daemon=True)
    reader.start()
    try:
        while True:
            kind, item = ready.get()
            if kind == "end":
                return
            if kind == "error":
                raise item
            yield item
            del item  # frees its memory before the wait for the next one
    finally:
        ended.set()
        _emptied(ready)
        reader.join()


def _read(items: Iterator[Any], ready: Queue[tuple[str, Any]], ended: threading.Event) -> None:
    """Put the items into the queue until there are no more, or the reader has ended."""
    try:
        for item in items:
            if not _put(ready, ("item", item), ended):
                break
            del item
        _put(ready, ("end", None), ended)
    except BaseException as error:
        _put(ready, ("error", error), ended)
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()


def _put(ready: Queue[tuple[str, Any]], entry: tuple[str, Any], ended: threading.Event) -> bool:
    while not ended.is_set():
        try:
            ready.put(entry, timeout=SECONDS_BETWEEN_ATTEMPTS)
        except Full:
            continue
        return True
    return False


def _emptied(ready: Queue[tuple[str, Any]]) -> None:
    try:
        while True:
            ready.get_nowait()
    except Empty:
        return
