"""The figures of a model on a table outside memory, as sums over rows in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import LabelError, NoRowsError, ParameterError
from separatrix.evaluation.answers import log_odds
from separatrix.evaluation.calibration import bin_sums, event, reliability_of_sums
from separatrix.evaluation.decision_rule import DecisionRule
from separatrix.evaluation.measures import confusion_matrix, squared_errors, true_class_log_probability
from separatrix.evaluation.mistake_costs import CostFigures, Costs
from separatrix.evaluation.model_rule import deciding_model
from separatrix.evaluation.score_bins import BinnedRanking, ScoreCounts, binned_ranking
from separatrix.evaluation.table_report import TableReport
from separatrix.rows import Block
from separatrix.rows.coding import CLASS_NUMBERS
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.model_columns import model_table
from separatrix.scorers.scorer import scores_of
from separatrix.scorers.table_accuracy import cells_named, numbered, places

# Bins of equal width in which predicted probabilities are compared with observed frequencies.
CALIBRATION_CUTS = np.linspace(0.0, 1.0, 11)
# An error message lists at most this number of classes.
MOST_CLASSES_NAMED = 5


@dataclass
class Sums:
    """``counts`` (K + 1, K) by true and predicted class; Σ −ln P(true class), Σ squared errors, calibration bins.

    ``scores`` has counts by score for each ranked class.
    """

    counts: Integers
    log_loss: float
    squares: float
    bins: Array
    scores: list[ScoreCounts]


@dataclass(frozen=True)
class AnswerSums:
    """The sums over rows whose targets are numbers of the table's classes.

    ``scorer`` predicts class numbers. ``place``: the number of each class of the table among those of the model, K for
    a class that the model does not know. ``rule``: how to decide by probabilities, or None.
    """

    scorer: Any
    place: Integers
    has_probabilities: bool
    rule: DecisionRule | None

    @property
    def n_classes(self) -> int:
        return len(self.scorer.classes)

    @property
    def ranked(self) -> range:
        """The classes that have a ranking: the second of two, or all."""
        return range(1, 2) if self.n_classes == 2 else range(self.n_classes)

    def zero(self) -> Sums:
        K = self.n_classes
        counts = np.zeros((K + 1, K), dtype=np.int64)
        return Sums(
            counts, 0.0, 0.0, np.zeros((3, len(CALIBRATION_CUTS) - 1)), [ScoreCounts.none() for _ in self.ranked]
        )

    def add(self, total: Sums, block: Block) -> Sums:
        codes, K = self.place[block.t], self.n_classes
        if self.has_probabilities:
            log_P = self.scorer.log_probabilities(block.X)
            log_P = log_P if self.rule is None else self.rule.log_probabilities(log_P)
            P, Z = np.exp(log_P), log_odds(log_P)
            self._add_probabilities(total, P, log_P, np.where(codes < K, codes, -1))
        else:
            z = self.scorer.scores(block.X)
            Z = np.column_stack([-z, z]) if z.ndim == 1 else z
        chosen = self.scorer.predict(block.X) if self.rule is None else self.rule.chosen(P)
        total.counts += confusion_matrix(codes, chosen, K + 1)[:, :K]
        total.scores = [counts.add(Z[:, k], codes == k) for k, counts in zip(self.ranked, total.scores, strict=True)]
        return total

    def _add_probabilities(self, total: Sums, P: Array, log_P: Array, codes: Integers) -> None:
        total.log_loss -= float(np.sum(true_class_log_probability(log_P, codes)))
        total.squares += float(np.sum(squared_errors(P, codes)))
        p, came_true, _ = event(P, codes, self.scorer.classes.tolist(), None)
        total.bins += bin_sums(p, came_true, CALIBRATION_CUTS)

    def merge(self, a: Sums, b: Sums) -> Sums:
        scores = [one.merge(other) for one, other in zip(a.scores, b.scores, strict=True)]
        return Sums(a.counts + b.counts, a.log_loss + b.log_loss, a.squares + b.squares, a.bins + b.bins, scores)


def evaluate_table(
    model: Any, table: OutsideMemory, y: Any, rule: DecisionRule | None, cost: Mapping[str, float] | None
) -> TableReport:
    """``evaluate`` for a table outside memory, whose labels are one of its columns."""
    if y is not None:
        raise ParameterError(
            "y",
            f"got labels together with {table.name}",
            "leave y out, and name the column of labels: scan(..., target=...)",
        )
    if len(getattr(model, "steps", ())) > 1:
        problem = f"{table.name} is outside memory, and the steps of a pipeline transform arrays"
        raise ParameterError("model", problem, "give the last step and a table of transformed columns")
    scorer = scores_of(model)
    names = getattr(model, "feature_names_in_", None)
    seen = model_table(table, table.classes, None if names is None else list(map(str, names)), scorer.n_features)
    place = places(seen.classes.tolist(), scorer.classes.tolist())
    probable = deciding_model(model).has_probabilities
    partial = AnswerSums(numbered(scorer), np.where(place < 0, len(scorer.classes), place), probable, rule)
    rows = seen.rows(CLASS_NUMBERS)
    with cells_named(rows, list(seen.columns)):
        found = rows.fold(partial)
    if not found.counts.sum():
        raise NoRowsError(table.name, "it has no rows", "give rows to evaluate on")
    if np.all(place < 0):
        raise labels_unknown(table.name, seen.classes[0], scorer.classes)
    return _report(partial, found, scorer.classes, None if cost is None else Costs.of(cost))


def labels_unknown(where: str, label: Any, classes: AnyArray) -> LabelError:
    """The error about labels of which the model knows none, such as numbers in place of names."""
    known = ", ".join(map(repr, classes.tolist()[:MOST_CLASSES_NAMED]))
    more = ", ..." if len(classes) > MOST_CLASSES_NAMED else ""
    problem = f"none of its labels is a class of the model; one of them is {np.asarray(label).item()!r}"
    return LabelError(where, problem, f"give labels as in the fit: {known}{more}")


def _report(partial: AnswerSums, found: Sums, classes: AnyArray, costs: Costs | None) -> TableReport:
    labels, n = classes.tolist(), int(found.counts.sum())
    each = [binned_ranking(one, labels[k]) for k, one in zip(partial.ranked, found.scores, strict=True)]
    rankings = tuple(one for one in each if one is not None)
    log_loss = brier = reliability = None
    if partial.has_probabilities:
        log_loss, brier = found.log_loss / n, found.squares / n
        what = event(np.ones((1, len(labels))), np.zeros(1, dtype=np.int64), labels, None)[2]
        reliability = reliability_of_sums(what, CALIBRATION_CUTS, found.bins, brier, log_loss)
    cost = None if costs is None or partial.rule is None else _cost(costs, partial.rule, found.counts, rankings)
    return TableReport(classes, found.counts, log_loss, brier, reliability, rankings, cost)


def _cost(costs: Costs, rule: DecisionRule, counts: Integers, rankings: tuple[BinnedRanking, ...]) -> CostFigures:
    """The cost at the threshold of the rule, and the lowest cost at an edge of a bin of scores."""
    n, at = int(counts.sum()), costs.threshold if rule.threshold is None else float(rule.threshold)
    n_own = int(counts[1].sum())
    false_positive, false_negative = int(counts[0, 1] + counts[2, 1]), int(counts[1, 0])
    candidates = [(at, false_positive, false_negative), (0.0, n - n_own, 0)]
    for one in rankings:
        with np.errstate(over="ignore"):
            edges = 1.0 / (1.0 + np.exp(-one.ranking.thresholds[1:]))
        missed = n_own - one.ranking.true_positives[1:]
        candidates += zip(edges.tolist(), one.ranking.false_positives[1:].tolist(), missed.tolist(), strict=True)
    means = [costs.mean(fp, fn, n) for _, fp, fn in candidates]
    best = min(range(len(means)), key=lambda k: (means[k], abs(candidates[k][0] - costs.threshold)))
    null = min(costs.mean(n - n_own, 0, n), costs.mean(0, n_own, n))
    return CostFigures(costs, at, n, false_positive, false_negative, *candidates[best], float(null))
