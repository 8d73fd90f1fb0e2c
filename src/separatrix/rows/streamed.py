"""Rows that are read again in every pass, because they do not fit into memory.

The rows are cut into the same blocks as rows in memory (``cutting``), the blocks are summed in the same strands
(``protocol.strands``), and samples are drawn by the numbers of the rows (``sampling``). So a fit gives the same bits as
in memory, as long as the solver reads rows by ``fold`` and ``sample`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers, Matrix
from separatrix.base.errors import TableError
from separatrix.rows.block import Block
from separatrix.rows.carried import Carried, CarriedRows, CarriedTotal
from separatrix.rows.csr import csr_rows, is_sparse, stacked
from separatrix.rows.cutting import cuts, multiples
from separatrix.rows.frame import Frame
from separatrix.rows.protocol import Order, Partial, PassCounter, Together, bytes_per_block, fold_blocks
from separatrix.rows.sampling import Lowest, LowestHashes, RareRows, Sample, drawn_sample

A = TypeVar("A")


class Piece(NamedTuple):
    """Consecutive rows: X (m, d) dense or CSR, targets t (m,), weights (m,)."""

    X: Matrix
    t: AnyArray
    weight: Array


class Source(Protocol):
    """Rows that can be read any number of times, always the same and in the same order.

    Dense pieces are row-major, in float64 or float32. CSR pieces have sorted indices without duplicates.
    """

    @property
    def name(self) -> str: ...
    @property
    def n_features(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...
    def pieces(self) -> Iterator[Piece]: ...


@dataclass
class Learnt:
    """What reading the source has shown. All views of the same rows share it."""

    n_rows: int | None = None
    first_draw: CarriedTotal[list[Lowest]] | None = None


@dataclass(frozen=True)
class StreamedRows:
    """The rows of a source, in the coordinates of a frame.

    The weights have been divided by ``weight_unit``. The number of rows is known after the first pass, and every later
    pass must find as many. ``draw``: the first draw of the sample that will be asked for. It is made in the first pass,
    whatever that pass computes, so that the sample costs no pass of its own.
    """

    source: Source
    frame: Frame
    counter: PassCounter = field(default_factory=PassCounter, repr=False, compare=False)
    weight_unit: float = 1.0
    draw: LowestHashes | None = None
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
            return self._summed(partial, bytes_per_block(partial))
        both = Together((partial, Carried(self.draw)))
        total: A
        total, self.learnt.first_draw = self._summed(both, bytes_per_block(partial))
        return total

    def _summed(self, partial: Partial[A], size: int) -> A:
        """The sum of a partial over blocks of ``size`` bytes."""
        return fold_blocks(self._recut(lambda X, rows, entries: cuts(X, size, rows, entries)), partial)

    def blocks(self, order: Order) -> Iterator[Block]:
        """Batches of ``order.size`` rows in the order of the source, which is the only one it has."""
        if order.draw != "given":
            problem = f"its rows are asked for in another order ({order.draw})"
            raise TableError(self.source.name, problem, "use a method that reads the rows in the order given")
        self.counter.add()
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
        for piece in self.source.pieces():
            n += piece.X.shape[0]
            yield piece
        known = self.learnt.n_rows
        if known is not None and n != known:
            problem = f"it had {known} rows when it was first read, and {n} rows now"
            raise TableError(self.source.name, problem, "give a source that can be read again, and leave it unchanged")
        self.learnt.n_rows = n

    def _joined(self, parts: list[Piece], stop: int) -> Block:
        """One block of the parts, whose last row precedes row ``stop``."""
        X, t, weight = (of[0] if len(of) == 1 else stacked(of) for of in zip(*parts, strict=True))
        return Block(X, t, weight, stop - len(t), self.frame)

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        return drawn_sample(_Reading(self), size, seed, targets)

    def resident(self) -> None:
        """None: the rows are not in memory."""
        return


def _some(X: Any, begin: int, end: int) -> Any:
    return csr_rows(X, begin, end) if is_sparse(X) else X[begin:end]


def _part(piece: Piece, begin: int, end: int) -> Piece:
    return Piece(_some(piece.X, begin, end), piece.t[begin:end], piece.weight[begin:end])


@dataclass
class _Reading:
    """Gives a sample the rows that it needs: those that a draw chooses are kept while all rows are read."""

    rows: StreamedRows
    kept: CarriedRows = field(default_factory=CarriedRows)

    @property
    def frame(self) -> Frame:
        return self.rows.frame

    def lowest(self, draw: LowestHashes) -> list[Lowest]:
        known, made = self.rows.learnt.first_draw, self.rows.draw
        found = known if known and made and made.covers(draw) else self.rows.fold(Carried(draw))
        self.kept = found.rows.joined()
        return found.total

    def rare(self, draw: RareRows) -> Integers:
        found = self.rows.fold(Carried(draw))
        self.kept = self.kept.with_(found.rows).joined()
        return found.total

    def written_out(self, numbers: Integers) -> Block:
        block = self.kept.block(numbers, self.frame)
        return block.written_out(np.arange(block.n_rows))

    def raw(self, numbers: Integers) -> Any:
        return self.kept.block(numbers, self.frame).X
