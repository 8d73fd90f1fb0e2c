"""Read tables into memory, for fits and for fitted models.

``read_table`` gives a matrix X and labels y, encoded by all rows. ``read_raw`` gives the same rows before encoding, so
that each fit learns levels, references, means, indicators and scales from its own training rows, and held-out rows have
no influence on them. Only the kind of each column is decided on all rows, as the file is read. ``read_rows`` finds the
columns of a fitted model by name and encodes them as in training. Notes say what was left out, filled or looks odd.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.core.base.arrays import AnyArray, Array, Integers, pieces, with_names
from separatrix.core.base.errors import CellError, ParameterError, TableError
from separatrix.core.base.labels import RowNames, quoted
from separatrix.core.base.messages import Message, Setting
from separatrix.tables import learn_encoder as learn
from separatrix.tables import selection as select
from separatrix.tables.cells import listed, perhaps, rows_counted, shortened
from separatrix.tables.encoder import (
    MISSING,
    UNKNOWN,
    UNSEEN,
    WORDS,
    Encoded,
    EncodedBatch,
    Encoder,
    Scaling,
    checked,
    counted,
    refuse_unseen,
)
from separatrix.tables.formats.csv_files import about_decimals, called
from separatrix.tables.formats.libsvm import SparseSource
from separatrix.tables.formats.opening import open_source
from separatrix.tables.formats.source import Source, Spelling, row_names
from separatrix.tables.infer import infer, most_levels
from separatrix.tables.schema import Column, Schema
from separatrix.tables.selection import Columns, Selection, selected
from separatrix.tables.target_column import (
    labels,
    markers,
    odd_labels,
    refuse_measurements,
    refuse_unlisted,
    rows_with_label,
)
from separatrix.tables.text import CountedTexts, TextFeatures, empty_note, limit_note, without_terms

# --- Tables, encoded and raw


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


# Rows are encoded in batches of this many, so that the batch of X stays in the cache while each column is written.
ENCODED_BATCH_ROWS = 4096


@dataclass(frozen=True, eq=False)
class RawTable:
    """Cells V (n, p) and labels y (n,) of a table before encoding.

    V holds the cells of ``columns``. If ``columns`` is None, V is a matrix of numbers, dense or CSR, with column
    ``names``. A cell of a category holds the number of its level, NaN if it has no value, or ``UNKNOWN`` if the schema
    ``given`` by the user does not list the level. A cell of words is 0 or NaN, and ``texts`` has the n-grams of these
    columns, counted in the same rows. The other fields are as in ``Table``; ``late`` notes come last. A level that only
    held-out rows have counts as unseen.

    >>> raw = RawTable("a table", np.array([[1.0], [2.0], [9.0]]), np.array([0, 1, 1]), ("age",))
    >>> raw.learned(np.array([True, True, False]), standardise=True).X.ravel().tolist()
    [-1.0, 1.0, 15.0]
    """

    source: str
    V: Any
    y: AnyArray | None
    names: tuple[str, ...] = ()
    columns: tuple[Column, ...] | None = None
    given: Schema = field(default_factory=lambda: Schema(()))
    missing: str = "error"
    unseen: str = "average"
    target: str | None = None
    schema: Schema | None = None
    notes: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    rows: Integers | None = None
    n_rows: int = 0
    texts: Mapping[str, CountedTexts] = field(default_factory=dict)
    files: tuple[tuple[str, int], ...] = ()

    @property
    def row_names(self) -> RowNames:
        """What the rows are called, as in ``Table``."""
        return RowNames.first(self.V.shape[0]) if self.rows is None else RowNames(self.rows, self.files)

    @property
    def holes(self) -> dict[str, int]:
        """The number of missing values in each column that has any."""
        return {} if self.columns is None else learn.missing_counts(self.columns, self.V)

    def learned(self, train: AnyArray | None = None, standardise: bool = False) -> Table:
        """All rows, with the encoding learned from the rows ``train`` (n,), or from all if None."""
        train = None if train is None or train.all() else train
        who = "all rows" if train is None else "the rows fitted"
        if self.columns is None:
            X, encoder, names, notes = self.V, None, self.names, list[str]()
        else:
            X, encoder, notes = self._coded(self.columns, train, who)
            names = encoder.names
        scaling = Scaling.of(X, train) if standardise else None
        if scaling is not None:
            scaling = scaling if encoder is None else scaling.only(encoder.measured)
            X = scaling.apply(X)
            notes.append(learn.scaled(encoder, isinstance(X, np.ndarray), who))
        every = (*self.notes, *notes, *self.late)
        where = (self.schema, every, self.rows, self.n_rows, scaling, self.files, self.holes)
        return Table(self.source, names, X, self.target, self.y, encoder, *where)

    def _coded(self, columns: tuple[Column, ...], train: AnyArray | None, who: str) -> tuple[Any, Encoder, list[str]]:
        """X, the encoder, and notes on columns left out, values filled and levels that no training row has."""
        fewer = [self._narrowed(column, self.V[:, j], train) for j, column in enumerate(columns)]
        used = [j for j, (column, _) in enumerate(fewer) if column.kind != "ignored"]
        if not used:
            raise TableError(self.source, f"no column varies in {who}", "hold fewer rows out, or give more columns")
        kept = [fewer[j][0] for j in used]
        V = self._renumbered(used, [fewer[j][1] for j in used])
        encoder = learn.learned(kept, V, self.missing, self.unseen, self.source, train, self.texts)
        words = {column.name: column.text for column in encoder.columns if column.text is not None}
        texts = {name: features.of_counts(self.texts[name]) for name, features in words.items()}
        notes = [
            *learn.left_out([column for column, _ in fewer]),
            *learn.replaced_references(kept),
            *self._rare_references(kept, V, train),
            *learn.filled(learn.missing_counts(kept, V), self.missing, who),
            *self._new_levels(columns, used, V),
            *self._on_words(kept, V, words, texts, train),
        ]
        return encoder.assembled(_dense(encoder, V), texts), encoder, notes

    def _on_words(
        self,
        columns: Sequence[Column],
        V: Array,
        words: Mapping[str, TextFeatures],
        texts: Mapping[str, Any],
        train: AnyArray | None,
    ) -> Iterator[str]:
        """Notes on columns of words: on n-grams that were left out, and on texts without any n-gram."""
        for k, column in enumerate(columns):
            if column.name in texts:
                yield from limit_note(column.name, words[column.name], self.texts[column.name], train)
                yield from empty_note(column.name, without_terms(texts[column.name], np.isnan(V[:, k])))

    def _renumbered(self, used: list[int], renumberings: list[Integers | None]) -> Array:
        """The columns ``used`` of V with new level numbers; V itself where nothing changes."""
        V: Array = self.V if len(used) == self.V.shape[1] else self.V[:, used]
        if any(numbers is not None for numbers in renumberings):
            V = V.copy() if V is self.V else V
            for k, numbers in enumerate(renumberings):
                if numbers is not None:
                    V[:, k] = _with_levels(V[:, k], numbers)
        return V

    def _narrowed(self, column: Column, v: Array, train: AnyArray | None) -> tuple[Column, Integers | None]:
        """A category with only the levels that training rows have, and the new number of each old level.

        The numbers are None if they do not change. Levels that the user's schema lists are all kept.
        """
        if column.kind != "category" or learn.lists_levels(self.given, column):
            return column, None
        return learn.narrowed(column, learn.level_counts(v if train is None else v[train], len(column.levels)))

    def _rare_references(self, columns: Sequence[Column], V: Array, train: AnyArray | None) -> Iterator[str]:
        """Notes on references that nobody chose and that very few training rows have."""
        for k, column in enumerate(columns):
            if column.kind != "category" or column.preferred is not None or learn.lists_levels(self.given, column):
                continue
            v = V[:, k] if train is None else V[train, k]
            yield from learn.rare_reference(column, learn.level_counts(v, len(column.levels)))

    def _new_levels(self, columns: tuple[Column, ...], used: list[int], V: Array) -> Iterator[str]:
        """Notes on levels that only held-out rows have; an error if ``unseen`` is "error", as in prediction."""
        strange: dict[str, dict[str, int]] = {}
        for k, j in enumerate(used):
            if columns[j].kind == "category":
                codes = self.V[(V[:, k] == UNKNOWN) & (self.V[:, j] >= 0), j].astype(np.intp)
                counts = np.bincount(codes, minlength=len(columns[j].levels)).tolist()
                new = {level: n for level, n in zip(columns[j].levels, counts, strict=True) if n}
                strange |= {columns[j].name: new} if new else {}
        yield from learn.new_levels(self.source, strange, self.unseen)


def _with_levels(v: Array, numbers: Integers) -> Array:
    """Cells v (n,) of a category with level k renumbered ``numbers[k]``."""
    renumbered = v.copy()
    known = np.flatnonzero(v >= 0)
    renumbered[known] = numbers[v[known].astype(np.intp)]
    return renumbered


def _dense(encoder: Encoder, V: Array) -> Array:
    """The columns of X that are not n-grams; V itself if they are its columns and no value is missing."""
    plain = all(column.kind not in ("category", WORDS) and not column.indicator for column in encoder.columns)
    if plain and not np.isnan(V).any():
        return V
    X = np.zeros((len(V), encoder.n_dense))
    for part in pieces(len(V), ENCODED_BATCH_ROWS):
        for j, (column, target) in enumerate(encoder.places(X[part])):
            column.write(target, V[part, j])
    return X


# --- Notes on columns and rows left out, and on levels not expected

# A note suggests at most this many spellings for a column.
MOST_SPELLINGS = 3


def odd_columns(schema: Schema) -> list[str]:
    """The notes on all columns that have one."""
    return [learn.column_note(column) for column in schema.columns if column.note]


def dropped(missing: dict[str, int], n_dropped: int, n: int, lost: str = "left out") -> list[str]:
    """A note on the ``n_dropped`` of n rows that are not kept, with the missing values by column."""
    if not n_dropped:
        return []
    verb = "is" if n_dropped == 1 else "are"
    where = ", ".join(f"{count} in {quoted(name)}" for name, count in missing.items())
    return [f"{n_dropped} of {rows_counted(n)} {verb} {lost} because a value is missing: {where}."]


def without_label(n: int, spellings: Sequence[str]) -> list[str]:
    """A note on the n rows without a label, and on what their cells say where they are not blank."""
    if not n:
        return []
    said = f" (some read {listed(spellings)})" if spellings else ""
    return [f"{rows_counted(n)} without a label {'is' if n == 1 else 'are'} left out{said}."]


def unseen_levels(
    unseen: dict[str, dict[str, int]], which: str, levels_of: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Notes on levels that were not expected, with the levels that are spelled alike."""
    notes = []
    for name, levels in unseen.items():
        rows = rows_counted(sum(levels.values()))
        near = [
            f"{quoted(level)}{hint}" for level in levels if (hint := perhaps(level, (levels_of or {}).get(name, ())))
        ]
        spelled = f" Check the spelling of {', '.join(near[:MOST_SPELLINGS])}." if near else ""
        shown = listed([shortened(level) for level in levels])
        notes.append(f"Column {quoted(name)} has levels that {which}, in {rows}, counted as average: {shown}.{spelled}")
    return notes


