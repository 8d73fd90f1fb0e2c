"""``separatrix fit`` for a table that does not fit into memory: its rows are read in batches, again in every pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from separatrix.base.errors import InputError, ParameterError
from separatrix.base.row_names import RowsFrom
from separatrix.cli import terminal
from separatrix.cli.fit_output import FitOutput
from separatrix.cli.memory_options import TooLarge, too_large
from separatrix.cli.row_split import StreamedSplit
from separatrix.cli.wording import in_table
from separatrix.streams.encoded_cache import cached_rows
from separatrix.streams.encoded_scan import split_rows
from separatrix.table import Table
from separatrix.table.streaming.streamed_table import StreamedTable, streamed_table

if TYPE_CHECKING:
    from separatrix.cli.fit import Split
    from separatrix.cli.table_arguments import Wanted
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
    """A table that does not fit into memory, and what is asked of it."""

    asked: Selection
    large: TooLarge


def opened(data: str, wanted: Wanted, memory: str | None) -> LargeTable | None:
    """The table, if it is too large for memory; None if it is to be read at once."""
    from separatrix.table.formats import Spelling
    from separatrix.table.selection import selected

    asked = selected(
        data, wanted.target, wanted.drop, wanted.read_schema(), Spelling(**wanted.spelling), **wanted.kinds
    )
    found = too_large(asked.source, memory)
    return None if found is None else LargeTable(asked, found)


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
    unseen, large = "error" if wanted.strict else "average", opened.large
    with terminal.working(f"reading {large.batched.name}") as say:
        table = streamed_table(opened.asked, large.batched, wanted.missing, unseen)
        say(f"learning the encoding of {table.source}")
        learned, rows, held = split_rows(table, split.test_size, split.seed, standardise)
        rows = cached_rows(rows, cache)
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
    notes = (large.note, *learned.notes)
    where: dict[str, Any] = {"n_rows": table.n_rows, "scaling": learned.scaling, "files": table.files}
    parts = (table.target, None, learned.encoder, table.schema, notes)
    shown = Table(table.source, rows.columns, None, *parts, **where)
    output = FitOutput(shown, name, model, StreamedSplit(rows, held), split.test_size, split.seed)
    return output, list(caught), table
