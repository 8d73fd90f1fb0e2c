"""Explain without mathematics why there is no best fit: what happened, through which columns, and what to do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.base.labels import quoted
from separatrix.base.renamed_messages import with_references
from separatrix.classifiers.separated import APART
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.naming import named_causes
from separatrix.proofs.verdicts import QuasiSeparable
from separatrix.reports.formatting import MOST_NAMED, some
from separatrix.reports.reported_model import ReportedModel

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
    causes, rows = _causes(subject)
    cause = f"The columns that separate the classes most: {some(causes)}. " if causes else ""
    if rows:
        verb = "cause is" if len(causes) == 1 else "causes are"
        cause = f"The {verb} {some(causes)}, through row{'s' * (len(rows) > 1)} {some(rows)}. "
    return (
        f"No best fit exists: {_HAPPENED[code]}, and the weights shown here depend on where the search stopped. "
        f"{cause}{_DO}"
    )


def short_cause(subject: ReportedModel) -> str:
    """The same in one short sentence."""
    causes, _ = _causes(subject)
    term = TERMS[subject.model.certificate_.code].lower()
    return f"No best fit exists, because of {term}{f' by {some(causes)}' if causes else ''}."


def _causes(subject: ReportedModel) -> tuple[list[str], list[str]]:
    """The causes that are proven, and the rows through which they separate; else the columns with most effect."""
    verdict = getattr(subject.model, "separation_", None)
    if isinstance(verdict, QuasiSeparable) and len(verdict.columns):
        return _named(subject, verdict), _gaining_rows(subject, verdict) if subject.verification else []
    if isinstance(subject.coefficients, str):
        return [], []
    return [quoted(subject.names[j]) for j in subject.coefficients.largest(MOST_NAMED)], []


def _gaining_rows(subject: ReportedModel, verdict: QuasiSeparable) -> list[str]:
    """The rows of the fit whose likelihood grows without cost to the others."""
    D = Differences(subject.scored, subject.own.codes, len(subject.labels), verdict.about.fit_intercept)
    return [str(row) for row in subject.called(np.flatnonzero(verdict.gaining(D)))]


def _named(subject: ReportedModel, verdict: QuasiSeparable) -> list[str]:
    """The causes by name. The verdict has only the columns without a penalty, so its columns may be fewer."""
    if np.atleast_2d(verdict.v).shape[1] == len(subject.names) + 1:
        verdict = replace(verdict, about=replace(verdict.about, names=subject.names))
    references = {} if subject.encoder is None else subject.encoder.references
    return [str(with_references(cause, references)) for cause in named_causes(verdict)]
