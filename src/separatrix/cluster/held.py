"""The rows that workers hold: loading them, and the tasks that read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.cached import cached_property
from separatrix.cluster import chunk as tasks
from separatrix.cluster.connection import WorkersReplaced, results, workers
from separatrix.cluster.cuts import Cuts, EvenCuts, ListedCuts, Share, chunk_edges, shared_out
from separatrix.cluster.traffic import PassTraffic, count_traffic
from separatrix.rows.cutting import block_rows
from separatrix.rows.protocol import BLOCK_BYTES
from separatrix.rows.streamed import Piece

if TYPE_CHECKING:
    from separatrix.cluster.cluster_table import ClusterTable


@dataclass(frozen=True, eq=False)
class Loaded:
    """The chunks of a table as tasks of Dask. Chunk k holds the rows ``edges[k]``, …, ``edges[k + 1] − 1``.

    ``there``: the worker for which each chunk was made. If one of them is lost, Dask loads its chunk again on another
    worker. ``heads``: rows at the beginning of later chunks that a chunk needs for its last strand.
    """

    client: Any
    edges: list[int]
    chunks: list[Any]
    there: frozenset[str]
    heads: dict[tuple[int, int], list[Any]] = field(default_factory=dict)

    def submit(self, function: Any, *given: Any) -> Any:
        """A task, whose arguments may be chunks."""
        return self.client.submit(function, *given, pure=False)

    def on_each(self, function: Any) -> list[Any]:
        """A task for each chunk."""
        return [self.submit(function, chunk) for chunk in self.chunks]

    def holding(self, begin: int, end: int) -> list[tuple[Any, int, int]]:
        """The chunks that hold the rows begin, …, end − 1, each with the first and the last of them that it holds."""
        overlap = ((k, max(a, begin), min(b, end)) for k, (a, b) in enumerate(pairwise(self.edges)))
        return [(self.chunks[k], a, b) for k, a, b in overlap if a < b]

    def needed(self, share: Share) -> list[Any]:
        """The chunk of a share, and the rows of later chunks in which its last strand ends.

        These few rows are copied to the worker of the chunk once, and kept there.
        """
        key = (share.chunk, share.stop)
        if key not in self.heads:
            later = self.holding(self.edges[share.chunk + 1], share.stop)
            self.heads[key] = [self.submit(tasks.head, *part) for part in later]
        return [self.chunks[share.chunk], *self.heads[key]]


@dataclass(eq=False)
class HeldRows:
    """The rows of a table in the memory of workers. ``now``: the chunks, which are made again if all workers are lost.

    After a time without any worker, Dask does not run tasks that have a preferred worker. This class handles that case.
    """

    table: ClusterTable
    now: Loaded

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def n_features(self) -> int:
        return self.table.n_features

    @property
    def is_sparse(self) -> bool:
        return self.table.partitions.is_sparse

    @property
    def n_rows(self) -> int:
        return self.now.edges[-1]

    def results(self, submit: Callable[[Loaded], list[Any]]) -> list[Any]:
        """The results of the tasks that ``submit`` returns for the current chunks."""
        while True:
            try:
                return results(self.table.client, submit(self.now), self.now.there)
            except WorkersReplaced:
                self.now = loaded(self.table)

    @cached_property
    def cuts(self) -> Cuts:
        """Where blocks begin and end. For CSR rows, the workers compute it."""
        return self._sparse_cuts() if self.is_sparse else _even_cuts(self.n_features, self.n_rows)

    def _sparse_cuts(self) -> ListedCuts:
        """The cuts of CSR rows, which depend on the number of entries before a chunk."""
        while True:
            before = self.now
            entries = np.concatenate([[0], np.cumsum(self.results(lambda now: now.on_each(tasks.entries_of)))]).tolist()

            def places(now: Loaded, entries: list[int] = entries) -> list[Any]:
                pairs = zip(now.chunks, entries, strict=False)
                return [now.submit(tasks.places, chunk, BLOCK_BYTES, n) for chunk, n in pairs]

            found = self.results(places)
            if self.now is before:  # otherwise the chunks have been replaced in the meantime
                return ListedCuts(np.unique(np.concatenate([[0], *found, [self.n_rows]])).astype(np.int64))

    def shares(self) -> list[Share]:
        """The strands that each chunk sums."""
        return shared_out(self.cuts, self.now.edges)

    def fetched(self, begin: int, end: int) -> Piece:
        """The rows begin, …, end − 1, with class numbers, in this process."""
        parts = self.results(lambda now: [now.submit(tasks.rows_of, *part) for part in now.holding(begin, end)])
        return tasks.joined([Piece(*part) for part in parts])

    def taken(self, numbers: Integers) -> Piece:
        """The rows with these numbers, which increase, with class numbers, in this process."""
        parts = self.results(lambda now: self._takers(now, numbers))
        count_traffic(PassTraffic("sampled rows", len(parts), numbers.nbytes, sum(part.nbytes for part in parts)))
        return tasks.joined([Piece(*part.rows) for part in parts])

    def _takers(self, now: Loaded, numbers: Integers) -> list[Any]:
        """A task for each chunk that holds some of the numbers."""
        places = np.searchsorted(numbers, now.edges).tolist()
        pairs = zip(now.chunks, pairwise(places), strict=True)
        return [now.submit(tasks.taken, chunk, numbers[a:b]) for chunk, (a, b) in pairs if a < b]


def _even_cuts(n_features: int, n_rows: int) -> EvenCuts:
    """The blocks of dense rows."""
    return EvenCuts(block_rows(BLOCK_BYTES, n_features), n_rows)


def held(table: ClusterTable) -> HeldRows:
    """Let the workers load the rows of a table, and wait until they have done so."""
    rows = HeldRows(table, loaded(table))
    rows.results(lambda now: now.on_each(tasks.entries_of))
    return rows


def loaded(table: ClusterTable) -> Loaded:
    """Tasks that load the partitions: each worker gets a run of consecutive rows, in proportion to its threads."""
    client = table.client
    there = workers(client)
    edges = chunk_edges(_even_cuts(table.n_features, table.n_rows), list(there.values()))
    starts = np.concatenate([[0], np.cumsum(table.survey.counts)])
    pieces = _pieces(table, starts, edges, list(there))
    chunks = []
    for (begin, end), worker in zip(pairwise(edges), there, strict=False):
        first = int(np.searchsorted(starts, begin, "right")) - 1
        last = int(np.searchsorted(starts, end, "left"))
        given = (int(starts[first]), begin, end, pieces[first:last])
        chunks.append(client.submit(tasks.gathered, *given, pure=False, workers=[worker], allow_other_workers=True))
    return Loaded(client, edges, chunks, frozenset(there))


def _pieces(table: ClusterTable, starts: Integers, edges: list[int], there: list[str]) -> list[Any]:
    """The futures of the pieces. Files are read by the worker of the chunk in which a piece begins, if it is connected.

    The tasks of Dask collections run where Dask schedules them: they belong to the user, and their results may already
    be in the memory of some worker.
    """
    every, client = table.partitions.pieces(table.classes), table.client
    if not table.partitions.are_files:
        computed: list[Any] = client.compute(every)
        return computed
    owner = np.minimum(np.searchsorted(edges, starts[:-1], "right") - 1, len(edges) - 2)
    found: list[Any] = []
    for k, worker in zip(range(len(edges) - 1), there, strict=False):
        mine = [every[i] for i in np.flatnonzero(owner == k)]
        found += client.compute(mine, workers=[worker], allow_other_workers=True) if mine else []
    return found
