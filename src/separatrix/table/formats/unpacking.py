"""The bytes of a file or of memory, unpacked where gzip or Zstandard compressed them, as far as limits let them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from separatrix.table.formats.counted import counted
from separatrix.table.formats.limits import Limits

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
# Bytes that are read at once.
_PIECE = 1 << 20


def opened(name: str, content: Path | bytes, limits: Limits) -> Any:
    """The bytes as a stream, decompressed where their first ones say so, as far as the limits let them."""
    compression: Any = packed(content)
    raw: Any = pa.BufferReader(content) if isinstance(content, bytes) else counted(content) or str(content)
    stream = pa.input_stream(raw, compression=compression)
    if compression is None:
        return stream
    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    return Unpacked(stream, name, size, limits)


def packed(content: Path | bytes) -> str | None:
    r"""How the bytes are compressed, by the first of them; None where they are not.

    >>> packed(b"\x1f\x8b\x08\x00"), packed(b"a,y\n")
    ('gzip', None)
    """
    if isinstance(content, bytes):
        start = content[:4]
    else:
        with content.open("rb") as file:
            start = file.read(4)
    return next((how for magic, how in _COMPRESSED.items() if start.startswith(magic)), None)


def pieces(name: str, content: Path | bytes, limits: Limits) -> Iterator[bytes]:
    """The unpacked bytes, a megabyte at a time."""
    with opened(name, content, limits) as stream:
        yield from iter(lambda: stream.read(_PIECE), b"")


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
