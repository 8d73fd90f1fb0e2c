"""Mistakes, the perceptron's cost and the worst row under given weights, in one pass (docs/tour.md, P1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.losses.margin import Zero, ZeroOne
from separatrix.objectives.problem import Evaluation, Objective
from separatrix.rows import Block


class Survey(NamedTuple):
    """Statistics of all rows under w: mistakes, Σ max(0, −m), Σ_{mistakes} t x̄, the smallest m, and the worst mistake.

    ``step`` is Σ_{mistakes} s t x̄ and ``worst_x`` the worst mistake's s t x̄, with s the weights of the rows;
    mistakes, cost and ``pull`` count every row once.
    """

    errors: int
    cost: float
    pull: Array
    step: Array
    smallest: float
    worst: float
    row: int
    worst_x: Array


@dataclass(frozen=True)
class Mistakes:
    """The fold that computes ``Survey``. Ties for the worst mistake go to the first row."""

    W: Array
    zero_score: Zero
    weighted: bool = False

    def zero(self) -> Survey:
        width = self.W.shape[1]
        nothing = np.zeros(width)
        return Survey(0, 0.0, nothing, nothing.copy(), np.inf, np.inf, -1, nothing.copy())

    def add(self, total: Survey, block: Block) -> Survey:
        z = block.scores(self.W)[:, 0]
        m = block.t * z
        wrong = ZeroOne(self.zero_score).value(block.t, z)
        pull = block.adjoint((block.t * wrong)[:, None])[0]
        step = block.adjoint((block.weight * block.t * wrong)[:, None])[0] if self.weighted else pull
        cost, errors, smallest = float(np.maximum(-m, 0.0).sum()), int(np.count_nonzero(wrong)), float(m.min())
        worst, row, worst_x = np.inf, -1, total.worst_x
        if errors and smallest < total.worst:
            k = int(np.where(wrong > 0, m, np.inf).argmin())
            worst, row = float(m[k]), block.start + k
            worst_x = block.weight[k] * block.t[k] * block.homogeneous_row(k)
        return self.merge(total, Survey(errors, cost, pull, step, smallest, worst, row, worst_x))

    def merge(self, a: Survey, b: Survey) -> Survey:
        worse = b if b.worst < a.worst else a
        return Survey(
            a.errors + b.errors,
            a.cost + b.cost,
            a.pull + b.pull,
            a.step + b.step,
            min(a.smallest, b.smallest),
            worse.worst,
            worse.row,
            worse.worst_x,
        )


def survey(problem: Objective, W: Array, zero: Zero, weighted: bool = False) -> Survey:
    """The survey of all rows under W, in one pass; ``weighted``: rows have weights other than 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = problem.rows.fold(Mistakes(W, zero, weighted))
    if not problem.fit_intercept:
        found.pull[0] = found.step[0] = found.worst_x[0] = 0.0
    return found


def evaluation(problem: Objective, found: Survey) -> Evaluation:
    """E_p and a subgradient of it, both divided by the total weight."""
    S = problem.total_weight
    return Evaluation(found.cost / S, -found.pull[None, :] / S)
