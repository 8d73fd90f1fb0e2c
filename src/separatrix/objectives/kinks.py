r"""Dual points of a loss with kinks: where a row's score is at a kink, its slope must be chosen.

At the optimum of such a loss some rows are at a kink, each with a slope of its own between the slopes on either side,
which its score does not tell. The slopes of a smooth loss ℓ_μ near it do: at the minimum of the objective with ℓ_μ in
its place they fulfil the optimum's conditions, and they are slopes of the loss itself, so that by Fenchel's inequality
they bound its gap. What they leave is the mean of ℓ(z_i) + ℓ*(a_i) − a_i z_i, of the order of μ. Weights that
minimise none of these objectives are bounded, too, but not sharply.
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

# μ of the smooth losses, from one whose slopes all rows have in part at W = 0 to one whose gap is rounding.
WIDTHS = tuple(4.0**-k for k in range(-1, 15))


class DualPoint(NamedTuple):
    """Slopes a_i, by what is summed of them: ``gradient``, the mean of a_i x̄_i, (K or 1, d + 1), off by ``rounding``.

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

    Slopes that are computed from rounded scores are slopes as good as any others: rounding counts in their sum, and in
    what they are apart, once for each of its two terms that hold the score.
    """
    assert isinstance(objective.loss, Kinked)
    mean = objective.rows.fold(SmoothedSlopes(objective.loss, W, WIDTHS)) / objective.total_weight
    off, apart = rounding.slope * rounding.size, 2 * rounding.moved + rounding.value
    gradients = mean[:, 1:].reshape(len(WIDTHS), *objective.shape)
    return [
        DualPoint(objective.without_pinned(G), off, float(left) + apart)
        for G, left in zip(gradients, mean[:, 0], strict=True)
    ]
