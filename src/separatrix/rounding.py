"""What rounding may hide of an objective and its gradient, so that a bound can charge for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import EPS, Array
from separatrix.objective import Evaluation, Objective
from separatrix.rows.seam import BLOCK_BYTES
from separatrix.subspace import Subspace


@dataclass(frozen=True)
class Rounding:
    """What rounding may hide, in standard coordinates, where the root mean square of a column is below 2.

    A score is a sum of d + 1 products, each off by some units in the last place of |W_j| (|x̃_j| + |center_j/scale_j|):
    where no offset is large, rows are multiplied in raw units and moved afterwards (``Block``). ``moved`` is the root
    mean square of that error. A slope ℓ′ is at most 1 and at most the loss ℓ, so the root mean square of slopes is at
    most √E, and by Cauchy and Schwarz

        E is off by √E moved, and ∂E/∂W_j by (√E + moved/2) times the size of column j,

    each with the rounding of a sum over rows, ``summed``: a few units in the last place, and √m of them, over blocks of
    m rows, where errors add up at random.

    ``value``: of E. ``gradient``: of its derivative by each column, (d + 1,), of every class.
    """

    value: float
    gradient: Array
    size: Array
    summed: Array
    moved: float

    @classmethod
    def of(cls, objective: Objective, W: Array, at: Evaluation) -> Rounding:
        size = _sizes(objective)
        moved = _units(objective) * float(np.max(np.abs(W) @ size))
        rows = min(objective.rows.n_rows or BLOCK_BYTES, BLOCK_BYTES // (8 * max(1, objective.rows.n_features)) + 1)
        summed, slope = EPS * (8 + np.sqrt(rows) / 4), np.sqrt(min(1.0, abs(at.value)))
        own = np.where(objective.pinned, 0.0, size)
        value = float(summed * abs(at.value) + 2 * slope * moved)
        return cls(value, (summed * slope + 0.5 * moved) * own, size, summed * slope * own, moved)

    def curvature(self, objective: Objective, W: Array, longest: float) -> float:
        """The relative error of a row's second derivative, which changes by no more than its score does.

        In the subset |x̃_j| is at most ``longest`` times the root of H_jj, and that is at most 1 + r_j.
        """
        reach = self.size + longest * (1.0 + objective.root_penalty)
        return 2 * _units(objective) * float(np.max(np.abs(W) @ reach))

    def charges(
        self, objective: Objective, W: Array, aside: Array, curvatures: Array | None
    ) -> list[tuple[Array, float, float]]:
        """Ways to charge for rounding, each of which suffices: the gradient's error in the subspace's coordinates, what
        is added to λ, and what is added to the gap.

        Parameters
        ----------
        objective, W
            The problem and the weights at which it was summed.
        aside : (d + 1,)
            What the gradient is moved by besides.
        curvatures : (K (d + 1),) or None
            The roots of H's diagonal, where H is that of all rows.

        Notes
        -----
        1. The gradient's error by column, as above.
        2. Call Ẽ the objective with every score moved by its rounding error ε_i at W, a constant. What is summed is its
           gradient, and |E − Ẽ| is at most the mean of |ε_i| everywhere, so the gap of E is at most that of Ẽ and twice
           that mean. This is better where curvature is small along long weights.
        3. The error of the gradient along v is the mean of ℓ″ ε_i (x̄_i·v), at most (mean ℓ″ ε²)^½ (vᵀ H v)^½, so λ is
           off by (mean ℓ″ ε²)^½, which is at most the rounding of a score times Σ_j |W_j| H_jj^½. This is better where
           one class has nearly all the weight, and ℓ″ is small.
        """
        space, amplified = objective.subspace, self.size[1:] - 2.0
        ways = [(self.gradient, 0.0, 0.0), (self.summed, 0.0, 2 * self.moved)]
        if curvatures is not None:
            roots = curvatures.reshape(W.shape)
            far = np.sum(np.abs(W) * roots) + np.sum((np.abs(W[:, 1:]) @ amplified) * roots[:, 0])
            ways.append((self.summed, _units(objective) * float(far), 0.0))
        return [(self._reduced(space, error + aside), far, more) for error, far, more in ways]

    @staticmethod
    def _reduced(space: Subspace, error: Array) -> Array:
        if space.Z is None and space.Q is None:
            return error
        classes = 1 if space.Q is None else len(space.Q)
        count = space.rank * max(1, classes - 1)
        return np.full(count, np.sqrt(classes) * float(np.linalg.norm(error)))


def _units(objective: Objective) -> float:
    """The rounding of a score, as a share of the sum of its products' sizes, where errors add up at random."""
    return 2 * EPS * float(np.sqrt(objective.shape[1] + 2))


def _sizes(objective: Objective) -> Array:
    """The size at which a column's product is rounded, (d + 1,): its root mean square, and its offset as it is read."""
    frame, block = objective.rows.frame, objective.rows.resident()
    offset = np.abs(frame.center / frame.scale) if block is None else block.offsets_read()
    return np.concatenate([[1.0], 2.0 + offset])
