"""Samples of rows on a cluster: the rows that a draw chooses come back with the totals of a pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from separatrix.base.arrays import Integers
from separatrix.rows.block import Block
from separatrix.rows.carried import Carried, CarriedRows
from separatrix.rows.frame import Frame
from separatrix.rows.sampling import Lowest, LowestHashes, RareRows

if TYPE_CHECKING:
    from separatrix.cluster.rows import ClusterRows


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
        total = self.rows.fold(Carried(draw))
        self.kept = total.rows.joined()
        return total.total

    def rare(self, draw: RareRows) -> Integers:
        """The second draw."""
        total = self.rows.fold(Carried(draw))
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
