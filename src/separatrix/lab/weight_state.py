"""The choices on the page Weight space: losses, axes, penalty and method, from a request or a link, and as a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import InputError, SeparatrixError
from separatrix.lab.descents import HIGHEST_ETA, LOWEST_ETA, METHODS
from separatrix.lab.drawing import Box, box_of
from separatrix.lab.request_registry import Payload, got, is_whole, number
from separatrix.lab.requests.losses import losses_of_two_classes
from separatrix.lab.weight_words import NAMES

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
    "eta": lambda payload: number(payload, "eta", LOWEST_ETA, HIGHEST_ETA),
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
