"""Distributions over finitely many outcomes: Bernoulli, categorical (docs/tour.md, I1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError

# Largest difference of a sum of probabilities from 1, which allows for rounding.
SUMS_TO_ONE = 1e-9


def probabilities(argument: str, p: Any) -> Array:
    """Return p as an array of probabilities that sum to 1; raises an error if they do not."""
    P = np.asarray(p, dtype=np.float64)
    if P.ndim != 1 or len(P) == 0 or not np.all(P >= 0) or abs(P.sum() - 1.0) > SUMS_TO_ONE:
        raise ParameterError(argument, f"got {p!r}", "give probabilities >= 0 that sum to 1")
    return P


@final
@dataclass(frozen=True)
class Bernoulli:
    """P(x) = φˣ(1 − φ)¹⁻ˣ for x in {0, 1}, with mean φ and variance φ(1 − φ).

    Parameters
    ----------
    phi : float
        The probability of 1.

    Examples
    --------
    >>> from separatrix.textbook.information import Bernoulli
    >>> coin = Bernoulli(0.25)
    >>> coin.pmf([0, 1]).tolist(), coin.mean, coin.variance
    ([0.75, 0.25], 0.25, 0.1875)
    """

    phi: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.phi <= 1.0:
            raise ParameterError("phi", f"got {self.phi!r}", "give a probability between 0 and 1")

    @property
    def p(self) -> Array:
        """The probabilities of 0 and 1."""
        return np.array([1.0 - self.phi, self.phi])

    def pmf(self, x: Any) -> Array:
        """The probability of x."""
        x = np.asarray(x)
        return np.where(x == 1, self.phi, np.where(x == 0, 1.0 - self.phi, 0.0))

    def log_pmf(self, x: Any) -> Array:
        """The logarithm of the probability of x."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.pmf(x)))

    @property
    def mean(self) -> float:
        return self.phi

    @property
    def variance(self) -> float:
        return self.phi * (1.0 - self.phi)

    def sample(self, size: Any, seed: int) -> Array:
        """Independent draws, of shape ``size``."""
        return np.asarray(np.random.default_rng(seed).random(size) < self.phi, dtype=np.float64)


@final
@dataclass(frozen=True, eq=False)
class Categorical:
    """P(x) = ∏_i p_i^{x_i} for one-hot x of K entries, with E[x_i] = p_i and Var(x_i) = p_i(1 − p_i).

    Parameters
    ----------
    p : array (K,)
        The probabilities, which sum to 1.

    Examples
    --------
    >>> from separatrix.textbook.information import Categorical
    >>> die = Categorical([0.5, 0.25, 0.25])
    >>> die.pmf([[0, 1, 0], [1, 0, 0]]).tolist(), die.mean.tolist(), die.variance.tolist()
    ([0.25, 0.5], [0.5, 0.25, 0.25], [0.25, 0.1875, 0.1875])
    """

    p: Array

    def __init__(self, p: Any) -> None:
        object.__setattr__(self, "p", probabilities("p", p))

    def pmf(self, x: Any) -> Array:
        """The probabilities of one-hot rows (…, K); zero for rows that are not one-hot."""
        rows = np.asarray(x, dtype=np.float64)
        if rows.shape[-1] != len(self.p):
            raise ParameterError("x", f"its shape is {rows.shape}", f"give one-hot rows of {len(self.p)} entries")
        one_hot = np.all((rows == 0) | (rows == 1), axis=-1) & (rows.sum(axis=-1) == 1)
        return np.where(one_hot, rows @ self.p, 0.0)

    def log_pmf(self, x: Any) -> Array:
        """The logarithm of the probability of x."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.pmf(x)))

    @property
    def mean(self) -> Array:
        return self.p

    @property
    def variance(self) -> Array:
        return np.asarray(self.p * (1.0 - self.p))

    def sample(self, size: int, seed: int) -> Array:
        """One-hot rows, (size, K)."""
        drawn = np.random.default_rng(seed).choice(len(self.p), size, p=self.p / self.p.sum())
        return np.eye(len(self.p))[drawn]
