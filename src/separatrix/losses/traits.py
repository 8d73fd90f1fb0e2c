"""What a loss is, and what may be true of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.losses.links import Link, Logit, Sign, SoftmaxLink


@dataclass(frozen=True)
class Traits:
    """What is true of a loss, for the laws that hold only where it is.

    convex: in z. continuous, smooth: in z; smooth is differentiable everywhere, and twice so but at single scores.
    link: the one under which the minimiser of the expected loss is the true probability; None for a loss without
    probabilities. likelihood: ℓ = −ln P(t | z) under it.
    calibrated: minimising it minimises the 0-1 error in the limit. lipschitz: of the derivative, or None.
    steepest: the largest size of the derivative, where the bounds need it, or None.
    self_concordance: M with |ℓ‴[h,h,h]| ≤ M · range(h) · ℓ″[h,h], or None; range(h) is |h| for one score.
    by_margin: a function of t z alone. multiclass: of K scores.
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

    @property
    def proper(self) -> bool:
        """Whether minimising it estimates probabilities."""
        return self.link is not None

    @property
    def head(self) -> Link:
        """The link of a model that is fitted by this loss: the sign of the score where there are no probabilities."""
        return Sign() if self.link is None else self.link

    @property
    def canonical(self) -> bool:
        """Whether it is the log loss of the logistic or softmax model, whose dual is an entropy."""
        return self.likelihood and isinstance(self.link, Logit | SoftmaxLink)


@runtime_checkable
class Loss(Protocol):
    """ℓ(t, z), its derivative and curvature in z, and its conjugate."""

    @property
    def traits(self) -> Traits: ...
    def value(self, t: AnyArray, z: Array) -> Array: ...
    def derivative(self, t: AnyArray, z: Array) -> Array: ...
    def value_derivative(self, t: AnyArray, z: Array) -> tuple[Array, Array]: ...
    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array: ...
    def conjugate(self, t: AnyArray, a: Array) -> Array: ...


@runtime_checkable
class Kinked(Loss, Protocol):
    """A convex loss with kinks that offers smooth losses near it, which make a dual point of its subgradients.

    ``smoothed(mu)`` has slopes that are slopes of this loss, everywhere, and tends to this loss as mu tends to 0.
    """

    def smoothed(self, mu: float) -> Loss: ...


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

    def value_slope(self, m: Array) -> tuple[Array, Array]:
        """ℓ and ℓ′ at once, for losses whose two share work."""
        return self.of_margin(m), self.slope(m)

    def value(self, t: AnyArray, z: Array) -> Array:
        return self.of_margin(np.asarray(t * z, dtype=np.float64))

    def derivative(self, t: AnyArray, z: Array) -> Array:
        return np.asarray(t * self.slope(np.asarray(t * z, dtype=np.float64)))

    def value_derivative(self, t: AnyArray, z: Array) -> tuple[Array, Array]:
        value, slope = self.value_slope(np.asarray(t * z, dtype=np.float64))
        return value, np.asarray(t * slope)

    def curvature_product(self, t: AnyArray, z: Array, dz: Array) -> Array:
        return self.curvature(np.asarray(t * z, dtype=np.float64)) * dz

    def conjugate(self, t: AnyArray, a: Array) -> Array:
        return self.conjugate_of_slope(np.asarray(t * a, dtype=np.float64))
