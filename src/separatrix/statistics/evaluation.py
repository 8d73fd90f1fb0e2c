"""``evaluate``: the accuracy, the mistakes, the log loss and the costs of a fitted model (docs/tour.md, E1, E2, D4).

Rows in memory are measured by ``evaluate`` itself. For a table outside memory, all figures are sums over its rows, so
one pass is enough (``evaluate_table``). ``Performance`` has further measures of a model's answers in memory, with
confidence intervals, beside those of the null model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import LabelError, NoRowsError, ParameterError
from separatrix.core.base.labels import as_label_array
from separatrix.core.base.lazy import cached_property, is_dask_table
from separatrix.core.cluster import read_in_place
from separatrix.core.rows.block import Block
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.core.rows.targets import CLASS_NUMBERS
from separatrix.core.rows.views import cells_named, model_table, numbered, places
from separatrix.core.scorer import scores_of, taken_apart
from separatrix.statistics.intervals import Interval, paired_difference, wilson_interval
from separatrix.statistics.measures import (
    Answers,
    ClassFigures,
    accuracy,
    brier_score,
    confusion_matrix,
    figures_by_class,
    in_bits,
    log_frequencies,
    log_loss,
    log_odds,
    squared_errors,
    true_class_log_probability,
)
from separatrix.statistics.model_decisions import (
    CostFigures,
    Costs,
    DecisionRule,
    cost_figures,
    deciding_model,
    rule_for,
)
from separatrix.statistics.ranking import BinnedRanking, Ranking, ScoreCounts, binned_ranking, rankings
from separatrix.statistics.reliability import Reliability, bin_sums, event, reliability_of_sums


@dataclass(frozen=True)
class Report:
    """The result of ``evaluate``.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    mistakes : array of int
        The numbers of the misclassified rows.
    log_loss : float or None
        The mean log loss in nats; None without probabilities.
    by_class : tuple of ClassFigures
        The precision, recall, F1 and lift of each class of the model.
    cost : CostFigures or None
        What the mistakes cost, and the threshold with the lowest cost; None unless costs are given.
    """

    n_rows: int
    mistakes: Integers
    log_loss: float | None
    by_class: tuple[ClassFigures, ...] = ()
    cost: CostFigures | None = None

    def __str__(self) -> str:
        loss = "" if self.log_loss is None else f", log loss {self.log_loss:.4g} nats"
        cost = "" if self.cost is None else f"; {self.cost}"
        return f"accuracy {self.accuracy:.4g}, {len(self.mistakes)} of {self.n_rows} rows wrong{loss}{cost}"

    @property
    def accuracy(self) -> float:
        return 1.0 - len(self.mistakes) / self.n_rows

    @property
    def log_loss_bits(self) -> float | None:
        """The log loss in bits."""
        return None if self.log_loss is None else in_bits(self.log_loss)


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    threshold: float | None = None,
    cost: Mapping[str, float] | None = None,
    prior: Any = None,
    fitted_prior: Any = None,
) -> Report | TableReport:
    """Compare the predictions of a fitted model with labels.

    Parameters
    ----------
    model : classifier, pipeline or Scorer
        A fitted classifier of this package, a pipeline that ends in one, or a scorer.
    X : (n, d) array, sparse matrix, data frame, or a table outside memory
        The rows. A table outside memory, such as a scan, has its labels in a column of its own; its columns are found
        by name, and its weights are not used. A model that was fitted with an offset is measured with offset zero.
    y : (n,) sequence
        The labels. A label that the model does not know counts as a mistake and makes the log loss infinite.
    threshold : float, optional
        For two classes, the lowest probability at which the second class is predicted; ½ by default.
    cost : dict, optional
        For two classes, the costs of both mistakes, as in ``{"FP": 1, "FN": 5}``; the second class is the positive one.
        Unless a threshold is given, predictions have the lowest expected cost: the threshold is FP/(FP + FN).
    prior : (K,) sequence in the order of the classes, or dict by label, optional
        The class shares for which the probabilities are corrected, if they differ from those of the fitted rows. The
        rows X themselves are not weighted.
    fitted_prior : (K,) sequence in the order of the classes, or dict by label, optional
        The class shares or counts of the fitted rows, which ``prior`` needs. Discriminant analyses know theirs.

    Returns
    -------
    Report or TableReport
        The accuracy, the misclassified rows and the log loss; precision, recall, F1 and lift by class; the cost. For a
        table outside memory, the number of misclassified rows, the confusion matrix, the Brier score, the calibration
        and bounds on the area under the ROC curve, too.

    Raises
    ------
    LabelError
        There are no labels, or none of them is a class of the model.
    ParameterError
        A threshold, a cost or a prior is given for a model without probabilities, or is not as described.

    Examples
    --------
    >>> from separatrix.core.scorer import Scorer
    >>> scorer = Scorer(np.array([[0.0, 1.0]]), np.array([0, 1]), "logit")
    >>> found = evaluate(scorer, np.array([[-1.0], [2.0], [3.0]]), [0, 1, 0])
    >>> found.mistakes.tolist(), round(found.accuracy, 3), round(found.log_loss, 3)
    ([2], 0.667, 1.163)
    >>> print(found.by_class[1])
    1: precision 0.5, recall 1, F1 0.6667, lift 1.5 (1 row)
    >>> costly = evaluate(scorer, np.array([[-1.0], [2.0], [3.0]]), [0, 1, 0], cost={"FP": 1, "FN": 5})
    >>> round(costly.cost.threshold, 3), round(costly.cost.mean, 3)
    (0.167, 0.667)
    """
    if is_dask_table(X):
        model, X, _ = taken_apart(model, X)
        X, y, _ = read_in_place(X, y)  # X is an array now, if a step of the pipeline has gathered the rows.
    if isinstance(X, OutsideMemory):
        return evaluate_table(model, X, y, rule_for(model, threshold, cost, prior, fitted_prior), cost)
    labels: AnyArray = as_label_array(y)
    if len(labels) == 0:
        raise LabelError("y", "it holds no labels", "give rows to evaluate on")
    model, X, _ = taken_apart(model, X)
    scorer = scores_of(model)
    X = _plain_rows(X)
    position = {label: k for k, label in enumerate(scorer.classes.tolist())}
    codes = np.array([position.get(label, -1) for label in labels.tolist()])
    if np.all(codes < 0):
        raise labels_unknown("y", labels[0], scorer.classes)
    rule = rule_for(model, threshold, cost, prior, fitted_prior)
    log_P = np.asarray(scorer.log_probabilities(X)) if deciding_model(model).has_probabilities else None
    spent = None
    if rule is None or log_P is None:
        chosen = np.array([position[label] for label in scorer.predict(X).tolist()])
    else:
        log_P = rule.log_probabilities(log_P)
        P = np.exp(log_P)
        spent = None if cost is None else cost_figures(Costs.of(cost), P[:, 1], codes == 1, rule.threshold)
        chosen = rule.chosen(P)
    loss = None if log_P is None else log_loss(log_P, codes)
    by_class = figures_by_class(codes, chosen, scorer.classes)
    return Report(len(codes), np.flatnonzero(codes != chosen), loss, by_class, spent)


def _plain_rows(X: Any) -> Any:
    """The rows as an array or a sparse matrix."""
    if hasattr(X, "to_numpy"):
        return X.to_numpy()
    return X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)


# An error message lists at most this number of classes.
MOST_CLASSES_NAMED = 5


def labels_unknown(where: str, label: Any, classes: AnyArray) -> LabelError:
    """The error about labels of which the model knows none, such as numbers in place of names."""
    known = ", ".join(map(repr, classes.tolist()[:MOST_CLASSES_NAMED]))
    more = ", ..." if len(classes) > MOST_CLASSES_NAMED else ""
    problem = f"none of its labels is a class of the model; one of them is {np.asarray(label).item()!r}"
    return LabelError(where, problem, f"give labels as in the fit: {known}{more}")


# --- Tables outside memory

# Bins of equal width in which predicted probabilities are compared with observed frequencies.
CALIBRATION_CUTS = np.linspace(0.0, 1.0, 11)


@dataclass(frozen=True)
class TableReport:
    """The result of ``evaluate`` for a table outside memory.

    Parameters
    ----------
    classes : (K,) array
        The labels of the model.
    counts : (K + 1, K) array of int
        Counts of rows: entry (j, k) has the true class j and the predicted class k. The last row counts the rows whose
        label the model does not know; they are mistakes.
    log_loss : float or None
        The mean log loss in nats; None without probabilities.
    brier : float or None
        The Brier score; None without probabilities.
    reliability : Reliability or None
        Predicted probabilities compared with observed frequencies, in ten bins; None without probabilities.
    rankings : tuple of BinnedRanking
        The ROC curve of the second of two classes, or of each of several classes against the rest.
    cost : CostFigures or None
        The cost of the mistakes; None unless costs are given. ``best_threshold`` is the best of the edges of bins.
    """

    classes: AnyArray
    counts: Integers
    log_loss: float | None
    brier: float | None
    reliability: Reliability | None
    rankings: tuple[BinnedRanking, ...]
    cost: CostFigures | None = None

    @property
    def confusion(self) -> Integers:
        """The confusion matrix, (K, K), without rows of an unknown label."""
        return self.counts[:-1]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    @property
    def n_mistakes(self) -> int:
        """The number of misclassified rows."""
        return self.n_rows - int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        return 1.0 - self.n_mistakes / self.n_rows

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's interval at the level 0.95."""
        return wilson_interval(self.n_rows - self.n_mistakes, self.n_rows)

    @property
    def log_loss_bits(self) -> float | None:
        """The log loss in bits."""
        return None if self.log_loss is None else in_bits(self.log_loss)

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve, or its mean over several classes; pairs of rows in the same bin count half.

        None if the rows are all of one class.
        """
        return float(np.mean([one.ranking.auc for one in self.rankings])) if self.rankings else None

    @property
    def auc_bounds(self) -> Interval | None:
        """An interval that contains the exact area, whatever the order of the rows in the same bin."""
        if not self.rankings:
            return None
        ends = np.array([one.auc_bounds for one in self.rankings])
        return Interval(float(ends[:, 0].mean()), float(ends[:, 1].mean()))

    @property
    def by_class(self) -> tuple[ClassFigures, ...]:
        """The precision, recall, F1 and lift of each class of the model."""
        rows, predicted, right = self.confusion.sum(axis=1), self.counts.sum(axis=0), np.diag(self.confusion)
        return tuple(
            ClassFigures(label, int(rows[k]), int(predicted[k]), int(right[k]), self.n_rows)
            for k, label in enumerate(self.classes.tolist())
        )

    def __str__(self) -> str:
        loss = "" if self.log_loss is None else f", log loss {self.log_loss:.4g} nats"
        cost = "" if self.cost is None else f"; {self.cost}"
        return f"accuracy {self.accuracy:.4g}, {self.n_mistakes} of {self.n_rows} rows wrong{loss}{self._area()}{cost}"

    def _area(self) -> str:
        bounds = self.auc_bounds
        if bounds is None:
            return ""
        if bounds.low == bounds.high:
            return f", AUC {self.auc:.4g}"
        return f", AUC between {bounds.low:.6g} and {bounds.high:.6g} (scores in bins)"


@dataclass
class EvaluationSums:
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

    def zero(self) -> EvaluationSums:
        K = self.n_classes
        counts, bins = np.zeros((K + 1, K), dtype=np.int64), np.zeros((3, len(CALIBRATION_CUTS) - 1))
        return EvaluationSums(counts, 0.0, 0.0, bins, [ScoreCounts.none() for _ in self.ranked])

    def add(self, total: EvaluationSums, block: Block) -> EvaluationSums:
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

    def _add_probabilities(self, total: EvaluationSums, P: Array, log_P: Array, codes: Integers) -> None:
        total.log_loss -= float(np.sum(true_class_log_probability(log_P, codes)))
        total.squares += float(np.sum(squared_errors(P, codes)))
        p, came_true, _ = event(P, codes, self.scorer.classes.tolist(), None)
        total.bins += bin_sums(p, came_true, CALIBRATION_CUTS)

    def merge(self, a: EvaluationSums, b: EvaluationSums) -> EvaluationSums:
        scores = [one.merge(other) for one, other in zip(a.scores, b.scores, strict=True)]
        log_loss, squares, bins = a.log_loss + b.log_loss, a.squares + b.squares, a.bins + b.bins
        return EvaluationSums(a.counts + b.counts, log_loss, squares, bins, scores)


def evaluate_table(
    model: Any, table: OutsideMemory, y: Any, rule: DecisionRule | None, cost: Mapping[str, float] | None
) -> TableReport:
    """``evaluate`` for a table outside memory, whose labels are one of its columns."""
    if y is not None:
        remedy = "leave y out, and name the column of labels: scan(..., target=...)"
        raise ParameterError("y", f"got labels together with {table.name}", remedy)
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
    return _table_report(partial, found, scorer.classes, None if cost is None else Costs.of(cost))


def _table_report(partial: AnswerSums, found: EvaluationSums, classes: AnyArray, costs: Costs | None) -> TableReport:
    """The report from the sums over all rows."""
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


# --- All measures of answers in memory, with intervals


@dataclass(frozen=True)
class Performance:
    """The measures of a model's answers, with intervals, and those of the null model.

    The null model knows the class frequencies of the fitted rows and ignores the columns: it always predicts the most
    frequent class.

    Parameters
    ----------
    answers : Answers
        The model's answers for n labelled rows.
    fitted : (K,) counts
        The number of fitted rows of each class.
    level : float, default 0.95
        The confidence level of the intervals.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> from separatrix.statistics.measures import answers
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> measured = Performance(answers(LogisticRegression().fit(X, y), X, y), [2, 2])
    >>> measured.accuracy, measured.null_accuracy, measured.n_right, measured.auc
    (0.5, 0.5, 2, 0.75)
    """

    answers: Answers
    fitted: Sequence[int] | Integers
    level: float = 0.95

    @property
    def n_rows(self) -> int:
        return self.answers.n_rows

    @cached_property
    def n_right(self) -> int:
        """The number of rows that are classified correctly."""
        return int(np.sum(self.answers.right))

    @property
    def accuracy(self) -> float:
        return accuracy(self.answers.right)

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's interval."""
        return wilson_interval(self.n_right, self.n_rows, self.level)

    @cached_property
    def by_class(self) -> tuple[ClassFigures, ...]:
        """The precision, recall, F1 and lift of each class."""
        return figures_by_class(self.answers.codes, self.answers.chosen, self.answers.classes, self.level)

    @property
    def confusion(self) -> Integers:
        """The confusion matrix, (K, K): rows are true classes, columns are predicted ones."""
        return self.answers.confusion

    @property
    def majority(self) -> int:
        """The number of the most frequent class of the fit."""
        return int(np.argmax(self.fitted))

    @property
    def null_accuracy(self) -> float:
        """The accuracy of the null model."""
        return accuracy(self.answers.codes == self.majority)

    @property
    def n_majority(self) -> int:
        """The number of rows that the null model classifies correctly."""
        return int(np.sum(self.answers.codes == self.majority))

    @property
    def gain(self) -> Interval:
        """The interval of the difference of both accuracies, from pairs of answers for the same row."""
        right, guess = self.answers.right, self.answers.codes == self.majority
        return paired_difference(int(np.sum(right & ~guess)), int(np.sum(~right & guess)), self.n_rows, self.level)

    @cached_property
    def log_loss(self) -> float | None:
        """In nats; None if the model has no probabilities."""
        log_P = self.answers.log_P
        return None if log_P is None else log_loss(log_P, self.answers.codes)

    @property
    def null_log_loss(self) -> float:
        """The log loss of the null model, in nats; infinite if a class of these rows has no fitted row."""
        return float(-log_frequencies(self.fitted)[self.answers.codes].mean())

    @cached_property
    def brier(self) -> float | None:
        """The Brier score; None if the model has no probabilities."""
        log_P = self.answers.log_P
        return None if log_P is None else brier_score(np.exp(log_P), self.answers.codes)

    @cached_property
    def rankings(self) -> list[Ranking]:
        """The ROC curve of the second of two classes, or of each of several classes against the rest."""
        return rankings(self.answers)

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve; for more than two classes the mean over one class versus the rest.

        None if the rows are all of one class.
        """
        return float(np.mean([curve.auc for curve in self.rankings])) if self.rankings else None

    @property
    def auc_interval(self) -> Interval | None:
        """DeLong's interval, for two classes."""
        return self.rankings[0].auc_interval(self.level) if self.answers.n_classes == 2 and self.rankings else None
