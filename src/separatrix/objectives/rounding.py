r"""Bounds on the rounding error of sums over rows, in the frame's coordinates. The bounds on the gap add them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import EPS, Array
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.objectives.subspace import Subspace
from separatrix.rows.protocol import BLOCK_BYTES


class Charge(NamedTuple):
    """The gradient's error in the subspace's coordinates, (c r,); ``far`` is added to λ, ``more`` to the gap."""

    error: Array
    far: float = 0.0
    more: float = 0.0


@dataclass(frozen=True)
class Rounding:
    """Rounding errors in standard coordinates, where the root mean square of a column is below 2.

    A score is a sum of d + 1 products, each with an error of some units in the last place of
    |W_j| (|x̃_j| + |center_j/scale_j|), because rows without a large offset are multiplied in raw units and centred
    afterwards (``Block``). ``moved`` is the root mean square of that error. A logistic slope ℓ′ is at most 1 and at
    most the loss ℓ, so the root mean square of slopes is at most √E, and by Cauchy and Schwarz

        the error of E is at most √E moved, that of ∂E/∂W_j at most (√E + moved/2) times the size of column j,

    plus the rounding error of the sum over rows: a few units in the last place, and √m of them over blocks of m rows,
    since the errors are random. ``slope`` is the error of summing the slopes. A loss ℓ ≥ 0 whose slope has the
    Lipschitz constant M satisfies ℓ′² ≤ 2Mℓ, so (2ME)^½ replaces √E, and M replaces ½. A slope of a loss with kinks is
    at most 1.

    ``value``: the error of E. ``size``: the size of the columns, (d + 1,). ``bend``: ½ or M.
    """

    value: float
    slope: float
    moved: float
    size: Array
    bend: float = 0.5

    @classmethod
    def of(cls, objective: Objective, W: Array, at: Evaluation) -> Rounding:
        size, E = objective.rounded_sizes, abs(at.value)
        moved = _units(objective) * float(np.abs(W).dot(size).max())
        rows = min(objective.n_rows, BLOCK_BYTES // (8 * max(1, objective.rows.n_features)) + 1)
        # With several classes a probability near 1 is rounded before 1 is subtracted, however small the loss.
        traits, bend = objective.loss.traits, 0.5
        slope = 1.0 if traits.multiclass or not traits.smooth else sqrt(min(1.0, E))
        if traits.lipschitz is not None and not traits.canonical:
            steepest = np.inf if traits.steepest is None else traits.steepest
            slope, bend = min(steepest, sqrt(2 * traits.lipschitz * E)), traits.lipschitz
        summed = EPS * (8 + sqrt(rows) / 4)
        return cls(summed * max(E, slope**2) + 2 * slope * moved, summed * slope, moved, size, bend)

    @property
    def gradient(self) -> Array:
        """The error of the derivative of E in each column, (d + 1,), the same for every class."""
        return (self.slope + self.bend * self.moved) * self.size

    def curvature(self, objective: Objective, W: Array, longest: float) -> float:
        """The relative error of a row's second derivative, which changes by no more than its score does.

        In the subset |x̃_j| is at most ``longest`` times the root of H_jj, and that is at most 1 + r_j.
        """
        reach = self.size + longest * (1.0 + objective.root_penalty)
        return 2 * _units(objective) * float(np.abs(W).dot(reach).max())

    def by_column(self, space: Subspace, aside: Array) -> Charge:
        """The gradient's error as above; ``aside`` (d + 1,): a further error of the gradient."""
        return Charge(self._reduced(space, self.gradient + aside))

    def otherwise(self, objective: Objective, W: Array, aside: Array, curvatures: Array | None) -> Iterator[Charge]:
        """Two alternative bounds on the effect of the rounding of scores; each is sufficient alone.

        1. Let Ẽ be the objective with every score moved by its rounding error ε_i at W, a constant. The computed
           gradient is that of Ẽ, and |E − Ẽ| is at most the mean of |ε_i| everywhere, so the gap of E is at most the
           gap of Ẽ plus twice that mean. This is better if the curvature is small along large weights.
        2. The error of the gradient along v is the mean of ℓ″ ε_i (x̄_i·v), at most (mean ℓ″ ε²)^½ (vᵀ H v)^½, so the
           error of λ is (mean ℓ″ ε²)^½, at most the rounding of a score times Σ_j |W_j| H_jj^½. This is better if one
           class has nearly all the weight, so that ℓ″ is small. ``curvatures`` (K (d + 1),) are the roots of the
           diagonal of the Hessian of all rows, or None.
        """
        summed = self._reduced(objective.subspace, self.slope * self.size + aside)
        yield Charge(summed, more=2 * self.moved)
        if curvatures is not None:
            roots, offset = curvatures.reshape(W.shape), self.size[1:] - 2.0
            far = np.sum(np.abs(W) * roots) + np.sum((np.abs(W[:, 1:]) @ offset) * roots[:, 0])
            yield Charge(summed, far=_units(objective) * float(far))

    @staticmethod
    def _reduced(space: Subspace, error: Array) -> Array:
        if space.Z is None and space.Q is None:
            return error
        classes = 1 if space.Q is None else len(space.Q)
        count = space.rank * max(1, classes - 1)
        return np.full(count, np.sqrt(classes) * float(np.linalg.norm(error)))


def _units(objective: Objective) -> float:
    """The rounding error of a score relative to the sum of the sizes of its products, for random errors."""
    return 2 * EPS * sqrt(objective.shape[1] + 2)
