r"""Dual points for a loss with kinks: if a row's score is at a kink, its slope must be chosen.

At the optimum of such a loss some rows are at a kink. The slope of each is somewhere between the slopes on either side
and does not follow from its score. A smooth loss ℓ_μ near ℓ determines it: at the minimum of the objective with ℓ_μ its
slopes satisfy the optimality conditions, and they are slopes of ℓ itself, so Fenchel's inequality bounds the gap. The
remaining slack is the mean of ℓ(z_i) + ℓ*(a_i) − a_i z_i, which is of order μ. Weights that minimise none of these
smooth objectives get a bound, too, but not a sharp one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.losses.traits import Kinked
from separatrix.objectives.problem import Objective
from separatrix.objectives.rounding import Rounding
from separatrix.rows import ArraySum, Block

# The widths μ of the smooth losses: with the first every row is in the smooth part at W = 0, with the last the gap is
# below rounding.
WIDTHS = tuple(4.0**-k for k in range(-1, 15))


class DualPoint(NamedTuple):
    """The sums of slopes a_i: ``gradient`` is the mean of a_i x̄_i, (K or 1, d + 1), with the error ``rounding``.

    ``apart``: the mean of ℓ(z_i) + ℓ*(a_i) − a_i z_i, which is zero for the slopes of a smooth loss at z_i.
    """

    gradient: Array
    rounding: Array
    apart: float = 0.0


@dataclass(frozen=True)
class SmoothedSlopes(ArraySum):
    """For each width: Σ s (ℓ + ℓ*(a) − a z) in entry 0, Σ s a x̄ in the rest, with a the smoothed loss's slopes at W."""

    loss: Kinked
    W: Array
    widths: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.widths), 1 + self.W.size)

    def add(self, total: Array, block: Block) -> Array:
        z, t = block.scores(self.W), block.t[:, None]
        a = np.hstack([self.loss.smoothed(mu).derivative(t, z) for mu in self.widths])
        left = np.maximum(self.loss.value(t, z) + self.loss.conjugate(t, a) - a * z, 0.0)
        total[:, 0] += block.weight @ left
        total[:, 1:] += block.adjoint(block.weight[:, None] * a)
        return total


def smoothed_slopes(objective: Objective, W: Array, rounding: Rounding) -> list[DualPoint]:
    """A dual point for each of ``WIDTHS``, in one pass.

    Slopes computed from rounded scores are valid slopes, too. So rounding counts only in their sum, and in ``apart``,
    twice, because two of its terms contain the score.
    """
    assert isinstance(objective.loss, Kinked)
    mean = objective.rows.fold(SmoothedSlopes(objective.loss, W, WIDTHS)) / objective.total_weight
    off, apart = rounding.slope * rounding.size, 2 * rounding.moved + rounding.value
    gradients = mean[:, 1:].reshape(len(WIDTHS), *objective.shape)
    return [
        DualPoint(objective.without_pinned(G), off, float(left) + apart)
        for G, left in zip(gradients, mean[:, 0], strict=True)
    ]
