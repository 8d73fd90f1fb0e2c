"""What a check found: how bad it is, what it is, the numbers, and what to do.

``check`` and ``facts`` are for programs; ``sentence`` and ``do`` are messages, told to each audience in its own words.

    problem    a fit would fail, or would answer another question than the one asked
    warning    a fit would run, and mislead unless somebody knows
    note       worth knowing
    ok         looked at, and fine

These are problems: a target of one class or of measurements, no column to learn from, a column of text, a column or a
category that alone tells the classes apart. All else can be lived with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from separatrix.base.errors import ParameterError
from separatrix.base.messages import Message, Part

SEVERITIES = ("problem", "warning", "note", "ok")
# How ``separatrix.report`` calls them.
_IN_REPORTS = {"problem": "error"}
# Rows, and columns, named in a sentence.
NAMED = 6


@dataclass(frozen=True)
class Finding:
    """``check`` says which check found it; ``do`` what to do, empty where nothing need be done; ``facts`` the numbers.

    >>> print(Finding("note", "scales", "Unlike scales.", "From 1e-3 to 1e6.", "Standardise the columns."))
    note: Unlike scales. From 1e-3 to 1e6. Standardise the columns.
    """

    severity: str
    check: str
    title: str
    sentence: str
    do: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise ParameterError("severity", f"got {self.severity!r}", f"give one of {', '.join(SEVERITIES)}")

    @property
    def told(self) -> str:
        """The sentence, and what to do."""
        return Message(self.sentence, " ", self.do) if self.do else self.sentence

    def __str__(self) -> str:
        return f"{self.severity}: {self.title} {self.told}"

    def plain(self) -> dict[str, Any]:
        """In JSON's own types."""
        own = {"severity": self.severity, "check": self.check, "title": self.title, "sentence": self.sentence}
        return {**own, "do": self.do, "facts": dict(self.facts)}


@dataclass(frozen=True)
class Checks(Sequence[Finding]):
    """All findings on some rows, worst first.

    ``n_columns`` of the table became ``n_encoded`` of X, more where there are categories. ``counts``: rows by class,
    empty where the target makes none. ``notes``: on how a table was understood; ``target``: its column of labels.

    >>> few = Finding("ok", "rows", "Enough rows.", "9 rows."), Finding("problem", "target", "One class.", "")
    >>> found = Checks(few, n_rows=9, n_columns=2)
    >>> found[0].severity, found.worst, len(found.problems)
    ('problem', 'problem', 1)
    >>> found.for_report()[0]
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
        """(severity, title, sentence) each, as ``separatrix.report(checks=…)`` takes them."""
        return [(_IN_REPORTS.get(one.severity, one.severity), one.title, one.told) for one in self.findings]

    def plain(self) -> dict[str, Any]:
        """In JSON's own types."""
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


def numbered(rows: Sequence[int], most: int = NAMED) -> str:
    """Row numbers, the first few of many.

    >>> numbered([4]), numbered([1, 2, 3], most=2)
    ('row 4', 'rows 1, 2 and 1 more')
    """
    shown = ", ".join(f"{row:d}" for row in rows[:most])
    more = f" and {len(rows) - most:,} more" if len(rows) > most else ""
    return f"row{'s' * (len(rows) > 1)} {shown}{more}"


def many(count: int, what: str) -> str:
    """A count with its noun.

    >>> many(1, "row"), many(2000, "class"), many(3, "category")
    ('1 row', '2,000 classes', '3 categories')
    """
    if count == 1:
        return f"1 {what}"
    if what.endswith("y"):
        return f"{count:,} {what[:-1]}ies"
    return f"{count:,} {what}{'es' if what.endswith('s') else 's'}"


def capital(text: str) -> str:
    """Text that begins a sentence; a message keeps its typed parts.

    >>> capital("it counts the rows.")
    'It counts the rows.'
    """
    if not isinstance(text, Message):
        return text[:1].upper() + text[1:]
    first, *rest = text.parts or ("",)
    return text if isinstance(first, Part) else Message(capital(first), *rest)


def share(part: int, whole: int) -> str:
    """A share in per cent, with no rounding to none or all.

    >>> share(1, 3), share(1, 100_000), share(99_999, 100_000), share(3, 3)
    ('33.3 %', 'under 0.1 %', 'over 99.9 %', '100 %')
    """
    if part in (0, whole):
        return f"{100 * part / max(1, whole):.0f} %"
    percent = 100 * part / whole
    return "under 0.1 %" if percent < 0.05 else "over 99.9 %" if percent >= 99.95 else f"{percent:.1f} %"
