"""Print the weights of a linear model: per unit, per standard deviation, as odds ratios, and with standard errors.

A category has a line for its reference level, which has no weight: the weights of its other levels are differences from
it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from separatrix.cli import terminal
from separatrix.cli.terminal import item
from separatrix.core.base.errors import printable
from separatrix.core.base.messages import number_text, ratio_text
from separatrix.statistics.intervals import chi_squared_tail

if TYPE_CHECKING:
    from separatrix.classifiers.model_file import Statistics
    from separatrix.core.base.arrays import Array
    from separatrix.statistics.weights_and_odds_ratios import WeightTable
    from separatrix.tables.encoder import Encoder

REFERENCE = "reference"
# What stands in a cell without a value.
NO_VALUE = "–"
# A p-value below this is printed as a bound, as in R.
SMALLEST_P = 1e-16


def show_no_hyperplane(code: str) -> None:
    """Print a warning before weights that do not separate the classes, though the classifier looks for such weights."""
    if code == "inseparable":
        told = "no hyperplane separates the classes; the status says what the weights below are"
        terminal.line("note", told, "yellow")


def show_weights(found: WeightTable, encoder: Encoder | None) -> None:
    """Print all weights."""
    (_show_one_score if len(found.per_unit) == 1 else _show_scores)(found, _WeightLines(found.names, encoder))


class _WeightLines:
    """The lines of a table: one for each weight, and one before each category for its reference level."""

    def __init__(self, names: Sequence[str], encoder: Encoder | None) -> None:
        self.places: list[int | None] = [0] if names[0] else []  # A fit without an intercept has no name for it.
        self.names: list[str] = [printable(names[0])] if names[0] else []
        for name, column in _columns(names[1:], encoder):
            self.places.append(column)
            self.names.append(printable(name))

    def show(self, heads: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
        """Print columns of cells, (columns, 1 + d)."""
        blank = [REFERENCE, *[""] * (len(heads) - 1)]
        rows = [blank if j is None else [column[j] for column in cells] for j in self.places]
        terminal.table(self.names, heads, rows)


def _columns(names: Sequence[str], encoder: Encoder | None) -> Iterator[tuple[str, int | None]]:
    """The names of the lines after the intercept, with the places of their weights; None for a reference level."""
    if encoder is None:
        yield from ((name, j) for j, name in enumerate(names, 1))
        return
    j = 1
    for column in encoder.columns:
        if column.kind == "category":
            yield f"{column.name}={column.levels[0]}", None
        for k, name in enumerate(column.names):
            if column.text is None or k >= column.values:  # ``show_words`` prints the n-grams of a text.
                yield name, j
            j += 1


def _show_one_score(found: WeightTable, lines: _WeightLines) -> None:
    label, other = printable(str(found.classes[0])), printable(str(found.baseline))
    heads, cells = ["per unit"], [_numbers(found.per_unit[0])]
    said = f"the score, positive for {label}" if found.ratio is None else f"the log odds of {label} against {other}"
    if found.ratio == "hazard ratio":
        said = f"the log hazard of {label}"
    parts = [f"of {said}; per unit of a column"]
    if found.ratio:
        heads, cells = [*heads, found.ratio], [*cells, _ratio_cells(found.ratios(found.per_unit)[0])]
    if found.per_deviation is not None:
        heads, cells = [*heads, "per SD"], [*cells, _numbers(found.per_deviation[0])]
        parts.append("per standard deviation (SD) of a number")
        if found.ratio:
            heads = [*heads, f"{found.ratio} per SD"]
            cells.append(_ratio_cells(found.ratios(found.per_deviation)[0]))
    terminal.line("weights", _told(parts, found))
    lines.show(heads, cells)


def _show_scores(found: WeightTable, lines: _WeightLines) -> None:
    """A table for each unit: the weights of each class's score, then the ratios against the baseline."""
    labels = [printable(str(label)) for label in found.classes]
    terminal.line("weights", _told(["of each class's score, per unit of a column; the largest score wins"], found))
    lines.show(labels, [_numbers(row) for row in found.per_unit])
    if found.per_deviation is not None:
        terminal.say()
        terminal.line("", "the same per standard deviation (SD) of a number")
        lines.show(labels, [_numbers(row) for row in found.per_deviation])
    if found.ratio is None:
        return
    heads, against = [printable(str(label)) for label in found.ratio_classes], item(str(found.baseline))
    for unit, weights in (("unit", found.per_unit), ("standard deviation (SD)", found.per_deviation)):
        if weights is not None:
            terminal.say()
            terminal.line(
                f"{found.ratio.partition(' ')[0]}", f"{found.ratio}s per {unit}, of each class against {against}"
            )
            lines.show(heads, [_ratio_cells(row) for row in found.ratios(weights)])


