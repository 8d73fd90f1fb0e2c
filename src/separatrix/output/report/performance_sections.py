"""Sections on how well the model performs, and on the threshold of the probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.output.plots.confusion import (
    MOST_NARROW,
    MOST_SHARES,
    CalibrationDisplay,
    ConfusionDisplay,
    ThresholdDisplay,
)
from separatrix.output.plots.roc import PrecisionRecallDisplay, RankingDisplay, RocDisplay
from separatrix.output.report.lead import LARGEST_CALIBRATION_ERROR, chance_error
from separatrix.output.report.page import (
    Section,
    block,
    details,
    facts,
    figure,
    interval,
    named_class,
    number,
    pair,
    paragraph,
    percent,
    table,
)
from separatrix.output.report.reported_model import ReportedModel
from separatrix.statistics.evaluation import Performance
from separatrix.statistics.measures import ClassFigures
from separatrix.statistics.model_decisions import CostFigures, decision_rule

# --- Performance

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
    return Section("confusion", "Performance", "Confusion matrix", gloss, body + _mistakes(subject))


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
    if np.isnan(value):
        return "none"
    return interval(f"{100 * value:.0f} % ({100 * ends.low:.0f} to {100 * ends.high:.0f})")


def _number(value: float, ends: Any) -> str:
    return "none" if np.isnan(value) else interval(f"{value:.2f} ({ends.low:.2f} to {ends.high:.2f})")


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
        return Section("ranking", "Performance", title, gloss, paragraph("Left out: the rows are all of one class."))
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
    return Section("ranking", "Performance", title, gloss, body + _areas(subject, curves))


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
        return Section("calibration", "Performance", "Calibration", gloss, paragraph(f"Left out: {found}."))
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
    return Section("calibration", "Performance", "Calibration", gloss, pair(picture, block(paragraph(said), numbers)))


# --- Threshold and costs

NO_COSTS = (
    "No costs of mistakes were given, so the threshold is 0.5. With cost={'FP': 1, 'FN': 5}, or --cost FP=1,FN=5, this "
    "section finds the threshold with the lowest cost."
)
# The thresholds in the table, beside the one in use and the best.
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def thresholds(subject: ReportedModel) -> Section | None:
    if len(subject.labels) != 2 or subject.judged.log_P is None:
        return None
    shown = ThresholdDisplay.of(subject.judged, subject.costs, subject.level)
    cost = shown.cost
    caption = f"Precision and recall of {shown.label}, predicted from each threshold on."
    said = facts(_cost_facts(subject, cost)) if cost is not None else paragraph(NO_COSTS, "aside")
    body = pair(figure(shown, "fig-threshold", caption), block(said, _table(shown, cost)))
    if subject.costs is not None:
        rule = decision_rule(subject.judged.classes, cost=subject.costs)
        assert rule is not None
        figures = Performance(rule.applied(subject.judged), subject.performance.fitted, subject.level).by_class
        title = f"By class, predicting {subject.labels[1]} from P = {number(shown.threshold)} on"
        body += paragraph(f"{title}:", "aside") + by_class(figures, range(2))
    title = "Threshold and costs" if cost is not None else "Threshold"
    return Section("threshold", "Performance", title, "from which probability on to act", body)


def _cost_facts(subject: ReportedModel, cost: CostFigures) -> list[tuple[str, str]]:
    (low, high), (least, most) = cost.interval, cost.best_interval
    fp, fn, label = cost.costs.false_positive, cost.costs.false_negative, subject.labels[1]
    return [
        ("costs", f"{number(fp)} for predicting {label} wrongly, {number(fn)} for missing it"),
        (
            "threshold",
            f"{number(cost.threshold)} = {number(fp)}/({number(fp)} + {number(fn)}), where both answers cost the same",
        ),
        ("cost per row", interval(f"{number(cost.mean)} ({number(low)} to {number(high)})")),
        (
            "lowest cost here",
            interval(f"{number(cost.best_mean)} ({number(least)} to {number(most)})")
            + f" from {number(cost.best_threshold)} on",
        ),
        ("one answer for all", f"{number(cost.null)} per row, the cheaper of both"),
        ("note", "The lowest cost is too low for new rows, since these rows chose its threshold."),
    ]


def _table(shown: ThresholdDisplay, cost: CostFigures | None) -> str:
    best: Sequence[float] = [] if cost is None else [cost.best_threshold]
    at = np.unique([*THRESHOLDS, shown.threshold, *best])
    precision, recall, costs = shown.at(at)
    predicted = [int(np.sum(shown.p >= t)) for t in at]
    rows = []
    for k, t in enumerate(at.tolist()):
        lowest = cost is not None and t == cost.best_threshold
        row = [
            f"{number(t, 3)}, lowest cost" if lowest else f"{number(t, 3)}",
            f"{predicted[k]:,}",
            _three_decimals(precision[k]),
            _three_decimals(recall[k]),
        ]
        rows.append(row if costs is None else [*row, number(costs[k])])
    heads = ["from P =", "predicted", "precision", "recall", *(["cost per row"] if costs is not None else [])]
    now = frozenset(np.flatnonzero(at == shown.threshold).tolist())
    return table(heads, rows, now=now)


def _three_decimals(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:.3f}"
