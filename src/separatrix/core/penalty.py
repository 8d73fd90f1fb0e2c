"""The penalty on weights, in raw units (docs/tour.md, R8), and how its strength was chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.codec import array
from separatrix.core.base.lazy import cached_property


@dataclass(frozen=True)
class Penalty:
    """strength · Σ_j factors_j (α |w_j| + ½ (1 − α) w_j²), with α = ``l1_ratio``; the intercept is never penalised.

    α = 0 is the ridge, α = 1 the lasso (Tibshirani 1996), between them the elastic net (Zou and Hastie 2005).

    >>> Penalty(2.0, np.ones(1), l1_ratio=0.25).quadratic.tolist()
    [1.5]
    """

    strength: float
    factors: Array
    l1_ratio: float = 0.0

    @classmethod
    def none(cls, n_features: int) -> Penalty:
        return cls(0.0, np.ones(n_features))

    @cached_property
    def quadratic(self) -> Array:
        """The second derivative in each raw weight, (d,)."""
        return self.strength * (1.0 - self.l1_ratio) * self.factors

    @cached_property
    def holds_every_column(self) -> bool:
        """Whether every column has a quadratic penalty."""
        return bool((self.quadratic > 0).all())

    @cached_property
    def absolute(self) -> Array:
        """The factor of |w_j| for each raw weight, (d,)."""
        return self.strength * self.l1_ratio * self.factors

    def with_free(self, columns: int) -> Penalty:
        """The same penalty with ``columns`` unpenalised columns appended."""
        return replace(self, factors=np.concatenate([self.factors, np.zeros(columns)]))

    def times(self, share: float) -> Penalty:
        """The same penalty with its strength multiplied by ``share``."""
        return self if share == 1 else replace(self, strength=self.strength * share)


def soft(g: Array, a: Array) -> Array:
    """Soft thresholding: sign(g) (|g| − a)₊.

    >>> soft(np.array([3.0, -0.5]), np.array([1.0, 1.0])).tolist()
    [2.0, 0.0]
    """
    return g - np.clip(g, -a, a)


def shortest(w: Array, g: Array, a: Array) -> Array:
    """The shortest subgradient of f + Σ a |w|, with g the gradient of f. It is zero exactly at a minimum.

    >>> shortest(np.array([0.0, 2.0]), np.array([3.0, -1.0]), np.array([1.0, 1.0])).tolist()
    [2.0, 0.0]
    """
    return np.where(w == 0, soft(g, np.broadcast_to(a, g.shape)), g + a * np.sign(w))


@dataclass(frozen=True)
class PenaltyChoice:
    """The values of C that were tried, with their scores, and the value that was chosen.

    Parameters
    ----------
    Cs : (m,) array
        The values of C, ascending.
    scores : (m,) array
        The mean log loss of held-out rows at each C, in nats.
    standard_errors : (m,) array
        The standard errors of the scores.
    refitted : (m,) array of int
        The number of rows for which the model was refitted without the row, at each C.
    method : {"leave-one-out", "cross-validation"}
        How the scores were computed.
    C : float
        The chosen value.
    sentence : str
        A description of the choice, which is also its string form.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> choice = LogisticRegression("auto").fit(X, y).penalty_choice_
    >>> choice.method, bool(choice.scores.min() == choice.scores[choice.Cs == choice.C][0])
    ('leave-one-out', True)
    >>> str(choice)
    'C = ..., chosen by approximate leave-one-out: log loss ... ± ... (... values of C from ... to ...)...'
    """

    Cs: Annotated[Array, array("", finite=False)]
    scores: Annotated[Array, array("", finite=False)]
    standard_errors: Annotated[Array, array("", finite=False)]
    refitted: Annotated[Integers, array("", whole=True)]
    method: str
    C: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence
