"""What a fit takes of the machine: threads and memory.

The way a fit divides its rows depends on the data alone, and partial sums are merged in order, so the number of threads
changes the time but not the result. For that, BLAS must not use threads of its own during a fit.

A process may be forked while its threads fit, and the child can then fit, with new pools. The child has only the thread
that forked, and a copy of all locks as they were, so a lock that another thread held would stay locked forever. So the
thread that forks first takes the locks that a fit needs, and both processes release them after the fork. A fork during
the first import of the package, or during the first fit of its kind in a process, is not supported: the child would
inherit Python's locks of the modules that are being imported.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Generic, TypeVar

from separatrix.core.base.errors import InputError, ParameterError

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
    """The number of threads to use: from ``threads()``, else from SEPARATRIX_THREADS, else all usable cores."""
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
    """Use ``count`` threads inside a ``with`` block. Results do not depend on the number of threads.

    Parameters
    ----------
    count : int
        The number of threads, at least 1. It overrides the environment variable ``SEPARATRIX_THREADS``; the default is
        all usable cores.

    Yields
    ------
    int
        ``count``.

    Raises
    ------
    ParameterError
        ``count`` is not a positive whole number.

    Examples
    --------
    >>> with threads(2):
    ...     thread_count()
    2
    """
    token = _chosen.set(_positive_count("threads", count))
    try:
        yield count
    finally:
        _chosen.reset(token)


# --- BLAS with one thread


class _OneBlasThread:
    """A context that threads share: BLAS is limited to one thread until the last of them has left it.

    A thread that has entered may enter again; then no lock is taken.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._held = ExitStack()  # the locks that are held during a fork
        self._users = 0  # the number of threads that have entered
        self._own = threading.local()  # .entries: the number of open entries of this thread
        self._libraries: list[Any] | None = None  # a controller of threadpoolctl for each BLAS library
        self._limited: list[tuple[Any, int]] = []  # the libraries that had more threads, and how many

    def __enter__(self) -> None:
        entries = getattr(self._own, "entries", 0)
        if entries == 0:
            with self._lock:
                if self._users == 0:
                    self._limit()
                self._users += 1
        self._own.entries = entries + 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._own.entries -= 1
        if self._own.entries == 0:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._restore()

    def _limit(self) -> None:
        """Set every library that uses more threads to one."""
        if self._libraries is None:
            import scipy.linalg  # noqa: F401  (SciPy has its own BLAS, which must be loaded to be found)
            from threadpoolctl import ThreadpoolController

            self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        for library in self._libraries:
            count = library.get_num_threads()
            if count != 1 and count is not None:
                _set_threads(library, 1)
                self._limited.append((library, count))

    def _restore(self) -> None:
        while self._limited:
            _set_threads(*self._limited.pop())

    def hold_locks(self) -> None:
        """Before a fork, wait until no other thread compiles a kernel or changes the threads of BLAS.

        Numba's compiler lock comes first, because a thread may hold it for long, but holds the other one only briefly.
        """
        compiler = getattr(sys.modules.get("numba.core.compiler_lock"), "global_compiler_lock", None)
        with ExitStack() as held:
            if compiler is not None:
                held.enter_context(compiler)
            held.enter_context(self._lock)
            self._held = held.pop_all()

    def release_locks(self) -> None:
        """After a fork, in the parent and in the child."""
        self._held.close()

    def forget_other_threads(self) -> None:
        """In a forked child only the forking thread survives, so the entries of other threads are dropped."""
        self._users = 1 if getattr(self._own, "entries", 0) else 0
        if self._users == 0:
            self._restore()


def _set_threads(controller: Any, count: int) -> None:
    """Change the number of threads through threadpoolctl, from any thread.

    threadpoolctl (3.8) accepts limits of a process-wide pool from one thread only and ignores other threads. But the
    first entry of ``_OneBlasThread`` and its last exit may be in different threads. Since its count already coordinates
    the threads, the current thread is first made the one that threadpoolctl accepts.
    """
    if hasattr(controller, "clear_controlling_thread"):
        controller.clear_controlling_thread(force=True)
    controller.set_num_threads(count)
    if hasattr(controller, "clear_controlling_thread"):
        controller.clear_controlling_thread(force=True)


one_blas_thread = _OneBlasThread()


# --- The pool of threads

_pools: dict[int, ThreadPoolExecutor] = {}
# Every task runs in a copy of this context, with a thread count of 1, so that nested parallel work runs inline.
_TASK = Context()
_TASK.run(_chosen.set, 1)


def _begin_child() -> None:
    """In a forked child, drop the pools, whose threads it does not have, and the entries of other threads."""
    _pools.clear()
    try:
        one_blas_thread.forget_other_threads()
    finally:
        one_blas_thread.release_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=one_blas_thread.hold_locks,
        after_in_parent=one_blas_thread.release_locks,
        after_in_child=_begin_child,
    )


def _pool(workers: int) -> ThreadPoolExecutor:
    """The pool with ``workers`` threads. Its threads start on demand, so an unused pool costs nothing."""
    if workers not in _pools:
        _pools.setdefault(workers, ThreadPoolExecutor(workers, thread_name_prefix="separatrix"))
    return _pools[workers]


