"""Losses ℓ(t, z) of the score z of a row, with their mathematical properties as traits.

A loss depends on the coded target t and the score z, not on X or w. The margin losses are functions ℓ(m) of
m = t z with t = ±1 and z of shape (n,); softmax takes class numbers t and scores (n, K). See docs/tour.md, D5, L1, L2,
P1, R3, R4 and R9.

>>> sorted(LOSSES)
['cloglog', 'hinge', 'logistic', 'perceptron', 'probit', 'softmax', 'squared', 'squared-sigmoid', 'squared_hinge',
 'zero-one']
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, final, runtime_checkable

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.lazy import cached_property
from separatrix.core.links import (
    LARGEST_EXPONENT,
    CloglogLink,
    Link,
    Logit,
    ProbitLink,
    Sign,
    SoftmaxLink,
    logit,
    sigmoid,
    softmax,
    x_log_x,
)

# --- The interface of a loss, and its traits


@dataclass(frozen=True)
class Traits:
    """The mathematical properties of a loss. They decide which solvers, bounds and general tests apply to it.

    Attributes
    ----------
    convex, continuous : bool
        In z.
    smooth : bool
        Differentiable in z everywhere, and twice differentiable except at single scores.
    link : Link or None
        The link under which the minimiser of the expected loss is the true probability; None for a loss without
        probabilities.
    likelihood : bool
        Whether ℓ = −ln P(t | z) under the link.
    calibrated : bool
        Whether minimising the expected loss also minimises the expected 0–1 error.
    lipschitz : float or None
        The Lipschitz constant of the derivative.
    steepest : float or None
        The largest absolute value of the derivative, if a bound needs it.
    self_concordance : float or None
        M with |ℓ‴[h,h,h]| ≤ M · range(h) · ℓ″[h,h]; for one score range(h) is |h|.
    by_margin : bool
        Whether the loss is a function of t z alone.
    multiclass : bool
        Whether it takes K scores.
    costly : bool
        For a loss of the margin, whether it takes many times as long as a polynomial; error surfaces tabulate it.
    """

    convex: bool = True
    continuous: bool = True
    smooth: bool = True
    link: Link | None = None
    likelihood: bool = False
    calibrated: bool = True
    lipschitz: float | None = None
    steepest: float | None = None
    self_concordance: float | None = None
    by_margin: bool = True
    multiclass: bool = False
    costly: bool = False

    @property
    def proper(self) -> bool:
        """Whether minimising it estimates probabilities."""
        return self.link is not None

    @property
    def head(self) -> Link:
        """The link of a model fitted with this loss; for a loss without probabilities, the sign of the score."""
        return Sign() if self.link is None else self.link

    @cached_property
    def canonical(self) -> bool:
        """Whether it is the log loss of the logistic or softmax model, whose dual is an entropy."""
        return self.likelihood and isinstance(self.link, Logit | SoftmaxLink)


@runtime_checkable
class Loss(Protocol):
    """The interface of a loss: ℓ(t, z), its derivative and curvature in z, and its convex conjugate."""

    @property
    def traits(self) -> Traits: ...
    def value(self, t: AnyArray, z: Array) -> Array:
        """ℓ(t, z) of each row, (n,)."""

    def derivative(self, t: AnyArray, z: Array) -> Array:
        """∂ℓ/∂z of each row, of the shape of z."""

    def value_derivative(self, t: AnyArray, z: Array) -> tuple[Array, Array]:
        """``value`` and ``derivative`` together, which may share work."""

    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array:
        """The second derivative of each row times dz, of the shape of z."""

    def conjugate(self, t: AnyArray, a: Array) -> Array:
        """The convex conjugate sup_z a·z − ℓ(t, z) of each row, (n,); +infinity outside its domain."""


@runtime_checkable
class Kinked(Loss, Protocol):
    """A convex loss that is not smooth but has smooth approximations, from which dual feasible points follow.

    Every slope of ``smoothed(mu)`` is a slope of this loss, and ``smoothed(mu)`` tends to this loss as mu tends to 0.
    """

    def smoothed(self, mu: float) -> Loss:
        """The smooth approximation with the parameter μ > 0."""


class MarginLoss(ABC):
    """A loss ℓ(m) of the margin m = t z. Subclasses define ℓ, ℓ′, ℓ″ and ℓ* in m; this class converts to (t, z)."""

    traits: ClassVar[Traits]

    @abstractmethod
    def of_margin(self, m: Array) -> Array:
        """ℓ(m)."""

    @abstractmethod
    def slope(self, m: Array) -> Array:
        """ℓ′(m)."""

    @abstractmethod
    def curvature(self, m: Array) -> Array:
        """ℓ″(m)."""

    @abstractmethod
    def conjugate_of_slope(self, a: Array) -> Array:
        """ℓ*(a) = sup_m a m − ℓ(m)."""

    def value_slope(self, m: Array) -> tuple[Array, Array]:
        """ℓ and ℓ′ together; a subclass may override it to share work between the two."""
        return self.of_margin(m), self.slope(m)

    def value(self, t: AnyArray, z: Array) -> Array:
        """ℓ(t z) of each row."""
        return self.of_margin(np.asarray(t * z, dtype=np.float64))

    def derivative(self, t: AnyArray, z: Array) -> Array:
        """∂ℓ/∂z = t ℓ′(t z) of each row."""
        return np.asarray(t * self.slope(np.asarray(t * z, dtype=np.float64)))

    def value_derivative(self, t: AnyArray, z: Array) -> tuple[Array, Array]:
        """``value`` and ``derivative`` together."""
        value, slope = self.value_slope(np.asarray(t * z, dtype=np.float64))
        return value, np.asarray(t * slope)

    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array:
        """ℓ″(t z) dz of each row, since t² = 1."""
        return self.curvature(np.asarray(t * z, dtype=np.float64)) * dz

    def conjugate(self, t: AnyArray, a: Array) -> Array:
        """ℓ*(t a) of each row."""
        return self.conjugate_of_slope(np.asarray(t * a, dtype=np.float64))


# --- Losses of the margin

# Second derivative, as a share of the largest, where the exact one is zero. With zeros, the Hessian would be singular
# along the intercept whenever no row has curvature, and Newton's step would not exist.
CURVATURE_OF_FLAT_PARTS = 1e-8


@final
@dataclass(frozen=True)
class Logistic(MarginLoss):
    r"""ℓ(m) = ln(1 + e^{−m}).

    It is convex and proper, and its derivative is ¼-Lipschitz (docs/tour.md, R3).

    Examples
    --------
    >>> from separatrix.core.losses import Logistic
    >>> round(float(Logistic().value(1.0, 0.0)), 3)
    0.693
    """

    traits: ClassVar[Traits] = Traits(link=Logit(), likelihood=True, lipschitz=0.25, self_concordance=1.0)

    def of_margin(self, m: Array) -> Array:
        with np.errstate(under="ignore"):
            value = _tail(m)
            np.log1p(value, out=value)
            value -= np.minimum(m, 0.0)
            return value

    def slope(self, m: Array) -> Array:
        return -sigmoid(-m)

    def value_slope(self, m: Array) -> tuple[Array, Array]:
        with np.errstate(under="ignore"):
            tail = _tail(m)
            value = np.log1p(tail)
            value -= np.minimum(m, 0.0)
            # The tail is at most 1, so the maximum is 1 for m < 0. It takes two thirds of the time of ``where``.
            slope = np.maximum(tail, m < 0, out=np.empty_like(tail))
            tail += 1.0
            slope /= tail
            return value, np.negative(slope, out=slope)

    def curvature(self, m: Array) -> Array:
        with np.errstate(under="ignore"):
            tail = _tail(m)
            return np.asarray(tail / (1.0 + tail) ** 2)

    def conjugate_of_slope(self, a: Array) -> Array:
        """(−a) ln(−a) + (1 + a) ln(1 + a) for a in [−1, 0]."""
        return x_log_x(-a) + x_log_x(1.0 + a)


def _tail(m: Array) -> Array:
    """e^{−|m|} in a new array, which is computed in place: temporary arrays take a quarter of the time of a loss."""
    tail = np.empty_like(m, dtype=np.float64)
    np.abs(m, out=tail)
    np.negative(tail, out=tail)
    return np.exp(tail, out=tail)


@final
@dataclass(frozen=True)
class Squared(MarginLoss):
    """ℓ(m) = (1 − m)², which for t = ±1 is (t − z)² (docs/tour.md, L2).

    It also penalises rows that are "too correct", with m > 1.

    Examples
    --------
    >>> from separatrix.core.losses import Squared
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
    """ℓ(m) = max(0, −m) (docs/tour.md, P1). At the kink m = 0 the row counts as a mistake, so the slope is −1.

    Examples
    --------
    >>> from separatrix.core.losses import Perceptron
    >>> Perceptron().of_margin(np.array([-2.0, 0.0, 3.0])).tolist()
    [2.0, 0.0, 0.0]
    """

    traits: ClassVar[Traits] = Traits(smooth=False, calibrated=False, steepest=1.0)

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
    """ℓ(m) = max(0, 1 − m). At the kink m = 1 the slope is −1.

    Examples
    --------
    >>> from separatrix.core.losses import Hinge
    >>> Hinge().of_margin(np.array([-1.0, 1.0, 3.0])).tolist()
    [2.0, 0.0, 0.0]
    """

    traits: ClassVar[Traits] = Traits(smooth=False, steepest=1.0)

    def of_margin(self, m: Array) -> Array:
        return np.maximum(0.0, 1.0 - m)

    def slope(self, m: Array) -> Array:
        return np.where(m <= 1, -1.0, 0.0)

    def curvature(self, m: Array) -> Array:
        return np.zeros_like(m)

    def conjugate_of_slope(self, a: Array) -> Array:
        return np.where((a >= -1) & (a <= 0), a, np.inf)

    def smoothed(self, mu: float) -> SmoothedHinge:
        """The smooth loss whose slope falls linearly from 0 to −1 between m = 1 and m = 1 − μ."""
        return SmoothedHinge(mu)


