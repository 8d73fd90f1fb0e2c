"""A table that classifiers read in pieces, again in every pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.cached import cached_property
from separatrix.base.errors import ParameterError, TableError
from separatrix.base.file_fingerprints import files_fingerprint
from separatrix.base.labels import encode
from separatrix.rows.coding import ClassTotals, Coding
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.streamed import Learnt, Piece, StreamedRows
from separatrix.streams.batches import Batches, ParquetBatches
from separatrix.streams.matrix import float_width, matrix, refuse_other_types
from separatrix.streams.target import Target, found_classes


@dataclass(frozen=True, eq=False)
class Scan(OutsideMemory):
    """A table outside memory. Make one with ``separatrix.scan``, and give it to ``fit`` in place of X and y."""

    batches: Batches
    columns: tuple[str, ...]
    target_column: str | None
    weight_column: str | None
    given_classes: AnyArray | None
    memory: int

    @property
    def name(self) -> str:
        return self.batches.name

    @property
    def fingerprint(self) -> str:
        """The files, their sizes and the times when they were last changed."""
        return files_fingerprint(self.name, getattr(self.batches, "paths", ()))

    @cached_property
    def dtype(self) -> Any:
        """float32 if all columns are, else float64."""
        return float_width(self.batches.schema, self.columns)

    @cached_property
    def _classes_and_totals(self) -> tuple[AnyArray, ClassTotals]:
        """Found in a pass over the columns of labels and weights alone."""
        target, weight = self._labels_in(), self.weight_column
        read = [target] if weight is None else [target, weight]
        return found_classes(self.batches.read(read), self.name, target, weight)

    def _labels_in(self) -> str:
        if self.target_column is None:
            raise ParameterError("target", "the scan has none", "name the column of labels: scan(..., target='y')")
        return self.target_column

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        return self._classes_and_totals[0]

    @property
    def totals(self) -> ClassTotals:
        """The number of rows and the weight of each class."""
        return self._classes_and_totals[1]

    def rows(self, coding: Coding) -> StreamedRows:
        """The rows with the targets and weights of a coding."""
        source, frame = ScanSource(self, coding), Frame.identity(self.n_features)
        return StreamedRows(source, frame, weight_unit=coding.unit, learnt=Learnt(self.n_rows))


@dataclass(frozen=True)
class ScanSource:
    """The pieces of a scan, with targets and weights computed batch by batch."""

    scan: Scan
    coding: Coding

    @property
    def name(self) -> str:
        return self.scan.name

    @property
    def n_features(self) -> int:
        return self.scan.n_features

    @property
    def is_sparse(self) -> bool:
        return False

    def pieces(self) -> Iterator[Piece]:
        scan = self.scan
        target = Target(scan.name, scan._labels_in(), scan.weight_column, scan.classes)
        extra = [target.column, *([] if target.weight is None else [target.weight])]
        for batch in scan.batches.read([*scan.columns, *extra]):
            t, weight = self.coding.of(target.codes(batch), target.weights(batch))
            yield Piece(matrix(batch, scan.columns, scan.dtype), t, weight)


def scan(
    data: Any,
    target: str | None = None,
    weight: str | None = None,
    classes: Sequence[Any] | None = None,
    memory: str | int = "1GB",
) -> Scan:
    """Open a table that does not fit into memory, for ``fit``, ``predict`` and the functions that take a fitted model.

    Parameters
    ----------
    data : str or path
        A Parquet file, or a glob pattern of such files.
    target : str, optional
        The column of labels. A fit needs it, a prediction does not.
    weight : str, optional
        A column of weights >= 0; a row of weight 2 counts as two rows.
    classes : sequence, optional
        All labels. Without them the column of labels is read once more, before the first pass.
    memory : str or int, default "1GB"
        About how much memory a fit may take.

    Returns
    -------
    Scan

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> from separatrix import LogisticRegression
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "a", "b"]}), f"{folder}/1.parquet")
    ...     model = LogisticRegression().fit(scan(f"{folder}/*.parquet", target="y"))
    >>> model.predict([[0.0], [3.0]]).tolist()
    ['a', 'b']
    """
    batches = _opened(data)
    names = batches.schema.names
    for what, name in (("target", target), ("weight", weight)):
        if name is not None and name not in names:
            raise TableError(batches.name, f"it has no column {name!r}", f"{what} is one of {names}")
    columns = tuple(name for name in names if name not in (target, weight))
    refuse_other_types(batches.name, batches.schema, columns)
    given = None if classes is None else encode(classes)[0]
    return Scan(batches, columns, target, weight, given, memory_bytes(memory))


def _opened(data: Any) -> Batches:
    paths = sorted(glob(str(data)))
    if not paths:
        raise TableError(str(data), "there is no such file", "give a file, or a pattern that matches some")
    return ParquetBatches(str(data), tuple(map(Path, paths)))


def memory_bytes(memory: str | int) -> int:
    """A size in bytes from a number or from a text such as "1GB".

    >>> memory_bytes("1.5 GB"), memory_bytes("500MB"), memory_bytes(4096)
    (1500000000, 500000000, 4096)
    """
    units = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1}
    text = str(memory).strip().upper()
    unit = next((unit for unit in units if text.endswith(unit)), "")
    try:
        size = float(text.removesuffix(unit)) * units.get(unit, 1)
    except ValueError:
        size = np.nan
    if not 0 < size < np.inf:
        raise ParameterError("memory", f"got {memory!r}", "give a size such as '1GB' or '500MB'")
    return int(size)
