"""The section on the decision regions, in the plane that shows the classes best."""

from __future__ import annotations

import numpy as np

from separatrix.diagnostics.view_plane import plane_of
from separatrix.plots import DecisionRegionsDisplay
from separatrix.reports.formatting import signed
from separatrix.reports.page import Section, block, facts, pair, paragraph
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.svg_markup import figure

# The columns that are named for each axis.
MOST_COLUMNS_OF_AXIS = 4


def decision(subject: ReportedModel) -> Section:
    # The plane is chosen by the rows of the fit, so that new rows are not separated by the choice.
    plane = plane_of(subject.model, subject.X, subject.y, names=subject.names, scaling=subject.scaling)
    shown = DecisionRegionsDisplay.of(subject.model, *subject.judged_rows, names=subject.names, plane=plane)
    caption = f"Rows by their true class, mistakes ringed; {shown.says}."
    told = [
        "The background shows the predicted class; points show the true class by colour and shape.",
        "A ring marks a mistake: a row in the region of another class."
        if plane.exact
        else "A ring marks a mistake. Rows differ in more directions than are shown, so some lie in another region.",
        "Boundaries are exact polygons." if shown.regions is not None else "Boundaries are contours of the scores.",
    ]
    words = block(*map(paragraph, told), _axes(subject, shown) if len(plane.origin) > 2 else "")
    gloss = "where the model decides for which class"
    return Section("regions", "Columns", "Decision regions", gloss, pair(figure(shown, "fig-regions", caption), words))


def _axes(subject: ReportedModel, shown: DecisionRegionsDisplay) -> str:
    """The columns that each axis consists of, with their coordinates in the direction."""
    plane, pairs = shown.plane, []
    for name, direction in zip(plane.names, plane.B.T, strict=True):
        largest = np.argsort(-np.abs(direction), kind="stable")[:MOST_COLUMNS_OF_AXIS].tolist()
        parts = [f"{subject.names[j]}\N{NO-BREAK SPACE}{signed(float(direction[j]), '.2f')}" for j in largest]
        pairs.append((name, ", ".join(parts)))
    return paragraph("The axes consist mostly of these columns, in standard deviations:", "aside") + facts(pairs)
