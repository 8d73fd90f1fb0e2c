"""Activations f and their inverses, the links: y = f(w·x + b). TEXTBOOK D5.

One signal s = w·x + b, several heads: sign(s) decides, s regresses, σ(s) is a probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from separatrix.arrays import Array
from separatrix.errors import ParameterError
from separatrix.losses import logit, sigmoid, softmax


class Link(Protocol):
    """An activation of scores, and for one score its inverse. ``probabilistic``: it gives probabilities."""

    @property
    def probabilistic(self) -> bool: ...
    def activation(self, z: Array) -> Array: ...
    def inverse(self, c: float) -> float: ...


@final
@dataclass(frozen=True)
class Logit:
    """f = σ, f⁻¹ = logit.

    >>> Logit().inverse(0.5)
    0.0
    """

    probabilistic: bool = True

    def activation(self, z: Array) -> Array:
        return sigmoid(z)

    def inverse(self, c: float) -> float:
        if not 0 < c < 1:
            raise ParameterError("c", f"got {c}", "give a probability strictly between 0 and 1")
        return float(logit(c))


@final
@dataclass(frozen=True)
class SoftmaxLink:
    """f = softmax over the K scores; boundaries lie between pairs of classes, not at a level c."""

    probabilistic: bool = True

    def activation(self, z: Array) -> Array:
        return softmax(z)

    def inverse(self, c: float) -> float:
        raise ParameterError("c", f"got {c} for more than two classes", "ask for the boundary of two classes")


@final
@dataclass(frozen=True)
class Identity:
    """f(s) = s: linear regression's head."""

    probabilistic: bool = False

    def activation(self, z: Array) -> Array:
        return z

    def inverse(self, c: float) -> float:
        return float(c)


@final
@dataclass(frozen=True)
class Sign:
    """f(s) = +1 for s ≥ 0, else −1: the classifier's head. TEXTBOOK D1.

    >>> Sign().activation(np.array([-2.0, 0.0, 3.0])).tolist()
    [-1.0, 1.0, 1.0]
    """

    probabilistic: bool = False

    def activation(self, z: Array) -> Array:
        return np.where(z >= 0, 1.0, -1.0)

    def inverse(self, c: float) -> float:
        return 0.0


LINKS: dict[str, Link] = {
    "logit": Logit(),
    "softmax": SoftmaxLink(),
    "identity": Identity(),
    "sign": Sign(),
}
