"""The output of a fit: data, certificate, measures on held-out rows or by cross-validation, largest weights.

``FitOutput`` prints it for people, and makes the content of --json and what a model file stores about the fit. Its rows
are a ``MemorySplit`` or a ``StreamedSplit``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.classifiers.model_file import Statistics
from separatrix.cli import terminal
from separatrix.cli.classifier_options import model_sentence
from separatrix.cli.measures_output import Measures
from separatrix.cli.terminal import in_shell
from separatrix.cli.weight_lines import NO_VALUE, show_no_hyperplane, show_statistics
from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.codec import plain
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import brief, number_text, ratio_text
from separatrix.core.base.watching import part
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.hold_out import HeldOut, stratified_folds
from separatrix.core.scorer import Scorer
from separatrix.statistics.comparison import BASELINE, Standing
from separatrix.statistics.comparison_trials import Trial, guessed, measured
from separatrix.statistics.held_out_fit import training_facts
from separatrix.statistics.weights_and_odds_ratios import WeightTable, weight_table
from separatrix.tables.formats.opening import STDIN
from separatrix.tables.read_table import Table

if TYPE_CHECKING:
    from separatrix.core.rows.labelled_table import OutsideMemory

# The output lists at most this many weights, classes, notes and categories, to fit on a screen.
MOST_WEIGHTS_SHOWN, MOST_CLASSES_SHOWN, MOST_NOTES_SHOWN, MOST_CATEGORIES_SHOWN = 5, 20, 6, 8


@dataclass(frozen=True)
class FitOutput:
    """A fitted model and its table. ``split``: the rows that were fitted and those held out, by the ``rule``."""

    table: Table
    name: str
    model: Any
    split: MemorySplit | StreamedSplit
    rule: HeldOut
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
        kept = training_facts(self.table.source, self.counts, self.split.fitted_counts, self.rule)
        if self.measures is not None:
            figures = {key: value for key, value in self.measures.as_dict().items() if key not in ("rows", "level")}
            kept |= {f"held_out_{key}": value for key, value in figures.items()}
        if self.validation is not None:
            kept |= {f"validated_{key}": value for key, value in self.validation.as_dict().items()}
        return kept

    def as_dict(self) -> dict[str, Any]:
        """The whole output, for --json."""
        pairs = zip(self.classes, self.counts, strict=True)
        linear, found = getattr(self.model, "coef_", None) is not None, self.weights
        per_unit = None if found is None else {"intercept": found.per_unit[:, 0], "coef": found.per_unit[:, 1:]}
        return {
            "data": {
                "source": self.table.source,
                "rows": self.n_rows,
                "rows_in_source": self.table.n_rows,
                "columns": list(self.table.names),
                "target": self.table.target,
                "classes": [{"label": label, "rows": count} for label, count in pairs],
                "encoder": plain(self.table.encoder),
                "scaling": plain(self.table.scaling),
                "notes": self.notes,
            },
            "split": {
                "rows_fitted": self.n_fitted,
                "rows_held_out": self.n_held,
                "test_size": self.rule.share,
                "seed": self.rule.seed,
            },
            "classifier": self.name,
            "settings": {key: _named(value) for key, value in self.model.get_params().items()},
            "certificate": {**self.model.certificate_.to_dict(), "status": in_shell(self.model.certificate_.status)},
            "held_out": None if self.measures is None else self.measures.as_dict(),
            "cross_validation": None if self.validation is None else self.validation.as_dict(),
            "weights": {"intercept": self.model.intercept_, "coef": self.model.coef_} if linear else None,
            "weights_per_unit": per_unit,
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

    def show_written(self, out: str, data: str, marks: list[str]) -> None:
        """Print where the model was written, and a command to try next. ``marks`` are options of the text file."""
        words = ["show", out] if data == STDIN else ["predict", out, data, *marks]
        terminal.say()
        terminal.line("written", f"{out}; next, try")
        command = terminal.command_line(["separatrix", *words])
        terminal.say(" " * terminal.LABEL_WIDTH + command)  # Not wrapped, so it can be copied.

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
            how = f"stratified by class, by a hash of the row number, seed {self.rule.seed}; --test-size 0 fits all"
            return f"{counts} ({how})"
        why = ": too few rows to hold any out" if self.rule.share > 0 else ", none held out"
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


# --- The rows, fitted and held out


@dataclass(frozen=True, eq=False)
class MemorySplit:
    """Rows X in memory with class numbers ``codes`` (n,); ``held`` (n,) marks those held out."""

    X: Any
    classes: AnyArray
    codes: Integers
    held: Any

    @cached_property
    def counts(self) -> list[int]:
        return [int(count) for count in np.bincount(self.codes)]

    @cached_property
    def fitted_counts(self) -> list[int]:
        """The number of fitted rows of each class."""
        return [int(count) for count in np.bincount(self.codes[~self.held], minlength=len(self.classes))]

    def deviations(self) -> Array:
        """The standard deviation of each column over the fitted rows."""
        return deviations(self.X[~self.held])

    def rows(self, which: Any) -> tuple[Any, Any]:
        """X and the labels of some rows."""
        return self.X[which], self.classes[self.codes[which]]

    def measures(self, model: Any) -> Measures | None:
        """The measures on the held-out rows; None if there are none."""
        return Measures(model, *self.rows(self.held), self.fitted_counts) if self.held.any() else None


@dataclass(frozen=True, eq=False)
class StreamedSplit:
    """Rows outside memory. ``held`` is None if none is held out. ``kept`` (K,): the rows of each label, in both."""

    fitted: OutsideMemory
    held: OutsideMemory | None
    kept: Integers

    @property
    def fitted_counts(self) -> list[int]:
        """The number of fitted rows of each class."""
        return [int(count) for count in self.fitted.totals.rows]

    @property
    def counts(self) -> list[int]:
        return [int(count) for count in self.kept if count]

    def deviations(self) -> Array:
        """The standard deviation of each column over the fitted rows, in one pass."""
        from separatrix.core.rows.column_statistics import summarise
        from separatrix.core.rows.targets import CLASS_NUMBERS

        return summarise(self.fitted.rows(CLASS_NUMBERS), ranges=False).std

    def measures(self, model: Any) -> Measures | None:
        """The measures on the held-out rows, in one pass; None if there are none."""
        return None if self.held is None else Measures(model, self.held, None, self.fitted_counts)


def deviations(X: Any) -> Array:
    """The standard deviation of each column of dense or sparse rows.

    >>> deviations(np.array([[0.0, 1.0], [2.0, 1.0]])).tolist()
    [1.0, 0.0]
    >>> deviations(np.array([[-1e300], [1e300]])).tolist()
    [1e+300]
    """
    if not is_sparse(X):
        with np.errstate(over="ignore", invalid="ignore"):
            std = np.asarray(X.std(axis=0))
        overflowed = np.flatnonzero(~np.isfinite(std))
        if len(overflowed):  # The squares of huge numbers overflow; dividing by a power of two is exact.
            std[overflowed] = np.ldexp(np.ldexp(X[:, overflowed], -1000).std(axis=0), 1000)
        return std
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(squares - mean**2, 0.0)))


# --- Cross-validation


@dataclass(frozen=True)
class CrossValidation:
    """The figures of a classifier over the folds, and those of always predicting the most frequent class.

    The measures, means and standard errors are those of ``compare``. There all fits run at once, one in each thread;
    here one fit after the other uses all threads, and its progress is shown.
    """

    standing: Standing
    baseline: Standing
    seed: int

    @property
    def n_folds(self) -> int:
        return len(self.standing.trials)

    @property
    def unmet(self) -> int:
        """The number of fits that did not meet their stopping rule."""
        return self.n_folds - self.standing.n_met

    def as_dict(self) -> dict[str, Any]:
        """Means, standard errors, and the figures of each fold."""
        figures: dict[str, Any] = {"folds": self.n_folds, "seed": self.seed, "unmet_fits": self.unmet}
        for name, figure in (("accuracy", self.standing.accuracy), ("log_loss", self.standing.log_loss)):
            if figure is not None:
                figures |= {name: figure.mean, f"{name}_error": figure.error, f"{name}_by_fold": list(figure.by_fold)}
        return figures | {"null_accuracy": self.baseline.accuracy.mean}

    @property
    def sentence(self) -> str:
        """The accuracy and the folds, in one sentence."""
        accuracy = self.standing.accuracy
        always = f"always the majority: {terminal.share(self.baseline.accuracy.mean)}"
        drawn = f"{self.n_folds} folds (stratified by class, seed {self.seed})"
        return f"accuracy {accuracy.mean:.3f} ± {accuracy.error:.3f} ({always}), over {drawn}"

    def show(self) -> None:
        """Print the figures for people."""
        terminal.line("validated", self.sentence)
        if self.standing.log_loss is not None:
            terminal.line("", f"log loss {self.standing.log_loss} nats per row; ± is the standard error")
        if self.unmet:
            terminal.line("", f"{self.unmet} of the {self.n_folds} fits did not meet their stopping rule")


def cross_validate(
    made: Callable[[], Any],
    coded: Callable[[AnyArray], Table],
    codes: Integers,
    rows: Integers,
    classes: Any,
    n_folds: int,
    seed: int,
) -> CrossValidation:
    """Fit a new model of ``made`` for each fold, on all other folds.

    ``coded`` returns the whole table with the encoding learned from a mask of training rows. ``rows``: the numbers of
    the rows in the table, from 0.
    """
    counts = np.bincount(codes)
    if counts.min() < 2:
        problem = f"class {classes.tolist()[int(np.argmin(counts))]!r} has only one row"
        raise ParameterError("--cv", problem, "leave that class out, or leave --cv out")
    if n_folds > len(codes):
        raise ParameterError("--cv", f"got {n_folds} for {len(codes)} rows", "give fewer folds than rows")
    fold, labels = stratified_folds(codes, rows, n_folds, seed), classes[codes]
    trials, guesses = list[Trial](), list[Trial]()
    for k in range(n_folds):
        held = fold == k
        with part("fold", k + 1, n_folds), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Failed fits are counted.
            X = coded(~held).X
            model = made().fit(X[~held], labels[~held])
        trials.append(measured(model, X[held], labels[held], np.flatnonzero(~held)))
        guesses.append(guessed(codes, held, len(classes)))
    by_fold = tuple(codes[fold == k] for k in range(n_folds))
    standing = Standing(type(model).__name__, tuple(trials), by_fold, classes)
    return CrossValidation(standing, Standing(BASELINE, tuple(guesses), by_fold, classes), seed)
