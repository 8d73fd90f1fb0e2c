"""scikit-learn: every solver that applies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contestant import (
    Contestant,
    Rung,
    Task,
    as_given,
    crossed,
    fitting,
    fitting_most,
    in_double,
    of_process,
    predicting,
    predicting_one,
    probed,
    probing,
    starting,
    tolerances,
    weights,
)

# Beyond this many parameters a dense Hessian is no sensible use: 3.2 GB at 20 000.
MOST_FOR_HESSIAN = 4000

BY_GRADIENT = tolerances(1e-4, 1e-5, 1e-6, 1e-7, 1e-9, max_iter=20_000)
BY_NEWTON = tolerances(1e-3, 1e-5, 1e-8, max_iter=1000)
BY_CHANGE = tolerances(1e-3, 1e-4, 1e-5, 1e-6, 1e-8, max_iter=20_000)
# liblinear penalises the intercept times its scaling: the larger, the freer.
SCALED = crossed(tolerances(1e-3, 1e-5, 1e-7, max_iter=10_000), intercept_scaling=(30.0, 1000.0))
SCALED_L1 = crossed(tolerances(1e-3, 1e-5, 1e-7, max_iter=10_000), intercept_scaling=(100.0, 1e5))


def logistic(solver: str, **fixed: Any) -> Callable[[Task, Rung], Any]:
    def make(task: Task, rung: Rung) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(
            C=task.C, l1_ratio=task.l1_ratio, fit_intercept=task.fit_intercept, solver=solver, **fixed, **rung
        )

    return make


def path(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    def run() -> Any:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(l1_ratio=task.l1_ratio, solver="saga", warm_start=True, **rung)
        found = []
        for C in task.Cs:
            model.set_params(C=C).fit(X, y)
            found.append(weights(model.coef_, model.intercept_))
        return np.array(found)

    return run


def chosen(solver: str) -> Callable[[Task, Rung], Any]:
    """Ten strengths by five folds, which is its default."""

    def make(task: Task, rung: Rung) -> Any:
        from sklearn.linear_model import LogisticRegressionCV

        return LogisticRegressionCV(
            Cs=10, cv=5, scoring="neg_log_loss", solver=solver, use_legacy_attributes=False, **rung
        )

    return make


def perceptron(name: str, **settings: Any) -> Callable[[Task, Rung], Any]:
    def make(task: Task, rung: Rung) -> Any:
        from sklearn import linear_model

        return getattr(linear_model, name)(max_iter=task.epochs, tol=None, shuffle=False, **settings)

    return make


def discriminant(name: str, **settings: Any) -> Callable[[Task, Rung], Any]:
    def make(task: Task, rung: Rung) -> Any:
        from sklearn import discriminant_analysis

        return getattr(discriminant_analysis, name)(**settings)

    return make


def squares(name: str, **settings: Any) -> Callable[[Task, Rung], Any]:
    def make(task: Task, rung: Rung) -> Any:
        from sklearn import linear_model

        return getattr(linear_model, name)(**settings)

    return make


def machine(name: str, **settings: Any) -> Callable[[Task, Rung], Any]:
    def make(task: Task, rung: Rung) -> Any:
        from sklearn import svm

        return getattr(svm, name)(**settings, **rung)

    return make


def default() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def one(X: Any, y: Any) -> Callable[[Any], Any]:
    model = default().fit(X, y)
    return lambda row: model.predict(row)


START = """
from sklearn.linear_model import LogisticRegression
model = LogisticRegression(max_iter=1000).fit(X, y)
print(np.mean(model.predict(X) != y))
"""


def few(task: Task) -> bool:
    return task.d * (task.K if task.K > 2 else 1) <= MOST_FOR_HESSIAN


def penalised_two(task: Task) -> bool:
    return task.K == 2 and np.isfinite(task.C)


def penalised(task: Task) -> bool:
    return bool(np.isfinite(task.C))


LBFGS = Contestant("lbfgs", "ridge", fitting(logistic("lbfgs")), ladder=BY_GRADIENT)
NEWTON_CG = Contestant("newton-cg", "ridge", fitting(logistic("newton-cg")), ladder=BY_GRADIENT)
NEWTON_CHOLESKY = Contestant(
    "newton-cholesky", "ridge", fitting(logistic("newton-cholesky")), ladder=BY_NEWTON, where=few
)
# At C large a hard margin: rows on the wrong side of it cost more than any ‖w‖.
HARD = crossed(tolerances(1e-2, 1e-3, 1e-5), C=(1e2, 1e4, 1e6))
HARD_SCALED = crossed(tolerances(1e-3, 1e-6, max_iter=1_000_000), C=(1e3, 1e6), intercept_scaling=(1.0, 30.0))
PERCEPTRON_LOSS = {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None}

CONTESTANTS = (
    LBFGS,
    NEWTON_CG,
    NEWTON_CHOLESKY,
    in_double(LBFGS),
    in_double(NEWTON_CHOLESKY),
    Contestant("sag", "ridge", fitting(logistic("sag")), ladder=BY_CHANGE, where=penalised),
    Contestant("saga", "ridge", fitting(logistic("saga")), ladder=BY_CHANGE, where=penalised),
    Contestant("liblinear", "ridge", fitting(logistic("liblinear")), ladder=SCALED, where=penalised_two),
    Contestant(
        "liblinear, dual", "ridge", fitting(logistic("liblinear", dual=True)), ladder=SCALED, where=penalised_two
    ),
    Contestant("saga", "lasso", fitting(logistic("saga")), ladder=BY_CHANGE),
    Contestant("liblinear", "lasso", fitting(logistic("liblinear")), ladder=SCALED_L1),
    Contestant("saga, warm", "path", path, as_given, BY_CHANGE),
    Contestant("Perceptron", "perceptron", fitting(perceptron("Perceptron"))),
    Contestant("SGDClassifier", "perceptron", fitting(perceptron("SGDClassifier", **PERCEPTRON_LOSS))),
    *(
        Contestant(f"LDA {solver}", "lda", probing(discriminant("LinearDiscriminantAnalysis", solver=solver)), probed)
        for solver in ("svd", "lsqr", "eigen")
    ),
    *(
        Contestant(
            f"QDA {solver}", "qda", probing(discriminant("QuadraticDiscriminantAnalysis", solver=solver)), probed
        )
        for solver in ("svd", "eigen")
    ),
    Contestant("LinearRegression", "least-squares", probing(squares("LinearRegression"), signed=True), probed),
    Contestant(
        "Ridge cholesky",
        "least-squares",
        probing(squares("Ridge", alpha=1e-9, solver="cholesky"), signed=True),
        probed,
    ),
    Contestant("SVC", "margin", fitting(machine("SVC", kernel="linear")), ladder=HARD),
    Contestant("LinearSVC", "margin", fitting(machine("LinearSVC", loss="hinge")), ladder=HARD_SCALED),
    Contestant("LogisticRegressionCV lbfgs", "auto-C", fitting_most(chosen("lbfgs")), ladder=BY_GRADIENT[:1]),
    Contestant(
        "LogisticRegressionCV newton-cholesky", "auto-C", fitting_most(chosen("newton-cholesky")), ladder=BY_NEWTON[:1]
    ),
    Contestant("predict", "predict-one", predicting_one(one, lambda row: row.reshape(1, -1)), as_given),
    Contestant("predict", "predict-many", predicting(default), as_given),
    Contestant("cold process", "start", starting(START), of_process),
)
