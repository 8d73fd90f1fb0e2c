"""Checks of single columns: no value, one value, nearly one value, unlike scales, an index in disguise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import quoted
from separatrix.base.messages import ByAudience, Message, Setting, reason, remedy
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import NAMED, Finding, capital, many, share
from separatrix.rows import Block, memory_rows
from separatrix.rows.block import is_sparse
from separatrix.table.cells import listed

# A column is nearly constant where fewer than this share of the rows differ, or one row alone among at least so many.
NEARLY, FEWEST = 0.005, 50
# And a CSR column where so few rows have it at all.
ALONE = 2
# Standard deviations this far apart are told.
UNLIKE = 1000.0
# Rows among which the most frequent value is looked for.
LOOKED_AT = 2000
# From this share of missing values on it is a warning.
MUCH_MISSING = 0.05


def absent(missing: Mapping[str, int], n: int, filled: str) -> Finding:
    """Missing values by column, of n rows; ``filled`` says what stood for them in the other checks."""
    if not missing:
        return Finding("ok", "missing", "No value is missing.", f"All {n:,} rows have a value in every column.")
    worst = sorted(missing, key=lambda name: -missing[name])
    shown = ", ".join(f"{quoted(name)} {missing[name]:,} ({share(missing[name], n)})" for name in worst[:NAMED])
    more = f" and {many(len(worst) - NAMED, 'more column')}" if len(worst) > NAMED else ""
    severity = "warning" if missing[worst[0]] >= MUCH_MISSING * n else "note"
    ways = Setting("missing", "impute", "indicator", "drop")
    do = Message(filled, " " * bool(filled), "Fit with ", ways, "; find out why they are missing.")
    facts = {"missing": {name: missing[name] for name in worst}}
    return Finding(severity, "missing", "Values are missing.", f"In {shown}{more}, of {n:,} rows.", do, facts)


def constant(subject: CheckedRows) -> Iterator[Finding]:
    """Columns with one value only, and those with nearly one."""
    still = np.flatnonzero(subject.summary.constant)
    if len(still):
        sentence = f"{_named(subject, still)} {'has' if len(still) == 1 else 'have'} one value in all rows."
        facts = {"columns": _names(subject, still)}
        yield Finding(
            "note", "constant", f"{_columns(still)} constant.", sentence, "Leave it out: it says nothing.", facts
        )
    nearly, differing = _nearly_constant(subject)
    if len(nearly):
        shown = [f"{quoted(subject.names[j])} ({many(int(differing[j]), 'row')})" for j in nearly[:NAMED]]
        more = f" and {many(len(nearly) - NAMED, 'more column')}" if len(nearly) > NAMED else ""
        sentence = f"One value but for few rows: {', '.join(shown)}{more}."
        do = "Such a weight rests on those few rows: leave the column out, or join it with others."
        counts = {"columns": {subject.names[j]: int(differing[j]) for j in nearly}}
        yield Finding("note", "constant", f"{_columns(nearly)} nearly constant.", sentence, do, counts)
    if not len(still) and not len(nearly):
        yield Finding("ok", "constant", "Every column varies.", f"{subject.columns()} looked at.")


def scales(subject: CheckedRows) -> Iterator[Finding]:
    """The largest standard deviation beside the smallest."""
    std = subject.summary.std[subject.varying]
    if len(std) == 0:
        return
    small, large = int(subject.varying[np.argmin(std)]), int(subject.varying[np.argmax(std)])
    with np.errstate(over="ignore"):
        ratio = float(std.max() / std.min())
    facts = {"smallest": subject.names[small], "largest": subject.names[large], "ratio": ratio}
    least, most = quoted(subject.names[small]), quoted(subject.names[large])
    ends = f"from {std.min():.3g} ({least}) to {std.max():.3g} ({most})"
    sentence = f"Standard deviations run {ends}."
    if ratio < UNLIKE:
        yield Finding("ok", "scales", "The columns' scales are alike.", sentence, "", facts)
        return
    do = Message(
        "The solvers scale the columns themselves, but a penalty and a distance depend on the units: both hold the "
        "weights of small columns down the most. ",
        ByAudience("Standardise, or give penalty_factors.", shell="Fit with --standardise."),
    )
    yield Finding("note", "scales", "The columns' scales are unlike.", sentence, do, facts)


def index(subject: CheckedRows) -> Iterator[Finding]:
    """Columns that count the rows, or never repeat under a name such as "id"."""
    for j, note in subject.counting.items():
        sentence = Message(quoted(subject.names[j]), ": ", reason(note), ".")
        facts = {"columns": [subject.names[j]]}
        leave = capital(Message(remedy(note), "."))
        yield Finding("warning", "index", "A column looks like a row number.", sentence, leave, facts)
    if not subject.counting:
        yield Finding("ok", "index", "No column looks like a row number.", f"{subject.columns()} looked at.")


def _nearly_constant(subject: CheckedRows) -> tuple[Integers, Integers]:
    """Which columns, and for all columns how many rows differ from their most frequent value."""
    n = subject.n_rows
    usual = _usual(subject)
    differing = memory_rows(subject.X, np.zeros(n)).fold(_Differing(usual))
    if subject.is_sparse:  # most columns are zero in most rows, as they should be
        few = (differing <= ALONE) & (n >= FEWEST)
    else:
        few = (differing < NEARLY * n) | ((differing == 1) & (n >= FEWEST))
    return np.flatnonzero(few & ~subject.summary.constant), differing


def _usual(subject: CheckedRows) -> Array:
    """The most frequent value of each column among some rows, (d,): the middle one, which a frequent value is."""
    if subject.is_sparse:  # a value other than zero that fills a sparse column is no likely one
        return np.zeros(subject.n_columns)
    rows = np.unique(np.linspace(0, subject.n_rows - 1, LOOKED_AT).astype(np.int64))
    return np.asarray(np.quantile(subject.X[rows], 0.5, axis=0, method="lower"), dtype=np.float64)


@dataclass(frozen=True)
class _Differing:
    """The partial that counts entries other than ``usual``, (d,)."""

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
    return listed(_names(subject, columns), NAMED)


def _columns(columns: Integers) -> str:
    return "A column is" if len(columns) == 1 else f"{len(columns):,} columns are"