def _told(parts: list[str], found: WeightTable) -> str:
    more = ["a level of a category is compared with its reference"] if found.references else []
    return "; ".join([*parts, *more])


def _numbers(values: Array) -> list[str]:
    return [_number(float(value)) for value in values]


def _ratio_cells(values: Array) -> list[str]:
    return [NO_VALUE if math.isnan(value) else ratio_text(value) for value in values.tolist()]


def _number(value: float, digits: int = 4) -> str:
    """A number, or a dash for NaN.

    >>> _number(1.25), _number(math.nan)
    ('1.25', '–')
    """
    return NO_VALUE if math.isnan(value) else number_text(value, digits)


# --- Standard errors


def show_statistics(found: Statistics, encoder: Encoder | None) -> None:
    """Print standard errors, tests and intervals, or why there are none."""
    if found.withheld is not None:
        terminal.line("stats", f"none: {found.withheld}")
        return
    kind = {"wald": "Wald", "profile": "profile-likelihood"}[found.intervals]
    robust = "" if found.covariance == "classical" else f", robust standard errors ({found.covariance})"
    level = f"{100 * found.level:g} % {kind} intervals"
    terminal.line("stats", f"of {terminal.count(found.rows, 'row')} fitted, per unit of a column; {level}{robust}")
    statistic = found.lr_statistic
    if math.isfinite(statistic):
        own, null = (number_text(value, 6) for value in (found.log_likelihood, found.null_log_likelihood))
        p = _p(chi_squared_tail(statistic, found.lr_df))
        compared = f"likelihood ratio {number_text(statistic)} on {found.lr_df} df, p {p}"
        terminal.line("", f"log-likelihood {own}; null model {null}; {compared}")
    for k, label in enumerate(found.labels):
        terminal.say()
        odds = "log odds of " if found.ratio == "odds ratio" else ""
        terminal.line("", f"{odds}{item(label)} against {item(found.reference)}")
        _show_coefficients(found, k, encoder)
    for j, note in enumerate(found.notes):
        terminal.line("" if j else "notes", note)


def _statistics_of(found: Statistics, k: int) -> dict[str, list[str]]:
    """The columns of the coefficients of class k, by their heads. The last one names those that are not estimated."""
    shown = {
        "weight": _numbers(found.coef[k]),
        "std. error": _numbers(found.std_err[k]),
        "z": [_number(float(z), 3) for z in found.z[k]],
        "p": [_p(float(p)) for p in found.p_value[k]],
        "lower": _numbers(found.low[k]),
        "upper": _numbers(found.high[k]),
    }
    m = len(found.terms)
    states = ["" if state == "estimated" else state for state in found.states[k * m : (k + 1) * m]]
    return {**shown, "state": states} if any(states) else shown


def _show_coefficients(found: Statistics, k: int, encoder: Encoder | None) -> None:
    """The coefficients of one class, then their ratios with intervals."""
    has_intercept = found.terms[:1] == ("intercept",)
    lines = _WeightLines(found.terms if has_intercept else ("", *found.terms), encoder)

    def column(values: Any) -> list[str]:
        return values if has_intercept else ["", *values]

    shown = _statistics_of(found, k)
    lines.show(list(shown), [column(one) for one in shown.values()])
    if found.ratio and any(map(math.isfinite, found.low[k])):
        terminal.say()
        ratios = [_ratios(a[k]) for a in (found.coef, found.low, found.high)]
        heads = [found.ratio, "lower", "upper"]
        lines.show(heads, [column([NO_VALUE, *one[1:]] if has_intercept else one) for one in ratios])


def _ratios(values: Array) -> list[str]:
    """The exponentials of coefficients; those past the largest float64 are infinite."""
    import numpy as np

    with np.errstate(over="ignore"):
        return _ratio_cells(np.exp(values))


def _p(value: float) -> str:
    return NO_VALUE if math.isnan(value) else f"<{SMALLEST_P:.0e}" if value < SMALLEST_P else f"{value:.3g}"
