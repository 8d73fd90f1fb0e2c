"""Activations f in y = f(w·x + b), and their inverses, the links (docs/tour.md, D5, R1, R9).

The same score s = w·x + b can be used in several ways: sign(s) decides between two classes, s itself is a regression,
and σ(s), Φ(s) and 1 − e^{−e^s} are probabilities.

>>> sorted(LINKS)
['cloglog', 'identity', 'logit', 'probit', 'sign', 'softmax']
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, final

import numpy as np

from separatrix.core.base.arrays import Array, Booleans
from separatrix.core.base.errors import ParameterError

# --- Functions that turn scores into probabilities

# Scores are clipped here before exp, since e^z overflows float64 at about 709.
LARGEST_EXPONENT = 700.0


def sigmoid(z: Array | float) -> Array:
    """σ(z) = 1/(1 + e^{−z}), without overflow for any z (docs/tour.md, R1).

    Parameters
    ----------
    z : array or float
        Scores.

    Returns
    -------
    array
        Probabilities, of the shape of z.

    Examples
    --------
    >>> from separatrix.core.links import sigmoid
    >>> sigmoid(np.array([-1e4, 0.0, 1e4])).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(under="ignore"):
        tail = np.exp(-np.abs(z))
    return np.where(np.asarray(z) >= 0, 1.0, tail) / (1.0 + tail)


def logit(p: Array | float) -> Array:
    """The log-odds ln(p/(1 − p)), the inverse of σ (docs/tour.md, R1).

    Parameters
    ----------
    p : array or float
        Probabilities.

    Returns
    -------
    array
        Scores, of the shape of p; ±infinity for p = 0 and p = 1.

    Examples
    --------
    >>> from separatrix.core.links import logit
    >>> round(float(logit(0.75)), 4)
    1.0986
    """
    p = np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def softmax(z: Array) -> Array:
    """p_k = e^{z_k}/Σ_l e^{z_l} along the last axis, without overflow (docs/tour.md, R9).

    Parameters
    ----------
    z : array (..., K)
        Scores.

    Returns
    -------
    array (..., K)
        Probabilities, which sum to 1 along the last axis.

    Examples
    --------
    >>> from separatrix.core.links import softmax
    >>> softmax(np.array([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    with np.errstate(under="ignore"):
        p: Array = np.exp(z - z.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
    return p


def x_log_x(p: Array) -> Array:
    """The function p ln p, with 0 ln 0 = 0 and +inf for p < 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), np.where(p == 0, 0.0, np.inf))


# --- Links


class Link(Protocol):
    """An activation of scores, its inverse for a single score, and probabilities (n, K) if it has them.

    ``name`` is its key in ``LINKS``, which model files and scorers use.

    A single score decides between two classes at ``boundary``: ``decides(z)`` is true where the second class is
    predicted. A link with probabilities predicts the second class if its probability exceeds ½, so a tie goes to the
    first class, as in scikit-learn. A link without probabilities follows the lectures, where z = 0 predicts the second
    class (docs/tour.md, D1); then ``takes_boundary`` is true.
    """

    @property
    def name(self) -> str: ...
    @property
    def probabilistic(self) -> bool: ...
    @property
    def boundary(self) -> float: ...
    @property
    def takes_boundary(self) -> bool: ...
    def decides(self, z: Array) -> Booleans:
        """Whether each score (n,) predicts the second of two classes."""

    def activation(self, z: Array) -> Array:
        """f(z), of the shape of the scores z."""

    def inverse(self, c: float) -> float:
        """The score at which f is c."""

    def log_probabilities(self, z: Array) -> Array:
        """ln P(class) of each class, (n, K)."""


class Decides:
    """The decision by a single score: the second class if z > boundary, or z ≥ boundary with ``takes_boundary``."""

    boundary: float = 0.0
    takes_boundary: bool = False

    def decides(self, z: Array) -> Booleans:
        return z >= self.boundary if self.takes_boundary else z > self.boundary


class BinaryLink(Decides, ABC):
    """A link from a single score to P(second class).

    It computes the logarithms of both probabilities directly, since ln(1 − p) would lose a small p to rounding.
    """

    probabilistic = True

    @abstractmethod
    def activation(self, z: Array) -> Array:
        """P(second class)."""

    @abstractmethod
    def log_both(self, z: Array) -> tuple[Array, Array]:
        """ln P(first class) and ln P(second class)."""

    @abstractmethod
    def of_probability(self, p: float) -> float:
        """The score at which P(second class) is p, for 0 < p < 1."""

    def inverse(self, c: float) -> float:
        if not 0 < c < 1:
            raise ParameterError("c", f"got {c}", "give a probability strictly between 0 and 1")
        return self.of_probability(c)

    def log_probabilities(self, z: Array) -> Array:
        return np.column_stack(self.log_both(z))


