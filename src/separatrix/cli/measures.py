"""A model's answers in numbers, with how sure they are: accuracy, log loss, Brier score, calibration, ROC, mistakes.

Each beside what the fitted rows' class frequencies alone would reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.cached import cached_property
from separatrix.base.errors import LabelError, printable
from separatrix.cli import terminal
from separatrix.diagnostics import Answers, Interval, paired_difference, rankings, wilson
from separatrix.evaluation.answers import answers
from separatrix.evaluation.calibration import brier_score, reliability

if TYPE_CHECKING:
    from separatrix.classifiers.least_squares import OutsideUnitInterval

LEVEL = 0.95
# Classes whose mistakes are shown one by one.
MOST_CLASSES = 20


@dataclass(frozen=True)
class Measures:
    """What a fitted ``model`` answers for rows X with labels y; ``fitted``: rows of each class in its fit."""

    model: Any
    X: Any
    y: Any
    fitted: Sequence[int]

    @cached_property
    def answers(self) -> Answers:
        return answers(self.model, self.X, self.y)

    @property
    def labels(self) -> list[Any]:
        return self.model.classes_.tolist()  # type: ignore[no-any-return]

    @property
    def n_rows(self) -> int:
        return self.answers.n_rows

    @cached_property
    def n_right(self) -> int:
        return int(np.sum(self.answers.right))

    @property
    def accuracy(self) -> float:
        return self.n_right / self.n_rows

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's."""
        low, high = wilson(self.n_right, self.n_rows, LEVEL)
        return Interval(float(low), float(high))

    @property
    def majority(self) -> int:
        """The most frequent class of the fit."""
        return int(np.argmax(self.fitted))

    @property
    def null_accuracy(self) -> float:
        """Of always answering the majority."""
        return float(np.mean(self.answers.codes == self.majority))

    @property
    def gain(self) -> Interval:
        """Of accuracy over always answering the majority, row by row."""
        right, guess = self.answers.right, self.answers.codes == self.majority
        return paired_difference(int(np.sum(right & ~guess)), int(np.sum(~right & guess)), self.n_rows, LEVEL)

    @cached_property
    def log_loss(self) -> float | None:
        """In nats; None where the model has no probabilities."""
        found = self.answers
        return None if found.log_P is None else _log_loss(found.log_P, found.codes)

    @property
    def null_log_loss(self) -> float:
        """Of the fit's class frequencies; infinite where a class had no row."""
        counts = np.asarray(self.fitted, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return float(-np.log(counts / counts.sum())[self.answers.codes].mean())

    @cached_property
    def outside(self) -> OutsideUnitInterval | None:
        """How often outputs that are no probabilities leave [0, 1]; None where the model has no such outputs."""
        ask = getattr(self.model, "outside_unit_interval", None)
        return None if ask is None else ask(self.X)

    @cached_property
    def brier(self) -> float | None:
        found = self.answers
        return None if found.log_P is None else brier_score(np.exp(found.log_P), found.codes)

    @cached_property
    def calibration_error(self) -> float | None:
        """Expected, over ten bins of equal width."""
        return None if self.answers.log_P is None else reliability(self.model, self.X, self.y).expected_error

    @cached_property
    def auc(self) -> float | None:
        """Area under the ROC curve; with several classes the mean of one versus rest. None without rows of both."""
        found = rankings(self.answers)
        return float(np.mean([one.auc for one in found])) if found else None

    @property
    def auc_interval(self) -> Interval | None:
        """DeLong's, of two classes."""
        found = rankings(self.answers) if len(self.labels) == 2 else []
        return found[0].auc_interval(LEVEL) if found else None

    def as_dict(self) -> dict[str, Any]:
        """Everything, for --json."""
        loss, interval = self.log_loss, self.auc_interval
        return {
            "rows": self.n_rows,
            "mistakes": self.n_rows - self.n_right,
            "accuracy": self.accuracy,
            "accuracy_interval": list(self.accuracy_interval),
            "level": LEVEL,
            "null_accuracy": self.null_accuracy,
            "gain_interval": list(self.gain),
            "log_loss": loss,
            "log_loss_bits": None if loss is None else loss / float(np.log(2.0)),
            "null_log_loss": self.null_log_loss,
            "outputs_outside_unit_interval": None if self.outside is None else len(self.outside.rows),
            "brier": self.brier,
            "calibration_error": self.calibration_error,
            "auc": self.auc,
            "auc_interval": None if interval is None else list(interval),
        }

    def show(self, label: str = "accuracy") -> None:
        """The figures for people; the first line has the label."""
        low, high = (terminal.share(end) for end in self.accuracy_interval)
        wrong = f"{self.n_rows - self.n_right} of {terminal.count(self.n_rows, 'row')} wrong"
        head = "accuracy " if label != "accuracy" else ""
        terminal.line(label, f"{head}{terminal.share(self.accuracy)} ({low} to {high} with 95 % confidence), {wrong}")
        least, most = (f"{100 * end:+.1f}" for end in self.gain)
        always = f"always {self.labels[self.majority]}: {terminal.share(self.null_accuracy)}"
        points = f"{100 * (self.accuracy - self.null_accuracy):+.1f}"
        terminal.line("", f"{always}, so the model gains {points} points ({least} to {most})")
        if self.log_loss is not None:
            bits = self.log_loss / float(np.log(2.0))
            alone = f"class frequencies alone: {self.null_log_loss:.4g}"
            terminal.line("log loss", f"{self.log_loss:.4g} nats, {bits:.4g} bits a row ({alone} nats)")
        if self.outside is not None:
            terminal.line("outputs", str(self.outside))

    def show_more(self) -> None:
        """What ``show`` leaves out: Brier score, calibration, ROC, every kind of mistake."""
        if self.brier is not None and self.calibration_error is not None:
            terminal.line("Brier", f"{self.brier:.4g}, the mean squared error of the probabilities")
            what = "the probability of its answer" if len(self.labels) > 2 else f"P({self.labels[1]})"
            off = f"{100 * self.calibration_error:.1f} points on average"
            terminal.line("off by", f"{off}, {what} beside what came true (10 bins)")
        if self.auc is not None:
            interval = self.auc_interval
            rest = ", the mean of each class against the rest" if len(self.labels) > 2 else ""
            sure = f" ({interval.low:.3f} to {interval.high:.3f})" if interval else rest
            terminal.line("ROC area", f"{self.auc:.3f}{sure}")
        terminal.say()
        self._show_confusion()

    def _show_confusion(self) -> None:
        counts = self.answers.confusion
        shown = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_CLASSES])
        less = "" if len(shown) == len(counts) else f"; the {len(shown)} largest of {len(counts)} classes"
        terminal.line("mistakes", f"rows by their true class, columns by the answer{less}")
        names = [printable(str(self.labels[k])) for k in shown]
        values = [[*counts[k, shown].tolist(), counts[k].sum()] for k in shown]
        terminal.matrix(names, [*names, "all"], values, "d", least=len(str(self.n_rows)))


def _log_loss(log_P: Array, codes: Integers) -> float:
    return float(-np.take_along_axis(log_P, codes[:, None], axis=1).mean())


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
