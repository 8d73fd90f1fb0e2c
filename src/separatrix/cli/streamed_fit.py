"""``separatrix fit`` for a table that does not fit into memory: its rows are read in batches, again in every pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from separatrix.base.errors import InputError, ParameterError
from separatrix.base.row_names import RowsFrom
from separatrix.cli import terminal
from separatrix.cli.cluster_options import passes_on
from separatrix.cli.fit_output import FitOutput
from separatrix.cli.memory_options import too_large
from separatrix.cli.row_split import StreamedSplit
from separatrix.evaluation.table_words import in_table
from separatrix.rows.labelled import OutsideMemory
from separatrix.streams.caching import CacheChoice
from separatrix.streams.encoded_cache import cached_rows
from separatrix.streams.encoded_scan import EncodedRows, split_rows
from separatrix.streams.memory_limit import LARGEST_MEMORY
from separatrix.table import Table
from separatrix.table.formats.batched import BatchedSource, batched
from separatrix.table.streaming.passes import ONE_READER
from separatrix.table.streaming.streamed_table import StreamedTable, streamed_table

if TYPE_CHECKING:
    from separatrix.cli.fit import Split
    from separatrix.cli.table_arguments import Wanted
    from separatrix.streams.encoded_on_cluster import ClusterPasses
    from separatrix.table.selection import Selection

# What needs the rows in memory, by option.
_IN_MEMORY = {
    "--cv": "cross-validation needs the table in memory",
    "--report": "a report needs the table in memory",
    "--stats": "standard errors on the command line need the table in memory",
}
_RAISE = "raise --memory, or leave it out"


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
    from separatrix.table.formats import Spelling
    from separatrix.table.selection import selected

    how = Spelling(**wanted.spelling)
    return selected(data, wanted.target, wanted.drop, wanted.read_schema(), how, **wanted.kinds)


def refuse_in_memory(model: Any, name: str, asked: dict[str, bool]) -> None:
    """Refuse options and models that need the rows in memory. ``asked``: whether each option was given."""
    for option, why in _IN_MEMORY.items():
        if asked.get(option):
            raise ParameterError(option, f"{why}, and it does not fit", _RAISE)
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
    told = partial(in_table, rows=RowsFrom.of(0), names=rows.columns, references=learned.encoder.references)
    with terminal.working(f"fitting {name}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = new_model().fit(rows)
        except InputError as error:
            error.problem = told(error.problem)
            raise
        certificate = model.certificate_
        model.certificate_ = replace(
            certificate,
            status=told(certificate.status),
            bound_reason=told(certificate.bound_reason),
            weight_error_reason=told(certificate.weight_error_reason),
        )
    notes = (opened.note, *learned.notes)
    where: dict[str, Any] = {"n_rows": table.n_rows, "scaling": learned.scaling, "files": table.files}
    parts = (table.target, None, learned.encoder, table.schema, notes)
    shown = Table(table.source, rows.columns, None, *parts, **where)
    output = FitOutput(shown, name, model, StreamedSplit(rows, tested, encoded.counts), split.test_size, split.seed)
    return output, list(caught), table


def _homes(
    fitted: EncodedRows, held: EncodedRows | None, passes: ClusterPasses | None, cache: str | None
) -> tuple[OutsideMemory, OutsideMemory | None]:
    """The fitted rows and those held out, where they are read in every pass: in a cache, or on workers."""
    if passes is None:
        return cached_rows(fitted, cache), held
    from separatrix.streams.encoded_on_cluster import on_workers

    return on_workers(fitted, passes), None if held is None else on_workers(held, passes)
