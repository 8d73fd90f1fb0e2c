"""Threads: how many, one shared pool, and BLAS held at one thread while a fit runs.

A fit cuts its rows into strands by the data alone and merges them in order, so the number of threads
changes the time and not one bit of the answer. For that, BLAS must not thread by itself.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

from separatrix.errors import ParameterError

T = TypeVar("T")
U = TypeVar("U")

_chosen: ContextVar[int | None] = ContextVar("separatrix_threads", default=None)


def _positive_count(name: str, value: object) -> int:
    try:
        count = int(str(value))
    except ValueError:
        count = 0
    if count < 1:
        raise ParameterError(name, f"got {value!r}", "give a whole number of threads, at least 1")
    return count


def thread_count() -> int:
    """Threads that a fold may use: of ``threads()``, else of SEPARATRIX_THREADS, else all usable cores."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    named = os.environ.get("SEPARATRIX_THREADS")
    if named is not None:
        return _positive_count("SEPARATRIX_THREADS", named)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


@contextmanager
def threads(count: int) -> Iterator[int]:
    """Use ``count`` threads inside the block. The bits of the answer do not depend on it.

    >>> with threads(2):
    ...     thread_count()
    2
    """
    token = _chosen.set(_positive_count("threads", count))
    try:
        yield count
    finally:
        _chosen.reset(token)


class _OneBlasThread:
    """Reference-counted: the first to enter sets BLAS to one thread, the last to leave restores it.

    BLAS libraries with a process-wide pool let threadpoolctl (3.8 does so) set a limit from one thread only, and
    ignore the others. The first to enter and the last to leave may be two threads, and the count here already
    keeps them from fighting, so control is taken over for each change.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._controller: Any = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._take_control()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._take_control()
                self._limit.restore_original_limits()
                self._take_control()
                self._limit = None

    def _take_control(self) -> None:
        if self._controller is None:
            import scipy.linalg  # noqa: F401  (its BLAS is a library of its own: load it before looking)
            from threadpoolctl import ThreadpoolController

            self._controller = ThreadpoolController().select(user_api="blas")
        for library in self._controller.lib_controllers:
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread(force=True)


one_blas_thread = _OneBlasThread()

_pools: dict[int, ThreadPoolExecutor] = {}
_pools_lock = threading.Lock()


def _pool(count: int) -> ThreadPoolExecutor:
    with _pools_lock:
        if count not in _pools:
            _pools[count] = ThreadPoolExecutor(count, thread_name_prefix="separatrix")
        return _pools[count]


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_pools.clear)


def in_order(function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
    """``map(function, items)``, computed by the pool, yielded in order, at most twice the threads ahead."""
    work = list(items)
    count = min(thread_count(), len(work))
    if count <= 1:
        yield from map(function, work)
        return
    pool = _pool(count)
    waiting: deque[Future[U]] = deque()
    try:
        for item in work:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