# --- Read a table for fitting


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
        if missing == "error":  # a missing label is one, too
            labelled = np.ones(columns.num_rows, dtype=bool)
        else:
            labelled = rows_with_label(source.name, columns.column(target), target, given.classes)
        unlabelled_note = without_label(int((~labelled).sum()), markers(columns.column(target), given.classes))
        schema = infer(columns, target, given, asked.reference)
        select.refuse_nameless(source, [column.name for column in schema.used])
        if not labelled.all():
            learn.read_cells(learn.encodable(schema, source.name, missing), columns, source.name)
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
    used = learn.encodable(schema, source.name, missing)
    V = learn.read_cells(used, columns, source.name)
    complete = learn.kept_rows(used, V, missing, source.name)
    y, rows = y[complete], names[complete]
    refuse_no_rows(source.name, len(y))
    refuse_measurements(source.name, y, target, rows, most_levels(len(y)))
    strange = {name: counted(columns, name, which, source.name) for name, which in learn.unlisted(used, V).items()}
    if strange and unseen == "error":
        raise refuse_unseen(source.name, strange)
    lost = dropped(learn.missing_counts(used, V), int((~complete).sum()), len(complete))
    unlisted_notes = unseen_levels(strange, "the schema does not list")
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
        texts=learn.read_texts(used, columns if complete.all() else columns.filter(pa.array(complete)), source.name),
    )


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


