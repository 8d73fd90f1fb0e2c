"""Densities in closed form: the normal, and others to compare with it (docs/tour.md, I1, I2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from separatrix.base.arrays import Array
from separatrix.textbook.information.density import check_scale

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
    >>> from separatrix.textbook.information import Normal
    >>> Normal(0.0, 1.0).pdf(0.0).round(4).item(), round(Normal(0.0, 1.0).entropy_nats(), 4)
    (0.3989, 1.4189)
    >>> Normal(0.0, 0.01).entropy_nats() < 0
    True
    """

    mu: float
    sigma2: float

    def __post_init__(self) -> None:
        check_scale("sigma2", self.sigma2)

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
    >>> from separatrix.textbook.information import Uniform
    >>> round(Uniform(0.0, 0.5).entropy_nats(), 4)
    -0.6931
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        check_scale("high - low", self.high - self.low)

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
    >>> from separatrix.textbook.information import Laplace
    >>> Laplace(0.0, 0.5).entropy_nats(), Laplace(0.0, 0.5).variance
    (1.0, 0.5)
    """

    mu: float
    scale: float

    def __post_init__(self) -> None:
        check_scale("scale", self.scale)

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
    >>> from separatrix.textbook.information import LogisticDensity
    >>> LogisticDensity(0.0, 1.0).entropy_nats(), LogisticDensity(0.0, 1.0).pdf(0.0).item()
    (2.0, 0.25)
    """

    mu: float
    scale: float

    def __post_init__(self) -> None:
        check_scale("scale", self.scale)

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
