"""The section on the distributions by class of the columns that matter."""

from __future__ import annotations

import numpy as np

from separatrix.diagnostics.distributions import column_of
from separatrix.plots import DistributionDisplay
from separatrix.plots.distributions import MOST_DISTRIBUTIONS_DRAWN, MOST_HISTOGRAMS
from separatrix.reports.formatting import number
from separatrix.reports.page import Section, details, named_class, table
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.row_values import in_units
from separatrix.reports.svg_markup import figure


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
    return Section("distributions", "Columns", "Distributions", "the columns that matter, by class", body)