# --- Read the columns of a fitted model


def read_rows(
    data: Any,
    encoder: Encoder | Sequence[str],
    strict: bool = False,
    target: str | None = None,
    labelled: bool = False,
    typed: bool = True,
    classes: Sequence[str] = (),
    **spelling: Any,
) -> Table:
    """Read the rows of a file or a frame for prediction, encoded as in training.

    Columns are found by name, in any order. If ``encoder`` is a list of names, all columns are numbers. The notes name
    columns that the model does not have and levels that no training row had; ``strict`` refuses them. If training
    dropped rows with a missing value, such rows are left out here too, and ``rows`` says which remain.

    The table may hold a column of labels, ``target``. With ``labelled`` it is read as y, and rows without a label are
    left out, with a note. Unless ``typed``, labels that are text stay text. ``classes`` lists labels that count as
    labels even if they read like a missing value. ``spelling`` are the arguments of ``Spelling``.

    >>> table = read_rows(pa.table({"b": [1, 2], "c": ["x", "y"], "a": [3, 4]}), ["a", "b"])
    >>> table.X.tolist(), table.notes
    ([[3.0, 1.0], [4.0, 2.0]], ("Not used, since the model has no such columns: 'c'.",))
    """
    how = Spelling(**spelling)
    source = open_source(data, how)
    asked = asked_columns(source, encoder, strict, target, labelled, classes, how.header)
    encoder, of_labels = asked.encoder, asked.of_labels
    notes = list(asked.notes)
    if isinstance(source, SparseSource):
        return _sparse_rows(source, asked.wanted, labelled, notes)
    columns = source.read(asked.names, asked.literal, select.pointed(encoder.columns))
    names, n = row_names(columns), columns.num_rows
    if of_labels is not None:
        known = rows_with_label(source.name, columns.column(of_labels), of_labels, classes)
        notes += without_label(int((~known).sum()), markers(columns.column(of_labels), classes))
        names, columns = names[known], columns.filter(pa.array(known))
    with names.in_errors():
        reading = as_in_training(encoder, columns, source.name, strict)
        y = None
        if of_labels is not None:
            y = labels(source.name, columns.column(of_labels), of_labels, typed, classes)[reading.kept]
    rows = names[reading.kept]
    notes += notes_on(reading, encoder, "left out" if labelled else "not predicted")
    where = (tuple(notes), rows.numbers, n, None, rows.files, reading.missing)
    return Table(source.name, encoder.names, reading.X, asked.target, y, encoder, None, *where)