@final
@dataclass(frozen=True)
class Logit(BinaryLink):
    """f = σ, f⁻¹ = logit.

    >>> Logit().inverse(0.5)
    0.0
    """

    name: ClassVar[str] = "logit"

    def activation(self, z: Array) -> Array:
        return sigmoid(z)

    def log_both(self, z: Array) -> tuple[Array, Array]:
        return -np.logaddexp(0.0, z), -np.logaddexp(0.0, -z)

    def of_probability(self, p: float) -> float:
        return float(logit(p))


@final
@dataclass(frozen=True)
class ProbitLink(BinaryLink):
    """f = Φ, the normal distribution function.

    >>> round(ProbitLink().inverse(0.975), 2)
    1.96
    """

    name: ClassVar[str] = "probit"

    def activation(self, z: Array) -> Array:
        from scipy.special import ndtr

        return np.asarray(ndtr(z))

    def log_both(self, z: Array) -> tuple[Array, Array]:
        from scipy.special import log_ndtr

        return np.asarray(log_ndtr(-z)), np.asarray(log_ndtr(z))

    def of_probability(self, p: float) -> float:
        from scipy.special import ndtri

        return float(ndtri(p))


@final
@dataclass(frozen=True)
class CloglogLink(BinaryLink):
    """f(s) = 1 − e^{−e^s}, f⁻¹(p) = ln(−ln(1 − p)); P(second) = ½ at s = ln ln 2, not at 0.

    >>> round(float(CloglogLink().activation(np.array([0.0]))[0]), 3)
    0.632
    >>> CloglogLink().decides(np.array([-0.4, -0.3])).tolist()
    [False, True]
    """

    name: ClassVar[str] = "cloglog"
    boundary = math.log(math.log(2.0))

    def activation(self, z: Array) -> Array:
        with np.errstate(under="ignore"):
            return np.asarray(-np.expm1(-np.exp(np.minimum(z, LARGEST_EXPONENT))))

    def log_both(self, z: Array) -> tuple[Array, Array]:
        with np.errstate(under="ignore", over="ignore"):
            rate = np.exp(np.minimum(z, LARGEST_EXPONENT))
            second = np.where(z < -30, z, np.log(-np.expm1(-np.maximum(rate, 1e-300))))
        return -rate, second

    def of_probability(self, p: float) -> float:
        return float(np.log(-np.log1p(-p)))


@final
@dataclass(frozen=True)
class SoftmaxLink(Decides):
    """f = softmax over the K scores. Boundaries lie between pairs of classes, so there is no inverse.

    >>> SoftmaxLink().activation(np.array([[0.0, 0.0, 0.0, 0.0]])).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """

    name: ClassVar[str] = "softmax"
    probabilistic: ClassVar[bool] = True

    def activation(self, z: Array) -> Array:
        return softmax(z)

    def inverse(self, c: float) -> float:
        raise ParameterError("c", f"got {c} for more than two classes", "ask for the boundary of two classes")

    def log_probabilities(self, z: Array) -> Array:
        top = z.max(axis=1, keepdims=True)
        with np.errstate(under="ignore"):
            return np.asarray(z - top - np.log(np.exp(z - top).sum(axis=1, keepdims=True)))


class _NoProbabilities(Decides):
    """A link without probabilities, for which z = 0 predicts the second class (docs/tour.md, D1, P13)."""

    probabilistic = False
    takes_boundary = True

    def log_probabilities(self, z: Array) -> Array:
        raise ParameterError(
            "probabilities", "this model has scores only", "use a model with probabilities, such as logistic"
        )


@final
@dataclass(frozen=True)
class IdentityLink(_NoProbabilities):
    """f(s) = s, as in linear regression.

    >>> IdentityLink().inverse(0.5)
    0.5
    """

    name: ClassVar[str] = "identity"

    def activation(self, z: Array) -> Array:
        return z

    def inverse(self, c: float) -> float:
        return float(c)


@final
@dataclass(frozen=True)
class Sign(_NoProbabilities):
    """f(s) = +1 for s ≥ 0, else −1, as in a classifier without probabilities (docs/tour.md, D1).

    >>> Sign().activation(np.array([-2.0, 0.0, 3.0])).tolist()
    [-1.0, 1.0, 1.0]
    """

    name: ClassVar[str] = "sign"

    def activation(self, z: Array) -> Array:
        return np.where(z >= 0, 1.0, -1.0)

    def inverse(self, c: float) -> float:
        return 0.0


LINKS: dict[str, Link] = {
    link.name: link for link in (Logit(), ProbitLink(), CloglogLink(), SoftmaxLink(), IdentityLink(), Sign())
}

__all__ = [
    "LINKS",
    "BinaryLink",
    "CloglogLink",
    "Decides",
    "IdentityLink",
    "Link",
    "Logit",
    "ProbitLink",
    "Sign",
    "SoftmaxLink",
]
