"""``Finding``, the result of a check, and ``CheckedRows``, the rows and classes that the checks are about.

A finding has a severity, a title, a sentence with the numbers, and what to do. Its ``check`` and ``facts`` are for
programs; ``sentence`` and ``remedy`` are messages that each audience renders in its terms. The severities are

    problem    a fit would fail, or would not answer the user's question
    warning    a fit would run, but its result could mislead
    note       worth knowing
    ok         checked, and fine

These are problems: a target of one class or of measurements, rows without a label, no usable column, a column of text,
missing values, and a column or a category that alone determines the class. Everything else is a warning at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from separatrix.core.base.arrays import AnyArray, Array, Booleans, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import RowNames
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import Message, MessagePart, Setting, many
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.column_statistics import ColumnSummary, standard_frame, summarise
from separatrix.core.rows.memory_rows import MemoryRows, memory_rows
from separatrix.tables.infer import infer

SEVERITIES = ("problem", "warning", "note", "ok")
# A sentence names at most this many rows or columns, to stay readable.
MOST_NAMED_IN_SENTENCE = 6


@dataclass(frozen=True)
class Finding:
    """One finding of a check.

    Parameters
    ----------
    severity : {"problem", "warning", "note", "ok"}
    check : str
        The name of the check.
    title : str
        A short sentence.
    sentence : str
        The details.
    remedy : str
        What to do; empty if nothing need be done.
    facts : mapping
        The numbers behind the sentence, for programs.
    solving : tuple of Setting
        The settings of a fit that follow the advice; empty if a setting alone cannot.

    Examples
    --------
    >>> print(Finding("note", "scales", "Unlike scales.", "From 1e-3 to 1e6.", "Standardise the columns."))
    note: Unlike scales. From 1e-3 to 1e6. Standardise the columns.
    """

    severity: str
    check: str
    title: str
    sentence: str
    remedy: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    solving: tuple[Setting, ...] = ()

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise ParameterError("severity", f"got {self.severity!r}", f"give one of {', '.join(SEVERITIES)}")

    @property
    def told(self) -> str:
        """The sentence and what to do, as one text."""
        return Message(self.sentence, " ", self.remedy) if self.remedy else self.sentence

    def __str__(self) -> str:
        return f"{self.severity}: {self.title} {self.told}"

    def plain(self) -> dict[str, Any]:
        """The fields as JSON types."""
        named = {"severity": self.severity, "check": self.check, "title": self.title, "sentence": self.sentence}
        return {**named, "do": self.remedy, "facts": dict(self.facts)}


@dataclass(frozen=True)
class Checks(Sequence[Finding]):
    """All findings about a table, worst first. It is a sequence of ``Finding``.

    Attributes
    ----------
    findings : tuple of Finding
    n_rows : int
        The number of rows checked.
    n_columns : int
        The number of columns of the table.
    counts : mapping
        The number of rows of each class; empty if the target does not hold classes.
    notes : tuple of str
        Sentences about how the table was read.
    target : str or None
        The column of labels.
    n_encoded : int or None
        The number of columns of X, which is larger if there are categories.

    Examples
    --------
    >>> two = Finding("ok", "rows", "Enough rows.", "9 rows."), Finding("problem", "target", "One class.", "")
    >>> checks = Checks(two, n_rows=9, n_columns=2)
    >>> checks[0].severity, checks.worst, len(checks.problems)
    ('problem', 'problem', 1)
    >>> checks.for_report()[0]
    ('error', 'One class.', '')
    """

    findings: tuple[Finding, ...]
    n_rows: int
    n_columns: int
    counts: Mapping[Any, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    target: str | None = None
    n_encoded: int | None = None

    def __post_init__(self) -> None:
        ordered = sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity))
        object.__setattr__(self, "findings", tuple(ordered))

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def of(self, check: str) -> tuple[Finding, ...]:
        """The findings of one check."""
        return tuple(finding for finding in self.findings if finding.check == check)

    def at(self, severity: str) -> tuple[Finding, ...]:
        """The findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity == severity)

    @property
    def problems(self) -> tuple[Finding, ...]:
        return self.at("problem")

    @property
    def worst(self) -> str:
        """The worst severity."""
        return self.findings[0].severity if self.findings else "ok"

    def for_report(self) -> list[tuple[str, str, str]]:
        """The findings as (severity, title, sentence), for ``separatrix.report``, which calls a problem an error."""
        named = {"problem": "error"}
        return [(named.get(one.severity, one.severity), one.title, one.told) for one in self.findings]

    def plain(self) -> dict[str, Any]:
        """The fields as JSON types."""
        return {
            "rows": self.n_rows,
            "columns": self.n_columns,
            "encoded_columns": self.n_columns if self.n_encoded is None else self.n_encoded,
            "target": self.target,
            "classes": [{"label": label, "rows": count} for label, count in self.counts.items()],
            "worst": self.worst,
            "counts": {severity: len(self.at(severity)) for severity in SEVERITIES},
            "findings": [finding.plain() for finding in self.findings],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


def numbered(rows: Sequence[int | str], most: int = MOST_NAMED_IN_SENTENCE) -> str:
    """Row numbers or names as text; at most ``most``, then the number of others.

    >>> numbered([4]), numbered([1, 2, 3], most=2)
    ('row 4', 'rows 1, 2 and 1 more')
    """
    shown = ", ".join(f"{row}" for row in rows[:most])
    more = f" and {len(rows) - most:,} more" if len(rows) > most else ""
    return f"row{'s' * (len(rows) > 1)} {shown}{more}"


def and_more(n: int, thing: str = "", most: int = MOST_NAMED_IN_SENTENCE, before: str = "") -> str:
    """The end of a list that names the first ``most`` of n things: how many more there are; empty if there are none.

    >>> and_more(8, "column"), and_more(8, before=";"), and_more(6)
    (' and 2 more columns', '; and 2 more', '')
    """
    if n <= most:
        return ""
    return f"{before} and {many(n - most, f'more {thing}') if thing else f'{n - most} more'}"


def capital(text: str) -> str:
    """Text with a capital first letter. A message keeps its typed parts.

    >>> capital("it counts the rows.")
    'It counts the rows.'
    """
    if not isinstance(text, Message):
        return text[:1].upper() + text[1:]
    first, *rest = text.parts or ("",)
    return text if isinstance(first, MessagePart) else Message(capital(first), *rest)


def share(part: int, whole: int) -> str:
    """A share in per cent that is never rounded to 0 % or 100 %.

    >>> share(1, 3), share(1, 100_000), share(99_999, 100_000), share(3, 3)
    ('33.3 %', 'under 0.1 %', 'over 99.9 %', '100 %')
    """
    if part in (0, whole):
        return f"{100 * part / max(1, whole):.0f} %"
    percent = 100 * part / whole
    return "under 0.1 %" if percent < 0.05 else "over 99.9 %" if percent >= 99.95 else f"{percent:.1f} %"


# --- The rows that are checked

# The number of rows in a sample. What is found there is confirmed on all rows.
CHECKED_SAMPLE_ROWS = 20_000
# With more columns than this, checks that need a matrix of columns by columns are skipped.
MOST_COLUMNS_FOR_GRAM_MATRIX = 1000


@dataclass(frozen=True)
class CheckedRows:
    """The rows X (n, d), float64, dense or CSR, all finite, and their classes, with results that several checks need.

    The checks make a few passes over all rows. Costlier searches use a sample, and what they find is confirmed on all
    rows.

    ``codes`` (n,) index ``classes``; None if the target does not hold classes. ``rows`` (n,) are the numbers or names
    by which findings name the rows. ``references`` names the reference level of each category, which has no column
    ``of=level``. ``encoded`` says that X has other columns than the table. ``ngrams`` (d,) marks n-grams of a text, if
    there are any: they are rare and of unit length by design, so that checks of single columns do not report it.
    ``sources`` (d,) names the column of the table that each column of X was made from; by default they are the same.
    ``unread`` and ``constant`` are columns of the table that X lacks, since they are text or have less than two values.
    """

    X: Any
    codes: Integers | None
    classes: AnyArray
    names: tuple[str, ...]
    rows: Integers | RowNames
    references: Mapping[str, str] = field(default_factory=dict)
    encoded: bool = False
    ngrams: Booleans | None = None
    sources: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    def columns(self, count: int | None = None) -> str:
        """The number of columns in words, for ``count`` columns or all."""
        return many(self.n_columns if count is None else count, "encoded column" if self.encoded else "column")

    def tabled(self, columns: Iterable[int]) -> list[str]:
        """The columns of the table that these columns of X were made from, each once."""
        names = self.sources or self.names
        return list(dict.fromkeys(names[j] for j in columns))

    @property
    def ignored(self) -> list[str]:
        """The columns of the table that a comparison of rows ignores: row numbers, and those of text that X lacks."""
        return [*(self.names[j] for j in self.counting), *self.unread]

    @property
    def is_sparse(self) -> bool:
        return is_sparse(self.X)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def labels(self) -> list[Any]:
        """The classes as plain values."""
        return self.classes.tolist()  # type: ignore[no-any-return]

    @property
    def known_codes(self) -> Integers:
        """The codes, for checks that run only if there are classes."""
        assert self.codes is not None
        return self.codes

    @cached_property
    def counts(self) -> Integers:
        """The number of rows of each class, (K,)."""
        return np.bincount(self.known_codes, minlength=self.n_classes)

    @cached_property
    def summary(self) -> ColumnSummary:
        return summarise(self._raw, ranges=False)

    @cached_property
    def _raw(self) -> MemoryRows:
        return memory_rows(self.X, np.zeros(self.n_rows, dtype=np.int64) if self.codes is None else self.codes)

    @cached_property
    def standard(self) -> MemoryRows:
        """The rows centred at their means and scaled by about their standard deviations; constant columns are zero."""
        return self._raw.seen_through(standard_frame(self.summary, np.zeros(self.n_columns), centred=True))

    @cached_property
    def varying(self) -> Integers:
        """The columns with more than one value."""
        return np.flatnonzero(~self.summary.constant)

    def without_ngrams(self, columns: Integers) -> Integers:
        """The columns that are not n-grams of a text."""
        return columns if self.ngrams is None else columns[~self.ngrams[columns]]

    @cached_property
    def counting(self) -> dict[int, str]:
        """Columns that look like a row number, and why."""
        # The values of an index are all different, so at most one of them is zero.
        filled = np.diff(self.X.tocsc().indptr) if self.is_sparse else np.full(self.n_columns, self.n_rows)
        candidates = np.intersect1d(self.varying, np.flatnonzero(filled >= self.n_rows - 1)).tolist()
        notes = {j: infer(pa.table({self.names[j]: self.column(j)})).columns[0].note for j in candidates}
        return {j: note for j, note in notes.items() if note}

    @cached_property
    def by_class(self) -> ByClass:
        """Ranges and counts by class and column, over all rows."""
        return self._raw.fold(_SumByClass(self.n_classes, self.n_columns))

    @cached_property
    def sampled(self) -> Integers:
        """A sample of rows, stratified by class: the same number of each, or all it has. All rows if they are few."""
        n = self.n_rows
        if n <= CHECKED_SAMPLE_ROWS:
            return np.arange(n)
        rng = np.random.default_rng(0)
        if self.codes is None:
            return np.sort(rng.choice(n, CHECKED_SAMPLE_ROWS, replace=False, shuffle=False))
        size = max(1, CHECKED_SAMPLE_ROWS // self.n_classes)
        groups = [np.flatnonzero(self.codes == k) for k in range(self.n_classes)]
        return np.sort(np.concatenate([g if len(g) <= size else rng.choice(g, size, replace=False) for g in groups]))

    def column(self, j: int, rows: Integers | None = None) -> Array:
        """Column j as a dense array, of all rows or of some."""
        X = self.X if rows is None else self.X[rows]
        values = X[:, [j]].toarray()[:, 0] if self.is_sparse else X[:, j]
        return np.asarray(values, dtype=np.float64)

    def numbers(self, rows: Any) -> list[int | str]:
        """The numbers or names by which findings name these rows."""
        return self.rows[np.asarray(rows, dtype=np.int64)].tolist()  # type: ignore[no-any-return]


class ByClass(NamedTuple):
    """By class and column, all (K, d): minimum, maximum, the number of ones and of nonzero values."""

    low: Array
    high: Array
    ones: Integers
    nonzero: Integers


@dataclass(frozen=True)
class _SumByClass:
    """The partial sum that computes ``ByClass``. The targets of the rows are class codes."""

    n_classes: int
    n_columns: int

    def zero(self) -> ByClass:
        shape = (self.n_classes, self.n_columns)
        counts = np.zeros((2, *shape), dtype=np.int64)
        return ByClass(np.full(shape, np.inf), np.full(shape, -np.inf), counts[0], counts[1])

    def add(self, total: ByClass, block: Block) -> ByClass:
        X: Any = block.X
        for k in np.unique(block.t).tolist():
            part = X[np.flatnonzero(block.t == k)]
            low, high = part.min(axis=0), part.max(axis=0)
            if is_sparse(part):
                low, high = low.toarray().ravel(), high.toarray().ravel()
                total.ones[k] += np.bincount(part.indices[part.data == 1], minlength=self.n_columns)
                total.nonzero[k] += np.bincount(part.indices[part.data != 0], minlength=self.n_columns)
            else:
                total.ones[k] += np.count_nonzero(part == 1, axis=0)
                total.nonzero[k] += np.count_nonzero(part, axis=0)
            np.minimum(total.low[k], low, out=total.low[k])
            np.maximum(total.high[k], high, out=total.high[k])
        return total

    def merge(self, a: ByClass, b: ByClass) -> ByClass:
        return ByClass(np.minimum(a.low, b.low), np.maximum(a.high, b.high), a.ones + b.ones, a.nonzero + b.nonzero)
