"""What pages show of a model: its settings as a form, its fit and its certificate, its regions and lines in the plane,
the card of a point, and the proof whether points are separable.

Everything on settings comes from the classifiers' signatures and docstrings, so a newly registered classifier appears
without a line here. Fits are kept for a moment, since a page asks again when the pointer moves over points that stay
where they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from typing import Any

import numpy as np

from separatrix.classifiers import CLASSIFIERS, OFFERED, describe, hyperparameters
from separatrix.classifiers.signatures import Hyperparameter
from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import InputError, ParameterError, SeparatrixError
from separatrix.core.base.messages import brief
from separatrix.core.geometry.plane_regions import level_sets, regions
from separatrix.core.novikoff import novikoff_bound
from separatrix.core.proofs.separability import separability
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable
from separatrix.core.scorer import Scorer
from separatrix.statistics.explained_row import explain_row
from separatrix.teach.lab.requests import Payload, got
from separatrix.teach.presets import SettingRange, setting_ranges

# --- Classifiers and their settings

# The classifier that a scheme is made of unless another is chosen.
DEFAULT_BASE = "logistic"


@cache
def offered() -> list[dict[str, Any]]:
    """All classifiers with their settings, for the forms of a page.

    >>> next(one["title"] for one in offered() if one["name"] == "lda")
    'Linear discriminant analysis'
    """
    return [_offered(name) for name in OFFERED]


def _offered(name: str) -> dict[str, Any]:
    known = describe(name)
    return {
        "name": name,
        "short": name.replace("-", " "),
        "title": titled(OFFERED[name][1]),
        "about": known.about,
        "probabilities": known.probabilities,
        "curved": known.curved,
        "base": bases(name),
        "settings": [_form(found) for found in setting_ranges(name)],
    }


def bases(name: str) -> list[str]:
    """The classifiers that a scheme can be made of; none for a classifier that is not a scheme."""
    return [other for other in OFFERED if not describe(other).parts] if describe(name).parts else []


def titled(kind: str) -> str:
    """The name of a class as a title.

    >>> titled("LeastSquaresClassifier"), titled("LinearSVC"), titled("OneVsRestClassifier")
    ('Least squares', 'Linear SVC', 'One vs rest')
    """
    first, *others = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]*", kind.removesuffix("Classifier"))
    return " ".join([first, *(word if len(word) > 1 and word.isupper() else word.lower() for word in others)])


def _form(found: SettingRange) -> dict[str, Any]:
    """A setting as a form shows it. A number has a slider if it has a default; others have a field."""
    form = {"parameter": found.parameter, "help": found.about, "default": found.default, "kind": found.kind}
    if found.kind == "choice":
        return form | {"words": found.choices}
    if found.kind == "number" and found.default is not None:
        return form | {"slider": {"low": found.low, "high": found.high, "log": found.logarithmic}}
    return form


@dataclass(frozen=True)
class Chosen:
    """A classifier that a page asks for: its name, the settings that differ from defaults, the base of a scheme."""

    name: str
    settings: Mapping[str, Any]
    base: str | None = None

    def estimator(self, seed: int | None = None) -> Any:
        """The unfitted estimator; ``seed`` is for classifiers that draw random numbers."""
        if not describe(self.name).parts:
            return self._made(self.name, seed)
        return CLASSIFIERS[self.name](self._made(self.base or DEFAULT_BASE, seed))

    def _made(self, name: str, seed: int | None) -> Any:
        for parameter in self.settings:
            if parameter not in hyperparameters(name):
                raise ParameterError(parameter, f"{name} has no such setting", "leave it out")
        kind = CLASSIFIERS[name]
        random = seed is not None and "random_state" in kind().get_params(deep=False)
        return kind(**self.settings, **({"random_state": seed} if random else {}))

    def python(self, seed: int | None = None) -> str:
        """The expression that makes the estimator.

        >>> print(Chosen("logistic", {"C": 10.0}).python())
        sx.LogisticRegression(C=10.0)
        """
        estimator = self.estimator(seed)
        if not describe(self.name).parts:
            return _expression(estimator, self.name)
        return f"sx.{type(estimator).__name__}({_expression(estimator.estimator, self.base or DEFAULT_BASE)})"


def _expression(estimator: Any, name: str) -> str:
    now = {key: getattr(estimator, key) for key in _defaults(name)}  # get_params would inspect the signature again
    given = {key: value for key, value in now.items() if value != _defaults(name)[key]}
    return f"sx.{type(estimator).__name__}({', '.join(f'{key}={_value(value)}' for key, value in given.items())})"


def solver_expression(solver: Any) -> str:
    """The expression that makes a solver object.

    >>> from separatrix.core.solvers.gradient_descent import StochasticDescent
    >>> print(solver_expression(StochasticDescent(eta=0.5, schedule="inverse")))
    StochasticDescent(eta=0.5, schedule='inverse')
    """
    given = {one.name: getattr(solver, one.name) for one in fields(solver) if getattr(solver, one.name) != one.default}
    return f"{type(solver).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


@cache
def _defaults(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = CLASSIFIERS[name]().get_params(deep=False)
    return found


def _value(value: Any) -> str:
    return 'float("inf")' if isinstance(value, float) and math.isinf(value) else repr(value)


def chosen(value: Any) -> Chosen:
    """A classifier from the payload of a request: {"name": ..., "settings": {...}, "base": ...}.

    >>> chosen({"name": "logistic", "settings": {"C": "10"}})
    Chosen(name='logistic', settings={'C': 10.0}, base=None)
    """
    match value:
        case {"name": str(name)} if name in OFFERED:
            pass
        case _:
            raise InputError("model", "it is not a classifier of this package", f"choose {', '.join(OFFERED)}")
    base = value.get("base") if describe(name).parts else None
    if base is not None and (not isinstance(base, str) or base not in OFFERED or describe(base).parts):
        raise InputError("base", got(base), "choose a classifier that is not made of others")
    forms = hyperparameters(base or name)
    given = value.get("settings") or {}
    if not isinstance(given, Mapping):
        raise InputError("settings", "they are not names with values", "give a value for each name")
    settings = {key: _read(forms[key], one) for key, one in given.items() if key in forms}
    return Chosen(name, settings, base)


def _read(setting: Hyperparameter, value: Any) -> Any:
    """The value of a setting from a form or a link, where all values may be texts."""
    if setting.kind == "switch":
        return value in (True, "true", "True", "1")
    if setting.kind in ("choice", "text") or value in setting.words:
        return None if value in ("", None) else str(value)
    try:
        return int(float(value)) if setting.kind == "integer" else float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(setting.name, got(value), "give a number") from None


# --- Fits


@dataclass(frozen=True)
class _PointsFit:
    """A fit. Two are equal if the model, its settings and the points are."""

    key: tuple[str, bytes, bytes]
    model: Chosen = field(compare=False)
    X: Array = field(compare=False)
    y: Integers = field(compare=False)


def fitted(asked: Chosen, X: Array, y: Integers) -> Any:
    """The chosen model, fitted to these points; the same object while the points and the settings stay the same.

    >>> import numpy as np
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0, 1])
    >>> fitted(Chosen("logistic", {}), X, y) is fitted(Chosen("logistic", {}), X, y)
    True
    """
    if not len(X):
        raise InputError("points", "there are none", "add points of two classes")
    return _fitted(_PointsFit((repr(asked), X.tobytes(), y.tobytes()), asked, X, y))


@lru_cache(maxsize=32)
def _fitted(asked: _PointsFit) -> Any:
    return asked.model.estimator().fit(asked.X, asked.y)


def numbers(model: Any, X: Array, y: Integers) -> dict[str, Any]:
    """What the card of a fitted model shows: its mistakes, the length of its weights, its cost and its certificate."""
    coef = getattr(model, "coef_", None)
    return {
        "wrong": np.flatnonzero(model.predict(X) != y),
        "norm": None if coef is None else float(np.linalg.norm(coef)),
        "cost": float(model.certificate_.objective),
        "verdict": verdict(model.certificate_),
    }


# --- Certificates

# A bound on the gap of a closed form up to this is due to rounding alone, and worth a clause.
LARGEST_EXACT_BOUND = 1e-9


def verdict(certificate: Any) -> dict[str, Any]:
    """Whether the fit met its rule, and the certificate's status in a sentence.

    >>> from separatrix import LogisticRegression
    >>> verdict(LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 0]).certificate_)["met"]
    True
    """
    status = brief(certificate.status)
    sentence = f"{status[:1].upper()}{status[1:]}."
    bound = certificate.bound
    if certificate.met and certificate.code == "closed-form" and bound is not None and bound <= LARGEST_EXACT_BOUND:
        sentence = f"{sentence[:-1]}; no other weights are better by more than {bound:.0e}."
    return {"met": bool(certificate.met), "code": certificate.code, "text": sentence}


# --- The plane

Box = tuple[float, float, float, float]
PROBABILITIES = (0.1, 0.25, 0.5, 0.75, 0.9)
# A point this share of an edge's length beside its middle lies in the neighbouring region, also where edges are curved.
BESIDE = 0.05
# The share by which a recorded box is larger than the visible one, whose height is rounded to a whole pixel.
BEYOND = 0.01


def box_of(payload: Payload) -> Box:
    """The visible part of the plane: [left, right, low, high].

    >>> box_of({"box": [0, 1, 0, 2]})
    (0.0, 1.0, 0.0, 2.0)
    """
    match payload.get("box"):
        case [int() | float() as left, int() | float() as right, int() | float() as low, int() | float() as high] if (
            -1e6 < left < right < 1e6 and -1e6 < low < high < 1e6
        ):
            return float(left), float(right), float(low), float(high)
    raise InputError("box", got(payload.get("box")), "give left < right and low < high")


def framed(X: Array, aspect: float) -> Box:
    """The box that a page chooses for these points on a stage of this height by width, and a little more.

    The same as ``Stage.show`` in ``static/stage.js``; what is recorded reaches beyond the edges by ``BEYOND``.

    >>> framed(np.array([[-1.0, 0.0], [1.0, 0.5]]), 0.5)
    (-1.94..., 1.94..., -0.72..., 1.22...)
    """
    shown = X if len(X) else np.array([[-3.0, -2.0], [3.0, 2.0]])
    (left, low), (right, high) = shown.min(axis=0).tolist(), shown.max(axis=0).tolist()
    width = max((right - left + 1) / 0.84, (high - low + 1) / (0.78 * aspect)) * (1 + BEYOND)
    x, y = (left + right) / 2, (low + high) / 2
    return x - width / 2, x + width / 2, y - aspect * width / 2, y + aspect * width / 2


def drawn_regions(model: Any, box: Box) -> list[dict[str, Any]]:
    """The outlines of the parts of the plane in which each class wins, to be filled by the even-odd rule."""
    return _outlines(_regions(model, box))


def drawn(model: Any, box: Box) -> dict[str, Any]:
    """The regions of a model and its boundaries."""
    found = _regions(model, box)
    return {"regions": _outlines(found), "lines": [places(line) for line in _between(model, found, box)]}


def _outlines(found: Sequence[Any]) -> list[dict[str, Any]]:
    kept = [one for one in found if not one.empty]
    return [{"k": int(one.labels[0]), "rings": [places(ring) for ring in one.rings]} for one in kept]


def _regions(model: Any, box: Box) -> Sequence[Any]:
    """The regions, which are traced once for the ground and the boundaries of a model."""
    return regions(model, box) if isinstance(model, np.ndarray) else _traced(model, box)


_traced = lru_cache(maxsize=6)(regions)  # two answers of three models each


def boundaries(model: Any, box: Box) -> list[Array]:
    """The boundaries between classes as polylines."""
    scorer = getattr(model, "scorer_", None)
    if isinstance(scorer, Scorer) and len(scorer.W) == 1:
        return segments([scorer.W[0] - [scorer.link.boundary, 0.0, 0.0]], box)
    return _between(model, _regions(model, box), box)


def _between(model: Any, found: Sequence[Any], box: Box) -> list[Array]:
    """The boundaries between the regions of a model: the parts of outlines that border on a later class.

    So every boundary is drawn once. The classes beside all edges are predicted at once, since a prediction of few rows
    takes as long as one of many.
    """
    rings, labels = [ring for one in found for ring in one.rings], [one.labels[0] for one in found for _ in one.rings]
    if not rings:
        return []
    ends = [np.concatenate([ring[1:], ring[:1]]) for ring in rings]
    beside, inside = _beside(np.concatenate(rings), np.concatenate(ends), box)
    lengths = [len(ring) for ring in rings]
    later = inside & (np.asarray(model.predict(beside)) > np.repeat(labels, lengths))
    lines, last = [], np.cumsum(lengths).tolist()
    for ring, end, j in zip(rings, ends, last, strict=True):
        own = slice(j - len(ring), j)
        lines += _joined(ring, end, _without_gaps(later[own], inside[own]))
    return lines


def _beside(start: Array, end: Array, box: Box) -> tuple[Array, Any]:
    """Points just outside the middle of edges of outlines, and which of them lie inside the box."""
    along = end - start
    outwards = along[:, ::-1] * [1.0, -1.0]  # the region lies to the left
    size = max(box[1] - box[0], box[3] - box[2])
    length = np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-12 * size)
    beside = 0.5 * (start + end) + outwards * (BESIDE + 1e-6 * size / length)[:, None]
    x, y = beside.T
    return beside, (x > box[0]) & (x < box[1]) & (y > box[2]) & (y < box[3])


def _without_gaps(kept: Any, inside: Any) -> Any:
    """Which edges of an outline are kept, with single ones between two that are kept.

    Where boundaries cross, an outline cuts the corner. The edge there has the same class on both sides.
    """
    around = np.concatenate([kept[-1:], kept, kept[:1]])
    return kept | (inside & around[:-2] & around[2:])


def segments(lines: Sequence[Any], box: Box) -> list[Array]:
    """The parts of lines (b, w₁, w₂) inside the box, each as two points; a line that misses it is left out.

    >>> [one.tolist() for one in segments([[-1.0, 1.0, 0.0], [9.0, 1.0, 0.0]], (0, 2, 0, 3))]
    [[[1.0, 0.0], [1.0, 3.0]]]
    """
    left, right, low, high = box
    found = []
    for b, w1, w2 in lines:
        ends = set()
        if w2 != 0:
            ends |= {(x, -(b + w1 * x) / w2) for x in (left, right)}
        if w1 != 0:
            ends |= {(-(b + w2 * y) / w1, y) for y in (low, high)}
        inside = sorted((x, y) for x, y in ends if left <= x <= right and low <= y <= high)
        if len(inside) >= 2:
            found.append(np.array([inside[0], inside[-1]]))
    return found


def _joined(start: Array, end: Array, kept: Any) -> list[Array]:
    """Polylines of the kept edges start[i] → end[i] of a closed outline, where end[i] is start[i + 1]."""
    if not kept.any():
        return []
    turn = 0 if kept.all() else int(np.flatnonzero(~kept)[0]) + 1  # begin after an edge that is left out
    start, end, kept = (np.roll(one, -turn, axis=0) for one in (start, end, kept))
    first = np.flatnonzero(kept & ~np.concatenate([[False], kept[:-1]]))
    last = np.flatnonzero(kept & ~np.concatenate([kept[1:], [False]]))
    return [np.vstack([start[i : j + 1], end[j : j + 1]]) for i, j in zip(first, last, strict=True)]


def margins(model: Any, box: Box) -> list[Array]:
    """The lines z = ±1 of a linear model of two classes."""
    scorer = getattr(model, "scorer_", None)
    if not isinstance(scorer, Scorer) or len(scorer.W) != 1:
        return []
    return segments([scorer.W[0] - [level, 0.0, 0.0] for level in (-1.0, 1.0)], box)


def probability_lines(model: Any, box: Box) -> list[dict[str, Any]]:
    """The lines of equal probability of the second of two classes, if the model has probabilities."""
    if not hasattr(model, "predict_proba") or len(model.classes_) != 2:
        return []
    scorer = getattr(model, "scorer_", None)
    if isinstance(scorer, Scorer) and len(scorer.W) == 1 and scorer.link.probabilistic:  # The lines are straight.
        lines = [(p, scorer.W[0] - [scorer.link.inverse(p), 0.0, 0.0]) for p in PROBABILITIES]
        return [{"p": p, "line": places(part)} for p, line in lines for part in segments([line], box)]
    found = level_sets(model, box, PROBABILITIES)
    return [{"p": one.level, "line": places(line)} for one in found for line in one.curves]


def places(points: Any) -> list[list[float]]:
    """Coordinates for drawing, to four decimals."""
    found: list[list[float]] = np.round(np.asarray(points, dtype=np.float64), 4).tolist()
    return found


# --- The card of a point

# The most points whose losses are drawn.
MOST_LOSSES = 200


def card(model: Any, place: Array, label: int) -> dict[str, Any]:
    """The prediction and the loss of a model at a point (2,) of class ``label``.

    Score, distance and probability are those of the class: with two classes, the score of the first is −z, and the
    distance is negative on the wrong side. ``foot`` is the nearest point of a straight boundary.
    """
    classes = np.asarray(model.classes_).tolist()
    found = explain_row(model, place, label)
    k = classes.index(label)
    score = float(found.scores[k]) if len(found.scores) > 1 else float(found.scores[0]) * (1 if k else -1)
    side = 1 if found.predicted == label else -1
    return {
        "predicted": int(found.predicted),
        "score": score,
        "distance": None if found.distance is None else side * found.distance,
        "foot": found.projection,
        "probability": None if found.probabilities is None else float(found.probabilities[k]),
        "loss": found.loss,
        "loss_name": found.loss_name,
    }


def losses(model: Any, X: Array, y: Integers) -> list[float | None] | None:
    """The loss of every point, or None for more than ``MOST_LOSSES`` points."""
    if len(X) > MOST_LOSSES:
        return None
    return [explain_row(model, x, label).loss for x, label in zip(X, y.tolist(), strict=True)]


# --- Separability

# The multipliers of a proof are whole numbers. Larger ones than this are shown as shares of their sum.
LARGEST_MULTIPLIER = 999
# The bound is a whole number on some sets of points, which rounding may put just below itself.
ROUNDING_OF_BOUND = 1e-6


def described_proof(X: Array, y: Integers, names: list[str]) -> dict[str, Any]:
    """The verdict on rows X (n, m) with its facts: the margin and the perceptron's mistakes, or the multipliers λ.

    >>> xor = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> found = described_proof(xor, np.array([0, 0, 1, 1]), ["x₁", "x₂"])
    >>> found["word"], found["facts"]
    ('Not separable', [('λ', 'row 0: 1, row 1: 1, row 2: 1, row 3: 1')])
    """
    try:
        verdict = separability(X, y, names=names)
    except SeparatrixError as error:
        return {"fine": False, "word": "Nothing to separate", "facts": [], "sentence": str(error)} | _NO_ROWS
    words, checked = str(verdict.explain()), " Checked again from the rows." if verdict.verify(X, y) else ""
    shared = {"fine": bool(verdict), "sentence": f"{words[:1].upper()}{words[1:]}.{checked}"}
    match verdict:
        case Separable():
            facts = [("margin", brief_number(verdict.margin)), *_mistakes(X, y)]
            return shared | {"word": "Separable", "facts": facts} | _NO_ROWS
        case Doubtful():
            return shared | {"word": "In doubt", "facts": []} | _NO_ROWS
        case _:
            return shared | {"word": "Not separable"} | _multipliers(verdict)


_NO_ROWS: dict[str, Any] = {"rows": [], "multipliers": []}


def _multipliers(verdict: Inseparable | QuasiSeparable) -> dict[str, Any]:
    """The rows of a proof that no hyperplane separates the classes, and their λ > 0."""
    shares = max(verdict.multipliers) > LARGEST_MULTIPLIER
    shown = [brief_number(one) for one in (verdict.weights if shares else verdict.multipliers)]
    listed = ", ".join(f"row {i}: {one}" for i, one in zip(verdict.rows, shown, strict=True))
    return {"facts": [("λ as shares" if shares else "λ", listed)], "rows": verdict.rows, "multipliers": shown}


def _mistakes(X: Array, y: Integers) -> list[tuple[str, str]]:
    """The mistakes of the perceptron on separable rows of two classes, and the most that the theorem allows."""
    if len(np.unique(y)) != 2:
        return []
    try:
        bound = novikoff_bound(X, y).bound
    except SeparatrixError:  # rows that are separable by less than rounding leave no bound
        return []
    model = fitted(Chosen("perceptron", {}), X, y)
    finished = "" if model.certificate_.code == "separated" else ", not finished"
    most = brief_number(math.floor(bound + ROUNDING_OF_BOUND))
    return [("mistakes of the perceptron", f"{model.mistakes_}{finished}"), ("most that the theorem allows", most)]


# --- Numbers in words


def decimals(value: float, digits: int = 2) -> str:
    """A number with a real minus sign and without −0; ∞ if it is infinite.

    >>> decimals(-1.5), decimals(-0.001), decimals(math.inf), decimals(0.25, 4)
    ('−1.50', '0.00', '∞', '0.2500')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def brief_number(value: float) -> str:
    """A whole number as it is, others with three decimals, or with two digits and a power of ten.

    >>> brief_number(12), brief_number(0.25), brief_number(2.5e-7)
    ('12', '0.250', '2.5e−07')
    """
    if float(value).is_integer() and abs(value) < 1e6:
        return decimals(value, 0)
    small_or_large = value != 0 and not 1e-3 <= abs(value) < 1e6
    return f"{value:.1e}".replace("-", "−") if small_or_large else decimals(value, 3)
