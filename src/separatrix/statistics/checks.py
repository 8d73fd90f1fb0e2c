"""``check``: look for problems in arrays or in a table before a fit.

Each check is a function of ``CheckedRows`` that yields findings, and ``CHECKS`` is the registry of all: a new check is
one function and one line there. Checks do not stop at what a fit would refuse: missing values are filled, columns of
text and rows without a label are left out, and each of these is a finding as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.core.base.arrays import AnyArray, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import RowNames, as_label_array, encode, quoted
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.messages import Message, Setting, joined, many, number_text, reason, remedy, solving
from separatrix.core.base.watching import part
from separatrix.core.certificate import as_matrix
from separatrix.core.proofs.naming import column_names
from separatrix.core.proofs.row_claims import as_rows
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.labelled_table import InMemory
from separatrix.statistics import column_checks, row_checks
from separatrix.statistics.column_checks import absent, handled, none_left
from separatrix.statistics.finding import MOST_NAMED_IN_SENTENCE, CheckedRows, Checks, Finding, capital
from separatrix.tables import learn_encoder
from separatrix.tables.cells import READINGS, listed
from separatrix.tables.encoder import MISSING, Encoder, checked
from separatrix.tables.formats.libsvm import SparseSource
from separatrix.tables.formats.source import Spelling, row_names
from separatrix.tables.infer import infer
from separatrix.tables.read_table import RawTable, Table
from separatrix.tables.schema import Column, Schema
from separatrix.tables.seen_cells import code_among_numbers
from separatrix.tables.selection import Columns, Selection, features_of, selected
from separatrix.tables.target_column import labels, unlabelled


@dataclass(frozen=True)
class KnownCheck:
    """A check, and whether it needs labels that are classes."""

    run: Callable[[CheckedRows], Iterator[Finding]]
    needs_classes: bool = True


CHECKS: dict[str, KnownCheck] = {
    "leakage": KnownCheck(column_checks.alone),
    "separation": KnownCheck(row_checks.separation),
    "categories": KnownCheck(column_checks.categories),
    "index": KnownCheck(column_checks.index, False),
    "collinear": KnownCheck(column_checks.collinear, False),
    "leverage": KnownCheck(row_checks.leverage, False),
    "duplicates": KnownCheck(row_checks.repeated, False),
    "constant": KnownCheck(column_checks.constant, False),
    "scales": KnownCheck(column_checks.scales, False),
    "balance": KnownCheck(row_checks.balance),
    "rows": KnownCheck(row_checks.enough_rows),
}


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
        The names of the checks to run, from ``separatrix.statistics.checks.CHECKS``; all by default.
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


# --- Arrays

_FILLED = "For these checks they were filled with the means of their columns."


def check_arrays(
    X: Any,
    y: Any,
    names: Sequence[str] | None,
    only: Sequence[str] | None,
    rows: Sequence[int] | Integers | None,
) -> Checks:
    """``check`` for rows X and labels y. Infinity and NaN are reported, and replaced by the mean of their column."""
    given_names = column_names(X, names)
    table = as_rows(as_matrix(X))
    labels = as_label_array(y)
    if table.ndim != 2 or table.shape[0] != len(labels) or table.shape[1] == 0:
        problem = f"its shape is {table.shape} for {len(labels)} labels"
        raise ParameterError("X", problem, "give at least one column, and one row per label")
    rows = getattr(X, "row_names", None) if rows is None else rows
    numbers = np.arange(len(labels)) if rows is None else rows if isinstance(rows, RowNames) else np.asarray(rows)
    if len(numbers) != len(labels):
        raise ParameterError("rows", f"it has {len(numbers)} for {len(labels)} labels", "give a number for each row")
    columns = given_names or tuple(f"x{j}" for j in range(table.shape[1]))
    table, missing = _filled_with_means(table, columns)
    return run_checks(table, labels, columns, numbers, [absent(missing, len(labels), _FILLED)], only=only)


def _filled_with_means(X: Any, names: tuple[str, ...]) -> tuple[Any, dict[str, int]]:
    """The rows with the column's mean in place of NaN and infinity, and the number of those by column."""
    data: AnyArray = X.data if is_sparse(X) else X
    if np.all(np.isfinite(data)):
        return X, {}
    X = X.copy()
    missing: dict[str, int] = {}
    for j in range(X.shape[1]) if not is_sparse(X) else np.unique(X.indices[~np.isfinite(X.data)]).tolist():
        place = np.flatnonzero(X.indices == j) if is_sparse(X) else slice(None)
        values = X.data[place] if is_sparse(X) else X[:, j]
        bad = ~np.isfinite(values)
        if bad.any():
            missing[names[j]] = int(bad.sum())
            values[bad] = values[~bad].sum() / max(1, X.shape[0] - missing[names[j]])
            if is_sparse(X):
                X.data[place] = values
    return X, missing


