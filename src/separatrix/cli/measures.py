"""The measures that ``evaluate`` and ``fit`` print: accuracy, log loss, Brier score, calibration, ROC, mistakes.

``evaluation.performance`` computes them; each is shown beside that of the fitted rows' class frequencies alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.cached import cached_property
from separatrix.base.errors import LabelError, printable
from separatrix.cli import terminal
from separatrix.evaluation.answers import answers
from separatrix.evaluation.calibration import reliability
from separatrix.evaluation.measures import in_bits
from separatrix.evaluation.performance import Performance

if TYPE_CHECKING:
    from separatrix.classifiers.least_squares import OutsideUnitInterval

# The confidence level of all intervals.
LEVEL = 0.95
# The most classes in the printed confusion matrix.
MOST_CLASSES = 20


@dataclass(frozen=True)
class Measures:
    """The measures of a fitted ``model`` on rows X with labels y; ``fitted``: the fitted rows of each class."""

    model: Any
    X: Any
    y: Any
    fitted: Sequence[int]

    @cached_property
    def performance(self) -> Performance:
        return Performance(answers(self.model, self.X, self.y), self.fitted, LEVEL)

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
        return None if ask is None else ask(self.X)

    @cached_property
    def calibration_error(self) -> float | None:
        """The expected calibration error over ten bins of equal width; None if the model has no probabilities."""
        has_probabilities = self.performance.answers.log_P is not None
        return reliability(self.model, self.X, self.y).expected_error if has_probabilities else None

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
            terminal.line("log loss", f"{measured.log_loss:.4g} nats, {bits:.4g} bits a row ({alone} nats)")
        if self.outside is not None:
            terminal.line("outputs", str(self.outside))

    def show_more(self) -> None:
        """Print the Brier score, the calibration error, the area under the ROC curve and the confusion matrix."""
        measured = self.performance
        if measured.brier is not None and self.calibration_error is not None:
            terminal.line("Brier", f"{measured.brier:.4g}, the mean squared error of the probabilities")
            what = "the probability of its answer" if len(self.labels) > 2 else f"P({self.labels[1]})"
            off = f"{100 * self.calibration_error:.1f} points on average"
            terminal.line("off by", f"{off}, {what} beside what came true (10 bins)")
        if measured.auc is not None:
            interval = measured.auc_interval
            rest = ", the mean of each class against the rest" if len(self.labels) > 2 else ""
            sure = f" ({interval.low:.3f} to {interval.high:.3f})" if interval else rest
            terminal.line("ROC area", f"{measured.auc:.3f}{sure}")
        terminal.say()
        self._show_confusion()

    def _show_confusion(self) -> None:
        counts = self.performance.answers.confusion
        shown = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_CLASSES])
        less = "" if len(shown) == len(counts) else f"; the {len(shown)} largest of {len(counts)} classes"
        terminal.line("mistakes", f"rows by their true class, columns by the answer{less}")
        names = [printable(str(self.labels[k])) for k in shown]
        values = [[*counts[k, shown].tolist(), counts[k].sum()] for k in shown]
        terminal.matrix(names, [*names, "all"], values, "d", least=len(str(self.n_rows)))


def refuse_unknown_labels(where: str, y: Any, rows: Integers, classes: Any) -> None:
    """Labels that are no classes of the model, by the rows they are in."""
    known = set(classes.tolist())
    strange = [k for k, label in enumerate(y.tolist()) if label not in known]
    if strange:
        row, label = int(rows[strange[0]]), y[strange[0] : strange[0] + 1].tolist()[0]
        more = f" (and {len(strange) - 1} rows more)" if len(strange) > 1 else ""
        knows = terminal.some([repr(one) for one in classes.tolist()], 8)
        do = f"the model knows {knows}: mend the labels, or fit anew"
        raise LabelError(where, f"row {row} has the label {label!r}, which the model does not know{more}", do)
