"""statsmodels: maximum likelihood (it has no L2 penalty) and least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contestant import PROBE, Answer, Contestant, Rung, Task, as_given, tolerances


def likelihood(method: str) -> Callable[..., Callable[[], Any]]:
    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        import statsmodels.api as sm

        goal = {"tol": rung["tol"]} if method == "newton" else {"pgtol": rung["tol"], "factr": 10.0}
        return lambda: sm.Logit(y, sm.add_constant(X)).fit(method=method, disp=0, maxiter=500, **goal)

    return prepare


def of_likelihood(found: Any, task: Task) -> Answer:
    return Answer(np.atleast_2d(found.params))


def summary(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    import statsmodels.api as sm

    def run() -> Any:
        found = sm.Logit(y, sm.add_constant(X)).fit(method="newton", disp=0, tol=rung["tol"])
        str(found.summary())
        return np.array([found.params, found.bse])

    return run


def squares(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    import statsmodels.api as sm

    t = 2.0 * y - 1.0

    def run() -> Any:
        # Its fit holds the design; only the scores of the first rows are asked for.
        return sm.OLS(t, sm.add_constant(X)).fit(method="qr").fittedvalues[:PROBE].copy()

    return run


def unpenalised(task: Task) -> bool:
    return task.K == 2 and bool(np.isinf(task.C)) and not task.sparse


LADDER = tolerances(1e-4, 1e-6, 1e-8, 1e-10)

CONTESTANTS = (
    Contestant("Logit newton", "ridge", likelihood("newton"), of_likelihood, LADDER, unpenalised),
    Contestant("Logit lbfgs", "ridge", likelihood("lbfgs"), of_likelihood, LADDER, unpenalised),
    Contestant("Logit newton, summary", "summary", summary, as_given, LADDER),
    Contestant("OLS qr", "least-squares", squares, as_given),
)
