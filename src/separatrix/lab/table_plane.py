"""The picture of a table and its model in a plane: rows one by one or counted in hexagons, regions and boundaries.

All places are in coordinates of the picture, which is ``aspect`` wide and 1 high, so that both axes may have any unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import InputError
from separatrix.diagnostics.chosen_plane import ModelInPlane, boundary_plane, column_plane, fisher_plane
from separatrix.diagnostics.hexagons import cells
from separatrix.diagnostics.view_plane import Plane
from separatrix.evaluation.held_out_fit import HeldOutFit
from separatrix.lab.drawing import boundaries, drawn_regions, places
from separatrix.lab.request_registry import Payload, got, number
from separatrix.table import Table

# The most rows that are drawn one by one: beyond it they cover each other, and the browser takes long.
MOST_DRAWN_POINTS = 5000
# The marks of classes that the front end has; further classes use them again.
MARKS = 6
# The empty border of the picture, as a share of the extent of the rows.
BORDER = 0.06
# The opacity of a hexagon whose most frequent class has no more rows than the others.
PALEST = 0.25
VIEWS = ("boundary", "fisher", "columns")


def picture(fit: HeldOutFit, payload: Payload) -> Mapping[str, Any]:
    """What the page draws of a fit, in the plane that the payload chooses."""
    aspect, table = number(payload, "aspect", 0.2, 5.0), fit.table
    plane = _plane(fit, payload)
    U = plane.place(table.X)
    corner, extent = _box(U)
    V = (U - corner) / extent * [aspect, 1.0]
    inside = ModelInPlane(fit.model, plane, corner, extent / [aspect, 1.0])
    box = (0.0, aspect, 0.0, 1.0)
    wrong = np.asarray(fit.model.predict(table.X) != fit.classes[fit.codes])
    few, K = len(V) <= MOST_DRAWN_POINTS, len(fit.classes)
    rows = _points(V, fit.codes, wrong) if few else _cells(V, fit.codes, wrong, K, aspect)
    marked = drawn_regions(inside, box)
    return {
        "names": plane.names,
        "says": f"{_says(plane, payload.get('view') == 'columns')} {_counted(len(V), int(wrong.sum()), K)}",
        "box": [corner[0], corner[0] + extent[0], corner[1], corner[1] + extent[1]],
        "aspect": aspect,
        "regions": [{**one, "k": one["k"] % MARKS} for one in marked],
        "lines": [places(line) for line in boundaries(inside, box)],
        **rows,
    }


def _plane(fit: HeldOutFit, payload: Payload) -> Plane:
    view = payload.get("view")
    if view == "boundary":
        return boundary_plane(fit.model, fit.table)
    if view == "fisher":
        return fisher_plane(fit.table)
    if view == "columns":
        return column_plane(fit.table, *_columns(fit.table, payload))
    raise InputError("view", got(view), f"give one of {', '.join(VIEWS)}")


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


def _points(V: Array, codes: Integers, wrong: AnyArray) -> dict[str, Any]:
    return {"X": places(V), "y": codes % MARKS, "mistakes": np.flatnonzero(wrong)}


def _cells(V: Array, codes: Integers, wrong: AnyArray, n_classes: int, aspect: float) -> dict[str, Any]:
    """The hexagons, in the colour of the most frequent class; the smaller its share is, the paler."""
    found = cells(V, codes, wrong, n_classes, (0.0, aspect, 0.0, 1.0), aspect)
    most = found.counts.argmax(axis=1)
    share = found.counts.max(axis=1) / found.counts.sum(axis=1)
    opacity = PALEST + (1 - PALEST) * (share - 1 / n_classes) / (1 - 1 / n_classes)
    radius = found.radius * found.unit[0] / np.sqrt(3.0)
    drawn = zip(places(found.centre), radius, most % MARKS, opacity, found.mostly_wrong, strict=True)
    names = ("at", "radius", "k", "opacity", "wrong")
    return {"cells": [dict(zip(names, (at, round(r, 5), k, round(o, 2), w), strict=True)) for at, r, k, o, w in drawn]}


def _counted(n: int, wrong: int, n_classes: int) -> str:
    """How many rows the model gets wrong, and how the picture shows rows."""
    again = f" Classes after the first {MARKS} use their marks again." if n_classes > MARKS else ""
    told = f"The model gets {wrong:,} of all {n:,} rows wrong, fitted and held out"
    if n <= MOST_DRAWN_POINTS:
        return f"{told}; they are ringed.{again}"
    return (
        f"{told}. Each hexagon has the colour of its most frequent class, paler if that class has a smaller share, and "
        f"its area is its number of rows. Those with an edge in ink hold mostly mistakes.{again}"
    )
