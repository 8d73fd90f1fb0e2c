"""Explain in one paragraph, without mathematics, why there is no best fit: what happened, which columns, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.base.labels import quoted
from separatrix.classifiers.separated import APART
from separatrix.proofs.verdicts import QuasiSeparable
from separatrix.reports.reported_model import ReportedModel

# The paragraph names at most this many columns and rows.
MOST_NAMED_CAUSES = 3
_HAPPENED = {
    "separated": "the classes of the rows fitted can be separated without a single mistake, so larger weights always "
    "fit better",
    "quasi-separated": "some of the rows fitted can be separated from the other class with any certainty, at no cost "
    "to the other rows, so some weights always fit better the larger they are",
}
_DO = (
    "Fit with a penalty (a finite C, such as 1) or with Firth's likelihood, and check whether these columns are known "
    "before the outcome is."
)


def apart(subject: ReportedModel) -> str | None:
    """The paragraph, if separated classes leave no best fit; otherwise None."""
    code = subject.model.certificate_.code
    if code not in APART:
        return None
    return (
        f"No best fit exists: {_HAPPENED[code]}, and the weights shown here depend on where the search stopped. "
        f"{_who(subject)}{_DO}"
    )


def _who(subject: ReportedModel) -> str:
    """The columns that cause it: those that the proof needs, or those with the largest effect on the scores."""
    verdict = getattr(subject.model, "separation_", None)
    if isinstance(verdict, QuasiSeparable) and len(verdict.columns):
        columns = [_column(subject, verdict, int(j)) for j in verdict.columns]
        off = np.setdiff1d(np.arange(subject.own.n_rows), verdict.touching)
        rows = [str(row) for row in subject.called(off)]
        through = f"row{'s' * (len(rows) > 1)} {_some(rows)}"
        return f"The cause is {_some(columns)}, through {through}. "
    if isinstance(subject.coefficients, str):
        return ""
    largest = subject.coefficients.largest(MOST_NAMED_CAUSES)
    columns = [quoted(subject.names[j]) for j in largest]
    return f"The columns that separate the classes most: {_some(columns)}. "


def _column(subject: ReportedModel, verdict: QuasiSeparable, j: int) -> str:
    """The name of a column. The verdict has only columns without a penalty, so its indices may differ."""
    whole = np.atleast_2d(verdict.v).shape[1] == len(subject.names) + 1
    return quoted(subject.names[j]) if whole else verdict.about.column(j)


def _some(names: Sequence[Any]) -> str:
    """The names as a list in words; at most a few, then the number of others.

    >>> _some(["a"]), _some(["a", "b"]), _some(["a", "b", "c", "d"])
    ('a', 'a and b', 'a, b, c and 1 more')
    """
    if len(names) > MOST_NAMED_CAUSES:
        return f"{', '.join(names[:MOST_NAMED_CAUSES])} and {len(names) - MOST_NAMED_CAUSES:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
