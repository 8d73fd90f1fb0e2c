"""The bytes of a file or of memory, decompressed (gzip, Zstandard) within the limits."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

import pyarrow as pa

from separatrix.table.formats.counted import HeldFile
from separatrix.table.formats.lending import Lent
from separatrix.table.formats.limits import DEFAULT_LIMITS, Limits

T = TypeVar("T")

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
# Files are read in pieces of this many bytes.
PIECE_BYTES = 1 << 20


class Content:
    r"""The bytes of a file or of memory, which can be read from the start several times.

    A file is opened when it is first read, and closed at the end of the ``with`` block. ``opened(path)`` opens it, as
    ``HeldFile`` does on the local disk.

    >>> with Content("a table", b"a,y\n1,u\n") as content:
    ...     content.compression, b"".join(content.pieces()), b"".join(content.pieces())
    (None, b'a,y\n1,u\n', b'a,y\n1,u\n')
    """

    def __init__(
        self,
        name: str,
        source: Path | bytes,
        limits: Limits = DEFAULT_LIMITS,
        opened: Callable[[Path], Any] = HeldFile,
    ) -> None:
        self.name, self.source, self.limits, self._opened = name, source, limits, opened
        self._file: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            self._file.release()

    @property
    def compression(self) -> str | None:
        """The compression that the first bytes show, or None."""
        start = self.source[:4] if isinstance(self.source, bytes) else self._rewound(self.source).read(4)
        return next((how for magic, how in _COMPRESSED.items() if start.startswith(magic)), None)

    def stream(self) -> Any:
        """The decompressed bytes from the start. Only one stream may be read at a time."""
        compression: Any = self.compression
        raw: Any = pa.BufferReader(self.source) if isinstance(self.source, bytes) else self._rewound(self.source)
        stream = pa.input_stream(raw, compression=compression)
        if compression is None:
            return stream
        size = len(self.source) if isinstance(self.source, bytes) else raw.size
        return Unpacked(stream, self.name, size, self.limits)

    def parsed(self, parse: Callable[[Any], T], *callbacks: Any) -> T:
        """The result of a function of ``stream`` that reads it in Arrow's threads, after these have released it.

        ``callbacks`` are the other objects that the function lends to these threads.
        """
        held = self.source if isinstance(self.source, bytes) else self._rewound(self.source)
        with Lent(held, *callbacks):
            stream = self.stream()
            try:
                return parse(stream)
            finally:
                stream.close()
                del stream

    def pieces(self) -> Iterator[bytes]:
        """The unpacked bytes, a megabyte at a time."""
        with self.stream() as stream:
            yield from iter(lambda: stream.read(PIECE_BYTES), b"")

    def _rewound(self, path: Path) -> Any:
        if self._file is None:
            self._file = self._opened(path)
        self._file.seek(0)
        return self._file


class Unpacked(io.RawIOBase):
    """A stream of decompressed bytes that raises an error if they exceed the limits."""

    def __init__(self, stream: Any, source: str, size: int, limits: Limits) -> None:
        super().__init__()
        self.stream, self.source, self.size, self.limits, self.count = stream, source, size, limits, 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes; all of them if no size is given."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(PIECE_BYTES), b""))
        piece: bytes = self.stream.read(size)
        self.count += len(piece)
        self.limits.refuse_unpacked(self.source, self.size, self.count)
        return piece

    def readinto(self, buffer: Any, /) -> int:
        """The next bytes, into a buffer."""
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close this stream and the compressed one."""
        self.stream.close()
        super().close()
