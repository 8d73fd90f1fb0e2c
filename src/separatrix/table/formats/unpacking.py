"""The bytes of a file or of memory, unpacked where gzip or Zstandard compressed them, as far as limits let them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from separatrix.table.formats.counted import HeldFile
from separatrix.table.formats.limits import USUAL, Limits

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
# Bytes that are read at once.
_PIECE = 1 << 20


class Content:
    r"""The bytes of a file, which is opened once, or of memory: they are read from the start as often as is asked.

    The file is opened when it is first read, and closed at the end of the ``with`` block.

    >>> with Content("a table", b"a,y\n1,u\n") as content:
    ...     content.compression, b"".join(content.pieces()), b"".join(content.pieces())
    (None, b'a,y\n1,u\n', b'a,y\n1,u\n')
    """

    def __init__(self, name: str, source: Path | bytes, limits: Limits = USUAL) -> None:
        self.name, self.source, self.limits = name, source, limits
        self._file: HeldFile | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            self._file.release()

    @property
    def compression(self) -> str | None:
        """How the bytes are compressed, by the first of them; None where they are not."""
        start = self.source[:4] if isinstance(self.source, bytes) else self._rewound(self.source).read(4)
        return next((how for magic, how in _COMPRESSED.items() if start.startswith(magic)), None)

    def stream(self) -> Any:
        """The bytes from the start, decompressed as far as the limits let them. One stream is read at a time."""
        compression: Any = self.compression
        raw: Any = pa.BufferReader(self.source) if isinstance(self.source, bytes) else self._rewound(self.source)
        stream = pa.input_stream(raw, compression=compression)
        if compression is None:
            return stream
        size = len(self.source) if isinstance(self.source, bytes) else raw.size
        return Unpacked(stream, self.name, size, self.limits)

    def pieces(self) -> Iterator[bytes]:
        """The unpacked bytes, a megabyte at a time."""
        with self.stream() as stream:
            yield from iter(lambda: stream.read(_PIECE), b"")

    def _rewound(self, path: Path) -> HeldFile:
        if self._file is None:
            self._file = HeldFile(path)
        self._file.seek(0)
        return self._file


class Unpacked(io.RawIOBase):
    """A stream of unpacked bytes that ends in an error where they are too many for the compressed size."""

    def __init__(self, stream: Any, source: str, size: int, limits: Limits) -> None:
        super().__init__()
        self.stream, self.source, self.size, self.limits, self.count = stream, source, size, limits, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes; all of them, if no size is given."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_PIECE), b""))
        found: bytes = self.stream.read(size)
        self.count += len(found)
        self.limits.refuse_unpacked(self.source, self.size, self.count)
        return found

    def readinto(self, buffer: Any, /) -> int:
        """The next bytes, into a buffer."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Close what is unpacked, too."""
        self.stream.close()
        super().close()
