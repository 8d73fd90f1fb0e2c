"""Samples of rows on a cluster: a pass draws the numbers of rows, and then only these rows are fetched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.cluster.chunk import joined
from separatrix.rows.block import Block
from separatrix.rows.frame import Frame
from separatrix.rows.protocol import Partial
from separatrix.rows.sampling import Lowest, LowestHashes, RareRows
from separatrix.rows.streamed import Piece

if TYPE_CHECKING:
    from separatrix.cluster.cluster_rows import ClusterRows

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
            self.kept = fetched if self.kept is None else _reordered(joined([self.kept, fetched]), order)
            self.numbers = every[order]
        assert self.kept is not None
        return Block(*self.kept, 0, self.frame)


def _reordered(piece: Piece, order: Integers) -> Piece:
    X: Any = piece.X
    return Piece(X[order], piece.t[order], piece.weight[order])
