"""``check``, for arrays and for tables. What a fit of a table would refuse is reported: text columns, a bad target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from separatrix.base.arrays import Integers
from separatrix.base.errors import ParameterError
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
from separatrix.checks.running import check_arrays, checked
from separatrix.rows.in_memory import InMemory
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


# Repeated rows, leverage and separation are found by comparing rows with each other.
CHECK = InMemory("check", "it compares rows with each other", "check a sample of the rows")


@CHECK.refusing_tables
def check(
    X: Any,
    y: Any = None,
    names: Sequence[str] | None = None,
    *,
    only: Sequence[str] | None = None,
    rows: Sequence[int] | Integers | None = None,
    target: str | int | None = None,
    missing: str = "error",
    **reading: Any,
) -> Checks:
    """Look for problems before a fit, in arrays or in a table: leaks, duplicates, collinear columns and others.

    Missing values do not stop the checks: they are reported, and replaced by the means of their columns. In a table,
    text columns, constant columns and an unusable target are reported, too.

    Parameters
    ----------
    X : array-like or sparse matrix, (n, d), or a table: a path, ``"demo:NAME"`` or a frame
        The rows; without y, a table with its target, as in ``read_table``.
    y : array-like, (n,), optional
        The labels. Without them, X is a table that contains them.
    names : sequence of str, optional
        With y, the names of the columns, by default those of a frame. A column named ``of=level`` belongs to a
        category ``of``.
    only : sequence of str, optional
        The names of the checks to run, from ``separatrix.checks.CHECKS``; all by default.
    rows : sequence of int, optional
        With y, the numbers by which findings name the rows. By default the rows of a table that ``read_table`` returns
        are named as in the table, and others by their positions, counted from 0.
    target : str or int, optional
        The column of a table to predict, as in ``read_table``. Demo tables and libsvm files know theirs.
    missing : {"error", "impute", "indicator", "drop"}
        What a fit will do with missing values of a table, as in ``read_table``. With "error" a fit would stop, so
        missing values are a problem. With the other settings the table is checked as it would be fitted, and rows
        without a label are left out.
    **reading
        How to read a table: ``drop``, ``schema``, ``text``, ``category``, ``number``, ``reference``, ``encoding``,
        ``delimiter``, ``decimal``, ``header``, ``quote``, ``na``, ``date_format``, ``max_columns`` and
        ``max_unpacked``, as in ``read_table``.

    Returns
    -------
    Checks
        The findings, worst first. Each has a severity ("problem", "warning", "note" or "ok"), numbers and advice.
        Its method ``for_report()`` gives what ``separatrix.report(checks=…)`` takes. Rows of a table are counted from
        1, in each file of a folder.

    Examples
    --------
    >>> checks = check([[0.0, 7.0], [1.0, 3.0], [4.0, 4.0], [5.0, 6.0]], [0, 0, 1, 1], names=["a", "b"])
    >>> print(checks[0])
    problem: A column alone separates the classes. 'a' separates the classes without a mistake: 0 ends at 1, 1 begins at
    4. Check whether it is known before the outcome; if it is not, leave it out with drop='a'.
    >>> checks.worst, checks.of("duplicates")[0].severity
    ('problem', 'ok')
    >>> [finding.check for finding in check("demo:outlier-1d").problems]
    ['leakage']
    """
    of_table = {"target": target, **reading, **({} if missing == "error" else {"missing": missing})}
    if y is None:
        of_arrays = {"names": names, "rows": rows}
        _refuse_settings(of_arrays, "it was given without y", "give the labels y, or leave it out for a table")
        return check_source(X, target, only, missing, **reading)
    _refuse_settings(of_table, "it was given together with y", "leave y out to check a table that contains its target")
    return check_arrays(X, y, names, only, rows)


def _refuse_settings(settings: Mapping[str, Any], problem: str, remedy: str) -> None:
    for name, value in settings.items():
        if value is not None:
            raise ParameterError(name, problem, remedy)


def check_source(
    data: Any,
    target: str | int | None,
    only: Sequence[str] | None,
    missing: str,
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
    reference: Mapping[str, str] | None = None,
) -> Checks:
    """``check`` for a file or a frame."""
    marks = (encoding, delimiter, decimal, max_columns, max_unpacked, header, quote, na, date_format)
    choice("missing", missing, MISSING)
    kinds: dict[str, Any] = {"text": text, "reference": reference, "category": category, "number": number}
    asked = selected(data, target, drop, schema, Spelling(*marks), **kinds)
    source = asked.source
    names = select.features_of(source, asked.labels, asked.drop)
    if isinstance(source, SparseSource):
        checks = _sparse(source, names, only)
    else:
        checks = _dense(asked, names, missing, only)
    return replace(checks, target=asked.target, notes=source.notes)


def _sparse(source: SparseSource, names: Sequence[str], only: Sequence[str] | None) -> Checks:
    X = source.matrix(names)
    return checked(X, source.labels, names, source.row_names, [absent({}, X.shape[0], "")], only=only)


def _dense(asked: Selection, names: Sequence[str], missing: str, only: Sequence[str] | None) -> Checks:
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
            return _filled(asked, inferred, columns, every[kept], first, others, only)
        return _as_fitted(asked, inferred, columns, every[kept], first, others, missing, only)


def _filled(
    asked: Selection,
    inferred: Schema,
    columns: pa.Table,
    rows: RowNames,
    first: list[Finding],
    others: _Others,
    only: Sequence[str] | None,
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
        *(reading.X, y, encoder.names, rows, [*first, *others(first)], encoder.references, only),
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
    only: Sequence[str] | None,
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
    return check_encoded(table, y, [*first, told, *others(first)], only, unread=unread, constant=constant)


def _unused(inferred: Schema, given: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns that a fit does not use: those of text, and those without a value or with only one."""
    unread = tuple(column.name for column in inferred.columns if column.kind == "text")
    return unread, tuple(column.name for column in constant_columns(inferred, given))


def _with_shares(encoder: Encoder) -> Encoder:
    """The encoder that fills a missing category with its average, so that checks can tell it from a level."""
    return replace(encoder, columns=tuple(replace(one, fill=one.average or one.fill) for one in encoder.columns))
