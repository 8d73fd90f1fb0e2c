"""The central limit theorem in numbers: standardised sums, and their distance from the normal (docs/tour.md, I6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError


@dataclass(frozen=True)
class CentralLimit:
    """Standardised sums (Σ x_i − nμ)/(σ√n). ``central_limit`` returns one.

    Attributes
    ----------
    n : int
        The number of terms in a sum.
    sums : array (repeats,)
        The standardised sums, sorted.
    distance : float
        The largest difference between their distribution function and Φ. With r repeats, a distance below about 1/√r is
        noise.
    """

    n: int
    sums: Array
    distance: float


def central_limit(distribution: Any, n: int, repeats: int = 10_000, seed: int = 0) -> CentralLimit:
    """Draw sums of n independent values of a distribution, and compare them with the normal.

    Parameters
    ----------
    distribution : distribution or density
        With ``mean``, ``variance`` > 0 and ``sample``.
    n : int
        The number of terms in a sum.
    repeats : int, default 10000
        The number of sums.
    seed : int, default 0
        Seed for the draws.

    Returns
    -------
    CentralLimit

    Examples
    --------
    >>> from separatrix.textbook.information import central_limit
    >>> from separatrix.textbook.information import Uniform
    >>> one, twelve = (central_limit(Uniform(0.0, 1.0), n, 20_000).distance for n in (1, 12))
    >>> one > 0.05 > 0.01 > twelve
    True
    """
    if n < 1 or repeats < 1:
        raise ParameterError("n", f"got n={n}, repeats={repeats}", "give whole numbers of at least 1")
    if np.ndim(distribution.mean) != 0 or not distribution.variance > 0:
        remedy = "give a distribution of single numbers with a variance > 0"
        raise ParameterError("distribution", f"got {distribution!r}", remedy)
    total = np.asarray(distribution.sample((repeats, n), seed)).sum(axis=1)
    sums = np.sort((total - n * distribution.mean) / np.sqrt(n * distribution.variance))
    return CentralLimit(n, sums, kolmogorov_distance(sums))


def kolmogorov_distance(values: Array) -> float:
    """sup_x |F̂(x) − Φ(x)| for sorted values.

    >>> kolmogorov_distance(np.zeros(4))
    0.5
    """
    from scipy.special import ndtr

    below = ndtr(values)
    size = len(values)
    after = np.searchsorted(values, values, side="right") / size
    before = np.searchsorted(values, values, side="left") / size
    return float(max(np.max(after - below), np.max(below - before)))
