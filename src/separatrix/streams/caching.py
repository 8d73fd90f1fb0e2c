"""Whether, where and how the rows of a table are cached, so that later passes need not read the source again."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
import weakref
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.base.cached import cached_property
from separatrix.base.disk_files import room_for_temporary
from separatrix.base.errors import ParameterError, TableError
from separatrix.base.messages import ByAudience, Message, Setting
from separatrix.streams.cache_file import CacheFile, CacheWriter, DamagedCache
from separatrix.streams.labelling import LabelColumn, Labelling
from separatrix.streams.svmlight import SvmlightTable
from separatrix.streams.table_parts import PartTable

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class CacheChoice:
    """``folder``: where the cache is kept, or None for a temporary folder. ``allowed``: whether there may be one."""

    folder: Path | None = None
    allowed: bool = True

    @classmethod
    def of(cls, cache: Any) -> CacheChoice:
        """The choice that the argument ``cache`` of ``scan`` stands for.

        >>> CacheChoice.of(None), CacheChoice.of(False).allowed
        (CacheChoice(folder=None, allowed=True), False)
        """
        if cache is None or cache is True:
            return cls()
        if cache is False:
            return cls(allowed=False)
        if not isinstance(cache, str | os.PathLike):
            remedy = "give a folder, False for no cache, or None to let the scan decide"
            raise ParameterError("cache", f"got {cache!r}", remedy)
        folder = Path(cache)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"the folder {str(folder)!r} cannot be made ({error.strerror})"
            raise ParameterError("cache", problem, "give a folder that can be written to") from error
        return cls(folder)

    def wanted(self, table: PartTable) -> bool:
        """Whether rows are cached: always if the user gave a folder or reading is slow, else if there is room."""
        if not self.allowed:
            return False
        if self.folder is not None or table.is_slow:
            return True
        if table.n_rows is None:
            return False
        size = table.n_rows * (len(table.columns) * np.dtype(table.dtype).itemsize + 10)
        return bool(size <= room_for_temporary(tempfile.gettempdir()))


@dataclass(frozen=True, eq=False)
class CachedTable:
    """A table with its labels, and with its cache, if it has one."""

    table: PartTable
    choice: CacheChoice
    labels: LabelColumn

    def labelling(self) -> Labelling | None:
        """A new object that numbers the labels; None if there are none."""
        return self.labels.labelling(self.table)

    @cached_property
    def file(self) -> CacheFile | None:
        """The cache, for which all rows are read unless it has been kept; None if rows are not cached."""
        return _cached(self) if self.choice.wanted(self.table) else None

    @property
    def read(self) -> str:
        """What is read of the table: columns with their types, how text is written, and the classes, if listed."""
        given = self.labels.given
        return f"{self.table.description} classes={None if given is None else given.tolist()}"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of X. Those of sparse text files are known after a first pass, which makes the cache."""
        file = self.file if self.table.is_sparse else None
        return self.table.columns if file is None else file.columns

    def __getstate__(self) -> dict[str, Any]:
        """Another process makes its own cache, since a temporary one ends with this process."""
        return {name: value for name, value in vars(self).items() if name != "file"}


def _cached(store: CachedTable) -> CacheFile | None:
    """The cache of a table: one that was kept, or a new one, for which all rows are read.

    None if the disk is full and the user has not named a folder.
    """
    folder = store.choice.folder
    try:
        return _temporary(store, folder) if folder is None or not store.table.stamps else _kept(store, folder)
    except OSError as error:
        refuse_unwritten(store.choice, error)
        return None


def refuse_unwritten(choice: CacheChoice, error: OSError) -> None:
    """Raise an error about a cache that could not be written, unless the disk is full and the user asked for no cache.

    In that case the rows are read from their source in every pass.
    """
    if choice.folder is None and error.errno in _FULL:
        return
    folder = str(choice.folder or tempfile.gettempdir())
    problem = f"a cache of rows cannot be written there ({error.strerror})"
    none = ByAudience(", or cache=False for no cache", shell="")
    room = "make room, or " if error.errno in _FULL else ""
    remedy = Message(f"{room}give another folder with ", Setting("cache"), none)
    raise TableError(folder, problem, remedy) from error


def _kept(store: CachedTable, folder: Path) -> CacheFile:
    """The cache of files in a folder. A new one takes the place of one that is damaged or outdated."""
    names = [f"{stamp.filesystem}:{stamp.path}" for stamp in store.table.stamps]
    path, key = folder / f"{_digest(names, store.read)}.rows", _key(store)
    found = _sound(path, key) if path.exists() else None
    if found is None:
        _write(store, path, key, lasting=True)
        found = CacheFile.opened(path, key)
    return found


def _temporary(store: CachedTable, folder: Path | None) -> CacheFile:
    """A cache that vanishes with the object that reads it, and with the process."""
    place = Path(tempfile.mkdtemp(prefix="separatrix-", dir=folder))
    try:
        key = _key(store)
        _write(store, place / "table.rows", key, lasting=False)
        found = CacheFile.opened(place / "table.rows", key)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    if os.name == "nt":  # Windows does not remove the name of an open file
        weakref.finalize(found, shutil.rmtree, place, ignore_errors=True)
    else:
        shutil.rmtree(place, ignore_errors=True)
    return found


def _key(store: CachedTable) -> str:
    """What a cache must agree with: files, their sizes and times, and what was read of them."""
    return _digest([list(stamp) for stamp in store.table.stamps], store.read)


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _sound(path: Path, key: str) -> CacheFile | None:
    """The cache at a path; None if it is damaged, or belongs to files that have changed, so that it is made again."""
    try:
        return CacheFile.checked(path, key)
    except (DamagedCache, OSError, ValueError, KeyError, TypeError):
        return None


def _write(store: CachedTable, path: Path, key: str, lasting: bool) -> None:
    """Read all rows and write them to a cache. ``key``: the key of the files before any of this work began.

    Raises an error if a file has another key afterwards.
    """
    table, labelling = store.table, store.labelling()
    with CacheWriter(path, table.dtype, lasting) as writer, closing(table.parts_ahead()) as parts:
        weighted = False
        for part in parts:
            weighted = part.weight is not None
            codes = None if labelling is None else labelling.codes(part.labels, part.weight)
            writer.add(part.X, codes, part.weight)
        if _key(store) != key:
            problem = "it changed while it was read"
            raise TableError(table.name, problem, "wait until it is complete, and run again")
        numbering = None if labelling is None else labelling.numbering(weighted)
        writer.finish(key, columns_stored(table), numbering)


def columns_stored(table: PartTable) -> list[Any]:
    """The columns as the footer of a cache has them: their names, or the first and the last index of sparse rows."""
    return [table.survey.first, table.survey.largest] if isinstance(table, SvmlightTable) else list(table.columns)
