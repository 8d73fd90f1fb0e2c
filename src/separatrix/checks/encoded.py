"""Run the checks on a table that was read and encoded for a fit."""

from __future__ import annotations

from collections.abc import Sequence

from separatrix.base.arrays import AnyArray
from separatrix.checks.finding import Checks, Finding
from separatrix.checks.running import checked
from separatrix.table import Table


def check_encoded(
    table: Table,
    y: AnyArray,
    first: Sequence[Finding] = (),
    only: Sequence[str] | None = None,
    unread: tuple[str, ...] = (),
    constant: tuple[str, ...] = (),
) -> Checks:
    """The findings about the rows of a table with labels y (m,), after those in ``first``.

    ``only`` names the checks to run, all by default. Columns without names are called x0, x1 and so on.
    ``unread`` and ``constant`` are columns of the source that the table lacks, since they are text or do not vary.

    >>> from separatrix import read_table
    >>> table = read_table("demo:outlier-1d")
    >>> [finding.check for finding in check_encoded(table, table.y, only=["leakage"])]
    ['leakage']
    """
    encoder = table.encoder
    columns = () if encoder is None else encoder.columns
    names = table.names or tuple(f"x{j}" for j in range(table.X.shape[1]))
    return checked(
        table.X,
        y,
        names,
        table.row_names,
        first,
        {} if encoder is None else encoder.references,
        only,
        n_columns=len(columns) or len(names),
        ngrams=None if encoder is None else encoder.of_text,
        sources=tuple(column.name for column in columns for _ in column.names),
        unread=unread,
        constant=constant,
    )
