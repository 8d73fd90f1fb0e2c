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
