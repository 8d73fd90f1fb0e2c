"""The page Your data: a table is checked, a model fitted to it and drawn, classifiers compared, files made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from separatrix import checks
from separatrix.base.errors import InputError
from separatrix.base.messages import brief
from separatrix.base.number_text import many
from separatrix.evaluation.comparison import compare_table
from separatrix.evaluation.comparison_result import Comparison
from separatrix.evaluation.held_out_fit import HeldOutFit
from separatrix.evaluation.standings import Standing
from separatrix.lab.certificates import verdict
from separatrix.lab.request_registry import Payload, got
from separatrix.lab.table_fits import fit_of, fitted, held_out_facts, python_lines, read, reading_of, table_of
from separatrix.lab.table_plane import MARKS, picture
from separatrix.lab.tables import TABLES, Made, OpenTable
from separatrix.lab.wording import on_page
from separatrix.model_file import ModelFile, to_bytes
from separatrix.table import open_source
from separatrix.table.formats import DEMO, DEMOS

# The most columns that the page lists, and the most classes in the legend.
MOST_LISTED, MOST_CLASSES = 300, 20
# The report has no scripts. The browser does not run any, and treats the page as one of another origin.
REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


def demo(payload: Payload) -> Mapping[str, Any]:
    """Open a demo table."""
    name = payload.get("name")
    if not isinstance(name, str) or name not in DEMOS:
        raise InputError("name", got(name), f"choose one of {', '.join(DEMOS)}")
    return _described(TABLES.add(DEMO + name, DEMO + name))


def columns(payload: Payload) -> Mapping[str, Any]:
    """The columns of a table."""
    return _described(table_of(payload))


def _described(table: OpenTable) -> dict[str, Any]:
    source = open_source(table.data)
    n, notes = len(source.names), [on_page(note) for note in source.notes]
    if n > MOST_LISTED:
        notes.append(f"The page lists the first {MOST_LISTED} of its {n:,} columns.")
    target = table.target if table.target is not None else source.target
    known = {"id": table.id, "name": table.name, "target": target, "size": many(n, "column"), "notes": notes}
    return {**known, "columns": source.names[:MOST_LISTED]}


def check(payload: Payload) -> Mapping[str, Any]:
    """The findings about the table, worst first."""
    asked = reading_of(payload)
    found = checks.check(asked.table.data, **asked.arguments)
    told = [{"severity": one.severity, "title": one.title, "text": on_page(one.told)} for one in found]
    fine = [one for one in told if one["severity"] == "ok"]
    nothing = [{"severity": "ok", "title": "Nothing to worry about was found.", "text": ""}]
    return {"told": [one for one in told if one["severity"] != "ok"] or nothing, "fine": fine}


def fit(payload: Payload) -> Mapping[str, Any]:
    """Fit the model as ``separatrix fit`` does, and measure it on the rows held out."""
    asked = fit_of(payload)
    found = fitted(asked)
    table, raw = found.table, read(asked.reading)
    p, d = len(raw.names if raw.columns is None else raw.columns), len(table.names)
    size = f"{many(len(found.codes), 'row')}, {many(p, 'column')} to learn from"
    facts, beside = held_out_facts(found)
    return {
        "size": size if p == d else f"{size}, {d:,} after encoding",
        "columns": table.names[:MOST_LISTED],
        "classes": _legend(found),
        "facts": facts,
        "beside": beside,
        "verdict": verdict(found.model.certificate_),
        "notes": [on_page(note) for note in table.notes],
        "python": python_lines(asked, getattr(found.model, "coef_", None) is not None),
    }


def _legend(fit: HeldOutFit) -> list[dict[str, Any]]:
    """The classes with their marks and numbers of rows."""
    counts, labels = fit.counts(np.ones_like(fit.held)), fit.classes.tolist()
    shown = [
        {"k": k % MARKS, "text": f"{label} ({n:,})"} for k, (label, n) in enumerate(zip(labels, counts, strict=True))
    ]
    more = {"k": None, "text": f"and {len(shown) - MOST_CLASSES} more classes"}
    return shown if len(shown) <= MOST_CLASSES else [*shown[:MOST_CLASSES], more]


def plane(payload: Payload) -> Mapping[str, Any]:
    """The picture of the fit in the plane that is chosen."""
    return picture(fitted(fit_of(payload)), payload)


def compare(payload: Payload) -> Mapping[str, Any]:
    """Cross-validate every classifier on the same five folds."""
    found = compare_table(read(reading_of(payload)))
    shown = [one for one in found.standings if one.fitted]
    reasons: dict[str, dict[str, None]] = {}  # A scheme of several base models is named once.
    for one in found.standings:
        if one.reason is not None:
            reasons.setdefault(on_page(brief(one.reason)), {})[one.name.partition(",")[0]] = None
    notes = [str(found.why), *(["* on standardised columns"] if any(one.standardised for one in shown) else [])]
    return {
        "title": f"Comparison over {found.n_folds} folds",
        "head": ["classifier", "accuracy", "log loss", "proven"],
        "rows": [_row(one, found) for one in shown],
        "notes": [*notes, *(f"Left out, {reason}: {', '.join(names)}" for reason, names in reasons.items())],
    }


def _row(one: Standing, found: Comparison) -> dict[str, Any]:
    """The figures of one classifier."""
    accuracy, loss = one.accuracy, one.log_loss
    proven = "" if one is found.baseline else f"{one.n_met}/{found.n_folds}"
    figures = [f"{accuracy.mean:.4f} ± {accuracy.error:.4f}", "–" if loss is None else f"{loss.mean:.4f}", proven]
    chosen = one is found.chosen
    return {
        "name": one.name,
        "cells": [f"{'→ ' * chosen}{one.name}{' *' * one.standardised}", *figures],
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
    table = found.table
    content = to_bytes(
        ModelFile.of(found.model, table.names, table.target, found.training(), table.encoder, table.scaling)
    )
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
    "demo": demo,
    "columns": columns,
    "check": check,
    "fit": fit,
    "plane": plane,
    "compare": compare,
    "report": report,
    "model": model,
}
