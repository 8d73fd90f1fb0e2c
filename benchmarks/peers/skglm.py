"""skglm: prox-Newton on working sets; minimise (1/n) Σ ℓ + α‖w‖₁, so α = 1/(C n)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contestant import Answer, Contestant, Rung, Task, linear_model, tolerances, weights

LADDER = tolerances(1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10)


def regression(task: Task, C: float, rung: Rung, warm: bool = False) -> Any:
    from skglm import SparseLogisticRegression

    return SparseLogisticRegression(
        alpha=1.0 / (C * task.n),
        fit_intercept=task.fit_intercept,
        tol=rung["tol"],
        max_iter=500,
        warm_start=warm,
    )


def fit(convert: Callable[[Any], Any]) -> Callable[..., Callable[[], Any]]:
    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        model = regression(task, task.C, rung)
        return lambda: model.fit(convert(X), y)

    return prepare


def path(convert: Callable[[Any], Any]) -> Callable[..., Callable[[], Any]]:
    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        def run() -> Any:
            columns = convert(X)
            model = regression(task, task.Cs[0], rung, warm=True)
            found = []
            for C in task.Cs:
                model.set_params(alpha=1.0 / (C * task.n)).fit(columns, y)
                found.append(weights(model.coef_, model.intercept_))
            return found

        return run

    return prepare


def of_path(found: Any, task: Task) -> Answer:
    return Answer(np.array(found))


def ridge(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    """By the solver itself: the estimators ask it for an intercept, which it has not."""
    from skglm.datafits import Logistic
    from skglm.penalties import L2
    from skglm.solvers import LBFGS

    solver = LBFGS(max_iter=5000, tol=rung["tol"])
    return lambda: solver.solve(as_columns(X), 2.0 * y - 1.0, Logistic(), L2(1.0 / (task.C * task.n)))


def of_solver(found: Any, task: Task) -> Answer:
    return Answer(weights(found[0], 0.0))


def as_columns(X: Any) -> Any:
    """Fortran order, or CSC."""
    return np.asfortranarray(X) if isinstance(X, np.ndarray) else X.tocsc()


def as_is(X: Any) -> Any:
    return X


def dense(task: Task) -> bool:
    return not task.sparse


def no_intercept(task: Task) -> bool:
    return task.K == 2 and not task.fit_intercept


CONTESTANTS = (
    Contestant("prox-Newton, by columns", "lasso", fit(as_columns), linear_model, LADDER, compiles=True),
    Contestant("prox-Newton", "lasso", fit(as_is), linear_model, LADDER, dense, compiles=True),
    Contestant("prox-Newton, by columns, warm", "path", path(as_columns), of_path, LADDER, compiles=True),
    Contestant("LBFGS", "ridge", ridge, of_solver, LADDER, no_intercept, compiles=True),
)
