"""The value, gradient and Hessian of a likelihood at a point, in one pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.losses import Loss
from separatrix.objectives.partials import Hessian, ValueGradient
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.objectives.subspace import contrasts, identified
from separatrix.rows import ArraySum, Block


@dataclass(frozen=True)
class Expansion(ArraySum):
    """Σ s ℓ and its gradient, then its Hessian, in one pass: ``ValueGradient`` and ``Hessian`` side by side."""

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return (1 + self.W.size + self.W.size**2,)

    def add(self, total: Array, block: Block) -> Array:
        first = 1 + self.W.size
        ValueGradient(self.loss, self.W).add(total[:first], block)
        Hessian(self.loss, self.W).add(total[first:].reshape(self.W.size, self.W.size), block)
        return total


def expansion(problem: Objective, W: Array) -> tuple[Evaluation, Array]:
    """E and ∇E at W, and ∇² of the mean loss, in one pass."""
    total = problem.rows.fold(Expansion(problem.loss, W)) / problem.total_weight
    first = 1 + W.size
    gradient = problem.without_pinned(total[1:first].reshape(W.shape)) + problem.penalty_gradient(W)
    return Evaluation(float(total[0]) + problem.penalty_value(W), gradient), total[first:].reshape(W.size, W.size)


def holding(problem: Objective, columns: Any, hessian: Array) -> Objective:
    """The problem with further columns pinned, that is, with their weights fixed.

    If the Hessian is well above zero in every direction, it shows which directions are identified, without a pass over
    the rows.
    """
    held = problem.with_(pinned=problem.pinned | columns)
    curvature = np.einsum("kikj->ij", hessian.reshape(*problem.shape, *problem.shape))
    curvature[held.pinned, :] = curvature[:, held.pinned] = 0.0
    found = identified(curvature)
    if found is None:
        return held
    return held.with_(
        known={"subspace": replace(found, Q=contrasts(problem.shape[0]) if problem.shape[0] > 1 else None)}
    )
