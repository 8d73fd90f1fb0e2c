"""The measures that ``evaluate`` and ``fit`` print: accuracy, log loss, Brier score, calibration, ROC, mistakes.

``statistics/evaluation.py`` computes them: a ``Performance`` for rows in memory, a ``TableReport`` for others, which
``TablePerformance`` presents in the same way. Each measure is compared with that of the class frequencies of the fitted
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.cli import terminal
from separatrix.cli.model_options import OWN_ANSWERS, Decision
from separatrix.core.base.arrays import Integers
from separatrix.core.base.errors import LabelError, printable
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import RowNumbering, number_text
from separatrix.core.rows.labelled_table import OutsideMemory
from separatrix.statistics.evaluation import Performance, TableReport, evaluate_table
from separatrix.statistics.intervals import Interval, paired_difference
from separatrix.statistics.measures import ClassFigures, answers, in_bits, log_frequencies
from separatrix.statistics.model_decisions import CostFigures, cost_figures
from separatrix.statistics.reliability import reliability, reliability_of

if TYPE_CHECKING:
    from separatrix.classifiers.least_squares import OutsideUnitInterval

# The confidence level of all intervals.
LEVEL = 0.95
# The most classes in the printed confusion matrix.
MOST_CLASSES = 20
# The width of a column of intervals such as 0.71–0.93.
INTERVAL_WIDTH = 10


@dataclass(frozen=True)
class Measures:
    """The measures of a fitted ``model`` on rows X with labels y; ``fitted``: the fitted rows of each class.

    X may be a table outside memory, which has its own labels. ``decision`` says how answers are made of probabilities;
    by default the model makes them.
    """

    model: Any
    X: Any
    y: Any
    fitted: Sequence[int]
    decision: Decision = OWN_ANSWERS

    @cached_property
    def _report(self) -> TableReport | None:
        """The report on rows outside memory, in one pass; None for rows in memory."""
        if not isinstance(self.X, OutsideMemory):
            return None
        rule, costs = self.decision.rule, self.decision.costs
        spent = None if costs is None else {"FP": costs.false_positive, "FN": costs.false_negative}
        return evaluate_table(self.model, self.X, None, rule, spent)

    @cached_property
    def performance(self) -> Performance | TablePerformance:
        if self._report is not None:
            return TablePerformance(self._report, self.fitted, LEVEL)
        found, rule = answers(self.model, self.X, self.y), self.decision.rule
        return Performance(found if rule is None else rule.applied(found), self.fitted, LEVEL)

    @cached_property
    def cost(self) -> CostFigures | None:
        """What the mistakes cost; None without costs."""
        measured, rule, costs = self.performance, self.decision.rule, self.decision.costs
        if not isinstance(measured, Performance):
            return measured.report.cost
        found = measured.answers
        if costs is None or rule is None or found.log_P is None:
            return None
        return cost_figures(costs, np.exp(found.log_P[:, 1]), found.codes == 1, rule.threshold, LEVEL)

    @property
    def labels(self) -> list[Any]:
        return self.model.classes_.tolist()  # type: ignore[no-any-return]

    @property
    def n_rows(self) -> int:
        return self.performance.n_rows

    @cached_property
    def outside(self) -> OutsideUnitInterval | None:
        """How often outputs that are not probabilities leave [0, 1]; None if the model has no such outputs."""
        ask = getattr(self.model, "outside_unit_interval", None)
        return None if ask is None or isinstance(self.X, OutsideMemory) else ask(self.X)

    @cached_property
    def calibration_error(self) -> float | None:
        """The expected calibration error over ten bins of equal width; None if the model has no probabilities."""
        measured = self.performance
        if not isinstance(measured, Performance):
            shape = measured.report.reliability
            return None if shape is None else shape.expected_error
        found = measured.answers
        if found.log_P is None:
            return None
        if self.decision.prior is None:
            return reliability(self.model, self.X, self.y).expected_error
        return reliability_of(np.exp(found.log_P), found.log_P, found.codes, found.classes).expected_error

    def as_dict(self) -> dict[str, Any]:
        """All measures, for --json."""
        measured = self.performance
        loss, interval = measured.log_loss, measured.auc_interval
        return {
            "rows": measured.n_rows,
            "mistakes": measured.n_rows - measured.n_right,
            "accuracy": measured.accuracy,
            "accuracy_interval": list(measured.accuracy_interval),
            "level": LEVEL,
            "null_accuracy": measured.null_accuracy,
            "gain_interval": list(measured.gain),
            "log_loss": loss,
            "log_loss_bits": None if loss is None else in_bits(loss),
            "null_log_loss": measured.null_log_loss,
            "outputs_outside_unit_interval": None if self.outside is None else len(self.outside.rows),
            "brier": measured.brier,
            "calibration_error": self.calibration_error,
            "auc": measured.auc,
            "auc_interval": None if interval is None else list(interval),
        }

    def decisions(self) -> dict[str, Any]:
        """The figures by class, and what --threshold, --cost and --prior ask for, for the --json of ``evaluate``."""
        prior, rule = self.decision.prior, self.decision.rule
        return {
            "by_class": [one.plain() for one in self.performance.by_class],
            "threshold": None if rule is None else rule.threshold,
            "cost": None if self.cost is None else self.cost.plain(),
            "prior": None if prior is None else {str(label): share for label, share in prior.items()},
        }

    def show(self, label: str = "accuracy") -> None:
        """Print the main measures; the first line has the label."""
        measured = self.performance
        low, high = (terminal.share(end) for end in measured.accuracy_interval)
        wrong = f"{measured.n_rows - measured.n_right} of {terminal.count(measured.n_rows, 'row')} wrong"
        head = "accuracy " if label != "accuracy" else ""
        share = f"{head}{terminal.share(measured.accuracy)} ({low} to {high} with 95 % confidence)"
        terminal.line(label, f"{share}, {wrong}")
        least, most = (f"{100 * end:+.1f}" for end in measured.gain)
        always = f"always {self.labels[measured.majority]}: {terminal.share(measured.null_accuracy)}"
        points = f"{100 * (measured.accuracy - measured.null_accuracy):+.1f}"
        terminal.line("", f"{always}, so the model gains {points} points ({least} to {most})")
        if measured.log_loss is not None:
            bits = in_bits(measured.log_loss)
            alone = f"class frequencies alone: {measured.null_log_loss:.4g}"
            terminal.line("log loss", f"{measured.log_loss:.4g} nats, {bits:.4g} bits per row ({alone} nats)")
        if self.outside is not None:
            terminal.line("outputs", str(self.outside))

    def show_more(self) -> None:
        """Print the Brier score, the calibration error, the area under the ROC curve, and the answers by class."""
        measured = self.performance
        if measured.brier is not None and self.calibration_error is not None:
            terminal.line("Brier", f"{measured.brier:.4g}, the mean squared error of the probabilities")
            what = "the probability of the predicted class" if len(self.labels) > 2 else f"P({self.labels[1]})"
            error = f"{self.calibration_error:.4g}, the expected calibration error"
            terminal.line("ECE", f"{error}: {what} against the observed frequencies (10 bins)")
        if measured.auc is not None:
            interval = measured.auc_interval
            rest = ", the mean of each class against the rest" if len(self.labels) > 2 else ""
            sure = f" ({interval.low:.3f} to {interval.high:.3f})" if interval else rest
            terminal.line("ROC area", f"{measured.auc:.3f}{sure}")
        if self.cost is not None:
            self._show_cost(self.cost)
        terminal.say()
        counts = self.performance.confusion
        shown = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_CLASSES])
        self._show_confusion(counts, shown)
        terminal.say()
        self._show_by_class(shown)

    def _show_cost(self, cost: CostFigures) -> None:
        label = printable(str(self.labels[1]))
        positive = f"P({label})"
        (low, high), (least, most) = cost.interval, cost.best_interval
        sure = f"({number_text(low)} to {number_text(high)} with 95 % confidence)"
        own = f"predicting {label} if {positive} ≥ {number_text(cost.threshold)}"
        terminal.line("cost", f"{number_text(cost.mean)} per row {sure}, {own}")
        best = f"{number_text(cost.best_mean)} ({number_text(least)} to {number_text(most)})"
        best += f" if {positive} ≥ {number_text(cost.best_threshold)}"
        terminal.line("", f"lowest on these rows: {best}; always the same class: {number_text(cost.null)}")

    def _show_by_class(self, shown: Integers) -> None:
        terminal.line("by class", "lift: the frequency of a class where it is predicted, relative to all rows")
        figures = [self.performance.by_class[k] for k in shown]
        names = [printable(str(one.label)) for one in figures]
        each = [(one.precision, one.recall, one.f1, one.lift) for one in figures]
        values = [[None if np.isnan(value) else value for value in row] for row in each]
        heads = ["precision", "recall", "F1", "lift"]
        terminal.matrix(names, heads, values, "{:.3f}".format, least=INTERVAL_WIDTH)
        terminal.say()
        terminal.line("", f"{100 * self.performance.level:g} % confidence intervals of these figures")
        terminal.table(names, heads, [_intervals(one) for one in figures], [INTERVAL_WIDTH] * len(heads))

    def _show_confusion(self, counts: Integers, shown: Integers) -> None:
        less = "" if len(shown) == len(counts) else f"; the {len(shown)} largest of {len(counts)} classes"
        terminal.line("mistakes", f"rows are true classes, columns are predicted classes{less}")
        names = [printable(str(self.labels[k])) for k in shown]
        values = [[*counts[k, shown].tolist(), counts[k].sum()] for k in shown]
        terminal.matrix(names, [*names, "all"], values, str, least=len(str(self.n_rows)))


def _intervals(one: ClassFigures) -> list[str]:
    """The intervals of a class's figures, "none" where there is no figure."""
    pairs = (
        (one.precision, one.precision_interval),
        (one.recall, one.recall_interval),
        (one.f1, one.f1_interval),
        (one.lift, one.lift_interval),
    )
    return ["none" if np.isnan(value) else f"{low:.2f}–{high:.2f}" for value, (low, high) in pairs]


