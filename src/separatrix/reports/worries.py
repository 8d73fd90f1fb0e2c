"""What may be wrong with a model: each worry has a short title for the first screen and a sentence for its section."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from separatrix.classifiers.separated import APART
from separatrix.diagnostics import wilson
from separatrix.evaluation.calibration import Reliability
from separatrix.evaluation.measures import true_class_log_probability
from separatrix.reports.formatting import percent, stated
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.verdict import other_rows

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
