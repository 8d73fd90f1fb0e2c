"""Losses of the margin m = t z: logistic, squared, perceptron, hinge, squared hinge, 0–1.

See docs/tour.md, L1, L2, P1, R3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, final

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.losses.activations import sigmoid, x_log_x
from separatrix.losses.links import Logit
from separatrix.losses.traits import MarginLoss, Traits

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
    >>> from separatrix.losses import Logistic
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
            tail = np.exp(-np.abs(m))
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
    >>> from separatrix.losses import Squared
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
    >>> from separatrix.losses import Perceptron
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
    >>> from separatrix.losses import Hinge
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
    >>> from separatrix.losses import SquaredHinge
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
    >>> from separatrix.losses import ZeroOne
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
