"""The rows that one worker holds, and the sums over them. All of this runs on workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.concurrency import in_order, one_blas_thread, threads
from separatrix.cluster.cuts import Cuts
from separatrix.rows.block import Block
from separatrix.rows.coding import Coding
from separatrix.rows.csr import as_csr, csr_rows, is_sparse, stacked
from separatrix.rows.cutting import cuts as sparse_cuts
from separatrix.rows.frame import Frame
from separatrix.rows.protocol import Partial, strands
from separatrix.rows.streamed import Piece


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
        return sum(int(_matrix(piece).nnz) for piece in self.pieces if is_sparse(piece.X))

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


def _matrix(piece: Piece) -> Any:
    return piece.X


def aligned(piece: Piece) -> Piece:
    """The piece with arrays that are aligned in memory. Arrays that came from another worker may not be aligned.

    NumPy sums an array that is not aligned in another order, and compiled loops would be compiled again for it.
    """
    X, t, weight = _matrix(piece), np.require(piece.t, requirements="A"), np.require(piece.weight, requirements="A")
    if not is_sparse(X):
        return Piece(np.require(X, requirements=["A", "C"]), t, weight)
    if all(part.flags.aligned for part in (X.data, X.indices, X.indptr)):
        return Piece(X, t, weight)
    return Piece(as_csr(X.copy()), t, weight)


def _bytes(piece: Piece) -> int:
    X = _matrix(piece)
    rows = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if is_sparse(X) else X.nbytes
    return int(rows) + piece.t.nbytes + piece.weight.nbytes


def _between(pieces: Sequence[Piece], begin: int, end: int) -> list[Piece]:
    """Rows begin, …, end − 1 of pieces, as views."""
    found, before = [], 0
    for piece in pieces:
        a, b = max(begin - before, 0), min(end - before, len(piece.t))
        if a < b:
            X = _matrix(piece)
            found.append(Piece(csr_rows(X, a, b) if is_sparse(X) else X[a:b], piece.t[a:b], piece.weight[a:b]))
        before += len(piece.t)
    return found


def joined(pieces: Sequence[Piece]) -> Piece:
    """The rows of pieces as one piece, which is copied if there are several."""
    X, t, weight = (parts[0] if len(parts) == 1 else stacked(parts) for parts in zip(*pieces, strict=True))
    return Piece(X, t, weight)


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
        X, t, weight = joined(_between(self.pieces[first:last], begin - before, end - before))
        return Block(X, t, weight, begin, frame)


# ------------------------------------------------------------------------------------------ tasks


def gathered(start: int, begin: int, end: int, pieces: Sequence[Piece]) -> Chunk:
    """The chunk of the rows begin, …, end − 1, from pieces of which the first begins at row ``start``."""
    return Chunk(begin, _between(pieces, begin - start, end - start))


def head(chunk: Chunk, begin: int, end: int) -> Chunk:
    """Some rows of a chunk, for the worker of another one, in which the last strand begins."""
    return chunk.between(begin, end)


def rows_of(chunk: Chunk, begin: int, end: int) -> tuple[Any, Integers, Array]:
    """X, class numbers and weights of some rows of a chunk."""
    X, codes, weight = joined(chunk.between(begin, end).pieces)
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
            found.append(Piece(_matrix(piece)[some], piece.t[some], piece.weight[some]))
    whole = joined(found)
    return Taken((whole.X, whole.t, whole.weight), _bytes(whole))


def entries_of(chunk: Chunk) -> int:
    """The number of stored entries of CSR rows."""
    return chunk.entries


def places(chunk: Chunk, size: int, entries: int) -> Integers:
    """The numbers of the rows of a chunk before which a block of CSR rows ends; ``entries`` precede the chunk."""
    found, rows = [], chunk.start
    for piece in chunk.pieces:
        X = _matrix(piece)
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
