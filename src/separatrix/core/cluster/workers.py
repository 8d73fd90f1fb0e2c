"""The rows that workers hold: where their blocks begin, how they are loaded, and the sums and samples over them.

A table is divided into chunks of consecutive rows, one for each worker. Blocks and strands are those of rows in memory,
so a strand may end in the chunk after the one in which it begins. The worker of the first of these chunks sums it, and
keeps a copy of the few rows of the other. A pass draws the numbers of the rows of a sample, and then only these rows
are fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from separatrix.core.base.arrays import Array, Integers, pieces
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import in_order, one_blas_thread, threads
from separatrix.core.cluster.connection import PassTraffic, WorkersReplaced, count_traffic, results, workers
from separatrix.core.rows.block import Block, as_csr, block_rows, is_sparse
from separatrix.core.rows.block import cuts as sparse_cuts
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.protocol import BLOCK_BYTES, Partial, strands
from separatrix.core.rows.sampling import Lowest, LowestHashes, RareRows
from separatrix.core.rows.streamed import Piece
from separatrix.core.rows.targets import Coding

if TYPE_CHECKING:
    from separatrix.core.cluster.cluster_rows import ClusterRows, ClusterTable


# --- Where blocks begin and end, in a form that is small enough to be sent in every pass


@dataclass(frozen=True)
class EvenCuts:
    """Blocks of ``size`` rows each, as dense rows have them.

    >>> cuts = EvenCuts(4, 10)
    >>> cuts.n_blocks, [cuts.edge(k) for k in range(4)]
    (3, [0, 4, 8, 10])
    """

    size: int
    n_rows: int

    @property
    def n_blocks(self) -> int:
        return -(-self.n_rows // self.size)

    def edge(self, block: int) -> int:
        """The row at which a block begins; the number of rows for ``n_blocks``."""
        return min(block * self.size, self.n_rows)

    def only(self, first: int, last: int) -> EvenCuts:
        """The part of the cuts that is needed for the blocks first, …, last − 1."""
        return self


@dataclass(frozen=True)
class ListedCuts:
    """Blocks of different lengths, as CSR rows have them: block ``offset + k`` begins at row ``edges[k]``."""

    edges: Integers
    offset: int = 0

    @property
    def n_blocks(self) -> int:
        return self.offset + len(self.edges) - 1

    def edge(self, block: int) -> int:
        return int(self.edges[block - self.offset])

    def only(self, first: int, last: int) -> ListedCuts:
        return ListedCuts(self.edges[first - self.offset : last - self.offset + 1], first)


# The edges of the blocks of all rows. They are the same as for rows in memory (``core.rows.block``).
Cuts: TypeAlias = EvenCuts | ListedCuts


@dataclass(frozen=True)
class Share:
    """The strands first, …, last − 1, which chunk ``chunk`` sums, and the row before which the last of them ends."""

    chunk: int
    first: int
    last: int
    stop: int


def chunk_edges(cuts: Cuts, shares: list[int]) -> list[int]:
    """Row numbers that divide all rows into chunks, in about the proportions ``shares``. Strands are not divided.

    There are fewer chunks than shares if there are fewer strands.

    >>> chunk_edges(EvenCuts(1, 10), [1, 1]), chunk_edges(EvenCuts(10, 10), [1, 1])
    ([0, 5, 10], [0, 10])
    """
    ends = np.array([cuts.edge(run.stop) for run in strands(cuts.n_blocks)])
    wanted = np.cumsum(shares)[:-1] / sum(shares) * ends[-1]
    nearest = ends[np.abs(ends[:, None] - wanted).argmin(axis=0)]
    return sorted({0, *nearest.tolist(), int(ends[-1])})


def shared_out(cuts: Cuts, edges: list[int]) -> list[Share]:
    """The strands that each chunk sums: those that begin in it. The last of them may end in a later chunk.

    >>> shared_out(EvenCuts(2, 5), [0, 3, 5])
    [Share(chunk=0, first=0, last=2, stop=4), Share(chunk=1, first=2, last=3, stop=5)]
    """
    runs = list(strands(cuts.n_blocks))
    begins = np.array([cuts.edge(run.start) for run in runs])
    firsts = np.searchsorted(begins, edges).tolist()
    return [
        Share(chunk, first, last, cuts.edge(runs[last - 1].stop))
        for chunk, (first, last) in enumerate(pairwise(firsts))
        if first < last
    ]


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

    @property
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
    """The task of a worker in a pass: to sum a partial over the strands first, …, last − 1.

    ``cuts`` covers the blocks of these strands; ``n_blocks`` is the number of all blocks of the table. ``name`` is the
    name of the coding.
    """

    partial: Partial[Any]
    frame: Frame
    coding: Coding
    name: str
    cuts: Cuts
    n_blocks: int
    first: int
    last: int

    def over(self, chunks: Sequence[Chunk]) -> list[Any]:
        """The totals of the strands.

        They are merged into one total if they include the first strand of the table, since the totals of all strands
        are merged in order from the first one, or if the partial declares that it can be merged in any grouping.
        """
        rows = _Cutter(chunks[0].start, [piece for chunk in chunks for piece in chunk.coded(self.name, self.coding)])

        def strand(run: slice) -> Any:
            total = self.partial.zero()
            for k in range(run.start, run.stop):
                block = rows.block(self.cuts.edge(k), self.cuts.edge(k + 1), self.frame)
                total = self.partial.add(total, block)
            return total

        parts = in_order(strand, islice(strands(self.n_blocks), self.first, self.last))
        if self.first > 0 and not getattr(self.partial, "merges_exactly", False):
            return list(parts)
        total = next(parts)
        for part in parts:
            total = self.partial.merge(total, part)
        return [total]


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


def head(chunk: Chunk, begin: int, end: int) -> Chunk:
    """Some rows of a chunk, for the worker of another one, in which the last strand begins."""
    return chunk.between(begin, end)


def rows_of(chunk: Chunk, begin: int, end: int) -> tuple[Any, Integers, Array]:
    """X, class numbers and weights of some rows of a chunk."""
    X, codes, weight = Piece.joined(chunk.between(begin, end).pieces)
    return X, codes, weight


class Taken(NamedTuple):
    """X, class numbers and weights of rows, and their size in bytes."""

    rows: tuple[Any, Integers, Array]
    nbytes: int


def taken(chunk: Chunk, numbers: Integers) -> Taken:
    """The rows of a chunk with these numbers (in increasing order)."""
    found, start = [], chunk.start
    for piece in chunk.pieces:
        some = numbers[np.searchsorted(numbers, start) : np.searchsorted(numbers, start + len(piece.t))] - start
        start += len(piece.t)
        if len(some):
            found.append(Piece(piece.X[some], piece.t[some], piece.weight[some]))
    whole = Piece.joined(found)
    return Taken((whole.X, whole.t, whole.weight), _bytes(whole))


def entries_of(chunk: Chunk) -> int:
    """The number of stored entries of CSR rows."""
    return chunk.entries


def places_of_entries(chunk: Chunk, size: int, entries: int) -> Integers:
    """The numbers of the rows of a chunk before which a block of CSR rows ends; ``entries`` precede the chunk."""
    found, rows = [], chunk.start
    for piece in chunk.pieces:
        X = piece.X
        found.append(rows + sparse_cuts(X, size, rows, entries))
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
        key = (share.chunk, share.stop)
        if key not in self.heads:
            later = self.holding(self.edges[share.chunk + 1], share.stop)
            self.heads[key] = [self.submit(head, *part) for part in later]
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
            entries = np.concatenate([[0], np.cumsum(self.results(lambda now: now.on_each(entries_of)))]).tolist()

            def places(now: Loaded, entries: list[int] = entries) -> list[Any]:
                pairs = zip(now.chunks, entries, strict=False)
                return [now.submit(places_of_entries, chunk, BLOCK_BYTES, n) for chunk, n in pairs]

            found = self.results(places)
            if self.now is before:  # otherwise the chunks have been replaced in the meantime
                return ListedCuts(np.unique(np.concatenate([[0], *found, [self.n_rows]])).astype(np.int64))

    def shares(self) -> list[Share]:
        """The strands that each chunk sums."""
        return shared_out(self.cuts, self.now.edges)

    def fetched(self, begin: int, end: int) -> Piece:
        """The rows begin, …, end − 1, with class numbers, in this process."""
        parts = self.results(lambda now: [now.submit(rows_of, *part) for part in now.holding(begin, end)])
        return Piece.joined([Piece(*part) for part in parts])

    def taken(self, numbers: Integers) -> Piece:
        """The rows with these numbers, which increase, with class numbers, in this process."""
        parts = self.results(lambda now: self._takers(now, numbers))
        count_traffic(PassTraffic("sampled rows", len(parts), numbers.nbytes, sum(part.nbytes for part in parts)))
        return Piece.joined([Piece(*part.rows) for part in parts])

    def _takers(self, now: Loaded, numbers: Integers) -> list[Any]:
        """A task for each chunk that holds some of the numbers."""
        places = np.searchsorted(numbers, now.edges).tolist()
        pairs = zip(now.chunks, pairwise(places), strict=True)
        return [now.submit(taken, chunk, numbers[a:b]) for chunk, (a, b) in pairs if a < b]


def _even_cuts(n_features: int, n_rows: int) -> EvenCuts:
    """The blocks of dense rows."""
    return EvenCuts(block_rows(BLOCK_BYTES, n_features), n_rows)


def held(table: ClusterTable) -> HeldRows:
    """Let the workers load the rows of a table, and wait until they have done so."""
    rows = HeldRows(table, loaded(table))
    rows.results(lambda now: now.on_each(entries_of))
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


@dataclass(frozen=True)
class FetchedRows:
    """A ``Source`` of the rows that workers hold, with the targets and weights of a coding.

    This process reads them in order, for methods that need batches of rows.
    """

    held: HeldRows = field(repr=False)
    coding: Coding
    reads_ahead: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.held.name

    @property
    def n_features(self) -> int:
        return self.held.n_features

    @property
    def is_sparse(self) -> bool:
        return self.held.is_sparse

    def pieces(self) -> Iterator[Piece]:
        """All rows in order, eight blocks at a time, which have about 32 megabytes."""
        cuts = self.held.cuts
        for run in pieces(cuts.n_blocks, 8):
            X, codes, weight = aligned(self.held.fetched(cuts.edge(run.start), cuts.edge(run.stop)))
            yield Piece(X, *self.coding.of(codes, weight))


# --- Samples

A = TypeVar("A")


@dataclass(frozen=True)
class MergedByWorkers(Generic[A]):
    """A sum whose totals can be merged in any grouping with the same result, such as a draw of rows.

    A worker merges the totals of its strands before it sends them. Otherwise each strand of a draw would send as
    many numbers as the whole draw.
    """

    partial: Partial[A]
    merges_exactly: ClassVar[bool] = True

    def zero(self) -> A:
        return self.partial.zero()

    def add(self, total: A, block: Block) -> A:
        return self.partial.add(total, block)

    def merge(self, a: A, b: A) -> A:
        return self.partial.merge(a, b)


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
        return self.rows.fold(MergedByWorkers(draw))

    def rare(self, draw: RareRows) -> Integers:
        """The second draw: numbers, without the rows."""
        return self.rows.fold(MergedByWorkers(draw))

    def written_out(self, numbers: Integers) -> Block:
        """Rows in the coordinates of the frame."""
        return self._block(numbers).written_out(np.searchsorted(self.numbers, numbers))

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
