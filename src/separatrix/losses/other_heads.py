"""Losses with other links than the logistic one, and the squared error of σ (docs/tour.md, D5, R4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.losses.activations import LARGEST_EXPONENT, sigmoid
from separatrix.losses.links import CloglogLink, Logit, ProbitLink
from separatrix.losses.traits import MarginLoss, Traits


@final
@dataclass(frozen=True)
class Probit(MarginLoss):
    """ℓ(m) = −ln Φ(m), where Φ is the normal distribution function: P(+ | z) = Φ(z).

    Examples
    --------
    >>> from separatrix.losses import Probit
    >>> round(float(Probit().of_margin(np.array(0.0))), 3)
    0.693
    """

    traits: ClassVar[Traits] = Traits(link=ProbitLink(), likelihood=True, lipschitz=1.0, costly=True)

    def of_margin(self, m: Array) -> Array:
        from scipy.special import log_ndtr

        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(-log_ndtr(m))

    def slope(self, m: Array) -> Array:
        """−φ(m)/Φ(m), which approaches m − 1/m as m → −∞."""
        return self.value_slope(m)[1]

    def value_slope(self, m: Array) -> tuple[Array, Array]:
        """ℓ and ℓ′, with ln Φ(m) computed once: it takes most of the time."""
        value = self.of_margin(m)
        with np.errstate(under="ignore", over="ignore", divide="ignore", invalid="ignore"):
            ratio = np.exp(-0.5 * m**2 - 0.5 * np.log(2 * np.pi) + value)
            return value, np.where(m < -1e4, m - 1.0 / np.where(m == 0, 1.0, m), -ratio)

    def curvature(self, m: Array) -> Array:
        """r (r + m) with r = φ(m)/Φ(m)."""
        r = -self.slope(m)
        with np.errstate(over="ignore", under="ignore"):
            return np.where(m < -1e4, 1.0, r * np.maximum(r + np.maximum(m, -1e4), 0.0))

    def conjugate_of_slope(self, a: Array) -> Array:
        """sup_m a m − ℓ(m), by bisection for the m at which the slope is a."""
        low, high = np.full_like(a, -1e5), np.full_like(a, 40.0)
        for _ in range(80):
            middle = 0.5 * (low + high)
            steeper = self.slope(middle) < a
            low, high = np.where(steeper, middle, low), np.where(steeper, high, middle)
        m = 0.5 * (low + high)
        return np.where(a < 0, a * m - self.of_margin(m), np.where(a == 0, 0.0, np.inf))


@final
@dataclass(frozen=True)
class ComplementaryLogLog:
    """ℓ = −ln P with P(+ | z) = 1 − e^{−e^z}, the probability of at least one event at the Poisson rate e^z.

    It is not symmetric in the two classes, so it is not a loss of the margin.

    Examples
    --------
    >>> from separatrix.losses import ComplementaryLogLog
    >>> ComplementaryLogLog().value(np.array([-1.0]), np.array([0.0])).tolist()
    [1.0]
    """

    traits: ClassVar[Traits] = Traits(link=CloglogLink(), likelihood=True, by_margin=False)

    def value(self, t: AnyArray, z: Array) -> Array:
        rate = _rate(z)
        return _by_target(t, lambda: _surprise(z, 1.0 / np.expm1(_held(rate))), rate)

    def derivative(self, t: AnyArray, z: Array) -> Array:
        rate = _rate(z)
        return _by_target(t, lambda: -_hazard(_held(rate)), rate)

    def value_derivative(self, t: AnyArray, z: Array) -> tuple[Array, Array]:
        rate = _rate(z)
        if np.ndim(t) == 0 and t < 0:
            return rate, rate
        held = _held(rate)
        inverse = 1.0 / np.expm1(held)
        return _by_target(t, lambda: _surprise(z, inverse), rate), _by_target(t, lambda: -(held * inverse), rate)

    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array:
        """ℓ″ = h (h − 1 + λ) for t = +, λ for t = −, with λ = e^z and h = λ/(e^λ − 1)."""
        rate = _rate(z)
        held = _held(rate)
        h = _hazard(held)
        # Near λ = 0 the bracket is λ/2 up to higher orders, and its terms would cancel.
        bracket = np.where(rate < 1e-5, 0.5 * rate, h - 1.0 + held)
        with np.errstate(over="ignore"):
            return np.where(np.asarray(t) > 0, h * bracket, rate) * dz

    def conjugate(self, t: AnyArray, a: Array) -> Array:
        """For t = −: a ln a − a, a ≥ 0. For t = +: by bisection for the z at which the slope is a, −1 < a < 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            minus = np.where(a > 0, a * np.log(np.where(a > 0, a, 1.0)) - a, np.where(a == 0, 0.0, np.inf))
        low, high = np.full_like(a, -50.0), np.full_like(a, 7.0)
        one = np.ones_like(a)
        for _ in range(80):
            middle = 0.5 * (low + high)
            steeper = self.derivative(one, middle) < a
            low, high = np.where(steeper, middle, low), np.where(steeper, high, middle)
        z = 0.5 * (low + high)
        plus = np.where((a > -1) & (a < 0), a * z - self.value(one, z), np.where(a == 0, 0.0, np.inf))
        return np.where(np.asarray(t) > 0, plus, minus)


