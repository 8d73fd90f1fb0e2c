"""The two best normal approximations of a density with several peaks (docs/tour.md, I3).

argmin_q D(p‖q) over normals covers all peaks: it has the mean and variance of p. argmin_q D(q‖p) concentrates on one
peak; there are several local minima, and the best of them is returned. (Goodfellow, Bengio and Courville 2016,
figure 3.6.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.textbook.information.densities import Normal
from separatrix.textbook.information.density import expectation
from separatrix.textbook.information.entropy import kl_divergence
from separatrix.textbook.information.mixture import Mixture

# Two searches that end closer than this, in units of σ, have found the same minimum.
SAME_MINIMUM = 1e-4


@dataclass(frozen=True)
class Approximation:
    """The best normal approximation of a density. ``best_normal`` returns one.

    Attributes
    ----------
    q : Normal
        The approximation.
    divergence : float
        Its divergence in nats.
    local_minima : tuple of Normal
        All local minima that were found, the best first.
    """

    q: Normal
    divergence: float
    local_minima: tuple[Normal, ...]


def best_normal(p: Mixture, direction: Literal["p||q", "q||p"]) -> Approximation:
    """Find the normal q that is closest to p in D(p‖q) or in D(q‖p).

    Parameters
    ----------
    p : Mixture
        The density to approximate.
    direction : "p||q" or "q||p"
        Which divergence to minimise.

    Returns
    -------
    Approximation

    Examples
    --------
    >>> from separatrix.textbook.information import Mixture, Normal, best_normal
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
    ends = sorted((_descend(p, start) for start in starts), key=lambda q: kl_divergence(q, p))
    minima: list[Normal] = []
    for q in ends:
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
    mean, log_scale = minimize(value_gradient, begin, jac=True, method="BFGS", options={"gtol": 1e-9}).x
    return Normal(float(mean), float(np.exp(2.0 * log_scale)))


def _same(a: Normal, c: Normal) -> bool:
    return abs(a.mu - c.mu) <= SAME_MINIMUM * c.sigma and abs(a.sigma - c.sigma) <= SAME_MINIMUM * c.sigma
