"""The verdict: what was fitted, how well it performs and with what uncertainty, whether it is optimal, and warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from separatrix.diagnostics import wilson
from separatrix.evaluation.measures import true_class_log_probability
from separatrix.reports.no_optimum import apart
from separatrix.reports.reported_model import ReportedModel

# A fit is called optimal if its gap is at most this share of the null model's objective.
LARGEST_RELATIVE_GAP_OF_OPTIMUM = 1e-6
# An interval of the accuracy wider than this is a warning.
WIDEST_ACCURACY_INTERVAL = 0.15
# A class with at least this many rows is mostly missed if its recall is below this.
FEWEST_ROWS_OF_MISSED_CLASS, RECALL_OF_MISSED_CLASS = 5, 0.5
# Probabilities are called wrong if this many bins differ from the observed shares at this level.
FEWEST_WRONG_BINS, LEVEL_OF_WRONG_BIN = 2, 0.99
# A row with a larger Cook's distance than this is influential (Cook and Weisberg 1982).
LARGE_COOKS_DISTANCE = 1.0
# A label with a smaller predicted probability than this may be wrong.
IMPROBABLE_LABEL = 0.001
# A sentence names at most this many classes.
MOST_NAMED_MISSED_CLASSES = 8
NOT_ITS_ROWS = "they are not the rows of the fit, or it had sample weights or an offset"


def percent(share: float, digits: int = 1) -> str:
    r"""A share in per cent, with a no-break space.

    >>> percent(0.9793), percent(1.0)
    ('97.9\xa0%', '100\xa0%')
    """
    return f"{100 * share:.{digits}f}".removesuffix("." + "0" * digits) + "\N{NO-BREAK SPACE}%"


def fitted(subject: ReportedModel) -> str:
    """What was fitted, and to which rows."""
    d, K = len(subject.names), len(subject.labels)
    n = subject.own.n_rows if subject.verification else subject.model.certificate_.n_rows
    columns = f"{d} column{'s' * (d != 1)}"
    named = f" ({' and '.join(map(str, subject.labels))})" if K == 2 else ""
    return f"A {subject.kind} over {columns} was fitted to {n:,} rows of {K} classes{named}."


def performance(subject: ReportedModel) -> str:
    """The accuracy and its interval, compared with always guessing the majority class."""
    measured = subject.performance
    low, high = measured.accuracy_interval
    gain_low, gain_high = (100 * end for end in measured.gain)
    gain = 100 * (measured.n_right - measured.n_majority) / measured.n_rows
    level, majority = percent(subject.level, 0), subject.labels[measured.majority]
    return (
        f"On {subject.which} it is right {percent(measured.accuracy)} of the time ({level} interval "
        f"{percent(low)} to {percent(high)}); always guessing {majority} would be right "
        f"{percent(measured.null_accuracy)} of the time, so it gains {gain:+.1f} points "
        f"({gain_low:+.1f} to {gain_high:+.1f})."
    )


def optimality(subject: ReportedModel) -> str:
    """Whether the fit is proven optimal, if the rows given are those of the fit."""
    certificate = subject.model.certificate_
    if not subject.verification:
        given = f"{subject.own.n_rows:,} rows given here as those of the fit"
        return f"Its certificate does not hold on the {given}: {NOT_ITS_ROWS}. So nothing is proven here."
    if (said := apart(subject)) is not None:
        return said
    relative = certificate.relative_bound
    if certificate.met and relative is not None and abs(relative) <= LARGEST_RELATIVE_GAP_OF_OPTIMUM:
        return (
            "The fit is proven optimal: no other weights can lower its objective by more than "
            f"{certificate.bound:.1e}, {relative:.0e} of the objective of a model that ignores all columns."
        )
    if not certificate.met:
        return f"The fit did not meet its stopping rule: {certificate.status}."
    if certificate.bound is None:
        return f"Optimality is not claimed ({certificate.bound_reason or 'no bound'}): {certificate.status}."
    return f"Its objective is at most {certificate.bound:.1e} above the best possible: {certificate.status}."


def worries(subject: ReportedModel) -> list[tuple[str, str, str]]:
    """The warnings as (severity, title, sentence), errors first."""
    every = [worry for rule in RULES for worry in rule(subject)]
    return sorted(every, key=lambda worry: worry[0] != "error")


Worry = Iterator[tuple[str, str, str]]


def _not_held_out(subject: ReportedModel) -> Worry:
    if subject.held_out:
        return
    if subject.validated is not None:
        sentence = f"On new rows it will do worse. Cross-validation of such fits says by how much: {subject.validated}."
        yield "warning", "Figures here are of the rows fitted.", sentence
    else:
        sentence = (
            "No rows were held out, so all figures here are of the rows that the model was fitted to; on new rows it "
            "will do worse, by an amount that is not known."
        )
        yield "warning", "Not tried on new rows.", sentence


def _not_met(subject: ReportedModel) -> Worry:
    certificate = subject.model.certificate_
    if not subject.verification:
        sentence = f"On the rows given here the certificate {subject.verification.sentence}: {NOT_ITS_ROWS}."
        yield "error", "The certificate does not hold.", sentence
    if apart(subject) is not None:
        sentence = "Do not read its weights, or intervals around them. How they grow is in the certificate below."
        yield "error", "No best fit exists.", sentence
    elif not certificate.met:
        yield (
            "error",
            "The fit did not meet its stopping rule.",
            f"{certificate.status[:1].upper()}{certificate.status[1:]}.",
        )
    if certificate.rank is not None and certificate.rank < certificate.full_rank:
        sentence = f"Rank {certificate.rank} of {certificate.full_rank}: some weights are not determined by the rows."
        yield "warning", "Columns are constant or collinear.", sentence


def _no_gain(subject: ReportedModel) -> Worry:
    if subject.performance.gain.low <= 0:
        sentence = "The interval of its gain over always guessing the most frequent class reaches zero."
        yield "error", "It may be right no more often than guessing.", sentence
    low, high = subject.performance.accuracy_interval
    if subject.held_out and high - low > WIDEST_ACCURACY_INTERVAL:
        sentence = f"{subject.judged.n_rows} rows leave an interval {100 * (high - low):.0f} points wide."
        yield "warning", "Few rows to judge by.", sentence


def _forgotten_class(subject: ReportedModel) -> Worry:
    counts, right = subject.judged.confusion.sum(axis=1), np.diag(subject.judged.confusion)
    missed = [
        (label, n, k)
        for label, n, k in zip(subject.labels, counts.tolist(), right.tolist(), strict=True)
        if n >= FEWEST_ROWS_OF_MISSED_CLASS and k < RECALL_OF_MISSED_CLASS * n
    ]
    if len(missed) == 1:
        label, n, k = missed[0]
        yield "warning", f"Class {label} is mostly missed.", f"Of its {n} rows {k} are found ({percent(k / n)})."
    elif missed:
        shown = "; ".join(f"{label} {k} of {n}" for label, n, k in missed[:MOST_NAMED_MISSED_CLASSES])
        more = (
            f"; and {len(missed) - MOST_NAMED_MISSED_CLASSES} more" if len(missed) > MOST_NAMED_MISSED_CLASSES else ""
        )
        title = f"{len(missed)} of {len(subject.labels)} classes are mostly missed."
        yield "warning", title, f"Rows found: {shown}{more}."


def _overfitted(subject: ReportedModel) -> Worry:
    if subject.held_out:
        low, _ = wilson(int(np.sum(subject.own.right)), subject.own.n_rows, subject.level)
        if float(low) > subject.performance.accuracy_interval.high:
            fitted_accuracy = percent(float(np.mean(subject.own.right)))
            sentence = f"It is right on {fitted_accuracy} of the rows it was fitted to, clearly more than on new ones."
            yield "warning", "It is overfitted.", sentence


def _uncalibrated(subject: ReportedModel) -> Worry:
    bins = subject.calibration
    if not isinstance(bins, str):
        low, high = wilson(np.round(bins.observed * bins.count), bins.count, LEVEL_OF_WRONG_BIN)
        wrong = int(np.sum((bins.predicted < low) | (bins.predicted > high)))
        if wrong >= FEWEST_WRONG_BINS:
            sentence = f"In {wrong} of {len(bins.count)} bins the observed share differs from the predicted one."
            yield "warning", "Its probabilities are off.", sentence


def _standing_out(subject: ReportedModel) -> Worry:
    ranked = subject.influence
    if not isinstance(ranked, str) and np.any(ranked.distance > LARGE_COOKS_DISTANCE):
        rows = [str(row) for row in subject.called(ranked.rows[ranked.distance > LARGE_COOKS_DISTANCE])]
        which = f"{'row' if len(rows) == 1 else 'any of rows'} {', '.join(rows)}"
        sentence = f"Without {which} the model would be clearly different."
        yield "warning", "It depends on single rows.", sentence
    log_P = subject.judged.log_P
    if log_P is not None:
        of_label = true_class_log_probability(log_P, subject.judged.codes)
        count = int(np.sum(of_label < np.log(IMPROBABLE_LABEL)))
        if count:
            plural = "rows have labels" if count > 1 else "row has a label"
            probability = f"a probability below {percent(IMPROBABLE_LABEL)}"
            sentence = f"{count} {plural} to which the model gives {probability}; see the table below."
            yield "warning", "Some labels may be wrong.", sentence


def _checked(subject: ReportedModel) -> Worry:
    for kind, title, sentence in subject.checks or ():
        if str(kind).lower() in ("error", "warning", "warn"):
            yield ("error" if str(kind).lower() == "error" else "warning"), title, sentence


RULES: tuple[Callable[[ReportedModel], Worry], ...] = (
    _not_met,
    _no_gain,
    _not_held_out,
    _forgotten_class,
    _overfitted,
    _uncalibrated,
    _standing_out,
    _checked,
)
