"""Check a table. Text columns, constant columns, missing values and a bad target are reported, not refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from separatrix.base.row_names import RowNames
from separatrix.checks.encoded import check_encoded
from separatrix.checks.finding import Checks, Finding
from separatrix.checks.missing_values import absent, handled, none_left
from separatrix.checks.raw_columns import (
    coded,
    constant_columns,
    left_out,
    marked,
    nothing,
    refused,
    unlabelled_rows,
)
from separatrix.checks.running import checked
from separatrix.table import Encoder, RawTable, Schema, infer, select
from separatrix.table.encoder import checked as choice
from separatrix.table.encoder_checks import MISSING
from separatrix.table.fitting import (
    fit_encoder,
    kept_rows,
    missing_counts,
    read_cells,
    read_texts,
)
from separatrix.table.formats import SparseSource, Spelling
from separatrix.table.formats.source import row_names
from separatrix.table.selection import Columns, Selection, selected
from separatrix.table.target_column import labels, unlabelled

# The findings about rows without a label, given the other findings.
_Others = Callable[[Sequence[Finding]], Iterator[Finding]]
_FILLED = "For these checks they were filled with the means of their columns."


def check_table(
    data: Any,
    target: str | int | None = None,
    drop: Columns = (),
    schema: Schema | None = None,
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
    missing: str = "error",
    reference: Mapping[str, str] | None = None,
) -> Checks:
    """Look for problems in a file or a frame before a fit: leaks, duplicates, collinear columns, separation and others.

    Parameters
    ----------
    data : str, path or frame
        The table, as in ``read_table``.
    target : str or int, optional
        The column to predict, as in ``read_table``. Demo tables and libsvm files know theirs.
    drop : str or sequence of str
        Columns to leave out, as in ``read_table``.
    schema : Schema, optional
        What the columns hold. Columns that it does not mention are inferred.
    encoding, delimiter, decimal, max_columns, max_unpacked, header, quote, na, date_format, category, number
        How to read the file and its cells, and limits on its size, as in ``read_table``.
    text : str, sequence of str, or dict of str to TextSettings
        Columns of free text, as in ``read_table``.
    missing : {"error", "impute", "indicator", "drop"}
        What a fit will do with missing values, as in ``read_table``. With "error" a fit would stop, so missing values
        are a problem; for the other checks they are filled with the means of their columns. With the other settings
        the table is checked as it would be fitted, and rows without a label are left out.
    reference : dict of str to str, optional
        The reference levels of categories, as in ``read_table``.

    Returns
    -------
    Checks
        The findings, worst first. Rows are counted from 1, in each file of a folder.

    Examples
    --------
    >>> checks = check_table("demo:outlier-1d")
    >>> checks.worst, [finding.check for finding in checks.problems]
    ('problem', ['leakage'])
    """
    marks = (encoding, delimiter, decimal, max_columns, max_unpacked, header, quote, na, date_format)
    choice("missing", missing, MISSING)
    kinds: dict[str, Any] = {"text": text, "reference": reference, "category": category, "number": number}
    asked = selected(data, target, drop, schema, Spelling(*marks), **kinds)
    source = asked.source
    names = select.features_of(source, asked.labels, asked.drop)
    checks = _sparse(source, names) if isinstance(source, SparseSource) else _dense(asked, names, missing)
    return replace(checks, target=asked.target, notes=source.notes)


def _sparse(source: SparseSource, names: Sequence[str]) -> Checks:
    X = source.matrix(names)
    return checked(X, source.labels, names, source.row_names, [absent({}, X.shape[0], "")])


def _dense(asked: Selection, names: Sequence[str], missing: str) -> Checks:
    source, target, given = asked.source, asked.labels, asked.given
    columns = asked.read([*names, target])
    every, kept = row_names(columns), ~unlabelled(columns.column(target), given.classes)
    inferred = infer(columns, target, given, asked.reference)
    first = [*refused(inferred, every), *left_out(inferred, given), *marked(inferred)]
    if not kept.any() or not inferred.used:
        first += [*unlabelled_rows(kept, target, first, missing), *nothing(kept, inferred)]
        return Checks(tuple(first), columns.num_rows, len(names))
    columns = columns.filter(pa.array(kept)) if not kept.all() else columns
    with every[kept].in_errors():
        first += coded(inferred, columns, source.name)
        others = partial(unlabelled_rows, kept, target, missing=missing)
        if missing == "error":
            return _filled(asked, inferred, columns, every[kept], first, others)
        return _as_fitted(asked, inferred, columns, every[kept], first, others, missing)


def _filled(
    asked: Selection, inferred: Schema, columns: pa.Table, rows: RowNames, first: list[Finding], others: _Others
) -> Checks:
    """The checks of labelled rows for ``missing="error"``: the means of the columns replace missing values."""
    source, target, given = asked.source.name, asked.labels, asked.given
    y = labels(source, columns.column(target), target, classes=given.classes)
    encoder = fit_encoder(replace(inferred, columns=inferred.used), columns, "impute", "average", source)
    encoder = _with_shares(encoder)
    reading = encoder.read(columns, source)
    unread, constant = _unused(inferred, given)
    first = [*first, absent(reading.missing, len(y), _FILLED, (*unread, *constant))]
    sources = tuple(column.name for column in encoder.columns for _ in column.names)
    return checked(
        *(reading.X, y, encoder.names, rows, [*first, *others(first)], encoder.references),
        n_columns=len(encoder.columns),
        ngrams=encoder.of_text,
        sources=sources,
        unread=unread,
        constant=constant,
    )


def _as_fitted(
    asked: Selection,
    inferred: Schema,
    columns: pa.Table,
    rows: RowNames,
    first: list[Finding],
    others: _Others,
    missing: str,
) -> Checks:
    """The checks of labelled rows as a fit with this setting of ``missing`` encodes them."""
    source, target, given, used = asked.source.name, asked.labels, asked.given, inferred.used
    y = labels(source, columns.column(target), target, classes=given.classes)
    V = read_cells(used, columns, source)
    complete, holes = kept_rows(used, V, missing, source), missing_counts(used, V)
    if not complete.any():
        return Checks((*first, none_left(holes, len(y)), *others(first)), len(y), len(used))
    unread, constant = _unused(inferred, given)
    lost = int((~complete).sum())
    told = handled(holes, len(y), missing, lost) if holes else absent({}, len(y), "", (*unread, *constant))
    if lost:
        columns, rows, y, V = columns.filter(pa.array(complete)), rows[complete], y[complete], V[complete]
    texts = read_texts(used, columns, source)
    raw = RawTable(source, V, y, columns=used, given=given, missing=missing, target=target, texts=texts)
    table = replace(raw, rows=rows.numbers, files=rows.files, n_rows=len(y)).learned()
    return check_encoded(table, y, [*first, told, *others(first)], unread=unread, constant=constant)


def _unused(inferred: Schema, given: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns that a fit does not use: those of text, and those without a value or with only one."""
    unread = tuple(column.name for column in inferred.columns if column.kind == "text")
    return unread, tuple(column.name for column in constant_columns(inferred, given))


def _with_shares(encoder: Encoder) -> Encoder:
    """The encoder that fills a missing category with its average, so that checks can tell it from a level."""
    return replace(encoder, columns=tuple(replace(one, fill=one.average or one.fill) for one in encoder.columns))
