r"""Proximal Newton for the problem restricted to a few columns; the scores of all rows are kept up to date.

Problem   min E over the weights of a working set, with all other weights fixed
Given     the gathered columns of the working set, W, and the accuracy
Returns   W on those columns
Step      the minimum of the quadratic model with absolute values (``gathered_columns``), then α from 1 by halving. A
          trial costs the losses at the scores z + α Δz and no pass over the columns
Stops     when every subgradient is small enough, in units of its penalty, or rounding hides any descent

Yuan, Ho and Lin 2012 (newGLMNET); Lee, Sun and Saunders 2014 for the accuracy of a model's minimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.losses import Loss
from separatrix.objectives.damped_newton import backtracked
from separatrix.objectives.penalty import shortest
from separatrix.objectives.problem import Objective
from separatrix.rows import Block
from separatrix.solvers.gathered_columns import Columns, Curvature, Gathered, Model
from separatrix.solvers.proximal import SMALLEST_CURVATURE, change

# The most proximal Newton steps on one set of columns.
MOST_RESTRICTED_STEPS = 50
# The relative rounding error of a mean over 10⁵ rows. The last steps lower E by less than that, so whether they make
# progress is decided by their subgradients.
MEAN_ROUNDING = 1e-13
# Subgradients below this, in units of the penalty, are treated as rounding errors once they no longer fall.
LARGEST_ROUNDED_SUBGRADIENT = 1e-6
# The quadratic model is minimised at least until coordinate steps have fallen to this share of the first step.
LOOSEST_MODEL_ACCURACY = 0.1


@dataclass
class Restricted:
    """E over some columns: ``W`` (K, p + 1) with its scores. The other columns keep their weights."""

    loss: Loss
    columns: Columns
    t: AnyArray
    omega: Array  # weights s/S
    squares: Array
    absolute: Array
    fit_intercept: bool
    W: Array
    z: Array

    def minimised(self, goal: float) -> Array:
        """W at which no subgradient exceeds ``goal``, in units of the penalty, if rounding permits."""
        value, slope = self._loss(self.z)
        before, idle = np.inf, 0
        for _ in range(MOST_RESTRICTED_STEPS):
            gradient = self.columns.adjoint(slope) + self.squares * self.W
            if not self.fit_intercept:
                gradient[:, 0] = 0.0
            far = furthest(self.W, gradient, self.absolute)
            idle = idle + 1 if far > 0.5 * before and far < LARGEST_ROUNDED_SUBGRADIENT else 0
            if far <= goal or idle >= 2:
                break
            before = far
            rest = (gradient, self.W, self.squares, self.absolute, self.fit_intercept)
            model = Model(slope, self._curvature(slope), *rest)
            # Newton's method squares the error, so a more accurate minimum of the model would be wasted; so would one
            # more accurate than the goal.
            to, dz = self.columns.minimum(model, min(LOOSEST_MODEL_ACCURACY, max(far, 0.3 * goal / far)))
            accepted = self._search(value, gradient, to - self.W, dz)
            if accepted is None:
                break
            alpha, (value, slope) = accepted
            self.W = to if alpha == 1.0 else self.W + alpha * (to - self.W)
            self.z = self.z + alpha * dz
        return self.W

    def _loss(self, z: Array) -> tuple[float, Array]:
        """Σ ω ℓ, and ω ∂ℓ, (n, K)."""
        one = not self.loss.traits.multiclass
        value, slope = self.loss.value_derivative(self.t, z[:, 0] if one else z)
        return float(self.omega @ value), self.omega[:, None] * (slope[:, None] if one else slope)

    def _curvature(self, slope: Array) -> Curvature:
        if not self.loss.traits.multiclass:
            h = self.loss.curvature_product(self.t, self.z[:, 0], np.ones(len(self.t)))
            return Curvature((self.omega * np.maximum(h, SMALLEST_CURVATURE))[:, None], np.zeros((1, 1)), False)
        weighted = slope.copy()
        weighted[np.arange(len(self.t)), self.t] += self.omega
        weighted = np.maximum(weighted, 0.0)
        root = np.sqrt(self.omega)[:, None]
        return Curvature(weighted, np.divide(weighted, root, out=np.zeros_like(weighted), where=root > 0), True)

    def _penalty(self, W: Array) -> float:
        return float(np.sum(0.5 * self.squares * W**2 + self.absolute * np.abs(W)))

    def _search(self, value: float, gradient: Array, V: Array, dz: Array) -> tuple[float, tuple[float, Array]] | None:
        """α and (Σ ω ℓ, ω ∂ℓ) at the first of W + V, W + V/2, … where E has fallen enough; None if there is none."""
        promised = change(self.W, V, gradient, self.absolute)
        if not promised < 0:
            return None

        def evaluated(alpha: float) -> tuple[float, tuple[float, Array]]:
            there, slope = self._loss(self.z + alpha * dz)
            return there + self._penalty(self.W + alpha * V), (there, slope)

        return backtracked(evaluated, value + self._penalty(self.W), promised, rounding=MEAN_ROUNDING)


def furthest(W: Array, gradient: Array, a: Array) -> float:
    """The largest subgradient in units of its own penalty, or of the largest penalty for unpenalised weights.

    >>> furthest(np.zeros((1, 2)), np.array([[0.5, -3.0]]), np.array([0.0, 1.0]))
    2.0
    """
    unit = np.where(a > 0, a, np.max(a) or 1.0)
    return float(np.max(np.abs(shortest(W, gradient, a)) / unit))


def restricted(problem: Objective, W: Array, held: Integers, gathered: Gathered) -> Restricted:
    """The problem restricted to the gathered columns; ``held``: their positions in W, with the intercept first."""
    columns, t, weight = gathered
    inside = np.zeros(problem.shape[1], dtype=bool)
    inside[held] = True
    z = columns.scores(W[:, held]) if not np.any(W[:, ~inside]) else _scores(problem, W)
    squares, absolute = problem.root_penalty[held] ** 2, problem.absolute_penalty[held]
    omega = weight / problem.total_weight
    return Restricted(problem.loss, columns, t, omega, squares, absolute, problem.fit_intercept, W[:, held], z)


@dataclass(frozen=True)
class _Scores:
    """The scores X̄ Wᵀ of all rows, in the order of the rows."""

    W: Array

    def zero(self) -> list[Array]:
        return []

    def add(self, total: list[Array], block: Block) -> list[Array]:
        total.append(block.scores(self.W))
        return total

    def merge(self, a: list[Array], b: list[Array]) -> list[Array]:
        return a + b


def _scores(problem: Objective, W: Array) -> Array:
    return np.concatenate(problem.rows.fold(_Scores(W)))
