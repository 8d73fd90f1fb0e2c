"""The page Your data: a table is checked, a model fitted to it and drawn, classifiers compared, files made.

A table is read, divided and encoded as ``separatrix fit`` does it, so both give the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.classifiers.model_file import ModelFile, to_bytes
from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.base.messages import brief, many
from separatrix.statistics.checks import check as find_problems
from separatrix.statistics.comparison import Comparison, Standing, compare_table
from separatrix.statistics.held_out_fit import HeldOutFit, fit_held_out
from separatrix.statistics.view_plane import ModelInPlane, Plane, column_plane, fisher_plane, plane_of, sampled_rows
from separatrix.tables.encoder import MISSING
from separatrix.tables.formats.demos import DEMO, DEMOS
from separatrix.tables.formats.opening import open_source
from separatrix.tables.read_table import RawTable, Table, read_raw
from separatrix.teach.lab.requests import Payload, got, number, on_page
from separatrix.teach.lab.shown_models import Chosen, boundaries, chosen, drawn_regions, places, verdict
from separatrix.teach.lab.uploaded_tables import TABLES, Made, OpenTable

# --- Tables and fits

# A table of a million rows and 20 columns takes 160 MB as numbers, and its fit as much again.
MOST_READ, MOST_FITTED = 2, 2
# The seed of the split and of classifiers that draw random numbers, as in ``separatrix fit``.
SEED = 0


@dataclass(frozen=True)
class TableChoice:
    """A table with its target, the columns that are left out, and what is done with missing values."""

    table: OpenTable
    target: str
    drop: tuple[str, ...] = ()
    missing: str = "error"

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of ``read_raw`` that differ from their defaults."""
        drop = {"drop": list(self.drop)} if self.drop else {}
        return {"target": self.target, **drop, **({} if self.missing == "error" else {"missing": self.missing})}


@dataclass(frozen=True)
class FitRequest:
    """A fit that a page asks for. Two are equal if the reading, the model and its settings are."""

    reading: TableChoice
    key: str
    model: Chosen = field(compare=False)
    standardise: bool = False


def table_of(payload: Payload) -> OpenTable:
    """The table of a payload."""
    found = TABLES.get(payload.get("table"))
    if found is None:
        raise InputError("table", "the server does not have it, or no longer", "give the file again")
    return found


def reading_of(payload: Payload) -> TableChoice:
    """How the table of a payload is read."""
    target, drop, missing = payload.get("target"), payload.get("drop", []), payload.get("missing", "error")
    if not isinstance(target, str):
        raise ParameterError("target", "it is not given", "choose the column to predict")
    if not isinstance(drop, list) or not all(isinstance(name, str) for name in drop):
        raise ParameterError("drop", "it is not a list of names", "give the columns to leave out")
    if missing not in MISSING:
        raise ParameterError("missing", got(missing), f"give one of {', '.join(MISSING)}")
    return TableChoice(table_of(payload), target, tuple(drop), missing)


def fit_of(payload: Payload) -> FitRequest:
    """The fit that a payload asks for."""
    model = chosen(payload.get("model"))
    return FitRequest(reading_of(payload), repr(model), model, bool(payload.get("standardise")))


@lru_cache(maxsize=MOST_READ)
def read(asked: TableChoice) -> RawTable:
    """The rows with their labels, before the encoding is learned."""
    return read_raw(asked.table.data, **asked.arguments)


@lru_cache(maxsize=MOST_FITTED)
def fitted(asked: FitRequest) -> HeldOutFit:
    """The fit to three quarters of the rows of each class."""
    model = asked.model.estimator(SEED)
    return fit_held_out(read(asked.reading), model, standardise=asked.standardise, seed=SEED)


def python_lines(asked: FitRequest, linear: bool) -> str:
    """The lines that read the same table, and give the same fit and the same accuracy."""
    how = {**asked.reading.arguments, **({"standardise": True} if asked.standardise else {})}
    target, more = how.pop("target"), "".join(f", {name}={value!r}" for name, value in how.items())
    lines = [
        "import separatrix as sx",
        "",
        f"fit = sx.fit_table({asked.model.python(SEED)}, {asked.reading.table.name!r}, {target!r}{more})",
        "print(fit.accuracy)",
        *(["print(fit.model.intercept_, fit.model.coef_)"] if linear else []),
    ]
    return "\n".join(lines)


def held_out_facts(fit: HeldOutFit) -> tuple[list[tuple[str, str]], str]:
    """The numbers of the held-out rows, each with its name, and a sentence to compare them with."""
    found = fit.performance
    if found is None:
        return [], "No row could be held out, since no class has enough rows."
    interval = found.accuracy_interval
    facts = [
        ("held-out accuracy", _percent(found.accuracy)),
        ("95 % interval", f"{100 * interval.low:.1f}–{_percent(interval.high)}"),
        ("wrong", f"{found.n_rows - found.n_right:,} of {found.n_rows:,}"),
    ]
    guess = f"Always the most frequent class: {_percent(found.null_accuracy)}."
    return facts, f"{guess} Fitted to the other {len(fit.codes) - found.n_rows:,} rows."


