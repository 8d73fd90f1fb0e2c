"""What a fit has to say for itself: data, certificate, held-out rows, largest weights."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np

from separatrix.arrays import Integers
from separatrix.cli import terminal
from separatrix.evaluation import Report, evaluate
from separatrix.table import Table
from separatrix.table.sources import DEMO, STDIN

# How many of the largest weights are shown, and how many classes with their counts.
MOST = 5
MOST_CLASSES = 20


@dataclass(frozen=True)
class Account:
    """A fitted model and the table it came from; ``held`` (n,) says which rows it has not seen."""

    table: Table
    model: Any
    codes: Integers
    held: Any
    test_size: float
    seed: int

    @property
    def classes(self) -> list[Any]:
        return self.model.classes_.tolist()  # type: ignore[no-any-return]

    @cached_property
    def counts(self) -> list[int]:
        return [int(count) for count in np.bincount(self.codes)]

    @cached_property
    def frequencies(self) -> Any:
        """Of the classes, in the rows that were fitted."""
        fitted = np.bincount(self.codes[~self.held], minlength=len(self.classes))
        return fitted / fitted.sum()

    @cached_property
    def report(self) -> Report | None:
        """On the held-out rows."""
        if not self.held.any():
            return None
        return evaluate(self.model.scorer_, self.table.X[self.held], self.model.classes_[self.codes[self.held]])

    @property
    def null_log_loss(self) -> float:
        """Of the fitted rows' class frequencies, on the held-out rows."""
        return float(-np.log(self.frequencies[self.codes[self.held]]).mean())

    @property
    def null_accuracy(self) -> float:
        """Of always answering the most frequent class."""
        return float(np.mean(self.codes[self.held] == np.argmax(self.frequencies)))

    def measured(self) -> dict[str, Any] | None:
        """The held-out rows in numbers."""
        if self.report is None:
            return None
        return {
            "rows": self.report.n_rows,
            "mistakes": len(self.report.mistakes),
            "accuracy": self.report.accuracy,
            "null_accuracy": self.null_accuracy,
            "log_loss": self.report.log_loss,
            "log_loss_bits": self.report.log_loss_bits,
            "null_log_loss": self.null_log_loss,
        }

    def largest(self) -> list[dict[str, Any]]:
        """The weights that move scores most: weight times the column's standard deviation."""
        moves = self.model.coef_ * self.table.X[~self.held].std(axis=0)
        order = np.argsort(-np.abs(moves), axis=None, kind="stable")[:MOST]
        binary = len(moves) == 1
        found = []
        for k, j in zip(*np.unravel_index(order, moves.shape), strict=True):
            label = self.classes[1] if binary else self.classes[k]
            found.append({"column": self.table.names[j], "class": label, "weight": float(moves[k, j])})
        return found

    def training(self) -> dict[str, Any]:
        """What the model file keeps of this: plain values, no path on this machine."""
        source = self.table.source
        kept: dict[str, Any] = {
            "source": source if source.startswith(DEMO) else Path(source).name,
            "rows": len(self.codes),
            "rows_fitted": int((~self.held).sum()),
            "rows_held_out": int(self.held.sum()),
            "class_counts": self.counts,
            "test_size": self.test_size,
            "seed": self.seed,
        }
        measured = self.measured() or {}
        return kept | {f"held_out_{key}": value for key, value in measured.items() if key != "rows"}

    def as_dict(self) -> dict[str, Any]:
        """Everything, for --json."""
        pairs = zip(self.classes, self.counts, strict=True)
        return {
            "data": {
                "source": self.table.source,
                "rows": len(self.codes),
                "columns": list(self.table.names),
                "target": self.table.target,
                "classes": [{"label": label, "rows": count} for label, count in pairs],
            },
            "split": {
                "rows_fitted": int((~self.held).sum()),
                "rows_held_out": int(self.held.sum()),
                "test_size": self.test_size,
                "seed": self.seed,
            },
            "settings": self.model.get_params(),
            "certificate": self.model.certificate_.to_dict(),
            "held_out": self.measured(),
            "weights": {"intercept": self.model.intercept_, "coef": self.model.coef_},
            "largest_weights": self.largest(),
        }

    def show(self, out: str | None, data: str) -> None:
        """Print it for people."""
        n, d = self.table.X.shape
        columns = f"{d} column{'s' * (d > 1)}"
        terminal.line("data", f"{self.table.source}: {n} rows, {columns}; predicting {self.table.target!r}")
        terminal.line("classes", self._classes())
        terminal.line("split", self._split())
        terminal.line("model", self._model())
        click.echo()
        terminal.lines(str(self.model.certificate_))
        click.echo()
        self._show_measured()
        self._show_largest()
        if out is not None:
            words = ["show", out] if data == STDIN else ["predict", out, data, "--proba"]
            click.echo()
            terminal.line("written", f"{out}; next, try")
            click.echo(" " * terminal.LABEL + shlex.join(["separatrix", *words]))  # whole, to be copied

    def _classes(self) -> str:
        pairs = [f"{label} {count}" for label, count in zip(self.classes, self.counts, strict=True)]
        more = f" and {len(pairs) - MOST_CLASSES} more" if len(pairs) > MOST_CLASSES else ""
        return ", ".join(pairs[:MOST_CLASSES]) + more

    def _split(self) -> str:
        fitted, held = int((~self.held).sum()), int(self.held.sum())
        if held:
            return f"{fitted} rows fitted, {held} held out (the same share of each class, seed {self.seed})"
        why = ": too few rows to hold any out" if self.test_size > 0 else ", none held out"
        return f"all {fitted} rows fitted{why}"

    def _model(self) -> str:
        settings = self.model.get_params()
        balanced = ", classes balanced" if settings["class_weight"] else ""
        intercept = "with an intercept" if settings["fit_intercept"] else "no intercept"
        ratio = f", l1_ratio={settings['l1_ratio']:g}" if settings["l1_ratio"] else ""
        if settings["bias_reduction"]:
            return f"logistic regression, bias reduced by Firth's likelihood, {intercept}{balanced}"
        chosen = " (chosen: the best for rows left out)" if settings["C"] == "auto" else ""
        return f"logistic regression, C={self.model.C_:.4g}{chosen}{ratio}, {intercept}{balanced}"

    def _show_measured(self) -> None:
        report = self.report
        if report is None:
            return
        wrong, rows = len(report.mistakes), report.n_rows
        always = f"always {self.classes[int(np.argmax(self.frequencies))]!s}: {terminal.share(self.null_accuracy)}"
        accuracy = terminal.share(report.accuracy)
        terminal.line("held out", f"accuracy {accuracy}, {wrong} of {rows} rows wrong ({always})")
        if report.log_loss is not None and report.log_loss_bits is not None:
            loss = f"log loss {report.log_loss:.4g} nats, {report.log_loss_bits:.4g} bits a row"
            terminal.line("", f"{loss} (class frequencies alone: {self.null_log_loss:.4g} nats)")
        click.echo()

    def _show_largest(self) -> None:
        binary = len(self.classes) == 2
        terminal.line("weights", "the largest, per standard deviation of the column")
        for one in self.largest():
            side = "for" if one["weight"] >= 0 else "against"
            label = one["class"]
            if binary and one["weight"] < 0:
                side, label = "for", self.classes[0]
            terminal.line("", f"{one['weight']:+8.3f}  {one['column']}, {side} {label}")
