"""Caches of the rows of a table, so that later passes need not read the source again.

A cache is a file of numbers in the order in which they are multiplied, then class numbers and weights:

    rows       dense: row after row; CSR: pieces, each with its values, its columns and its row pointers
    codes      the number of each row's label, in the order in which labels appeared
    weights    float64, if the table has weights
    footer     JSON: key, shape, types, places of the parts, labels and totals, the CRC-32 of all that precedes it
    end        the length of the footer, its SHA-256, and a mark

It is written beside its place and renamed when it is complete.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import struct
import tempfile
import weakref
import zlib
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Self

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.codec import COUNT, ROWS, Plain, array, plain, read
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.files import read_whole, remove_strays, room_for_temporary, temporary_beside
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import ByAudience, Message, Setting
from separatrix.core.rows.block import is_sparse
from separatrix.tables.file_batches import SvmlightTable, column_names, settled
from separatrix.tables.table_parts import LabelColumn, Labelling, Numbering, PartTable

# --- The file of a cache

MARK = b"SXROWS02"
_END = struct.Struct("<Q32s8s")
# Numbers of labels, of which there are at most ``MOST_LABELS``.
CODE_TYPE = np.dtype(np.uint16)
# Bytes of the file that are copied or checked at once.
BYTES_AT_ONCE = 1 << 20


class DamagedCache(Exception):
    """A cache that fails a check, or that belongs to other files."""


@dataclass(frozen=True, eq=False)
class CachedLabels:
    """A ``Numbering`` as a cache holds it: numbers, truth values or text, and the ``kind`` of their array."""

    classes: Annotated[list[Any], Plain(list)]
    kind: str
    rows: Annotated[Integers, ROWS]
    weight: Annotated[Array, array("", finite=False)]
    largest: Annotated[Array, array("", finite=False)]
    numbers: Annotated[Integers, ROWS]

    @classmethod
    def of(cls, numbering: Numbering) -> CachedLabels:
        classes, totals = numbering.classes, numbering.totals
        kind = classes.dtype.str if classes.dtype.kind != "O" else "O"
        return cls(classes.tolist(), kind, totals.rows, totals.weight, totals.largest, numbering.numbers)

    def numbering(self) -> Numbering:
        from separatrix.core.rows.targets import ClassTotals

        classes: AnyArray = np.array(self.classes, dtype=self.kind)
        return Numbering(classes, ClassTotals(self.rows, self.weight, self.largest), self.numbers)


@dataclass(frozen=True)
class Places:
    """Where each part of a cache starts in the file, and how many bytes it takes."""

    rows: tuple[int, ...]
    codes: tuple[int, ...]
    weights: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Footer:
    """The footer of a cache.

    ``columns``: their names, or the first and the last index of sparse rows. ``chunks``: the place, the number of rows
    and the number of entries of each piece of CSR rows, (pieces, 3).
    """

    key: str
    columns: Annotated[list[Any], Plain(list)]
    sparse: bool
    dtype: str
    n_rows: Annotated[int, COUNT]
    chunks: Annotated[Integers, array("", "", whole=True, least=0)]
    places: Places
    labels: CachedLabels | None
    checksum: int | None


class CacheWriter:
    """Writes the rows of one pass. The file appears at ``path`` when ``finish`` has been called, and not before.

    ``lasting``: the file outlives this process, so it has a checksum, which takes about as long as writing, and it is
    flushed to the disk before it is renamed.
    """

    def __init__(self, path: Path, dtype: Any, lasting: bool = False) -> None:
        self.path, self.dtype, self.lasting = path, np.dtype(dtype), lasting
        self.checksum: int | None = 0 if lasting else None
        self.temporary = temporary_beside(path)
        self.n_rows, self.chunks = 0, list[list[int]]()
        remove_strays(path)  # before the file is written, so that the disk has room for it
        with ExitStack() as files:
            files.callback(self.temporary.unlink, missing_ok=True)
            self.out: BinaryIO = files.enter_context(open(self.temporary, "xb"))
            # Files without names, which vanish with the process.
            self.codes: Any = files.enter_context(tempfile.TemporaryFile(dir=path.parent))
            self.weights: Any = files.enter_context(tempfile.TemporaryFile(dir=path.parent))
            self.files = files.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.files.close()

    def add(self, X: Any, codes: Integers | None, weight: Array | None) -> None:
        """Write the next rows."""
        if is_sparse(X):
            self.chunks.append([self.out.tell(), X.shape[0], int(X.nnz)])
            for part, kind in ((X.data, self.dtype), (X.indices, np.int32), (X.indptr, np.int64)):
                self._write(np.ascontiguousarray(part, dtype=kind).data)
        else:
            self._write(np.ascontiguousarray(X, dtype=self.dtype).data)
        if codes is not None:
            self.codes.write(codes.astype(CODE_TYPE).data)
        if weight is not None:
            self.weights.write(np.ascontiguousarray(weight, dtype=np.float64).data)
        self.n_rows += X.shape[0]

    def _write(self, data: Any) -> None:
        if self.checksum is not None:
            self.checksum = zlib.crc32(data, self.checksum)
        self.out.write(data)

    def finish(self, key: str, columns: list[Any], numbering: Numbering | None) -> None:
        """Append codes and weights, which are in separate files, and the footer; then rename the file to its path."""
        places = {"rows": (0, self.out.tell())}
        for name, part in (("codes", self.codes), ("weights", self.weights)):
            start = self.out.tell()
            part.seek(0)
            while data := part.read(BYTES_AT_ONCE):
                self._write(data)
            places[name] = (start, self.out.tell() - start)
        footer = Footer(
            key,
            columns,
            bool(self.chunks),
            self.dtype.str,
            self.n_rows,
            np.array(self.chunks, dtype=np.int64).reshape(-1, 3),
            Places(**places),
            None if numbering is None else CachedLabels.of(numbering),
            self.checksum,
        )
        text = json.dumps(plain(footer)).encode()
        self.out.write(text + _END.pack(len(text), hashlib.sha256(text).digest(), MARK))
        self.out.flush()
        if self.lasting:
            os.fsync(self.out.fileno())
        self.out.close()
        os.replace(self.temporary, self.path)


@dataclass(frozen=True)
class CacheFile:
    """A cache that has been opened and checked. Threads may read it at the same time.

    It is read with ``preadv``, never mapped into memory: a mapped file that another program cuts short kills the
    process that reads it.
    """

    path: Path
    footer: Footer

    @classmethod
    def checked(cls, path: Path, key: str) -> CacheFile:
        """The cache at ``path``; ``DamagedCache`` if it fails a check, for which it is read once."""
        found = cls.opened(path, key)
        (start, taken), checksum = found.footer.places.weights, 0
        with open(path, "rb", buffering=0) as file:
            for place in range(0, start + taken, BYTES_AT_ONCE):
                checksum = zlib.crc32(file.read(min(BYTES_AT_ONCE, start + taken - place)), checksum)
        if checksum != found.footer.checksum:
            raise DamagedCache("its rows are damaged")
        return found

    @classmethod
    def opened(cls, path: Path, key: str) -> CacheFile:
        """The cache at ``path``, or ``DamagedCache`` if it is not complete, or belongs to other files than ``key``."""
        size = path.stat().st_size
        with open(path, "rb", buffering=0) as file:
            if size < _END.size:
                raise DamagedCache("it is too short")
            file.seek(size - _END.size)
            length, digest, mark = _END.unpack(file.read(_END.size))
            if mark != MARK or length > size - _END.size:
                raise DamagedCache("it does not end as a cache does")
            file.seek(size - _END.size - length)
            text = file.read(length)
        if hashlib.sha256(text).digest() != digest:
            raise DamagedCache("its footer is damaged")
        footer = read(Footer, json.loads(text))
        start, taken = footer.places.weights
        if start + taken != size - _END.size - length:
            raise DamagedCache("its length is not that of its parts")
        if footer.key != key:
            raise DamagedCache("it holds the rows of other files")
        found = cls(path, footer)
        found._file  # noqa: B018  opened now, so that the rows stay readable if another process replaces the cache
        return found

    def __reduce__(self) -> Any:
        return CacheFile, (self.path, self.footer)  # without the open file

    @property
    def n_rows(self) -> int:
        return self.footer.n_rows

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns' names. Of sparse rows the file has the first and the last index."""
        found = self.footer.columns
        return column_names(*found) if self.footer.sparse else tuple(found)

    @cached_property
    def dtype(self) -> Any:
        return np.dtype(self.footer.dtype)

    @cached_property
    def numbering(self) -> Numbering | None:
        """The classes, if the table has labels."""
        return None if self.footer.labels is None else self.footer.labels.numbering()

    @cached_property
    def _file(self) -> Any:
        file = open(self.path, "rb", buffering=0)  # noqa: SIM115  closed when this object is gone
        weakref.finalize(self, file.close)
        return file

    def dense(self, start: int, stop: int) -> Array:
        """Rows start, …, stop − 1 of a dense table, (m, d)."""
        d = len(self.columns)
        X: Array = self._read(start * d * self.dtype.itemsize, (stop - start, d), self.dtype)
        return X

    def sparse(self, k: int) -> Any:
        """Piece k of CSR rows."""
        from scipy.sparse import csr_array

        place, rows, entries = (int(number) for number in self.footer.chunks[k])
        data = self._read(place, (entries,), self.dtype)
        place += data.nbytes
        indices = self._read(place, (entries,), np.dtype(np.int32))
        indptr = self._read(place + indices.nbytes, (rows + 1,), np.dtype(np.int64))
        first, largest = self.footer.columns
        X = csr_array((rows, largest + 1), dtype=self.dtype)
        X.data, X.indices, X.indptr = data, indices, indptr.astype(np.int32)
        return settled(X, first, largest)

    def codes(self, start: int, stop: int) -> Integers:
        """The class numbers of rows, as if labels had been sorted from the start."""
        codes = self._read(self.footer.places.codes[0] + start * CODE_TYPE.itemsize, (stop - start,), CODE_TYPE)
        assert self.numbering is not None
        numbers: Integers = codes.astype(np.int64) if self.numbering.is_identity else self.numbering.numbers[codes]
        return numbers

    def weights(self, start: int, stop: int) -> Array:
        """The weights of rows; 1 if the table has none."""
        first, taken = self.footer.places.weights
        if not taken:
            return np.ones(stop - start)
        weight: Array = self._read(first + start * 8, (stop - start,), np.dtype(np.float64))
        return weight

    def _read(self, place: int, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array from the file. A file that has been cut short since it was opened is refused."""
        array: Any = np.empty(shape, dtype=dtype)
        if not read_whole(self._file, array, place):
            problem = "the cache of rows was cut short while it was in use"
            raise TableError(str(self.path), problem, "delete it, and run the fit again")
        return array


# --- Whether and where rows are cached

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Writes all rows to a path, given the key of the cache and whether it outlives the process.
WriteRows = Callable[[Path, str, bool], None]


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
        """The cache, for which all rows are read unless it has been kept.

        None if rows are not cached, or if the disk is full and the user has not named a folder.
        """
        if not self.choice.wanted(self.table):
            return None
        folder = self.choice.folder
        try:
            if folder is None or not self.table.stamps:
                return temporary_cache(self.key, self._write, folder)
            names = [f"{stamp.filesystem}:{stamp.path}" for stamp in self.table.stamps]
            return kept_cache(folder / f"{_digest(names, self.read)}.rows", self.key, self._write)
        except OSError as error:
            refuse_unwritten(self.choice, error)
            return None

    @property
    def key(self) -> str:
        """What a cache must agree with: files, their sizes and times, and what was read of them."""
        return _digest([list(stamp) for stamp in self.table.stamps], self.read)

    def _write(self, path: Path, key: str, lasting: bool) -> None:
        """Read all rows and write them to a cache. ``key``: the key of the files before any of this work began.

        Raises an error if a file has another key afterwards.
        """
        table, labelling = self.table, self.labelling()
        with CacheWriter(path, table.dtype, lasting) as writer, closing(table.parts_ahead()) as parts:
            weighted = False
            for part in parts:
                weighted = part.weight is not None
                codes = None if labelling is None else labelling.codes(part.labels, part.weight)
                writer.add(part.X, codes, part.weight)
            if self.key != key:
                problem = "it changed while it was read"
                raise TableError(table.name, problem, "wait until it is complete, and run again")
            numbering = None if labelling is None else labelling.numbering(weighted)
            columns: list[Any]
            if isinstance(table, SvmlightTable):  # the first and the last index, of which the names are made
                columns = [table.survey.first, table.survey.largest]
            else:
                columns = list(table.columns)
            writer.finish(key, columns, numbering)

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


def kept_cache(path: Path, key: str, write: WriteRows) -> CacheFile:
    """The cache at a path. A new one takes the place of one that is missing, damaged or outdated."""
    found = _sound(path, key)
    if found is None:
        write(path, key, True)
        found = CacheFile.opened(path, key)
    return found


def temporary_cache(key: str, write: WriteRows, folder: Path | None = None) -> CacheFile:
    """A cache that vanishes with the object that reads it, and with the process."""
    place = Path(tempfile.mkdtemp(prefix="separatrix-", dir=folder))
    try:
        write(place / "table.rows", key, False)
        found = CacheFile.opened(place / "table.rows", key)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    if os.name == "nt":  # Windows does not remove the name of an open file
        weakref.finalize(found, shutil.rmtree, place, ignore_errors=True)
    else:
        shutil.rmtree(place, ignore_errors=True)
    return found


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _sound(path: Path, key: str) -> CacheFile | None:
    """The cache at a path; None if it is missing or damaged, or belongs to files that have changed."""
    try:
        return CacheFile.checked(path, key)
    except (DamagedCache, OSError, ValueError, KeyError, TypeError):
        return None
