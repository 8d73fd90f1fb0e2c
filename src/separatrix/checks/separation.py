"""Check whether the classes are linearly separable, and verify the proof."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.base.messages import ByAudience, Message, ReferenceLevel, Setting
from separatrix.base.number_text import many
from separatrix.base.renamed_messages import over_rows, with_references
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.collinear import dependent
from separatrix.checks.finding import MOST_NAMED_IN_SENTENCE, Finding, capital, numbered
from separatrix.proofs.overlap_proof import MOST_EXACT_ROWS
from separatrix.proofs.separability import separability
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict
from separatrix.table.cells import listed

_NO_OPTIMUM = Message(
    "Without a penalty the weights grow without bound: fit with a penalty (",
    Setting("C", 1, "auto"),
    ") or with ",
    Setting("bias_reduction", "firth"),
    ".",
)
# The proof is among the facts: it names rows and weights, which few readers need.
_OVERLAP = "No linear boundary has every row on the side of its class, so maximum likelihood has an optimum."
# The severity, the title and the advice for each verdict.
_BY_VERDICT: dict[type, tuple[str, str, str]] = {
    Separable: ("warning", "The classes are linearly separable.", _NO_OPTIMUM),
    QuasiSeparable: ("warning", "The classes are quasi-completely separated.", _NO_OPTIMUM),
    Inseparable: ("ok", "The classes overlap.", ""),
}


def separation(subject: CheckedRows) -> Iterator[Finding]:
    """The verdict of ``separability``, verified without a solver."""
    width = (len(subject.varying) + 1) * (subject.n_classes - 1)
    if width > MOST_EXACT_ROWS:
        yield _not_checked(subject, width)
        return
    y = subject.classes[subject.known_codes]
    X, verdict, aside = _asked(subject, y)
    severity, title, remedy = _BY_VERDICT.get(type(verdict), ("note", "Separability could not be decided.", ""))
    proof = with_references(over_rows(verdict.explain(), subject.rows), subject.references)
    plain = isinstance(verdict, Inseparable)
    sentence = Message(_OVERLAP if plain else Message(capital(proof), "."), aside)
    holds = verdict.verify(X, y)
    if type(verdict) in _BY_VERDICT:
        sentence += " Verified on all rows without a solver." if holds else " The proof did not verify."
        severity = severity if holds else "warning"
    if isinstance(verdict, QuasiSeparable) and any(isinstance(one, ReferenceLevel) for one in sentence.within()):
        sentence += _rows_of_level(subject, verdict)
    facts = {"verdict": type(verdict).__name__, "verified": holds, **_evidence(subject, verdict, proof)}
    yield Finding(severity, "separation", title, sentence, remedy, facts)


def _evidence(subject: CheckedRows, verdict: Verdict, proof: str) -> dict[str, Any]:
    """The facts behind a verdict: the rows that prove it, and the columns that cause a separation."""
    facts: dict[str, Any] = {}
    if isinstance(verdict, Inseparable):
        facts["proof"] = str(proof)
    if isinstance(verdict, Inseparable | QuasiSeparable):
        facts["rows"] = subject.numbers(verdict.rows)
    if isinstance(verdict, QuasiSeparable):
        facts["columns"] = [verdict.about.names[j] for columns in verdict.causes for j in columns]
    return facts


def _not_checked(subject: CheckedRows, width: int) -> Finding:
    """The note on a problem with too many weights, ``width``."""
    whose = f"{subject.columns(len(subject.varying))} and {many(subject.n_classes, 'class')}"
    sentence = f"This is checked for up to {MOST_EXACT_ROWS} weights; {whose} have {width:,}."
    ask = ByAudience(
        "Call separatrix.separability(X, y), which may take long.",
        shell="Leave some columns out with --drop to have it checked.",
    )
    return Finding("note", "separation", "Separability was not checked.", sentence, Message(ask))


def _rows_of_level(subject: CheckedRows, verdict: QuasiSeparable) -> str:
    """A sentence with the rows of the reference level that separates classes: those off the hyperplane, if known."""
    touching = np.unique(verdict.touching) if subject.n_classes == 2 else np.zeros(0)
    off = np.setdiff1d(np.arange(subject.n_rows), touching)
    if len(off) == subject.n_rows or verdict.further:
        return ""
    return f" The level is in {numbered(subject.numbers(off))}."


def _asked(subject: CheckedRows, y: AnyArray) -> tuple[Any, Verdict, str]:
    """The rows that were tested, the verdict, and a remark on columns that were left out.

    A column that is a combination of others up to rounding can leave the verdict in doubt. Then the test is repeated
    without such columns.
    """
    verdict = separability(subject.X, y, names=subject.names)
    extra = dependent(subject) if isinstance(verdict, Doubtful) else []
    if not extra:
        return subject.X, verdict, ""
    kept = np.setdiff1d(np.arange(subject.n_columns), extra)
    X = subject.X[:, kept]
    left_out = listed([subject.names[j] for j in extra], MOST_NAMED_IN_SENTENCE)
    aside = (
        f" This was checked without {left_out}, which {'follows' if len(extra) == 1 else 'follow'} from other columns."
    )
    return X, separability(X, y, names=[subject.names[j] for j in kept]), aside
