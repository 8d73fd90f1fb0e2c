"""Opens what ``scan`` is given: files by their extension, other objects by what they offer."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from separatrix.base.dask_types import is_dask
from separatrix.base.errors import TableError
from separatrix.streams import queries
from separatrix.streams.batches import BATCH_BYTES, Batches
from separatrix.streams.columnar import ArrowBatches, ParquetBatches
from separatrix.streams.delimited import DelimitedBatches
from separatrix.streams.files import FileSet, extension, file_set
from separatrix.streams.svmlight import SvmlightTable
from separatrix.table.formats.spelling import Spelling


@dataclass(frozen=True)
class Opening:
    """How to open a source: the marks of text files, the file system, and the size of batches in bytes.

    ``texts`` are the columns that stay text in files without types: the labels.
    """

    spelling: Spelling
    filesystem: Any = None
    batch_bytes: int = BATCH_BYTES
    texts: tuple[str | int, ...] = ()


def _parquet(files: FileSet, how: Opening) -> Batches:
    return ParquetBatches(files, how.batch_bytes)


def _arrow(files: FileSet, how: Opening) -> Batches:
    return ArrowBatches(files, how.batch_bytes)


def _csv(files: FileSet, how: Opening) -> Batches:
    return DelimitedBatches(files, how.spelling, how.texts, how.batch_bytes)


def _tsv(files: FileSet, how: Opening) -> Batches:
    return _csv(files, replace(how, spelling=replace(how.spelling, delimiter=how.spelling.delimiter or "\t")))


def _svmlight(files: FileSet, how: Opening) -> SvmlightTable:
    return SvmlightTable(files, how.spelling, how.batch_bytes)


PACKED = ("", ".gz", ".zst")
FILES: dict[str, Callable[[FileSet, Opening], Batches | SvmlightTable]] = {
    **{f".csv{packed}": _csv for packed in PACKED},
    **{f".tsv{packed}": _tsv for packed in PACKED},
    **{f"{end}{packed}": _svmlight for end in (".libsvm", ".svm", ".svmlight") for packed in PACKED},
    **dict.fromkeys((".parquet", ".pq"), _parquet),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), _arrow),
}


@dataclass(frozen=True)
class Kind:
    """Objects of one kind: how to recognise them, and how to open them."""

    is_one: Callable[[Any], bool]
    opened: Callable[[Any, Opening], Batches | SvmlightTable]


def _comes_from(data: Any, package: str, attribute: str) -> bool:
    """Whether an object belongs to a package, which need not be installed, and has an attribute."""
    return type(data).__module__.split(".")[0].lstrip("_") == package and hasattr(data, attribute)


OBJECTS: tuple[Kind, ...] = (
    Kind(lambda data: isinstance(data, str | os.PathLike | list | tuple), lambda data, how: _files(data, how)),
    Kind(
        lambda data: _comes_from(data, "pyarrow", "to_batches") and hasattr(data, "scanner"),
        lambda data, how: queries.dataset(data, how.batch_bytes),
    ),
    Kind(
        lambda data: (
            _comes_from(data, "polars", "collect_schema") and hasattr(data, "lazy") and hasattr(data, "collect")
        ),
        lambda data, how: queries.lazy_frame(data, how.batch_bytes),
    ),
    Kind(
        lambda data: _comes_from(data, "duckdb", "project"),
        lambda data, how: queries.relation(data, how.batch_bytes),
    ),
    Kind(
        lambda data: hasattr(data, "__arrow_c_stream__") or callable(data),
        lambda data, how: queries.arrow_stream(data, how.batch_bytes),
    ),
)


def opened(data: Any, how: Opening) -> Batches | SvmlightTable:
    """The record batches of ``data``."""
    kind = next((kind for kind in OBJECTS if kind.is_one(data)), None)
    if kind is None:
        if is_dask(data):
            raise TableError("data", "got a Dask collection", "give it to fit directly, or to dask_table")
        problem = f"got {type(data).__name__}"
        remedy = (
            "give files, a data set of PyArrow, a lazy frame of polars, a relation of DuckDB, or a function that gives "
            "an Arrow stream; rows in memory are given to fit directly"
        )
        raise TableError("data", problem, remedy)
    return kind.opened(data, how)


def _files(data: Any, how: Opening) -> Batches | SvmlightTable:
    files = file_set(data, how.filesystem, tuple(FILES))
    opener = FILES.get(files.extension)
    if opener is None:
        problem = f"its extension {files.extension!r} is unknown" if files.extension else "it has no extension"
        raise TableError(files.paths[0], problem, f"give files that end in {', '.join(FILES)}")
    other = next((path for path in files.paths if FILES.get(extension(path)) is not opener), None)
    if other is not None:
        raise TableError(files.name, f"{other} has another format than {files.paths[0]}", "give files of one format")
    return opener(files, how)
