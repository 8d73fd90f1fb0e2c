"""The memory of a fit to rows that are read in pieces."""

from __future__ import annotations

import numpy as np

from separatrix.base.errors import ParameterError
from separatrix.base.number_text import size_text
from separatrix.streams.batches import BATCH_BYTES
from separatrix.table.formats.batched import ROWS_PER_BATCH

UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1}
# A batch takes at most this share of the memory. There are several: three are read ahead, and PyArrow keeps one or two
# of them while it decodes columns. A fit in 500 MB has batches of 2 MiB and stays below 490 MB; in less, they have
# 1 MiB.
BATCH_SHARE = 1 / 235
FEWEST_BATCH_BYTES = 1 << 18
# The sample of a fit takes at most this share: it is kept twice, in raw units and in the coordinates of the solver.
SAMPLE_SHARE = 1 / 24
# The cells of a batch of a table with text and categories take at most this share, as numbers; they are held several
# times while they are read and encoded.
SHARE_OF_CELLS = 1 / 256
FEWEST_ROWS_OF_CELLS = 1 << 12
# The least memory in which a table can be fitted in batches: that of Python and its packages (about 280 MB with the
# compiler of loops), of a batch and of the sample, and what PyArrow holds of each column of a Parquet file. A fit to
# 2 000 000 rows of 20 columns took 452 MB at its peak.
SMALLEST_MEMORY, SMALLEST_MEMORY_PER_COLUMN = 420_000_000, 3_000_000
# No machine has more memory than this; it stands for a memory without a limit.
LARGEST_MEMORY = 1e15


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


def smallest_memory(n_columns: int) -> int:
    """The least memory in bytes in which a table can be read in batches.

    >>> smallest_memory(20)
    480000000
    """
    return SMALLEST_MEMORY + SMALLEST_MEMORY_PER_COLUMN * n_columns


def refuse_too_little(argument: str, memory: str | int, n_columns: int, whole: float = np.inf) -> None:
    """Refuse a memory, given as ``argument``, in which a table of this many columns cannot be read in batches.

    ``whole``: the bytes that the table takes if it is read at once. For a short table with many columns, reading it in
    batches takes more.
    """
    smallest = smallest_memory(n_columns)
    if memory_bytes(memory) >= smallest:
        return
    problem = f"got {memory}, and a table of {n_columns} columns takes about {size_text(smallest)} in batches"
    if SMALLEST_MEMORY < whole < smallest:
        problem, smallest = f"{problem}, and about {size_text(whole)} if it is read at once", int(whole)
    raise ParameterError(argument, problem, f"give {-(-smallest // 10**6)}MB or more")


def batch_bytes(memory: int) -> int:
    """The size of a batch, given the memory of a fit: BATCH_BYTES, or that divided by a power of two.

    >>> batch_bytes(2 * 10**9), batch_bytes(500 * 10**6)
    (4194304, 2097152)
    """
    size = BATCH_BYTES
    while size > memory * BATCH_SHARE and size > FEWEST_BATCH_BYTES:
        size //= 2
    return size


def most_drawn(memory: float, n_parameters: int, width: int) -> int:
    """The most rows of a sample with ``width`` entries, given the memory of a fit; enough for its parameters.

    >>> most_drawn(10**9, 21, 21), most_drawn(500 * 10**6, 21, 21)
    (248015, 124007)
    """
    return max(20 * n_parameters, int(min(memory, LARGEST_MEMORY) * SAMPLE_SHARE) // (8 * width))


def rows_per_batch(memory: float, n_columns: int) -> int:
    """How many rows of a table with text and categories are read at a time, given the memory of a fit.

    >>> rows_per_batch(4e9, 20), rows_per_batch(3e8, 20)
    (65536, 7324)
    """
    rows = int(min(memory, LARGEST_MEMORY) * SHARE_OF_CELLS) // (8 * max(n_columns, 1))
    return min(max(rows, FEWEST_ROWS_OF_CELLS), ROWS_PER_BATCH)
