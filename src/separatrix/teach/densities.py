"""Densities on the real line: the normal, others to compare with it, and mixtures of normals (docs/tour.md, I1–I6).

Integrals are Gauss–Legendre sums over the intervals between ``breakpoints``, which cover the mass of a density and the
points where it is not smooth. The mass outside is below rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final, runtime_checkable

import numpy as np

from separatrix.core.base.arrays import Array
from separatrix.core.base.errors import ParameterError

# --- The interface, and integrals

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


@runtime_checkable
class Density(Protocol):
    """The interface of a density p(x) with finite variance. ``entropy_nats`` is −∫ p ln p."""

    @property
    def mean(self) -> float: ...
    @property
    def variance(self) -> float: ...
    def log_pdf(self, x: Any) -> Array:
        """The logarithm of the density at x."""

    def pdf(self, x: Any) -> Array:
        """The density at x."""

    def breakpoints(self) -> Array:
        """The ends of the intervals over which integrals are summed."""

    def entropy_nats(self) -> float:
        """The entropy −∫ p ln p in nats."""

    def sample(self, size: Any, seed: int) -> Array:
        """Independent draws, of shape ``size``."""


def expectation(p: Density, f: Callable[[Array], Array]) -> float:
    """∫ p(x) f(x) dx, with p f = 0 where p = 0.

    >>> from separatrix.teach.densities import Normal
    >>> round(expectation(Normal(1.0, 4.0), lambda x: x**2), 10)
    5.0
    """
    cuts = np.unique(p.breakpoints())
    half, middle = 0.5 * np.diff(cuts), 0.5 * (cuts[1:] + cuts[:-1])
    x = (middle[:, None] + half[:, None] * _NODES).ravel()
    mass = (half[:, None] * _WEIGHTS).ravel() * p.pdf(x)
    values = np.asarray(f(x), dtype=np.float64)
    return float(np.sum(np.where(mass > 0, mass * np.where(mass > 0, values, 0.0), 0.0)))


def _check_scale(name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        raise ParameterError(name, f"got {value!r}", "give a finite number > 0")


# --- Densities in closed form

_STEPS = np.linspace(-12.0, 12.0, 97)  # in units of σ; a normal has a mass of 1e-32 outside


@final
@dataclass(frozen=True)
class Normal:
    """N(x; μ, σ²) = e^{−(x − μ)²/(2σ²)}/√(2πσ²), with the entropy ½ ln(2πeσ²), negative for small σ.

    See docs/tour.md, I1, I2.

    Parameters
    ----------
    mu : float
        The mean.
    sigma2 : float
        The variance.

    Examples
    --------
    >>> from separatrix.teach.densities import Normal
    >>> Normal(0.0, 1.0).pdf(0.0).round(4).item(), round(Normal(0.0, 1.0).entropy_nats(), 4)
    (0.3989, 1.4189)
    >>> Normal(0.0, 0.01).entropy_nats() < 0
    True
    """

    mu: float
    sigma2: float

    def __post_init__(self) -> None:
        _check_scale("sigma2", self.sigma2)

    @property
    def mean(self) -> float:
        return self.mu

    @property
    def variance(self) -> float:
        return self.sigma2

    @property
    def sigma(self) -> float:
        return float(np.sqrt(self.sigma2))

    def log_pdf(self, x: Any) -> Array:
        """The logarithm of the density at x."""
        z2 = (np.asarray(x, dtype=np.float64) - self.mu) ** 2 / self.sigma2
        return np.asarray(-0.5 * (z2 + np.log(2 * np.pi * self.sigma2)))

    def pdf(self, x: Any) -> Array:
        """The density at x."""
        with np.errstate(under="ignore"):
            return np.asarray(np.exp(self.log_pdf(x)))

    def breakpoints(self) -> Array:
        """The ends of the intervals over which integrals are summed."""
        return np.asarray(self.mu + self.sigma * _STEPS)

    def entropy_nats(self) -> float:
        """The entropy −∫ p ln p in nats."""
        return 0.5 * float(np.log(2 * np.pi * np.e * self.sigma2))

    def sample(self, size: Any, seed: int) -> Array:
        """Independent draws, of shape ``size``."""
        return np.asarray(np.random.default_rng(seed).normal(self.mu, self.sigma, size))


@final
@dataclass(frozen=True)
class Uniform:
    """1/(high − low) between low and high, with the entropy ln(high − low).

    Parameters
    ----------
    low, high : float
        The ends.

    Examples
    --------
    >>> from separatrix.teach.densities import Uniform
    >>> round(Uniform(0.0, 0.5).entropy_nats(), 4)
    -0.6931
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_scale("high - low", self.high - self.low)

    @classmethod
    def of(cls, mean: float, variance: float) -> Uniform:
        """The density of this kind with the given mean and variance."""
        half = float(np.sqrt(3.0 * variance))
        return cls(mean - half, mean + half)

    @property
    def mean(self) -> float:
        return 0.5 * (self.low + self.high)

    @property
    def variance(self) -> float:
        return (self.high - self.low) ** 2 / 12.0

    def log_pdf(self, x: Any) -> Array:
        """The logarithm of the density at x."""
        x = np.asarray(x, dtype=np.float64)
        return np.where((x >= self.low) & (x <= self.high), -np.log(self.high - self.low), -np.inf)

    def pdf(self, x: Any) -> Array:
        """The density at x."""
        return np.asarray(np.exp(self.log_pdf(x)))

    def breakpoints(self) -> Array:
        """The ends of the intervals over which integrals are summed."""
        return np.linspace(self.low, self.high, 33)

    def entropy_nats(self) -> float:
        """The entropy −∫ p ln p in nats."""
        return float(np.log(self.high - self.low))

    def sample(self, size: Any, seed: int) -> Array:
        """Independent draws, of shape ``size``."""
        return np.asarray(np.random.default_rng(seed).uniform(self.low, self.high, size))


