"""The file of a cache of rows: numbers in the order in which they are multiplied, then class numbers and weights.

    rows       dense: row after row; CSR: pieces, each with its values, its columns and its row pointers
    codes      the number of each row's label, in the order in which labels appeared
    weights    float64, if the table has weights
    footer     JSON: key, shape, types, places of the parts, labels and totals, the CRC-32 of all that precedes it
    end        the length of the footer, its SHA-256, and a mark

The file is written beside its place and renamed when it is complete. It is read with ``preadv``, never mapped into
memory: a mapped file that another program cuts short kills the process that reads it.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import tempfile
import weakref
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.atomic_files import remove_strays, temporary_beside
from separatrix.base.cached import cached_property
from separatrix.base.disk_files import read_whole
from separatrix.base.errors import TableError
from separatrix.rows.csr import is_sparse
from separatrix.streams.labelling import Numbering
from separatrix.streams.svmlight import column_names, settled

MARK = b"SXROWS02"
_END = struct.Struct("<Q32s8s")
# Numbers of labels, of which there are at most ``labelling.MOST_LABELS``.
CODE_TYPE = np.dtype(np.uint16)
# Bytes of the file that are copied or checked at once.
BYTES_AT_ONCE = 1 << 20


class DamagedCache(Exception):
    """A cache that fails a check, or that belongs to other files."""


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
        places = {"rows": [0, self.out.tell()]}
        for name, part in (("codes", self.codes), ("weights", self.weights)):
            start = self.out.tell()
            part.seek(0)
            while data := part.read(BYTES_AT_ONCE):
                self._write(data)
            places[name] = [start, self.out.tell() - start]
        footer = {
            "key": key,
            "columns": columns,
            "sparse": bool(self.chunks),
            "dtype": self.dtype.str,
            "n_rows": self.n_rows,
            "chunks": self.chunks,
            "places": places,
            "labels": None if numbering is None else _plain(numbering),
            "checksum": self.checksum,
        }
        text = json.dumps(footer).encode()
        self.out.write(text + _END.pack(len(text), hashlib.sha256(text).digest(), MARK))
        self.out.flush()
        if self.lasting:
            os.fsync(self.out.fileno())
        self.out.close()
        os.replace(self.temporary, self.path)


def _plain(numbering: Numbering) -> dict[str, Any]:
    """A numbering as JSON. Labels are numbers, truth values or text."""
    totals = numbering.totals
    kind = numbering.classes.dtype.str if numbering.classes.dtype.kind != "O" else "O"
    parts = {"rows": totals.rows, "weight": totals.weight, "largest": totals.largest, "numbers": numbering.numbers}
    return {"classes": numbering.classes.tolist(), "kind": kind, **{name: v.tolist() for name, v in parts.items()}}


def _numbering(plain: dict[str, Any]) -> Numbering:
    from separatrix.rows.coding import ClassTotals

    rows, numbers = (np.array(plain[name], dtype=np.int64) for name in ("rows", "numbers"))
    weight, largest = (np.array(plain[name], dtype=np.float64) for name in ("weight", "largest"))
    classes: AnyArray = np.array(plain["classes"], dtype=plain["kind"])
    return Numbering(classes, ClassTotals(rows, weight, largest), numbers)


@dataclass(frozen=True)
class CacheFile:
    """A cache that has been opened and checked. Threads may read it at the same time."""

    path: Path
    footer: dict[str, Any]

    @classmethod
    def checked(cls, path: Path, key: str) -> CacheFile:
        """The cache at ``path``; ``DamagedCache`` if it fails a check, for which it is read once."""
        found = cls.opened(path, key)
        (start, taken), checksum = found.footer["places"]["weights"], 0
        with open(path, "rb", buffering=0) as file:
            for place in range(0, start + taken, BYTES_AT_ONCE):
                checksum = zlib.crc32(file.read(min(BYTES_AT_ONCE, start + taken - place)), checksum)
        if checksum != found.footer["checksum"]:
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
        footer: dict[str, Any] = json.loads(text)
        start, taken = footer["places"]["weights"]
        if start + taken != size - _END.size - length:
            raise DamagedCache("its length is not that of its parts")
        if footer["key"] != key:
            raise DamagedCache("it holds the rows of other files")
        found = cls(path, footer)
        found._file  # noqa: B018  opened now, so that the rows stay readable if another process replaces the cache
        return found

    def __reduce__(self) -> Any:
        return CacheFile, (self.path, self.footer)  # without the open file

    @property
    def n_rows(self) -> int:
        return int(self.footer["n_rows"])

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns' names. Of sparse rows the file has the first and the last index."""
        found = self.footer["columns"]
        return column_names(*found) if self.footer["sparse"] else tuple(found)

    @cached_property
    def dtype(self) -> Any:
        return np.dtype(self.footer["dtype"])

    @cached_property
    def numbering(self) -> Numbering | None:
        """The classes, if the table has labels."""
        plain = self.footer["labels"]
        return None if plain is None else _numbering(plain)

    @cached_property
    def chunks(self) -> Integers:
        """The place, the number of rows and the number of entries of each piece of CSR rows, (pieces, 3)."""
        return np.array(self.footer["chunks"], dtype=np.int64).reshape(-1, 3)

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

        place, rows, entries = (int(number) for number in self.chunks[k])
        data = self._read(place, (entries,), self.dtype)
        place += data.nbytes
        indices = self._read(place, (entries,), np.dtype(np.int32))
        indptr = self._read(place + indices.nbytes, (rows + 1,), np.dtype(np.int64))
        first, largest = self.footer["columns"]
        X = csr_array((rows, largest + 1), dtype=self.dtype)
        X.data, X.indices, X.indptr = data, indices, indptr.astype(np.int32)
        return settled(X, first, largest)

    def codes(self, start: int, stop: int) -> Integers:
        """The class numbers of rows, as if labels had been sorted from the start."""
        codes = self._read(self._place("codes") + start * CODE_TYPE.itemsize, (stop - start,), CODE_TYPE)
        assert self.numbering is not None
        numbers: Integers = codes.astype(np.int64) if self.numbering.is_identity else self.numbering.numbers[codes]
        return numbers

    def weights(self, start: int, stop: int) -> Array:
        """The weights of rows; 1 if the table has none."""
        if not self.footer["places"]["weights"][1]:
            return np.ones(stop - start)
        weight: Array = self._read(self._place("weights") + start * 8, (stop - start,), np.dtype(np.float64))
        return weight

    def _place(self, part: str) -> int:
        return int(self.footer["places"][part][0])

    def _read(self, place: int, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array from the file. A file that has been cut short since it was opened is refused."""
        array: Any = np.empty(shape, dtype=dtype)
        if not read_whole(self._file, array, place):
            problem = "the cache of rows was cut short while it was in use"
            raise TableError(str(self.path), problem, "delete it, and run the fit again")
        return array
