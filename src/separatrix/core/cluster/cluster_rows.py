"""Rows in the memory of the workers of a Dask cluster as `Rows`, and the table made of them.

In every pass each worker gets one task: the partial with its weights, and the strands to be summed. The totals of the
strands come back and are merged in order. Blocks and strands are those of rows in memory, so the result is the same
to the last bit, for any number of workers and any division of the rows among them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from separatrix.core.base.arrays import AnyArray, Integers, pieces
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import cached_property, is_dask
from separatrix.core.base.machine import thread_count
from separatrix.core.cluster.connection import PassTraffic, connected, count_traffic, default_client, results, workers
from separatrix.core.cluster.partitions import Partitions, PartitionSurvey, partitions_of
from separatrix.core.cluster.workers import HeldRows, Loaded, SampledRows, Sum, aligned, held, shared_out, summed
from separatrix.core.rows.block import Block
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.core.rows.protocol import Order, Partial, PassCounter, merged
from separatrix.core.rows.sampling import RowSample, drawn_sample
from separatrix.core.rows.streamed import Learnt, Piece, PiecesSource, StreamedRows
from separatrix.core.rows.targets import ClassTotals, Coding

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
        return self.held.table.n_features

    @property
    def is_sparse(self) -> bool:
        return self.held.table.partitions.form.is_sparse

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
        source = PiecesSource(self.held.table.name, self.n_features, self.is_sparse, self._fetched)
        streamed = StreamedRows(source, self.frame, self.counter, self.weight_unit, learnt=Learnt(self.n_rows))
        return streamed.blocks(order)

    def _fetched(self) -> Iterator[Piece]:
        """All rows in order, eight blocks at a time, which have about 32 megabytes."""
        edges = self.held.block_edges.tolist()
        for run in pieces(len(edges) - 1, 8):
            X, codes, weight = aligned(self.held.fetched(edges[run.start], edges[run.stop]))
            yield Piece(X, *self.coding.of(codes, weight))

    def taken(self, numbers: Integers) -> Piece:
        """The rows with these numbers (in increasing order), in this process."""
        X, codes, weight = self.held.taken(numbers)
        return Piece(X, *self.coding.of(codes, weight))

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> RowSample:
        return drawn_sample(SampledRows(self), size, seed, targets)

    def resident(self) -> None:
        """None: the rows are not in the memory of this process."""
        return


@dataclass(frozen=True, eq=False)
class ClusterTable(OutsideMemory):
    """A table made of partitions, which the workers of ``client`` load once and keep in memory.

    Every chunk of rows is a Dask task that depends on the partitions it is made of. So Dask can load the rows of a lost
    worker again on any other worker. This process sends no rows to the workers. Without a client, Dask's scheduler
    computes the partitions in this process in every pass, a few at a time.
    """

    partitions: Partitions
    client: Any = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.partitions.form.columns

    @property
    def has_names(self) -> bool:  # type: ignore[override]
        return self.partitions.form.has_names

    @property
    def name(self) -> str:
        return self.partitions.form.name

    @property
    def dtype(self) -> Any:
        return self.partitions.form.dtype

    @property
    def has_weights(self) -> bool:
        return self.partitions.form.has_weights

    @cached_property
    def survey(self) -> PartitionSurvey:
        """The classes and the lengths of the partitions."""
        return self.partitions.survey(self._computed)

    @property
    def classes(self) -> AnyArray:
        return self.survey.classes

    @property
    def totals(self) -> ClassTotals:
        return self.survey.totals

    def _computed(self, tasks: list[Any]) -> list[Any]:
        if self.client is None:
            import dask

            return list(dask.compute(*tasks))
        workers(self.client)
        return results(self.client, self.client.compute(tasks))

    def rows(self, coding: Coding) -> ClusterRows | StreamedRows:
        """The rows with the targets and weights of a coding."""
        frame, unit = Frame.identity(self.n_features), coding.unit
        if self.client is not None:
            return ClusterRows(self.held, coding, uuid.uuid4().hex, frame, weight_unit=unit)
        form, read = self.partitions.form, partial(_computed_pieces, self.partitions, self.classes, coding)
        source = PiecesSource(form.name, self.n_features, form.is_sparse, read)
        return StreamedRows(source, frame, weight_unit=unit, learnt=Learnt(self.n_rows))

    @cached_property
    def held(self) -> HeldRows:
        """The rows on the workers. The first access loads them."""
        return held(self)


def _computed_pieces(partitions: Partitions, classes: AnyArray, coding: Coding) -> Iterator[Piece]:
    """The pieces of partitions. As many partitions are computed at a time as there are threads."""
    import dask

    tasks = partitions.pieces(classes)
    for some in pieces(len(tasks), thread_count()):
        for X, codes, weight in dask.compute(*tasks[some]):
            yield Piece(X, *coding.of(codes, weight))


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
    return ClusterTable(partitions_of(X, y, sample_weight), client)
