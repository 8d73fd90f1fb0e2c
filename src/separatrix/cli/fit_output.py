"""The output of a fit: data, certificate, measures on held-out rows, largest weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.cached import cached_property
from separatrix.base.messages import brief
from separatrix.base.number_text import number_text, ratio_text
from separatrix.cli import terminal
from separatrix.cli.measures_output import Measures
from separatrix.cli.model_description import model_sentence
from separatrix.cli.row_split import MemorySplit, RowSplit
from separatrix.cli.validation import CrossValidation
from separatrix.cli.weight_lines import NO_VALUE, show_no_hyperplane, show_statistics
from separatrix.cli.wording import in_shell
from separatrix.evaluation.held_out_fit import training_facts
from separatrix.model_file.statistics import Statistics
from separatrix.scorers.scorer import Scorer
from separatrix.scorers.weight_table import WeightTable, weight_table
from separatrix.table import Table
from separatrix.table.formats import STDIN

# The output lists at most this many weights, classes, notes and categories, to fit on a screen.
MOST_WEIGHTS_SHOWN, MOST_CLASSES_SHOWN, MOST_NOTES_SHOWN, MOST_CATEGORIES_SHOWN = 5, 20, 6, 8


@dataclass(frozen=True)
class FitOutput:
    """A fitted model and its table. ``split``: the rows that were fitted and those held out."""

    table: Table
    name: str
    model: Any
    split: RowSplit
    test_size: float
    seed: int
    validation: CrossValidation | None = None
    statistics: Statistics | None = None

    @property
    def classes(self) -> list[Any]:
        return self.model.classes_.tolist()  # type: ignore[no-any-return]

    @property
    def memory(self) -> MemorySplit:
        """The rows in memory, for output that needs them there."""
        assert isinstance(self.split, MemorySplit)
        return self.split

    @property
    def notes(self) -> list[str]:
        """The notes on the table, worded for the shell."""
        return [in_shell(note) for note in self.table.notes]

    @property
    def counts(self) -> list[int]:
        """The number of rows of each class."""
        return self.split.counts

    @property
    def n_rows(self) -> int:
        return sum(self.split.counts)

    @property
    def n_fitted(self) -> int:
        return sum(self.split.fitted_counts)

    @property
    def n_held(self) -> int:
        return self.n_rows - self.n_fitted

    @cached_property
    def measures(self) -> Measures | None:
        """The measures on the held-out rows; None if there are none."""
        return self.split.measures(self.model)

    @cached_property
    def weights(self) -> WeightTable | None:
        """The weights in the units of the table; None for a model without weights for each class."""
        scorer = self.model.scorer_of()
        if not isinstance(scorer, Scorer):
            return None
        return weight_table(scorer, self.table.names, self.table.scaling, self.table.encoder)

    @cached_property
    def largest(self) -> list[dict[str, Any]]:
        """The largest weights per standard deviation of their columns; empty for a model without weights other than 0.

        ``weight`` is per standard deviation, ``per_unit`` per unit of the column. The ratio, for two classes alone, is
        per unit.
        """
        coef = getattr(self.model, "coef_", None)
        if coef is None:
            return []
        moves = coef * self.split.deviations()
        order = np.argsort(-np.abs(moves), axis=None, kind="stable")[:MOST_WEIGHTS_SHOWN]
        return [
            self._one_weight(int(k), int(j), moves)
            for k, j in zip(*np.unravel_index(order, moves.shape), strict=True)
            if moves[k, j] != 0
        ]

    def _one_weight(self, k: int, j: int, moves: Array) -> dict[str, Any]:
        label = self.classes[1] if len(moves) == 1 else self.classes[k]
        one = {"column": self.table.names[j], "class": label, "weight": float(moves[k, j])}
        found = self.weights
        if found is None:
            return one
        ratio = float(found.ratios(found.per_unit)[0, 1 + j]) if found.ratio and len(moves) == 1 else None
        more = {"per_unit": float(found.per_unit[k, 1 + j]), "ratio": ratio, "reference": found.compared[j] or None}
        return one | more

    def training(self) -> dict[str, Any]:
        """What the model file stores about the fit: plain values, and no path of this machine."""
        facts = (self.table.source, self.counts, self.split.fitted_counts, self.test_size, self.seed)
        kept: dict[str, Any] = {**training_facts(*facts), **self.split.training}
        if self.measures is not None:
            figures = {key: value for key, value in self.measures.as_dict().items() if key not in ("rows", "level")}
            kept |= {f"held_out_{key}": value for key, value in figures.items()}
        if self.validation is not None:
            kept |= {f"validated_{key}": value for key, value in self.validation.as_dict().items()}
        return kept

    def as_dict(self) -> dict[str, Any]:
        """The whole output, for --json."""
        pairs = zip(self.classes, self.counts, strict=True)
        linear = getattr(self.model, "coef_", None) is not None
        return {
            "data": {
                "source": self.table.source,
                "rows": self.n_rows,
                "rows_in_source": self.table.n_rows,
                "columns": list(self.table.names),
                "target": self.table.target,
                "classes": [{"label": label, "rows": count} for label, count in pairs],
                "encoder": None if self.table.encoder is None else self.table.encoder.plain(),
                "scaling": None if self.table.scaling is None else self.table.scaling.plain(),
                "notes": self.notes,
            },
            "split": {
                "rows_fitted": self.n_fitted,
                "rows_held_out": self.n_held,
                "test_size": self.test_size,
                "seed": self.seed,
            },
            "classifier": self.name,
            "settings": {key: _named(value) for key, value in self.model.get_params().items()},
            "certificate": {**self.model.certificate_.to_dict(), "status": in_shell(self.model.certificate_.status)},
            "held_out": None if self.measures is None else self.measures.as_dict(),
            "cross_validation": None if self.validation is None else self.validation.as_dict(),
            "weights": {"intercept": self.model.intercept_, "coef": self.model.coef_} if linear else None,
            "weights_per_unit": self._per_unit(),
            "largest_weights": self.largest,
            "statistics": None if self.statistics is None else vars(self.statistics),
        }

    def show(self) -> None:
        """Print the output for people."""
        self._show_data()
        terminal.line("split", self._split())
        terminal.line("model", model_sentence(self.name, self.model))
        terminal.say()
        certificate = self.model.certificate_  # --json has the full status, with all directions in which weights grow.
        terminal.certificate(replace(certificate, status=brief(certificate.status)))
        if self.validation is not None:
            terminal.say()
            self.validation.show()
        if self.measures is not None:
            terminal.say()
            self.measures.show("held out")
        if getattr(self.model, "coef_", None) is not None:
            terminal.say()
            self._show_largest()
        if self.statistics is not None:
            terminal.say()
            show_statistics(self.statistics, self.table.encoder)

    def _per_unit(self) -> dict[str, Any] | None:
        found = self.weights
        return None if found is None else {"intercept": found.per_unit[:, 0], "coef": found.per_unit[:, 1:]}

    def show_written(self, out: str, data: str, marks: list[str]) -> None:
        """Print where the model was written, and a command to try next. ``marks`` are options of the text file."""
        words = ["show", out] if data == STDIN else ["predict", out, data, *marks]
        terminal.say()
        terminal.line("written", f"{out}; next, try")
        terminal.say(
            " " * terminal.LABEL_WIDTH + terminal.command_line(["separatrix", *words])
        )  # Not wrapped, so it can be copied.

    def _show_data(self) -> None:
        n, table = self.n_rows, self.table
        d = len(table.names) if table.encoder is None else len(table.encoder.columns)
        rows = terminal.count(n, "row") if n == table.n_rows else f"{n} of {terminal.count(table.n_rows, 'row')}"
        terminal.line("data", f"{table.source}: {rows}, {terminal.count(d, 'column')}; predicting {table.target!r}")
        counts = [terminal.count(int(count), "row") for count in self.counts]
        pairs = [f"{terminal.item(str(label))} ({rows})" for label, rows in zip(self.classes, counts, strict=True)]
        terminal.line("classes", terminal.some(pairs, MOST_CLASSES_SHOWN))
        self._show_categories()
        self._show_words()
        for k, note in enumerate(self.notes[:MOST_NOTES_SHOWN]):
            terminal.line("" if k else "notes", note, "yellow")
        if len(self.notes) > MOST_NOTES_SHOWN:
            terminal.line("", f"and {len(self.notes) - MOST_NOTES_SHOWN} more notes: see --json")

    def _show_categories(self) -> None:
        """The categories with their reference levels."""
        encoder = self.table.encoder
        categories = [] if encoder is None else [column for column in encoder.columns if column.kind == "category"]
        if categories:
            names = [f"{terminal.item(column.name)} ({terminal.item(column.levels[0])})" for column in categories]
            shown = terminal.some(names, MOST_CATEGORIES_SHOWN)
            n_columns = len(self.table.names)
            terminal.line("coding", f"{shown}: each level against the one in brackets, {n_columns} columns in all")

    def _show_words(self) -> None:
        """The columns of free text with the number of their n-grams."""
        encoder = self.table.encoder
        words = [] if encoder is None else [column for column in encoder.columns if column.text is not None]
        if words:
            shown = [f"{terminal.item(column.name)} ({column.text.about})" for column in words if column.text]
            terminal.line("text", terminal.some(shown, MOST_CATEGORIES_SHOWN))

    def _split(self) -> str:
        fitted, held = self.n_fitted, self.n_held
        if held:
            counts = f"{fitted} rows fitted, {held} held out to measure the model"
            return f"{counts} ({self.split.how}, seed {self.seed}; --test-size 0 fits all)"
        why = ": too few rows to hold any out" if self.test_size > 0 else ", none held out"
        return f"all {fitted} rows fitted{why}"

    def _without_deviation(self, columns: list[str]) -> str:
        """Which kinds of columns have no weight per standard deviation, if there are any such columns."""
        encoder = self.table.encoder
        words = () if encoder is None else np.array(self.table.names, dtype=object)[encoder.of_text]
        ngrams = set(words).intersection(columns)
        kinds = ["0/1 columns"] * (len(ngrams) < len(columns)) + ["n-grams"] * bool(ngrams)
        return f"; {' and '.join(kinds)} have none per SD" if kinds else ""

    @property
    def _measured(self) -> set[str]:
        """The columns of X whose weights have a value per standard deviation: all but 0/1 columns."""
        encoder, names = self.table.encoder, self.table.names
        return set(names) if encoder is None else set(np.array(names, dtype=object)[encoder.measured].tolist())

    def _show_largest(self) -> None:
        show_no_hyperplane(self.model.certificate_.code)
        if not self.largest:
            terminal.line("weights", "all are zero: the columns do not change the predictions")
            return
        in_units, ratio = self.weights is not None, self._ratio
        measured = self._measured
        lacking = [one["column"] for one in self.largest if one["column"] not in measured]
        scale = "by weight times standard deviation (SD) of the column over the rows fitted"
        more = "" if ratio is None else f"; {ratio}s are per unit"
        terminal.line("weights", f"the largest, {scale}{self._without_deviation(lacking)}{more}")
        heads = f"{'per SD':>8}" + f"{'per unit':>12}" * in_units + (f"{ratio:>14}" if ratio else "")
        terminal.say(" " * terminal.LABEL_WIDTH + heads, bold=True)
        for one in self.largest:
            numbers = _per_deviation(one["weight"]) if one["column"] in measured else f"{NO_VALUE:>8}"
            if in_units:
                per_unit = ("+" if one["per_unit"] >= 0 else "") + number_text(one["per_unit"])
                numbers += f"{per_unit:>12}"
            numbers += f"{ratio_text(one['ratio']):>14}" if ratio else ""
            terminal.indented(numbers + "  ", self._spoken_for(one))

    @property
    def _ratio(self) -> str | None:
        """What e to the power of a weight is called, such as odds ratio, if it has a meaning."""
        return None if self.weights is None or len(self.classes) != 2 else self.weights.ratio

    def _spoken_for(self, one: dict[str, Any]) -> str:
        """The column of a weight, and the class that it favours or disfavours."""
        side, label = "for" if one["weight"] >= 0 else "against", one["class"]
        if len(self.classes) == 2 and one["weight"] < 0:
            side, label = "for", self.classes[0]
        against = f" (against {terminal.item(one['reference'])})" if one.get("reference") else ""
        return f"{one['column']}{against}, {side} {label}"


def _per_deviation(weight: float) -> str:
    """Three decimals in eight places, or a whole number if that is too wide.

    >>> _per_deviation(-1.5), _per_deviation(123456.0)
    ('  -1.500', '+123,456')
    """
    sign = "+" if weight >= 0 else ""
    return f"{weight:+8.3f}" if abs(weight) < 1000 else f"{sign}{number_text(weight)}".rjust(8)


def _named(value: Any) -> Any:
    """A setting as a plain value; an estimator is given by the name of its class."""
    return type(value).__name__ if hasattr(value, "get_params") else value
