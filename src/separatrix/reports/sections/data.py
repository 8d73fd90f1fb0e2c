"""Sections on the data: missing values and the findings of the data checks."""

from __future__ import annotations

from separatrix.reports.formatting import percent
from separatrix.reports.page import Section, bar, findings, paragraph, table, titled
from separatrix.reports.reported_model import ReportedModel

GROUP = "Data"
# The most columns in the table of missing values.
MOST_MISSING_COLUMNS = 40


def missing(subject: ReportedModel) -> Section | None:
    """The missing values of each column, before they were filled; None if it is not known."""
    title, gloss = "Missing values", "what was not recorded, before it was filled"
    if subject.missing is None:
        return None
    holes = sorted(subject.missing.items(), key=lambda item: -item[1])
    if not holes:
        dropped = subject.encoder is not None and subject.encoder.missing == "drop"
        said = (
            "Rows with a missing value were left out, so none is missing here." if dropped else "No value is missing."
        )
        return Section("missing", GROUP, title, gloss, paragraph(said))
    n = subject.own.n_rows + (subject.judged.n_rows if subject.held_out else 0)
    rows = [[name, f"{count:,}", bar(count / n, percent(count / n))] for name, count in holes[:MOST_MISSING_COLUMNS]]
    left = len(holes) - MOST_MISSING_COLUMNS
    body = table(["column", "missing", "share of rows"], rows)
    body += paragraph(f"{left} more columns lack fewer values.", "aside") if left > 0 else ""
    return Section("missing", GROUP, title, gloss, body)


def checks(subject: ReportedModel) -> Section | None:
    if subject.checks is None:
        return None
    of = paragraph(f"Of {subject.checks_of}.", "aside") if subject.checks_of else ""
    found = [(kind, titled(title, sentence)) for kind, title, sentence in subject.checks]
    body = findings(found) if found else paragraph("Nothing was found.")
    return Section("checks", GROUP, "Data checks", "what the rows themselves look like", of + body)
