"""SciPy: separability by one linear program over all rows, as it is written in textbooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contestant import Answer, Contestant, Rung, Task

# The program's own tolerance: a margin below it is none.
NOTHING = 1e-7


def program(method: str) -> Callable[..., Callable[[], Any]]:
    """Maximise s with t_i (w·x_i + b) ≥ s and |w|, |b| ≤ 1."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        from scipy.optimize import linprog

        def run() -> Any:
            t = 2.0 * y - 1.0
            A = np.column_stack([-t, -t[:, None] * X, np.ones(len(t))])
            cost = np.zeros(A.shape[1])
            cost[-1] = -1.0
            bounds = [(-1.0, 1.0)] * (A.shape[1] - 1) + [(0.0, None)]
            return linprog(cost, A_ub=A, b_ub=np.zeros(len(t)), bounds=bounds, method=method)

        return run

    return prepare


def verdict(found: Any, task: Task) -> Answer:
    """1 and the hyperplane, or 0 and a multiplier a row."""
    if found.x[-1] > NOTHING:
        return Answer(np.concatenate([[1.0], found.x[:-1]]))
    return Answer(np.concatenate([[0.0], np.maximum(-found.ineqlin.marginals, 0.0)]))


CONTESTANTS = (
    Contestant("linprog highs-ds", "separability", program("highs-ds"), verdict),
    Contestant("linprog highs-ipm", "separability", program("highs-ipm"), verdict),
)
