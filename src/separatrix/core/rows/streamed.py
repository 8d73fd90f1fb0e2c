"""Rows that are read again in every pass, because they do not fit into memory.

The rows are cut into the same blocks as rows in memory, the blocks are summed in the same strands, and samples are
drawn by the numbers of the rows. So a fit gives the same bits as in memory, as long as the solver reads rows by
``fold`` and ``sample`` alone. For methods that need rows in random order, they are shuffled within a buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers, pieces
from separatrix.core.base.errors import TableError
from separatrix.core.base.machine import read_ahead
from separatrix.core.rows import sampling
from separatrix.core.rows.block import Block, csr_rows, cuts, dense_edges, is_sparse, joined, multiples, stacked
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.protocol import BLOCK_BYTES, NO_SUM, Order, Partial, PassCounter, fold_blocks, fold_strands

A = TypeVar("A")

# Bytes of a chunk of rows that are shuffled. The buffer, the chunk that joins it and the copy of both take about four
# times as much.
CHUNK_BYTES = 1 << 24


class Piece(NamedTuple):
    """Consecutive rows: X (m, d) dense or CSR, targets t (m,), weights (m,)."""

    X: Any
    t: AnyArray
    weight: Array

    def between(self, begin: int, end: int) -> Piece:
        """Rows begin, …, end − 1 of the piece, as views."""
        X = csr_rows(self.X, begin, end) if is_sparse(self.X) else self.X[begin:end]
        return Piece(X, self.t[begin:end], self.weight[begin:end])

    @classmethod
    def joined(cls, parts: Sequence[Piece]) -> Piece:
        """The rows of pieces as one piece, which is copied if there are several."""
        return cls(*(of[0] if len(of) == 1 else stacked(of) for of in zip(*parts, strict=True)))


class RepeatableRows(Protocol):
    """Rows that can be read any number of times, always the same and in the same order.

    Dense pieces are row-major, in float64 or float32. CSR pieces have sorted indices without duplicates. The attribute
    ``reads_ahead`` says whether ``pieces`` reads the next rows in another thread by itself.
    """

    @property
    def name(self) -> str: ...
    @property
    def n_features(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def reads_ahead(self) -> bool: ...
    def pieces(self) -> Iterator[Piece]: ...


@dataclass(frozen=True)
class PiecesSource:
    """A ``Source`` of the pieces that a function yields."""

    name: str
    n_features: int
    is_sparse: bool
    pieces: Callable[[], Iterator[Piece]]
    reads_ahead: ClassVar[bool] = False


@runtime_checkable
class SeekableSource(RepeatableRows, Protocol):
    """Dense rows of known number that can be read in any order, by several threads at the same time."""

    @property
    def n_rows(self) -> int: ...
    def between(self, start: int, stop: int) -> Piece: ...


@dataclass
class Learnt:
    """What is known about the source after reading it. All views of the same rows share this object."""

    n_rows: int | None = None
    first_draw: sampling.CarriedTotal[list[sampling.Lowest]] | None = None


@dataclass(frozen=True)
class StreamedRows:
    """The rows of a source, in the coordinates of a frame.

    The weights have been divided by ``weight_unit``. The number of rows is known after the first pass, and every later
    pass must find as many. ``draw`` describes the first draw of the sample that will be requested. These rows are drawn
    during the first pass, whatever that pass computes, so that the sample needs no pass of its own. ``most_drawn`` is
    the largest number of rows in a sample, because memory is limited.
    """

    source: RepeatableRows
    frame: Frame
    counter: PassCounter = field(default_factory=PassCounter, repr=False, compare=False)
    weight_unit: float = 1.0
    draw: sampling.LowestHashes | None = None
    most_drawn: int | None = None
    learnt: Learnt = field(default_factory=Learnt, repr=False, compare=False)

    @property
    def n_rows(self) -> int | None:
        return self.learnt.n_rows

    @property
    def n_features(self) -> int:
        return self.source.n_features

    @property
    def is_sparse(self) -> bool:
        return self.source.is_sparse

    @property
    def is_row_major(self) -> bool:
        return True

    def seen_through(self, frame: Frame) -> StreamedRows:
        """The same rows in other coordinates."""
        return replace(self, frame=frame)

    def fold(self, partial: Partial[A]) -> A:
        if self.draw is None or self.learnt.first_draw is not None:
            return self.summed(partial)
        keeper = sampling.Keeper(self.draw)
        total = self.summed(partial, keeper.see)
        self.learnt.first_draw = keeper.kept()
        return total

    def summed(self, partial: Partial[A], seen: Callable[[Block], Block] = lambda block: block) -> A:
        """The sum of a partial. Each block is shown to ``seen``.

        Several threads read the blocks of a source that can be read in any order. Otherwise one thread reads ahead.
        """
        self.counter.add()
        source = self.source
        if not isinstance(source, SeekableSource):
            return fold_blocks(map(seen, self._recut(lambda X, *before: cuts(X, BLOCK_BYTES, *before))), partial)
        edges = dense_edges(source.n_rows, self.n_features, BLOCK_BYTES)

        def block(k: int) -> Block:
            return seen(Block(*source.between(edges[k], edges[k + 1]), edges[k], self.frame))

        return fold_strands(len(edges) - 1, block, partial)

    def blocks(self, order: Order) -> Iterator[Block]:
        """Batches of ``order.size`` rows in the order of the source, or shuffled within a buffer of some rows."""
        self.counter.add()
        if order.draw == "shuffled":
            chunks = self._recut(lambda X, *before: cuts(X, CHUNK_BYTES, *before))
            return shuffled_batches(chunks, order.size, np.random.default_rng([order.seed, order.epoch]))
        return self._recut(lambda X, rows, entries: multiples(rows, X.shape[0], order.size))

    def _recut(self, ends: Callable[[Any, int, int], Integers]) -> Iterator[Block]:
        """All rows as blocks. Only the rows of one block and of one piece are in memory.

        ``ends(X, rows, entries)``: where blocks end in X, given the rows and entries before X.
        """
        rows = entries = 0
        waiting: list[Piece] = []
        for piece in self._pieces():
            X, n, begin = piece.X, piece.X.shape[0], 0
            for end in ends(X, rows, entries).tolist():
                yield self._joined([*waiting, piece.between(begin, end)], rows + end)
                waiting, begin = [], end
            if begin < n:
                waiting.append(piece.between(begin, n))
            rows += n
            entries += int(X.nnz) if is_sparse(X) else 0
        if waiting:
            yield self._joined(waiting, rows)

    def _pieces(self) -> Iterator[Piece]:
        """The pieces of one pass; their number of rows is compared with that of the first pass."""
        n = 0
        pieces: Any = self.source.pieces()
        with closing(pieces if self.source.reads_ahead else read_ahead(pieces)) as read:
            for piece in read:
                n += piece.X.shape[0]
                yield piece
        known = self.learnt.n_rows
        if known is not None and n != known:
            problem = f"it had {known} rows when it was first read, and {n} rows now"
            raise TableError(self.source.name, problem, "give a source that can be read again, and leave it unchanged")
        self.learnt.n_rows = n

    def _joined(self, parts: list[Piece], stop: int) -> Block:
        """The parts, joined to one block that ends before row ``stop``."""
        whole = Piece.joined(parts)
        return Block(*whole, stop - len(whole.t), self.frame)

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> sampling.RowSample:
        return sampling.drawn_sample(
            _SampleReading(self), size if self.most_drawn is None else min(size, self.most_drawn), seed, targets
        )

    def resident(self) -> None:
        """None: the rows are not in memory."""
        return


@dataclass
class _SampleReading:
    """Provides the rows of a sample: reads all rows and keeps those that a draw chooses."""

    rows: StreamedRows
    kept: sampling.CarriedRows = field(default_factory=sampling.CarriedRows)

    @property
    def frame(self) -> Frame:
        return self.rows.frame

    def lowest(self, draw: sampling.LowestHashes) -> list[sampling.Lowest]:
        known, made = self.rows.learnt.first_draw, self.rows.draw
        if known is None or made is None or not made.covers(draw):
            keeper = sampling.Keeper(draw)
            self.rows.summed(NO_SUM, keeper.see)
            known = keeper.kept()
        self.kept = known.rows
        return known.total

    def rare(self, draw: sampling.RareRows) -> Integers:
        found = self.rows.fold(sampling.Carried(draw))
        self.kept = self.kept.with_(found.rows).joined()
        return found.total

    def framed_copy(self, numbers: Integers) -> Block:
        return self.kept.block(self.frame).framed_copy(self.kept.places(numbers))

    def raw(self, numbers: Integers) -> Any:
        X: Any = self.kept.block(self.frame).X
        return X[self.kept.places(numbers)]


# --- Random order


def shuffled_batches(chunks: Iterator[Block], size: int, rng: np.random.Generator) -> Iterator[Block]:
    """Batches of ``size`` rows, the last one perhaps smaller. The order depends on the chunks and on ``rng`` alone.

    A buffer holds as many rows as a chunk. Each new chunk is put together with the rows in the buffer. From both, as
    many rows as the chunk has are drawn at random and leave; the others stay in the buffer. So a row can be delayed by
    any number of rows, but can move forward by at most the length of the buffer. A table that is not longer than a
    chunk is shuffled completely. On a longer table the order is not uniform: rows that are far apart in the source tend
    to keep their order.

    >>> from separatrix.core.rows.protocol import Order; from separatrix.core.rows.memory_rows import memory_rows
    >>> rows = memory_rows(np.zeros((10, 1)), np.arange(10))
    >>> batches = list(shuffled_batches(rows.blocks(Order(4)), 3, np.random.default_rng(0)))
    >>> [len(batch.t) for batch in batches], sorted(np.concatenate([batch.t for batch in batches]).tolist())
    ([3, 3, 3, 1], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    waiting: Block | None = None  # fewer rows than a batch
    for drawn in _drawn(chunks, rng):
        rows = drawn if waiting is None else joined([waiting, drawn])
        whole = rows.n_rows - rows.n_rows % size
        for part in pieces(whole, size):
            yield rows.take(part)
        waiting = rows.take(slice(whole, None)) if whole < rows.n_rows else None
    if waiting is not None:
        yield waiting


def _drawn(chunks: Iterator[Block], rng: np.random.Generator) -> Iterator[Block]:
    """All rows in random order, in blocks of the chunks' lengths."""
    buffer: Block | None = None
    for chunk in chunks:
        if buffer is None:
            buffer = chunk
            continue
        both = joined([buffer, chunk])
        order: Integers = rng.permutation(both.n_rows)
        yield both.take(order[: chunk.n_rows])
        buffer = both.take(order[chunk.n_rows :])
    if buffer is not None:
        yield buffer.take(rng.permutation(buffer.n_rows))
