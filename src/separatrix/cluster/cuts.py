"""Where the blocks of a table on a cluster begin and end, in a form that is small enough to be sent in every pass."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.rows.protocol import strands


class Cuts(Protocol):
    """The edges of the blocks of all rows. They are the same as for rows in memory (``rows.cutting``)."""

    @property
    def n_blocks(self) -> int: ...
    def edge(self, block: int) -> int:
        """The row at which a block begins; the number of rows for ``n_blocks``."""
        ...

    def only(self, first: int, last: int) -> Cuts:
        """The part of the cuts that is needed for the blocks first, …, last − 1."""
        ...


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
        return min(block * self.size, self.n_rows)

    def only(self, first: int, last: int) -> EvenCuts:
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
