"""The section on the threshold of the probability, and what mistakes cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separatrix.evaluation.decision_rule import decision_rule
from separatrix.evaluation.mistake_costs import CostFigures
from separatrix.evaluation.performance import Performance
from separatrix.plots import ThresholdDisplay
from separatrix.reports.formatting import interval, number
from separatrix.reports.page import Section, block, facts, pair, paragraph, table
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.sections.performance import GROUP, by_class
from separatrix.reports.svg_markup import figure

# The thresholds in the table, beside the one in use and the best.
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def thresholds(subject: ReportedModel) -> Section | None:
    if len(subject.labels) != 2 or subject.judged.log_P is None:
        return None
    shown = ThresholdDisplay.of(subject.judged, subject.costs, subject.level)
    cost = shown.cost
    caption = f"Precision and recall of {shown.label}, predicted from each threshold on."
    said = facts(_cost_facts(subject, cost)) if cost is not None else paragraph(_no_costs(), "aside")
    body = pair(figure(shown, "fig-threshold", caption), block(said, _table(shown, cost)))
    if subject.costs is not None:
        rule = decision_rule(subject.judged.classes, cost=subject.costs)
        assert rule is not None
        figures = Performance(rule.applied(subject.judged), subject.performance.fitted, subject.level).by_class
        title = f"By class, predicting {subject.labels[1]} from P = {number(shown.threshold)} on"
        body += paragraph(f"{title}:", "aside") + by_class(figures, range(2))
    title = "Threshold and costs" if cost is not None else "Threshold"
    return Section("threshold", GROUP, title, "from which probability on to act", body)


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


def _no_costs() -> str:
    return (
        "No costs of mistakes were given, so the threshold is 0.5. With cost={'FP': 1, 'FN': 5}, or --cost FP=1,FN=5, "
        "this section finds the threshold with the lowest cost."
    )


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
            _share(precision[k]),
            _share(recall[k]),
        ]
        rows.append(row if costs is None else [*row, number(costs[k])])
    heads = ["from P =", "predicted", "precision", "recall", *(["cost per row"] if costs is not None else [])]
    now = frozenset(np.flatnonzero(at == shown.threshold).tolist())
    return table(heads, rows, now=now)


def _share(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:.3f}"
