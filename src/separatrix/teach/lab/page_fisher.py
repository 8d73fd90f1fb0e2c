"""The page Fisher: two classes along a direction that can be turned, and J of all directions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.teach.directions import along, criterion_curve
from separatrix.teach.lab.pages import SHARED, PageLink
from separatrix.teach.lab.points import checked, spelled
from separatrix.teach.lab.recorder import Asked, Axis, Options, Plan
from separatrix.teach.lab.requests import Payload, number, start_points
from separatrix.teach.lab.shown_models import box_of, framed, places, segments

# The height of the picture by its width, as in static/fisher.js.
HEIGHT_BY_WIDTH = 440 / 872


def show(payload: Payload) -> Mapping[str, Any]:
    """The histogram along the direction (cos θ, sin θ), its J and thresholds, and J of all directions."""
    X, y = checked(payload.get("X"), payload.get("y"))
    degrees, box = number(payload, "degrees", -360, 720), box_of(payload)
    w = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
    found, curve = along(X, y, w, bins=24), criterion_curve(X, y, 91)
    cuts = [found.midpoint] if payload.get("threshold") == "midpoint" else found.crossings.tolist()
    spec = spelled(X, y, payload.get("preset"))
    return {
        "points": spec,
        "w": w,
        "J": found.J,
        "best": {"J": found.best_J, "degrees": math.degrees(curve.best_angle)},
        "means": {"J": curve.means_J, "degrees": math.degrees(curve.means_angle)},
        "curve": {"degrees": np.degrees(curve.angles), "J": curve.J},
        "midpoint": found.midpoint,
        "crossings": found.crossings,
        "cuts": cuts,
        "lines": [places(line) for line in segments([[-cut, *w] for cut in cuts], box)],
        "wrong": {"midpoint": found.wrong_by_midpoint, "gaussian": found.wrong_by_posterior},
        "edges": found.edges,
        "counts": found.counts,
        "classes": found.classes,
        "python": "\n".join(
            ["import separatrix as sx", "", f'X, y = sx.lab.points("{spec}")', f"print(sx.along(X, y, {w.tolist()}))"]
        ),
    }


def recorded(link: PageLink, options: Options) -> Plan:
    """All directions in whole degrees, the two best ones, and both thresholds."""
    link.allow({*SHARED, "a", "t"} - {"m"})
    spec, degrees = link.points("elongated"), link.number("a", 20, 0, 180)
    begun = start_points({"points": spec})
    payload = {"X": begun["X"].tolist(), "y": begun["y"].tolist(), "preset": begun["preset"], "degrees": degrees}
    payload |= {"box": list(framed(begun["X"], HEIGHT_BY_WIDTH)), "threshold": "gaussian"}
    first = show(payload)
    named = [degrees, *(round(first[name]["degrees"] % 180, 2) for name in ("means", "best"))]
    axes = (
        Axis(("degrees",), tuple(sorted({*map(float, range(180)), *named}))),
        Axis(("threshold",), ("midpoint", "gaussian")),
    )
    sentence = "The direction can be turned, and the threshold chosen; the points stay where they are."
    asked = Asked("start", {"points": spec}), Asked("show", payload, axes)
    return Plan(asked, sentence, controls=(".choices button",))


REQUESTS = {"start": start_points, "show": show}