def _rate(z: Array) -> Array:
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(np.minimum(z, LARGEST_EXPONENT)))


def _by_target(t: AnyArray, plus: Callable[[], Array], minus: Array) -> Array:
    """``plus()`` where t is positive, else ``minus``. One target for all scores needs only one of them."""
    if np.ndim(t) == 0:
        return plus() if t > 0 else minus
    return np.where(np.asarray(t) > 0, plus(), minus)


def _held(rate: Array) -> Array:
    """λ, held where e^λ − 1 neither vanishes nor overflows."""
    return np.minimum(np.maximum(rate, 1e-300), LARGEST_EXPONENT)


def _surprise(z: Array, inverse: Array) -> Array:
    """−ln(1 − e^{−λ}) = ln(1 + 1/(e^λ − 1)), given 1/(e^λ − 1); never below −z, and −z for λ below 1e-300."""
    with np.errstate(under="ignore"):
        return np.maximum(np.log1p(inverse), -z)


def _hazard(held: Array) -> Array:
    """λ/(e^λ − 1), 1 at λ = 0."""
    return np.asarray(held * (1.0 / np.expm1(held)))


@final
@dataclass(frozen=True)
class SquaredSigmoid(MarginLoss):
    """ℓ(m) = (1 − σ(m))², which for y ∈ {0, 1} is (y − σ(z))²: the squared cost of lecture 000 (docs/tour.md, R4).

    It is bounded, so a mistake far from the boundary costs at most 1. It is not convex, and its mean over rows may have
    several minima.

    Examples
    --------
    >>> from separatrix.losses import SquaredSigmoid
    >>> SquaredSigmoid().of_margin(np.array([0.0, -800.0])).tolist()
    [0.25, 1.0]
    """

    traits: ClassVar[Traits] = Traits(convex=False, link=Logit(), lipschitz=0.16)

    def of_margin(self, m: Array) -> Array:
        with np.errstate(under="ignore"):
            return sigmoid(-m) ** 2

    def slope(self, m: Array) -> Array:
        return self.value_slope(m)[1]

    def value_slope(self, m: Array) -> tuple[Array, Array]:
        """ℓ and ℓ′, with one exponential for σ(m) and σ(−m)."""
        with np.errstate(under="ignore"):
            smaller = np.exp(-np.abs(m))
            total = 1.0 + smaller
            larger = 1.0 / total
            smaller /= total
            is_wrong = m <= 0
            value = np.where(is_wrong, larger, smaller)
            value *= value
            slope = -2.0 * value
            slope *= np.where(is_wrong, smaller, larger)
            return value, np.asarray(slope)

    def curvature(self, m: Array) -> Array:
        s = sigmoid(-m)
        with np.errstate(under="ignore"):
            return 2.0 * s**2 * (2.0 - 3.0 * s) * sigmoid(m)

    def conjugate_of_slope(self, a: Array) -> Array:
        """For a bounded loss, sup_m a m − ℓ(m) = ∞ unless a = 0."""
        return np.where(a == 0, 0.0, np.inf)
