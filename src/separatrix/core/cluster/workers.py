"""The rows that workers hold: where their blocks begin, how they are loaded, and the sums and samples over them.

A table is divided into chunks of consecutive rows, one for each worker. Blocks and strands are those of rows in memory,
so a strand may end in the chunk after the one in which it begins. The worker of the first of these chunks sums it, and
keeps a copy of the few rows of the other. A pass draws the numbers of the rows of a sample, and then only these rows
are fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.core.base.arrays import Integers
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import one_blas_thread, threads
from separatrix.core.cluster.connection import PassTraffic, WorkersReplaced, count_traffic, results, workers
from separatrix.core.rows.block import Block, as_csr, cuts, dense_edges, is_sparse
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.protocol import BLOCK_BYTES, Partial, merged, strand_totals, strands
from separatrix.core.rows.sampling import Lowest, LowestHashes, RareRows
from separatrix.core.rows.streamed import Piece
from separatrix.core.rows.targets import Coding

if TYPE_CHECKING:
    from separatrix.core.cluster.cluster_rows import ClusterRows, ClusterTable


# --- The strands that each worker sums


@dataclass(frozen=True)
class Share:
    """What chunk ``chunk`` sums: the blocks that begin at the rows ``edges``, of which ``runs`` are strands.

    The last of the edges is the row before which the last block ends. ``is_first``: the first of all strands is one.
    """

    chunk: int
    edges: Integers
    runs: tuple[slice, ...]
    is_first: bool


def chunk_edges(block_edges: Integers, shares: list[int]) -> list[int]:
    """Row numbers that divide all rows into chunks, in about the proportions ``shares``. Strands are not divided.

    There are fewer chunks than shares if there are fewer strands.

    >>> chunk_edges(np.arange(11), [1, 1]), chunk_edges(np.array([0, 10]), [1, 1])
    ([0, 5, 10], [0, 10])
    """
    ends = block_edges[[run.stop for run in strands(len(block_edges) - 1)]]
    wanted = np.cumsum(shares)[:-1] / sum(shares) * ends[-1]
    nearest = ends[np.abs(ends[:, None] - wanted).argmin(axis=0)]
    return sorted({0, *nearest.tolist(), int(ends[-1])})


def shared_out(block_edges: Integers, edges: list[int]) -> list[Share]:
    """The strands that each chunk sums: those that begin in it. The last of them may end in a later chunk.

    >>> [(share.chunk, share.edges.tolist()) for share in shared_out(np.array([0, 2, 4, 5]), [0, 3, 5])]
    [(0, [0, 2, 4]), (1, [4, 5])]
    """
    runs = list(strands(len(block_edges) - 1))
    firsts = np.searchsorted(block_edges[[run.start for run in runs]], edges).tolist()
    found = []
    for chunk, (first, last) in enumerate(pairwise(firsts)):
        if first < last:
            begin, stop = runs[first].start, runs[last - 1].stop
            own = tuple(slice(run.start - begin, run.stop - begin) for run in runs[first:last])
            found.append(Share(chunk, block_edges[begin : stop + 1], own, first == 0))
    return found


# --- What runs on workers


class Chunk:
    """Consecutive rows of a table, in pieces: X, class numbers, and weights as the user gave them.

    The pieces are views of the partitions, so partitions that are in a worker's memory are not copied. ``start`` is the
    number of the first row in the table.
    """

    def __init__(self, start: int, pieces: Sequence[Piece]) -> None:
        self.start, self.pieces = start, tuple(aligned(piece) for piece in pieces if len(piece.t))
        self._coded: tuple[str, tuple[Piece, ...]] = ("", ())

    @property
    def n_rows(self) -> int:
        return sum(len(piece.t) for piece in self.pieces)

    def entries(self) -> int:
        """The number of stored entries of CSR rows."""
        return sum(int(piece.X.nnz) for piece in self.pieces if is_sparse(piece.X))

    def between(self, begin: int, end: int) -> Chunk:
        """The rows of this chunk from ``begin`` to ``end`` (row numbers of the table), as views."""
        begin = max(begin, self.start)
        return Chunk(begin, _between(self.pieces, begin - self.start, end - self.start))

    def coded(self, name: str, coding: Coding) -> tuple[Piece, ...]:
        """The pieces with the targets and weights of a coding. Those of the last coding are cached under its name."""
        if self._coded[0] != name:
            pieces = (Piece(piece.X, *coding.of(piece.t, piece.weight)) for piece in self.pieces)
            self._coded = (name, tuple(pieces))
        return self._coded[1]

    def __getstate__(self) -> tuple[int, tuple[Piece, ...]]:
        return self.start, self.pieces

    def __setstate__(self, state: tuple[int, tuple[Piece, ...]]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __sizeof__(self) -> int:
        """The size in bytes, by which Dask decides where tasks run, with the targets and weights of a coding."""
        return sum(_bytes(piece) + 2 * piece.weight.nbytes for piece in self.pieces)


def aligned(piece: Piece) -> Piece:
    """The piece with arrays that are aligned in memory. Arrays that came from another worker may not be aligned.

    NumPy sums an array that is not aligned in another order, and compiled loops would be compiled again for it.
    """
    X, t, weight = piece.X, np.require(piece.t, requirements="A"), np.require(piece.weight, requirements="A")
    if not is_sparse(X):
        return Piece(np.require(X, requirements=["A", "C"]), t, weight)
    if all(part.flags.aligned for part in (X.data, X.indices, X.indptr)):
        return Piece(X, t, weight)
    return Piece(as_csr(X.copy()), t, weight)


def _bytes(piece: Piece) -> int:
    X = piece.X
    rows = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if is_sparse(X) else X.nbytes
    return int(rows) + piece.t.nbytes + piece.weight.nbytes


def _between(pieces: Sequence[Piece], begin: int, end: int) -> list[Piece]:
    """Rows begin, …, end − 1 of pieces, as views."""
    found, before = [], 0
    for piece in pieces:
        a, b = max(begin - before, 0), min(end - before, len(piece.t))
        if a < b:
            found.append(piece.between(a, b))
        before += len(piece.t)
    return found


@dataclass(frozen=True)
class Sum:
    """The task of a worker in a pass: to sum a partial over the strands of a share. ``name``: that of the coding."""

    partial: Partial[Any]
    frame: Frame
    coding: Coding
    name: str
    share: Share

    def over(self, chunks: Sequence[Chunk]) -> list[Any]:
        """The totals of the strands.

        They are merged into one total if they include the first strand of the table, since the totals of all strands
        are merged in order from the first one, or if the partial declares that it can be merged in any grouping.
        """
        rows = _Cutter(chunks[0].start, [piece for chunk in chunks for piece in chunk.coded(self.name, self.coding)])
        edges = self.share.edges.tolist()
        totals = strand_totals(self.share.runs, lambda k: rows.block(edges[k], edges[k + 1], self.frame), self.partial)
        if self.share.is_first or getattr(self.partial, "merges_exactly", False):
            return [merged(totals, self.partial)]
        return list(totals)


class _Cutter:
    """Cuts blocks out of consecutive pieces. ``start`` is the number of the first row."""

    def __init__(self, start: int, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self.edges: Integers = start + np.concatenate([[0], np.cumsum([len(piece.t) for piece in pieces])])

    def block(self, begin: int, end: int, frame: Frame) -> Block:
        first = int(np.searchsorted(self.edges, begin, "right")) - 1
        last = int(np.searchsorted(self.edges, end, "left"))
        before = int(self.edges[first])
        X, t, weight = Piece.joined(_between(self.pieces[first:last], begin - before, end - before))
        return Block(X, t, weight, begin, frame)


def gathered(start: int, begin: int, end: int, pieces: Sequence[Piece]) -> Chunk:
    """The chunk of the rows begin, …, end − 1, from pieces of which the first begins at row ``start``."""
    return Chunk(begin, _between(pieces, begin - start, end - start))


def rows_of(chunk: Chunk, begin: int, end: int) -> Piece:
    """Some rows of a chunk, with class numbers."""
    return Piece.joined(chunk.between(begin, end).pieces)


def taken(chunk: Chunk, numbers: Integers) -> Piece:
    """The rows of a chunk with these numbers (in increasing order)."""
    found, start = [], chunk.start
    for piece in chunk.pieces:
        some = numbers[np.searchsorted(numbers, start) : np.searchsorted(numbers, start + len(piece.t))] - start
        start += len(piece.t)
        if len(some):
            found.append(Piece(piece.X[some], piece.t[some], piece.weight[some]))
    return Piece.joined(found)


def places_of_entries(chunk: Chunk, size: int, entries: int) -> Integers:
    """The numbers of the rows of a chunk before which a block of CSR rows ends; ``entries`` precede the chunk."""
    found, rows = [], chunk.start
    for piece in chunk.pieces:
        X = piece.X
        found.append(rows + cuts(X, size, rows, entries))
        rows, entries = rows + X.shape[0], entries + int(X.nnz)
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def summed(order: bytes, *chunks: Chunk) -> bytes:
    """Run a pickled ``Sum`` over the rows of chunks, of which the first is this worker's, with the worker's threads."""
    from distributed import get_worker
    from distributed.protocol.pickle import dumps, loads

    with one_blas_thread, threads(get_worker().state.nthreads):
        asked: Sum = loads(order)
        answer: bytes = dumps(asked.over(chunks))
    return answer


# --- Loading and reading the rows that workers hold


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
        stop = int(share.edges[-1])
        key = (share.chunk, stop)
        if key not in self.heads:
            later = self.holding(self.edges[share.chunk + 1], stop)
            self.heads[key] = [self.submit(Chunk.between, *part) for part in later]
        return [self.chunks[share.chunk], *self.heads[key]]


@dataclass(eq=False)
class HeldRows:
    """The rows of a table in the memory of workers. ``now``: the chunks, which are made again if all workers are lost.

    After a time without any worker, Dask does not run tasks that have a preferred worker. This class handles that case.
    """

    table: ClusterTable
    now: Loaded

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
    def block_edges(self) -> Integers:
        """Where blocks begin and end. Workers compute it for CSR rows, from the number of entries before a chunk."""
        if not self.table.partitions.form.is_sparse:
            return np.array(dense_edges(self.n_rows, self.table.n_features, BLOCK_BYTES))
        while True:
            before = self.now
            entries = np.concatenate([[0], np.cumsum(self.results(lambda now: now.on_each(Chunk.entries)))]).tolist()

            def places(now: Loaded, entries: list[int] = entries) -> list[Any]:
                pairs = zip(now.chunks, entries, strict=False)
                return [now.submit(places_of_entries, chunk, BLOCK_BYTES, n) for chunk, n in pairs]

            found = self.results(places)
            if self.now is before:  # otherwise the chunks have been replaced in the meantime
                return np.unique(np.concatenate([[0], *found, [self.n_rows]])).astype(np.int64)

    def fetched(self, begin: int, end: int) -> Piece:
        """The rows begin, …, end − 1, with class numbers, in this process."""
        parts = self.results(lambda now: [now.submit(rows_of, *part) for part in now.holding(begin, end)])
        return Piece.joined(parts)

    def taken(self, numbers: Integers) -> Piece:
        """The rows with these numbers, which increase, with class numbers, in this process."""
        parts = self.results(lambda now: self._takers(now, numbers))
        count_traffic(PassTraffic("sampled rows", len(parts), numbers.nbytes, sum(map(_bytes, parts))))
        return Piece.joined(parts)

    def _takers(self, now: Loaded, numbers: Integers) -> list[Any]:
        """A task for each chunk that holds some of the numbers."""
        places = np.searchsorted(numbers, now.edges).tolist()
        pairs = zip(now.chunks, pairwise(places), strict=True)
        return [now.submit(taken, chunk, numbers[a:b]) for chunk, (a, b) in pairs if a < b]


def held(table: ClusterTable) -> HeldRows:
    """Let the workers load the rows of a table, and wait until they have done so."""
    rows = HeldRows(table, loaded(table))
    rows.results(lambda now: now.on_each(Chunk.entries))
    return rows


def loaded(table: ClusterTable) -> Loaded:
    """Tasks that load the partitions: each worker gets a run of consecutive rows, in proportion to its threads."""
    client = table.client
    there = workers(client)
    even = np.array(dense_edges(table.n_rows, table.n_features, BLOCK_BYTES))
    edges = chunk_edges(even, list(there.values()))
    starts = np.concatenate([[0], np.cumsum(table.survey.counts)])
    pieces = _pieces(table, starts, edges, list(there))
    chunks = []
    for (begin, end), worker in zip(pairwise(edges), there, strict=False):
        first = int(np.searchsorted(starts, begin, "right")) - 1
        last = int(np.searchsorted(starts, end, "left"))
        given = (int(starts[first]), begin, end, pieces[first:last])
        chunks.append(client.submit(gathered, *given, pure=False, workers=[worker], allow_other_workers=True))
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


# --- Samples


@dataclass
class SampledRows:
    """Provides the rows of a sample. ``kept`` are the rows that were fetched so far, by increasing number."""

    rows: ClusterRows
    numbers: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    kept: Piece | None = None

    @property
    def frame(self) -> Frame:
        return self.rows.frame

    def lowest(self, draw: LowestHashes) -> list[Lowest]:
        """The first draw: numbers and hashes, without the rows."""
        return self.rows.fold(draw)

    def rare(self, draw: RareRows) -> Integers:
        """The second draw: numbers, without the rows."""
        return self.rows.fold(draw)

    def framed_copy(self, numbers: Integers) -> Block:
        """Rows in the coordinates of the frame."""
        return self._block(numbers).framed_copy(np.searchsorted(self.numbers, numbers))

    def raw(self, numbers: Integers) -> Any:
        """The entries of rows in raw units."""
        X: Any = self._block(numbers).X
        return X[np.searchsorted(self.numbers, numbers)]

    def _block(self, numbers: Integers) -> Block:
        """Fetch the rows of ``numbers`` that are missing, and return all rows that are kept."""
        place = np.searchsorted(self.numbers, numbers)
        missing = numbers[np.append(self.numbers, -1)[place] != numbers]
        if len(missing):
            fetched = self.rows.taken(missing)
            every = np.concatenate([self.numbers, missing])
            order = np.argsort(every)
            if self.kept is not None:
                fetched = Piece(*(part[order] for part in Piece.joined([self.kept, fetched])))
            self.kept = fetched
            self.numbers = every[order]
        assert self.kept is not None
        return Block(*self.kept, 0, self.frame)
