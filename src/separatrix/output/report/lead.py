"""The first screen of a report: the verdict in at most three sentences, the main numbers, and the worries.

Each worry has a short title, which links to the section with its details, and a sentence for that section. If separated
classes leave no best fit, ``apart`` explains without mathematics what happened, through which columns, and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from separatrix.core.base.labels import quoted
from separatrix.core.base.messages import with_references
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.proofs.naming import named_causes
from separatrix.core.proofs.verdicts import QuasiSeparable
from separatrix.core.solvers.stopping import APART
from separatrix.output.report.page import (
    MOST_NAMED,
    Html,
    findings,
    link,
    number,
    paragraph,
    percent,
    signed,
    some,
    stated,
    text,
    tiles,
)
from separatrix.output.report.reported_model import ReportedModel
from separatrix.statistics.intervals import wilson
from separatrix.statistics.measures import true_class_log_probability
from separatrix.statistics.reliability import Reliability

# --- The first screen


def lead(subject: ReportedModel, found: Sequence[Worry], linked: frozenset[str]) -> str:
    """The verdict, the worries and the main numbers. ``linked``: the ids of the sections of the page."""
    sentences = " ".join([performance(subject), optimality(subject), worry(len(found))])
    listed = findings([(one.severity, _told(one, linked)) for one in found])
    notes = "".join(paragraph(note, "aside") for note in subject.notes)
    kind = "lead warned" if found else "lead"
    return f'<div class="{kind}">{paragraph(sentences, "verdict")}{listed}</div>{tiles(_numbers(subject))}{notes}'


def _told(one: Worry, linked: frozenset[str]) -> Html:
    """The title with a link to the section that has the details."""
    return link(one.section, one.title) if one.section in linked else Html(text(f"{one.title} {one.sentence}"))


def _numbers(subject: ReportedModel) -> list[tuple[str, str, str]]:
    measured, level = subject.performance, percent(subject.level, 0)
    low, high = measured.accuracy_interval
    gain = 100 * (measured.n_right - measured.n_majority) / measured.n_rows
    least, most = (signed(100 * end, ".1f") for end in measured.gain)
    always = f"always {subject.labels[measured.majority]}: {percent(measured.null_accuracy)}"
    shown = [
        ("accuracy", percent(measured.accuracy), f"{level} interval {percent(low)} to {percent(high)}"),
        ("gain over guessing", signed(gain, ".1f"), f"points ({least} to {most}); {always}"),
    ]
    if measured.auc is not None:
        interval = measured.auc_interval
        sure = (
            "mean of each class against the rest" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"
        )
        shown.append(("area under ROC", f"{measured.auc:.3f}", sure))
    if measured.log_loss is not None:
        alone = f"nats; class shares alone: {measured.null_log_loss:.3f}"
        shown.append(("log loss", f"{measured.log_loss:.3f}", alone))
    if not isinstance(subject.calibration, str):
        shown.append(
            ("calibration error", f"{subject.calibration.expected_error:.3f}", "expected error of a probability")
        )
    bound = subject.model.certificate_.bound
    if subject.verification and bound is not None:
        shown.append(("proven gap", f"{bound:.0e}", "optimal" if proven_optimal(subject) else "to the best objective"))
    return shown


# --- The verdict

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


# --- Worries

# An interval of the accuracy wider than this is a warning.
WIDEST_ACCURACY_INTERVAL = 0.15
# A class with at least this many rows is mostly missed if its recall is below this.
FEWEST_ROWS_OF_MISSED_CLASS, RECALL_OF_MISSED_CLASS = 5, 0.5
# Probabilities are called inaccurate if the expected calibration error is larger than this, and than this multiple of
# the error that chance alone gives the same number of rows.
LARGEST_CALIBRATION_ERROR, LARGEST_CHANCE_RATIO = 0.05, 2.0
# A row with a larger Cook's distance than this is influential (Cook and Weisberg 1982).
LARGE_COOKS_DISTANCE = 1.0
# A label with a smaller predicted probability than this may be wrong.
IMPROBABLE_LABEL = 0.001
# A sentence names at most this many classes.
MOST_NAMED_MISSED_CLASSES = 8


@dataclass(frozen=True)
class Worry:
    """A finding about the model. ``section`` has the details, and shows ``sentence`` unless it is empty."""

    severity: str
    title: str
    sentence: str
    section: str


def worries(subject: ReportedModel) -> list[Worry]:
    """All worries, errors first."""
    every = [worry for rule in RULES for worry in rule(subject)]
    return sorted(every, key=lambda worry: worry.severity != "error")


def chance_error(bins: Reliability) -> float:
    """The expected calibration error of exact probabilities on these rows, by the normal approximation.

    >>> bins = Reliability("x", np.array([[0.0, 1.0]]), np.array([100]), np.array([0.5]), np.array([0.5]), 0.0, 0.0)
    >>> round(chance_error(bins), 4)
    0.0399
    """
    p = bins.predicted
    spread = np.sqrt(2.0 / np.pi * p * (1 - p) / bins.count)
    return float(np.sum(bins.count * spread) / bins.count.sum())


def _not_held_out(subject: ReportedModel) -> Iterator[Worry]:
    if subject.held_out:
        return
    if subject.validated is not None:
        sentence = (
            "All figures are of the rows fitted, and on new rows the model will do worse. Cross-validation of such "
            f"fits says by how much: {subject.validated}."
        )
        yield Worry("warning", "Figures here are of the rows fitted.", sentence, "confusion")
    else:
        sentence = (
            "No rows were held out, so all figures are of the rows that the model was fitted to. On new rows it will "
            "do worse, by an amount that is not known."
        )
        yield Worry("warning", "Not tried on new rows.", sentence, "confusion")


def _not_met(subject: ReportedModel) -> Iterator[Worry]:
    certificate = subject.model.certificate_
    if subject.may_lack_weights:
        sentence = (
            f"On the rows given here it could not be confirmed: {other_rows(subject)}. In Python, report takes weights "
            "and offsets as sample_weight and offset."
        )
        yield Worry("warning", "The certificate could not be confirmed.", sentence, "certificate")
    elif not subject.verification:
        sentence = f"On the rows given here the certificate {subject.verification.sentence}: {other_rows(subject)}."
        yield Worry("error", "The certificate does not hold.", sentence, "certificate")
    if certificate.code in APART:
        sentence = "Do not read its weights, or intervals around them."
        yield Worry("error", "No best fit exists.", sentence, "separation")
    elif not certificate.met:
        yield Worry("error", "The fit did not meet its stopping rule.", stated(certificate.status), "certificate")
    if certificate.rank is not None and certificate.rank < certificate.full_rank:
        sentence = (
            f"Columns are constant or collinear: the rank is {certificate.rank} of {certificate.full_rank}, so some "
            "weights are not determined by the rows."
        )
        yield Worry("warning", "Columns are constant or collinear.", sentence, "certificate")


def _no_gain(subject: ReportedModel) -> Iterator[Worry]:
    if subject.performance.gain.low <= 0:
        sentence = "The interval of its gain over always guessing the most frequent class reaches zero."
        yield Worry("error", "It may be right no more often than guessing.", sentence, "confusion")
    low, high = subject.performance.accuracy_interval
    if subject.held_out and high - low > WIDEST_ACCURACY_INTERVAL:
        sentence = (
            f"{subject.judged.n_rows} rows leave an interval of the accuracy {100 * (high - low):.0f} points wide."
        )
        yield Worry("warning", "Few rows to judge by.", sentence, "confusion")


def _forgotten_class(subject: ReportedModel) -> Iterator[Worry]:
    counts, right = subject.judged.confusion.sum(axis=1), np.diag(subject.judged.confusion)
    missed = [
        (label, n, k)
        for label, n, k in zip(subject.labels, counts.tolist(), right.tolist(), strict=True)
        if n >= FEWEST_ROWS_OF_MISSED_CLASS and k < RECALL_OF_MISSED_CLASS * n
    ]
    if not missed:
        return
    shown = "; ".join(f"{label} {k} of {n} ({percent(k / n)})" for label, n, k in missed[:MOST_NAMED_MISSED_CLASSES])
    left = len(missed) - MOST_NAMED_MISSED_CLASSES
    title = f"{len(missed)} of {len(subject.labels)} classes are mostly missed."
    if len(missed) == 1:
        title = f"Class {missed[0][0]} is mostly missed."
    sentence = f"Fewer than half of the rows of a class are found: {shown}{f'; and {left} more' if left > 0 else ''}."
    yield Worry("warning", title, sentence, "confusion")


def _overfitted(subject: ReportedModel) -> Iterator[Worry]:
    if subject.held_out:
        low, _ = wilson(int(np.sum(subject.own.right)), subject.own.n_rows, subject.level)
        if float(low) > subject.performance.accuracy_interval.high:
            fitted_accuracy = percent(float(np.mean(subject.own.right)))
            sentence = f"It is right on {fitted_accuracy} of the rows it was fitted to, clearly more than on new ones."
            yield Worry("warning", "It is overfitted.", sentence, "confusion")


def _uncalibrated(subject: ReportedModel) -> Iterator[Worry]:
    bins = subject.calibration
    if isinstance(bins, str):
        return
    error, chance = bins.expected_error, chance_error(bins)
    if error > max(LARGEST_CALIBRATION_ERROR, LARGEST_CHANCE_RATIO * chance):
        sentence = (
            f"The expected calibration error is {error:.3f}: the probabilities are off by {100 * error:.1f} points on "
            f"average. Up to {LARGEST_CALIBRATION_ERROR:g} counts as calibrated; chance alone would give about "
            f"{chance:.3f}."
        )
        yield Worry("warning", "Its probabilities are inaccurate.", sentence, "calibration")


def _standing_out(subject: ReportedModel) -> Iterator[Worry]:
    ranked = subject.influence
    if not isinstance(ranked, str) and np.any(ranked.distance > LARGE_COOKS_DISTANCE):
        rows = [str(row) for row in subject.called(ranked.rows[ranked.distance > LARGE_COOKS_DISTANCE])]
        which = f"{'row' if len(rows) == 1 else 'any of rows'} {', '.join(rows)}"
        sentence = f"Without {which} the model would be clearly different."
        yield Worry("warning", "It depends on single rows.", sentence, "influence")
    log_P = subject.judged.log_P
    if log_P is not None:
        of_label = true_class_log_probability(log_P, subject.judged.codes)
        count = int(np.sum(of_label < np.log(IMPROBABLE_LABEL)))
        if count:
            plural = "rows have labels" if count > 1 else "row has a label"
            probability = f"a probability below {percent(IMPROBABLE_LABEL)}"
            sentence = f"{count:,} {plural} to which the model gives {probability}."
            yield Worry("warning", "Some labels may be wrong.", sentence, "surprise")


def _checked(subject: ReportedModel) -> Iterator[Worry]:
    """Findings of the data checks, whose section has their sentences already."""
    for kind, title, _ in subject.checks or ():
        if str(kind).lower() in ("error", "warning", "warn"):
            yield Worry("error" if str(kind).lower() == "error" else "warning", title, "", "checks")


RULES: tuple[Callable[[ReportedModel], Iterator[Worry]], ...] = (
    _not_met,
    _no_gain,
    _not_held_out,
    _forgotten_class,
    _overfitted,
    _uncalibrated,
    _standing_out,
    _checked,
)


# --- No best fit

# The usual term for each kind of separation.
TERMS = {"separated": "Complete separation", "quasi-separated": "Quasi-complete separation"}
# What happened, as the sentence that begins with "No best fit exists".
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
