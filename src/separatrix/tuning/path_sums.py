r"""The mean loss over all rows and its derivatives as functions of Θ, for the regularisation path (docs/tour.md, R8).

Rows in a dense matrix are summed in pieces, whose boundaries depend only on the data; other rows are summed by folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import iadd
from typing import Protocol

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.cached import cached_property
from separatrix.base.concurrency import in_order
from separatrix.losses import Loss
from separatrix.objectives.partials import ValueGradient
from separatrix.objectives.problem import Evaluation
from separatrix.rows import ArraySum, Block
from separatrix.tuning.reduced_rows import Framed, Written, cut


class Sums(Protocol):
    """The mean loss over all rows."""

    def value_gradient(self, theta: Array) -> Evaluation: ...
    def curvature(self, theta: Array) -> Array: ...


def sums_of(rows: Written | Framed) -> Sums:
    """The sums of rows, by pieces or by folds.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.tuning.reduced_rows import reduce_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), 2, ridge)
    >>> sums_of(reduce_rows(problem)).curvature(np.zeros(2)).tolist()  # a quarter of the Gram matrix
    [[0.25, 0.0], [0.0, 0.3125]]
    """
    return InPieces(rows) if isinstance(rows, Written) else Folded(rows)


@dataclass(frozen=True)
class InPieces:
    """Sums over rows in a dense matrix: pieces are summed in parallel and added in order."""

    rows: Written

    @cached_property
    def parts(self) -> list[Written]:
        """The pieces for values and gradients."""
        return self._cut(self.rows.x.shape[1], self.rows.x.size)

    @cached_property
    def bent_parts(self) -> list[Written]:
        """The pieces for second derivatives, whose work grows with the square of the number of scores."""
        c, (_, r) = self.rows.c, self.rows.x.shape
        return self._cut(max(r, c * r), self.rows.x.size * c**2)

    def _cut(self, fewest: int, work: int) -> list[Written]:
        parts = cut(self.rows.n_rows, fewest, work)
        return [self.rows] if len(parts) == 1 else [self.rows.take(part) for part in parts]

    def value_gradient(self, theta: Array) -> Evaluation:
        total = self._sum(lambda part: part.value_gradient(theta), self.parts)
        return Evaluation(float(total[0]), total[1:])

    def curvature(self, theta: Array) -> Array:
        return self._sum(lambda part: part.curvature(theta), self.bent_parts)

    def _sum(self, of: Callable[[Written], Array], parts: list[Written]) -> Array:
        self.rows.problem.rows.counter.add()
        return of(parts[0]) if len(parts) == 1 else reduce(iadd, in_order(of, parts))


@dataclass(frozen=True)
class Folded:
    """Sums over rows that are not in a dense matrix, by folds."""

    rows: Framed

    def value_gradient(self, theta: Array) -> Evaluation:
        problem, space = self.rows.problem, self.rows.space
        total = problem.rows.fold(ValueGradient(problem.loss, self.rows.weights(theta))) / problem.total_weight
        return Evaluation(float(total[0]), space.reduce(problem.without_pinned(total[1:].reshape(problem.shape))))

    def curvature(self, theta: Array) -> Array:
        problem, space = self.rows.problem, self.rows.space
        T = problem.rows.fold(Curvature(problem.loss, self.rows.weights(theta))) / problem.total_weight
        c, width = T.shape[:2]
        if space.Z is not None:
            T = space.Z.T @ (T @ space.Z).reshape(c, width, -1)
            width = space.Z.shape[1]
        if space.Q is not None:
            M = space.Q[:-1].T - space.Q[-1][:, None]  # the last score's curvature is minus the sum of the others
            T = (M @ T.reshape(c, -1)).reshape(c * width, c, width)
            T = M @ T
        return np.ascontiguousarray(T).reshape(c * width, c * width)


@dataclass(frozen=True)
class Curvature(ArraySum):
    """Σ s ℓ″ ⊗ x̄ x̄ᵀ over all scores but the last, (c, d + 1, c, d + 1).

    The last score of softmax needs no sum, because each row of ℓ″ sums to zero over the classes.
    """

    loss: Loss
    W: Array

    @property
    def shape(self) -> tuple[int, ...]:
        K, width = self.W.shape
        return (max(1, K - 1), width, max(1, K - 1), width)

    def add(self, total: Array, block: Block) -> Array:
        z = block.scores(self.W)
        if not self.loss.traits.multiclass:
            h = self.loss.curvature_product(block.t, z[:, 0], np.ones(block.n_rows))
            total[0, :, 0] += block.sandwich(block.weight * h)
            return total
        for k in range(len(total)):
            along = np.zeros_like(z)
            along[:, k] = 1.0
            h = block.weight[:, None] * self.loss.curvature_product(block.t, z, along)
            for j in range(k + 1):
                part = block.sandwich(h[:, j])
                total[k, :, j] += part
                if j < k:
                    total[j, :, k] += part
        return total
