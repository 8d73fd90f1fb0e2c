"""Rows on the workers of a Dask cluster.

In every pass each worker gets one task: the partial with its weights, and the strands to be summed. The totals of the
strands come back and are merged in order. Blocks and strands are those of rows in memory, so the result is the same
to the last bit, for any number of workers and any division of the rows among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeVar

from separatrix.base.arrays import AnyArray, Integers
from separatrix.cluster.chunk import Sum, summed
from separatrix.cluster.cuts import Share
from separatrix.cluster.fetched import FetchedRows
from separatrix.cluster.held import HeldRows, Loaded
from separatrix.cluster.sampling import SampledRows
from separatrix.cluster.traffic import PassTraffic, count_traffic
from separatrix.rows.block import Block
from separatrix.rows.coding import Coding
from separatrix.rows.frame import Frame
from separatrix.rows.protocol import Order, Partial, PassCounter, strands
from separatrix.rows.sampling import Sample, drawn_sample
from separatrix.rows.streamed import Learnt, Piece, StreamedRows

A = TypeVar("A")


@dataclass(frozen=True, eq=False)
class ClusterRows:
    """Rows that workers hold, with the targets and weights of a coding, in the coordinates of a frame.

    ``name`` is the name of the coding, under which workers keep the targets and weights that it gives.
    """

    held: HeldRows = field(repr=False)
    coding: Coding
    name: str
    frame: Frame
    counter: PassCounter = field(default_factory=PassCounter, repr=False)
    weight_unit: float = 1.0

    @property
    def n_rows(self) -> int:
        return self.held.n_rows

    @property
    def n_features(self) -> int:
        return self.held.n_features

    @property
    def is_sparse(self) -> bool:
        return self.held.is_sparse

    @property
    def is_row_major(self) -> bool:
        return True

    def seen_through(self, frame: Frame) -> ClusterRows:
        """The same rows in other coordinates."""
        return replace(self, frame=frame)

    def fold(self, partial: Partial[A]) -> A:
        from distributed.protocol.pickle import loads

        self.counter.add()
        sent = [0]
        answers = self.held.results(lambda now: self._submitted(now, partial, sent))
        count_traffic(
            PassTraffic(
                type(getattr(partial, "partial", partial)).__name__, len(answers), sent[0], sum(map(len, answers))
            )
        )
        parts: Iterator[Any] = chain.from_iterable(map(loads, answers))
        total: A = next(parts)
        for part in parts:
            total = partial.merge(total, part)
        return total

    def _submitted(self, now: Loaded, partial: Partial[A], sent: list[int]) -> list[Any]:
        """The tasks of a pass, one for each chunk. Adds the bytes of their arguments to ``sent``."""
        from distributed.protocol.pickle import dumps

        shares = self.held.shares()
        orders = [dumps(self._order(partial, share)) for share in shares]
        sent[0] += sum(map(len, orders))
        return [now.submit(summed, order, *now.needed(share)) for order, share in zip(orders, shares, strict=True)]

    def _order(self, partial: Partial[A], share: Share) -> Sum:
        cuts = self.held.cuts
        runs = list(strands(cuts.n_blocks))[share.first : share.last]
        some = cuts.only(runs[0].start, runs[-1].stop)
        return Sum(partial, self.frame, self.coding, self.name, some, cuts.n_blocks, share.first, share.last)

    def blocks(self, order: Order) -> Iterator[Block]:
        """Batches of ``order.size`` rows, those of a stream of the same rows. This process fetches a few at a time."""
        source = FetchedRows(self.held, self.coding)
        streamed = StreamedRows(source, self.frame, self.counter, self.weight_unit, learnt=Learnt(self.n_rows))
        return streamed.blocks(order)

    def taken(self, numbers: Integers) -> Piece:
        """The rows with these numbers (in increasing order), in this process."""
        X, codes, weight = self.held.taken(numbers)
        return Piece(X, *self.coding.of(codes, weight))

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        return drawn_sample(SampledRows(self), size, seed, targets)

    def resident(self) -> None:
        """None: the rows are not in the memory of this process."""
        return
