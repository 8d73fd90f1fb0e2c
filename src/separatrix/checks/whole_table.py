"""Check a table. Text columns, constant columns, missing values and a bad target are reported, not refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from separatrix.base.arrays import AnyArray
from separatrix.base.labels import quoted
from separatrix.base.messages import Message, Setting, joined, reason, remedy, solving
from separatrix.base.row_names import RowNames
from separatrix.checks.finding import MOST_NAMED_IN_SENTENCE, Checks, Finding, capital, many
from separatrix.checks.running import checked
from separatrix.checks.single_columns import absent
from separatrix.table import Column, Encoder, Schema, infer, select
from separatrix.table.cells import READINGS, listed
from separatrix.table.fitting import fit_encoder, refusal, solution
from separatrix.table.formats import SparseSource, Spelling
from separatrix.table.formats.source import row_names
from separatrix.table.marks import code_among_numbers
from separatrix.table.selection import Columns, Selection, selected
from separatrix.table.target_column import labels, unlabelled

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
) -> Checks:
    """Check a file or a frame before a fit, for the things that a careful analyst looks for.

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
    asked = selected(data, target, drop, schema, Spelling(*marks), text=text, category=category, number=number)
    source = asked.source
    names = select.features_of(source, asked.labels, asked.drop)
    checks = _sparse(source, names) if isinstance(source, SparseSource) else _dense(asked, names)
    return replace(checks, target=asked.target, notes=source.notes)


def _sparse(source: SparseSource, names: Sequence[str]) -> Checks:
    X = source.matrix(names)
    return checked(X, source.labels, names, source.row_names, [absent({}, X.shape[0], "")])


def _dense(asked: Selection, names: Sequence[str]) -> Checks:
    source, target, given = asked.source, asked.labels, asked.given
    columns = asked.read([*names, target])
    every, kept = row_names(columns), ~unlabelled(columns.column(target), given.classes)
    inferred = infer(columns, target, given)
    first = [*_refused(inferred, every), *_left_out(inferred, given), *_marked(inferred)]
    if not kept.any() or not inferred.used:
        first += [*_unlabelled(kept, target, first), *_nothing(kept, inferred)]
        return Checks(tuple(first), columns.num_rows, len(names))
    columns = columns.filter(pa.array(kept)) if not kept.all() else columns
    with every[kept].in_errors():
        y = labels(source.name, columns.column(target), target, classes=given.classes)
        encoder = fit_encoder(replace(inferred, columns=inferred.used), columns, "impute", "average", source.name)
        encoder = _with_shares(encoder)
        reading = encoder.read(columns, source.name)
    unread = tuple(column.name for column in inferred.columns if column.kind == "text")
    constant = tuple(column.name for column in _constant(inferred, given))
    first += _coded(inferred, columns, source.name)
    first.append(absent(reading.missing, len(y), _FILLED, (*unread, *constant)))
    first += _unlabelled(kept, target, first)
    sources = tuple(column.name for column in encoder.columns for _ in column.names)
    of = (reading.X, y, encoder.names, every[kept], first, encoder.references)
    return checked(
        *of, n_columns=len(encoder.columns), ngrams=encoder.of_text, sources=sources, unread=unread, constant=constant
    )


def _with_shares(encoder: Encoder) -> Encoder:
    """The encoder with the average of a category for its missing values, which the checks tell from its levels."""
    return replace(encoder, columns=tuple(replace(one, fill=one.average or one.fill) for one in encoder.columns))


def _unlabelled(kept: AnyArray, target: str, others: Sequence[Finding]) -> Iterator[Finding]:
    """The problem that rows have no label. Its solution is the way of handling missing values that ``others`` need."""
    lost = int((~kept).sum())
    if lost and kept.any():
        have, them = ("has", "it is") if lost == 1 else ("have", "they are")
        which = f"{many(lost, 'row')} of {len(kept):,} {have}"
        sentence = f"{which} no value in the target {quoted(target)}; {them} left out here."
        ways = Setting("missing", "drop", "impute", "indicator")
        advice = Message("A fit stops at such a row: fit with ", ways, ", each of which leaves it out.")
        asked = [setting for finding in others for setting in finding.solving if setting.name == "missing"]
        solved = asked[0] if asked else Setting("missing", "drop")
        title = "A row has no label." if lost == 1 else "Rows have no label."
        yield Finding("problem", "target", title, sentence, advice, {"unlabelled_rows": lost}, (solved,))


def _refused(inferred: Schema, rows: RowNames) -> Iterator[Finding]:
    for column in inferred.columns:
        if column.kind == "text":
            problem, remedy = refusal(column)
            sentence = Message(quoted(column.name), ": ", rows.named(problem), "; it is left out here.")
            title = "A column is text, or holds values that are not numbers."
            facts = {"columns": [column.name]}
            advice = capital(Message(remedy, "."))
            yield Finding("problem", "text", title, sentence, advice, facts, solution([column]))


def _constant(inferred: Schema, given: Schema) -> list[Column]:
    """Columns without a value or with only one, except those that the user's schema leaves out."""
    asked = {column.name for column in given.columns if column.kind == "ignored"}
    return [column for column in inferred.columns if column.kind == "ignored" and column.name not in asked]


def _left_out(inferred: Schema, given: Schema) -> Iterator[Finding]:
    """The note on columns without a value or with only one."""
    constant = _constant(inferred, given)
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


def _marked(inferred: Schema) -> Iterator[Finding]:
    """Categories with a level that may mean a missing value."""
    for column in inferred.used:
        if solving(column.note):
            sentence = Message(quoted(column.name), ": ", reason(column.note), ".")
            title, advice = "A level may mean a missing value.", capital(Message(remedy(column.note), "."))
            yield Finding("note", "marks", title, sentence, advice, {"columns": [column.name]})


def _coded(inferred: Schema, columns: pa.Table, source: str) -> Iterator[Finding]:
    """Columns of numbers in which a number such as −999 stands out, which may mean a missing value."""
    for column in inferred.used:
        if column.kind == "number":
            found = code_among_numbers(READINGS["number"](source, column.name, columns.column(column.name)))
            if found is not None:
                code, rows, low, high = found
                where = f"{quoted(column.name)} is {code} in {many(rows, 'row')} of {columns.num_rows:,}"
                sentence = f"{where}, far from its other values, {low:.4g} to {high:.4g}."
                advice = Message("If it means a missing value, give ", Setting("na", code), ".")
                title, facts = "A number may mean a missing value.", {"columns": [column.name], "code": float(code)}
                yield Finding("note", "marks", title, sentence, advice, facts)


def _nothing(kept: AnyArray, inferred: Schema) -> Iterator[Finding]:
    if not kept.any():
        sentence = f"None of {many(len(kept), 'row')} has a label in {quoted(inferred.target)}."
        yield Finding("problem", "target", "No row has a label.", sentence, "Predict another column.")
    if not inferred.used:
        sentence = f"None of {many(len(inferred.columns), 'column')} beside the target can be used."
        settings = solution([column for column in inferred.columns if column.kind == "text"])
        usable = settings if any(setting.name != "drop" for setting in settings) else ()
        title, remedy = "There is no column to learn from.", "Give columns that vary."
        yield Finding("problem", "columns", title, sentence, remedy, solving=usable)
