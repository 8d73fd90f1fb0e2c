"""A table ready for a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from separatrix.arrays import AnyArray, Integers
from separatrix.table.encoder import Encoder
from separatrix.table.schema import Schema


@dataclass(frozen=True)
class Table:
    """Rows for a classifier: X (m, d) of the columns ``names``, y (m,) with a target.

    X is float64 in C order, or CSR where the source is sparse; then there is no ``encoder``: columns are numbers by
    name. ``rows`` (m,) are the rows' numbers in the source, counted from 1, of ``n_rows`` in all: some may have been
    left out. ``notes`` are sentences on what was ignored, filled or looks odd.
    """

    source: str
    names: tuple[str, ...]
    X: Any
    target: str | None = None
    y: AnyArray | None = None
    encoder: Encoder | None = None
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    rows: Integers | None = None
    n_rows: int = 0
