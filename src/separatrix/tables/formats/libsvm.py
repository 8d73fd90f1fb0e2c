"""The SVMlight and LIBSVM format: a label, then index:value pairs; values that are not written are zero.

Columns are named by their index in the file: x1, x2, … There is an x0 only if the file has index 0, so the names fit
files that count from 0 and files that count from 1. X stays sparse. scikit-learn reads the file, plain or compressed by
gzip or Zstandard. Several files make one table, as wide as the widest of them. Files that do not fit into memory are
read by `tables/file_batches.py`.
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

from separatrix.core.base.arrays import AnyArray, Integers
from separatrix.core.base.errors import TableError
from separatrix.core.base.labels import RowNames, short_names
from separatrix.tables.formats.source import DEFAULT_LIMITS, PIECE_BYTES, SOME_ROWS, UNREADABLE, Content, Limits

TARGET = "label"
# Possessive quantifiers: without backtracking, a line of a million digits is scanned only once.
_NUMBER = rb"[-+]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][-+]?+\d++)?+"
# One label or several, the pairs, a comment. Several labels are valid libsvm, though they cannot be read here.
_LINE = re.compile(
    rb"\s*+%b(?:,%b)*+(?:\s++qid:\d++)?+(?P<pairs>(?:\s++\d++:%b)*+)\s*+(?:#.*+)?+" % (_NUMBER, _NUMBER, _NUMBER),
    re.DOTALL,
)
# An index with more digits would overflow 64 bits. It is taken for one that is past every column.
_MOST_INDEX_DIGITS = 18
# The number of lines used to recognise the format. The first rows may be all zero and have no pairs.
_LINES_TO_RECOGNISE = 20


@dataclass(frozen=True)
class SparseSource:
    """All rows in memory: ``values`` is CSR (n, 1 + largest index); ``labels`` (n,) are integers if possible."""

    name: str
    values: Any
    labels: AnyArray
    target: str | None = TARGET
    notes: tuple[str, ...] = ()
    files: tuple[tuple[str, int], ...] = ()

    @property
    def row_names(self) -> RowNames:
        """The names of all rows."""
        return RowNames.first(len(self.labels), self.files)

    @property
    def names(self) -> tuple[str, ...]:
        """x1, x2, … up to the largest index, then the label; x0 comes first if the file has index 0."""
        first = 0 if self.values[:, [0]].nnz else 1
        return (*(f"x{j}" for j in range(first, self.values.shape[1])), TARGET)

    def matrix(self, names: Sequence[str]) -> Any:
        """X (n, d) as CSR with the columns ``names``; columns that the file does not have are zero."""
        from scipy.sparse import csr_array

        columns = _indices(self.name, names)
        present = np.flatnonzero(columns < self.values.shape[1])
        X = self.values[:, columns[present]] if len(present) else csr_array((self.values.shape[0], 0))
        if len(present) < len(columns):
            moved = present.astype(X.indices.dtype)[X.indices]
            X = csr_array((X.data, moved, X.indptr), shape=(X.shape[0], len(columns)))
        X.sort_indices()
        return X

    def read(self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()) -> pa.Table:
        """The columns as dense arrays."""
        X = self.matrix([name for name in names if name != TARGET]).toarray()
        columns = iter(X.T)
        return pa.table([pa.array(self.labels if name == TARGET else next(columns)) for name in names], list(names))


def open_svmlight(name: str, source: Path | bytes, limits: Limits = DEFAULT_LIMITS) -> SparseSource:
    r"""Read the whole file; its width is known only at its end.

    >>> open_svmlight("a table", b"1 3:0.5\n0 1:2 2:1\n").names
    ('x1', 'x2', 'x3', 'label')
    """
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    try:
        with Content(name, source, limits) as content:
            if content.compression:  # Unpacked once before parsing, so that a file beyond the limits is refused.
                for _ in content.pieces():
                    pass
            with content.stream() as stream:
                values, y = load_svmlight_file(BufferedReader(stream, PIECE_BYTES), zero_based=True)
    except TableError:
        raise
    except (*UNREADABLE, ValueError, OverflowError, EOFError) as error:
        reason = " ".join(str(error).split())[:200]
        remedy = "give lines such as: 1 3:0.5 7:2, with a numeric label and increasing indices"
        raise TableError(name, f"it cannot be read as libsvm ({reason})", remedy) from error
    if len(y) == 0:
        raise TableError(name, "it is empty", SOME_ROWS)
    limits.refuse_columns(name, values.nnz, values.shape[1] - 1)
    bad = np.flatnonzero(~np.isfinite(values.data))
    if len(bad):
        row = int(np.searchsorted(values.indptr, bad[0], side="right"))
        problem = f"row {row}, column 'x{values.indices[bad[0]]}' is {values.data[bad[0]]}"
        raise TableError(name, problem, "give finite numbers")
    whole = np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53)
    return SparseSource(name, csr_array(values), y.astype(np.int64) if whole else y)


def join_sparse(name: str, files: Sequence[SparseSource], notes: tuple[str, ...] = ()) -> SparseSource:
    r"""The rows of all files, one below the other. Columns that a file does not have are zero in its rows.

    >>> files = [open_svmlight("a", b"1 1:2\n"), open_svmlight("b", b"0 3:4\n")]
    >>> join_sparse("both", files).matrix(["x1", "x3"]).toarray().tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    from scipy.sparse import csr_array, vstack

    width = max(file.values.shape[1] for file in files)
    parts = [csr_array((V.data, V.indices, V.indptr), shape=(V.shape[0], width)) for V in (f.values for f in files)]
    labels = np.concatenate([file.labels for file in files])
    file_notes = dict.fromkeys(note for file in files for note in file.notes)
    counts = [len(file.labels) for file in files]
    short = tuple(zip(short_names([file.name for file in files]), counts, strict=True))
    whole = csr_array(vstack(parts, format="csr"))
    return SparseSource(name, whole, labels, notes=(*file_notes, *notes), files=short)


def seems_svmlight(content: Content) -> bool:
    r"""Whether the first lines consist of a number and index:value pairs, unlike the header of a table.

    >>> texts = (b"# made by hand\n0\n+1 3:0.5 7:2\n", b"a,y\n1,0\n", b"1\n2\n")
    >>> [seems_svmlight(Content("a table", text)) for text in texts]
    [True, False, False]
    """
    try:
        with content.stream() as stream:
            buffered = BufferedReader(stream)
            lines = [
                line for line in (buffered.readline(PIECE_BYTES) for _ in range(_LINES_TO_RECOGNISE)) if line.strip()
            ]
    except UNREADABLE:
        return False
    for line in lines:
        if line.lstrip().startswith(b"#"):
            continue
        match = _LINE.match(line)
        if match is None or (match.end() < len(line) < PIECE_BYTES):  # Only the start of a longer line was read.
            return False
        if match["pairs"].strip():
            return True
    return False


def _indices(source: str, names: Sequence[str]) -> Integers:
    foreign = [name for name in names if not (name.startswith("x") and name[1:].isascii() and name[1:].isdigit())]
    if foreign:
        problem = f"its columns are x1, x2, … and it has no column {foreign[0]!r}"
        raise TableError(source, problem, "give a table with names, or a model that was fitted on a libsvm file")
    return np.array([_index(name[1:]) for name in names], dtype=np.int64)


def _index(digits: str) -> int:
    """The index that the digits spell; if they do not fit 64 bits, an index that no file has."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= _MOST_INDEX_DIGITS else 10**_MOST_INDEX_DIGITS
