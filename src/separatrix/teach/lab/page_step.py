"""The page Step: every update of a fit, with its arithmetic and three curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from separatrix.classifiers import OFFERED, hyperparameters
from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import InputError
from separatrix.core.solvers.registry import SOLVERS
from separatrix.core.solvers.state import Solver
from separatrix.teach.lab.pages import PageLink, refused
from separatrix.teach.lab.points import of_two_classes, points
from separatrix.teach.lab.recorder import Asked, Options, Plan
from separatrix.teach.lab.requests import Payload, got, number, text
from separatrix.teach.lab.shown_models import (
    Box,
    Chosen,
    box_of,
    chosen,
    drawn_regions,
    framed,
    places,
    segments,
    solver_expression,
)
from separatrix.teach.step_arithmetic import Step, most_mistakes
from separatrix.teach.steps import Steps, steps

# The most updates that a page gets. A run that needs more is cut, and the page says so.
MOST_SHOWN_STEPS = 400
# The most rows that an update marks; one that uses more marks none, since it uses all of them.
MOST_MARKED = 30
# The height of the picture by its width, as in static/step.js.
HEIGHT_BY_WIDTH = 450 / 630
# The settings of the methods of descent that the page offers: default, least and largest value.
DESCENT: dict[str, dict[str, tuple[float, float, float]]] = {
    "gradient-descent": {"eta": (0.5, 1e-4, 1e3)},
    "sgd": {"eta": (0.5, 1e-4, 1e3), "batch_size": (1, 1, 1000)},
}


def methods(payload: Payload) -> Mapping[str, Any]:
    """The names of the classifiers that a solver fits step by step."""
    iterative = [name for name in OFFERED if "max_iter" in hyperparameters(name)]
    defaults = {name: {one: found[0] for one, found in offered.items()} for name, offered in DESCENT.items()}
    return {"methods": sorted(iterative, key=lambda name: name != "perceptron"), "descent": defaults}


def run(payload: Payload) -> Mapping[str, Any]:
    """Fit the chosen classifier, and give the updates of its solver.

    ``descent`` has the learning rate and the batch size of a method of descent.
    """
    spec, box, asked = text(payload, "points"), box_of(payload), chosen(payload.get("model"))
    estimator, python, descent = asked.estimator(), asked.python(), _descent(payload, asked)
    if descent is not None:
        estimator.set_params(solver=descent[0])
        python = python.replace(f"solver={asked.settings['solver']!r}", descent[1])
    X, y = points(spec)
    classes = of_two_classes(y)
    taken = steps(estimator, X, y)
    shown = list(islice(taken, MOST_SHOWN_STEPS + 1))
    return {
        "X": X,
        "y": y,
        "steps": [_shown(one, box, classes) for one in shown],
        "cut": not taken.ended,
        "curves": _curves(taken, shown),
        "theorem": _theorem(taken),
        "mistakes": getattr(taken.model, "mistakes_", None),
        "status": str(taken.model.certificate_.status),
        "python": _python(spec, python),
    }


def _descent(payload: Payload, asked: Chosen) -> tuple[Solver, str] | None:
    """The chosen method of descent with the settings of the page, and its Python; None if another method is chosen."""
    name, given = str(asked.settings.get("solver")), payload.get("descent") or {}
    if not isinstance(given, Mapping):
        raise InputError("descent", got(given), "give a value for each name")
    offered = {one: found for one, found in DESCENT.get(name, {}).items() if one in given}
    settings = {one: type(usual)(number(given, one, low, high)) for one, (usual, low, high) in offered.items()}
    if not settings:
        return None
    usual: Any = SOLVERS[name]
    solver: Solver = replace(usual, **settings)
    return solver, f"solver=sx.solvers.{solver_expression(solver)}"


def _shown(step: Step, box: Box, classes: Any) -> dict[str, Any]:
    """What the page draws and writes of an update."""
    line = np.array([float(step.b), *np.ravel(step.w)])
    turned = bool(np.any(line[1:]))
    found = drawn_regions(line[None, :], box) if turned else []
    marked = step.rows if step.rows is not None and len(step.rows) <= MOST_MARKED else ()
    return {
        "number": step.number,
        "kind": step.kind,
        "plain": _is_plain(step),
        "row": step.row,
        "rows": marked,
        "x": step.x,
        "t": step.t,
        "z": step.z,
        "m": step.m,
        "m_after": step.m_after,
        "gain": step.gain,
        "eta": step.eta,
        "w": step.w,
        "b": step.b,
        "w_before": step.w_before,
        "b_before": step.b_before,
        "w_added": step.w_added,
        "wrong": step.wrong_rows,
        "lines": [places(one) for one in segments([line], box)] if turned else [],
        "regions": [one | {"k": int(classes[one["k"]])} for one in found],
        "board": str(step).split("\n"),
    }


def _is_plain(step: Step) -> bool:
    """Whether the update is w ← w + η t x for a single row x: that of an unweighted perceptron."""
    return bool(step.mistake) and step.cost_name == "E_p" and not step.weighted


def _curves(taken: Steps, shown: Sequence[Step]) -> list[dict[str, Any]]:
    """Three curves over the updates: rows on the wrong side, the cost, and what the proof follows."""
    n = shown[0].n_rows
    wrong = {"title": "rows on the wrong side", "values": [one.wrong for one in shown], "most": n, "whole": True}
    cost = {"title": f"cost {shown[0].cost_name}", "values": [one.cost for one in shown]}
    return [one | {"updates": [step.number for step in shown]} for one in (wrong, cost, _third(taken, shown))]


def _third(taken: Steps, shown: Sequence[Step]) -> dict[str, Any]:
    proof = taken.theorem()
    if proof is not None:
        cosines = [_cosine(one, proof.separator) for one in shown]
        from_zero = not np.any(shown[0].w) and not np.any(shown[0].b)
        low = [proof.cosine_bound(one.number) for one in shown] if from_zero else None
        return {"title": "cosine of w to the best separator", "values": cosines, "low": low, "most": 1.0}
    if shown[0].margin is not None:
        return {"title": "smallest distance of a row", "values": [one.margin for one in shown]}
    return {"title": "length of w", "values": [float(np.linalg.norm(one.w)) for one in shown]}


def _cosine(step: Step, separator: Array) -> float | None:
    weights = np.array([float(step.b), *np.ravel(step.w)])
    length = float(np.linalg.norm(weights) * np.linalg.norm(separator))
    return float(weights @ separator) / length if length > 0 else None


def _theorem(taken: Steps) -> dict[str, Any] | None:
    proof = taken.theorem()
    if proof is None:
        return None
    return {"R": proof.R, "gamma": proof.gamma / proof.length, "most": most_mistakes(proof.bound_from_start)}


def _python(spec: str, estimator: str) -> str:
    lines = [
        "import separatrix as sx",
        "",
        f'X, y = sx.lab.points("{spec}")',
        f"run = sx.steps({estimator}, X, y)",
    ]
    return "\n".join(lines)


def recorded(link: PageLink, options: Options) -> Plan:
    """The whole run."""
    settings = {name for offered in DESCENT.values() for name in offered}
    (model,) = link.models("perceptron", 1, others=("k", *settings))
    link.number("k", 4, 0, MOST_SHOWN_STEPS)
    offered = DESCENT.get(model["settings"].get("solver"), {})
    descent = {name: type(found[0])(link.number(name, *found)) for name, found in offered.items()}
    if model["name"] not in (known := methods({})["methods"]):
        raise refused(f"{model['name']!r} is not fitted step by step", f"choose {', '.join(known)}")
    spec = link.points("separable")
    box = framed(points(spec)[0], HEIGHT_BY_WIDTH)
    asked = Asked("methods", {}), Asked("run", {"points": spec, "model": model, "box": list(box), "descent": descent})
    return Plan(asked, "All steps of this run can be played; its settings stay as they are.", controls=(".bar *",))


REQUESTS = {"methods": methods, "run": run}
