"""A table ready for a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from separatrix.base.arrays import AnyArray, Integers
from separatrix.table.encoder import Encoder
from separatrix.table.scaling import Scaling
from separatrix.table.schema import Schema


@dataclass(frozen=True, repr=False)
class Table:
    """Rows for a classifier: X (m, d) of the columns ``names``, y (m,) with a target.

    X is float64 in C order, or CSR where the source is sparse; then there is no ``encoder``: columns are numbers by
    name. ``rows`` (m,) are the rows' numbers in the source, counted from 1, of ``n_rows`` in all: some may have been
    left out. ``notes`` are sentences on what was ignored, filled or looks odd. ``scaling``: the units of X, where they
    are not those of the columns.
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
    scaling: Scaling | None = None

    def __repr__(self) -> str:
        """What and how much, not the rows themselves.

        >>> from separatrix import read_table
        >>> read_table("demo:iris")
        Table(demo:iris: 150 rows, 4 columns, target 'species')
        """
        n, d = self.X.shape
        target = "" if self.target is None else f", target {self.target!r}"
        return f"Table({self.source}: {n} row{'s' * (n != 1)}, {d} column{'s' * (d != 1)}{target})"
