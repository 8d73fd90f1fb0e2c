"""The page Weight space: two error surfaces over two of (b, w₁, w₂), and runs that walk downhill on them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import InputError, SeparatrixError
from separatrix.core.base.messages import many
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.losses import LOSSES, Traits
from separatrix.core.problem import Objective
from separatrix.core.solvers.gradient_descent import STEPS, GradientDescent, StochasticDescent
from separatrix.core.solvers.registry import SOLVERS, choose, refuse_unmet
from separatrix.core.solvers.state import Solver
from separatrix.teach.error_surface import Surface, error_surface, objective, problem_of, walk
from separatrix.teach.lab.page_losses import losses_of_two_classes
from separatrix.teach.lab.pages import PageLink, refused
from separatrix.teach.lab.points import checked, of_two_classes, points, spelled
from separatrix.teach.lab.recorder import Asked, Axis, Options, Plan, grid
from separatrix.teach.lab.requests import Payload, got, is_whole, number, text
from separatrix.teach.lab.shown_models import Box, box_of, drawn_regions, framed, places, segments, solver_expression

# --- Methods


def _descent(rule: str) -> Callable[[float], Solver]:
    return lambda eta: GradientDescent(eta=eta, step_rule=rule)


# The methods with a step size η, by their names in links and on the page.
WITH_ETA: dict[str, Callable[[float], Solver]] = {
    "gradient-descent": _descent("fixed"),
    **{f"{rule}-gradient": _descent(rule) for rule in STEPS if rule != "fixed"},
    "sgd": lambda eta: StochasticDescent(eta=eta),
}
METHODS = (*WITH_ETA, "auto", *(name for name in SOLVERS if name not in WITH_ETA))


def solver_of(method: str, eta: float) -> str | Solver:
    """The solver that ``walk`` takes for a method; one without a step size ignores η.

    >>> solver_of("normalised-gradient", 0.5)
    GradientDescent(eta=0.5, step_rule='normalised')
    >>> solver_of("newton", 0.5)
    'newton'
    """
    return WITH_ETA[method](eta) if method in WITH_ETA else method


def suitable(problem: Objective) -> list[str]:
    """The methods whose needs an objective meets."""
    return [name for name in METHODS if _suits(name, problem)]


def _suits(name: str, problem: Objective) -> bool:
    solver: Any = WITH_ETA[name](1.0) if name in WITH_ETA else SOLVERS.get(name) or choose(problem)[0]
    try:
        refuse_unmet(solver, problem)
    except SeparatrixError:
        return False
    return True


# --- Bands

# The number of bands of a surface whose values are not few. Levels are denser near the lowest value.
BANDS = 14
# A surface with at most this many different values, such as the 0–1 error of a few rows, has one band for each.
MOST_PLATEAUS = 64
# The highest level is this percentile of the values, since a few corners may be far higher than all the rest.
HIGHEST = 90
# Heights are sent as 16-bit integers, in units of 1/PER_BAND of a band.
PER_BAND = 512
# The grid has as many points as cost about as much as 61 × 61 points do with 500 rows: 5 to 20 milliseconds.
EVALUATIONS, FEWEST_GRID_POINTS, MOST_GRID_POINTS = 1_900_000, 61, 161


def grid_points(n_rows: int) -> int:
    """The number of grid points along each weight.

    >>> grid_points(500), grid_points(20)
    (61, 161)
    """
    return int(np.clip(int((EVALUATIONS / max(1, n_rows)) ** 0.5), FEWEST_GRID_POINTS, MOST_GRID_POINTS))


def levels_of(value: Array) -> tuple[Array, int]:
    """The levels between which bands lie, in increasing order, and the number of the highest band.

    They are the values themselves if these are few. Otherwise they are low + (high − low)(k/BANDS)², k = 0, 1, 2 ….
    Two levels lie above the highest band, so that its edge is interpolated like the others.

    >>> levels, highest = levels_of(np.array([[0.5, 0.25], [0.25, 1.0]]))
    >>> levels.tolist(), highest
    ([0.25, 0.5, 1.0], 2)
    """
    finite = value[np.isfinite(value)]
    different = np.unique(finite)
    if len(different) <= MOST_PLATEAUS:
        return different, len(different) - 1
    low, high = different[0], max(float(np.percentile(finite, HIGHEST)), different[1])
    return np.asarray(low + (high - low) * (np.arange(BANDS + 3) / BANDS) ** 2), BANDS


def drawn_bands(surface: Surface, continuous: bool) -> dict[str, Any]:
    """What the page paints: the height of each grid point, where 3.5 is the middle between the levels 3 and 4.

    ``heights`` is base64 of unsigned 16-bit integers in rows from the lowest second weight upwards. A surface with
    jumps is painted without interpolation (``smooth`` is 0) if each of its plateaus has a band of its own.
    """
    levels, highest = levels_of(surface.value)
    heights = np.interp(surface.value, levels, np.arange(len(levels)))
    coded = np.round(PER_BAND * heights).astype("<u2")
    return {
        "points": len(surface.first),
        "heights": base64.b64encode(coded.tobytes()).decode(),
        "unit": PER_BAND,
        "bands": max(1, highest),
        "smooth": int(continuous or highest != len(levels) - 1),
        "low": float(np.min(surface.value)),
        "high": float(np.max(surface.value)),
    }


# --- Words

NAMES = ("b", "w₁", "w₂")
# A gradient shorter than this is called zero. Runs end at about 1e-8.
FLAT = 1e-7


def shown(value: float, digits: int = 3) -> str:
    """A number with a real minus sign; −0.000 is written 0.000.

    >>> shown(-1.5), shown(-1e-9)
    ('−1.500', '0.000')
    """
    return f"{0.0 if abs(value) < 0.5 * 10**-digits else value:.{digits}f}".replace("-", "−")


def wrong_rows(wrong: int, n: int) -> str:
    """How many of n rows are wrong, in words.

    >>> wrong_rows(1, 9), wrong_rows(2, 9)
    ('1 of 9 rows is wrong', '2 of 9 rows are wrong')
    """
    return f"{wrong} of {n} rows {'is' if wrong == 1 else 'are'} wrong"


def slope_sentence(norm: float, wrong: int, n: int, traits: Traits) -> str:
    """Whether there is a slope to follow, given the length ``norm`` of the gradient and the number of wrong rows.

    >>> slope_sentence(0.0, 2, 9, Traits(convex=False, continuous=False))
    'No slope to follow: ∇E is zero here, although 2 of 9 rows are wrong.'
    >>> slope_sentence(1e-9, 2, 9, Traits())
    '∇E is zero here up to 1e-07, as at a minimum. 2 of 9 rows are wrong.'
    """
    if norm >= FLAT:
        return "E falls fastest along the arrow, which is perpendicular to the contours."
    if wrong == 0:
        return "∇E is zero here, and no row is wrong."
    if not traits.continuous:
        return f"No slope to follow: ∇E is zero here, although {wrong_rows(wrong, n)}."
    place = "a minimum" if traits.convex else "a minimum or a saddle point"
    return f"∇E is zero here up to {FLAT:g}, as at {place}. {wrong_rows(wrong, n)}."


# --- Choices

# Larger coefficients are refused, and a path ends before them.
LARGEST_COEFFICIENT = 1e6
# The weights (b, w₁, w₂) to start from: on the preset "separable", two thirds of the rows are on the wrong side.
START = (0.0, 0.5, 2.0)


@dataclass(frozen=True)
class Choices:
    """Both losses, the two entries of (b, w₁, w₂) that are axes, the surface to run on, the method, η, and C.

    ``C`` is None without a penalty.
    """

    losses: tuple[str, str] = ("zero-one", "perceptron")
    axes: tuple[int, int] = (1, 2)
    on: int = 1
    method: str = "gradient-descent"
    eta: float = 0.5
    C: float | None = None

    @property
    def strength(self) -> float:
        """C as the library takes it."""
        return np.inf if self.C is None else self.C

    @classmethod
    def of(cls, payload: Payload) -> Choices:
        """The choices in the payload of a request; an ``InputError`` says what is wrong with them.

        A value may be a text, as forms and links have it: "0,1", "0.5", or an empty one for None.
        """
        given = {name: _value(one) if isinstance(one, str) else one for name, one in payload.items()}
        return cls(**{one.name: READ[one.name](given) for one in fields(cls)})

    def link(self) -> dict[str, Any]:
        """The choices that differ from the defaults, under their keys in a link.

        >>> Choices(axes=(0, 1), eta=0.1).link()
        {'ax': '0,1', 'eta': 0.1}
        """
        usual, mine = asdict(Choices()), asdict(self)
        return {KEYS[name]: joined(mine[name]) for name in mine if mine[name] != usual[name]}


def joined(value: Any) -> Any:
    """A value of a link: the entries of a tuple with commas between them, and numbers with as few digits as they need.

    >>> joined((0.4, 2.0, "logistic"))
    '0.4,2,logistic'
    """
    if not isinstance(value, tuple):
        return value
    return ",".join(str(one).removesuffix(".0") for one in value)


def _losses(payload: Payload) -> tuple[str, str]:
    known = losses_of_two_classes()
    match payload.get("losses"):
        case [str(first), str(second)] if {first, second} <= set(known):
            return first, second
    raise InputError("losses", got(payload.get("losses")), f"choose two of {', '.join(known)}")


def _axes(payload: Payload) -> tuple[int, int]:
    match payload.get("axes"):
        case [first, second] if (
            is_whole(first) and is_whole(second) and {first, second} < {0, 1, 2} and first != second
        ):
            return first, second
    raise InputError("axes", got(payload.get("axes")), "give two of 0 (b), 1 and 2")


def _method(payload: Payload) -> str:
    given = payload.get("method")
    if given not in METHODS:
        raise InputError("method", got(given), f"choose one of {', '.join(METHODS)}")
    return str(given)


READ: dict[str, Callable[[Payload], Any]] = {
    "losses": _losses,
    "axes": _axes,
    "on": lambda payload: int(number(payload, "on", 0, 1)),
    "method": _method,
    "eta": lambda payload: number(payload, "eta", 1e-4, 1e3),
    "C": lambda payload: None if payload.get("C") is None else number(payload, "C", 1e-6, 1e9),
}
# The strengths of the penalty to choose from.
STRENGTHS = (100.0, 10.0, 1.0, 0.1, 0.01)
# The key of each choice in a link.
KEYS = {"losses": "l", "axes": "ax", "on": "on", "method": "s", "eta": "eta", "C": "C"}


def controls() -> list[dict[str, Any]]:
    """The choices that a form offers besides the losses, each with its values and their texts.

    >>> [one["name"] for one in controls()]
    ['axes', 'method', 'C']
    """
    axes = [(joined(pair), f"{NAMES[pair[0]]} and {NAMES[pair[1]]}") for pair in ((1, 2), (0, 1), (0, 2))]
    penalties = [("", "no penalty"), *((f"{C:g}", f"penalty, C = {C:g}") for C in STRENGTHS)]
    return [
        {"name": "axes", "label": "Axes", "options": axes},
        {"name": "method", "label": "Method", "options": [(name, name.replace("-", " ")) for name in METHODS]},
        {"name": "C", "label": "Penalty", "options": penalties},
    ]


def weights_of(payload: Payload, name: str = "w") -> Array:
    """(b, w₁, w₂) of a payload.

    >>> weights_of({"w": [0, 1, 2.5]}).tolist()
    [0.0, 1.0, 2.5]
    """
    given = payload.get(name)
    if not isinstance(given, list) or len(given) != 3:
        raise InputError(name, got(given), "give three numbers: b, w₁, w₂")
    return np.array([number({name: one}, name, -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT) for one in given])


@dataclass(frozen=True)
class Opened:
    """What a link says: the choices, w, the visible box of weights, the step of a run, and what is not understood."""

    choices: Choices
    w: Array
    box: Box | None
    k: int | None
    unknown: list[str]


def opened(link: Mapping[str, Any]) -> Opened:
    """The state that a link names. Parts that are wrong or unknown are left at their defaults, and listed.

    >>> opened({"ax": "0,2", "w": "1,2,3", "colour": "red"}).unknown
    ['colour']
    """
    unknown = [str(key) for key in link if key not in (*KEYS.values(), "v", "w", "b", "k", "p", "d")]

    def part(key: str, name: str, read: Callable[[Payload], Any], usual: Any) -> Any:
        if key not in link:
            return usual
        try:
            return read({name: _value(str(link[key]))})
        except SeparatrixError:
            unknown.append(f"{key}={link[key]}")
            return usual

    choices = Choices()
    for name, key in KEYS.items():
        choices = replace(choices, **{name: part(key, name, READ[name], getattr(choices, name))})
    return Opened(
        choices,
        part("w", "w", weights_of, np.array(START)),
        part("b", "box", box_of, None),
        part("k", "k", lambda payload: int(number(payload, "k", 0, 1e6)), None),
        unknown,
    )


def _value(text: str) -> Any:
    """A number, a word, or a list of them, from the text of a link.

    >>> _value("0,1"), _value("0.5"), _value("zero-one,hinge")
    ([0, 1], 0.5, ['zero-one', 'hinge'])
    """
    if not text:
        return None
    if "," in text:
        return [_value(one) for one in text.split(",")]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# --- The visible part

# The most steps of the search for a minimum. It has ended at one if the gradient is shorter than this.
SEARCH_STEPS, AT_MINIMUM = 30, 1e-6
# Weights farther out than this are left out of the first picture: a run that diverges, or a minimum that is far away.
FAR = 20.0
# The picture reaches at least this far on each side of the origin, and shows nothing in this share at its edges.
SMALLEST_HALF, EDGE = 2.0, 0.15


def visible(X: Array, y: Integers, chosen: Choices, w: Array, payload: Payload) -> Box:
    """The visible box of weights: the given one, zoomed about w, or one that suits if none is given.

    It follows w, but not along a run, which may leave the picture.
    """
    if payload.get("box") is None:
        return box_around(chosen, [w, *_minima(X, y, chosen)])
    zoom = number(payload, "zoom", 0.01, 100) if payload.get("zoom") is not None else 1.0
    edges: list[float] = []
    for axis, (low, high) in zip(chosen.axes, np.reshape(box_of(payload), (2, 2)), strict=True):
        inside = min(max(w[axis], low), high)
        middle = w[axis] if payload.get("start") is None else inside
        edges += [float(f"{middle + zoom * (edge - inside):.6g}") for edge in (low, high)]
    return box_of({"box": edges})


def _minima(X: Array, y: Integers, chosen: Choices) -> list[Array]:
    """Where a search ends at a minimum, for each loss that ``walk`` can minimise."""
    found = []
    for loss in chosen.losses:
        try:
            end = walk(X, y, "auto", loss, steps=SEARCH_STEPS, C=chosen.strength).W[-1]
        except SeparatrixError:
            continue
        if np.linalg.norm(objective(X, y, loss, C=chosen.strength).gradient(end)) < AT_MINIMUM:
            found.append(end)
    return found


def box_around(chosen: Choices, shown: Sequence[Array], least: float = SMALLEST_HALF) -> Box:
    """A square box around the origin that holds these weights, those that are ``FAR`` away left out."""
    sizes = [float(np.abs(one[list(chosen.axes)]).max()) for one in shown]
    reach = max([least, *(size / (1 - EDGE) for size in sizes if size <= FAR)])
    half = float(np.ceil(2 * reach)) / 2
    return -half, half, -half, half


# --- The page

PRESET = "separable"
# The height of the plane by its width, as in static/weights-plane.js.
HEIGHT_BY_WIDTH = 0.72
# The most steps of a run with all rows, and of one that makes an update for each row.
STEPS_OF_RUN, UPDATES_OF_RUN = 100, 300
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
    line = f"{shown(w[1], 2)} x₁ + {shown(w[2], 2)} x₂ + {shown(w[0], 2)} = 0"
    spec = spelled(X, y, payload.get("preset"))
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
        "label": f"Plane with {many(len(X), 'point')} and the line {line}. {wrong_rows(len(wrong), len(X))}.",
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
    place = ", ".join(f"{NAMES[axis]} {shown(w[axis], 2)}" for axis in chosen.axes)
    numbers = f"E {shown(value)}, length of the gradient {shown(norm)}"
    return {
        "value": value,
        "gradient": gradient,
        "norm": norm,
        "downhill": None if norm < FLAT else -gradient[list(chosen.axes)],
        "stuck": norm < FLAT and len(wrong) > 0 and not traits.continuous,
        "says": slope_sentence(norm, len(wrong), len(X), traits),
        "label": f"{loss}: {place}, {numbers}. {wrong_rows(len(wrong), len(X))}.",
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
    path = walk(X, y, solver, chosen.losses[chosen.on], w, **_extent(chosen.method), C=chosen.strength)
    beyond = np.flatnonzero(np.abs(path.W).max(axis=1) > LARGEST_COEFFICIENT)
    W = path.W[: beyond[0]] if len(beyond) else path.W
    u, v = W[:, chosen.axes[0]], W[:, chosen.axes[1]]
    inside = np.all((u >= box[0]) & (u <= box[1]) & (v >= box[2]) & (v <= box[3]))
    return {
        "W": W,
        "status": f"{path.status[:1].upper()}{path.status[1:]}.",
        "box": box if inside else box_around(chosen, list(W), least=max(map(abs, box))),
    }


def _extent(method: str) -> dict[str, int]:
    """How far a run of a method goes, as arguments of ``walk``."""
    return {"steps": UPDATES_OF_RUN, "budget": 1} if method == "sgd" else {"steps": STEPS_OF_RUN}


def _python(payload: Payload, spec: str, chosen: Choices, w: Array, box: Box, n: int) -> str:
    """The lines that give E and ∇E of both losses at w, and both surfaces; after a run, those that take it again."""
    penalty = "" if chosen.C is None else f", C={chosen.C:g}"
    made, ran = [f"w = {w.tolist()}  # b, w1, w2"], _ran(payload)
    if ran is not None:
        taken, start = solver_of(chosen.method, chosen.eta), f"start={ran.start.tolist()}"
        solver = _quoted(taken) if isinstance(taken, str) else solver_expression(taken)
        extent = ", ".join(f"{name}={value}" for name, value in _extent(chosen.method).items())
        made = [
            f'path = sx.walk(X, y, {solver}, "{chosen.losses[ran.on]}", {start}, {extent}{penalty})',
            "print(path.status)",
            f"w = path.W[{ran.k}]",
        ]
    solvers = [one for one in ("GradientDescent", "StochasticDescent") if one in made[0]]
    edges = ", ".join(str(edge).removesuffix(".0") for edge in box)
    lines = [
        "import separatrix as sx",
        *(f"from separatrix.core.solvers import {one}" for one in solvers),
        "",
        f'X, y = sx.lab.points("{spec}")',
        *made,
        f"for loss in ({', '.join(_quoted(loss) for loss in chosen.losses)}):",
        f"    E = sx.objective(X, y, loss{penalty})",
        "    print(loss, E.value(w), E.gradient(w))",
        "    surface = sx.error_surface(",
        f"        X, y, loss, box=({edges}), columns={chosen.axes}, at=w, points={grid_points(n)}{penalty}",
        "    )",
    ]
    return "\n".join(lines)


def _quoted(value: str) -> str:
    return f'"{value}"'


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
    on, k = number(payload, "ran", 0, 1), number(payload, "k", 0, UPDATES_OF_RUN)
    return _Ran(weights_of(payload, "start"), int(on), int(k))


def recorded(link: PageLink, options: Options) -> Plan:
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