class _Task(Generic[T, U]):
    """``function(item)``, submitted to the pool; it can be taken back until a thread of the pool starts it."""

    def __init__(self, function: Callable[[T], U], item: T, pool: ThreadPoolExecutor) -> None:
        self._function, self._item = function, item
        self.future: Future[U] = pool.submit(_TASK.copy().run, function, item)

    def taken_back(self) -> bool:
        """Run the task in this thread if the pool has not started it, and return whether this thread ran it."""
        if not self.future.cancel():
            return False
        self.future = Future()
        try:
            self.future.set_result(_TASK.copy().run(self._function, self._item))
        except Exception as error:
            self.future.set_exception(error)
        return True


def in_order(function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
    """``map(function, items)``, computed by several threads and yielded in order.

    At most two tasks per thread are submitted ahead. The calling thread takes part: it runs tasks that no other thread
    has begun, and waits only for running ones. So deadlocks cannot occur: a task may submit parallel work, and many
    threads may do so at once, whatever the size of the pool.

    >>> with threads(2):
    ...     list(in_order(lambda row: sum(in_order(abs, row)), [[1, -2], [-3, 4]]))
    [3, 7]
    """
    work = list(items)
    count = min(thread_count(), len(work))
    if count <= 1:
        yield from map(function, work)
        return
    pool = _pool(count - 1)
    ahead: deque[_Task[T, U]] = deque()
    try:
        for item in work:
            ahead.append(_Task(function, item, pool))
            if len(ahead) >= 2 * count:
                yield _first(ahead)
        while ahead:
            yield _first(ahead)
    finally:
        for task in ahead:
            task.future.cancel()


def _first(ahead: deque[_Task[T, U]]) -> U:
    """The result of the first task. While another thread runs it, this thread runs later tasks that have not begun."""
    while not ahead[0].future.done() and any(task.taken_back() for task in ahead):
        pass
    return ahead.popleft().future.result()


# --- Reading ahead


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
    ready: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    place, ended = threading.Semaphore(most_waiting), threading.Event()

    def read() -> None:
        try:
            for item in items:
                place.acquire()
                if ended.is_set():
                    break
                ready.put(("item", item))
                del item
            ready.put(("end", None))
        except BaseException as error:
            ready.put(("error", error))
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    reader = threading.Thread(target=copy_context().run, args=(read,), daemon=True)
    reader.start()
    try:
        while True:
            kind, item = ready.get()
            if kind == "end":
                return
            if kind == "error":
                raise item
            place.release()
            yield item
            del item  # frees its memory before the wait for the next one
    finally:
        ended.set()
        place.release()
        reader.join()


# --- Memory

# Where Linux states the available memory in kB, the limit of the process's control group in bytes, what this group
# uses, and the size of the process in pages.
MEMORY_INFORMATION, GROUP_LIMIT = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
GROUP_USE, PROCESS_USE = Path("/sys/fs/cgroup/memory.stat"), Path("/proc/self/statm")


def available_bytes() -> float:
    """The memory in bytes that can still be allocated; infinity if the system does not report it.

    It is the smallest of three numbers: the available memory of the system (or its total memory, if only that is
    known), what is left of the limit of the process's control group, and of the limit on the process's address space.
    """
    return min(_system_bytes(), _group_bytes(), _process_bytes())


def _system_bytes() -> float:
    with suppress(OSError, ValueError):
        for line in MEMORY_INFORMATION.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    with suppress(AttributeError, OSError, ValueError):
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    return float("inf")


def _group_bytes() -> float:
    limit, used = float("inf"), 0.0
    with suppress(OSError, ValueError, StopIteration):
        limit = float(GROUP_LIMIT.read_text())  # the file holds "max" if there is no limit
        # Cached files count as used in other files, but the system frees them when memory is needed.
        used = next(float(line.split()[1]) for line in GROUP_USE.read_text().splitlines() if line.startswith("anon "))
    return max(0.0, limit - used)


def _process_bytes() -> float:
    limit, used = float("inf"), 0.0
    with suppress(AttributeError, ImportError, OSError, ValueError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        limit = float("inf") if soft == resource.RLIM_INFINITY else float(soft)
        used = float(PROCESS_USE.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return max(0.0, limit - used)


def refuse_too_large(argument: str, what: str, numbers: float, remedy: str) -> None:
    """Raise an error if an array of ``numbers`` float64 values cannot fit into memory.

    Parameters
    ----------
    argument : str
        The argument that asks for the memory.
    what : str
        The reason, as the subject of a sentence: "38,903 columns".
    numbers : float
        How many numbers the fit holds at once.
    remedy : str
        What to do instead.

    Raises
    ------
    InputError
        It names the memory that is needed and the memory that is available.

    >>> refuse_too_large("X", "two columns", 4, "use fewer")
    """
    needed, available = 8 * numbers, available_bytes()
    if needed > available:
        problem = f"{what} need about {needed / 1e9:.3g} GB of memory, and {available / 1e9:.3g} GB are available"
        raise InputError(argument, problem, remedy)


def release_memory() -> None:
    """Return free memory of PyArrow and of the C library to the system, where they can do so.

    Both keep what was freed for later use, which adds to the memory of the next step: after a fit to 2 000 000 rows of
    20 columns, tens of megabytes.

    >>> release_memory()
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
        if trim is not None:
            trim(0)
