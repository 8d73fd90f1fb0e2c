"""snapml: parallel coordinate descent; minimise Σ ℓ + λ(½‖w‖² or ‖w‖₁), so λ = 1/C. It penalises the intercept."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from benchmarks.contestant import Contestant, Rung, Task, crossed, fitting, tolerances


def logistic(task: Task, rung: Rung) -> Any:
    from snapml import LogisticRegression

    scaling = {"intercept_scaling": rung["B"]} if task.fit_intercept else {}
    return LogisticRegression(
        regularizer=1.0 / task.C,
        penalty="l1" if task.l1_ratio else "l2",
        dual=not task.l1_ratio,
        fit_intercept=task.fit_intercept,
        tol=rung["tol"],
        max_iter=5000,
        n_jobs=os.cpu_count() or 1,
        **scaling,
    )


def two(task: Task) -> bool:
    return task.K == 2 and bool(np.isfinite(task.C))


LADDER = crossed(tolerances(1e-4, 1e-7, 1e-9), B=(1.0, 30.0))

CONTESTANTS = (
    Contestant("LogisticRegression", "ridge", fitting(logistic), ladder=LADDER, where=two),
    Contestant("LogisticRegression", "lasso", fitting(logistic), ladder=LADDER, where=two),
)
