"""The files of a table: one file, a list, a glob pattern or a folder, on a disk or in an object store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from separatrix.base.errors import TableError
from separatrix.base.file_patterns import files_matching, folder_of, is_pattern, matches
from separatrix.base.row_names import RowNames, short_names
from separatrix.streams.batches import Stamp

_PACKED = (".gz", ".zst")


@dataclass(frozen=True)
class FileSet:
    """Files of one file system of PyArrow, in the order in which they are read."""

    name: str
    filesystem: Any
    paths: tuple[str, ...]

    @property
    def stamps(self) -> tuple[Stamp, ...]:
        """The size and the time of the last change of each file."""
        found = self.filesystem.get_file_info(list(self.paths))
        return tuple(Stamp(self.filesystem.type_name, info.path, info.size or 0, _time(info)) for info in found)

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


def _time(info: Any) -> int:
    return int(info.mtime_ns or 0)


def extension(path: str) -> str:
    """The extension of a path in lower case.

    >>> extension("a.b/Table.CSV.gz"), extension("x.parquet"), extension("x")
    ('.csv.gz', '.parquet', '')
    """
    ends = PurePosixPath(path).suffixes
    return "".join(ends[-2:] if ends and ends[-1].lower() in _PACKED else ends[-1:]).lower()


def is_uri(path: str) -> bool:
    """Whether a path names a file system, as s3://bucket/key does."""
    return "://" in path


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
    if filesystem is None and not is_uri(text):
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
    import pyarrow as pa
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
    chosen = [one for one in files if matches(one, path)] if pattern else _tables(files, endings)
    if not chosen:
        raise _none_found(text, not pattern and info.type == FileType.Directory, endings)
    return tuple(chosen)


def _tables(files: Sequence[str], endings: Sequence[str]) -> list[str]:
    return [path for path in files if _is_table(path.rpartition("/")[2], endings)]


def _is_table(name: str, endings: Sequence[str]) -> bool:
    """Whether a file of a folder belongs to the table. Hidden files and markers such as _SUCCESS do not."""
    return not name.startswith((".", "_")) and extension(name) in endings


def _none_found(text: str, is_folder: bool, endings: Sequence[str]) -> TableError:
    if is_folder:
        return TableError(text, "the folder has no table in it", f"put in files that end in {', '.join(endings)}")
    if is_pattern(text):
        return TableError(text, "no file matches the pattern", "check the pattern")
    return TableError(text, "there is no such file", "give a file, a folder, or a pattern that matches some files")
