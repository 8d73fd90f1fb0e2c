"""Rows on workers as a source that this process reads in order, for methods that need batches of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from separatrix.base.pieces import pieces
from separatrix.cluster.chunk import aligned
from separatrix.cluster.held import HeldRows
from separatrix.rows.coding import Coding
from separatrix.rows.streamed import Piece

# Rows are fetched from the workers in runs of this many blocks, about 32 megabytes.
BLOCKS_FETCHED_AT_ONCE = 8


@dataclass(frozen=True)
class FetchedRows:
    """A ``Source`` of the rows that workers hold, with the targets and weights of a coding."""

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
        """All rows in order, a few blocks at a time."""
        cuts = self.held.cuts
        for run in pieces(cuts.n_blocks, BLOCKS_FETCHED_AT_ONCE):
            X, codes, weight = aligned(self.held.fetched(cuts.edge(run.start), cuts.edge(run.stop)))
            yield Piece(X, *self.coding.of(codes, weight))
