"""Tables that do not fit into memory: the options, and the decision to read a table in batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separatrix.base.errors import ParameterError, TableError
from separatrix.base.file_patterns import files_matching
from separatrix.base.number_text import size_text
from separatrix.cli.file_arguments import CACHES
from separatrix.cli.output_files import STANDARD

if TYPE_CHECKING:
    from separatrix.table.formats import Source
    from separatrix.table.formats.batched import BatchedSource

F = TypeVar("F", bound=Callable[..., Any])

# Without --memory, a table may take this share of the memory that is available.
SHARE_OF_AVAILABLE_MEMORY = 0.6
# The bytes of a cell that is read into memory: as it was read, as a number, encoded, once more in the rows fitted, and
# in copies for a time. A fit to 3 000 000 rows of 9 columns took 57.
BYTES_PER_CELL = 56
# The ratio of a text file's size in memory to its size on disk, and that of a compressed file to its unpacked size.
TEXT_RATIO, UNPACKED_RATIO = 1.2, 5.0
# A cell of a text file takes at least a digit and a delimiter.
FEWEST_BYTES_PER_CELL = 2
# gzip never packs more bytes than this into one.
LARGEST_GZIP_RATIO = 1032
_LIBSVM = (".libsvm", ".svm", ".svmlight")

_MEMORY = (
    "A limit on the peak memory of the process, such as 500MB or 4GB, which includes about 300MB for Python and its "
    "packages; by default a part of the available memory. A table that would need more "
)
memory_option = click.option(
    "--memory", metavar="SIZE", help=f"{_MEMORY}is read in batches, with the same result up to rounding."
)
memory_of_fit_option = click.option(
    "--memory",
    metavar="SIZE",
    help=f"{_MEMORY}is read in batches, again in every pass over its rows. The result is the same, except that other "
    "rows are held out.",
)
memory_of_check_option = click.option(
    "--memory", metavar="SIZE", help=f"{_MEMORY}is refused, since a check compares its rows with each other."
)
memory_of_comparison_option = click.option(
    "--memory", metavar="SIZE", help=f"{_MEMORY}is refused, since a comparison selects the rows of folds."
)
cache_option = click.option(
    "--cache",
    type=CACHES,
    metavar="DIR",
    help="For a table that is read in batches: keep its rows as numbers in this folder, for later passes and later "
    "fits. By default they are kept in a temporary file, if the disk has room.",
)


def memory_limit(memory: str | None) -> float:
    """The memory that a table may take, in bytes."""
    from separatrix.base.available_memory import available_bytes
    from separatrix.streams.memory_limit import memory_bytes

    if memory is None:
        return SHARE_OF_AVAILABLE_MEMORY * available_bytes()
    try:
        return memory_bytes(memory)
    except ParameterError as error:
        raise ParameterError("--memory", error.problem, error.remedy) from error


@dataclass(frozen=True)
class TooLarge:
    """A source that is read in batches, since in memory it would take more than the limit."""

    batched: BatchedSource
    needed: float
    limit: float

    @property
    def note(self) -> str:
        """The sentence that says so."""
        name, needed, limit = Path(self.batched.name).name, size_text(self.needed), size_text(self.limit)
        return f"{name} would take about {needed} of memory, more than {limit}, so it is read in batches (--memory)."


def may_be_batched(data: str, memory: str | None) -> bool:
    """Whether a table is a file, a folder or a pattern of files that can be read in batches, and that may be too large.

    Only the sizes of the files are read, so that small tables are not opened twice.
    """
    from separatrix.table.formats.demos import DEMO

    if data == STANDARD or data.startswith(DEMO):
        return False
    path = Path(data)
    try:
        files = [*path.iterdir()] if path.is_dir() else [path] if path.exists() else files_matching(data)
        if any(suffix in _LIBSVM for file in files for suffix in file.suffixes):
            return False
        return sum(file.stat().st_size * _most_ratio(file) for file in files if file.is_file()) > memory_limit(memory)
    except OSError:  # Opening the table reports it.
        return False


def _most_ratio(path: Path) -> float:
    """How much larger than its file a table may be in memory."""
    packed = LARGEST_GZIP_RATIO if path.suffix.lower() == ".gz" else 1
    text = path.with_suffix("") if packed > 1 else path
    if text.suffix.lower() in (".csv", ".tsv"):
        return packed * (TEXT_RATIO + BYTES_PER_CELL / FEWEST_BYTES_PER_CELL)
    return math.inf


def too_large(source: Source, memory: str | None) -> TooLarge | None:
    """The source, to be read in batches, if it would not fit into memory; otherwise None."""
    from separatrix.table.formats.batched import batched

    found = batched(source)
    if found is None:
        return None
    needed, limit = needed_bytes(found), memory_limit(memory)
    if needed <= limit:
        return None
    from separatrix.streams.memory_limit import refuse_too_little, rows_per_batch

    if memory is not None:
        refuse_too_little("--memory", memory, len(found.names), needed)
    return TooLarge(replace(found, most_rows=rows_per_batch(limit, len(found.names))), needed, limit)


def needed_bytes(batched: BatchedSource) -> float:
    """About how much memory a table takes that is read at once."""
    total, n_columns = 0.0, len(batched.names)
    for path in batched.paths:
        if path.suffix.lower() in (".parquet", ".pq"):
            from pyarrow.parquet import read_metadata

            total += read_metadata(path).num_rows * n_columns * BYTES_PER_CELL
            continue
        size = path.stat().st_size * (UNPACKED_RATIO if path.suffix.lower() in (".gz", ".zst") else 1.0)
        text = path.suffix.lower() not in (".arrow", ".feather", ".ipc")
        cells = size / (_bytes_per_row(path) / n_columns) if text else size / 8
        total += TEXT_RATIO * size + cells * BYTES_PER_CELL
    return total


def _bytes_per_row(path: Path) -> float:
    """The mean length of the first lines of a text file; of a compressed file, a guess."""
    with open(path, "rb") as file:
        start = file.read(1 << 16)
    compressed = start[:2] == b"\x1f\x8b" or start[:4] == b"\x28\xb5\x2f\xfd"
    return 100.0 if compressed else len(start) / max(start.count(b"\n"), 1)


def refuse_too_large(data: str, spelling: dict[str, Any], memory: str | None, what: str, instead: str = "") -> None:
    """Refuse a table that does not fit into memory, if ``what`` needs it there. ``instead``: what else can be done."""
    limit = memory_limit(memory)
    if not may_be_batched(data, memory):
        return
    from separatrix.table.formats import Spelling, open_source
    from separatrix.table.formats.batched import batched

    found = batched(open_source(data, Spelling(**spelling)))
    needed = 0.0 if found is None else needed_bytes(found)
    if found is not None and needed > limit:
        problem = f"{what} needs it in memory, where it would take about {size_text(needed)}"
        remedy = f"raise --memory from {size_text(limit)}, or give a part of its rows{', or ' * bool(instead)}{instead}"
        raise TableError(found.name, problem, remedy)


def unused_cache(cache: str | None) -> list[str]:
    """A note about ``--cache``, which is for tables that are read in batches, for a table that is not."""
    return [] if cache is None else ["The table was read at once and not in batches, so --cache has no effect."]
