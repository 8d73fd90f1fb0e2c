"""The page Plane: points to drag, up to three models, their boundaries and numbers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import InputError, SeparatrixError
from separatrix.teach.lab import shown_models
from separatrix.teach.lab.pages import PageLink
from separatrix.teach.lab.points import PRESETS, checked, points, spelled
from separatrix.teach.lab.recorder import Asked, Axis, Options, Plan, dragged_row, grid
from separatrix.teach.lab.requests import Payload, is_whole, text

# The most models whose regions are shown at once.
MOST_MODELS = 3
# The height of the picture by its width, as in static/plane.js.
HEIGHT_BY_WIDTH = 542 / 872
# What can be shown and hidden in a recording, and what only if its lines are straight: curves take too many bytes.
SHOWN, SHOWN_IF_STRAIGHT = ("mistakes", "distance", "normal", "margin", "losses"), "probability"


def start(payload: Payload) -> Mapping[str, Any]:
    """The points that the text of a link describes: their places and classes, and the row to drag."""
    spec = text(payload, "points")
    X, y = points(spec)
    preset = spec.partition(";")[0]
    drag = PRESETS[preset].drag if preset in PRESETS else None
    given = _index(payload, "drag", len(X))
    return {"X": X, "y": y, "preset": preset, "drag": drag if given is None else given}


def fit(payload: Payload) -> Mapping[str, Any]:
    """Fit the chosen models to the points, and describe what the page draws and prints of them."""
    X, y = checked(payload.get("X"), payload.get("y"))
    box, given = shown_models.box_of(payload), _models(payload)
    spec = spelled(X, y, payload.get("preset"))
    focus = _index(payload, "focus", len(given))
    found = [_fitted(one, X, y, box, payload, k == focus) for k, one in enumerate(given)]
    focused = None if focus is None else found[focus][1]
    return {
        "points": spec,
        "models": [described for described, _ in found],
        "regions": [] if focused is None else shown_models.drawn_regions(focused, box),
        "python": python_lines(
            spec, [shown_models.chosen(one) for one, (_, model) in zip(given, found, strict=True) if model]
        ),
    }


def _index(payload: Payload, name: str, count: int) -> int | None:
    """The number of a row or a model, from 0 to ``count`` - 1; None if the payload has no such number."""
    value = payload.get(name)
    return value if is_whole(value) and 0 <= value < count else None


def _models(payload: Payload) -> list[Any]:
    given = payload.get("models")
    if not isinstance(given, list) or len(given) > MOST_MODELS:
        raise InputError("models", "it is not a list, or too long", f"give at most {MOST_MODELS} models")
    return given


def _fitted(
    asked: Any, X: Array, y: Integers, box: shown_models.Box, payload: Payload, focused: bool
) -> tuple[dict[str, Any], Any]:
    """What the page shows of a model, and the model; None if it could not be fitted, with the reason to show.

    Losses and lines of equal probability are those of the model whose regions are shown.
    """
    begun = time.thread_time()
    try:
        model = shown_models.fitted(shown_models.chosen(asked), X, y)
    except SeparatrixError as error:
        return {"error": str(error)}, None
    seconds = time.thread_time() - begun
    row = _index(payload, "row", len(y))
    described = {
        **shown_models.numbers(model, X, y),
        "lines": [shown_models.places(line) for line in shown_models.boundaries(model, box)],
        "margins": [shown_models.places(line) for line in shown_models.margins(model, box)],
        "probabilities": shown_models.probability_lines(model, box) if focused and payload.get("probability") else [],
        "normal": _normal(model),
        "card": None if row is None else shown_models.card(model, X[row], int(y[row])),
        "losses": shown_models.losses(model, X, y) if focused and payload.get("losses") else None,
        "milliseconds": 1e3 * seconds,
    }
    return described, model


def _normal(model: Any) -> Array | None:
    """(b, w₁, w₂) of a model with one linear score."""
    W = getattr(getattr(model, "scorer_", None), "W", None)
    return W[0] if W is not None and np.shape(W) == (1, 3) else None


def python_lines(spec: str, asked: list[shown_models.Chosen]) -> str:
    """The lines that fit the same models in Python."""
    lines = ["import separatrix as sx", "", f"X, y = sx.lab.points({_quoted(spec)})"]
    names = ["model"] if len(asked) == 1 else [f"model_{k}" for k in range(1, len(asked) + 1)]
    return "\n".join([*lines, *(f"{name} = {one.python()}.fit(X, y)" for name, one in zip(names, asked, strict=True))])


def _quoted(spec: str) -> str:
    return '"' + spec.replace("\\", "\\\\").replace('"', '\\"') + '"'


def recorded(link: PageLink, options: Options) -> Plan:
    """One point can be dragged over a grid of places."""
    models, spec = link.models("least-squares,logistic", MOST_MODELS, others=("f",)), link.points("outlier")
    focus = int(link.number("f", 0, 0, len(models) - 1))
    begun = start({"points": spec})
    X, y = begun["X"], begun["y"]
    row = dragged_row(options, begun["drag"] or 0, len(X))
    box = shown_models.framed(X, HEIGHT_BY_WIDTH)
    xs, ys = grid(box, options.places, including=X[row].tolist())
    payload = {"X": X.tolist(), "y": y.tolist(), "preset": begun["preset"], "models": models, "box": list(box)}
    payload |= {"focus": focus, "row": row, "losses": True, "probability": True}
    lines = fit(payload)["models"][focus].get("probabilities", [])
    payload["probability"] = straight = all(len(one["line"]) == 2 for one in lines)
    fits = Asked("fit", payload, (Axis(("X", row, 0), xs), Axis(("X", row, 1), ys)))
    shown = (*SHOWN, *([SHOWN_IF_STRAIGHT] if straight else []))
    return Plan(
        (Asked("start", {"points": spec, "drag": row}), fits),
        f"Row {row}, inside the dotted circle, can be dragged; all else stays as it is.",
        controls=("button[aria-label=Undo]", *(f"[data-show={name}]" for name in shown)),
        row=row,
        grid=(xs, ys),
        dropped=frozenset({"milliseconds"}),
    )


REQUESTS = {"start": start, "fit": fit}
