"""firthmodels: Firth's penalised likelihood for two classes, compiled by Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.contestant import Contestant, Rung, Task, fitting


def firth(backend: str) -> Callable[[Task, Rung], Any]:
    def make(task: Task, rung: Rung) -> Any:
        from firthmodels import FirthLogisticRegression

        return FirthLogisticRegression(backend=backend, max_iter=200, gtol=rung["tol"], xtol=rung["tol"])

    return make


LADDER = tuple({"tol": tol} for tol in (1e-4, 1e-6, 1e-8))

CONTESTANTS = (
    Contestant("numba", "firth", fitting(firth("numba")), ladder=LADDER, compiles=True),
    Contestant("numpy", "firth", fitting(firth("numpy")), ladder=LADDER),
)