@dataclass(frozen=True)
class AskedColumns:
    """The columns of a source that a model reads, and the column of labels, if labels are requested.

    ``target``: the column of labels that the source may have. ``literal``: the columns in which NA is text.
    """

    encoder: Encoder
    of_labels: str | None
    target: str | None
    literal: frozenset[str]
    notes: tuple[str, ...]

    @property
    def wanted(self) -> list[str]:
        """The columns of the model."""
        return [column.name for column in self.encoder.columns]

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return self.wanted if self.of_labels is None else [*self.wanted, self.of_labels]


def asked_columns(
    source: Source,
    encoder: Encoder | Sequence[str],
    strict: bool,
    target: str | None,
    labelled: bool,
    classes: Sequence[str],
    header: bool,
) -> AskedColumns:
    """Find the columns of a model in a source, with the arguments of ``read_rows``."""
    if not isinstance(encoder, Encoder):
        encoder = Encoder(tuple(Encoded(name, "number") for name in encoder))
    wanted = [column.name for column in encoder.columns]
    target = source.target if target is None else called(source, target, header)
    notes = [*source.notes, *_extra_columns(source, {*wanted, target, source.target}, strict)]
    of_labels = None
    if not isinstance(source, SparseSource):
        select.refuse_lacking(source, wanted)
        of_labels = _label_column(source, target, wanted) if labelled else None
    literal = select.literal_columns(encoder.columns, target, classes)
    return AskedColumns(encoder, of_labels, target, frozenset(literal), tuple(notes))


def _sparse_rows(source: SparseSource, wanted: Sequence[str], labelled: bool, notes: Sequence[str]) -> Table:
    """The rows of a libsvm file, whose columns are numbers."""
    names = source.row_names
    where = (tuple(notes), names.numbers, len(names), None, names.files)
    y = source.labels if labelled else None
    return Table(source.name, tuple(wanted), source.matrix(wanted), source.target, y, None, None, *where)


def notes_on(reading: EncodedBatch, encoder: Encoder, lost: str) -> list[str]:
    """Notes on missing values, unseen levels and texts without n-grams; ``lost``: what happens to dropped rows."""
    if encoder.missing == "drop":
        notes = dropped(reading.missing, int((~reading.kept).sum()), len(reading.kept), lost)
    else:
        notes = [*learn.filled(reading.missing, encoder.missing, "the training rows")]
    notes += unseen_levels(reading.unseen, "no training row had", encoder.levels_of)
    return [*notes, *(note for name, count in reading.wordless.items() for note in empty_note(name, count))]


def as_in_training(encoder: Encoder, columns: pa.Table, source: str, strict: bool) -> EncodedBatch:
    """The columns, encoded as in training. Unseen levels are refused if ``strict``.

    The kinds of the columns were fixed in training, so a cell of another kind cannot be read.
    """
    try:
        reading = encoder.read(columns, source)
    except CellError as error:
        decimals = None if error.cell is None else about_decimals(error.cell, ".")
        remedy = decimals or "correct it: the column must hold values of the same kind as in training"
        raise TableError(source, error.problem, remedy) from error
    if strict and reading.unseen:
        raise refuse_unseen(source, reading.unseen, encoder.levels_of, asked_by_fit=False)
    return reading


def _extra_columns(source: Source, known: set[str | None], strict: bool) -> list[str]:
    """A note on the columns that the model does not have; an error if ``strict``."""
    extra = [name for name in source.names if name not in known]
    if extra and strict:
        raise TableError(source.name, f"the model has no columns {listed(extra)}", "take them out")
    return [f"Not used, since the model has no such columns: {listed(extra)}."] if extra else []


def _label_column(source: Source, target: str | None, wanted: Sequence[str]) -> str:
    name = select.labels_of(source, target, wanted)
    if name in wanted:
        raise ParameterError("target", f"{quoted(name)} is a column that the model reads", "name the column of labels")
    return name
