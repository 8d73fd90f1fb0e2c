"""The format of SVMlight and LIBSVM: a label, then index:value pairs; what is not written is zero.

A column is called by its index in the file, x1, x2, …; there is an x0 only where the file has that index, so that files
counted from 0 and from 1 both keep their own numbers. X stays sparse. Read by scikit-learn.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.arrays import AnyArray, Integers
from separatrix.errors import TableError
from separatrix.table.sources.counted import counted
from separatrix.table.sources.source import SOME_ROWS

TARGET = "label"


@dataclass(frozen=True)
class SparseSource:
    """All rows, in memory: ``values`` is CSR (n, 1 + largest index), ``labels`` (n,) whole numbers if they can be."""

    name: str
    values: Any
    labels: AnyArray
    target: str | None = TARGET
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """x1, x2, … up to the largest index, and the label; x0 only where the file has it."""
        first = 0 if self.values[:, [0]].nnz else 1
        return (*(f"x{j}" for j in range(first, self.values.shape[1])), TARGET)

    def matrix(self, names: Sequence[str]) -> Any:
        """X (n, d), CSR, of the columns ``names``; a column beyond those of this file is zero."""
        from scipy.sparse import csr_array

        columns = _indices(self.name, names)
        wide = int(columns.max(initial=0)) + 1
        V = self.values
        if wide > V.shape[1]:
            V = csr_array((V.data, V.indices, V.indptr), shape=(V.shape[0], wide))
        X = V[:, columns] if len(columns) else csr_array((V.shape[0], 0))
        X.sort_indices()
        return X

    def read(self, names: Sequence[str], literal: Collection[str] = ()) -> pa.Table:
        """The columns, dense."""
        X = self.matrix([name for name in names if name != TARGET]).toarray()
        columns = iter(X.T)
        return pa.table([pa.array(self.labels if name == TARGET else next(columns)) for name in names], list(names))


def open_svmlight(name: str, path: Path) -> SparseSource:
    """Read the whole file: its width is known at its end only."""
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    try:
        told = counted(path)
        with nullcontext(str(path)) if told is None else BufferedReader(told) as file:
            values, y = load_svmlight_file(file, zero_based=True)
    except (ValueError, OverflowError, OSError, EOFError) as error:
        reason = " ".join(str(error).split())[:200]
        do = "give lines such as: 1 3:0.5 7:2, with a number as the label and growing indices"
        raise TableError(name, f"it cannot be read as libsvm ({reason})", do) from error
    if len(y) == 0:
        raise TableError(name, "it is empty", SOME_ROWS)
    bad = np.flatnonzero(~np.isfinite(values.data))
    if len(bad):
        row = int(np.searchsorted(values.indptr, bad[0], side="right"))
        came = f"row {row}, column 'x{values.indices[bad[0]]}' is {values.data[bad[0]]}"
        raise TableError(name, came, "give finite numbers; what is left out is zero")
    whole = np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53)
    return SparseSource(name, csr_array(values), y.astype(np.int64) if whole else y)


def _indices(source: str, names: Sequence[str]) -> Integers:
    foreign = [name for name in names if not (name.startswith("x") and name[1:].isascii() and name[1:].isdigit())]
    if foreign:
        came = f"its columns are x1, x2, … and it has no column {foreign[0]!r}"
        raise TableError(source, came, "give a table with names, or a model that was fitted on a libsvm file")
    return np.array([int(name[1:]) for name in names], dtype=np.int64)
