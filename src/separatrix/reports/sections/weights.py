"""The section on the weights: what each column does to the scores."""

from __future__ import annotations

import numpy as np

from separatrix.base.theme import told_apart
from separatrix.diagnostics import Coefficients
from separatrix.plots import CoefficientDisplay
from separatrix.reports.figures import figure
from separatrix.reports.page import Html, Section, block, mark, pair, paragraph, table, text
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.wording import interval, signed

# The most classes side by side in a table of coefficients.
MOST_COEFFICIENT_CLASSES = 5


def columns(subject: ReportedModel) -> Section:
    found = subject.coefficients
    if isinstance(found, str):
        return _section(paragraph(f"Left out: {found}."))
    shown = CoefficientDisplay(found)
    zero = int(np.sum(np.all(found.value == 0, axis=0)))
    parts = [f"The {len(shown.shown)} largest of {len(found.names)} columns" if len(found.names) > 1 else "The column"]
    parts += ["per step of a column: one standard deviation, or from 0 to 1", found.says]
    parts += [f"{zero} columns have a weight of exactly zero"] if zero else []
    parts += [told] if (told := told_apart(len(found.classes))) else []
    picture = figure(shown, "fig-columns", "; ".join(parts) + ".")
    if len(found.classes) > MOST_COEFFICIENT_CLASSES:
        return _section(pair(picture, block(_extremes(found, shown.shown.tolist()))))
    what = found.ratio or "weight"
    one = len(found.classes) == 1
    units = ["weight", found.odds] if found.odds else ["weight"]
    heads = ["column", "step", *([what] if one else map(str, found.classes))]
    heads += [f"{unit} per unit" for unit in units] if one else []
    rows = [
        [found.name_of(j), found.step_of(j), *(_effect(found, k, j) for k in range(len(found.classes)))]
        + (_per_unit(found, j) if one else [])
        for j in shown.shown.tolist()
    ]
    return _section(pair(picture, block(table(heads, rows))))


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
        values = [weight, float(np.exp(weight))] if found.odds else [weight]
    return ["none" if np.isnan(v) else f"{v:.4g}".replace("-", "\N{MINUS SIGN}") for v in values]


def _section(body: str) -> Section:
    return Section("columns", "Columns", "Weights", "what each column does to the scores", body)


def _effect(found: Coefficients, k: int, j: int) -> str:
    """One cell: the value, or its ratio, with its interval if there is one."""
    with np.errstate(over="ignore"):
        values = [float(a[k, j]) for a in (found.value, found.low, found.high)]
        at, low, high = (float(np.exp(v)) if found.ratio else v for v in values)
    if np.isnan(at):
        return "none"
    shown = f"{at:.3g}" if np.isnan(low) or np.isnan(high) else f"{at:.3g} ({low:.3g} to {high:.3g})"
    return interval(shown.replace("-", "\N{MINUS SIGN}"))  # Lines do not break after a minus sign.
