"""The page Basis: points in the plane beside their basis functions, and whether these separate the classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from separatrix.classifiers.basis import Basis, gaussian, quadratic
from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import InputError, SeparatrixError
from separatrix.core.base.messages import many
from separatrix.teach.lab import shown_models
from separatrix.teach.lab.pages import PageLink, refused
from separatrix.teach.lab.points import checked, points, spelled
from separatrix.teach.lab.recorder import Asked, Axis, Options, Plan
from separatrix.teach.lab.requests import Payload, got, is_whole, number

# --- Basis functions

# The most Gaussian functions drawn from the rows, and the most on each side of a grid.
MOST_CENTRES, MOST_PER_SIDE = 20, 6
NARROWEST, WIDEST = 0.1, 10.0
LARGEST_SEED = 9999


@dataclass(frozen=True)
class ChosenBasis:
    """A basis that a page asks for, made for its rows: the unfitted transformer, and the expression that makes it."""

    transformer: Any
    python: str


def _products(*functions: str) -> Callable[[Mapping[str, Any], Array], ChosenBasis]:
    listed = ", ".join(f'"{one}"' for one in functions)
    return lambda given, X: ChosenBasis(Basis(list(functions)), f"sx.Basis([{listed}])")


def _gaussian(given: Mapping[str, Any], X: Array) -> ChosenBasis:
    """Gaussian functions around some of the rows, or around the places of a grid."""
    width = number(given, "width", NARROWEST, WIDEST)
    if given.get("place") == "grid":
        centres = grid(X, int(number(given, "centres", 2, MOST_PER_SIDE)))
        return ChosenBasis(gaussian(centres, width), f"sx.gaussian({centres.tolist()}, width={width:g})")
    count = int(number(given, "centres", 2, MOST_CENTRES))
    seed = int(number(given, "seed", 0, LARGEST_SEED))
    return ChosenBasis(gaussian(count, width, seed), f"sx.gaussian({count}, width={width:g}, seed={seed})")


# The bases that the page offers, each made for a payload and the rows.
BASES: dict[str, Callable[[Mapping[str, Any], Array], ChosenBasis]] = {
    "linear": _products("x0", "x1"),
    "product": _products("x0", "x1", "x0*x1"),
    "quadratic": lambda given, X: ChosenBasis(quadratic(), "sx.quadratic()"),
    "gaussian": _gaussian,
}


def grid(X: Array, side: int) -> Array:
    """Places over the range of the rows, ``side`` in each direction, (side², 2).

    >>> grid(np.array([[0.0, -1.0], [4.0, 1.0]]), 2).tolist()
    [[0.0, -1.0], [4.0, -1.0], [0.0, 1.0], [4.0, 1.0]]
    """
    (left, low), (right, high) = X.min(axis=0), X.max(axis=0)
    across, up = np.meshgrid(np.linspace(left, right, side), np.linspace(low, high, side))
    return np.round(np.column_stack([across.ravel(), up.ravel()]), 2)


def chosen_basis(value: Any, X: Array) -> ChosenBasis:
    """A basis from the payload of a request: {"kind": ..., "centres": ..., "place": ..., "width": ..., "seed": ...}.

    >>> print(chosen_basis({"kind": "product"}, np.zeros((1, 2))).python)
    sx.Basis(["x0", "x1", "x0*x1"])
    """
    match value:
        case {"kind": str(kind)} if kind in BASES:
            return BASES[kind](value, X)
    raise InputError("basis", got(value), f"choose {', '.join(BASES)}")


def function_title(name: str) -> str:
    """The name of a basis function as the textbooks write it, where columns are counted from 1.

    >>> [function_title(one) for one in ("x0", "x1*x0", "x1*x1", "gaussian12")]
    ['x₁', 'x₁x₂', 'x₂²', 'φ₁₂']
    """
    if name.startswith("gaussian"):
        return f"φ{name.removeprefix('gaussian').translate(_LOWERED)}"
    factors = sorted(f"x{int(one[1:]) + 1}".translate(_LOWERED) for one in name.split("*"))
    return "".join(one if factors.count(one) == 1 else f"{one}²" for one in dict.fromkeys(factors))


_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


# --- The page

# The height of a picture by its width, as in static/basis.js.
HEIGHT_BY_WIDTH = 0.9
# The most functions outside the axes that a sentence names.
MOST_NAMED = 3
# The empty part around the points of the feature space, as a share of their range.
AROUND = 0.15
# What is drawn of a model that could not be fitted.
NOTHING: dict[str, Any] = {"regions": [], "lines": []}


def show(payload: Payload) -> Mapping[str, Any]:
    """Fit the chosen model to φ(X), draw it in both spaces, and prove whether φ(X) is separable."""
    X, y = checked(payload.get("X"), payload.get("y"))
    if not len(X):
        raise InputError("points", "there are none", "add points of two classes")
    box, asked, basis = (
        shown_models.box_of(payload),
        shown_models.chosen(payload.get("model")),
        chosen_basis(payload.get("basis"), X),
    )
    spec = spelled(X, y, payload.get("preset"))
    F = basis.transformer.fit_transform(X)
    names = [function_title(str(one)) for one in basis.transformer.get_feature_names_out()]
    axes, proof = _axes(payload.get("axes"), names), shown_models.described_proof(F, y, names)
    model, described = _model(asked, F, y)
    space = {"points": F[:, axes], "box": _around(F[:, axes])}
    return {
        "points": spec,
        "names": names,
        "axes": axes,
        "centres": getattr(basis.transformer, "centres_", []),
        "plane": NOTHING if model is None else shown_models.drawn(make_pipeline(basis.transformer, model), box),
        "features": space | (NOTHING | {"cut": ""} if model is None else _cut(model, F, axes, names)),
        "model": described,
        "proof": proof,
        "sentence": _sentence(len(X), names, proof, described),
        "python": _python(spec, basis, asked),
    }


def _model(asked: shown_models.Chosen, F: Array, y: Integers) -> tuple[Any, dict[str, Any]]:
    """The fitted model and its numbers; None and the reason if it could not be fitted."""
    try:
        model = shown_models.fitted(asked, F, y)
    except SeparatrixError as error:
        return None, {"error": str(error)}
    return model, shown_models.numbers(model, F, y)


def _sentence(n: int, names: list[str], proof: dict[str, Any], described: dict[str, Any]) -> str:
    """The page in words, for those who do not see it."""
    facts = ", ".join(f"{name} {value}" for name, value in proof["facts"])
    wrong = "the model could not be fitted" if "error" in described else f"{len(described['wrong'])} of {n} wrong"
    shown = f"Plane with {many(n, 'point')}. φ has {many(len(names), 'function')}."
    return f"{shown} {proof['word']}: {facts or 'no numbers'}; {wrong}."


def _axes(given: Any, names: list[str]) -> list[int]:
    """The two functions on the axes: those asked for, else x₁x₂ against x₁, else the first two."""
    match given:
        case [a, b] if is_whole(a) and is_whole(b) and a != b and 0 <= a < len(names) and 0 <= b < len(names):
            return [a, b]
    return [0, names.index("x₁x₂") if "x₁x₂" in names else min(1, len(names) - 1)]


def _around(points: Array) -> shown_models.Box:
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, AROUND * (high - low), 1.0)
    (left, lower), (right, upper) = low - margin, high + margin
    return float(left), float(right), float(lower), float(upper)


def _cut(model: Any, F: Array, axes: list[int], names: list[str]) -> dict[str, Any]:
    """The model where the functions that are not on the axes have their means over the rows.

    Rows whose other functions do not have these means may be given to another class by the cut than by the model. The
    sentence says how many.
    """
    middle = F.mean(axis=0)

    def whole(points: Array) -> Array:
        rows = np.tile(middle, (len(points), 1))
        rows[:, axes] = points
        return rows

    held = [f"{names[j]} has its mean {shown_models.decimals(middle[j])}" for j in range(len(names)) if j not in axes]
    elsewhere = int(np.sum(model.predict(whole(F[:, axes])) != model.predict(F)))
    if not held:
        cut = "φ has no other functions, so the line is the whole boundary."
    elif len(held) <= MOST_NAMED:
        cut = f"The line is the cut of the boundary where {' and '.join(held)}."
    else:
        cut = f"The line is the cut of the boundary where the other {len(held)} functions have their means."
    if elsewhere:
        cut += f" Rows on another side of the cut than of the boundary: {elsewhere}."
    return shown_models.drawn(make_pipeline(FunctionTransformer(whole), model), _around(F[:, axes])) | {"cut": cut}


def _python(spec: str, basis: ChosenBasis, asked: shown_models.Chosen) -> str:
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


def recorded(link: PageLink, options: Options) -> Plan:
    """The points with each kind of basis functions."""
    (model,) = link.models("perceptron", 1, others=("b", "k", "w", "s", "g", "a"))
    spec, given = link.points("xor"), link.parameters
    X, y = points(spec)
    place, kind = given.get("g", "rows"), given.get("b", "linear")
    if place not in ("rows", "grid") or kind not in BASES or "a" in given:
        raise refused("its b or g is not one of the page, or it has axes of its own", "copy a link without a=")
    most = MOST_PER_SIDE if place == "grid" else MOST_CENTRES
    basis = {"kind": kind, "place": place, "centres": round(link.number("k", 4, 2, most))}
    basis |= {"width": link.number("w", 1, 0.1, 5), "seed": round(link.number("s", 0, 0, LARGEST_SEED))}
    payload = {"X": X.tolist(), "y": y.tolist(), "preset": spec.partition(";")[0], "model": model, "basis": basis}
    payload |= {"box": list(shown_models.framed(X, HEIGHT_BY_WIDTH)), "axes": None}
    asked = Asked("plane.start", {"points": spec}), Asked("show", payload, (Axis(("basis", "kind"), tuple(BASES)),))
    sentence = "The kind of the basis functions can be chosen; the points and the model stay as they are."
    return Plan(asked, sentence, controls=(".kinds button", ".tabs button"))


REQUESTS = {"show": show}
