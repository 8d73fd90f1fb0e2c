"""Sections on the columns that matter: their distributions by class, and their correlations."""

from __future__ import annotations

import numpy as np

from separatrix.base.arrays import Array
from separatrix.diagnostics.distributions import column_of
from separatrix.plots import DistributionDisplay
from separatrix.plots.distributions import MOST_DISTRIBUTIONS_DRAWN, MOST_HISTOGRAMS
from separatrix.reports.formatting import number, some
from separatrix.reports.page import Html, Section, details, named_class, paragraph, table, text
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.row_values import in_units
from separatrix.reports.svg_markup import figure

GROUP = "Columns"
# The most rows from which correlations are computed.
MOST_CORRELATED_ROWS = 50_000
# Columns with a larger correlation than this, in absolute value, share one effect.
STRONG_CORRELATION = 0.8
# The opacity of a cell with a correlation of ±1.
LARGEST_OPACITY_PERCENT = 40


def distributions(subject: ReportedModel) -> Section | None:
    chosen = subject.important[:MOST_DISTRIBUTIONS_DRAWN]
    if not len(chosen):
        return None
    classes = subject.own.classes
    V = np.column_stack([column_of(subject.scored, j) for j in chosen.tolist()])
    names = [subject.names[j] for j in chosen.tolist()]
    V = in_units(V, subject.scaling, chosen.tolist())
    shown = DistributionDisplay.of(V, subject.own.codes, classes, names, np.arange(len(chosen)))
    which = "largest weights" if not isinstance(subject.coefficients, str) else "largest differences of class means"
    how = f"The {len(chosen)} columns with the {which}" if len(chosen) > 1 else "The column that matters most"
    what = "the share of each class's rows in each bin"
    if len(shown.shown) > MOST_HISTOGRAMS:
        what = "the 5 % to 95 % quantiles of each class, broad between the quartiles, with the median"
    caption = f"{how}: {what}, over the rows of the fit."
    left = len(classes) - len(shown.shown)
    caption += f" {left} classes with the fewest rows are left out." if left else ""
    heads = ["column", *(named_class(k, classes.tolist()[k]) for k in shown.shown.tolist())]
    rows = [[one.name, *(number(one.median[k]) for k in shown.shown.tolist())] for one in shown.found]
    body = figure(shown, "fig-distributions", caption) + details("The medians in a table", table(heads, rows))
    return Section("distributions", GROUP, "Distributions", "the columns that matter, by class", body)


def correlation(subject: ReportedModel) -> Section | None:
    chosen = subject.important
    if len(chosen) < 2:
        return None
    R = correlations(subject, chosen.tolist())
    names = [subject.names[j] for j in chosen.tolist()]
    rows = [[f"{i + 1}. {name}", *(_cell(R[i, j], i == j) for j in range(len(R)))] for i, name in enumerate(names)]
    heads = ["", *(str(j + 1) for j in range(len(R)))]
    pairs = sorted(
        ((abs(R[i, j]), i, j) for i in range(len(R)) for j in range(i) if abs(R[i, j]) > STRONG_CORRELATION),
        reverse=True,
    )
    strong = [f"{names[j]} and {names[i]} ({R[i, j]:.2f})".replace("-", "\N{MINUS SIGN}") for _, i, j in pairs]
    said = f"No two of these columns have a correlation beyond ±{STRONG_CORRELATION:g}."
    if strong:
        said = (
            f"Beyond ±{STRONG_CORRELATION:g}: {some(strong)}. Such columns share one effect, so read their weights "
            "together, not one by one."
        )
    body = paragraph(said) + table(heads, rows, kind="heat")
    return Section("correlation", GROUP, "Correlation", "which of these columns say the same", body)


def correlations(subject: ReportedModel, chosen: list[int]) -> Array:
    """The correlation matrix of some columns over the rows of the fit, or over a sample of them."""
    X = subject.scored
    if X.shape[0] > MOST_CORRELATED_ROWS:
        X = X[np.sort(np.random.default_rng(0).choice(X.shape[0], MOST_CORRELATED_ROWS, replace=False))]
    V = np.column_stack([column_of(X, j) for j in chosen])
    V = V - V.mean(axis=0)
    length = np.linalg.norm(V, axis=0)
    V = V / np.where(length > 0, length, 1.0)
    return np.asarray(V.T @ V)


def _cell(r: float, own: bool) -> Html:
    """A correlation on a ground of ink that is as strong as the correlation."""
    shown = "1" if own else f"{round(r, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")
    share = f"color-mix(in srgb, var(--ink) {LARGEST_OPACITY_PERCENT * abs(r):.0f}%, transparent)"
    return Html(f'<span style="display:block;padding:2px 4px;background:{share}">{text(shown)}</span>')