def refuse_unknown_labels(where: str, y: Any, rows: RowNumbering, classes: Any) -> None:
    """Labels that the model does not know, by the rows that have them."""
    known = set(classes.tolist())
    strange = [k for k, label in enumerate(y.tolist()) if label not in known]
    if strange:
        row, label = rows[strange[0]], y[strange[0] : strange[0] + 1].tolist()[0]
        more = f" (and {terminal.count(len(strange) - 1, 'more row')})" if len(strange) > 1 else ""
        knows = terminal.some([repr(one) for one in classes.tolist()], 8)
        remedy = f"the model knows {knows}: correct the labels, or fit again"
        raise LabelError(where, f"row {row} has the label {label!r}, which the model does not know{more}", remedy)


# --- Rows outside memory


@dataclass(frozen=True)
class TablePerformance:
    """A report on rows in files, with the measures of ``Performance``; ``fitted`` (K,): the fitted rows by class."""

    report: TableReport
    fitted: Sequence[int]
    level: float

    @property
    def n_rows(self) -> int:
        return self.report.n_rows

    @property
    def n_right(self) -> int:
        """The number of rows that are classified correctly."""
        return self.report.n_rows - self.report.n_mistakes

    @property
    def accuracy(self) -> float:
        return self.report.accuracy

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's interval."""
        return self.report.accuracy_interval

    @property
    def by_class(self) -> tuple[ClassFigures, ...]:
        """The precision, recall, F1 and lift of each class."""
        return self.report.by_class

    @property
    def confusion(self) -> Integers:
        """The confusion matrix, (K, K): rows are true classes, columns are predicted ones."""
        return self.report.confusion

    @property
    def majority(self) -> int:
        """The number of the most frequent class of the fit."""
        return int(np.argmax(self.fitted))

    @property
    def null_accuracy(self) -> float:
        """The accuracy of always predicting that class."""
        return float(self.confusion[self.majority].sum() / self.n_rows)

    @property
    def gain(self) -> Interval:
        """The interval of the difference of both accuracies, from pairs of answers for the same row."""
        both = int(self.confusion[self.majority, self.majority])
        only_guess = int(self.confusion[self.majority].sum()) - both
        return paired_difference(self.n_right - both, only_guess, self.n_rows, self.level)

    @property
    def log_loss(self) -> float | None:
        """In nats; None if the model has no probabilities."""
        return self.report.log_loss

    @property
    def null_log_loss(self) -> float:
        """The log loss of the class frequencies of the fit."""
        rows = self.confusion.sum(axis=1)
        return float(-(rows[rows > 0] @ log_frequencies(self.fitted)[rows > 0]) / self.n_rows)

    @property
    def brier(self) -> float | None:
        """The Brier score; None if the model has no probabilities."""
        return self.report.brier

    @property
    def auc(self) -> float | None:
        """The area under the ROC curve, with rows of the same bin of scores tied."""
        return self.report.auc

    @property
    def auc_interval(self) -> Interval | None:
        """DeLong's interval, for two classes."""
        curves = self.report.rankings
        return curves[0].ranking.auc_interval(self.level) if len(self.fitted) == 2 and curves else None
