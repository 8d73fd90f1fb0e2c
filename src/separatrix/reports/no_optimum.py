"""Explain without mathematics why there is no best fit: what happened, through which columns, and what to do."""

from __future__ import annotations

import numpy as np

from separatrix.base.labels import quoted
from separatrix.classifiers.separated import APART
from separatrix.proofs.verdicts import QuasiSeparable
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.wording import MOST_NAMED, some

# The usual term for each kind of separation.
TERMS = {"separated": "Complete separation", "quasi-separated": "Quasi-complete separation"}
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
    columns, rows = _causes(subject)
    cause = f"The columns that separate the classes most: {some(columns)}. " if columns else ""
    if rows:
        cause = f"The cause is {some(columns)}, through row{'s' * (len(rows) > 1)} {some(rows)}. "
    return (
        f"No best fit exists: {_HAPPENED[code]}, and the weights shown here depend on where the search stopped. "
        f"{cause}{_DO}"
    )


def short_cause(subject: ReportedModel) -> str:
    """The same in one short sentence."""
    columns, _ = _causes(subject)
    term = TERMS[subject.model.certificate_.code].lower()
    return f"No best fit exists, because of {term}{f' by {some(columns)}' if columns else ''}."


def _causes(subject: ReportedModel) -> tuple[list[str], list[str]]:
    """The columns that the proof needs, and the rows through which they separate; else the columns with most effect."""
    verdict = getattr(subject.model, "separation_", None)
    if isinstance(verdict, QuasiSeparable) and len(verdict.columns):
        off = np.setdiff1d(np.arange(subject.own.n_rows), verdict.touching)
        return [_column(subject, verdict, int(j)) for j in verdict.columns], [str(row) for row in subject.called(off)]
    if isinstance(subject.coefficients, str):
        return [], []
    return [quoted(subject.names[j]) for j in subject.coefficients.largest(MOST_NAMED)], []


def _column(subject: ReportedModel, verdict: QuasiSeparable, j: int) -> str:
    """The name of a column. The verdict has only columns without a penalty, so its indices may differ."""
    whole = np.atleast_2d(verdict.v).shape[1] == len(subject.names) + 1
    return quoted(subject.names[j]) if whole else verdict.about.column(j)
