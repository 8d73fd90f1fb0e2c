"""The verdict in at most three sentences: how well the model performs, whether it is optimal, whether to worry."""

from __future__ import annotations

from separatrix.classifiers.separated import APART
from separatrix.reports.formatting import number, percent
from separatrix.reports.no_optimum import short_cause
from separatrix.reports.reported_model import ReportedModel

# A fit is called optimal if its gap is at most this share of the null model's objective.
LARGEST_RELATIVE_GAP_OF_OPTIMUM = 1e-6


def fitted(subject: ReportedModel) -> str:
    """What was fitted, to which rows, and when."""
    d, K = len(subject.names), len(subject.labels)
    n = subject.own.n_rows if subject.verification else subject.model.certificate_.n_rows
    columns = f"{d:,} column{'s' * (d != 1)}"
    named = f" ({' and '.join(map(str, subject.labels))})" if K == 2 else ""
    C = chosen_C(subject)
    kind = subject.kind if C is None else f"{subject.kind} with C = {number(C)}"
    date = subject.date.isoformat().replace("-", "\N{NON-BREAKING HYPHEN}")  # Lines do not break inside it.
    return f"{kind} over {columns}, fitted to {n:,} rows of {K} classes{named}. {date}."


def chosen_C(subject: ReportedModel) -> float | None:
    """The strength of the penalty as a number; None for a model without one."""
    C = getattr(subject.model, "C_", None) or subject.model.get_params(deep=False).get("C")
    return float(C) if isinstance(C, int | float) else None


def performance(subject: ReportedModel) -> str:
    """The accuracy and its interval, compared with always guessing the majority class."""
    measured = subject.performance
    low, high = measured.accuracy_interval
    level, majority = percent(subject.level, 0), subject.labels[measured.majority]
    return (
        f"On {subject.which} it is right {percent(measured.accuracy)} of the time ({level} interval "
        f"{percent(low)} to {percent(high)}); always guessing {majority} would be right "
        f"{percent(measured.null_accuracy)} of the time."
    )


def optimality(subject: ReportedModel) -> str:
    """Whether the fit is proven optimal, if the rows given are those of the fit."""
    certificate = subject.model.certificate_
    given = f"{subject.own.n_rows:,} rows given here as those of the fit"
    if subject.may_lack_weights:
        return f"Its certificate could not be confirmed on the {given}: {other_rows(subject)}."
    if not subject.verification:
        return f"Its certificate does not hold on the {given}, so nothing is proven: {other_rows(subject)}."
    if certificate.code in APART:
        return short_cause(subject)
    if proven_optimal(subject):
        return (
            f"The fit is proven optimal: no other weights can lower its objective by more than {certificate.bound:.1e}."
        )
    if not certificate.met:
        return "The fit did not meet its stopping rule, so its weights are not the best ones."
    if certificate.bound is None:
        return "The fit met its stopping rule, which does not claim that its weights are optimal."
    return f"Its objective is at most {certificate.bound:.1e} above the best possible."


def other_rows(subject: ReportedModel) -> str:
    """Why the certificate may not hold on the rows that the report was given."""
    if subject.weights_or_offset_given:
        return "they are not the rows of the fit, or it had other sample weights or another offset"
    if not subject.may_lack_weights:
        return "they are not the rows of the fit"
    if subject.fit_had_weights:
        return "the fit had sample weights, which this report was not given"
    lacking = "an offset that is" if subject.fit_had_weights is False else "sample weights or an offset that are"
    return f"they are not the rows of the fit, or it had {lacking} not known to this report"


def proven_optimal(subject: ReportedModel) -> bool:
    """Whether the proven gap is a small share of the null model's objective."""
    certificate = subject.model.certificate_
    relative = certificate.relative_bound
    met = bool(subject.verification) and certificate.met
    return bool(met and relative is not None and abs(relative) <= LARGEST_RELATIVE_GAP_OF_OPTIMUM)


def worry(number: int) -> str:
    """Whether anything gives cause for worry.

    >>> worry(0), worry(3)
    ('No check found a reason to worry.', '3 things to worry about are listed here.')
    """
    if number == 0:
        return "No check found a reason to worry."
    if number == 1:
        return "One thing to worry about is listed here."
    return f"{number} things to worry about are listed here."
