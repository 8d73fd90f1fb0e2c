"""Tables for a fitted model that do not fit into memory: ``predict`` and ``evaluate`` read them in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from separatrix.base.errors import TableError
from separatrix.cli.memory_options import TooLarge, too_large
from separatrix.cli.model_arguments import as_fitted
from separatrix.streams.new_rows import LabelledNewRows, NewBatch, NewRows
from separatrix.table import Table, open_source
from separatrix.table.formats import Spelling
from separatrix.table.formats.batched import refuse_unbatched
from separatrix.table.new_rows import asked_columns

if TYPE_CHECKING:
    from separatrix.model_file import ModelFile


def opened(
    known: ModelFile,
    data: str,
    spelling: dict[str, Any],
    memory: str | None,
    strict: bool,
    target: str | None = None,
    labelled: bool = False,
) -> tuple[NewRows, TooLarge] | None:
    """The rows for a model, if they do not fit into memory; None if they are to be read at once.

    A model without names of columns finds them by their order, which is done in memory.
    """
    columns = known.features if known.encoder is None else known.encoder
    if columns is None:
        return None
    how = Spelling(**as_fitted(known, spelling))
    source = open_source(data, how)
    large = too_large(source, memory)
    if large is None:
        return None
    refuse_unbatched(source)
    classes = [label for label in known.scorer.classes.tolist() if isinstance(label, str)]
    typed = len(classes) < len(known.scorer.classes)
    target = known.target if target is None else target
    asked = asked_columns(source, columns, strict, target, labelled, classes, how.header)
    return NewRows(large.batched, asked, known.scaled, strict, typed, classes), large


def tables(rows: NewRows) -> Iterator[Table]:
    """Each batch as a small table, whose rows are numbered in the batch, for predictions."""
    for batch in rows.batches():
        yield Table(rows.batched.name, (), batch.X, rows=batch.places + 1, n_rows=batch.n_rows)


def labelled(rows: NewRows, known: ModelFile, refuse: Callable[[NewBatch], None]) -> LabelledNewRows:
    """The rows with their labels, which are all checked in a first pass."""
    found = LabelledNewRows(rows, known.scorer.classes, refuse)
    if not found.n_rows:
        raise TableError(rows.batched.name, "no row is left: each lacks a value", "fill them in")
    return found
