"""The page Weight space: two error surfaces over two of (b, w₁, w₂), and runs that walk downhill on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import InputError, SeparatrixError
from separatrix.geometry import Hyperplane
from separatrix.lab.descents import WITH_ETA, solver_of, suitable
from separatrix.lab.drawing import Box, box_of, drawn_regions, framed, places, segments
from separatrix.lab.page_links import Link, refused
from separatrix.lab.points import checked, of_two_classes, points, spelled
from separatrix.lab.recordings import Asked, Axis, Options, Plan, grid
from separatrix.lab.request_registry import Payload, got, number, text
from separatrix.lab.requests.losses import losses_of_two_classes
from separatrix.lab.surface_bands import drawn_bands, grid_points
from separatrix.lab.weight_state import LARGEST_COEFFICIENT, Choices, controls, joined, opened, weights_of
from separatrix.lab.weight_view import box_around, visible
from separatrix.lab.weight_words import (
    FLAT,
    NAMES,
    plane_label,
    python_lines,
    slope_sentence,
    surface_label,
    walk_lines,
    wrong_rows,
)
from separatrix.losses import LOSSES
from separatrix.textbook.own_weights import objective, problem_of
from separatrix.textbook.surface import error_surface, walk

PRESET = "separable"
# The height of the plane by its width, as in static/weights-plane.js.
HEIGHT_BY_WIDTH = 0.72
# The most steps of a run.
STEPS_OF_RUN = 100
# The most rows whose lines are drawn on a surface that jumps there.
MOST_EDGES = 100


def start(payload: Payload) -> Mapping[str, Any]:
    """The points and the state that a link names, and the losses and methods to choose from."""
    link = payload.get("link")
    found, spec, notice = opened(link if isinstance(link, Mapping) else {}), text(payload, "points"), None
    try:
        X, y = points(spec)
        of_two_classes(y)
    except SeparatrixError as error:
        (X, y), spec, notice = points(PRESET), PRESET, str(error)
    return {
        "X": X,
        "y": y,
        "preset": spec.partition(";")[0],
        "choices": asdict(found.choices),
        "w": found.w,
        "box": found.box,
        "k": found.k,
        "notice": notice,
        "unknown": found.unknown,
        "losses": losses_of_two_classes(),
        "controls": controls(),
        "with_eta": list(WITH_ETA),
    }


def _points(payload: Payload) -> tuple[Array, Integers]:
    X, y = checked(payload.get("X"), payload.get("y"))
    of_two_classes(y)
    return X, y


def surfaces(payload: Payload) -> Mapping[str, Any]:
    """Both surfaces as bands, and the methods that can walk on each."""
    (X, y), chosen, w, box = _points(payload), Choices.of(payload), weights_of(payload), box_of(payload)
    return {"surfaces": [_surface(X, y, loss, chosen, w, box) for loss in chosen.losses]}


def _surface(X: Array, y: Integers, loss: str, chosen: Choices, w: Array, box: Box) -> dict[str, Any]:
    found = error_surface(X, y, loss, box, chosen.axes, w, grid_points(len(X)), C=chosen.strength)
    continuous = LOSSES[loss].traits.continuous
    edges = [] if continuous or len(X) > MOST_EDGES else [places(one) for one in _edges(X, chosen.axes, w, box)]
    problem, _ = problem_of(X, y, loss, chosen.strength)
    return drawn_bands(found, continuous) | {"edges": edges, "methods": suitable(problem)}


def _edges(X: Array, axes: tuple[int, int], w: Array, box: Box) -> list[Array]:
    """The lines in the box on which the score of a row is zero. The 0–1 error jumps there."""
    rows = np.column_stack([np.ones(len(X)), X])
    held = next(iter({0, 1, 2} - set(axes)))
    return segments(np.column_stack([w[held] * rows[:, held], rows[:, axes[0]], rows[:, axes[1]]]).tolist(), box)


def at(payload: Payload) -> Mapping[str, Any]:
    """E and ∇E of both losses at w, the line of w in the plane, the rows on its wrong side, the visible box, the link.

    ``drag`` moves or turns the line first, ``zoom`` multiplies the size of the box, and a box that is None is chosen.
    """
    (X, y), chosen, plane = _points(payload), Choices.of(payload), box_of({"box": payload.get("plane")})
    w = _dragged(weights_of(payload), payload.get("drag"))
    box = visible(X, y, chosen, w, payload)
    classes, turned = np.unique(y), bool(np.any(w[1:]))
    t = np.where(y == classes[1], 1.0, -1.0)
    wrong = np.flatnonzero(LOSSES["zero-one"].value(t, w[0] + X @ w[1:]))
    words = f"{wrong_rows(len(wrong), len(X))}."
    preset = payload.get("preset")
    spec = spelled(X, y, preset if isinstance(preset, str) else None)
    errors = [_error(X, y, loss, chosen, w, wrong) for loss in chosen.losses]
    middle = [(plane[0] + plane[1]) / 2, (plane[2] + plane[3]) / 2]
    return {
        "points": spec,
        "w": w,
        "box": box,
        "errors": errors,
        "facts": _facts(errors),
        "axes": chosen.axes,
        "wrong": wrong,
        "label": plane_label(w, len(X), words),
        "lines": [places(one) for one in segments([w], plane)],
        "foot": Hyperplane(w[1:], w[0]).project([middle])[0] if turned else None,
        "regions": [
            one | {"k": int(classes[one["k"]])} for one in (drawn_regions(w[None, :], plane) if turned else [])
        ],
        "python": _python(payload, spec, chosen, w, box, len(X)),
        "link": _link(payload, chosen, w, box),
    }


def _error(X: Array, y: Integers, loss: str, chosen: Choices, w: Array, wrong: Integers) -> dict[str, Any]:
    """E, ∇E by (b, w₁, w₂), its length, the way downhill along the axes (None if ∇E is zero), and sentences."""
    E = objective(X, y, loss, C=chosen.strength)
    value, gradient = E.value(w), E.gradient(w)
    norm, traits = float(np.linalg.norm(gradient)), LOSSES[loss].traits
    return {
        "value": value,
        "gradient": gradient,
        "norm": norm,
        "downhill": None if norm < FLAT else -gradient[list(chosen.axes)],
        "stuck": norm < FLAT and len(wrong) > 0 and not traits.continuous,
        "says": slope_sentence(norm, len(wrong), len(X), traits),
        "label": surface_label(loss, chosen.axes, w, value, norm, f"{wrong_rows(len(wrong), len(X))}."),
    }


def _facts(errors: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[float]]]:
    """The rows of the table of numbers: a name, and the number of each surface."""
    slopes = [(f"∂E/∂{name}", [float(one["gradient"][j]) for one in errors]) for j, name in enumerate(NAMES)]
    return [("E", [one["value"] for one in errors]), ("‖∇E‖", [one["norm"] for one in errors]), *slopes]


def _dragged(w: Array, drag: Any) -> Array:
    """The weights after the line was dragged: moved to a place, or turned about one until its normal points to it."""
    match drag:
        case None:
            return w
        case {"to": [_, _] as to, "about": None}:
            x, y = _place(to)
            return np.round([-(w[1] * x + w[2] * y), w[1], w[2]], 3)
        case {"to": [_, _] as to, "about": [_, _] as about}:
            (x, y), (x0, y0) = _place(to), _place(about)
            way = np.array([x - x0, y - y0])
            normal = np.round(way * np.linalg.norm(w[1:]) / max(float(np.linalg.norm(way)), 1e-9), 3)
            return np.round([-(normal @ [x0, y0]), *normal], 3)
    raise InputError("drag", got(drag), "give a place, and the place to turn about or None")


def _place(given: list[Any]) -> list[float]:
    """A place in the plane that a line is dragged to, or turned about."""
    return [number({"drag": one}, "drag", -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT) for one in given]


def run(payload: Payload) -> Mapping[str, Any]:
    """The path of a method downhill on one of the surfaces, from w, and the box that shows it.

    A path that diverges is cut where a weight is too large to be drawn.
    """
    (X, y), chosen, w = _points(payload), Choices.of(payload), weights_of(payload)
    box = visible(X, y, chosen, w, payload)
    solver = solver_of(chosen.method, chosen.eta)
    path = walk(X, y, solver, chosen.losses[chosen.on], w, STEPS_OF_RUN, C=chosen.strength)
    beyond = np.flatnonzero(np.abs(path.W).max(axis=1) > LARGEST_COEFFICIENT)
    W = path.W[: beyond[0]] if len(beyond) else path.W
    u, v = W[:, chosen.axes[0]], W[:, chosen.axes[1]]
    inside = np.all((u >= box[0]) & (u <= box[1]) & (v >= box[2]) & (v <= box[3]))
    return {
        "W": W,
        "status": f"{path.status[:1].upper()}{path.status[1:]}.",
        "box": box if inside else box_around(chosen, list(W), least=max(map(abs, box))),
    }


def _python(payload: Payload, spec: str, chosen: Choices, w: Array, box: Box, n: int) -> str:
    """The lines that give the numbers of the page."""
    penalty = "" if chosen.C is None else f", C={chosen.C:g}"
    made, ran = [f"w = {w.tolist()}  # b, w1, w2"], _ran(payload)
    if ran is not None:
        solver, loss = solver_of(chosen.method, chosen.eta), chosen.losses[ran.on]
        made = walk_lines(solver, loss, ran.start, STEPS_OF_RUN, ran.k, penalty)
    return python_lines(spec, chosen.losses, chosen.axes, box, grid_points(n), made, penalty)


def _link(payload: Payload, chosen: Choices, w: Array, box: Box) -> dict[str, Any]:
    """The link of the page: after a run, where it started, on which surface, and the step that is shown."""
    ran = _ran(payload)
    if ran is None:
        return chosen.link() | {"w": joined(tuple(w.tolist())), "b": joined(box)}
    begun = joined(tuple(ran.start.tolist()))
    return replace(chosen, on=ran.on).link() | {"w": begun, "b": joined(box), "k": ran.k}


class _Ran(NamedTuple):
    """A run whose path the page shows: where it started, on which surface, and the step that is shown."""

    start: Array
    on: int
    k: int


def _ran(payload: Payload) -> _Ran | None:
    if payload.get("start") is None:
        return None
    on, k = number(payload, "ran", 0, 1), number(payload, "k", 0, STEPS_OF_RUN)
    return _Ran(weights_of(payload, "start"), int(on), int(k))


def recorded(link: Link, options: Options) -> Plan:
    """w can be dragged over a grid of places; the points and the losses stay as they are."""
    if "k" in link.parameters:
        raise refused("it shows a run", "copy a link before the run")
    spec = link.points(PRESET)
    begun = {"points": spec, "link": dict(link.parameters)}
    first = start(begun)
    if first["unknown"]:
        raise refused(
            f"the page {link.page} does not know {', '.join(first['unknown'])}", "leave out what it does not know"
        )
    if first["notice"] is not None:
        raise refused("it names no points of the page", first["notice"].removesuffix("."))
    X, w, axes = first["X"], first["w"].tolist(), first["choices"]["axes"]
    payload = {"X": X.tolist(), "y": first["y"].tolist(), "preset": first["preset"], **first["choices"], "w": w}
    payload |= {"losses": list(first["choices"]["losses"]), "axes": list(axes)}
    payload |= {"box": first["box"] and list(first["box"]), "plane": list(framed(X, HEIGHT_BY_WIDTH))}
    payload["box"] = list(at(payload)["box"])
    us, vs = grid(payload["box"], options.places, including=[w[axis] for axis in axes])
    moved = (Axis(("w", axes[0]), us), Axis(("w", axes[1]), vs))
    return Plan(
        (Asked("start", begun), Asked("at", payload, moved), Asked("surfaces", payload)),
        "w can be dragged on both surfaces; the points and all else stay as they are.",
        controls=("button[aria-label=Undo]", ".tabs button"),
        still=(".rail figure.plane",),
        grid=(us, vs),
    )


REQUESTS = {"start": start, "surfaces": surfaces, "at": at, "run": run}