def run_checks(
    X: Any,
    y: AnyArray,
    names: Sequence[str],
    rows: Integers | RowNames,
    first: Sequence[Finding] = (),
    only: Sequence[str] | None = None,
    encoder: Encoder | None = None,
    unread: tuple[str, ...] = (),
    constant: tuple[str, ...] = (),
) -> Checks:
    """Run every check that applies to finite rows, and put the findings after those in ``first``.

    ``rows`` are the rows' numbers. ``encoder`` is the one that made X of the columns of a table, if any. ``unread`` and
    ``constant`` are columns of the table that X lacks. If the labels are not classes, only checks that do not need
    classes are run.
    """
    for name in only or ():
        if name not in CHECKS:
            raise ParameterError("only", f"got {name!r}", f"name some of {', '.join(CHECKS)}")
    fault = row_checks.unusable(y)
    classes, codes = encode(y)
    usable_codes = codes if fault is None else None
    n_columns = len(names)
    made: dict[str, Any] = {"unread": unread, "constant": constant}
    if encoder is not None:
        n_columns = len(encoder.columns) or n_columns
        sources = tuple(column.name for column in encoder.columns for _ in column.names)
        made |= {"references": encoder.references, "ngrams": encoder.of_text, "sources": sources}
        made["encoded"] = n_columns != len(names)
    subject = CheckedRows(X, usable_codes, classes, tuple(names), rows, **made)
    findings = [
        *first,
        *([] if fault is None else [fault]),
        *_leaving_a_column(subject, list(_findings(subject, only))),
    ]
    counts = {} if subject.codes is None else dict(zip(subject.labels, subject.counts.tolist(), strict=True))
    return Checks(tuple(findings), subject.n_rows, n_columns, counts, n_encoded=subject.n_columns)


def _findings(subject: CheckedRows, only: Sequence[str] | None) -> Iterator[Finding]:
    """The findings of all checks, or of those in ``only``, that can be run on the subject."""
    asked = {
        name: known
        for name, known in CHECKS.items()
        if (only is None or name in only) and (subject.codes is not None or not known.needs_classes)
    }
    with one_blas_thread:
        for k, (name, known) in enumerate(asked.items(), 1):
            with part("check", k, len(asked), name) if len(asked) > 1 else nullcontext():
                yield from known.run(subject)


def _leaving_a_column(subject: CheckedRows, findings: list[Finding]) -> list[Finding]:
    """The findings; without the settings that leave columns out, if together they would leave no column."""
    left_out = {
        name for one in findings for setting in one.solving if setting.name == "drop" for name in setting.values
    }
    if left_out.issuperset(subject.tabled(range(subject.n_columns))):
        return [replace(one, solving=tuple(s for s in one.solving if s.name != "drop")) for one in findings]
    return findings


# --- Tables


