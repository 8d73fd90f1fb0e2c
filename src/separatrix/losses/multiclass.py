"""The softmax loss of K scores (docs/tour.md, R9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.losses.activations import softmax, x_log_x
from separatrix.losses.links import SoftmaxLink
from separatrix.losses.traits import Traits


@final
@dataclass(frozen=True)
class Softmax:
    r"""ℓ(t, z) = ln Σ_k e^{z_k} − z_t, for class numbers t and scores (m, K) (docs/tour.md, R9).

    It does not change if the same number is added to all scores of a row. Its third derivative along h is a third
    central moment of h under p, which is at most range(h) times the variance. So its self-concordance constant is 1.

    Examples
    --------
    >>> from separatrix.losses import Softmax
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
