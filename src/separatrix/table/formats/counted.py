"""A file that is opened once, can be read several times, and reports how much of it has been read.

For a compressed file, the compressed bytes are reported.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

from separatrix.base.watching import Amount, watched

# Progress is reported in megabytes.
BYTES_PER_MB = 1e6


class HeldFile(io.FileIO):
    """A file that reports its progress to the watcher of the thread that opened it.

    The thread that reads may be one of Arrow's. Readers close the file when they are done; here ``close`` does nothing,
    so that the next reader can use it, and ``release`` closes it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._watcher, self.size = watched(), os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        result = super().read(-1 if size is None else size)
        self._tell()
        return result

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """The next bytes, into a buffer."""
        result = super().readinto(buffer)
        self._tell()
        return result

    def _tell(self) -> None:
        if self._watcher is not None:
            self._watcher(Amount("MB", self.tell() / BYTES_PER_MB, self.size / BYTES_PER_MB))

    def close(self) -> None:
        """Do nothing: another reader may follow."""

    def release(self) -> None:
        """Close the file."""
        super().close()


class HeldSpan(HeldFile):
    """The bytes of a file from ``begin`` up to ``end``, as if they were a file of their own."""

    def __init__(self, path: Path, begin: int, end: int) -> None:
        super().__init__(path)
        self._begin, self._end, self.size = begin, end, end - begin
        self.seek(0)

    def seek(self, place: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to a place in the span."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self.size}[whence]
        return super().seek(self._begin + origin + place) - self._begin

    def tell(self) -> int:
        """The place in the span."""
        return super().tell() - self._begin

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes of the span."""
        left = max(0, self.size - self.tell())
        return super().read(left if size is None or size < 0 else min(size, left))

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """The next bytes of the span, into a buffer."""
        return super().readinto(memoryview(buffer)[: max(0, self.size - self.tell())])