def check_encoded(
    table: Table,
    y: AnyArray,
    first: Sequence[Finding] = (),
    only: Sequence[str] | None = None,
    unread: tuple[str, ...] = (),
    constant: tuple[str, ...] = (),
) -> Checks:
    """The findings about the rows of a table with labels y (m,), after those in ``first``.

    ``only`` names the checks to run, all by default. Columns without names are called x0, x1 and so on.
    ``unread`` and ``constant`` are columns of the source that the table lacks, since they are text or do not vary.

    >>> from separatrix import read_table
    >>> table = read_table("demo:outlier-1d")
    >>> [finding.check for finding in check_encoded(table, table.y, only=["leakage"])]
    ['leakage']
    """
    names = table.names or tuple(f"x{j}" for j in range(table.X.shape[1]))
    return run_checks(table.X, y, names, table.row_names, first, only, table.encoder, unread, constant)


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
    spelling = Spelling(encoding, delimiter, decimal, max_columns, max_unpacked, header, quote, na, date_format)
    checked("missing", missing, MISSING)
    kinds: dict[str, Any] = {"text": text, "reference": reference, "category": category, "number": number}
    asked = selected(data, target, drop, schema, spelling, **kinds)
    source = asked.source
    names = features_of(source, asked.labels, asked.drop)
    if isinstance(source, SparseSource):
        X = source.matrix(names)
        checks = run_checks(X, source.labels, names, source.row_names, [absent({}, X.shape[0], "")], only=only)
    else:
        checks = _check_cells(asked, names, missing, only)
    return replace(checks, target=asked.target, notes=source.notes)


# The findings about rows without a label, given the other findings.
_Others = Callable[[Sequence[Finding]], Iterator[Finding]]


def _check_cells(asked: Selection, names: Sequence[str], missing: str, only: Sequence[str] | None) -> Checks:
    """The findings about the cells of a table, then those about its rows with a label, if a fit could use any."""
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
            return _check_filled(asked, inferred, columns, every[kept], first, others, only)
        return _check_as_fitted(asked, inferred, columns, every[kept], first, others, missing, only)


