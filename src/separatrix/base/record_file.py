"""A file of records that is only ever appended to, and that survives the death of its writer at any moment.

    a line with the name of the format and its version
    for each record: its length (8 bytes), a digest (32 bytes), and its bytes

The digest is SHA-256 of the digest of the record before and of the record itself, so a record that was changed, moved
or removed is noticed. Every record is forced to the disk before ``append`` returns. A writer that is killed leaves at
most one incomplete record, at the end, which is cut off when the file is opened again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from separatrix.base.atomic_files import replace_file
from separatrix.base.errors import ParameterError

_LENGTH_BYTES, _DIGEST_BYTES = 8, 32


class Place(NamedTuple):
    """Where the bytes of a record are in the file."""

    start: int
    size: int


class RecordFile:
    """The records of a file, which one process at a time may append to. Errors name the argument ``argument``."""

    def __init__(self, path: str | os.PathLike[str], argument: str, form: str, version: int) -> None:
        self.path, self.argument = Path(path), argument
        self.head = f"{form} {version}\n".encode()
        self._form, self._version = form, version
        self._digest = hashlib.sha256(self.head).digest()
        self._file: BinaryIO | None = None

    def create(self) -> None:
        """Write a file without records in place of any other."""
        try:
            replace_file(self.path, self.head)
        except ParameterError as error:
            raise ParameterError(self.argument, error.problem, error.remedy) from error
        self._opened()

    def open(self) -> Iterator[tuple[Place, bytes]]:
        """Open the file and read all records, each after its digest was checked. Then records can be appended."""
        file = self._opened()
        self._refuse_other_formats(file.readline(len(self.head) + 16))
        end = file.seek(0, os.SEEK_END)
        start = file.seek(len(self.head))
        while start < end:
            head = file.read(_LENGTH_BYTES + _DIGEST_BYTES)
            size = int.from_bytes(head[:_LENGTH_BYTES], "little")
            place = Place(start + len(head), size)
            content = (
                file.read(size) if len(head) == _LENGTH_BYTES + _DIGEST_BYTES and place.start + size <= end else b""
            )
            digest = self._after(content)
            if len(content) < size or digest != head[_LENGTH_BYTES:]:
                if place.start + size < end:  # It is not the last record, so its writer had finished it.
                    raise self._fault("its checksum is wrong: it was altered or damaged since it was written")
                file.truncate(start)
                break
            self._digest, start = digest, place.start + size
            yield place, content
        file.seek(0, os.SEEK_END)

    def append(self, content: bytes) -> Place:
        """Add a record.

        Raises a ParameterError if it cannot be written. The file is closed then, and another ``RecordFile`` can read
        the records before it.
        """
        file, digest = self._held(), self._after(content)
        start = file.seek(0, os.SEEK_END)
        try:
            file.write(b"".join([len(content).to_bytes(_LENGTH_BYTES, "little"), digest, content]))
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise self._fault(f"it cannot be written ({error.strerror})", "make room, and resume from it") from error
        self._digest = digest
        return Place(start + _LENGTH_BYTES + _DIGEST_BYTES, len(content))

    def read(self, place: Place) -> bytes:
        """The bytes of a record."""
        file = self._held()
        file.seek(place.start)
        return file.read(place.size)

    def close(self) -> None:
        """Close the file, so that another process may append to it."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _after(self, content: bytes) -> bytes:
        return hashlib.sha256(self._digest + content).digest()

    def _held(self) -> BinaryIO:
        if self._file is None:
            problem = f"{str(self.path)!r}: it was closed after an error"
            raise ParameterError(self.argument, problem, "leave this block, and resume from the file in a new one")
        return self._file

    def _opened(self) -> BinaryIO:
        try:
            self._file = open(self.path, "r+b")  # noqa: SIM115  # close() closes it
        except OSError as error:
            raise self._fault(f"it cannot be opened ({error.strerror})") from error
        self._lock(self._file)
        return self._file

    def _lock(self, file: BinaryIO) -> None:
        """Refuse a file that another process has open. The lock ends with the process, also if that is killed."""
        with suppress(ImportError):  # Windows has no fcntl, and no lock here.
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self.close()
                problem = f"another process is writing to {str(self.path)!r}"
                raise ParameterError(self.argument, problem, "wait for it, or give another file") from None

    def _refuse_other_formats(self, line: bytes) -> None:
        name, _, version = line.strip().rpartition(b" ")
        if name != self._form.encode() or not version.isdigit():
            raise self._fault(f"it is not a file of the form {self._form!r}")
        if int(version) > self._version:
            problem = f"its version is {int(version)}, and this separatrix reads versions up to {self._version}"
            raise self._fault(problem, "install a newer separatrix, or give another file")

    def _fault(self, problem: str, remedy: str = "give another file, or remove it to start again") -> ParameterError:
        with suppress(OSError):  # closing writes the rest of a record again, which the disk may have no room for
            self.close()
        return ParameterError(self.argument, f"{str(self.path)!r}: {problem}", remedy)
