"""celer: L1 by working sets. It fits no intercept, so it gets a constant column that the penalty hardly feels.

minimise Σ ℓ + ‖w‖₁/C with labels ±1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contestant import Answer, Contestant, Rung, Task, crossed, tolerances, weights


def with_constant(X: Any, B: float) -> Any:
    """[X, B] by columns, in the order of memory that celer takes."""
    if isinstance(X, np.ndarray):
        wide = np.empty((X.shape[0], X.shape[1] + 1), order="F")
        wide[:, :-1], wide[:, -1] = X, B
        return wide
    from scipy.sparse import csc_matrix, hstack

    return csc_matrix(hstack([X, np.full((X.shape[0], 1), B)], format="csc"))


def walk(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    def run() -> Any:
        from celer import celer_path

        alphas = np.array([1.0 / C for C in task.strengths])
        found = celer_path(
            with_constant(X, rung["B"]),
            2.0 * y - 1.0,
            "logreg",
            alphas=alphas,
            tol=rung["tol"],
            max_iter=200,
            use_PN=rung["newton"],
        )
        return found[1], rung["B"]

    return run


def of_walk(found: Any, task: Task) -> Answer:
    coefs, B = found
    result = np.array([weights(column[:-1], B * column[-1]) for column in coefs.T])
    return Answer(result if task.Cs else result[0])


def ladder(newton: bool) -> tuple[Rung, ...]:
    return crossed(tolerances(1e-4, 1e-6, 1e-8, 1e-10, newton=newton), B=(100.0, 1e5))


CONTESTANTS = tuple(
    Contestant(name, kind, walk, of_walk, ladder(newton))
    for kind in ("lasso", "path")
    for name, newton in (("prox-Newton", True), ("coordinate descent", False))
)
