"""Samples of rows on a cluster: the rows that a draw chooses come back with the totals of a pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from separatrix.base.arrays import Integers
from separatrix.rows.block import Block
from separatrix.rows.carried import Carried, CarriedRows
from separatrix.rows.frame import Frame
from separatrix.rows.protocol import Partial, bytes_per_block
from separatrix.rows.sampling import Lowest, LowestHashes, RareRows

if TYPE_CHECKING:
    from separatrix.cluster.rows import ClusterRows

A = TypeVar("A")


@dataclass(frozen=True)
class MergedByWorkers(Generic[A]):
    """A sum whose totals may be merged in any grouping without a change, as those of a draw of rows.

    A worker merges the totals of its strands before it sends them. The strands of a draw would each send as many rows
    as the whole draw.
    """

    partial: Partial[A]
    merges_exactly: ClassVar[bool] = True

    @property
    def block_bytes(self) -> int:
        return bytes_per_block(self.partial)

    def zero(self) -> A:
        return self.partial.zero()

    def add(self, total: A, block: Block) -> A:
        return self.partial.add(total, block)

    def merge(self, a: A, b: A) -> A:
        return self.partial.merge(a, b)


@dataclass
class SampledRows:
    """Gives a sample the rows that it needs. ``kept`` are the rows that the draws have chosen so far."""

    rows: ClusterRows
    kept: CarriedRows = field(default_factory=CarriedRows)

    @property
    def frame(self) -> Frame:
        return self.rows.frame

    def lowest(self, draw: LowestHashes) -> list[Lowest]:
        """The first draw."""
        total = self.rows.fold(MergedByWorkers(Carried(draw)))
        self.kept = total.rows.joined()
        return total.total

    def rare(self, draw: RareRows) -> Integers:
        """The second draw."""
        total = self.rows.fold(MergedByWorkers(Carried(draw)))
        if total.rows.n_rows:
            self.kept = self.kept.with_(total.rows).joined()
        return total.total

    def written_out(self, numbers: Integers) -> Block:
        """Rows in the coordinates of the frame."""
        return self.kept.block(self.frame).written_out(self.kept.places(numbers))

    def raw(self, numbers: Integers) -> Any:
        """The entries of rows in raw units."""
        X: Any = self.kept.block(self.frame).X
        return X[self.kept.places(numbers)]
