"""Rows in the memory of the workers of a Dask cluster as `Rows`, and the table made of them.

In every pass each worker gets one task: the partial with its weights, and the strands to be summed. The totals of the
strands come back and are merged in order. Blocks and strands are those of rows in memory, so the result is the same
to the last bit, for any number of workers and any division of the rows among them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeVar

from separatrix.core.base.arrays import AnyArray, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import cached_property, is_dask
from separatrix.core.cluster.connection import PassTraffic, connected, count_traffic, default_client, results, workers
from separatrix.core.cluster.partitions import PartitionedTable, PartitionStream, partitions_of
from separatrix.core.cluster.workers import FetchedRows, HeldRows, Loaded, SampledRows, Sum, held, shared_out, summed
from separatrix.core.rows.block import Block
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.core.rows.protocol import Order, Partial, PassCounter, merged
from separatrix.core.rows.sampling import Sample, drawn_sample
from separatrix.core.rows.streamed import Learnt, Piece, StreamedRows
from separatrix.core.rows.targets import Coding

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
        what = type(getattr(partial, "partial", partial)).__name__
        count_traffic(PassTraffic(what, len(answers), sent[0], sum(map(len, answers))))
        totals: Iterator[A] = chain.from_iterable(map(loads, answers))
        return merged(totals, partial)

    def _submitted(self, now: Loaded, partial: Partial[A], sent: list[int]) -> list[Any]:
        """The tasks of a pass, one for each chunk. Adds the bytes of their arguments to ``sent``."""
        from distributed.protocol.pickle import dumps

        tasks = []
        for share in shared_out(self.held.block_edges, now.edges):
            order = dumps(Sum(partial, self.frame, self.coding, self.name, share))
            sent[0] += len(order)
            tasks.append(now.submit(summed, order, *now.needed(share)))
        return tasks

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


@dataclass(frozen=True, eq=False)
class ClusterTable(PartitionedTable):
    """Partitions that the workers of ``client`` load once and keep in memory, consecutive rows on each worker.

    Every chunk is a Dask task that depends on the partitions it is made of. So Dask can load the rows of a lost worker
    again on any other worker. This process sends no rows to the workers.
    """

    client: Any = field(repr=False)

    def computed(self, tasks: list[Any]) -> list[Any]:
        workers(self.client)
        return results(self.client, self.client.compute(tasks))

    def rows(self, coding: Coding) -> ClusterRows:
        """The rows with the targets and weights of a coding."""
        frame = Frame.identity(self.n_features)
        return ClusterRows(self.held, coding, uuid.uuid4().hex, frame, weight_unit=coding.unit)

    @cached_property
    def held(self) -> HeldRows:
        """The rows on the workers. The first access loads them."""
        return held(self)


def dask_table(X: Any, y: Any, sample_weight: Any = None, cluster: Any = None) -> OutsideMemory:
    """A table that ``fit`` takes in place of X and y, made of Dask collections. Nothing is gathered in this process.

    ``fit(X, y)`` with Dask collections makes such a table and drops it at the end. Make one yourself to fit several
    classifiers to rows that the workers load only once.

    Parameters
    ----------
    X : Dask array (n, d) or Dask data frame
        The rows: numbers, dense or in sparse chunks. Chunk sizes may be unknown, and partitions may be empty.
    y : Dask array (n,), Dask series or array
        The labels. A partition need not have all classes.
    sample_weight : Dask array (n,), Dask series or array, optional
        Weights >= 0; a row of weight 2 counts as two rows.
    cluster : distributed.Client, cluster, str, optional
        Where the rows are held: a client, a cluster, the address of a scheduler, or ``"local"`` for processes of this
        machine. By default the client that Dask itself would use. If there is none, partitions are computed in this
        process in every pass, a few at a time.

    Returns
    -------
    OutsideMemory

    Examples
    --------
    >>> import dask.array as da
    >>> from separatrix import LogisticRegression
    >>> X, y = da.from_array([[0.0], [1.0], [2.0], [3.0]], chunks=2), da.from_array([0, 1, 0, 1], chunks=2)
    >>> LogisticRegression().fit(dask_table(X, y)).predict([[0.0], [3.0]]).tolist()
    [0, 1]
    """
    if not is_dask(X):
        raise ParameterError("X", f"got {type(X).__name__}", "give a Dask array or a Dask data frame")
    client = default_client() if cluster is None else connected(cluster)
    partitions = partitions_of(X, y, sample_weight)
    return PartitionStream(partitions) if client is None else ClusterTable(partitions, client)
