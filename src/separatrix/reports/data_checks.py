"""Data checks of a table that was read for a model: what was missing before it was filled or left out is told, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from separatrix.checks import Checks, Finding
from separatrix.checks.finding import many, share
from separatrix.checks.running import checked
from separatrix.checks.single_columns import SHARE_MISSING_TO_WARN, absent
from separatrix.table import Table

# What a fit did with missing values, by its setting.
_DONE = {
    "impute": "They were filled with the means of the rows fitted. Find out why they are missing.",
    "indicator": (
        "They were filled with the means of the rows fitted, and marked by columns of their own where the rows fitted "
        "lacked some. Find out why they are missing."
    ),
}


def data_checks(table: Table, missing: Mapping[str, int] | None) -> Checks:
    """The findings on a labelled table, of which ``for_report()`` is what ``report(checks=…)`` takes.

    ``missing``: how many values each column lacked before they were filled, None where nobody knows: X itself has no
    holes any more.

    >>> import pandas as pd
    >>> from separatrix.table import read_raw
    >>> ages = [31, None, 47, 52, 38, 60, 29, 44]
    >>> raw = read_raw(pd.DataFrame({"age": ages, "ill": [0, 0, 1, 1, 0, 1, 1, 0]}), target="ill", missing="impute")
    >>> found = data_checks(raw.learned(), raw.holes).of("missing")[0]
    >>> found.severity, found.told[:60]
    ('warning', "In 'age' 1 (12.5 %), of 8 rows. They were filled with the me")
    """
    assert table.y is not None
    assert table.rows is not None
    columns = () if table.encoder is None else table.encoder.columns
    return checked(
        table.X,
        table.y,
        table.names,
        table.rows,
        [] if missing is None else [_lacking(table, missing)],
        {column.name: column.levels[0] for column in columns if column.levels},
        n_columns=len(columns) or len(table.names),
    )


def _lacking(table: Table, missing: Mapping[str, int]) -> Finding:
    """What was missing, and what was done; rows that were left out lack a value or their label."""
    n, lost = table.X.shape[0], table.n_rows - table.X.shape[0]
    if lost > 0 and not missing:
        severity = "warning" if lost >= SHARE_MISSING_TO_WARN * table.n_rows else "note"
        sentence = f"{many(lost, 'row')} of {table.n_rows:,} ({share(lost, table.n_rows)}) lacked a value or a label."
        do = "They were left out, so all here is about the others. Find out why they are missing."
        return Finding(severity, "missing", "Rows with missing values were left out.", sentence, do)
    finding = absent(missing, n, "")
    how = "error" if table.encoder is None else table.encoder.missing
    return replace(finding, do=_DONE[how]) if missing else finding
