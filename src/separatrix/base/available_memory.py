"""The memory that a fit may use, and an error for arrays that do not fit, which is raised before they are allocated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from separatrix.base.errors import InputError

# Where Linux states the available memory in kB, the limit of the process's control group in bytes, what this group
# uses, and the size of the process in pages.
MEMORY_INFORMATION, GROUP_LIMIT = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
GROUP_USE, PROCESS_USE = Path("/sys/fs/cgroup/memory.stat"), Path("/proc/self/statm")
BYTES_PER_NUMBER = 8


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
    needed, available = BYTES_PER_NUMBER * numbers, available_bytes()
    if needed > available:
        problem = f"{what} need about {needed / 1e9:.3g} GB of memory, and {available / 1e9:.3g} GB are available"
        raise InputError(argument, problem, remedy)