@final
@dataclass(frozen=True)
class SmoothedHinge(MarginLoss):
    """ℓ(m) = max over −1 ≤ a ≤ 0 of a (m − 1) − ½ μ a², which lies between the hinge loss − μ/2 and the hinge loss.

    It is (1 − m)²/(2μ) between m = 1 − μ and m = 1, zero for m > 1, and 1 − m − μ/2 for m < 1 − μ. Nesterov, Smooth
    minimization of non-smooth functions, Mathematical Programming 103 (2005).

    >>> SmoothedHinge(0.5).of_margin(np.array([-1.0, 0.75, 1.0])).tolist()
    [1.75, 0.0625, 0.0]
    """

    mu: float

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        return Traits(lipschitz=1.0 / self.mu, steepest=1.0)

    def of_margin(self, m: Array) -> Array:
        a = self.slope(m)
        return a * (m - 1.0) - 0.5 * self.mu * a * a

    def slope(self, m: Array) -> Array:
        return np.clip((m - 1.0) / self.mu, -1.0, 0.0)

    def curvature(self, m: Array) -> Array:
        return np.where((m < 1.0) & (m > 1.0 - self.mu), 1.0, CURVATURE_OF_FLAT_PARTS) / self.mu

    def conjugate_of_slope(self, a: Array) -> Array:
        """The conjugate of the hinge loss plus ½ μ a², for a in [−1, 0]."""
        return np.where((a >= -1) & (a <= 0), a + 0.5 * self.mu * a * a, np.inf)


