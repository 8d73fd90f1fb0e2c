"""A table ready for a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.row_names import RowNames
from separatrix.table.encoder import Encoder
from separatrix.table.scaling import Scaling
from separatrix.table.schema import Schema


@dataclass(frozen=True, repr=False)
class Table:
    """A matrix X and labels y, with the names of the columns and notes on how they were read.

    Attributes
    ----------
    source : str
        The file or frame that was read.
    names : tuple of str
        The names of the columns of X.
    X : ndarray (m, d) or CSR matrix
        float64 in C order; CSR if the source is sparse.
    target : str or None
        The column of labels.
    y : ndarray (m,) or None
        The labels.
    encoder : Encoder or None
        How the table's columns became columns of X; None for a sparse source, whose columns are all numbers.
    schema : Schema or None
        What the table's columns hold.
    notes : tuple of str
        Sentences about what was left out, filled or looks odd.
    rows : ndarray (m,) or None
        The row numbers in the source, counted from 1. Some rows may have been left out.
    files : tuple of (str, int)
        The files of a folder, each with its number of rows; empty for one file.
    n_rows : int
        The number of rows in the source.
    scaling : Scaling or None
        The center and scale of each column of X; None if X has the units of the table.
    missing : mapping of str to int
        The number of missing values by column of the table, before they were filled, in the rows that have a label.
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
    files: tuple[tuple[str, int], ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)

    @property
    def row_names(self) -> RowNames:
        """What the rows are called: their numbers in the source, and in a folder also their files."""
        return RowNames.first(self.X.shape[0]) if self.rows is None else RowNames(self.rows, self.files)

    def __repr__(self) -> str:
        """The source, the number of rows and columns, and the target.

        >>> from separatrix import read_table
        >>> read_table("demo:iris")
        Table(demo:iris: 150 rows, 4 columns, target 'species')
        """
        n, d = self.X.shape
        target = "" if self.target is None else f", target {self.target!r}"
        return f"Table({self.source}: {n} row{'s' * (n != 1)}, {d} column{'s' * (d != 1)}{target})"
