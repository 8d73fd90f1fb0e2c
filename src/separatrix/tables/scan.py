"""`scan`: a table that classifiers read in pieces, again in every pass.

What ``scan`` is given is opened by its extension, if it is files, or by what the object offers. A ``Scan`` gives
``StreamedRows`` the rows with the targets and weights of a ``Coding``: from the source, or from a cache on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, ClassVar
from zlib import crc32

import numpy as np

from separatrix.core.base.arrays import AnyArray, Integers, Matrix
from separatrix.core.base.errors import LabelError, ParameterError, TableError
from separatrix.core.base.labels import encode
from separatrix.core.base.lazy import cached_property, is_dask
from separatrix.core.base.messages import many
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.core.rows.protocol import SAMPLE_SEED, sample_size
from separatrix.core.rows.sampling import LowestHashes
from separatrix.core.rows.streamed import Learnt, Piece, StreamedRows
from separatrix.core.rows.targets import CLASS_NUMBERS, ClassTotals, Coding
from separatrix.tables import queries
from separatrix.tables.batches import (
    BATCH_BYTES,
    Batches,
    FileSet,
    Stamp,
    batch_bytes,
    file_set,
    memory_bytes,
    most_drawn,
    refuse_too_little,
)
from separatrix.tables.cache import CacheChoice, CachedTable, CacheFile
from separatrix.tables.cells import listed
from separatrix.tables.file_batches import ArrowBatches, DelimitedBatches, ParquetBatches, SvmlightTable
from separatrix.tables.formats.csv_files import called
from separatrix.tables.formats.libsvm import TARGET as LABEL
from separatrix.tables.formats.source import PACKED, MemorySource, Spelling, distinct, extension
from separatrix.tables.table_parts import (
    BatchTable,
    LabelColumn,
    ListedClasses,
    Numbering,
    PartTable,
    TablePart,
    refuse_no_labels,
    refuse_other_types,
)

# --- What a user asks for

# How a table is written beyond what a scan reads: it has no dates, and no columns of a model.
_NOT_OF_SCANS = ("date_format", "target_place")


@dataclass(frozen=True)
class ColumnRoles:
    """The names of the columns of labels and of weights, each None if there is none, and of those to leave out.

    A column has one of these purposes.
    """

    target: str | None
    weight: str | None
    drop: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.target is not None and self.weight == self.target:
            remedy = "name another column, or leave weight out"
            raise ParameterError("weight", f"it names the target {self.target!r}", remedy)
        for what, column in (("target", self.target), ("weight", self.weight)):
            if column in self.drop:
                remedy = f"leave out other columns than the {what}"
                raise ParameterError("drop", f"it names the {what} {column!r}", remedy)

    @classmethod
    def of(
        cls, batches: Batches, target: str | int | None, weight: str | int | None, drop: Sequence[Any], header: bool
    ) -> ColumnRoles:
        """The columns as the table calls them. Without a header they may be given by their numbers."""
        source = MemorySource(batches.name, batches.schema.empty_table())
        one, other = (None if column is None else called(source, column, header) for column in (target, weight))
        return cls(one, other, tuple(called(source, column, header) for column in drop))


def text_spelling(given: Mapping[str, Any]) -> Spelling:
    """How text files are written; an error if one of the settings does not exist."""
    known = [field.name for field in fields(Spelling) if field.init and field.name not in _NOT_OF_SCANS]
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        near = get_close_matches(unknown, known, 1)
        remedy = f"give {near[0]}" if near else f"how text files are written is given by {', '.join(known)}"
        raise ParameterError(unknown, "scan has no such argument", remedy)
    return Spelling(**given)


# --- Sources


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


FILES: dict[str, Callable[[FileSet, Opening], Batches | SvmlightTable]] = {
    **{f".csv{packed}": _csv for packed in ("", *PACKED)},
    **{f".tsv{packed}": _tsv for packed in ("", *PACKED)},
    **{f"{end}{packed}": _svmlight for end in (".libsvm", ".svm", ".svmlight") for packed in ("", *PACKED)},
    **dict.fromkeys((".parquet", ".pq"), _parquet),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), _arrow),
}


@dataclass(frozen=True)
class TableKind:
    """Objects of one kind: how to recognise them, and how to open them."""

    is_one: Callable[[Any], bool]
    opened: Callable[[Any, Opening], Batches | SvmlightTable]


def _comes_from(data: Any, package: str, attribute: str) -> bool:
    """Whether an object belongs to a package, which need not be installed, and has an attribute."""
    return type(data).__module__.split(".")[0].lstrip("_") == package and hasattr(data, attribute)


OBJECTS: tuple[TableKind, ...] = (
    TableKind(lambda data: isinstance(data, str | os.PathLike | list | tuple), lambda data, how: _files(data, how)),
    TableKind(
        lambda data: _comes_from(data, "pyarrow", "to_batches") and hasattr(data, "scanner"),
        lambda data, how: queries.dataset(data, how.batch_bytes),
    ),
    TableKind(
        lambda data: (
            _comes_from(data, "polars", "collect_schema") and hasattr(data, "lazy") and hasattr(data, "collect")
        ),
        lambda data, how: queries.lazy_frame(data, how.batch_bytes),
    ),
    TableKind(
        lambda data: _comes_from(data, "duckdb", "project"),
        lambda data, how: queries.relation(data, how.batch_bytes),
    ),
    TableKind(
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


# --- Rows: read again in every pass, or from the cache

# Rows of the cache that are read at a time, in bytes, where they are read one after the other.
CACHED_PIECE_BYTES = 1 << 22


@dataclass(frozen=True)
class ReadRows:
    """The rows of a table, read from its source in every pass, with the targets and weights of a coding.

    ``parts`` gives the parts of the table with their class numbers. ``stamps``: those of its files when it was first
    read, with which every pass compares them.
    """

    table: PartTable
    parts: Callable[[], Iterator[tuple[TablePart, Integers]]]
    coding: Coding
    stamps: tuple[Stamp, ...]
    reads_ahead: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def n_features(self) -> int:
        return len(self.table.columns)

    @property
    def is_sparse(self) -> bool:
        return self.table.is_sparse

    def pieces(self) -> Iterator[Piece]:
        table = self.table
        for part, codes in self.parts():
            assert part.X is not None
            weight = np.ones(part.X.shape[0]) if part.weight is None else part.weight
            yield Piece(table.settled(part.X), *self.coding.of(codes, weight))
        refuse_changed(table, self.stamps)


def refuse_changed(table: PartTable, stamps: tuple[Stamp, ...]) -> None:
    """Raise an error if a file of the table no longer has its first stamp."""
    changed = next((new for old, new in zip(stamps, table.stamps, strict=True) if old != new), None)
    if changed is not None:
        problem = "it has changed since it was first read"
        raise TableError(changed.path, problem, "leave the file unchanged during a fit, and fit again")


@dataclass(frozen=True)
class CachedRows:
    """Dense rows in a cache, any of which can be read at any time."""

    name: str
    cache: CacheFile
    coding: Coding
    is_sparse: ClassVar[bool] = False
    reads_ahead: ClassVar[bool] = False

    @property
    def n_features(self) -> int:
        return len(self.cache.columns)

    @property
    def n_rows(self) -> int:
        return self.cache.n_rows

    def between(self, start: int, stop: int) -> Piece:
        """Rows start, …, stop − 1."""
        coded = self.coding.of(self.cache.codes(start, stop), self.cache.weights(start, stop))
        return Piece(self.cache.dense(start, stop), *coded)

    def pieces(self) -> Iterator[Piece]:
        return (self.between(start, stop) for start, stop in self._ranges())

    def matrices(self) -> Iterator[Matrix]:
        """X alone, in the same pieces."""
        return (self.cache.dense(start, stop) for start, stop in self._ranges())

    def _ranges(self) -> Iterator[tuple[int, int]]:
        size = max(1, CACHED_PIECE_BYTES // (8 * max(1, self.n_features)))
        return ((start, min(start + size, self.n_rows)) for start in range(0, self.n_rows, size))


@dataclass(frozen=True)
class CachedSparseRows:
    """CSR rows in a cache, in the pieces in which they were read first."""

    name: str
    cache: CacheFile
    coding: Coding
    is_sparse: ClassVar[bool] = True
    reads_ahead: ClassVar[bool] = False

    @property
    def n_features(self) -> int:
        return len(self.cache.columns)

    @cached_property
    def _edges(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.cache.footer.chunks[:, 1])])

    def pieces(self) -> Iterator[Piece]:
        for k, (start, stop) in enumerate(zip(self._edges[:-1].tolist(), self._edges[1:].tolist(), strict=True)):
            coded = self.coding.of(self.cache.codes(start, stop), self.cache.weights(start, stop))
            yield Piece(self.cache.sparse(k), *coded)

    def matrices(self) -> Iterator[Matrix]:
        """X alone, in the same pieces."""
        return (self.cache.sparse(k) for k in range(len(self.cache.footer.chunks)))


# A table of unknown length gets the largest sample, from which the rows of any smaller one are taken later.
UNKNOWN_ROWS = 1 << 62


def sampled_rows(source: Any, table: OutsideMemory, coding: Coding, memory: float) -> StreamedRows:
    """The rows of a source with the targets of a coding, and with the sample from which the fit of a likelihood starts.

    The sample is drawn in the first pass, whatever that computes. ``memory``: that of the fit in bytes, of which the
    sample takes a part; ``table``: the table of the rows.
    """
    n_classes = coding.n_classes(len(table.classes))
    width = table.n_features + 1
    n_parameters = width * (1 if coding.signs else n_classes)
    most = most_drawn(memory, n_parameters, width)
    n_rows, draw = table.known_rows, None
    if coding.signs or n_classes > 2:  # the coding of a likelihood, whose solvers ask for this sample
        targets = np.array([-1.0, 1.0]) if coding.signs else np.arange(n_classes)
        size = sample_size(UNKNOWN_ROWS if n_rows is None else n_rows, n_parameters, width)
        draw = LowestHashes(min(size, most), SAMPLE_SEED, targets)
    frame, learnt = Frame.identity(table.n_features), Learnt(n_rows)
    return StreamedRows(source, frame, weight_unit=coding.unit, draw=draw, most_drawn=most, learnt=learnt)


# --- Scans

# This much is accepted for tables of any width, also for those that need more.
_DEFAULT_MEMORY = "1GB"


@dataclass(frozen=True, eq=False, repr=False)
class Scan(OutsideMemory):
    """A table outside memory. Make one with ``separatrix.scan``, and give it to ``fit`` in place of X and y.

    Attributes
    ----------
    store : CachedTable
        The rows in parts, with their cache.
    columns : tuple of str
        The names of the columns of X.
    target_column, weight_column : str or None
        The names of the columns of labels and of weights.
    memory : int
        About how many bytes a fit may take.
    orders : set of int
        The checksums of the class numbers in the order of the rows, one of each pass. All must be equal.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> from separatrix import scan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"x": [0.0, 1.0, 2.0], "y": ["a", "b", "a"]}), f"{folder}/1.parquet")
    ...     table = scan(folder, target="y")
    ...     table.columns, table.classes.tolist(), table.n_rows
    (('x',), ['a', 'b'], 3)
    """

    store: CachedTable
    columns: tuple[str, ...]
    target_column: str | None
    weight_column: str | None
    memory: int
    orders: set[int] = field(default_factory=set)

    def __repr__(self) -> str:
        """The table and its columns, in a line."""
        labels = "no target" if self.target_column is None else f"target={self.target_column!r}"
        return f"<Scan of {self.name}: {many(len(self.columns), 'column')}, {labels}>"

    @property
    def table(self) -> PartTable:
        """The rows in parts, as the source gives them."""
        return self.store.table

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def dtype(self) -> Any:
        """float32 if all columns are, else float64."""
        return self.table.dtype

    @property
    def has_weights(self) -> bool:
        return self.weight_column is not None

    @property
    def absent_are_zero(self) -> bool:
        return self.table.is_sparse

    @cached_property
    def first_stamps(self) -> tuple[Stamp, ...]:
        """The sizes and times of the files when they were first read."""
        return tuple(self.table.stamps)

    @property
    def numbering(self) -> Numbering:
        """The classes and their totals: from the cache, from the first pass, or from a pass over labels and weights."""
        listed = self._listed
        return self._found_numbering if listed is None or listed.numbering is None else listed.numbering

    @cached_property
    def _found_numbering(self) -> Numbering:
        """The classes and their totals: from the cache, or found in a pass over labels and weights alone."""
        if self.target_column is None:
            raise ParameterError("target", "the scan has none", "name the column of labels: scan(..., target='y')")
        cache, _ = self.store.file, self.first_stamps
        if cache is not None and cache.numbering is not None:
            return cache.numbering
        labelling = self.store.labelling()
        assert labelling is not None
        for part in self.table.parts(numbers=False):
            labelling.codes(part.labels, part.weight)
        return labelling.numbering(self.weight_column is not None)

    @cached_property
    def _listed(self) -> ListedClasses | None:
        """The classes that the user has listed, if rows are not cached; otherwise the cache numbers the labels."""
        labels = self.store.labels
        if labels.column is None or labels.given is None or self.store.file is not None:
            return None
        return ListedClasses(self.table, labels, self.weight_column is not None)

    @property
    def _unnumbered(self) -> ListedClasses | None:
        """The listed classes, as long as no pass has counted their rows."""
        listed = self._listed
        known = listed is None or listed.numbering is not None or "_found_numbering" in vars(self)
        return None if known else listed

    @property
    def classes(self) -> AnyArray:
        """The labels, sorted."""
        listed = self._listed
        given = None if listed is None else listed.labels.given
        return self.numbering.classes if given is None else given

    @property
    def totals(self) -> ClassTotals:
        """The number of rows and the weight of each class."""
        return self.numbering.totals

    @property
    def seen_totals(self) -> ClassTotals:
        listed, _ = self._unnumbered, self.first_stamps
        seen = None if listed is None else listed.seen_totals()
        return self.totals if seen is None else seen

    @property
    def known_rows(self) -> int | None:
        return self.n_rows if self._unnumbered is None else self.table.n_rows

    def coded_parts(self) -> Iterator[tuple[TablePart, Integers]]:
        """The rows as the source gives them, and their class numbers. Another thread reads the next rows.

        Yields
        ------
        Part, array (m,) of int
        """
        checksum = 0
        for part, codes in self._coded_parts():
            checksum = crc32(codes.data, checksum)
            yield part, codes
        self.orders.add(checksum)
        if len(self.orders) > 1:
            problem = "its rows came in another order when they were read again, or with other labels"
            remedy = "give a query whose rows have an order (ORDER BY), or let scan cache them"
            raise TableError(self.name, problem, remedy)

    def _coded_parts(self) -> Iterator[tuple[TablePart, Integers]]:
        listed = self._unnumbered
        if listed is not None:
            yield from listed.parts()
            return
        numbering = self.numbering
        with closing(self.table.parts_ahead()) as parts:
            for part in parts:
                yield part, numbering.codes(part.labels, self.name)

    def matrices(self) -> Iterator[Matrix]:
        """X in consecutive pieces.

        Yields
        ------
        array (m, d), dense or sparse
        """
        cache = vars(self.store).get("file")  # if an earlier fit has made it
        if cache is not None:
            return self._cached(cache, CLASS_NUMBERS).matrices()
        return self._read_matrices(self.first_stamps)

    def _read_matrices(self, stamps: tuple[Stamp, ...]) -> Iterator[Matrix]:
        yield from (self.table.settled(part.X) for part in self.table.parts())
        refuse_changed(self.table, stamps)

    def rows(self, coding: Coding) -> StreamedRows:
        """The rows with the targets and weights of a coding.

        Parameters
        ----------
        coding : Coding
            How targets and weights are computed from class numbers.

        Returns
        -------
        StreamedRows
        """
        cache = self.store.file
        if cache is not None:
            return sampled_rows(self._cached(cache, coding), self, coding, self.memory)
        source = ReadRows(self.table, self.coded_parts, coding, self.first_stamps)
        return sampled_rows(source, self, coding, self.memory)

    def _cached(self, cache: CacheFile, coding: Coding) -> CachedRows | CachedSparseRows:
        return (CachedSparseRows if self.table.is_sparse else CachedRows)(self.name, cache, coding)


def scan(
    data: Any,
    target: str | int | None = None,
    weight: str | int | None = None,
    classes: Sequence[Any] | None = None,
    memory: str | int = _DEFAULT_MEMORY,
    cache: Any = None,
    drop: str | int | Sequence[str | int] = (),
    filesystem: Any = None,
    cluster: Any = None,
    **spelling: Any,
) -> OutsideMemory:
    """Open a table that does not fit into memory, for ``fit`` and the functions that take a fitted model.

    The rows are read again in every pass, in batches, or once from the source and then from a cache on disk. A fit
    gives the coefficients and the certificate of the same rows in memory; for tables of more than one block of rows (4
    MB), to the last bit.

    Parameters
    ----------
    data : str, path, list, or object
        Files: Parquet, Arrow (Feather), CSV or libsvm, by their extension; one, a list, a folder or a glob pattern. A
        text such as ``s3://bucket/folder`` names a file system of PyArrow. Or a data set of PyArrow, a lazy frame of
        polars, a relation of DuckDB, an object with ``__arrow_c_stream__`` that can be read many times, or a function
        without arguments that returns a new Arrow stream.
    target : str or int, optional
        The column of labels. A fit needs it, a prediction does not. In a libsvm file, each line begins with its label.
        With ``header=False``, columns may be given by their numbers: 1 for the first, -1 for the last.
    weight : str or int, optional
        A column of weights >= 0; a row of weight 2 counts as two rows.
    classes : sequence, optional
        All labels. A label that is not among them is refused, with its row and file, and one that no row has is a class
        without rows. Rows that are not cached are then read one time less, since without
        this list a pass over the column of labels precedes the others.
    memory : str or int, default "1GB"
        About how much memory a fit may take: the peak of the resident memory of the process, of which Python and its
        packages take about 250 MB. It limits the size of batches and of the sample of rows from which a fit starts, and
        does not depend on the number of rows. In addition, sums over d columns take d² numbers, and PyArrow takes
        a megabyte or two for each column of a Parquet file. With less than about 1 GB the sample is smaller than in
        memory, so that coefficients agree with those of a fit in memory up to ``tol``. A memory of less than 420 MB
        and 3 MB for each column is refused, except in libsvm files.
    cache : str, path, bool or None, default None
        A folder, in which the rows are kept as numbers, so that later passes and later fits read them from there; the
        cache is made again when the files change. With False, rows are never cached. With None, text files and queries
        are cached in a temporary file, and so are Parquet files if the disk has twice the room that this takes.
    drop : str, int or sequence
        Columns to leave out.
    filesystem : pyarrow.fs.FileSystem, optional
        Where the files are, if not on the local disk.
    cluster : str, distributed.Client or cluster, optional
        Let the workers of a Dask cluster read Parquet or CSV files and keep the rows in their memory: the address of a
        scheduler such as ``"tcp://host:8786"``, a client, or ``"local"`` for processes of this machine. This process,
        which reads the labels, and all workers must find the files under the same path, CSV files on a disk. Workers
        read parts of CSV files that end at line ends, and whole files where a quoted cell spans lines or a file is
        compressed. ``memory`` and ``cache`` are not used then.
    **spelling
        How text files are written: ``encoding``, ``delimiter``, ``decimal``, ``header``, ``quote``, ``na``,
        ``max_columns`` and ``max_unpacked``, as in ``read_table``.

    Returns
    -------
    Scan
        On a cluster, a table that ``fit`` and the functions that take a fitted model read in the same way.

    Raises
    ------
    TableError
        If the files or their columns cannot be read.
    ParameterError
        If ``memory`` is too small for the table.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> from separatrix import LogisticRegression
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "a", "b"]}), f"{folder}/1.parquet")
    ...     model = LogisticRegression().fit(scan(f"{folder}/*.parquet", target="y"))
    >>> import pandas as pd
    >>> model.predict(pd.DataFrame({"x": [0.0, 3.0]})).tolist()
    ['a', 'b']
    """
    size = memory_bytes(memory)
    texts = () if target is None else (target,)
    written = text_spelling(spelling)
    source = opened(data, Opening(written, filesystem, batch_bytes(size), texts))
    left_out = (drop,) if isinstance(drop, str | int) else tuple(drop)
    if isinstance(source, SvmlightTable):
        table: PartTable = source
        target, weight = _label_of_libsvm(source, target, weight, left_out), None
    else:
        asked = ColumnRoles.of(source, target, weight, left_out, written.header)
        target, weight = asked.target, asked.weight
        table = _table(source, target, weight, asked.drop)
        if cluster is None and memory != _DEFAULT_MEMORY:
            refuse_too_little("memory", memory, len(source.schema.names))
    given = None if classes is None else _listed(classes)
    choice = CacheChoice.of(cache if cluster is None else False)  # the workers of a cluster keep the rows
    store = CachedTable(table, choice, LabelColumn(target, given))
    scanned = Scan(store, store.columns, target, weight, size)
    if cluster is None:
        return scanned
    from separatrix.tables.on_cluster import on_cluster

    return on_cluster(scanned, cluster)


def _listed(classes: Sequence[Any]) -> AnyArray:
    """The sorted labels that the user lists; an error about them names the argument."""
    try:
        return encode(classes)[0]
    except LabelError as error:
        raise ParameterError("classes", f"got {classes!r}", "list the labels of the table, none missing") from error


def _label_of_libsvm(table: SvmlightTable, target: Any, weight: Any, drop: tuple[Any, ...]) -> str:
    """The name of the labels of a libsvm file, which has no other columns with names."""
    for what, given, allowed in (("target", target, (None, LABEL)), ("weight", weight, (None,)), ("drop", drop, ((),))):
        if given not in allowed:
            problem = f"it is a libsvm file, which has no column names, so {what}={given!r} cannot be used"
            raise TableError(table.name, problem, f"leave {what} out: each line has a label and columns by number")
    return LABEL


def _table(batches: Batches, target: str | None, weight: str | None, drop: tuple[str, ...]) -> BatchTable:
    """The table of the columns that were asked for."""
    schema, name = batches.schema, batches.name
    distinct(name, schema.names)
    asked = [("target", target), ("weight", weight), *(("drop", column) for column in drop)]
    for what, column in asked:
        if column is not None and column not in schema.names:
            raise TableError(name, f"it has no column {column!r}", f"{what} is one of {listed(schema.names)}")
    columns = tuple(column for column in schema.names if column not in (target, weight, *drop))
    if not columns:
        raise TableError(name, "no column is left for X", "give a table with columns of numbers")
    refuse_other_types(name, schema, columns if weight is None else (*columns, weight), target is not None)
    if target is not None:
        refuse_no_labels(name, target, schema.field(target).type)
    return BatchTable(batches, columns, target, weight)
