"""Returns unused memory to the system, so that the memory of one step does not add to that of the next."""

from __future__ import annotations

import ctypes
import sys


def release_memory() -> None:
    """Return free memory of PyArrow and of the C library to the system, where they can do so.

    Both keep what was freed for later use: after a fit to 2 000 000 rows of 20 columns, tens of megabytes.

    >>> release_memory()
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl does not
        if trim is not None:
            trim(0)
