"""Findings about a table that is not encoded yet: cells and columns that a fit refuses, leaves out or may misread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from separatrix.base.arrays import AnyArray
from separatrix.base.labels import quoted
from separatrix.base.messages import Message, Setting, joined, reason, remedy, solving
from separatrix.base.number_text import many, number_text
from separatrix.base.row_names import RowNames
from separatrix.checks.finding import MOST_NAMED_IN_SENTENCE, Finding, capital
from separatrix.table import Column, Schema
from separatrix.table.cells import READINGS, listed
from separatrix.table.fitting import refusal, solution
from separatrix.table.marks import code_among_numbers


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
    for column in inferred.columns:
        if column.kind == "text":
            problem, remedy = refusal(column)
            sentence = Message(quoted(column.name), ": ", rows.named(problem), "; it is left out here.")
            title = "A column is text, or holds values that are not numbers."
            facts = {"columns": [column.name]}
            advice = capital(Message(remedy, "."))
            yield Finding("problem", "text", title, sentence, advice, facts, solution([column]))


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
    if not kept.any():
        sentence = f"None of {many(len(kept), 'row')} has a label in {quoted(inferred.target)}."
        yield Finding("problem", "target", "No row has a label.", sentence, "Predict another column.")
    if not inferred.used:
        sentence = f"None of {many(len(inferred.columns), 'column')} beside the target can be used."
        settings = solution([column for column in inferred.columns if column.kind == "text"])
        usable = settings if any(setting.name != "drop" for setting in settings) else ()
        title, remedy = "There is no column to learn from.", "Give columns that vary."
        yield Finding("problem", "columns", title, sentence, remedy, solving=usable)
