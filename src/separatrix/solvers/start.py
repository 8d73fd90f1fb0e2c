"""E and its gradient at the start of a run. A start at zero needs no pass."""

from __future__ import annotations

from math import log

import numpy as np

from separatrix.base.arrays import Array, any_true
from separatrix.objectives.problem import Evaluation, Objective


def begun(problem: Objective, start: Array) -> Evaluation:
    """E(start) and ∇E(start) in one pass, or from the class sums alone if all weights are zero.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> ridge = Penalty(1.0, np.ones(1))
    >>> problem = build_objective(labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2), 2, ridge)
    >>> at, passes = begun(problem, np.zeros((1, 2))), problem.passes
    >>> bool(np.allclose(at.gradient, problem.value_gradient(np.zeros((1, 2))).gradient)), problem.passes - passes
    (True, 1)
    """
    return problem.value_gradient(start) if any_true(start) else _at_zero(problem)


def _at_zero(problem: Objective) -> Evaluation:
    """E and ∇E at W = 0, where the derivative of a row depends only on its class."""
    K = problem.shape[0]
    if problem.loss.traits.canonical:  # every class has the probability 1/K
        sums = problem.mean_class_sums
        gradient = 0.5 * (sums[:1] - sums[1:]) if K == 1 else problem.mean_row / K - sums
        return Evaluation(log(problem.n_classes), problem.without_pinned(gradient))
    z = np.zeros((problem.n_classes, K) if problem.loss.traits.multiclass else problem.n_classes)
    value, slope = problem.loss.value_derivative(problem.targets, z)
    sums = problem.mean_class_sums
    gradient = slope.reshape(problem.n_classes, K).T @ sums
    return Evaluation(float(sums[:, 0] @ value), problem.without_pinned(gradient))
