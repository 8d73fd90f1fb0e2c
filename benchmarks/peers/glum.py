"""glum: iteratively reweighted least squares with tabmat's matrices; its weights are scaled by 1/n.

minimise (1/n) Σ ℓ + α(½(1 − l1_ratio)‖w‖² + l1_ratio‖w‖₁), so α = 1/(C n).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contestant import Answer, Contestant, Rung, Task, in_double, tolerances, weights

# tabmat's products fill a d × d Hessian.
MOST_COLUMNS = 5000
LADDER = tolerances(1e-4, 1e-6, 1e-8, 1e-10)


def regressor(task: Task, rung: Rung, **settings: Any) -> Any:
    from glum import GeneralizedLinearRegressor

    return GeneralizedLinearRegressor(
        family="binomial",
        l1_ratio=task.l1_ratio,
        fit_intercept=task.fit_intercept,
        gradient_tol=rung["tol"],
        max_iter=1000,
        **settings,
    )


def alpha(task: Task, C: float) -> float:
    return 0.0 if np.isinf(C) else 1.0 / (C * task.n)


def fit(solver: str, convert: Callable[[Any], Any]) -> Callable[..., Callable[[], Any]]:
    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        model = regressor(task, rung, solver=solver, alpha=alpha(task, task.C))
        return lambda: model.fit(convert(X), y)

    return prepare


def path(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    model = regressor(task, rung, alpha_search=True, alphas=[alpha(task, C) for C in task.Cs])
    return lambda: model.fit(X, y)


def of_path(model: Any, task: Task) -> Answer:
    pairs = zip(model.coef_path_, model.intercept_path_, strict=True)
    return Answer(np.array([weights(coef, intercept) for coef, intercept in pairs]))


def as_is(X: Any) -> Any:
    return X


def fortran(X: Any) -> Any:
    return np.asfortranarray(X)


def split(X: Any) -> Any:
    """Dense and sparse columns apart."""
    import tabmat
    from scipy.sparse import csc_matrix

    return tabmat.from_csc(csc_matrix(X))


def few(task: Task) -> bool:
    return task.K == 2 and task.d <= MOST_COLUMNS


def mostly_zero(task: Task) -> bool:
    """One-hot columns: where a split matrix is worth its making."""
    return few(task) and task.density < 0.3


def dense(task: Task) -> bool:
    return few(task) and not task.sparse


def many(task: Task) -> bool:
    return task.K == 2 and task.d > MOST_COLUMNS


IRLS = Contestant("irls-ls", "ridge", fit("irls-ls", as_is), ladder=LADDER, where=few)

CONTESTANTS = (
    IRLS,
    in_double(IRLS),
    Contestant("irls-ls, Fortran", "ridge", fit("irls-ls", fortran), ladder=LADDER, where=dense),
    Contestant("irls-ls, split", "ridge", fit("irls-ls", split), ladder=LADDER, where=mostly_zero),
    Contestant("lbfgs", "ridge", fit("lbfgs", as_is), ladder=LADDER, where=many),
    Contestant("irls-cd", "lasso", fit("irls-cd", as_is), ladder=LADDER, where=few),
    Contestant("irls-cd", "path", path, of_path, LADDER, where=few),
)
