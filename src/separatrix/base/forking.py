"""Fork safety: every lock that the package uses is free in a forked child.

A forked child has one thread, the one that forked, and a copy of all locks as they were. A lock that another thread of
the parent held would stay locked in the child forever. So the thread that forks first takes the locks, waiting until
no other thread holds them, and both parent and child release them afterwards. The locks are

- those given to ``held_during_forks``;
- Python's locks on modules that are being imported: fits import many modules on first use;
- Numba's compiler lock, held while a kernel is compiled or read from disk.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from importlib import _bootstrap, import_module
from types import ModuleType
from typing import Any

# Packages that fits import on first use, with the standard library, which they import in turn. A fork waits until their
# imports are complete. It does not wait for other imports, since the import of a user's module may never end.
IMPORTED_LATE = sys.stdlib_module_names | {
    *("separatrix", "numpy", "scipy", "sklearn", "joblib", "narwhals", "numba", "llvmlite", "threadpoolctl", "pyarrow")
}

Lock = AbstractContextManager[Any]

_locks: list[tuple[Lock, Callable[[], None]]] = []
_one_fork = threading.RLock()  # one fork at a time, since ``_held`` is shared
_held = ExitStack()


def held_during_forks(lock: Lock, in_child: Callable[[], None]) -> None:
    """Take ``lock`` before each fork and release it after; call ``in_child`` in the child while it is still held."""
    _locks.append((lock, in_child))


def _take_all() -> None:
    """Wait for imports, which may need any of the locks, then take the locks; repeat if an import began meanwhile."""
    waited_for = set[str]()
    while True:
        while late := set(_being_imported()) - waited_for:  # modules seen before are being imported by this thread
            waited_for |= late
            for name in late:
                with suppress(Exception):  # the importing thread gets the error
                    import_module(name)  # waits for the importing thread
        _one_fork.acquire()
        for lock in (*(lock for lock, _ in _locks), _compiler_lock()):
            _held.enter_context(lock)
        if waited_for.issuperset(_being_imported()):
            return
        _release_all()


def _release_all() -> None:
    _held.close()
    _one_fork.release()


def _begin_child() -> None:
    try:
        for _, in_child in _locks:
            in_child()
    finally:
        _release_all()


def _compiler_lock() -> Lock:
    """Numba's compiler lock, if Numba has been imported."""
    module = sys.modules.get("numba.core.compiler_lock")
    return getattr(module, "global_compiler_lock", None) or ExitStack()


def _being_imported() -> Iterator[str]:
    """Modules that a thread is importing, and modules whose import lock another thread holds."""
    for name, reference in list(getattr(_bootstrap, "_module_locks", {}).items()):
        owner = getattr(reference(), "owner", None)
        if name.partition(".")[0] in IMPORTED_LATE and owner not in (None, threading.get_ident()):
            yield name
    for name, module in list(sys.modules.items()):
        # This bypasses the module's own __getattr__, which may import more.
        if name.partition(".")[0] in IMPORTED_LATE and issubclass(type(module), ModuleType):
            spec = ModuleType.__getattribute__(module, "__dict__").get("__spec__")
            if getattr(spec, "_initializing", False):
                yield name


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all, after_in_parent=_release_all, after_in_child=_begin_child)
