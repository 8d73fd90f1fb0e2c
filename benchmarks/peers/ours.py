"""Separatrix, as a user calls it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import commands
from benchmarks.contestant import (
    Answer,
    Contestant,
    Rung,
    Task,
    as_given,
    fitting,
    fitting_most,
    linear_model,
    of_process,
    predicting,
    predicting_one,
    probed,
    probing,
    starting,
    tolerances,
)


def evidence(model: Any) -> dict[str, Any]:
    certificate = model.certificate_
    bound = certificate.bound
    return {
        "passes": certificate.passes,
        "iterations": certificate.iterations,
        "bound": None if bound is None else float(bound),
        "why": certificate.why,
    }


def with_evidence(report: Callable[[Any, Task], Answer]) -> Callable[[Any, Task], Answer]:
    def told(model: Any, task: Task) -> Answer:
        fitted = model[0] if isinstance(model, tuple) else model
        return Answer(report(model, task).result, evidence(fitted))

    return told


def logistic(task: Task, rung: Rung) -> Any:
    from separatrix import LogisticRegression

    settings = {"l1_ratio": task.l1_ratio} if task.l1_ratio else {}
    return LogisticRegression(C=task.C, fit_intercept=task.fit_intercept, tol=rung["tol"], **settings)


def path(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    import separatrix as sx

    return lambda: sx.penalty_path(X, y, Cs=task.Cs, l1_ratio=task.l1_ratio, tol=rung["tol"])


def of_path(found: Any, task: Task) -> Answer:
    order = [int(np.argmin(np.abs(np.log(np.asarray(found.Cs) / C)))) for C in task.Cs]
    return Answer(np.concatenate([found.intercept[..., None], found.coef], axis=2)[order])


def predict_file(folder: Path, X: Any, y: Any) -> tuple[list[str], Callable[[str], np.ndarray]]:
    """A CSV file and a model of it, for the command line."""
    names = ",".join([*(f"x{j}" for j in range(X.shape[1])), "label"])
    rows = folder / "rows.csv"
    np.savetxt(rows, np.column_stack([X, y]), "%.9g", ",", header=names, comments="")
    program, model = [sys.executable, "-m", "separatrix"], str(folder / "model.json")
    commands.quiet([*program, "fit", str(rows), "--target", "label", "--test-size", "0", "--out", model])
    return [*program, "predict", model, str(rows)], lambda printed: np.array(printed.split()[1:], dtype=np.int64)


def perceptron(task: Task, rung: Rung) -> Any:
    from separatrix import Perceptron

    # The walk alone, as many epochs as the others make: no mean of further epochs.
    return Perceptron(max_iter=task.epochs)


def classifier(name: str, **settings: Any) -> Callable[[Task, Rung], Any]:
    def make(task: Task, rung: Rung) -> Any:
        import separatrix as sx

        return getattr(sx, name)(**settings)

    return make


def firth(task: Task, rung: Rung) -> Any:
    from separatrix import LogisticRegression

    return LogisticRegression(bias_reduction="firth", tol=rung["tol"])


def chosen(task: Task, rung: Rung) -> Any:
    from separatrix import LogisticRegression

    return LogisticRegression(C="auto")


def summary(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    import separatrix as sx

    def run() -> Any:
        found = sx.summary(sx.LogisticRegression(C=np.inf, tol=rung["tol"]).fit(X, y), X, y)
        str(found)
        return found

    return run


def of_summary(found: Any, task: Task) -> Answer:
    return Answer(np.array([found.coef, found.std_err]))


def separability(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    import separatrix as sx

    return lambda: (sx.separability(X, y), len(y))


def verdict(found: Any, task: Task) -> Answer:
    """1 and the hyperplane, or 0 and a multiplier a row."""
    answer, n = found
    if answer:
        return Answer(np.concatenate([[1.0], answer.v]))
    weights = np.zeros(n)
    weights[answer.rows] = answer.weights
    return Answer(np.concatenate([[0.0], weights]))


def one(X: Any, y: Any) -> Callable[[Any], Any]:
    model = default().fit(X, y)
    if hasattr(model, "predict_one"):
        return model.predict_one
    return lambda row: model.predict([row])


def default() -> Any:
    from separatrix import LogisticRegression

    return LogisticRegression()


START = """
from separatrix import LogisticRegression
model = LogisticRegression().fit(X, y)
print(np.mean(model.predict(X) != y))
"""

# `tol` is a proven bound: one rung is enough unless the bound is against a null model far above the optimum.
BOUNDS = tolerances(1e-8, 1e-9, 1e-10, 1e-11)

CONTESTANTS = (
    Contestant("LogisticRegression", "ridge", fitting(logistic), with_evidence(linear_model), BOUNDS),
    Contestant("LogisticRegression", "lasso", fitting(logistic), with_evidence(linear_model), BOUNDS),
    Contestant("penalty_path", "path", path, of_path, BOUNDS),
    Contestant("Perceptron", "perceptron", fitting(perceptron), with_evidence(linear_model)),
    Contestant("LDA", "lda", probing(classifier("LinearDiscriminantAnalysis")), with_evidence(probed)),
    Contestant("QDA", "qda", probing(classifier("QuadraticDiscriminantAnalysis")), with_evidence(probed)),
    Contestant(
        "LeastSquaresClassifier",
        "least-squares",
        probing(classifier("LeastSquaresClassifier", targets="signed")),
        with_evidence(probed),
    ),
    Contestant(
        "MaxMarginClassifier", "margin", fitting(classifier("MaxMarginClassifier")), with_evidence(linear_model)
    ),
    Contestant("separability", "separability", separability, verdict),
    Contestant("summary", "summary", summary, of_summary, BOUNDS),
    Contestant('LogisticRegression(C="auto")', "auto-C", fitting_most(chosen), with_evidence(linear_model)),
    Contestant('LogisticRegression(bias_reduction="firth")', "firth", fitting(firth), linear_model, BOUNDS),
    Contestant("predict_one", "predict-one", predicting_one(one, lambda row: row), as_given),
    Contestant("predict", "predict-many", predicting(default), as_given),
    Contestant("cold process", "start", starting(START), of_process),
    *commands.contestants([sys.executable, "-m", "separatrix"], ["--help"], predict_file),
)