@final
@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """ℓ(m) = max(0, 1 − m)², the squared loss without a cost for m > 1.

    Its second derivative is 2 for m < 1 and 0 for m > 1, where ``CURVATURE_OF_FLAT_PARTS`` replaces the zero.

    Examples
    --------
    >>> from separatrix.core.losses import SquaredHinge
    >>> SquaredHinge().of_margin(np.array([-1.0, 1.0, 3.0])).tolist()
    [4.0, 0.0, 0.0]
    """

    traits: ClassVar[Traits] = Traits(lipschitz=2.0)

    def of_margin(self, m: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.maximum(0.0, 1.0 - m) ** 2

    def slope(self, m: Array) -> Array:
        return -2.0 * np.maximum(0.0, 1.0 - m)

    def curvature(self, m: Array) -> Array:
        return 2.0 * np.where(m < 1, 1.0, CURVATURE_OF_FLAT_PARTS)

    def conjugate_of_slope(self, a: Array) -> Array:
        """The conjugate of the squared loss, for a ≤ 0."""
        return np.where(a <= 0, a + a**2 / 4.0, np.inf)


# How a score of exactly 0 counts: as a mistake, or as a prediction of the second class.
Zero = Literal["mistake", "positive"]


@final
@dataclass(frozen=True)
class ZeroOne:
    """1 for a mistake, 0 otherwise. It is piecewise constant, so its derivative is of no use (docs/tour.md, L1, D1).

    Parameters
    ----------
    at_zero : "mistake" or "positive", default "mistake"
        "mistake": m ≤ 0 is a mistake. "positive": z = 0 predicts the class +1.

    Examples
    --------
    >>> from separatrix.core.losses import ZeroOne
    >>> ZeroOne().value(np.array([1, -1, 1]), np.array([0.0, 0.0, 2.0])).tolist()
    [1.0, 1.0, 0.0]
    >>> ZeroOne(at_zero="positive").value(np.array([1, -1, 1]), np.array([0.0, 0.0, 2.0])).tolist()
    [0.0, 1.0, 0.0]
    """

    at_zero: Zero = "mistake"
    traits: ClassVar[Traits] = Traits(convex=False, continuous=False, smooth=False)

    def value(self, t: AnyArray, z: Array) -> Array:
        wrong = t * z <= 0 if self.at_zero == "mistake" else np.where(np.asarray(z) >= 0, 1, -1) != t
        return np.asarray(wrong, dtype=np.float64)

    def derivative(self, t: AnyArray, z: Array) -> Array:
        return np.zeros_like(np.asarray(t * z, dtype=np.float64))

    def value_derivative(self, t: AnyArray, z: Array) -> tuple[Array, Array]:
        return self.value(t, z), self.derivative(t, z)

    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array:
        return np.zeros_like(np.asarray(t * z, dtype=np.float64))

    def conjugate(self, t: AnyArray, a: Array) -> Array:
        """sup_z a z − ℓ, which is 0 at a = 0 and infinite elsewhere."""
        return np.where(np.asarray(t * a) == 0, 0.0, np.inf)


# --- The loss of K scores


@final
@dataclass(frozen=True)
class Softmax:
    r"""ℓ(t, z) = ln Σ_k e^{z_k} − z_t, for class numbers t and scores (m, K) (docs/tour.md, R9).

    It does not change if the same number is added to all scores of a row. Its third derivative along h is a third
    central moment of h under p, which is at most range(h) times the variance. So its self-concordance constant is 1.

    Examples
    --------
    >>> from separatrix.core.losses import Softmax
    >>> Softmax().value(np.array([0]), np.zeros((1, 3))).round(4).tolist()
    [1.0986]
    """

    traits: ClassVar[Traits] = Traits(
        link=SoftmaxLink(), likelihood=True, lipschitz=0.5, self_concordance=1.0, by_margin=False, multiclass=True
    )

    def value(self, t: AnyArray, z: Array) -> Array:
        return self.value_derivative(t, z)[0]

    def derivative(self, t: AnyArray, z: Array) -> Array:
        return self.value_derivative(t, z)[1]

    def value_derivative(self, t: AnyArray, z: Array) -> tuple[Array, Array]:
        own = np.arange(len(t)), t
        shifted = z - z.max(axis=1, keepdims=True)
        with np.errstate(under="ignore"):
            r: Array = np.exp(shifted)
            total = r.sum(axis=1)
            r /= total[:, None]
        r[own] -= 1.0
        return np.asarray(np.log(total) - shifted[own]), r

    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array:
        p = softmax(z)
        return np.asarray(p * (dz - (p * dz).sum(axis=1, keepdims=True)))

    def conjugate(self, t: AnyArray, a: Array) -> Array:
        """Σ_k q_k ln q_k with q = a + e_t in the simplex."""
        q = a.copy()
        q[np.arange(len(t)), t] += 1.0
        on_simplex = np.abs(q.sum(axis=1) - 1.0) <= 1e-9
        return np.where(on_simplex, x_log_x(q).sum(axis=1), np.inf)


# --- Losses with other links than the logistic one, and the squared error of σ


@final
@dataclass(frozen=True)
class Probit(MarginLoss):
    """ℓ(m) = −ln Φ(m), where Φ is the normal distribution function: P(+ | z) = Φ(z).

    Examples
    --------
    >>> from separatrix.core.losses import Probit
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
        """sup_m a m − ℓ(m), at the m at which the slope is a."""
        m = _bisected(self.slope, a, -1e5, 40.0)
        return np.where(a < 0, a * m - self.of_margin(m), np.where(a == 0, 0.0, np.inf))


@final
@dataclass(frozen=True)
class ComplementaryLogLog:
    """ℓ = −ln P with P(+ | z) = 1 − e^{−e^z}, the probability of at least one event at the Poisson rate e^z.

    It is not symmetric in the two classes, so it is not a loss of the margin.

    Examples
    --------
    >>> from separatrix.core.losses import ComplementaryLogLog
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
        """For t = −: a ln a − a, a ≥ 0. For t = +: at the z at which the slope is a, −1 < a < 0."""
        minus, one = x_log_x(a) - a, np.ones_like(a)
        z = _bisected(lambda z: self.derivative(one, z), a, -50.0, 7.0)
        plus = np.where((a > -1) & (a < 0), a * z - self.value(one, z), np.where(a == 0, 0.0, np.inf))
        return np.where(np.asarray(t) > 0, plus, minus)


def _bisected(slope: Callable[[Array], Array], a: Array, least: float, most: float) -> Array:
    """The score at which an increasing slope is a, by bisection between two scores."""
    low, high = np.full_like(a, least), np.full_like(a, most)
    for _ in range(80):
        middle = 0.5 * (low + high)
        steeper = slope(middle) < a
        low, high = np.where(steeper, middle, low), np.where(steeper, high, middle)
    return 0.5 * (low + high)


def _rate(z: Array) -> Array:
    """The Poisson rate λ = e^z, clipped so that it does not overflow."""
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
    >>> from separatrix.core.losses import SquaredSigmoid
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


LOSSES: dict[str, Loss] = {
    "logistic": Logistic(),
    "softmax": Softmax(),
    "probit": Probit(),
    "cloglog": ComplementaryLogLog(),
    "squared-sigmoid": SquaredSigmoid(),
    "squared": Squared(),
    "perceptron": Perceptron(),
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "zero-one": ZeroOne(),
}

__all__ = [
    "LOSSES",
    "ComplementaryLogLog",
    "Hinge",
    "Logistic",
    "Loss",
    "MarginLoss",
    "Perceptron",
    "Probit",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "SquaredSigmoid",
    "Traits",
    "ZeroOne",
    "logit",
    "sigmoid",
    "softmax",
]