def _percent(share: float) -> str:
    """A share in per cent.

    >>> _percent(0.6742)
    '67.4 %'
    """
    return f"{100 * share:.1f} %"


# --- The picture

# The most rows that are drawn: beyond it they cover each other, and the browser takes long.
MOST_DRAWN_POINTS = 5000
# The marks of classes that the front end has; further classes use them again.
MARKS = 6
# The empty border of the picture, as a share of the extent of the rows.
BORDER = 0.06


def picture(fit: HeldOutFit, payload: Payload) -> Mapping[str, Any]:
    """What the page draws of a fit, in the plane that the payload chooses.

    All places are in coordinates of the picture, which is ``aspect`` wide and 1 high, so that both axes may have any
    unit.
    """
    aspect, table = number(payload, "aspect", 0.2, 5.0), fit.table
    plane = _plane(fit, payload)
    U = plane.place(table.X)
    corner, extent = _box(U)
    V = (U - corner) / extent * [aspect, 1.0]
    inside = ModelInPlane(fit.model, plane, corner, extent / [aspect, 1.0])
    box = (0.0, aspect, 0.0, 1.0)
    wrong = np.asarray(fit.model.predict(table.X) != fit.classes[fit.codes])
    drawn = sampled_rows(len(V), MOST_DRAWN_POINTS)
    marked = drawn_regions(inside, box)
    counted = _counted(len(V), int(wrong.sum()), len(fit.classes))
    return {
        "names": plane.names,
        "says": f"{_says(plane, payload.get('view') == 'columns')} {counted}",
        "box": [corner[0], corner[0] + extent[0], corner[1], corner[1] + extent[1]],
        "aspect": aspect,
        "regions": [{**one, "k": one["k"] % MARKS} for one in marked],
        "lines": [places(line) for line in boundaries(inside, box)],
        "X": places(V[drawn]),
        "y": fit.codes[drawn] % MARKS,
        "mistakes": np.flatnonzero(wrong[drawn]),
    }


def _plane(fit: HeldOutFit, payload: Payload) -> Plane:
    view, table = payload.get("view"), fit.table
    if view == "boundary":
        return plane_of(fit.model, table.X, table.y, names=list(table.names), scaling=table.scaling)
    if view == "fisher":
        return fisher_plane(table)
    if view == "columns":
        return column_plane(table, *_columns(table, payload))
    raise InputError("view", got(view), "give one of boundary, fisher, columns")


def _columns(table: Table, payload: Payload) -> tuple[int, int]:
    """The two columns that are drawn; by default, and if they are the same, the first ones."""
    known = {name: j for j, name in enumerate(table.names)}
    first = known.get(str(payload.get("first")), 0)
    second = known.get(str(payload.get("second")), 1 % len(known))
    return first, second if second != first else (first + 1) % len(known)


def _says(plane: Plane, of_columns: bool) -> str:
    """What the picture shows, in a sentence."""
    told = f"{plane.says[:1].upper()}{plane.says[1:]}."
    if len(plane.origin) == 1:
        return f"{told} The height of a row is random, so that rows do not cover each other."
    if plane.exact:
        return f"{told} Every row lies in the region of its predicted class."
    if of_columns:
        return f"{told} A row may be predicted otherwise than drawn."
    return f"{told} The regions are those of the points of this plane, so a row may be predicted otherwise than drawn."


def _box(U: Array) -> tuple[Array, Array]:
    """The lower left corner of the picture, and its extent."""
    low, high = U.min(axis=0), U.max(axis=0)
    size = np.where(high > low, high - low, np.maximum(1.0, np.abs(high)))
    return low - BORDER * size - np.where(high > low, 0.0, 0.5 * size), size * (1 + 2 * BORDER)


def _counted(n: int, wrong: int, n_classes: int) -> str:
    """How many rows the model gets wrong, and how many of all are drawn."""
    again = f" Classes after the first {MARKS} use their marks again." if n_classes > MARKS else ""
    some = f" A random sample of {MOST_DRAWN_POINTS:,} rows is drawn." if n > MOST_DRAWN_POINTS else ""
    return f"The model gets {wrong:,} of all {n:,} rows wrong, fitted and held out; they are ringed.{some}{again}"


# --- The requests

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
    found = find_problems(asked.table.data, **asked.arguments)
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
    from separatrix.output.report.assemble import data_checks, held_out_report

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
