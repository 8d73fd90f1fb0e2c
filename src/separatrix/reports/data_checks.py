"""Data checks of a table that was read for a model, with the values that were missing before they were filled."""

from __future__ import annotations

from collections.abc import Mapping

from separatrix.base.number_text import many
from separatrix.checks import Checks, Finding
from separatrix.checks.encoded import check_encoded
from separatrix.checks.finding import share
from separatrix.checks.missing_values import SHARE_MISSING_TO_WARN, absent, handled
from separatrix.table import Table


def data_checks(table: Table, missing: Mapping[str, int] | None) -> Checks:
    """The findings about a labelled table. ``for_report()`` turns them into what ``report(checks=…)`` takes.

    ``missing`` gives the number of missing values of each column before they were filled; None if it is not known.

    >>> import pandas as pd
    >>> from separatrix.table import read_raw
    >>> ages = [31, None, 47, 52, 38, 60, 29, 44]
    >>> raw = read_raw(pd.DataFrame({"age": ages, "ill": [0, 0, 1, 1, 0, 1, 1, 0]}), target="ill", missing="impute")
    >>> finding = data_checks(raw.learned(), raw.holes).of("missing")[0]
    >>> finding.severity, finding.told[:60]
    ('warning', "In 'age' 1 (12.5 %), of 8 rows. A fit fills them with the me")
    """
    assert table.y is not None
    assert table.rows is not None
    return check_encoded(table, table.y, [] if missing is None else [_lacking(table, missing)])


def _lacking(table: Table, missing: Mapping[str, int]) -> Finding:
    """The finding about missing values and what was done with them. Rows left out lacked a value or their label."""
    n, lost = table.X.shape[0], table.n_rows - table.X.shape[0]
    if lost > 0 and not missing:
        severity = "warning" if lost >= SHARE_MISSING_TO_WARN * table.n_rows else "note"
        sentence = f"{many(lost, 'row')} of {table.n_rows:,} ({share(lost, table.n_rows)}) lacked a value or a label."
        remedy = "They were left out, so this page is about the other rows. Find out why they are missing."
        return Finding(severity, "missing", "Rows with missing values were left out.", sentence, remedy)
    if not missing:
        return absent(missing, n, "")
    return handled(missing, n, "error" if table.encoder is None else table.encoder.missing)
