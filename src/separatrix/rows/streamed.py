"""Rows that are read again in every pass, because they do not fit into memory.

The rows are cut into the same blocks as rows in memory (``cutting``), the blocks are summed in the same strands
(``protocol.strands``), and samples are drawn by the numbers of the rows (``sampling``). So a fit gives the same bits as
in memory, as long as the solver reads rows by ``fold`` and ``sample`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers, Matrix
from separatrix.base.errors import TableError
from separatrix.base.read_ahead import read_ahead
from separatrix.rows.block import Block
from separatrix.rows.carried import Carried, CarriedRows
from separatrix.rows.csr import csr_rows, is_sparse, stacked
from separatrix.rows.cutting import block_rows, cuts, multiples
from separatrix.rows.frame import Frame
from separatrix.rows.keeper import DenseRows, Keeper, Kept, Watched
from separatrix.rows.protocol import (
    BLOCK_BYTES,
    NO_SUM,
    Order,
    Partial,
    PassCounter,
    fold_blocks,
    fold_strands,
)
from separatrix.rows.sampling import Lowest, LowestHashes, RareRows, Sample, drawn_sample
from separatrix.rows.shuffle_buffer import CHUNK_BYTES, shuffled_batches

A = TypeVar("A")


class Piece(NamedTuple):
    """Consecutive rows: X (m, d) dense or CSR, targets t (m,), weights (m,)."""

    X: Matrix
    t: AnyArray
    weight: Array


class Source(Protocol):
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


@runtime_checkable
class SeekableSource(Source, Protocol):
    """Dense rows of known number that can be read in any order, by several threads at the same time."""

    @property
    def n_rows(self) -> int: ...
    def between(self, start: int, stop: int) -> Piece: ...


@dataclass
class Learnt:
    """What is known about the source after reading it. All views of the same rows share this object."""

    n_rows: int | None = None
    first_draw: Kept | None = None


@dataclass(frozen=True)
class StreamedRows:
    """The rows of a source, in the coordinates of a frame.

    The weights have been divided by ``weight_unit``. The number of rows is known after the first pass, and every later
    pass must find as many. ``draw`` describes the first draw of the sample that will be requested. These rows are drawn
    during the first pass, whatever that pass computes, so that the sample needs no pass of its own. ``most_drawn`` is
    the largest number of rows in a sample, because memory is limited.
    """

    source: Source
    frame: Frame
    counter: PassCounter = field(default_factory=PassCounter, repr=False, compare=False)
    weight_unit: float = 1.0
    draw: LowestHashes | None = None
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
        self.counter.add()
        if self.draw is None or self.learnt.first_draw is not None:
            return self._summed(partial)
        keeper = Keeper(self.draw)
        total = self._summed(Watched(partial, keeper))
        self.learnt.first_draw = keeper.kept()
        return total

    def _summed(self, partial: Partial[A]) -> A:
        """The sum of a partial.

        Several threads read the blocks of a source that can be read in any order. Otherwise one thread reads ahead.
        """
        if isinstance(self.source, SeekableSource):
            return fold_strands(_BlocksOfFile(self, self.source, block_rows(BLOCK_BYTES, self.n_features)), partial)
        return fold_blocks(self._recut(lambda X, rows, entries: cuts(X, BLOCK_BYTES, rows, entries)), partial)

    def blocks(self, order: Order) -> Iterator[Block]:
        """Batches of ``order.size`` rows in the order of the source, or shuffled within a buffer of some rows."""
        if order.draw == "replacement":
            problem = "rows are requested at random with replacement, but they can only be read in their own order"
            raise TableError(self.source.name, problem, "use draw='shuffled' or draw='given'")
        self.counter.add()
        if order.draw == "shuffled":
            chunks = self._recut(lambda X, rows, entries: cuts(X, CHUNK_BYTES, rows, entries))
            return shuffled_batches(chunks, order.size, np.random.default_rng([order.seed, order.epoch]))
        return self._recut(lambda X, rows, entries: multiples(rows, X.shape[0], order.size))

    def _recut(self, ends: Callable[[Any, int, int], Integers]) -> Iterator[Block]:
        """All rows as blocks. Only the rows of one block and of one piece are in memory.

        ``ends(X, rows, entries)``: where blocks end in X, given the rows and entries before X.
        """
        rows = entries = 0
        waiting: list[Piece] = []
        for piece in self._pieces():
            X: Any = piece.X
            begin = 0
            for end in ends(X, rows, entries).tolist():
                yield self._joined([*waiting, _part(piece, begin, end)], rows + end)
                waiting, begin = [], end
            if begin < X.shape[0]:
                waiting.append(_part(piece, begin, X.shape[0]))
            rows += X.shape[0]
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
        X, t, weight = (of[0] if len(of) == 1 else stacked(of) for of in zip(*parts, strict=True))
        return Block(X, t, weight, stop - len(t), self.frame)

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        return drawn_sample(
            _Reading(self), size if self.most_drawn is None else min(size, self.most_drawn), seed, targets
        )

    def resident(self) -> None:
        """None: the rows are not in memory."""
        return


@dataclass(frozen=True)
class _BlocksOfFile(Sequence[Block]):
    """The blocks of ``size`` rows of a source that can be read in any order, read on demand."""

    rows: StreamedRows
    source: SeekableSource
    size: int

    def __len__(self) -> int:
        return -(-self.source.n_rows // self.size)

    def __getitem__(self, index: Any) -> Any:
        start = self.size * index
        piece = self.source.between(start, min(start + self.size, self.source.n_rows))
        return Block(piece.X, piece.t, piece.weight, start, self.rows.frame)


def _some(X: Any, begin: int, end: int) -> Any:
    return csr_rows(X, begin, end) if is_sparse(X) else X[begin:end]


def _part(piece: Piece, begin: int, end: int) -> Piece:
    return Piece(_some(piece.X, begin, end), piece.t[begin:end], piece.weight[begin:end])


@dataclass
class _Reading:
    """Provides the rows of a sample: reads all rows and keeps those that a draw chooses."""

    rows: StreamedRows
    kept: DenseRows | CarriedRows = field(default_factory=CarriedRows)

    @property
    def frame(self) -> Frame:
        return self.rows.frame

    def lowest(self, draw: LowestHashes) -> list[Lowest]:
        known, made = self.rows.learnt.first_draw, self.rows.draw
        if known is None or made is None or not made.covers(draw):
            keeper = Keeper(draw)
            self.rows.fold(Watched(NO_SUM, keeper))
            known = keeper.kept()
        self.kept = known.rows
        return known.total

    def rare(self, draw: RareRows) -> Integers:
        found = self.rows.fold(Carried(draw))
        if found.rows.n_rows:
            held = self.kept if isinstance(self.kept, CarriedRows) else self.kept.carried()
            self.kept = held.with_(found.rows).joined()
        return found.total

    def written_out(self, numbers: Integers) -> Block:
        return self.kept.block(self.frame).written_out(self.kept.places(numbers))

    def raw(self, numbers: Integers) -> Any:
        X: Any = self.kept.block(self.frame).X
        return X[self.kept.places(numbers)]
