"""A file that is opened once, read several times, and tells whoever watches how much of it has been read.

Of a compressed file the compressed bytes are told.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

from separatrix.base.watching import Amount, watched

# Bytes in a unit that is told.
MEGA = 1e6


class HeldFile(io.FileIO):
    """Told by the thread that reads, which may be one of Arrow's; the watcher is that of the thread that opened it.

    A reader closes what it has read. Here that leaves the file open for the next reader; ``release`` closes it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self.told, self.size = watched(), os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        found = super().read(-1 if size is None else size)
        self._tell()
        return found

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """The next bytes, into a buffer."""
        found = super().readinto(buffer)
        self._tell()
        return found

    def _tell(self) -> None:
        if self.told is not None:
            self.told(Amount("MB", self.tell() / MEGA, self.size / MEGA))

    def close(self) -> None:
        """Nothing: another reader may follow."""

    def release(self) -> None:
        """Close the file."""
        super().close()
