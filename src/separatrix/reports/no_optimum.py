"""Why there is no best fit, in one paragraph that needs no mathematics: what happened, which columns, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.base.labels import quoted
from separatrix.classifiers.separated import APART
from separatrix.proofs.verdicts import QuasiSeparable
from separatrix.reports.reported_model import ReportedModel

# Columns and rows that are named.
NAMED = 3
_HAPPENED = {
    "separated": "the rows fitted can be told apart without a single mistake, so larger weights always fit better",
    "quasi-separated": "some of the rows fitted can be told apart as surely as one likes at no cost to the others, so "
    "some weights always fit better the larger they are",
}
_DO = (
    "Fit with a penalty (a finite C, such as 1) or by Firth's likelihood, and ask whether these columns are known "
    "before the answer is."
)


def apart(subject: ReportedModel) -> str | None:
    """The paragraph, where classes that can be told apart leave no best fit; else None."""
    code = subject.model.certificate_.code
    if code not in APART:
        return None
    return (
        f"No best fit exists: {_HAPPENED[code]}, and the sizes of those here only say where the search was stopped. "
        f"{_who(subject)}{_DO}"
    )


def _who(subject: ReportedModel) -> str:
    """The columns behind it: those that a proof needs, or those that move the scores the most."""
    verdict = getattr(subject.model, "separation_", None)
    if isinstance(verdict, QuasiSeparable) and len(verdict.columns):
        columns = [_column(subject, verdict, int(j)) for j in verdict.columns]
        off = np.setdiff1d(np.arange(subject.own.n_rows), verdict.touching)
        rows = [str(row) for row in subject.called(off)]
        said = f"row{'s' * (len(rows) > 1)} {_some(rows)}"
        return f"The cause is {_some(columns)}, through {said}. "
    if isinstance(subject.coefficients, str):
        return ""
    largest = subject.coefficients.largest(NAMED)
    columns = [quoted(subject.names[j]) for j in largest]
    return f"The columns that tell them apart the most: {_some(columns)}. "


def _column(subject: ReportedModel, verdict: QuasiSeparable, j: int) -> str:
    """By its name; the columns of a verdict are those without a penalty, which may be fewer."""
    whole = np.atleast_2d(verdict.v).shape[1] == len(subject.names) + 1
    return quoted(subject.names[j]) if whole else verdict.about.column(j)


def _some(names: Sequence[Any]) -> str:
    """The first few of many.

    >>> _some(["a"]), _some(["a", "b"]), _some(["a", "b", "c", "d"])
    ('a', 'a and b', 'a, b, c and 1 more')
    """
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
