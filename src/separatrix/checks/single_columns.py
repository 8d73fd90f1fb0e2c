"""Checks of single columns: constant or nearly constant, very different scales, row numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import quoted
from separatrix.base.messages import ByAudience, Message, Setting, joined, reason, remedy
from separatrix.base.number_text import many, number_text
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import MOST_NAMED_IN_SENTENCE, Finding, capital
from separatrix.checks.missing_values import named_left_out
from separatrix.rows import Block, memory_rows
from separatrix.rows.csr import is_sparse
from separatrix.table.cells import listed

# A column is nearly constant if fewer than this share of the rows differ from its most frequent value.
SHARE_DIFFERING_IF_NEARLY_CONSTANT = 0.005
# From this many rows on, a column is also nearly constant if only one row differs.
FEWEST_ROWS_FOR_ONE_DIFFERING = 50
# A sparse column is nearly constant if at most this many rows have a nonzero value.
NONZERO_ROWS_IF_NEARLY_CONSTANT = 2
# A ratio of the largest to the smallest standard deviation from which on it is reported.
RATIO_OF_SCALES_TO_REPORT = 1000.0
# The number of rows in which the most frequent value of a column is searched.
ROWS_TO_FIND_USUAL_VALUE = 2000


def constant(subject: CheckedRows) -> Iterator[Finding]:
    """Constant and nearly constant columns."""
    still = np.flatnonzero(subject.summary.constant)
    if len(still):
        sentence = f"{_named(subject, still)} {'has' if len(still) == 1 else 'have'} one value in all rows."
        facts = {"columns": _names(subject, still)}
        yield Finding(
            "note",
            "constant",
            f"{_columns(still)} constant.",
            sentence,
            "Leave it out: a constant column carries no information.",
            facts,
        )
    nearly, differing = _nearly_constant(subject)
    if len(nearly):
        shown = [
            f"{quoted(subject.names[j])} ({many(int(differing[j]), 'row')})" for j in nearly[:MOST_NAMED_IN_SENTENCE]
        ]
        more = (
            f" and {many(len(nearly) - MOST_NAMED_IN_SENTENCE, 'more column')}"
            if len(nearly) > MOST_NAMED_IN_SENTENCE
            else ""
        )
        sentence = f"All rows but a few have the same value: {', '.join(shown)}{more}."
        remedy = "The weight of such a column depends on those few rows: leave it out, or merge it with others."
        counts = {"columns": {subject.names[j]: int(differing[j]) for j in nearly}}
        yield Finding("note", "constant", f"{_columns(nearly)} nearly constant.", sentence, remedy, counts)
    if not len(still) and not len(nearly):
        left_out = [*subject.unread, *subject.constant]
        title = "Every column that is used varies." if left_out else "Every column varies."
        without = f" without {named_left_out(left_out)}" if left_out else ""
        yield Finding("ok", "constant", title, f"{subject.columns()} checked{without}.")


def scales(subject: CheckedRows) -> Iterator[Finding]:
    """The ratio of the largest to the smallest standard deviation."""
    columns = subject.without_ngrams(subject.varying)
    std = subject.summary.std[columns]
    if len(std) == 0:
        return
    small, large = int(columns[np.argmin(std)]), int(columns[np.argmax(std)])
    with np.errstate(over="ignore"):
        ratio = float(std.max() / std.min())
    facts = {"smallest": subject.names[small], "largest": subject.names[large], "ratio": ratio}
    least, most = quoted(subject.names[small]), quoted(subject.names[large])
    ends = f"from {number_text(std.min(), 3)} ({least}) to {number_text(std.max(), 3)} ({most})"
    sentence = f"Standard deviations range {ends}."
    if len(std) == 1:
        sentence = f"One column varies, {least}, with a standard deviation of {number_text(std[0], 3)}."
    if ratio < RATIO_OF_SCALES_TO_REPORT:
        title = f"The scales of the columns differ by less than {RATIO_OF_SCALES_TO_REPORT:g} times."
        yield Finding("ok", "scales", title, sentence, "", facts)
        return
    remedy = Message(
        "The solvers scale the columns themselves, but penalties and distances depend on the units. A penalty shrinks "
        "the weights of columns with small values the most. ",
        ByAudience("Standardise the columns, or give penalty_factors.", shell="Fit with --standardise."),
    )
    yield Finding("note", "scales", "The columns have very different scales.", sentence, remedy, facts)


def index(subject: CheckedRows) -> Iterator[Finding]:
    """Columns that count the rows, or that never repeat and have a name such as "id"."""
    if not subject.counting:
        yield Finding("ok", "index", "No column looks like a row number.", f"{subject.columns()} checked.")
        return
    names = tuple(subject.names[j] for j in subject.counting)
    why = [Message(quoted(subject.names[j]), ": ", reason(note)) for j, note in subject.counting.items()]
    sentence, facts = Message(joined("; ", why), "."), {"columns": list(names)}
    solved = tuple(Setting("drop", name) for name in names)
    if len(names) == 1:
        leave = capital(Message(remedy(subject.counting[next(iter(subject.counting))]), "."))
        yield Finding("warning", "index", "A column looks like a row number.", sentence, leave, facts, solved)
    else:
        leave = Message("If they are indices, leave them out with ", Setting("drop", names), ".")
        title = f"{len(names)} columns look like row numbers."
        yield Finding("warning", "index", title, sentence, leave, facts, solved)


def _nearly_constant(subject: CheckedRows) -> tuple[Integers, Integers]:
    """The nearly constant columns, and for all columns the number of rows that differ from the usual value."""
    n = subject.n_rows
    usual = _usual(subject)
    differing = memory_rows(subject.X, np.zeros(n)).fold(_Differing(usual))
    if subject.is_sparse:  # Most columns of sparse rows are zero in most rows.
        few = (differing <= NONZERO_ROWS_IF_NEARLY_CONSTANT) & (n >= FEWEST_ROWS_FOR_ONE_DIFFERING)
    else:
        few = (differing < SHARE_DIFFERING_IF_NEARLY_CONSTANT * n) | (
            (differing == 1) & (n >= FEWEST_ROWS_FOR_ONE_DIFFERING)
        )
    return subject.without_ngrams(np.flatnonzero(few & ~subject.summary.constant)), differing


def _usual(subject: CheckedRows) -> Array:
    """The median of each column in some rows, (d,). A value that most rows have is the median."""
    if subject.is_sparse:  # The usual value of a sparse column is zero.
        return np.zeros(subject.n_columns)
    rows = np.unique(np.linspace(0, subject.n_rows - 1, ROWS_TO_FIND_USUAL_VALUE).astype(np.int64))
    return np.asarray(np.quantile(subject.X[rows], 0.5, axis=0, method="lower"), dtype=np.float64)


@dataclass(frozen=True)
class _Differing:
    """The partial that counts the entries that differ from ``usual`` (d,)."""

    usual: Array

    def zero(self) -> Integers:
        return np.zeros(len(self.usual), dtype=np.int64)

    def add(self, total: Integers, block: Block) -> Integers:
        X: Any = block.X
        if is_sparse(X):
            total += np.bincount(X.indices[X.data != 0], minlength=len(total))
        else:
            total += np.count_nonzero(self.usual != X, axis=0)
        return total

    def merge(self, a: Integers, b: Integers) -> Integers:
        return a + b


def _names(subject: CheckedRows, columns: Integers) -> list[str]:
    return [subject.names[j] for j in columns]


def _named(subject: CheckedRows, columns: Integers) -> str:
    return listed(_names(subject, columns), MOST_NAMED_IN_SENTENCE)


def _columns(columns: Integers) -> str:
    return "A column is" if len(columns) == 1 else f"{len(columns):,} columns are"
