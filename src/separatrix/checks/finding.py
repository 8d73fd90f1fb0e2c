"""The result of a check: its severity, a title, a sentence with the numbers, and what to do.

``check`` and ``facts`` are for programs. ``sentence`` and ``remedy`` are messages that each audience renders in its
terms.

    problem    a fit would fail, or would not answer the user's question
    warning    a fit would run, but its result could mislead
    note       worth knowing
    ok         checked, and fine

These are problems: a target of one class or of measurements, rows without a label, no usable column, a column of text,
missing values, and a column or a category that alone determines the class. Everything else is a warning at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from separatrix.base.errors import ParameterError
from separatrix.base.messages import Message, Part, Setting

SEVERITIES = ("problem", "warning", "note", "ok")
# The severities that ``separatrix.report`` calls by another name.
_IN_REPORTS = {"problem": "error"}
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
        """The findings as (severity, title, sentence), for ``separatrix.report(checks=…)``."""
        return [(_IN_REPORTS.get(one.severity, one.severity), one.title, one.told) for one in self.findings]

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


def capital(text: str) -> str:
    """Text with a capital first letter. A message keeps its typed parts.

    >>> capital("it counts the rows.")
    'It counts the rows.'
    """
    if not isinstance(text, Message):
        return text[:1].upper() + text[1:]
    first, *rest = text.parts or ("",)
    return text if isinstance(first, Part) else Message(capital(first), *rest)


def share(part: int, whole: int) -> str:
    """A share in per cent that is never rounded to 0 % or 100 %.

    >>> share(1, 3), share(1, 100_000), share(99_999, 100_000), share(3, 3)
    ('33.3 %', 'under 0.1 %', 'over 99.9 %', '100 %')
    """
    if part in (0, whole):
        return f"{100 * part / max(1, whole):.0f} %"
    percent = 100 * part / whole
    return "under 0.1 %" if percent < 0.05 else "over 99.9 %" if percent >= 99.95 else f"{percent:.1f} %"
