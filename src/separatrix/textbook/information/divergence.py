"""The two best one-peaked approximations of a density with several peaks. TEXTBOOK I3.

argmin_q D(p‖q) over normals covers all peaks: it has p's own mean and variance. argmin_q D(q‖p) settles on one
peak; it has several local minima, and the best of them is the answer. (Goodfellow, Bengio and Courville 2016,
figure 3.6.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.textbook.information.densities import Mixture, Normal, expectation
from separatrix.textbook.information.entropy import kl_divergence

# Two searches that end closer than this, in units of σ, found one minimum.
SAME_MINIMUM = 1e-4


@dataclass(frozen=True)
class Approximation:
    """A normal q, its divergence in nats, and all local minima that were found, the best first."""

    q: Normal
    divergence: float
    local_minima: tuple[Normal, ...]


def best_normal(p: Mixture, direction: Literal["p||q", "q||p"]) -> Approximation:
    """The normal q nearest to p, by D(p‖q) or by D(q‖p).

    >>> two = Mixture((0.6, 0.4), (Normal(-3.0, 1.0), Normal(3.0, 1.0)))
    >>> cover, seek = best_normal(two, "p||q"), best_normal(two, "q||p")
    >>> round(cover.q.mu, 2), round(cover.q.sigma2, 2)
    (-0.6, 9.64)
    >>> round(seek.q.mu, 2), round(seek.q.sigma2, 2), len(seek.local_minima)
    (-2.99, 1.04, 3)
    """
    if direction == "p||q":
        q = Normal(p.mean, p.variance)
        return Approximation(q, kl_divergence(p, q), (q,))
    if direction != "q||p":
        raise ParameterError("direction", f"got {direction!r}", "choose 'p||q' or 'q||p'")
    starts = [*p.parts, Normal(p.mean, p.variance)]
    found = sorted((_descend(p, start) for start in starts), key=lambda q: kl_divergence(q, p))
    minima: list[Normal] = []
    for q in found:
        if not any(_same(q, known) for known in minima):
            minima.append(q)
    return Approximation(minima[0], kl_divergence(minima[0], p), tuple(minima))


def _descend(p: Mixture, start: Normal) -> Normal:
    """A local minimum of D(q‖p) over (μ, ln σ), by quasi-Newton steps with the exact gradient."""
    from scipy.optimize import minimize

    def value_gradient(v: Array) -> tuple[float, Array]:
        q = Normal(float(v[0]), float(np.exp(2.0 * v[1])))
        # With x = μ + σz: ∂/∂μ E ln p = E (ln p)′, ∂/∂ln σ E ln p = E (x − μ)(ln p)′.
        by_mean = -expectation(q, p.slope)
        by_scale = -1.0 - expectation(q, lambda x: (x - q.mu) * p.slope(x))
        return kl_divergence(q, p), np.array([by_mean, by_scale])

    begin = np.array([start.mu, np.log(start.sigma)])
    found = minimize(value_gradient, begin, jac=True, method="BFGS", options={"gtol": 1e-9})
    return Normal(float(found.x[0]), float(np.exp(2.0 * found.x[1])))


def _same(a: Normal, c: Normal) -> bool:
    return abs(a.mu - c.mu) <= SAME_MINIMUM * c.sigma and abs(a.sigma - c.sigma) <= SAME_MINIMUM * c.sigma