def _check_filled(
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
    encoder = learn_encoder.fit_encoder(replace(inferred, columns=inferred.used), columns, "impute", "average", source)
    # A missing category is filled with its average, by which the checks can tell it from a level.
    encoder = replace(encoder, columns=tuple(replace(one, fill=one.average or one.fill) for one in encoder.columns))
    reading = encoder.read(columns, source)
    unread, constant = _unused(inferred, given)
    first = [*first, absent(reading.missing, len(y), _FILLED, (*unread, *constant))]
    return run_checks(reading.X, y, encoder.names, rows, [*first, *others(first)], only, encoder, unread, constant)


def _check_as_fitted(
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
    V = learn_encoder.read_cells(used, columns, source)
    complete, holes = learn_encoder.kept_rows(used, V, missing, source), learn_encoder.missing_counts(used, V)
    if not complete.any():
        return Checks((*first, none_left(holes, len(y)), *others(first)), len(y), len(used))
    unread, constant = _unused(inferred, given)
    lost = int((~complete).sum())
    told = handled(holes, len(y), missing, lost) if holes else absent({}, len(y), "", (*unread, *constant))
    if lost:
        columns, rows, y, V = columns.filter(pa.array(complete)), rows[complete], y[complete], V[complete]
    texts = learn_encoder.read_texts(used, columns, source)
    raw = RawTable(source, V, y, columns=used, given=given, missing=missing, target=target, texts=texts)
    table = replace(raw, rows=rows.numbers, files=rows.files, n_rows=len(y)).learned()
    return check_encoded(table, y, [*first, told, *others(first)], only, unread=unread, constant=constant)


def _unused(inferred: Schema, given: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns that a fit does not use: those of text, and those without a value or with only one."""
    unread = tuple(column.name for column in inferred.columns if column.kind == "text")
    return unread, tuple(column.name for column in constant_columns(inferred, given))


# --- Findings about cells and columns that a fit refuses, leaves out or may misread


def unlabelled_rows(kept: AnyArray, target: str, others: Sequence[Finding], missing: str) -> Iterator[Finding]:
    """Rows without a label: a problem if missing values are an error, else a note.

    The solution of the problem is the way of handling missing values that ``others`` need.
    """
    lost = int((~kept).sum())
    if lost and kept.any():
        have, them = ("has", "it is") if lost == 1 else ("have", "they are")
        which = f"{many(lost, 'row')} of {len(kept):,} {have}"
        sentence = f"{which} no value in the target {quoted(target)}; {them} left out here."
        title, facts = "A row has no label." if lost == 1 else "Rows have no label.", {"unlabelled_rows": lost}
        if missing != "error":
            yield Finding("note", "target", title, sentence, "A fit leaves such rows out, too.", facts)
            return
        ways = Setting("missing", "drop", "impute", "indicator")
        advice = Message("A fit stops at such a row: fit with ", ways, ", each of which leaves it out.")
        asked = [setting for finding in others for setting in finding.solving if setting.name == "missing"]
        solved = asked[0] if asked else Setting("missing", "drop")
        yield Finding("problem", "target", title, sentence, advice, facts, (solved,))


def refused(inferred: Schema, rows: RowNames) -> Iterator[Finding]:
    """Columns at which a fit stops, because they hold text or values that are not numbers."""
    for column in inferred.columns:
        if column.kind == "text":
            problem, remedy = learn_encoder.refusal(column)
            sentence = Message(quoted(column.name), ": ", rows.named(problem), "; it is left out here.")
            title = "A column is text, or holds values that are not numbers."
            facts = {"columns": [column.name]}
            advice = capital(Message(remedy, "."))
            yield Finding("problem", "text", title, sentence, advice, facts, learn_encoder.solution([column]))


def constant_columns(inferred: Schema, given: Schema) -> list[Column]:
    """Columns without a value or with only one, except those that the user's schema leaves out."""
    asked = {column.name for column in given.columns if column.kind == "ignored"}
    return [column for column in inferred.columns if column.kind == "ignored" and column.name not in asked]


def left_out(inferred: Schema, given: Schema) -> Iterator[Finding]:
    """The note on columns without a value or with only one."""
    constant = constant_columns(inferred, given)
    if not constant:
        return
    names = [column.name for column in constant]
    notes = [Message(quoted(column.name), ": ", column.note) for column in constant[:MOST_NAMED_IN_SENTENCE]]
    others = names[MOST_NAMED_IN_SENTENCE:]
    more = f"; and {listed(others, MOST_NAMED_IN_SENTENCE)}" if others else ""
    title, remedy = "A column is constant.", "A fit leaves such a column out."
    if len(constant) > 1:
        title, remedy = f"{len(constant)} columns are constant.", "A fit leaves such columns out."
    yield Finding("note", "constant", title, Message(joined("; ", notes), more, "."), remedy, {"columns": names})


def marked(inferred: Schema) -> Iterator[Finding]:
    """Categories with a level that may mean a missing value."""
    for column in inferred.used:
        if solving(column.note):
            sentence = Message(quoted(column.name), ": ", reason(column.note), ".")
            title, advice = "A level may mean a missing value.", capital(Message(remedy(column.note), "."))
            yield Finding("note", "marks", title, sentence, advice, {"columns": [column.name]})


def coded(inferred: Schema, columns: pa.Table, source: str) -> Iterator[Finding]:
    """Columns of numbers in which a number such as −999 stands out, which may mean a missing value."""
    for column in inferred.used:
        if column.kind == "number":
            found = code_among_numbers(READINGS["number"](source, column.name, columns.column(column.name)))
            if found is not None:
                code, rows, low, high = found
                where = f"{quoted(column.name)} is {code} in {many(rows, 'row')} of {columns.num_rows:,}"
                sentence = f"{where}, far from its other values, {number_text(low)} to {number_text(high)}."
                advice = Message("If it means a missing value, give ", Setting("na", code), ".")
                title, facts = "A number may mean a missing value.", {"columns": [column.name], "code": float(code)}
                yield Finding("note", "marks", title, sentence, advice, facts)


def nothing(kept: AnyArray, inferred: Schema) -> Iterator[Finding]:
    """The problems that no row has a label, or that no column can be used."""
    if not kept.any():
        sentence = f"None of {many(len(kept), 'row')} has a label in {quoted(inferred.target)}."
        yield Finding("problem", "target", "No row has a label.", sentence, "Predict another column.")
    if not inferred.used:
        sentence = f"None of {many(len(inferred.columns), 'column')} beside the target can be used."
        settings = learn_encoder.solution([column for column in inferred.columns if column.kind == "text"])
        usable = settings if any(setting.name != "drop" for setting in settings) else ()
        title, remedy = "There is no column to learn from.", "Give columns that vary."
        yield Finding("problem", "columns", title, sentence, remedy, solving=usable)
