"""river: one row at a time, as a dictionary; batches of a frame where the rows are dense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contestant import Answer, Contestant, Rung, Task, as_given, predicting_one

BATCH = 1000


def named(row: Any) -> dict[int, float]:
    return dict(enumerate(row.tolist()))


def rows(X: Any) -> Any:
    for i in range(X.shape[0]):
        if isinstance(X, np.ndarray):
            yield named(X[i])
        else:
            part = slice(X.indptr[i], X.indptr[i + 1])
            yield dict(zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True))


def regression(task: Task) -> Any:
    from river.linear_model import LogisticRegression

    return LogisticRegression(l2=1.0 / (task.C * task.n), intercept_lr=0.01 if task.fit_intercept else 0.0)


def by_batch(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    import pandas as pd

    def run() -> Any:
        model = regression(task)
        frame, labels = pd.DataFrame(X, columns=range(task.d)), pd.Series(y)
        for _ in range(rung["epochs"]):
            for start in range(0, len(y), BATCH):
                model.learn_many(frame[start : start + BATCH], labels[start : start + BATCH])
        return model

    return run


def by_row(make: Callable[[Task], Any], epochs: Callable[[Task, Rung], int]) -> Callable[..., Callable[[], Any]]:
    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        def run() -> Any:
            model, labels = make(task), y.astype(bool).tolist()
            for _ in range(epochs(task, rung)):
                for row, label in zip(rows(X), labels, strict=True):
                    model.learn_one(row, label)
            return model

        return run

    return prepare


def of_model(model: Any, task: Task) -> Answer:
    coef = [float(model.weights.get(j, 0.0)) for j in range(task.d)]
    return Answer(np.array([[float(model.intercept), *coef]]))


def perceptron(task: Task) -> Any:
    from river.linear_model import Perceptron

    return Perceptron()


def one(X: Any, y: Any) -> Callable[[Any], Any]:
    model = regression(Task("ridge", n=len(y)))
    for row, label in zip(rows(X), y.astype(bool).tolist(), strict=True):
        model.learn_one(row, label)
    return model.predict_one


def dense_two(task: Task) -> bool:
    return task.K == 2 and bool(np.isfinite(task.C)) and not task.sparse


def sparse_two(task: Task) -> bool:
    return task.K == 2 and bool(np.isfinite(task.C)) and task.sparse


EPOCHS = ({"epochs": 1}, {"epochs": 10})

CONTESTANTS = (
    Contestant("SGD, by batches", "ridge", by_batch, of_model, EPOCHS, dense_two),
    Contestant(
        "SGD, by rows", "ridge", by_row(regression, lambda _, rung: rung["epochs"]), of_model, EPOCHS, sparse_two
    ),
    Contestant("Perceptron", "perceptron", by_row(perceptron, lambda task, _: task.epochs), of_model),
    Contestant("predict_one", "predict-one", predicting_one(one, named), as_given),
)
