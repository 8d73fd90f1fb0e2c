"""Reads the next items of an iterator in a thread of its own, while the caller works with the current one."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

from separatrix.base.concurrency import thread_count

T = TypeVar("T")


def read_ahead(items: Iterator[T], most_waiting: int = 1) -> Generator[T, None, None]:
    """Yield the items, while another thread already reads the next one. With one thread, nothing is read ahead.

    ``most_waiting``: the most items that wait to be taken, beside the one that is being read. An exception during
    reading is raised here. When the generator is closed, the thread ends after its current item.

    >>> list(read_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    if thread_count() < 2:
        yield from items
        return
    reading = _Reading(most_waiting)
    reader = threading.Thread(target=copy_context().run, args=(reading.read, items), daemon=True)
    reader.start()
    try:
        while True:
            kind, item = reading.ready.get()
            if kind == "end":
                return
            if kind == "error":
                raise item
            reading.place.release()
            yield item
            del item  # frees its memory before the wait for the next one
    finally:
        reading.ended.set()
        reading.place.release()
        reader.join()


class _Reading:
    """What the two threads share: the items that are ready, places for more, and whether the caller has ended."""

    def __init__(self, places: int) -> None:
        self.ready: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self.place = threading.Semaphore(places)
        self.ended = threading.Event()

    def read(self, items: Iterator[Any]) -> None:
        """Read the items until there are no more, or the caller has ended."""
        try:
            for item in items:
                self.place.acquire()
                if self.ended.is_set():
                    break
                self.ready.put(("item", item))
                del item
            self.ready.put(("end", None))
        except BaseException as error:
            self.ready.put(("error", error))
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()
