"""Mixtures of normals, the simplest densities with several peaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.textbook.information.densities import Normal
from separatrix.textbook.information.density import expectation


@final
@dataclass(frozen=True)
class Mixture:
    """Σ_k π_k N(x; μ_k, σ_k²), the simplest density with several peaks. Its entropy has no closed form.

    Parameters
    ----------
    weights : list of float
        π_k, positive and summing to 1.
    parts : list of Normal
        The normals.

    Examples
    --------
    >>> from separatrix.textbook.information import Mixture, Normal
    >>> two = Mixture((0.5, 0.5), (Normal(-2.0, 1.0), Normal(2.0, 1.0)))
    >>> two.mean, two.variance
    (0.0, 5.0)
    """

    weights: Sequence[float]
    parts: Sequence[Normal]

    def __post_init__(self) -> None:
        w = np.asarray(self.weights, dtype=np.float64)
        if len(w) != len(self.parts) or not np.all(w > 0) or abs(w.sum() - 1.0) > 1e-9:
            remedy = "give one positive weight for each part, summing to 1"
            raise ParameterError("weights", f"got {self.weights!r}", remedy)

    @property
    def mean(self) -> float:
        return float(sum(w * part.mu for w, part in zip(self.weights, self.parts, strict=True)))

    @property
    def variance(self) -> float:
        within = sum(w * part.sigma2 for w, part in zip(self.weights, self.parts, strict=True))
        between = sum(w * (part.mu - self.mean) ** 2 for w, part in zip(self.weights, self.parts, strict=True))
        return float(within + between)

    def _terms(self, x: Any) -> Array:
        """ln π_k N_k(x), (K, …)."""
        return np.stack([np.log(w) + part.log_pdf(x) for w, part in zip(self.weights, self.parts, strict=True)])

    def log_pdf(self, x: Any) -> Array:
        """The logarithm of the density at x."""
        return np.asarray(np.logaddexp.reduce(self._terms(x), axis=0))

    def pdf(self, x: Any) -> Array:
        """The density at x."""
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(self.log_pdf(x)))

    def slope(self, x: Any) -> Array:
        """d ln p/dx: the mean of the parts' slopes, weighted by their posterior probabilities at x."""
        terms = self._terms(x)
        with np.errstate(under="ignore"):
            share = np.exp(terms - np.logaddexp.reduce(terms, axis=0))
        slopes = np.stack([(part.mu - np.asarray(x)) / part.sigma2 for part in self.parts])
        return np.asarray(np.sum(share * slopes, axis=0))

    def breakpoints(self) -> Array:
        """The ends of the intervals over which integrals are summed."""
        return np.concatenate([part.breakpoints() for part in self.parts])

    def entropy_nats(self) -> float:
        """The entropy −∫ p ln p in nats."""
        return -expectation(self, self.log_pdf)

    def sample(self, size: Any, seed: int) -> Array:
        """Independent draws, of shape ``size``."""
        rng = np.random.default_rng(seed)
        which = rng.choice(len(self.parts), size, p=np.asarray(self.weights) / np.sum(self.weights))
        mu, sigma = (np.array([getattr(part, name) for part in self.parts]) for name in ("mu", "sigma"))
        return np.asarray(rng.normal(mu[which], sigma[which]))
