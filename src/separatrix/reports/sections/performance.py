"""Sections on how well the model performs: the confusion matrix, ROC and precision-recall curves, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from separatrix.evaluation.by_class import ClassFigures
from separatrix.plots import CalibrationDisplay, ConfusionDisplay, PrecisionRecallDisplay, RocDisplay
from separatrix.plots.confusion import MOST_NARROW, MOST_SHARES
from separatrix.plots.ranked import RankingDisplay
from separatrix.reports.formatting import interval, percent
from separatrix.reports.page import Section, block, details, named_class, pair, paragraph, table
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.svg_markup import figure
from separatrix.reports.worries import LARGEST_CALIBRATION_ERROR, chance_error

GROUP = "Performance"
# The most rows in a table of kinds of mistakes.
MOST_MISTAKE_ROWS = 300
CLASS_HEADS = ("class", "rows", "recall", "precision", "F1", "lift")
CLASS_TERMS = (
    "Recall: the share of a class that is recognised. Precision: the share of a predicted class that is right. F1: "
    "their harmonic mean. Lift: how many times as frequent a class is where it is predicted as among all rows. In "
    "brackets: confidence intervals."
)


def confusion(subject: ReportedModel) -> Section:
    counts = subject.judged.confusion
    shown = ConfusionDisplay(counts, subject.judged.classes)
    left_out = len(counts) - len(shown.shown)
    shares = "and shares of the true class" if len(shown.shown) <= MOST_SHARES else "filled by shares of the true class"
    caption = f"Of {subject.which}: counts, {shares}."
    caption += f" {left_out} classes with the fewest rows are left out." if left_out else ""
    figures = [subject.performance.by_class[k] for k in shown.shown.tolist()]
    classes = by_class(figures, shown.shown.tolist()) + paragraph(CLASS_TERMS, "aside")
    picture = figure(shown, "fig-confusion", caption)
    body = (
        pair(picture, block(classes), kind="pair broad-right") if len(shown.shown) <= MOST_NARROW else picture + classes
    )
    gloss = "which classes are mistaken for which"
    return Section("confusion", GROUP, "Confusion matrix", gloss, body + _mistakes(subject))


def by_class(figures: Sequence[ClassFigures], numbers: Sequence[int]) -> str:
    """A table of recall, precision, F1 and lift of the classes with these numbers."""
    rows = [
        [
            named_class(k, one.label),
            f"{one.n_rows:,}",
            _share(one.recall, one.recall_interval),
            _share(one.precision, one.precision_interval),
            _number(one.f1, one.f1_interval),
            _number(one.lift, one.lift_interval),
        ]
        for k, one in zip(numbers, figures, strict=True)
    ]
    return table(CLASS_HEADS, rows, kind="intervals")


def _share(value: float, ends: Any) -> str:
    if isnan(value):
        return "none"
    return interval(f"{100 * value:.0f} % ({100 * ends.low:.0f} to {100 * ends.high:.0f})")


def _number(value: float, ends: Any) -> str:
    return "none" if isnan(value) else interval(f"{value:.2f} ({ends.low:.2f} to {ends.high:.2f})")


def _mistakes(subject: ReportedModel) -> str:
    """For many classes, a folded table of the kinds of mistakes, most frequent first."""
    counts = subject.judged.confusion * (1 - np.eye(len(subject.labels), dtype=np.int64))
    pairs = np.argwhere(counts > 0)
    if len(counts) <= MOST_SHARES or not len(pairs):
        return ""
    number = counts[tuple(pairs.T)]
    order = np.argsort(-number, kind="stable")[:MOST_MISTAKE_ROWS]
    rows = [[subject.labels[pairs[k, 0]], subject.labels[pairs[k, 1]], int(number[k])] for k in order]
    which = f"The {MOST_MISTAKE_ROWS} most frequent kinds" if len(pairs) > MOST_MISTAKE_ROWS else "All kinds"
    return details(f"{which} of mistakes in a table", table(["true", "predicted", "rows"], rows, frozenset({0, 1})))


def ranking(subject: ReportedModel) -> Section:
    title, gloss = "ROC and precision-recall", "how well the scores tell the classes apart"
    if not subject.performance.rankings:
        return Section("ranking", GROUP, title, gloss, paragraph("Left out: the rows are all of one class."))
    curves = [kind.of(subject.judged, level=subject.level) for kind in (RocDisplay, PrecisionRecallDisplay)]
    level = percent(subject.level, 0)
    roc = f"ROC: areas with DeLong's {level} intervals; the band holds each point's rates (Wilson)."
    recall = (
        f"Precision and recall: average precision with its {level} interval; the band holds each point's precision "
        "(Wilson); dashed, the class's share."
    )
    pictures = [
        figure(shown, name, caption + _several(subject, shown))
        for shown, name, caption in zip(curves, ("fig-roc", "fig-pr"), (roc, recall), strict=True)
    ]
    body = pair(*pictures) if curves[0].narrow else "".join(pictures)
    return Section("ranking", GROUP, title, gloss, body + _areas(subject, curves))


def _several(subject: ReportedModel, shown: RankingDisplay) -> str:
    """For more than two classes: what each curve is, and which are drawn."""
    if len(subject.labels) == 2:
        return ""
    if len(shown.shown) < len(shown.curves):
        which = f"the {len(shown.shown)} of {len(shown.curves)} with the smallest areas"
        return f" Each curve is one class against the rest; shown are {which}."
    return " Each curve is one class against the rest."


def _areas(subject: ReportedModel, curves: Sequence[RankingDisplay]) -> str:
    """A folded table of all areas with their intervals."""
    if len(subject.labels) == 2:
        return ""
    rows = []
    for k, one in zip(curves[0].numbers or (), subject.performance.rankings, strict=True):
        found = [shown.area(one) for shown in curves]
        cells = [interval(f"{area:.3f} ({low:.3f} to {high:.3f})") for area, (low, high) in found]
        rows.append([named_class(k, one.of), one.positives, *cells])
    return details("All areas in a table", table(["class", "rows", "area under ROC", "average precision"], rows))


def calibration(subject: ReportedModel) -> Section:
    found, gloss = subject.calibration, "whether the probabilities agree with observed frequencies"
    if isinstance(found, str):
        return Section("calibration", GROUP, "Calibration", gloss, paragraph(f"Left out: {found}."))
    error = found.expected_error
    size = "calibrated" if error <= LARGEST_CALIBRATION_ERROR else "more than that"
    caption = f"Predicted probabilities against observed shares, in {len(found.count)} bins."
    said = (
        f"Expected calibration error {error:.3f}: the mean distance of both columns, weighted by rows. Up to "
        f"{LARGEST_CALIBRATION_ERROR:g} counts as calibrated, and this is {size}; exact probabilities would have about "
        f"{chance_error(found):.3f} on as many rows by chance. Brier score {found.brier:.3f}, log loss "
        f"{found.log_loss:.3f} nats ({found.log_loss_bits:.3f} bits)."
    )
    rows = [
        [f"{low:.2f} to {high:.2f}", f"{n:,}", f"{p:.3f}", f"{f:.3f}"]
        for (low, high), n, p, f in zip(found.edges, found.count.tolist(), found.predicted, found.observed, strict=True)
    ]
    picture = figure(CalibrationDisplay(found, subject.level), "fig-calibration", caption)
    numbers = table(["predicted", "rows", "mean prediction", "came true"], rows)
    return Section("calibration", GROUP, "Calibration", gloss, pair(picture, block(paragraph(said), numbers)))
