"""The format of SVMlight and LIBSVM: a label, then index:value pairs; what is not written is zero.

A column is called by its index in the file, x1, x2, …; there is an x0 only where the file has that index, so that files
counted from 0 and from 1 both keep their own numbers. X stays sparse. Read by scikit-learn, plain or compressed by gzip
or Zstandard; several files are one table as wide as the widest of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.errors import TableError
from separatrix.table.formats.limits import USUAL, Limits
from separatrix.table.formats.source import SOME_ROWS, UNREADABLE
from separatrix.table.formats.unpacking import Content

TARGET = "label"
# Bytes that are read at once.
_PIECE = 1 << 20
# Quantifiers do not give back what they took, so that a line of a million digits is looked at once.
_NUMBER = rb"[-+]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?+\d++)?+"
# A label, or several, which no reader here takes and which are none the less libsvm's; the pairs; a comment.
_LINE = re.compile(
    rb"\s*+%b(?:,%b)*+(?:\s++qid:\d++)?+(?P<pairs>(?:\s++\d++:%b)*+)\s*+(?:#.*+)?+" % (_NUMBER, _NUMBER, _NUMBER),
    re.DOTALL,
)
# Digits of an index: what has more is past every column.
_DIGITS = 18
# Lines that are looked at: rows without a pair, which are zero throughout, may stand before one that has some.
_LOOKED_AT = 20


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
        own = np.flatnonzero(columns < self.values.shape[1])
        X = self.values[:, columns[own]] if len(own) else csr_array((self.values.shape[0], 0))
        if len(own) < len(columns):
            moved = own.astype(X.indices.dtype)[X.indices]
            X = csr_array((X.data, moved, X.indptr), shape=(X.shape[0], len(columns)))
        X.sort_indices()
        return X

    def read(self, names: Sequence[str], literal: Collection[str] = ()) -> pa.Table:
        """The columns, dense."""
        X = self.matrix([name for name in names if name != TARGET]).toarray()
        columns = iter(X.T)
        return pa.table([pa.array(self.labels if name == TARGET else next(columns)) for name in names], list(names))


def open_svmlight(name: str, source: Path | bytes, limits: Limits = USUAL) -> SparseSource:
    r"""Read the whole file: its width is known at its end only.

    >>> open_svmlight("a table", b"1 3:0.5\n0 1:2 2:1\n").names
    ('x1', 'x2', 'x3', 'label')
    """
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    try:
        with Content(name, source, limits) as content:
            if content.compression:  # it is unpacked first, so that one too large is never parsed
                for _ in content.pieces():
                    pass
            with content.stream() as stream:
                values, y = load_svmlight_file(BufferedReader(stream, _PIECE), zero_based=True)
    except TableError:
        raise
    except (*UNREADABLE, ValueError, OverflowError, EOFError) as error:
        reason = " ".join(str(error).split())[:200]
        do = "give lines such as: 1 3:0.5 7:2, with a number as the label and growing indices"
        raise TableError(name, f"it cannot be read as libsvm ({reason})", do) from error
    if len(y) == 0:
        raise TableError(name, "it is empty", SOME_ROWS)
    limits.refuse_columns(name, values.nnz, values.shape[1] - 1)
    bad = np.flatnonzero(~np.isfinite(values.data))
    if len(bad):
        row = int(np.searchsorted(values.indptr, bad[0], side="right"))
        came = f"row {row}, column 'x{values.indices[bad[0]]}' is {values.data[bad[0]]}"
        raise TableError(name, came, "give finite numbers; what is left out is zero")
    whole = np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53)
    return SparseSource(name, csr_array(values), y.astype(np.int64) if whole else y)


def join_sparse(name: str, files: Sequence[SparseSource], notes: tuple[str, ...] = ()) -> SparseSource:
    r"""The rows of all files, one below the other; a column that a file has not is zero in its rows.

    >>> files = [open_svmlight("a", b"1 1:2\n"), open_svmlight("b", b"0 3:4\n")]
    >>> join_sparse("both", files).matrix(["x1", "x3"]).toarray().tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    from scipy.sparse import csr_array, vstack

    width = max(file.values.shape[1] for file in files)
    parts = [csr_array((V.data, V.indices, V.indptr), shape=(V.shape[0], width)) for V in (f.values for f in files)]
    labels = np.concatenate([file.labels for file in files])
    said = dict.fromkeys(note for file in files for note in file.notes)
    return SparseSource(name, csr_array(vstack(parts, format="csr")), labels, notes=(*said, *notes))


def seems_svmlight(content: Content) -> bool:
    r"""Whether the first lines are a number and then index:value pairs, which no header of a table is.

    >>> texts = (b"# made by hand\n0\n+1 3:0.5 7:2\n", b"a,y\n1,0\n", b"1\n2\n")
    >>> [seems_svmlight(Content("a table", text)) for text in texts]
    [True, False, False]
    """
    try:
        with content.stream() as stream:
            buffered = BufferedReader(stream)
            lines = [line for line in (buffered.readline(_PIECE) for _ in range(_LOOKED_AT)) if line.strip()]
    except UNREADABLE:
        return False
    for line in lines:
        if line.lstrip().startswith(b"#"):
            continue
        found = _LINE.match(line)
        if found is None or (found.end() < len(line) < _PIECE):  # of a longer line, as much as was read
            return False
        if found["pairs"].strip():
            return True
    return False


def _indices(source: str, names: Sequence[str]) -> Integers:
    foreign = [name for name in names if not (name.startswith("x") and name[1:].isascii() and name[1:].isdigit())]
    if foreign:
        came = f"its columns are x1, x2, … and it has no column {foreign[0]!r}"
        raise TableError(source, came, "give a table with names, or a model that was fitted on a libsvm file")
    return np.array([_index(name[1:]) for name in names], dtype=np.int64)


def _index(digits: str) -> int:
    """The number that the digits write; a column that no file has, where they are too many for 64 bits."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= _DIGITS else 10**_DIGITS
