"""A file that tells whoever watches how much of it has been read: of a compressed one, of its compressed bytes."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

from separatrix.base.watching import Amount, Stage, watched

# Bytes in a unit that is told.
MEGA = 1e6


class Counted(io.FileIO):
    """Told by the thread that reads, which may be one of Arrow's; the watcher is that of the thread that opened it."""

    def __init__(self, path: Path, told: Callable[[Stage], None]) -> None:
        super().__init__(path, "rb")
        self.told, self.total = told, os.fstat(self.fileno()).st_size / MEGA

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
        self.told(Amount("MB", self.tell() / MEGA, self.total))


def counted(path: Path) -> Counted | None:
    """The file, open, where somebody watches; None where nobody does, and the reader may open it in its own way.

    >>> counted(Path("rows.csv")) is None
    True
    """
    told = watched()
    return None if told is None else Counted(path, told)
