"""The memory of a fit to rows that are read in pieces."""

from __future__ import annotations

import numpy as np

from separatrix.base.errors import ParameterError
from separatrix.streams.batches import BATCH_BYTES

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1}
# Batches take at most this share of the memory: one is read ahead, one is turned into rows, and one is computed with.
BATCH_SHARE = 1 / 48


def memory_bytes(memory: str | int) -> int:
    """A size in bytes from a number or from a text such as "1GB".

    >>> memory_bytes("1.5 GB"), memory_bytes("500MB"), memory_bytes(4096)
    (1500000000, 500000000, 4096)
    """
    text = str(memory).strip().upper()
    unit = next((unit for unit in UNITS if text.endswith(unit)), "")
    try:
        size = float(text.removesuffix(unit)) * UNITS.get(unit, 1)
    except ValueError:
        size = np.nan
    if not 0 < size < np.inf:
        raise ParameterError("memory", f"got {memory!r}", "give a size such as '1GB' or '500MB'")
    return int(size)


def batch_bytes(memory: int) -> int:
    """The size of a batch, given the memory of a fit.

    >>> batch_bytes(10**9), batch_bytes(10**8)
    (8388608, 2083333)
    """
    return min(BATCH_BYTES, int(memory * BATCH_SHARE))
