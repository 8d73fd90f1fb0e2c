"""Tables for a fitted model that do not fit into memory: ``predict`` and ``evaluate`` read them in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.base.errors import ParameterError, TableError
from separatrix.cli.cluster_options import passes_on
from separatrix.cli.memory_options import TooLarge, too_large
from separatrix.cli.model_arguments import as_fitted
from separatrix.rows.labelled import OutsideMemory
from separatrix.streams.new_rows import LabelledNewRows, NewBatch, NewRows
from separatrix.table import Table, open_source
from separatrix.table.formats import Source, Spelling
from separatrix.table.formats.batched import BatchedSource, batched, refuse_unbatched
from separatrix.table.new_rows import asked_columns

if TYPE_CHECKING:
    from separatrix.model_file import ModelFile
    from separatrix.streams.encoded_on_cluster import ClusterPasses


@dataclass(frozen=True)
class Asked:
    """How to read the rows for a model: how the file is written, and where its labels are, if they are needed."""

    known: ModelFile
    spelling: dict[str, Any]
    strict: bool
    target: str | None = None
    labelled: bool = False

    def new_rows(self, source: Source, batched: BatchedSource) -> NewRows:
        """The rows of a source that is read in batches."""
        refuse_unbatched(source)
        known = self.known
        columns = known.features if known.encoder is None else known.encoder
        assert columns is not None
        classes = [label for label in known.scorer.classes.tolist() if isinstance(label, str)]
        typed = len(classes) < len(known.scorer.classes)
        target = known.target if self.target is None else self.target
        header = Spelling(**as_fitted(known, self.spelling)).header
        asked = asked_columns(source, columns, self.strict, target, self.labelled, classes, header)
        return NewRows(batched, asked, known.scaled, self.strict, typed, classes)

    def opened(self, data: str, memory: str | None) -> tuple[NewRows, TooLarge] | None:
        """The rows, if they do not fit into memory; None if they are to be read at once.

        A model without names of columns finds them by their order, which is done in memory.
        """
        if self.known.features is None and self.known.encoder is None:
            return None
        source = self._source(data)
        large = too_large(source, memory)
        return None if large is None else (self.new_rows(source, large.batched), large)

    def opened_on(self, cluster: str, data: str, stack: ExitStack) -> tuple[NewRows, ClusterPasses, str]:
        """The rows, to be read by the workers of a cluster, which are connected until ``stack`` ends, and a note."""
        source = self._source(data)
        if self.known.features is None and self.known.encoder is None:
            problem = "the model has no names of columns, by which workers would find them"
            raise ParameterError("--cluster", problem, "leave it out, or fit the model to a table with names")
        passes, note = stack.enter_context(passes_on(cluster, source))
        found = batched(source)
        assert found is not None
        return self.new_rows(source, found), passes, note

    def _source(self, data: str) -> Source:
        return open_source(data, Spelling(**as_fitted(self.known, self.spelling)))


def tables(rows: NewRows) -> Iterator[Table]:
    """Each batch as a small table, whose rows are numbered in the batch, for predictions."""
    for batch in rows.batches():
        yield Table(rows.batched.name, (), batch.X, rows=batch.places + 1, n_rows=batch.n_rows)


def labelled(
    rows: NewRows, known: ModelFile, refuse: Callable[[NewBatch], None], passes: ClusterPasses | None = None
) -> OutsideMemory:
    """The rows with their labels, which are all checked in a first pass; on workers if they read the rows."""
    here = LabelledNewRows(rows, known.scorer.classes, refuse)
    found: OutsideMemory = here
    if passes is not None:
        from separatrix.streams.encoded_on_cluster import checked_on_workers

        found = checked_on_workers(here, passes)
    if not found.n_rows:
        raise TableError(rows.batched.name, "no row is left: each lacks a value", "fill them in")
    return found
