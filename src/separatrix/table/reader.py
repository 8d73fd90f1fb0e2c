"""Read a table for fitting. ``new_rows`` reads one for prediction.

read_table     the encoded columns and the labels, for a fit on all rows
read_raw       the same rows before encoding: each fit on some of them learns levels and means from its own rows
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Array, with_names
from separatrix.base.errors import TableError
from separatrix.base.labels import quoted
from separatrix.base.messages import Message, Setting
from separatrix.base.row_names import RowNames
from separatrix.table import select
from separatrix.table.encoded_column import UNKNOWN
from separatrix.table.encoded_table import Table
from separatrix.table.encoder import checked, counted, refuse_unseen
from separatrix.table.encoder_checks import MISSING, UNSEEN
from separatrix.table.fitting import encodable, kept_rows, missing_counts, read_cells, read_texts
from separatrix.table.formats import Source, SparseSource, Spelling
from separatrix.table.formats.source import row_names
from separatrix.table.infer import infer, most_levels
from separatrix.table.raw import RawTable
from separatrix.table.reading_notes import dropped, odd_columns, unseen_levels, without_label
from separatrix.table.schema import Column, Schema
from separatrix.table.selection import Columns, Selection, selected
from separatrix.table.target_column import (
    labels,
    markers,
    odd_labels,
    refuse_measurements,
    refuse_unlisted,
    rows_with_label,
)


def read_table(
    data: Any,
    target: str | int | None = None,
    drop: Columns = (),
    schema: Schema | None = None,
    missing: str = "error",
    unseen: str = "average",
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: str = ".",
    max_columns: int | None = None,
    max_unpacked: float | None = None,
    text: Any = (),
    header: bool = True,
    quote: str = '"',
    na: str | Sequence[str] = (),
    date_format: str | Mapping[str, str] | None = None,
    category: Columns = (),
    number: Columns = (),
    reference: Mapping[str, str] | None = None,
) -> Table:
    """Read a file or a frame as a matrix X and labels y, ready for a classifier.

    Category levels, their references and the means that fill missing values are learned from all rows. To measure a
    model on held-out rows, fit a pipeline with ``TableEncoder`` to the frame instead: it learns them in each fit.

    Parameters
    ----------
    data : str, path or frame
        A CSV, TSV, Parquet, Arrow or libsvm file; a folder or a glob pattern of such files; ``"-"`` for standard input;
        ``"demo:NAME"`` for a bundled table; or a frame of pandas, polars or PyArrow.
    target : str or int, optional
        The column to predict. Demo tables and libsvm files know theirs. In a file without a header it may be a number:
        1 for the first column, -1 for the last.
    drop : str or sequence of str
        Columns to leave out. A text that is not the name of a column is a list of names separated by commas.
    schema : Schema, optional
        What the columns hold. Columns that it does not mention are inferred.
    missing : {"error", "impute", "indicator", "drop"}
        What to do with missing values: refuse them; fill them with the mean of a number, or the most frequent level of
        a category; mark them, by a 0/1 column next to a number and as a level of its own in a category; or leave the
        row out. Rows without a label are left out too, except with "error".
    unseen : {"average", "error"}
        What to do with a category level that training rows do not have: encode it as their average, or refuse it.
    encoding : str
        The encoding of a text file.
    delimiter : str, optional
        The character between the cells of a text file; detected from the header if None.
    decimal : {".", ","}
        The decimal mark of a text file.
    max_columns : int, optional
        The most columns that a libsvm file may have. The default limit refuses a small file that makes a huge table.
    max_unpacked : float, optional
        The most gigabytes that a compressed file may unpack to. There is a default limit for the same reason.
    text : str, sequence of str, or dict of str to TextSettings
        Columns of free text. The n-grams of their words become columns of X, which is then sparse (CSR).
    header : bool
        Whether the first line of a text file holds the names of the columns. Without it they are x1, x2, ….
    quote : str
        The mark around cells of a text file that hold the delimiter, or "none" if there is none.
    na : str or sequence of str
        Texts that mean a missing value, in addition to the usual ones, such as "-".
    date_format : str or mapping, optional
        How dates are written that are not in the form of ISO, as in ``datetime.strptime``: one form for all columns
        that hold such dates, or a form for each column by its name.
    category, number : str or sequence of str
        Columns that hold categories, or numbers, whatever they look like.
    reference : mapping of str to str, optional
        The reference level of a category, by column: the level without a column of X. By default it is the first level
        in alphabetical order.

    Returns
    -------
    Table
        X, y, the names of the columns, the encoder, and notes on what was left out or filled.

    Raises
    ------
    TableError
        If the file, a column or a cell cannot be read.
    LabelError
        If the target column does not hold classes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 25, 47, 52], "sex": ["f", "m", "f", "m"], "ill": [0, 0, 1, 1]})
    >>> table = read_table(frame, target="ill")
    >>> table.names, table.X[0].tolist(), table.y.tolist()
    (('age', 'sex=m'), [31.0, 0.0], [0, 0, 1, 1])
    """
    marks = {"encoding": encoding, "delimiter": delimiter, "decimal": decimal, "header": header, "quote": quote}
    limits = {"max_columns": max_columns, "max_unpacked": max_unpacked}
    kinds = {"category": category, "number": number, "text": text, "reference": reference}
    how: dict[str, Any] = {**marks, **limits, **kinds, "na": na, "date_format": date_format}
    table = read_raw(data, target, drop, schema, missing, unseen, **how).learned()
    # Classifiers use these names, and ``summary`` the encoding.
    return replace(table, X=with_names(table.X, table.names, table.row_names, (table.encoder, table.scaling)))


def read_raw(
    data: Any,
    target: str | int | None = None,
    drop: Columns = (),
    schema: Schema | None = None,
    missing: str = "error",
    unseen: str = "average",
    category: Columns = (),
    number: Columns = (),
    text: Any = (),
    reference: Mapping[str, str] | None = None,
    **spelling: Any,
) -> RawTable:
    """Read the rows that ``read_table`` reads, without learning levels, means or scales from them yet.

    ``spelling`` are the other arguments of ``read_table``, those of ``Spelling``.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 25, 47, 52], "sex": ["f", "m", "f", "x"], "ill": [0, 0, 1, 1]})
    >>> read_raw(frame, target="ill").learned(np.array([True, True, True, False])).names
    ('age', 'sex=m')
    """
    checked("missing", missing, MISSING)
    checked("unseen", unseen, UNSEEN)
    kinds: dict[str, Any] = {"category": category, "number": number, "text": text, "reference": reference}
    asked = selected(data, target, drop, schema, Spelling(**spelling), **kinds)
    if isinstance(asked.source, SparseSource):
        return _sparse(asked.source, asked.labels, asked.drop)
    return _typed_columns(asked, missing, unseen)


def _typed_columns(asked: Selection, missing: str, unseen: str) -> RawTable:
    """Read the columns and the target, and leave out rows without a label or with a missing value as ``missing`` says.

    A cell that cannot be read is reported by its row in the source. So all rows are read before those without a label
    are left out.
    """
    source, target, given = asked.source, asked.labels, asked.given
    unread = [*asked.drop, *(column.name for column in given.columns if column.kind == "ignored")]
    features = select.features_of(source, target, unread)
    columns = asked.read([*features, target])
    every = row_names(columns)
    with every.in_errors():
        labelled = _labelled_rows(source.name, columns.column(target), target, given.classes, missing)
        unlabelled_note = without_label(int((~labelled).sum()), markers(columns.column(target), given.classes))
        schema = infer(columns, target, given, asked.reference)
        select.refuse_nameless(source, [column.name for column in schema.used])
        if not labelled.all():
            read_cells(encodable(schema, source.name, missing), columns, source.name)
            columns = columns.filter(pa.array(labelled))
            schema = infer(columns, target, given, asked.reference)
    with every[labelled].in_errors():
        table = _labelled_columns(asked, columns, schema, every[labelled], missing, unseen)
    return replace(table, late=tuple(unlabelled_note), n_rows=len(labelled))


def _labelled_columns(
    asked: Selection, columns: pa.Table, schema: Schema, names: RowNames, missing: str, unseen: str
) -> RawTable:
    """The rows that have a label, called ``names``, without those that lack a value if ``missing`` says so."""
    source, target, given = asked.source, asked.labels, asked.given
    y = labels(source.name, columns.column(target), target, classes=given.classes)
    refuse_unlisted(source.name, columns.column(target), target, given.classes, names)
    used = encodable(schema, source.name, missing)
    V = read_cells(used, columns, source.name)
    complete = kept_rows(used, V, missing, source.name)
    y, rows = y[complete], names[complete]
    refuse_no_rows(source.name, len(y))
    refuse_measurements(source.name, y, target, rows, most_levels(len(y)))
    unlisted = _unlisted(used, V, columns, source.name)
    if unlisted and unseen == "error":
        raise refuse_unseen(source.name, unlisted)
    lost = dropped(missing_counts(used, V), int((~complete).sum()), len(complete))
    unlisted_notes = unseen_levels(unlisted, "the schema does not list")
    return RawTable(
        source.name,
        V if complete.all() else V[complete],
        y,
        columns=used,
        given=given,
        missing=missing,
        unseen=unseen,
        target=target,
        schema=with_unread(schema, source, target),
        notes=(*source.notes, *odd_columns(schema), *lost, *unlisted_notes, *odd_labels(y, target)),
        rows=rows.numbers,
        files=rows.files,
        texts=read_texts(used, columns if complete.all() else columns.filter(pa.array(complete)), source.name),
    )


def _labelled_rows(source: str, column: Any, target: str, classes: Sequence[str], missing: str) -> AnyArray:
    """Which rows (n,) to read: those with a label, or all where a missing label is an error."""
    if missing == "error":
        return np.ones(len(column), dtype=bool)
    return rows_with_label(source, column, target, classes)


def refuse_no_rows(source: str, n: int) -> None:
    """Refuse a table of which no row is kept."""
    if not n:
        problem = "no row is left: each lacks a value or its label"
        ways = Message("choose ", Setting("missing", "impute", "indicator"))
        raise TableError(source, problem, Message(ways, ", or leave columns out with ", Setting("drop")))


def _sparse(source: SparseSource, target: str, drop: Sequence[str]) -> RawTable:
    if target != source.target:
        problem = f"its labels are in its first column, not in {quoted(target)}"
        raise TableError(source.name, problem, Message("leave ", Setting("target"), " out"))
    names = select.features_of(source, target, drop)
    rows = source.row_names
    refuse_measurements(source.name, source.labels, target, rows, most_levels(len(rows)))
    where: dict[str, Any] = {"rows": rows.numbers, "n_rows": len(rows), "files": rows.files}
    return RawTable(source.name, source.matrix(names), source.labels, names, target=target, notes=source.notes, **where)


def with_unread(found: Schema, source: Source, target: str) -> Schema:
    """The schema with the columns that were not read added, in the order of the source."""
    by_name = {column.name: column for column in found.columns}
    every = (by_name.get(name, Column(name, "ignored", note="left out as asked")) for name in source.names)
    return Schema(tuple(column for column in every if column.name != target), target, found.classes)


def _unlisted(used: Sequence[Column], V: Array, columns: pa.Table, source: str) -> dict[str, dict[str, int]]:
    """Levels that the schema does not list, by column, with the number of rows that have them."""
    strange = {c.name: V[:, j] == UNKNOWN for j, c in enumerate(used) if c.kind == "category"}
    return {name: counted(columns, name, rows, source) for name, rows in strange.items() if rows.any()}
