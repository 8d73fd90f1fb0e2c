"""Record batches that can be read any number of times, the files that they come from, and the memory that they take.

Every source of ``scan`` is an object with the methods of ``Batches``. One that reads files has a ``FileSet``: one file,
a list, a glob pattern or a folder, on a disk or in an object store. How large batches and samples are follows from the
memory that a fit may take.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.files import files_matching, folder_of, is_pattern, matches
from separatrix.core.base.labels import RowNames, short_names
from separatrix.core.base.messages import size_text
from separatrix.tables.formats.batched import ROWS_PER_BATCH
from separatrix.tables.formats.source import UNREADABLE, extension

# --- Record batches

# The size in bytes of the numbers of a record batch, unless memory is scarcer.
BATCH_BYTES = 1 << 22
# A batch has at least this many rows, however wide they are, and at most this many.
FEWEST_ROWS_PER_BATCH, MOST_ROWS_PER_BATCH = 256, 1 << 16

# Labels have the type of their column; or are text of a file without types, in which "1" and "2" mean numbers; or are
# numbers, which mean whole numbers if all of them are.
LabelKind = Literal["typed", "text", "number"]


class Stamp(NamedTuple):
    """What identifies a version of a file: its type of file system, path, size in bytes and last change."""

    filesystem: str
    path: str
    size: int
    changed: int


class Batches(Protocol):
    """Record batches with the same columns, always the same rows in the same order.

    ``n_rows`` is None if the source does not know it before it has been read. ``stamps`` identify the files; they are
    empty for a query, whose rows cannot be recognised later. ``is_slow``: reading is much slower than reading numbers
    from the disk, since text is parsed or a query is computed. ``label_kind``: what labels look like in the
    source. ``called(row)`` is the name of a row for messages, such as "3 of part-2.csv".
    ``read(columns, rows)`` gives batches of that many rows, if the source can be read so. ``spelled`` says how text is
    written; it is empty for sources with types.
    """

    @property
    def name(self) -> str: ...
    @property
    def schema(self) -> pa.Schema: ...
    @property
    def n_rows(self) -> int | None: ...
    @property
    def stamps(self) -> tuple[Stamp, ...]: ...
    @property
    def is_slow(self) -> bool: ...
    @property
    def batch_bytes(self) -> int: ...
    @property
    def label_kind(self) -> LabelKind: ...
    @property
    def spelled(self) -> str: ...
    def read(self, columns: Sequence[str], rows: int | None = None) -> Iterator[pa.RecordBatch]: ...
    def called(self, row: int) -> str: ...


def rows_per_batch(n_columns: int, batch_bytes: int = BATCH_BYTES) -> int:
    """The number of rows of a batch of about ``batch_bytes``.

    >>> rows_per_batch(20), rows_per_batch(10**6)
    (26214, 256)
    """
    fit = batch_bytes // (8 * max(1, n_columns))
    return min(max(fit, FEWEST_ROWS_PER_BATCH), MOST_ROWS_PER_BATCH)


@contextmanager
def explained(name: str, what: str) -> Iterator[None]:
    """Turn the exceptions of PyArrow about a file or a query into a ``TableError``."""
    try:
        yield
    except TableError:
        raise
    except FileNotFoundError as error:
        raise TableError(name, "there is no such file", "check the path") from error
    except UNREADABLE as error:
        reason = " ".join(str(error).split())[:200]
        raise TableError(name, f"it cannot be read as {what} ({reason})", "check it, or write it again") from error


def explained_batches(name: str, what: str, batches: Iterator[Any]) -> Iterator[Any]:
    """The batches; exceptions that reading them raises become a ``TableError``.

    At the end, memory that Arrow keeps for later use is given back to the system.
    """
    try:
        while True:
            with explained(name, what):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch
            del batch  # freed before the next one is read
    finally:
        pa.default_memory_pool().release_unused()


# --- The files of a table


@dataclass(frozen=True)
class FileSet:
    """Files of one file system of PyArrow, in the order in which they are read."""

    name: str
    filesystem: Any
    paths: tuple[str, ...]

    @property
    def stamps(self) -> tuple[Stamp, ...]:
        """The size and the time of the last change of each file."""
        kind, found = self.filesystem.type_name, self.filesystem.get_file_info(list(self.paths))
        return tuple(Stamp(kind, info.path, info.size or 0, int(info.mtime_ns or 0)) for info in found)

    @property
    def extension(self) -> str:
        """The extension of the first file, with the one before it if the file is compressed."""
        return extension(self.paths[0])

    @property
    def is_local(self) -> bool:
        return bool(self.filesystem.type_name == "local")

    def opened(self, path: str) -> Any:
        """The file, for random access. It is never mapped into memory."""
        return self.filesystem.open_input_file(path)

    def called(self, row: int, counts: Sequence[int]) -> str:
        """The name of a row, given the number of rows of each file that has been read so far."""
        if len(self.paths) == 1:
            return f"{row + 1} of {self.name}"
        files = tuple(zip(short_names(list(self.paths)), counts, strict=False))
        return str(RowNames(np.empty(0, dtype=np.int64), files).called(row + 1))


class OfFiles:
    """Rows that are read from files, with the name and the stamps of these files."""

    files: FileSet

    @property
    def spelled(self) -> str:
        return ""

    @property
    def name(self) -> str:
        return self.files.name

    @property
    def stamps(self) -> tuple[Stamp, ...]:
        return self.files.stamps


def file_set(data: str | os.PathLike[str] | Sequence[Any], filesystem: Any, endings: Sequence[str]) -> FileSet:
    """The files that ``data`` names. A folder stands for its files with one of the ``endings``, sorted by name."""
    if not isinstance(data, str | os.PathLike | list | tuple):
        raise TableError("data", f"got {data!r} in a list of files", "give the path of each file")
    if not isinstance(data, str | os.PathLike):
        parts = [file_set(one, filesystem, endings) for one in data]
        if not parts:
            raise TableError("data", "the list of files is empty", "name at least one file")
        name = parts[0].name if len(parts) == 1 else f"{parts[0].name} and {len(parts) - 1} more"
        return FileSet(name, parts[0].filesystem, tuple(path for part in parts for path in part.paths))
    text = os.fspath(data)
    if filesystem is None and "://" not in text:  # unlike s3://bucket/key, which names a file system
        return _local(text, endings)
    store, path = (filesystem, text) if filesystem is not None else _by_uri(text)
    return FileSet(text, store, _stored(text, store, path, endings))


def _local(text: str, endings: Sequence[str]) -> FileSet:
    from pyarrow.fs import LocalFileSystem

    path = Path(text)
    if path.is_dir():
        paths = [one for one in sorted(path.iterdir()) if _is_table(one.name, endings) and one.is_file()]
    elif path.exists():
        paths = [path]
    else:
        paths = files_matching(text) if is_pattern(text) else []
    if not paths:
        raise _none_found(text, path.is_dir(), endings)
    return FileSet(text, LocalFileSystem(), tuple(str(one.resolve()) for one in paths))


def _by_uri(text: str) -> tuple[Any, str]:
    from pyarrow.fs import FileSystem

    try:
        store, path = FileSystem.from_uri(text)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        remedy = "check the address, or give the file system itself: scan(..., filesystem=...)"
        raise TableError(text, f"its file system cannot be opened ({reason})", remedy) from error
    return store, path


def _stored(text: str, store: Any, path: str, endings: Sequence[str]) -> tuple[str, ...]:
    """The files of a store that match a path, a pattern or a folder."""
    from pyarrow.fs import FileSelector, FileType

    pattern = is_pattern(path)
    folder = folder_of(path) if pattern else path
    try:
        info = store.get_file_info(folder)
        if not pattern and info.type == FileType.File:
            return (path,)
        inside = store.get_file_info(FileSelector(folder, allow_not_found=True, recursive=pattern))
    except OSError as error:
        raise TableError(text, f"it cannot be opened ({' '.join(str(error).split())[:200]})", "check it") from error
    files = sorted(one.path for one in inside if one.type == FileType.File)
    if pattern:
        chosen = [one for one in files if matches(one, path)]
    else:
        chosen = [one for one in files if _is_table(one.rpartition("/")[2], endings)]
    if not chosen:
        raise _none_found(text, not pattern and info.type == FileType.Directory, endings)
    return tuple(chosen)


def _is_table(name: str, endings: Sequence[str]) -> bool:
    """Whether a file of a folder belongs to the table. Hidden files and markers such as _SUCCESS do not."""
    return not name.startswith((".", "_")) and extension(name) in endings


def _none_found(text: str, is_folder: bool, endings: Sequence[str]) -> TableError:
    if is_folder:
        return TableError(text, "the folder has no table in it", f"put in files that end in {', '.join(endings)}")
    if is_pattern(text):
        return TableError(text, "no file matches the pattern", "check the pattern")
    return TableError(text, "there is no such file", "give a file, a folder, or a pattern that matches some files")


# --- The memory of a fit

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


def rows_of_cells_per_batch(memory: float, n_columns: int) -> int:
    """How many rows of a table with text and categories are read at a time, given the memory of a fit.

    >>> rows_of_cells_per_batch(4e9, 20), rows_of_cells_per_batch(3e8, 20)
    (65536, 7324)
    """
    rows = int(min(memory, LARGEST_MEMORY) * SHARE_OF_CELLS) // (8 * max(n_columns, 1))
    return min(max(rows, FEWEST_ROWS_OF_CELLS), ROWS_PER_BATCH)
