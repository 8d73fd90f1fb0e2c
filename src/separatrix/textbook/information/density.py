"""The interface of a density on the real line, and integrals over it (docs/tour.md, I1).

Integrals are Gauss–Legendre sums over the intervals between ``breakpoints``, which cover the mass of a density and the
points where it is not smooth. The mass outside is below rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError

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

    >>> from separatrix.textbook.information import Normal
    >>> round(expectation(Normal(1.0, 4.0), lambda x: x**2), 10)
    5.0
    """
    cuts = np.unique(p.breakpoints())
    half, middle = 0.5 * np.diff(cuts), 0.5 * (cuts[1:] + cuts[:-1])
    x = (middle[:, None] + half[:, None] * _NODES).ravel()
    mass = (half[:, None] * _WEIGHTS).ravel() * p.pdf(x)
    values = np.asarray(f(x), dtype=np.float64)
    return float(np.sum(np.where(mass > 0, mass * np.where(mass > 0, values, 0.0), 0.0)))


def check_scale(name: str, value: float) -> None:
    if not (np.isfinite(value) and value > 0):
        raise ParameterError(name, f"got {value!r}", "give a finite number > 0")
