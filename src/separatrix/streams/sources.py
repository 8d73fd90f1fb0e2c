"""The rows of a scan as ``Source``s for ``StreamedRows``: read again in every pass, or from the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.base.arrays import Integers, Matrix
from separatrix.base.cached import cached_property
from separatrix.base.errors import TableError
from separatrix.rows.coding import Coding
from separatrix.rows.streamed import Piece
from separatrix.streams.batches import Stamp
from separatrix.streams.cache_file import CacheFile
from separatrix.streams.table_parts import Part, PartTable

# Rows of the cache that are read at a time, in bytes, where they are read one after the other.
CACHED_PIECE_BYTES = 1 << 22


@dataclass(frozen=True)
class ReadRows:
    """The rows of a table, read from its source in every pass, with the targets and weights of a coding.

    ``parts`` gives the parts of the table with their class numbers. ``stamps``: those of its files when it was first
    read, with which every pass compares them.
    """

    table: PartTable
    parts: Callable[[], Iterator[tuple[Part, Integers]]]
    coding: Coding
    stamps: tuple[Stamp, ...]
    reads_ahead: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def n_features(self) -> int:
        return len(self.table.columns)

    @property
    def is_sparse(self) -> bool:
        return self.table.is_sparse

    def pieces(self) -> Iterator[Piece]:
        table = self.table
        for part, codes in self.parts():
            assert part.X is not None
            weight = np.ones(part.X.shape[0]) if part.weight is None else part.weight
            yield Piece(table.settled(part.X), *self.coding.of(codes, weight))
        refuse_changed(table, self.stamps)


def refuse_changed(table: PartTable, stamps: tuple[Stamp, ...]) -> None:
    """Raise an error if a file of the table no longer has its first stamp."""
    changed = next((new for old, new in zip(stamps, table.stamps, strict=True) if old != new), None)
    if changed is not None:
        problem = "it has changed since it was first read"
        raise TableError(changed.path, problem, "leave the file unchanged during a fit, and fit again")


@dataclass(frozen=True)
class CachedRows:
    """Dense rows in a cache, any of which can be read at any time."""

    name: str
    cache: CacheFile
    coding: Coding
    is_sparse: ClassVar[bool] = False
    reads_ahead: ClassVar[bool] = False

    @property
    def n_features(self) -> int:
        return len(self.cache.columns)

    @property
    def n_rows(self) -> int:
        return self.cache.n_rows

    def between(self, start: int, stop: int) -> Piece:
        """Rows start, …, stop − 1."""
        coded = self.coding.of(self.cache.codes(start, stop), self.cache.weights(start, stop))
        return Piece(self.cache.dense(start, stop), *coded)

    def pieces(self) -> Iterator[Piece]:
        return (self.between(start, stop) for start, stop in self._ranges())

    def matrices(self) -> Iterator[Matrix]:
        """X alone, in the same pieces."""
        return (self.cache.dense(start, stop) for start, stop in self._ranges())

    def _ranges(self) -> Iterator[tuple[int, int]]:
        size = max(1, CACHED_PIECE_BYTES // (8 * max(1, self.n_features)))
        return ((start, min(start + size, self.n_rows)) for start in range(0, self.n_rows, size))


@dataclass(frozen=True)
class CachedSparseRows:
    """CSR rows in a cache, in the pieces in which they were read first."""

    name: str
    cache: CacheFile
    coding: Coding
    is_sparse: ClassVar[bool] = True
    reads_ahead: ClassVar[bool] = False

    @property
    def n_features(self) -> int:
        return len(self.cache.columns)

    @cached_property
    def _edges(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.cache.chunks[:, 1])])

    def pieces(self) -> Iterator[Piece]:
        for k, (start, stop) in enumerate(zip(self._edges[:-1].tolist(), self._edges[1:].tolist(), strict=True)):
            coded = self.coding.of(self.cache.codes(start, stop), self.cache.weights(start, stop))
            yield Piece(self.cache.sparse(k), *coded)

    def matrices(self) -> Iterator[Matrix]:
        """X alone, in the same pieces."""
        return (self.cache.sparse(k) for k in range(len(self.cache.chunks)))
