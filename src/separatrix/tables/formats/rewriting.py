"""Cells rewritten as the user specifies: texts that mean a missing value, and dates in forms other than ISO.

na="?"                      a cell of text that reads ? has no value; in a column of numbers, na="-999" means −999
date_format="%d.%m.%Y"      columns of text of which most cells read so become times
{"day": "%d.%m.%Y"}         this column becomes times; a cell that does not read so is refused
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from separatrix.core.base.errors import CellError
from separatrix.core.base.messages import Message, RowNumber, Setting
from separatrix.tables.cells import decoded, is_number, is_text, reads, shortened, stripped
from separatrix.tables.formats.csv_files import called
from separatrix.tables.formats.libsvm import SparseSource
from separatrix.tables.formats.source import Source, Spelling, files_of, row_names, with_files

# A column holds dates of the general form if at least this share of its distinct texts read so.
_SHARE_OF_DATES = 0.5
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class RewrittenSource:
    """A source whose cells are rewritten as they are read."""

    source: Source
    na: tuple[str, ...]
    forms: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names

    @property
    def target(self) -> str | None:
        return self.source.target

    @property
    def notes(self) -> tuple[str, ...]:
        return self.source.notes

    def read(self, names: Sequence[str], literal: Collection[str] = (), pointed: Collection[str] = ()) -> pa.Table:
        """The columns, rewritten."""
        table = self.source.read(names, literal, {*pointed, *self.forms})
        with row_names(table).in_errors():
            return with_files(self.rewritten(table), files_of(table))

    def rewritten(self, table: pa.Table) -> pa.Table:
        """The columns of a table, rewritten. Errors name rows by their number in the table."""
        columns = [self._rewritten(name, table.column(name)) for name in table.column_names]
        return pa.table(columns, table.column_names)

    def _rewritten(self, name: str, column: Any) -> Any:
        column = decoded(column)
        if self.na:
            column = without(column, self.na)
        if not is_text(column.type):
            return column
        if name in self.forms:
            return as_times(self.name, name, column, self.forms[name])
        if "" in self.forms and _mostly_dates(column, self.forms[""]):
            return as_times(self.name, name, column, self.forms[""])
        return column


def rewritten(source: Source, spelling: Spelling) -> Source:
    """The source with its cells rewritten. A libsvm file has none that could be."""
    if isinstance(source, SparseSource) or not (spelling.na or spelling.date_format):
        return source
    forms = {name and called(source, name, spelling.header): form for name, form in spelling.date_forms.items()}
    return RewrittenSource(source, spelling.missing_texts, forms)


def without(column: Any, na: Sequence[str]) -> Any:
    """The column with null for cells that read like one of the texts, or that have the value of one.

    >>> without(pa.chunked_array([["1", " - ", "?"]]), ["-"]).to_pylist()
    ['1', None, '?']
    >>> without(pa.chunked_array([[1.5, -999.0]]), ["-999"]).to_pylist()
    [1.5, None]
    """
    if is_text(column.type):
        absent = reads(compute.utf8_trim_whitespace(column), na)
        return compute.if_else(absent, None, column)
    if is_number(column.type):
        for text in na:
            try:
                value = pa.scalar(text).cast(column.type)
            except pa.ArrowInvalid:
                continue
            column = compute.if_else(compute.equal(column, value).fill_null(False), None, column)
    return column


def as_times(source: str, name: str, column: Any, form: str) -> Any:
    """A column of text as times in UTC, read by ``strptime``. A cell of another form is refused.

    >>> as_times("a table", "day", pa.chunked_array([["31.12.2024", None]]), "%d.%m.%Y").to_pylist()
    [datetime.datetime(2024, 12, 31, 0, 0), None]
    """
    coded: Any = stripped(column).combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    texts = coded.dictionary.to_pylist()
    times = [_time(text, form) for text in texts]
    if None in times:
        text = texts[times.index(None)]
        row = compute.index(coded.indices, times.index(None)).as_py() + 1
        problem = Message(
            "row ", RowNumber(row), f", column {name!r} is {shortened(text)!r}, not a date of the form {form}"
        )
        remedy = Message("correct that cell, or give the form of the column with ", Setting("date_format"))
        raise CellError(source, problem, remedy, text)
    values = pa.array(np.array(times, dtype=np.int64), pa.timestamp("us"))
    return pa.chunked_array([values.take(coded.indices)])


def _mostly_dates(column: Any, form: str) -> bool:
    texts = stripped(column).unique().drop_null().to_pylist()
    dates = sum(_time(text, form) is not None for text in texts)
    return bool(texts) and dates >= _SHARE_OF_DATES * len(texts)


def _time(text: str, form: str) -> int | None:
    """Microseconds since 1970 in UTC; None if the text has another form."""
    try:
        time = datetime.strptime(text, form)
    except ValueError:
        return None
    if time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    since = time - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
