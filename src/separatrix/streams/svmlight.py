"""libsvm files that do not fit into memory, plain or compressed, parsed piece by piece into CSR rows.

``table.formats.svmlight`` reads whole files, for ``read_table`` and the command line.

How many columns there are, and whether they are counted from 0 or from 1, is known only at the end of the files. So
parts have the indices of the file, and ``settled`` gives them all columns afterwards.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from separatrix.base.cached import cached_property
from separatrix.base.errors import NotFiniteError, TableError
from separatrix.base.read_ahead import read_ahead
from separatrix.rows.csr import as_csr
from separatrix.streams.batches import BATCH_BYTES, LabelKind
from separatrix.streams.delimited import stored_content
from separatrix.streams.files import FileSet, OfFiles
from separatrix.streams.table_parts import Part
from separatrix.table.formats.source import SOME_ROWS, UNREADABLE
from separatrix.table.formats.spelling import Spelling
from separatrix.table.formats.unpacking import Content

# The longest line that is read, in bytes.
LONGEST_LINE_BYTES = 1 << 28


@dataclass
class Survey:
    """What the files have shown: the largest index, the number of entries and of those with index 0."""

    largest: int = 0
    n_entries: int = 0
    n_zero_index: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    def see(self, X: Any) -> None:
        self.largest = max(self.largest, X.shape[1] - 1)
        self.n_entries += int(X.nnz)
        self.n_zero_index += int(np.count_nonzero(X.indices == 0))

    @property
    def first(self) -> int:
        """The index of the first column: 0 if the files have it, otherwise 1."""
        return 0 if self.n_zero_index else 1


@dataclass(frozen=True)
class SvmlightTable(OfFiles):
    """The rows of libsvm files. Their labels are numbers."""

    files: FileSet
    spelling: Spelling
    batch_bytes: int = BATCH_BYTES
    is_sparse: ClassVar[bool] = True
    is_slow: ClassVar[bool] = True
    label_kind: ClassVar[LabelKind] = "number"
    dtype: ClassVar[Any] = np.float64
    n_rows: ClassVar[None] = None
    description: ClassVar[str] = "libsvm"

    @cached_property
    def _known(self) -> list[Survey]:
        """The survey, once all rows have been read."""
        return []

    @property
    def survey(self) -> Survey:
        """What is known after all rows have been read, for which they are read unless they have been."""
        if not self._known:
            for _ in self.parts():
                pass
        return self._known[0]

    @property
    def columns(self) -> tuple[str, ...]:
        return column_names(self.survey.first, self.survey.largest)

    def called(self, row: int) -> str:
        counts = self._known[0].counts if self._known else {}
        return self.files.called(row, [counts.get(path, row + 1) for path in self.files.paths])

    def settled(self, X: Any) -> Any:
        """The rows with all columns, counted from the first one."""
        return settled(X, self.survey.first, self.survey.largest)

    def parts(self, numbers: bool = True) -> Iterator[Part]:
        found = Survey()
        for path in self.files.paths:
            rows = 0
            with stored_content(self.files, path, self.spelling) as content:
                for text in _lines(content):
                    X, y = _parsed(content.name, text, rows)
                    found.see(X)
                    self.spelling.limits.refuse_columns(content.name, found.n_entries, found.largest)
                    rows += len(y)
                    if len(y):
                        yield Part(X, pa.array(y), None)
            found.counts[path] = rows
        if not sum(found.counts.values()):
            raise TableError(self.name, "it is empty", SOME_ROWS)
        if not self._known:
            self._known.append(found)

    def parts_ahead(self) -> Generator[Part, None, None]:
        return read_ahead(self.parts())


def column_names(first: int, largest: int) -> tuple[str, ...]:
    """The names of columns by their indices.

    >>> column_names(1, 3)
    ('x1', 'x2', 'x3')
    """
    return tuple(f"x{j}" for j in range(first, largest + 1))


def settled(X: Any, first: int, largest: int) -> Any:
    """CSR rows with the indices of the file as rows with columns ``first``, …, ``largest``."""
    from scipy.sparse import csr_array

    rows = csr_array((X.shape[0], largest + 1 - first), dtype=X.dtype)
    rows.data, rows.indices, rows.indptr = X.data, X.indices - first if first else X.indices, X.indptr
    return as_csr(rows)


def _lines(content: Content) -> Iterator[bytes]:
    """The text in pieces of whole lines."""
    rest = b""
    try:
        for piece in content.pieces():
            text = rest + piece
            end = text.rfind(b"\n") + 1
            if end:
                yield text[:end]
            rest = text[end:]
            if len(rest) > LONGEST_LINE_BYTES:
                raise TableError(content.name, f"a line is longer than {LONGEST_LINE_BYTES >> 20} MB", "check the file")
    except (*UNREADABLE, EOFError) as error:
        reason = " ".join(str(error).split())[:200]
        raise TableError(content.name, f"it cannot be read ({reason})", "check the file, or copy it again") from error
    if rest.strip():
        yield rest


def _parsed(name: str, text: bytes, rows_before: int) -> tuple[Any, Any]:
    """The rows and labels of whole lines."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(BytesIO(text), zero_based=True)
    except (ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())[:200]
        problem = f"it cannot be read as libsvm after row {rows_before} ({reason})"
        remedy = "give lines such as: 1 3:0.5 7:2, with a numeric label and increasing indices"
        raise TableError(name, problem, remedy) from error
    bad = np.flatnonzero(~np.isfinite(X.data))
    if len(bad):
        row = rows_before + int(np.searchsorted(X.indptr, bad[0], side="right"))
        problem = f"row {row} of {name}, column 'x{X.indices[bad[0]]}' is {X.data[bad[0]]}"
        raise NotFiniteError("X", problem, "give finite numbers")
    return as_csr(X), y
