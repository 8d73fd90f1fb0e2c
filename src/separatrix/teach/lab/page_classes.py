"""The page Many classes: two schemes side by side on the same points, and where they are ambiguous."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.classifiers import describe
from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import InputError, SeparatrixError
from separatrix.core.base.messages import many
from separatrix.core.geometry.plane_regions import ambiguous_regions
from separatrix.core.geometry.polygons import Region
from separatrix.teach.lab import shown_models
from separatrix.teach.lab.pages import PageLink, refused
from separatrix.teach.lab.points import checked, spelled
from separatrix.teach.lab.recorder import Asked, Axis, Options, Plan, grid
from separatrix.teach.lab.requests import Payload, number, start_points

# The page shows one versus rest and one versus one.
SCHEMES = 2
# The height of a picture by its width, as in static/classes.js.
HEIGHT_BY_WIDTH = 420 / 600


def fit(payload: Payload) -> Mapping[str, Any]:
    """Fit both schemes, and return their scores at the place under the pointer."""
    X, y = checked(payload.get("X"), payload.get("y"))
    given, box = payload.get("models"), shown_models.box_of(payload)
    if not isinstance(given, list) or len(given) != SCHEMES:
        raise InputError("models", "they are not two", "give two classifiers")
    place = np.array([number(payload, "at1", -1e6, 1e6), number(payload, "at2", -1e6, 1e6)])
    spec, asked = spelled(X, y, payload.get("preset")), [shown_models.chosen(one) for one in given]
    return {
        "points": spec,
        "schemes": [_scheme(one, X, y, box, place) for one in asked],
        "python": _python(spec, asked),
    }


def _scheme(asked: shown_models.Chosen, X: Array, y: Integers, box: shown_models.Box, place: Array) -> dict[str, Any]:
    try:
        model = shown_models.fitted(asked, X, y)
    except SeparatrixError as error:
        return {"error": str(error)}
    unclear = ambiguous_regions(model, box) if _is_scheme(asked, model) else []
    area = (box[1] - box[0]) * (box[3] - box[2])
    return {
        "regions": shown_models.drawn_regions(model, box),
        "lines": [shown_models.places(line) for line in shown_models.boundaries(model, box)],
        "models": [shown_models.places(line) for line in shown_models.segments(model.boundaries(), box)]
        if _is_scheme(asked, model)
        else [],
        "ambiguous": [shown_models.places(one.vertices) for one in unclear],
        "share": sum(one.area for one in unclear) / area if _is_scheme(asked, model) else None,
        "cost": str(model.cost_) if describe(asked.name).parts else None,
        "wrong": np.flatnonzero(model.predict(X) != y),
        "classes": model.classes_,
        "scores": np.ravel(model.decision_function(place[None, :])),
        "predicted": int(model.predict(place[None, :])[0]),
        "question": _in_question(unclear, place),
    }


def _is_scheme(asked: shown_models.Chosen, model: Any) -> bool:
    """Whether the model combines more than one two-class model with a straight boundary."""
    return bool(describe(asked.name).parts) and len(model.classes_) > 2 and hasattr(model.estimators_[0], "coef_")


def _in_question(unclear: list[Region], place: Array) -> list[int] | None:
    """The classes between which a scheme is undecided at a place; None where it is clear."""
    here = next((one for one in unclear if np.all(one.contains(place[None, :]))), None)
    return None if here is None else [int(label) for label in here.labels]


def _python(spec: str, asked: list[shown_models.Chosen]) -> str:
    made = [f"model_{k} = {one.python()}.fit(X, y)" for k, one in enumerate(asked, 1)]
    return "\n".join(["import separatrix as sx", "", f'X, y = sx.lab.points("{spec}")', *made])


def recorded(link: PageLink, options: Options) -> Plan:
    """The pointer can be put anywhere, on a grid of places; the points stay where they are."""
    models, spec = link.models("one-versus-rest,one-versus-one", SCHEMES), link.points("three")
    if len(models) != SCHEMES:
        raise refused(f"it has {many(len(models), 'model')}", f"give {SCHEMES}")
    for one in models:
        one["base"] = one["base"] or next(iter(shown_models.bases(one["name"])), None)
    begun = start_points({"points": spec})
    box = shown_models.framed(begun["X"], HEIGHT_BY_WIDTH)
    middle = [round((box[0] + box[1]) / 2, 2), round((box[2] + box[3]) / 2, 2)]
    xs, ys = grid(box, options.places, including=middle)
    payload = {"X": begun["X"].tolist(), "y": begun["y"].tolist(), "preset": begun["preset"], "models": models}
    payload |= {"box": list(box), "at1": middle[0], "at2": middle[1]}
    asked = Asked("start", {"points": spec}), Asked("fit", payload, (Axis(("at1",), xs), Axis(("at2",), ys)))
    sentence = "The scores follow the pointer; the points and the schemes stay as they are."
    return Plan(asked, sentence, grid=(xs, ys))


REQUESTS = {"start": start_points, "fit": fit}
