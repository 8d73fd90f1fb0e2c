"""The section on the weights: what each column does to the scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.number_text import ratio_text
from separatrix.base.theme import told_apart
from separatrix.diagnostics import Coefficients
from separatrix.plots import CoefficientDisplay
from separatrix.reports.formatting import interval, number, signed, stated
from separatrix.reports.page import Html, Section, block, details, mark, named_class, pair, paragraph, table, text
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.svg_markup import figure
from separatrix.scorers.scorer import Scorer, scores_of
from separatrix.scorers.weight_table import weight_table

# The most classes side by side in a table of coefficients.
MOST_COEFFICIENT_CLASSES = 5


def coefficients(subject: ReportedModel) -> Section:
    found = subject.coefficients
    if isinstance(found, str):
        return _section(paragraph(f"Left out: {found}."))
    shown = CoefficientDisplay(found)
    largest: list[int] = shown.shown.tolist()
    picture = figure(shown, "fig-columns", _caption(found, len(largest)))
    several = len(found.classes) > MOST_COEFFICIENT_CLASSES
    beside = _extremes(found, largest) if several else _effects(found, largest)
    return _section(pair(picture, block(beside)) + _several_per_unit(subject, found, largest))


def _caption(found: Coefficients, n_shown: int) -> str:
    """What the picture of the ``n_shown`` largest columns shows."""
    zero = int(np.sum(np.all(found.value == 0, axis=0)))
    parts = [f"The {n_shown} largest of {len(found.names)} columns" if len(found.names) > 1 else "The column"]
    parts += ["per step of a column: one standard deviation, or from 0 to 1", found.says]
    parts += [f"{zero} columns have a weight of exactly zero"] if zero else []
    parts += [told] if (told := told_apart(len(found.classes))) else []
    return "; ".join(parts) + "."


def _effects(found: Coefficients, columns: list[int]) -> str:
    """The table of the columns' effects on each class; for one score, also per unit."""
    one = len(found.classes) == 1
    units = ["weight", found.odds] if found.odds else ["weight"]
    heads = ["column", "step", *([found.ratio or "weight"] if one else map(str, found.classes))]
    heads += [f"{unit} per unit" for unit in units] if one else []
    rows = [
        [found.name_of(j), found.step_of(j), *(_effect(found, k, j) for k in range(len(found.classes)))]
        + (_per_unit(found, j) if one else [])
        for j in columns
    ]
    return table(heads, rows)


def _several_per_unit(subject: ReportedModel, found: Coefficients, chosen: list[int]) -> str:
    """For more than two classes: the weights per unit of each class's score, and odds ratios against the first class.

    Tables of many classes are folded.
    """
    scorer = scores_of(subject.model)
    if not isinstance(scorer, Scorer) or len(scorer.W) == 1:
        return ""
    known = weight_table(scorer, subject.names, subject.scaling, subject.encoder)
    names = [found.name_of(j) for j in chosen]
    places = [0, *(j + 1 for j in chosen)]
    weights = _by_class(known.per_unit[:, places], ["intercept", *names], known.classes, 0, _number)
    tables = [("Weights per unit of a column", "of each class's score; the largest score wins", weights)]
    if known.ratio is not None:
        against = f"of each class against {known.baseline}, the first class"
        ratios = _by_class(known.ratios(known.per_unit)[:, places[1:]], names, known.ratio_classes, 1, _ratio)
        title = f"{known.ratio[:1].upper()}{known.ratio[1:]}s per unit of a column"
        tables.append((title, against, ratios))
    if len(known.classes) > MOST_COEFFICIENT_CLASSES:
        return "".join(details(f"{title}, {said}", whole) for title, said, whole in tables)
    return pair(
        *(block(f"<h3>{text(title)}</h3>", paragraph(stated(said), "aside"), whole) for title, said, whole in tables)
    )


def _by_class(
    values: Array, names: list[str], classes: tuple[Any, ...], first: int, shown: Callable[[float], str]
) -> str:
    """A table of values (q, m): a line for each name, a column for each class, numbered from ``first`` on."""
    heads = ["column", *(named_class(k + first, label) for k, label in enumerate(classes))]
    return table(heads, [[name, *map(shown, values[:, j].tolist())] for j, name in enumerate(names)])


def _number(value: float) -> str:
    return "none" if np.isnan(value) else number(value)


def _ratio(value: float) -> str:
    return "none" if np.isnan(value) else ratio_text(value)


def _extremes(found: Coefficients, chosen: list[int]) -> str:
    """For many classes, a table of the classes that a column speaks for and against most."""
    rows = []
    for j in chosen:
        value = np.nan_to_num(found.value[:, j])
        ends = [(int(k), f"{found.classes[k]} ({signed(float(value[k]))})") for k in (value.argmax(), value.argmin())]
        rows.append([found.name_of(j), found.step_of(j), *(Html(mark(k) + text(said)) for k, said in ends)])
    return table(["column", "step", "most for", "most against"], rows)


def _per_unit(found: Coefficients, j: int) -> list[str]:
    """The weight per unit of column j, and its ratio, if it has one."""
    weight = float(found.per_unit[0, j])
    with np.errstate(over="ignore"):
        return [_number(weight), *([_ratio(float(np.exp(weight)))] if found.odds else [])]


def _section(body: str) -> Section:
    return Section("columns", "Columns", "Weights", "what each column does to the scores", body)


def _effect(found: Coefficients, k: int, j: int) -> str:
    """One cell: the value, or its ratio, with its interval if there is one."""
    with np.errstate(over="ignore"):
        values = [float(a[k, j]) for a in (found.value, found.low, found.high)]
        at, low, high = (float(np.exp(v)) if found.ratio else v for v in values)
    if np.isnan(at):
        return "none"
    shown = number(at, 3)
    return shown if np.isnan(low) or np.isnan(high) else interval(f"{shown} ({number(low, 3)} to {number(high, 3)})")
