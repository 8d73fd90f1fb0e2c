"""The picture of a table and its model in a plane: rows, regions and boundaries.

All places are in coordinates of the picture, which is ``aspect`` wide and 1 high, so that both axes may have any unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import InputError
from separatrix.diagnostics.chosen_plane import ModelInPlane, column_plane, fisher_plane
from separatrix.diagnostics.view_plane import Plane, plane_of, sampled_rows
from separatrix.evaluation.held_out_fit import HeldOutFit
from separatrix.lab.drawing import boundaries, drawn_regions, places
from separatrix.lab.request_registry import Payload, got, number
from separatrix.table import Table

# The most rows that are drawn: beyond it they cover each other, and the browser takes long.
MOST_DRAWN_POINTS = 5000
# The marks of classes that the front end has; further classes use them again.
MARKS = 6
# The empty border of the picture, as a share of the extent of the rows.
BORDER = 0.06
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


def _counted(n: int, wrong: int, n_classes: int) -> str:
    """How many rows the model gets wrong, and how many of all are drawn."""
    again = f" Classes after the first {MARKS} use their marks again." if n_classes > MARKS else ""
    some = f" A random sample of {MOST_DRAWN_POINTS:,} rows is drawn." if n > MOST_DRAWN_POINTS else ""
    return f"The model gets {wrong:,} of all {n:,} rows wrong, fitted and held out; they are ringed.{some}{again}"
