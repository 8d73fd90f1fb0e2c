"""The page Losses: losses by their margin, and the boundary that each of them gives to points on a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import InputError, SeparatrixError
from separatrix.core.losses import LOSSES
from separatrix.teach.lab.pages import PageLink, refused
from separatrix.teach.lab.recorder import Asked, Axis, Options, Plan, dragged_row, spread
from separatrix.teach.lab.requests import Payload, got, number
from separatrix.teach.lab.shown_models import Chosen, fitted

# The margins of the graph, from the first to the last, and the number of its points.
FIRST_MARGIN, LAST_MARGIN, POINTS_OF_GRAPH = -3.0, 5.0, 161
# The places on the line, their classes, and the row that the page invites to pull away.
PLACES = (-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 8.0)
CLASSES = (0, 0, 0, 0, 1, 1, 1, 1, 1)
DRAGGED = 8
# What a link shows unless it says otherwise, as in static/losses.js: the losses, the margin, and the ends of the line.
SHOWN, MARGIN_AT_FIRST, LEFT, RIGHT = ("logistic", "squared", "perceptron", "hinge", "zero-one"), 0.5, -6.0, 32.0
# The distance between the recorded places of a point; a quarter is six pixels on a wide screen.
RECORDED_STEP = 0.25
# The classifier that minimises a loss. The others have no classifier of their own.
MINIMISERS = {
    "logistic": Chosen("logistic", {}),
    "probit": Chosen("logistic", {"loss": "probit"}),
    "cloglog": Chosen("logistic", {"loss": "cloglog"}),
    "squared-sigmoid": Chosen("logistic", {"loss": "squared-sigmoid"}),
    "squared": Chosen("least-squares", {}),
    "perceptron": Chosen("perceptron", {}),
    "hinge": Chosen("linear-svc", {"loss": "hinge"}),
    "squared_hinge": Chosen("linear-svc", {}),
}


def names(payload: Payload) -> Mapping[str, Any]:
    """The losses of two classes, and the points to start from."""
    return {"losses": losses_of_two_classes(), "x": PLACES, "y": CLASSES}


def show(payload: Payload) -> Mapping[str, Any]:
    """The curves of the chosen losses, their numbers at a margin, and the boundary that each of them gives."""
    chosen, m, x = _losses(payload), number(payload, "m", FIRST_MARGIN, LAST_MARGIN), _places(payload)
    margins = np.linspace(FIRST_MARGIN, LAST_MARGIN, POINTS_OF_GRAPH)
    return {
        "margins": margins,
        "losses": [{"name": name, **_curve(name, margins, m), **_boundary(name, x)} for name in chosen],
        "python": _python(chosen, m, x),
    }


def losses_of_two_classes() -> list[str]:
    """The names of the losses that take one score."""
    return [name for name, loss in LOSSES.items() if not loss.traits.multiclass]


def _losses(payload: Payload) -> list[str]:
    given, known = payload.get("losses"), losses_of_two_classes()
    if not isinstance(given, list) or not all(one in known for one in given):
        raise InputError("losses", got(given), f"choose among {', '.join(known)}")
    return [name for name in known if name in given]


def _places(payload: Payload) -> Array:
    given = payload.get("x")
    if not isinstance(given, list) or len(given) != len(PLACES):
        raise InputError("x", "it is not a list of places", f"give {len(PLACES)} numbers")
    return np.array([number({"x": one}, "x", LEFT, RIGHT) for one in given])


def _curve(name: str, margins: Array, m: float) -> dict[str, Any]:
    """ℓ(m) over the graph, whether it jumps at 0, and value, slope and curvature at one margin; t = +1, so m = z."""
    loss, at = LOSSES[name], np.array([m])
    t = np.ones(1)
    curvature = float(np.asarray(loss.curvature_product(t, at, t))[0]) if loss.traits.smooth else None
    return {
        "values": np.asarray(loss.value(np.ones(POINTS_OF_GRAPH), margins)),
        "jumps": not loss.traits.continuous,
        "value": float(np.asarray(loss.value(t, at))[0]),
        "slope": float(np.asarray(loss.derivative(t, at))[0]),
        "curvature": curvature,
    }


def _boundary(name: str, x: Array) -> dict[str, Any]:
    """Where the classifier that minimises a loss changes its answer on the line."""
    if name not in MINIMISERS:
        return {"boundary": None}
    try:
        model = fitted(MINIMISERS[name], x[:, None], np.array(CLASSES))
    except SeparatrixError as error:
        return {"boundary": None, "why": str(error)}
    w, level = float(model.coef_[0, 0]), model.scorer_.link.boundary
    wrong = int(np.sum(model.predict(x[:, None]) != CLASSES))
    return {"boundary": (level - float(model.intercept_[0])) / w if w else None, "wrong": wrong}


def _python(chosen: list[str], m: float, x: Array) -> str:
    rows = ", ".join(f"[{one:g}]" for one in x)
    lines = ["import numpy as np", "import separatrix as sx", "", f"X, y = [{rows}], {list(CLASSES)}"]
    for name in chosen:
        lines += ["", f'loss = sx.losses.LOSSES["{name}"]', f"print(loss.value(np.ones(1), np.array([{m:g}])))"]
        if name in MINIMISERS:
            link = LOSSES[name].traits.link
            offset = "model.scorer_.link.boundary - " if link is not None and link.boundary else "-"
            lines.append(f"model = {MINIMISERS[name].python()}.fit(X, y)")
            lines.append(f"print(({offset}model.intercept_) / model.coef_[0])")
    return "\n".join(lines)


def recorded(link: PageLink, options: Options) -> Plan:
    """One point can be pulled along the line."""
    link.allow(("v", "l", "at", "x"))
    losses = link.parameters.get("l", ",".join(SHOWN)).split(",")
    margin, row = (
        link.number("at", MARGIN_AT_FIRST, FIRST_MARGIN, LAST_MARGIN),
        dragged_row(options, DRAGGED, len(PLACES)),
    )
    try:
        x = [float(one) for one in link.parameters["x"].split(",")] if "x" in link.parameters else list(PLACES)
    except ValueError:
        raise refused(
            f"x is {link.parameters['x']!r}", f"give {len(PLACES)} numbers with commas between them"
        ) from None
    payload = {"losses": losses, "m": margin, "x": x}
    show(payload)
    places = spread(LEFT, RIGHT, round((RIGHT - LEFT) / RECORDED_STEP) + 1, including=x[row])
    return Plan(
        (Asked("names", {}), Asked("show", payload, (Axis(("x", row), places),))),
        f"The point at {x[row]:g} can be pulled along the line; all else stays as it is.",
        controls=() if "x" in link.parameters else (".choices button",),
        still=("#stage",),
        row=row,
        grid=(places, (0.0,)),
    )


REQUESTS = {"names": names, "show": show}
