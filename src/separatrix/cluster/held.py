"""The rows that workers hold: loading them, and the tasks that read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.cached import cached_property
from separatrix.cluster import chunk as tasks
from separatrix.cluster.connection import results, workers
from separatrix.cluster.cuts import Cuts, EvenCuts, ListedCuts, Share, chunk_edges, shared_out
from separatrix.rows.cutting import block_rows
from separatrix.rows.protocol import BLOCK_BYTES
from separatrix.rows.streamed import Piece

if TYPE_CHECKING:
    from separatrix.cluster.table import ClusterTable


@dataclass(frozen=True, eq=False)
class HeldRows:
    """The futures of the chunks. Chunk k holds the rows ``edges[k]``, …, ``edges[k + 1] − 1``."""

    client: Any
    name: str
    n_features: int
    is_sparse: bool
    edges: list[int]
    chunks: list[Any]
    known_cuts: dict[int, Cuts] = field(default_factory=dict)
    known_heads: dict[tuple[int, int], list[Any]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return self.edges[-1]

    def cuts(self, size: int) -> Cuts:
        """Where blocks of ``size`` bytes begin and end. For CSR rows, the workers are asked once for each size."""
        if size not in self.known_cuts:
            even = EvenCuts(block_rows(size, self.n_features), self.n_rows)
            self.known_cuts[size] = self._sparse_cuts(size) if self.is_sparse else even
        return self.known_cuts[size]

    def _sparse_cuts(self, size: int) -> ListedCuts:
        before = np.concatenate([[0], np.cumsum(self._entries)])[:-1].tolist()
        found = self._results(
            [self._submit(tasks.places, chunk, size, n) for chunk, n in zip(self.chunks, before, strict=True)]
        )
        edges = np.concatenate([[0], *found, [self.n_rows]])
        return ListedCuts(np.unique(edges).astype(np.int64))

    @cached_property
    def _entries(self) -> list[int]:
        return self._results([self._submit(tasks.entries_of, chunk) for chunk in self.chunks])

    def shares(self, size: int) -> list[Share]:
        """The strands that each chunk sums."""
        return shared_out(self.cuts(size), self.edges)

    def needed(self, share: Share) -> list[Any]:
        """The chunk of a share, and the rows of later chunks in which its last strand ends.

        These few rows are copied to the worker of the chunk once, and kept there.
        """
        key = (share.chunk, share.stop)
        if key not in self.known_heads:
            begin = self.edges[share.chunk + 1]
            later = self._between(begin, share.stop) if share.stop > begin else []
            self.known_heads[key] = [self._submit(tasks.head, self.chunks[k], a, b) for k, a, b in later]
        return [self.chunks[share.chunk], *self.known_heads[key]]

    def _between(self, begin: int, end: int) -> list[tuple[int, int, int]]:
        """The chunks that hold the rows begin, …, end − 1, each with the first and the last of them that it holds."""
        overlap = ((k, max(a, begin), min(b, end)) for k, (a, b) in enumerate(pairwise(self.edges)))
        return [(k, a, b) for k, a, b in overlap if a < b]

    def fetched(self, begin: int, end: int) -> Piece:
        """The rows begin, …, end − 1, with class numbers, in this process."""
        parts = self._results(
            [self._submit(tasks.rows_of, self.chunks[k], a, b) for k, a, b in self._between(begin, end)]
        )
        return tasks.joined([Piece(*part) for part in parts])

    def summed(self, orders: Sequence[bytes], shares: Sequence[Share]) -> list[bytes]:
        """The answers of the workers to orders, one task for each."""
        pairs = zip(orders, shares, strict=True)
        return self._results([self._submit(tasks.summed, order, *self.needed(share)) for order, share in pairs])

    def _submit(self, function: Any, *given: Any) -> Any:
        return self.client.submit(function, *given, pure=False)

    def _results(self, futures: list[Any]) -> list[Any]:
        return results(self.client, futures)


def load(table: ClusterTable) -> HeldRows:
    """Let the workers load the partitions, each worker a run of consecutive rows in proportion to its threads."""
    client, n, d = table.client, table.n_rows, table.n_features
    there = workers(client)
    edges = chunk_edges(EvenCuts(block_rows(BLOCK_BYTES, d), n), list(there.values()))
    starts = np.concatenate([[0], np.cumsum([part.n_rows for part in table.part_labels])])
    pieces = _pieces(table, starts, edges, list(there))
    chunks = []
    for (begin, end), worker in zip(pairwise(edges), there, strict=False):
        first = int(np.searchsorted(starts, begin, "right")) - 1
        last = int(np.searchsorted(starts, end, "left"))
        given = (int(starts[first]), begin, end, pieces[first:last])
        chunks.append(client.submit(tasks.gathered, *given, pure=False, workers=[worker], allow_other_workers=True))
    held = HeldRows(client, table.name, d, table.partitions.is_sparse, edges, chunks)
    held._results([held._submit(tasks.entries_of, chunk) for chunk in chunks])
    return held


def _pieces(table: ClusterTable, starts: Integers, edges: list[int], there: list[str]) -> list[Any]:
    """The futures of the pieces, each on the worker of the chunk in which the piece begins, if that worker is there."""
    every = table.partitions.pieces(table.classes)
    owner = np.minimum(np.searchsorted(edges, starts[:-1], "right") - 1, len(edges) - 2)
    found: list[Any] = []
    for k, worker in zip(range(len(edges) - 1), there, strict=False):
        mine = [every[i] for i in np.flatnonzero(owner == k)]
        found += table.client.compute(mine, workers=[worker], allow_other_workers=True) if mine else []
    return found


def spans(n_rows: int, size: int, most: int) -> Iterator[tuple[int, int]]:
    """Runs of rows that begin at multiples of ``size`` and have at most about ``most`` rows.

    >>> list(spans(10, 2, 5))
    [(0, 4), (4, 8), (8, 10)]
    """
    step = size * max(1, most // size)
    for begin in range(0, n_rows, step):
        yield begin, min(begin + step, n_rows)
