"""The page Plane: points to drag, up to three models, their boundaries and numbers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import InputError, SeparatrixError
from separatrix.lab.card import card, losses
from separatrix.lab.drawing import Box, boundaries, box_of, drawn_regions, margins, places, probability_lines
from separatrix.lab.fits import fitted, numbers
from separatrix.lab.models import Chosen, chosen
from separatrix.lab.points import checked, points, spelled
from separatrix.lab.presets import PRESETS
from separatrix.lab.request_registry import Payload, text

MOST_MODELS = 3


def start(payload: Payload) -> Mapping[str, Any]:
    """The points that a text names, as in a link: their places and classes, and the row to drag."""
    spec = text(payload, "points")
    X, y = points(spec)
    preset = spec.partition(";")[0]
    return {"X": X, "y": y, "preset": preset, "drag": PRESETS[preset].drag if preset in PRESETS else None}


def fit(payload: Payload) -> Mapping[str, Any]:
    """Fit the chosen models to the points, and describe what the page draws and prints of them."""
    X, y = checked(payload.get("X"), payload.get("y"))
    box, given = box_of(payload), _models(payload)
    preset = payload.get("preset")
    spec = spelled(X, y, preset if isinstance(preset, str) else None)
    found = [_fitted(one, X, y, box, payload) for one in given]
    focus = payload.get("focus")
    focused = found[focus][1] if isinstance(focus, int) and 0 <= focus < len(found) else None
    return {
        "points": spec,
        "models": [described for described, _ in found],
        "regions": [] if focused is None else drawn_regions(focused, box),
        "python": python_lines(spec, [chosen(one) for one, (_, model) in zip(given, found, strict=True) if model]),
    }


def _models(payload: Payload) -> list[Any]:
    given = payload.get("models")
    if not isinstance(given, list) or len(given) > MOST_MODELS:
        raise InputError("models", "it is not a list, or too long", f"give at most {MOST_MODELS} models")
    return given


def _fitted(asked: Any, X: Array, y: Integers, box: Box, payload: Payload) -> tuple[dict[str, Any], Any]:
    """What the page shows of a model, and the model; None if it could not be fitted, with the reason to show."""
    begun = time.thread_time()
    try:
        model = fitted(chosen(asked), X, y)
    except SeparatrixError as error:
        return {"error": str(error)}, None
    seconds = time.thread_time() - begun
    row = payload.get("row")
    is_row = isinstance(row, int) and 0 <= row < len(y)
    described = {
        **numbers(model, X, y),
        "lines": [places(line) for line in boundaries(model, box)],
        "margins": [places(line) for line in margins(model, box)],
        "probabilities": probability_lines(model, box) if payload.get("probability") else [],
        "normal": _normal(model),
        "card": card(model, X[row], int(y[row])) if is_row else None,
        "losses": losses(model, X, y) if payload.get("losses") else None,
        "milliseconds": 1e3 * seconds,
    }
    return described, model


def _normal(model: Any) -> Array | None:
    """(b, w₁, w₂) of a model with one linear score."""
    W = getattr(getattr(model, "scorer_", None), "W", None)
    return W[0] if W is not None and np.shape(W) == (1, 3) else None


def python_lines(spec: str, asked: list[Chosen]) -> str:
    """The lines that fit the same models in Python."""
    lines = ["import separatrix as sx", "", f"X, y = sx.lab.points({_quoted(spec)})"]
    names = ["model"] if len(asked) == 1 else [f"model_{k}" for k in range(1, len(asked) + 1)]
    return "\n".join([*lines, *(f"{name} = {one.python()}.fit(X, y)" for name, one in zip(names, asked, strict=True))])


def _quoted(spec: str) -> str:
    return '"' + spec.replace("\\", "\\\\").replace('"', '\\"') + '"'


REQUESTS = {"start": start, "fit": fit}
