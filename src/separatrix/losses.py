r"""Losses of one row's score, with their mathematics as traits. TEXTBOOK L1, L2.

A loss knows the coded target t and the score z, nothing of X or w. The margin losses are functions ℓ(m) of
m = t z with t = ±1 and z of shape (m,); softmax takes class numbers t and scores (m, K).

>>> sorted(LOSSES)
['hinge', 'logistic', 'perceptron', 'softmax', 'squared', 'zero-one']
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, final, runtime_checkable

import numpy as np

from separatrix.arrays import AnyArray, Array


@dataclass(frozen=True)
class Traits:
    """What is true of a loss, for the laws that hold only where it is.

    convex: in z. continuous, smooth: in z; smooth is twice differentiable. proper: its minimiser is a probability.
    calibrated: minimising it minimises the 0-1 error in the limit. lipschitz: of the derivative, or None.
    self_concordance: M with |ℓ‴[h,h,h]| ≤ M · range(h) · ℓ″[h,h], or None; range(h) is |h| for one score.
    by_margin: a function of t z alone. multiclass: of K scores.
    """

    convex: bool = True
    continuous: bool = True
    smooth: bool = True
    proper: bool = False
    calibrated: bool = True
    lipschitz: float | None = None
    self_concordance: float | None = None
    by_margin: bool = True
    multiclass: bool = False


@runtime_checkable
class Loss(Protocol):
    """ℓ(t, z), its derivative and curvature in z, and its conjugate."""

    @property
    def traits(self) -> Traits: ...
    def value(self, t: AnyArray, z: Array) -> Array: ...
    def derivative(self, t: AnyArray, z: Array) -> Array: ...
    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array: ...
    def conjugate(self, t: AnyArray, a: Array) -> Array: ...


class MarginLoss(ABC):
    """A loss ℓ(m) of the margin: subclasses give ℓ, ℓ′, ℓ″ and ℓ*, this turns them round to (t, z)."""

    traits: ClassVar[Traits]

    @abstractmethod
    def of_margin(self, m: Array) -> Array: ...
    @abstractmethod
    def slope(self, m: Array) -> Array: ...
    @abstractmethod
    def curvature(self, m: Array) -> Array: ...
    @abstractmethod
    def conjugate_of_slope(self, a: Array) -> Array: ...

    def value(self, t: AnyArray, z: Array) -> Array:
        return self.of_margin(np.asarray(t * z, dtype=np.float64))

    def derivative(self, t: AnyArray, z: Array) -> Array:
        return np.asarray(t * self.slope(np.asarray(t * z, dtype=np.float64)))

    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array:
        return self.curvature(np.asarray(t * z, dtype=np.float64)) * dz

    def conjugate(self, t: AnyArray, a: Array) -> Array:
        return self.conjugate_of_slope(np.asarray(t * a, dtype=np.float64))


def sigmoid(z: Array | float) -> Array:
    """σ(z) = 1/(1 + e^{−z}), without overflow at any z. TEXTBOOK R1.

    >>> sigmoid(np.array([-1e4, 0.0, 1e4])).tolist()
    [0.0, 0.5, 1.0]
    """
    with np.errstate(under="ignore"):
        tail = np.exp(-np.abs(z))
    return np.where(np.asarray(z) >= 0, 1.0, tail) / (1.0 + tail)


def logit(p: Array | float) -> Array:
    """The log-odds log(p/(1 − p)), inverse of σ. TEXTBOOK R1.

    >>> round(float(logit(0.75)), 4)
    1.0986
    """
    p = np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def softmax(z: Array) -> Array:
    """p_k = e^{z_k}/Σ_l e^{z_l} along the last axis, without overflow. TEXTBOOK R9.

    >>> softmax(np.array([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    with np.errstate(under="ignore"):
        p: Array = np.exp(z - z.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
    return p


def _x_log_x(p: Array) -> Array:
    """P ln p with 0 ln 0 = 0, and +inf for p < 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), np.where(p == 0, 0.0, np.inf))


@final
@dataclass(frozen=True)
class Logistic(MarginLoss):
    r"""ℓ(m) = ln(1 + e^{−m}).

    Convex, proper, its derivative ¼-Lipschitz. TEXTBOOK R3.

    >>> round(float(Logistic().value(1.0, 0.0)), 3)
    0.693
    """

    traits: ClassVar[Traits] = Traits(proper=True, lipschitz=0.25, self_concordance=1.0)

    def of_margin(self, m: Array) -> Array:
        with np.errstate(under="ignore"):
            return np.asarray(np.maximum(-m, 0.0) + np.log1p(np.exp(-np.abs(m))))

    def slope(self, m: Array) -> Array:
        return -sigmoid(-m)

    def curvature(self, m: Array) -> Array:
        with np.errstate(under="ignore"):
            tail = np.exp(-np.abs(m))
            return np.asarray(tail / (1.0 + tail) ** 2)

    def conjugate_of_slope(self, a: Array) -> Array:
        """(−a) ln(−a) + (1 + a) ln(1 + a) for a in [−1, 0]."""
        return _x_log_x(-a) + _x_log_x(1.0 + a)


@final
@dataclass(frozen=True)
class Squared(MarginLoss):
    """ℓ(m) = (1 − m)², which for t = ±1 is (t − z)². TEXTBOOK L2: it punishes what is "too correct".

    >>> Squared().of_margin(np.array([1.0, 0.0, 2.0])).tolist()
    [0.0, 1.0, 1.0]
    """

    traits: ClassVar[Traits] = Traits(lipschitz=2.0, self_concordance=0.0)

    def of_margin(self, m: Array) -> Array:
        return (1.0 - m) ** 2

    def slope(self, m: Array) -> Array:
        return 2.0 * (m - 1.0)

    def curvature(self, m: Array) -> Array:
        return np.full_like(m, 2.0)

    def conjugate_of_slope(self, a: Array) -> Array:
        return a + a**2 / 4.0


@final
@dataclass(frozen=True)
class Perceptron(MarginLoss):
    """ℓ(m) = max(0, −m). TEXTBOOK P1. At the kink m = 0 the row counts as a mistake, so the slope is −1.

    >>> Perceptron().of_margin(np.array([-2.0, 0.0, 3.0])).tolist()
    [2.0, 0.0, 0.0]
    """

    traits: ClassVar[Traits] = Traits(smooth=False, calibrated=False)

    def of_margin(self, m: Array) -> Array:
        return np.where(m < 0, -m, 0.0)

    def slope(self, m: Array) -> Array:
        return np.where(m <= 0, -1.0, 0.0)

    def curvature(self, m: Array) -> Array:
        return np.zeros_like(m)

    def conjugate_of_slope(self, a: Array) -> Array:
        return np.where((a >= -1) & (a <= 0), 0.0, np.inf)


@final
@dataclass(frozen=True)
class Hinge(MarginLoss):
    """ℓ(m) = max(0, 1 − m); at the kink m = 1 the slope is −1.

    >>> Hinge().of_margin(np.array([-1.0, 1.0, 3.0])).tolist()
    [2.0, 0.0, 0.0]
    """

    traits: ClassVar[Traits] = Traits(smooth=False)

    def of_margin(self, m: Array) -> Array:
        return np.maximum(0.0, 1.0 - m)

    def slope(self, m: Array) -> Array:
        return np.where(m <= 1, -1.0, 0.0)

    def curvature(self, m: Array) -> Array:
        return np.zeros_like(m)

    def conjugate_of_slope(self, a: Array) -> Array:
        return np.where((a >= -1) & (a <= 0), a, np.inf)


@final
@dataclass(frozen=True)
class ZeroOne:
    """1 for a mistake, 0 otherwise: flat pieces, no slope to descend. TEXTBOOK L1, D1.

    ``at_zero="mistake"``: a mistake is m ≤ 0. ``at_zero="positive"``: z = 0 predicts +, a mistake is f(z) ≠ t.

    >>> ZeroOne().value(np.array([1, -1, 1]), np.array([0.0, 0.0, 2.0])).tolist()
    [1.0, 1.0, 0.0]
    >>> ZeroOne(at_zero="positive").value(np.array([1, -1, 1]), np.array([0.0, 0.0, 2.0])).tolist()
    [0.0, 1.0, 0.0]
    """

    at_zero: Literal["mistake", "positive"] = "mistake"
    traits: ClassVar[Traits] = Traits(convex=False, continuous=False, smooth=False)

    def value(self, t: AnyArray, z: Array) -> Array:
        wrong = t * z <= 0 if self.at_zero == "mistake" else np.where(np.asarray(z) >= 0, 1, -1) != t
        return np.asarray(wrong, dtype=np.float64)

    def derivative(self, t: AnyArray, z: Array) -> Array:
        return np.zeros_like(np.asarray(t * z, dtype=np.float64))

    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array:
        return np.zeros_like(np.asarray(t * z, dtype=np.float64))

    def conjugate(self, t: AnyArray, a: Array) -> Array:
        """sup_z a z − ℓ is 0 at a = 0 and unbounded elsewhere."""
        return np.where(np.asarray(t * a) == 0, 0.0, np.inf)


@final
@dataclass(frozen=True)
class Softmax:
    r"""ℓ(t, z) = ln Σ_k e^{z_k} − z_t, for class numbers t and scores (m, K). TEXTBOOK R9.

    Unchanged when all scores of a row are shifted alike. Its third derivative along h is a third central moment
    of h under p, at most range(h) times the variance: the self-concordance constant is 1.

    >>> Softmax().value(np.array([0]), np.zeros((1, 3))).round(4).tolist()
    [1.0986]
    """

    traits: ClassVar[Traits] = Traits(
        proper=True, lipschitz=0.5, self_concordance=1.0, by_margin=False, multiclass=True
    )

    def value(self, t: AnyArray, z: Array) -> Array:
        top = z.max(axis=1)
        with np.errstate(under="ignore"):
            total = np.log(np.exp(z - top[:, None]).sum(axis=1))
        return np.asarray(total + (top - np.take_along_axis(z, t[:, None], axis=1)[:, 0]))

    def derivative(self, t: AnyArray, z: Array) -> Array:
        r = softmax(z)
        r[np.arange(len(t)), t] -= 1.0
        return r

    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array:
        p = softmax(z)
        return np.asarray(p * (dz - (p * dz).sum(axis=1, keepdims=True)))

    def conjugate(self, t: AnyArray, a: Array) -> Array:
        """Σ_k q_k ln q_k with q = a + e_t in the simplex."""
        q = a.copy()
        q[np.arange(len(t)), t] += 1.0
        on_simplex = np.abs(q.sum(axis=1) - 1.0) <= 1e-9
        return np.where(on_simplex, _x_log_x(q).sum(axis=1), np.inf)


LOSSES: dict[str, Loss] = {
    "logistic": Logistic(),
    "softmax": Softmax(),
    "squared": Squared(),
    "perceptron": Perceptron(),
    "hinge": Hinge(),
    "zero-one": ZeroOne(),
}
