"""A table that classifiers read in pieces, again in every pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from separatrix.base.arrays import AnyArray, Integers, Matrix
from separatrix.base.cached import cached_property
from separatrix.base.errors import LabelError, ParameterError, TableError
from separatrix.base.labels import encode
from separatrix.base.number_text import many
from separatrix.rows.coding import CLASS_NUMBERS, ClassTotals, Coding
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.streamed import StreamedRows
from separatrix.streams.asked_columns import AskedColumns, text_spelling
from separatrix.streams.batches import Batches, Stamp
from separatrix.streams.caching import CacheChoice, CachedTable
from separatrix.streams.labelling import LabelColumn, Numbering, refuse_no_labels
from separatrix.streams.listed_classes import ListedClasses
from separatrix.streams.matrix import refuse_other_types
from separatrix.streams.memory_limit import batch_bytes, memory_bytes, refuse_too_little
from separatrix.streams.opening import Opening, opened
from separatrix.streams.sources import CachedRows, CachedSparseRows, ReadRows, refuse_changed
from separatrix.streams.streamed_likelihood import sampled_rows
from separatrix.streams.svmlight import SvmlightTable
from separatrix.streams.table_parts import BatchTable, Part, PartTable
from separatrix.table.cells import listed
from separatrix.table.formats.source import distinct
from separatrix.table.formats.svmlight import TARGET as LABEL

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

    def coded_parts(self) -> Iterator[tuple[Part, Integers]]:
        """The rows as the source gives them, and their class numbers. Another thread reads the next rows.

        Yields
        ------
        Part, array (m,) of int
        """
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
            return (CachedSparseRows if self.table.is_sparse else CachedRows)(
                self.name, cache, CLASS_NUMBERS
            ).matrices()
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
        source: Any
        if cache is None:
            source = ReadRows(self.table, self.coded_parts, coding, self.first_stamps)
        else:
            source = (CachedSparseRows if self.table.is_sparse else CachedRows)(self.name, cache, coding)
        return sampled_rows(source, self, coding, self.memory)


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
        asked = AskedColumns.of(source, target, weight, left_out, written.header)
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
    from separatrix.streams.on_cluster import on_cluster

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
