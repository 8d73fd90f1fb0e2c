"""The page Basis: points in the plane beside their basis functions, and whether these separate the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import InputError, SeparatrixError
from separatrix.lab.bases import ChosenBasis, chosen_basis, function_title
from separatrix.lab.drawing import Box, box_of, drawn
from separatrix.lab.fits import fitted, numbers
from separatrix.lab.models import Chosen, chosen
from separatrix.lab.points import checked, spelled
from separatrix.lab.request_registry import Payload
from separatrix.proofs.separability import separability
from separatrix.proofs.verdicts import Verdict
from separatrix.textbook.novikoff import novikoff_bound

# The multipliers of a proof are whole numbers. Larger ones than this are shown as shares of their sum.
LARGEST_MULTIPLIER = 999
# The empty part around the points of the feature space, as a share of their range.
AROUND = 0.15


def show(payload: Payload) -> Mapping[str, Any]:
    """Fit the chosen model to φ(X), draw it in both spaces, and prove whether φ(X) is separable."""
    X, y = checked(payload.get("X"), payload.get("y"))
    if not len(X):
        raise InputError("points", "there are none", "add points of two classes")
    box, asked, basis = box_of(payload), chosen(payload.get("model")), chosen_basis(payload.get("basis"), X)
    preset = payload.get("preset")
    spec = spelled(X, y, preset if isinstance(preset, str) else None)
    F = basis.transformer.fit_transform(X)
    names = [function_title(str(one)) for one in basis.transformer.get_feature_names_out()]
    axes = _axes(payload.get("axes"), names)
    found: dict[str, Any] = {
        "points": spec,
        "names": names,
        "axes": axes,
        "centres": getattr(basis.transformer, "centres_", []),
        "features": {"points": F[:, axes], "box": _around(F[:, axes])},
        "plane": {"regions": [], "lines": []},
        "proof": _proof(F, y, names),
        "python": _python(spec, basis, asked),
    }
    try:
        model = fitted(asked, F, y)
    except SeparatrixError as error:
        return found | {"model": {"error": str(error)}}
    found["plane"] = drawn(make_pipeline(basis.transformer, model), box)
    found["features"] |= _cut(model, F, axes, found["features"]["box"])
    return found | {"model": numbers(model, F, y)}


def _axes(given: Any, names: list[str]) -> list[int]:
    """The two functions on the axes: those asked for, else x₁x₂ against x₁, else the first two."""
    match given:
        case [int(a), int(b)] if a != b and 0 <= a < len(names) and 0 <= b < len(names):
            return [a, b]
    return [0, names.index("x₁x₂") if "x₁x₂" in names else min(1, len(names) - 1)]


def _around(points: Array) -> Box:
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, AROUND * (high - low), 1.0)
    (left, lower), (right, upper) = low - margin, high + margin
    return float(left), float(right), float(lower), float(upper)


def _cut(model: Any, F: Array, axes: list[int], box: Box) -> dict[str, Any]:
    """The model where the functions that are not on the axes have their means over the rows.

    ``elsewhere`` counts the rows that the cut gives to another class than the model does, since their other functions
    do not have these means.
    """
    middle = F.mean(axis=0)

    def whole(points: Array) -> Array:
        rows = np.tile(middle, (len(points), 1))
        rows[:, axes] = points
        return rows

    held = [j for j in range(F.shape[1]) if j not in axes]
    elsewhere = int(np.sum(model.predict(whole(F[:, axes])) != model.predict(F)))
    shown = drawn(make_pipeline(FunctionTransformer(whole), model), box)
    return {**shown, "held": [{"function": j, "value": middle[j]} for j in held], "elsewhere": elsewhere}


def _proof(F: Array, y: Integers, names: list[str]) -> dict[str, Any]:
    """The verdict on φ(X), with the rows and multipliers or the margin that prove it."""
    try:
        verdict = separability(F, y, names=names)
    except SeparatrixError as error:
        return {"code": "none", "sentence": f"{error}.", "rows": [], "multipliers": []}
    sentence = str(verdict.explain())
    return {
        "code": type(verdict).__name__.lower(),
        "sentence": f"{sentence[:1].upper()}{sentence[1:]}.",
        "verified": verdict.verify(F, y),
        "margin": getattr(verdict, "margin", None) if verdict else None,
        **_multipliers(verdict),
        **_mistakes(verdict, F, y),
    }


def _multipliers(verdict: Verdict) -> dict[str, Any]:
    """The rows of a proof that no hyperplane separates the classes, and their λ."""
    rows = getattr(verdict, "rows", None)
    if rows is None:
        return {"rows": [], "multipliers": [], "shares": False}
    shares = max(verdict.multipliers) > LARGEST_MULTIPLIER
    return {"rows": rows, "multipliers": verdict.weights if shares else verdict.multipliers, "shares": shares}


def _mistakes(verdict: Verdict, F: Array, y: Integers) -> dict[str, Any]:
    """The mistakes of the perceptron on separable rows of two classes, and the most that the theorem allows."""
    if not verdict or len(np.unique(y)) != 2:
        return {"mistakes": None, "bound": None}
    try:
        bound = novikoff_bound(F, y).bound
    except SeparatrixError:  # rows that are separable by less than rounding leave no bound
        return {"mistakes": None, "bound": None}
    model = fitted(Chosen("perceptron", {}), F, y)
    return {"mistakes": model.mistakes_, "bound": bound, "ended": model.certificate_.code == "separated"}


def _python(spec: str, basis: ChosenBasis, asked: Chosen) -> str:
    lines = [
        "import separatrix as sx",
        "from sklearn.pipeline import make_pipeline",
        "",
        f'X, y = sx.lab.points("{spec}")',
        f"phi = {basis.python}",
        f"model = make_pipeline(phi, {asked.python()}).fit(X, y)",
        'print((model.predict(X) != y).sum(), "of", len(y), "wrong")',
        "",
        "features = phi.transform(X)",
        "proof = sx.separability(features, y)",
        "print(proof)",
        "if proof and len(set(y)) == 2:",
        '    print(sx.Perceptron().fit(features, y).mistakes_, "mistakes of at most")',
        "    print(sx.novikoff_bound(features, y).bound)",
    ]
    return "\n".join(lines)


REQUESTS = {"show": show}
