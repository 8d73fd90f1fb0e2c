"""scikit-learn-intelex: its own code where it has some; where it falls back to scikit-learn the table says so.

Of its solvers for logistic regression only lbfgs is its own: the others are scikit-learn's, and are shown there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from benchmarks.contestant import (
    PROBE,
    Answer,
    Contestant,
    Rung,
    Task,
    as_given,
    in_double,
    linear_model,
    of_process,
    predicting,
    predicting_one,
    probed,
    starting,
)
from benchmarks.peers.scikit_learn import BY_GRADIENT, HARD

FELL_BACK = "fell back to scikit-learn's code"


class Heard(logging.Handler):
    """What sklearnex logs of which code ran."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def listening() -> Heard:
    heard = Heard()
    log = logging.getLogger("sklearnex")
    log.handlers, log.propagate = [heard], False
    log.setLevel(logging.INFO)
    return heard


def heard_fit(make: Callable[[Task, Rung], Any], signed: bool = False, probe: int = 0) -> Callable[..., Any]:
    """prepare(): fit, and keep what was logged."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        model, heard = make(task, rung), listening()
        t = 2.0 * y - 1.0 if signed else y
        return lambda: (model.fit(X, t), X[:probe], heard)

    return prepare


def told(report: Callable[[Any, Task], Answer], probe: bool = False) -> Callable[[Any, Task], Answer]:
    def of(result: Any, task: Task) -> Answer:
        model, rows, heard = result
        answer = report((model, rows) if probe else model, task)
        fell_back = any("fallback" in line for line in heard.lines)
        return Answer(answer.result, answer.facts | ({"note": FELL_BACK} if fell_back else {}))

    return of


def logistic(solver: str) -> Callable[[Task, Rung], Any]:
    def make(task: Task, rung: Rung) -> Any:
        from sklearnex.linear_model import LogisticRegression

        return LogisticRegression(C=task.C, fit_intercept=task.fit_intercept, solver=solver, **rung)

    return make


def squares(task: Task, rung: Rung) -> Any:
    from sklearnex.linear_model import LinearRegression

    return LinearRegression()


def machine(task: Task, rung: Rung) -> Any:
    from sklearnex.svm import SVC

    return SVC(kernel="linear", **rung)


def default() -> Any:
    from sklearnex.linear_model import LogisticRegression

    return LogisticRegression()


def one(X: Any, y: Any) -> Callable[[Any], Any]:
    model = default().fit(X, y)
    return lambda row: model.predict(row)


START = """
from sklearnex.linear_model import LogisticRegression
model = LogisticRegression(max_iter=1000).fit(X, y)
print(np.mean(model.predict(X) != y))
"""

LBFGS = Contestant("lbfgs", "ridge", heard_fit(logistic("lbfgs")), told(linear_model), BY_GRADIENT)

CONTESTANTS = (
    LBFGS,
    in_double(LBFGS),
    Contestant(
        "LinearRegression", "least-squares", heard_fit(squares, signed=True, probe=PROBE), told(probed, probe=True)
    ),
    Contestant("SVC", "margin", heard_fit(machine), told(linear_model), HARD),
    Contestant("predict", "predict-one", predicting_one(one, lambda row: row.reshape(1, -1)), as_given),
    Contestant("predict", "predict-many", predicting(default), as_given),
    Contestant("cold process", "start", starting(START), of_process),
)
