"""The page Your data: a table is checked, a model fitted to it and drawn, classifiers compared, files made."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.base.errors import InputError
from separatrix.base.messages import brief
from separatrix.checks import check_table
from separatrix.evaluation.comparison import compare_table
from separatrix.evaluation.standings import Standing
from separatrix.lab.certificates import verdict
from separatrix.lab.request_registry import Payload
from separatrix.lab.table_fits import fit_of, fitted, held_out_numbers, python_lines, read, reading_of, table_of
from separatrix.lab.table_plane import MARKS, picture
from separatrix.lab.tables import TABLES, Made, OpenTable
from separatrix.model_file import ModelFile, to_bytes
from separatrix.table import open_source
from separatrix.table.formats import DEMO, DEMOS

# The most columns and classes that the page lists.
MOST_LISTED = 300
# The report has no scripts. The browser does not run any, and treats the page as one of another origin.
REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


def start(payload: Payload) -> Mapping[str, Any]:
    """The names of the demo tables, and the columns of the table if the server has it; None if it does not."""
    found = TABLES.get(payload.get("table"))
    return {"demos": list(DEMOS), "table": None if found is None else _described(found)}


def demo(payload: Payload) -> Mapping[str, Any]:
    """Open a demo table."""
    name = payload.get("name")
    if not isinstance(name, str) or name not in DEMOS:
        raise InputError("name", f"got {name!r}", f"choose one of {', '.join(DEMOS)}")
    return _described(TABLES.add(DEMO + name, DEMO + name))


def columns(payload: Payload) -> Mapping[str, Any]:
    """The columns of a table."""
    return _described(table_of(payload))


def _described(table: OpenTable) -> dict[str, Any]:
    with table.named():
        source = open_source(table.data)
    names, notes = source.names[:MOST_LISTED], [str(note) for note in source.notes]
    target = table.target if table.target is not None else source.target
    return {
        "id": table.id,
        "name": table.name,
        "columns": names,
        "all": len(source.names),
        "target": target,
        "notes": notes,
    }


def check(payload: Payload) -> Mapping[str, Any]:
    """The findings about the table, worst first."""
    asked = reading_of(payload)
    with asked.table.named():
        found = check_table(asked.table.data, **asked.arguments)
    told = [{"severity": one.severity, "title": one.title, "text": str(one.told)} for one in found]
    return {"findings": told, "rows": found.n_rows, "columns": found.n_columns}


def fit(payload: Payload) -> Mapping[str, Any]:
    """Fit the model as ``separatrix fit`` does, and measure it on the rows held out."""
    asked, begun = fit_of(payload), time.thread_time()
    found = fitted(asked)
    seconds, every = time.thread_time() - begun, np.ones_like(found.held)
    table, coef = found.table, getattr(found.model, "coef_", None)
    pairs = list(zip(map(str, found.classes.tolist()), found.counts(every), strict=True))[:MOST_LISTED]
    return {
        "rows": len(found.codes),
        "fitted": int((~found.held).sum()),
        "columns": table.names[:MOST_LISTED],
        "encoded": len(table.names),
        "classes": [
            {"label": str(label), "rows": n, "k": k % MARKS} for k, (label, n) in enumerate(pairs[:MOST_LISTED])
        ],
        "held_out": held_out_numbers(found),
        "verdict": verdict(found.model.certificate_),
        "notes": [str(note) for note in table.notes],
        "python": python_lines(asked, coef is not None),
        "seconds": seconds,
    }


def plane(payload: Payload) -> Mapping[str, Any]:
    """The picture of the fit in the plane that is chosen."""
    return picture(fitted(fit_of(payload)), payload)


def compare(payload: Payload) -> Mapping[str, Any]:
    """Cross-validate every classifier on the same five folds."""
    found = compare_table(read(reading_of(payload)))
    shown = [one for one in found.standings if one.fitted]
    refused = [{"name": one.name, "reason": brief(one.reason)} for one in found.standings if one.reason is not None]
    rows = [_row(one, one is found.chosen, one is found.baseline) for one in shown]
    return {"folds": found.n_folds, "rows": rows, "refused": refused, "why": str(found.why)}


def _row(one: Standing, chosen: bool, baseline: bool) -> dict[str, Any]:
    return {
        "name": one.name,
        "standardised": one.standardised,
        "accuracy": one.accuracy.mean,
        "error": one.accuracy.error,
        "log_loss": None if one.log_loss is None else one.log_loss.mean,
        "met": None if baseline else one.n_met,
        "chosen": chosen,
    }


def report(payload: Payload) -> Mapping[str, Any]:
    """Make the report on the fit, to be opened as a page of its own."""
    from separatrix.reports import data_checks
    from separatrix.reports.held_out_report import held_out_report

    asked = fit_of(payload)
    found, missing = fitted(asked), read(asked.reading).holes
    notes = [str(note) for note in found.table.notes]
    page = held_out_report(found, data_checks(found.table, missing), missing, notes)
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return {"address": TABLES.make(Made(page.encode(), "report.html", "text/html", headers))}


def model(payload: Payload) -> Mapping[str, Any]:
    """Write the model of the fit as a file for download."""
    found = fitted(fit_of(payload))
    table, numbers = found.table, held_out_numbers(found) or {}
    training = found.training() | {f"held_out_{key}": numbers[key] for key in ("accuracy",) if key in numbers}
    content = to_bytes(ModelFile.of(found.model, table.names, table.target, training, table.encoder, table.scaling))
    name = f"{_file_name(table.source)}-model.json"
    headers = {"Content-Disposition": "attachment"}
    return {"address": TABLES.make(Made(content, name, "application/json", headers)), "name": name}


def _file_name(source: str) -> str:
    """The table's name without its extension, with marks that no file system takes apart.

    >>> _file_name("people.csv.gz"), _file_name("demo:iris")
    ('people', 'iris')
    """
    plain = Path(source.removeprefix(DEMO)).name.partition(".")[0]
    return "".join(mark if mark.isalnum() or mark in " -_" else "_" for mark in plain) or "table"


REQUESTS = {
    "start": start,
    "demo": demo,
    "columns": columns,
    "check": check,
    "fit": fit,
    "plane": plane,
    "compare": compare,
    "report": report,
    "model": model,
}
