"""Sentences about a fit with the row numbers and the column names of the user's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from separatrix.base.renamed_messages import with_columns, with_references
from separatrix.base.row_names import RowNames
from separatrix.proofs.naming import column_words


def in_table(status: str, rows: RowNames, names: Sequence[str], references: Mapping[str, str]) -> str:
    """A status with the row numbers and column names of the user's table instead of those of the fit.

    ``references`` has the reference level of each category.

    >>> import numpy as np
    >>> from separatrix.base.messages import Message, RowNumber
    >>> from separatrix.base.row_names import RowNames
    >>> print(in_table(Message("row ", RowNumber(0), " is wrong"), RowNames(np.array([4, 6])), [], {}))
    row 4 is wrong (rows counted from 1, as in the table)
    """
    named = with_columns(status, lambda j: column_words(names[j]))
    return rows.told(with_references(named, references))
