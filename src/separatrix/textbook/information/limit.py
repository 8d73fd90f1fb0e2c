"""The central limit theorem as numbers: standardised sums, and how far from normal they are. TEXTBOOK I6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError


@dataclass(frozen=True)
class CentralLimit:
    """(Σ x_i − nμ)/(σ√n), one a repeat, sorted; ``distance``: the largest gap between their distribution and Φ.

    With r repeats a distance below about 1/√r is noise.
    """

    n: int
    sums: Array
    distance: float


def central_limit(distribution: Any, n: int, repeats: int = 10_000, seed: int = 0) -> CentralLimit:
    """Draw ``repeats`` sums of n independent values of a distribution and hold them against the normal.

    >>> from separatrix.textbook.information import Uniform
    >>> one, twelve = (central_limit(Uniform(0.0, 1.0), n, 20_000).distance for n in (1, 12))
    >>> one > 0.05 > 0.01 > twelve
    True
    """
    if n < 1 or repeats < 1:
        raise ParameterError("n", f"got n={n}, repeats={repeats}", "give whole numbers of at least 1")
    if np.ndim(distribution.mean) != 0 or not distribution.variance > 0:
        raise ParameterError("distribution", f"got {distribution!r}", "give one of a number, with a variance > 0")
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