@final
@dataclass(frozen=True)
class Laplace:
    """e^{−|x − μ|/s}/(2s), with the variance 2s² and the entropy 1 + ln 2s.

    Parameters
    ----------
    mu : float
        The mean.
    scale : float
        s above.

    Examples
    --------
    >>> from separatrix.teach.densities import Laplace
    >>> Laplace(0.0, 0.5).entropy_nats(), Laplace(0.0, 0.5).variance
    (1.0, 0.5)
    """

    mu: float
    scale: float

    def __post_init__(self) -> None:
        _check_scale("scale", self.scale)

    @classmethod
    def of(cls, mean: float, variance: float) -> Laplace:
        """The density of this kind with the given mean and variance."""
        return cls(mean, float(np.sqrt(variance / 2.0)))

    @property
    def mean(self) -> float:
        return self.mu

    @property
    def variance(self) -> float:
        return 2.0 * self.scale**2

    def log_pdf(self, x: Any) -> Array:
        """The logarithm of the density at x."""
        z = np.abs(np.asarray(x, dtype=np.float64) - self.mu) / self.scale
        return np.asarray(-z - np.log(2.0 * self.scale))

    def pdf(self, x: Any) -> Array:
        """The density at x."""
        return np.asarray(np.exp(self.log_pdf(x)))

    def breakpoints(self) -> Array:
        """The ends of the intervals over which integrals are summed."""
        return np.asarray(self.mu + self.scale * np.linspace(-40.0, 40.0, 81))

    def entropy_nats(self) -> float:
        """The entropy −∫ p ln p in nats."""
        return 1.0 + float(np.log(2.0 * self.scale))

    def sample(self, size: Any, seed: int) -> Array:
        """Independent draws, of shape ``size``."""
        return np.asarray(np.random.default_rng(seed).laplace(self.mu, self.scale, size))


@final
@dataclass(frozen=True)
class LogisticDensity:
    """σ′((x − μ)/s)/s, with the variance s²π²/3 and the entropy 2 + ln s: the noise model of logistic regression.

    Parameters
    ----------
    mu : float
        The mean.
    scale : float
        s above.

    Examples
    --------
    >>> from separatrix.teach.densities import LogisticDensity
    >>> LogisticDensity(0.0, 1.0).entropy_nats(), LogisticDensity(0.0, 1.0).pdf(0.0).item()
    (2.0, 0.25)
    """

    mu: float
    scale: float

    def __post_init__(self) -> None:
        _check_scale("scale", self.scale)

    @classmethod
    def of(cls, mean: float, variance: float) -> LogisticDensity:
        """The density of this kind with the given mean and variance."""
        return cls(mean, float(np.sqrt(3.0 * variance) / np.pi))

    @property
    def mean(self) -> float:
        return self.mu

    @property
    def variance(self) -> float:
        return float((self.scale * np.pi) ** 2 / 3.0)

    def log_pdf(self, x: Any) -> Array:
        """The logarithm of the density at x."""
        z = np.abs(np.asarray(x, dtype=np.float64) - self.mu) / self.scale
        with np.errstate(under="ignore"):
            return np.asarray(-z - 2.0 * np.log1p(np.exp(-z)) - np.log(self.scale))

    def pdf(self, x: Any) -> Array:
        """The density at x."""
        return np.asarray(np.exp(self.log_pdf(x)))

    def breakpoints(self) -> Array:
        """The ends of the intervals over which integrals are summed."""
        return np.asarray(self.mu + self.scale * np.linspace(-40.0, 40.0, 81))

    def entropy_nats(self) -> float:
        """The entropy −∫ p ln p in nats."""
        return 2.0 + float(np.log(self.scale))

    def sample(self, size: Any, seed: int) -> Array:
        """Independent draws, of shape ``size``."""
        return np.asarray(np.random.default_rng(seed).logistic(self.mu, self.scale, size))


# --- Mixtures of normals


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
    >>> from separatrix.teach.densities import Mixture, Normal
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
