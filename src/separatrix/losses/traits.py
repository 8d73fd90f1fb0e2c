"""The interface of losses, and the mathematical properties that a loss may have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.cached import cached_property
from separatrix.losses.links import Link, Logit, Sign, SoftmaxLink


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
