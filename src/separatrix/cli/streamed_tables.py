"""Tables that do not fit into memory, or that the workers of a cluster keep, for ``fit``, ``predict`` and ``evaluate``.

The command reads them in batches, again in every pass over the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from separatrix.cli import terminal
from separatrix.cli.fit_output import FitOutput, StreamedSplit
from separatrix.cli.model_options import as_fitted
from separatrix.cli.table_options import TooLarge, passes_on, too_large
from separatrix.core.base.errors import InputError, ParameterError, TableError
from separatrix.core.base.labels import RowNames
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.statistics.held_out_fit import in_table, retold
from separatrix.tables.batches import LARGEST_MEMORY
from separatrix.tables.cache import CacheChoice
from separatrix.tables.encoded_rows import EncodedRows, LabelledNewRows, NewBatch, NewRows, cached_rows, split_rows
from separatrix.tables.formats.batched import BatchedSource, batched, refuse_unbatched
from separatrix.tables.formats.opening import open_source
from separatrix.tables.formats.source import Source, Spelling
from separatrix.tables.read_table import Table, asked_columns
from separatrix.tables.selection import Selection, selected
from separatrix.tables.streamed_table import ONE_READER, StreamedTable, streamed_table

if TYPE_CHECKING:
    from separatrix.classifiers.model_file import ModelFile
    from separatrix.cli.fit import Split
    from separatrix.cli.table_options import Wanted
    from separatrix.tables.on_cluster import ClusterPasses

# --- Tables for a fitted model


@dataclass(frozen=True)
class SourceRequest:
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
        from separatrix.tables.on_cluster import checked_on_workers

        found = checked_on_workers(here, passes)
    if not found.n_rows:
        raise TableError(rows.batched.name, "no row is left: each lacks a value", "fill them in")
    return found


# --- Tables to fit a model to

# What needs the rows in memory, by option.
_IN_MEMORY = {
    "--cv": "cross-validation needs the table in memory",
    "--report": "a report needs the table in memory",
    "--stats": "standard errors on the command line need the table in memory",
}


@dataclass(frozen=True)
class LargeTable:
    """A table that is not read into memory, the request, and the reason. ``passes``: the workers that read it."""

    asked: Selection
    batched: BatchedSource
    note: str
    passes: ClusterPasses | None = None
    memory: float = LARGEST_MEMORY


def opened(data: str, wanted: Wanted, memory: str | None) -> LargeTable | None:
    """The table, if it is too large for memory; None if it is to be read at once."""
    asked = _selected(data, wanted)
    found = too_large(asked.source, memory)
    return None if found is None else LargeTable(asked, found.batched, found.note, memory=found.limit)


def opened_on(cluster: str, data: str, wanted: Wanted, stack: ExitStack) -> LargeTable:
    """The table, to be read by the workers of a cluster, which are connected until ``stack`` ends."""
    asked = _selected(data, wanted)
    passes, note = stack.enter_context(passes_on(cluster, asked.source))
    source = batched(asked.source)
    assert source is not None
    return LargeTable(asked, source, note, passes)


def _selected(data: str, wanted: Wanted) -> Selection:
    how = Spelling(**wanted.spelling)
    return selected(data, wanted.target, wanted.drop, wanted.read_schema(), how, **wanted.kinds)


def refuse_in_memory(model: Any, name: str, asked: dict[str, bool]) -> None:
    """Refuse options and models that need the rows in memory. ``asked``: whether each option was given."""
    for option, why in _IN_MEMORY.items():
        if asked.get(option):
            raise ParameterError(option, f"{why}, and it does not fit", "raise --memory, or leave it out")
    if getattr(model, "C", None) == "auto":
        problem = "the choice of C needs the table in memory, and it does not fit"
        raise ParameterError("--C", problem, "give a number, or raise --memory")
    reason = getattr(getattr(model, "traits", None), "in_memory", "")
    if reason:
        problem = f"{name} needs the table in memory, and it does not fit: {reason}"
        raise ParameterError("--model", problem, "raise --memory, or choose --model logistic")


def fitted(
    opened: LargeTable,
    wanted: Wanted,
    standardise: bool,
    split: Split,
    name: str,
    new_model: Callable[[], Any],
    cache: str | None,
) -> tuple[FitOutput, list[warnings.WarningMessage], StreamedTable]:
    """Learn the encoding of the table, fit the model, and collect the warnings."""
    unseen, passes = "error" if wanted.strict else "average", opened.passes
    with terminal.working(f"reading {opened.batched.name}") as say:
        folder = CacheChoice.of(cache).folder
        table = streamed_table(opened.asked, opened.batched, wanted.missing, unseen, passes or ONE_READER, folder)
        say(f"learning the encoding of {table.source}")
        learned, encoded, held = split_rows(table, split.test_size, split.seed, standardise, opened.memory)
        rows, tested = _homes(encoded, held, passes, cache)
    told = partial(in_table, rows=RowNames.following(0), names=rows.columns, references=learned.encoder.references)
    with terminal.working(f"fitting {name}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = new_model().fit(rows)
        except InputError as error:
            error.problem = told(error.problem)
            raise
        model.certificate_ = retold(model.certificate_, told)
    notes = (opened.note, *learned.notes)
    where: dict[str, Any] = {"n_rows": table.n_rows, "scaling": learned.scaling, "files": table.files}
    parts = (table.target, None, learned.encoder, table.schema, notes)
    shown = Table(table.source, rows.columns, None, *parts, **where)
    rule = replace(encoded.rule, thresholds=encoded.rule.thresholds[encoded.counts > 0])
    output = FitOutput(shown, name, model, StreamedSplit(rows, tested, encoded.counts), rule)
    return output, list(caught), table


def _homes(
    fitted: EncodedRows, held: EncodedRows | None, passes: ClusterPasses | None, cache: str | None
) -> tuple[OutsideMemory, OutsideMemory | None]:
    """The fitted rows and those held out, where they are read in every pass: in a cache, or on workers."""
    if passes is None:
        return cached_rows(fitted, cache), held
    from separatrix.tables.on_cluster import on_workers

    return on_workers(fitted, passes), None if held is None else on_workers(held, passes)
