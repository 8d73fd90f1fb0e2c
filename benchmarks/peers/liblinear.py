"""LIBLINEAR by its own Python interface; turning arrays into its lists is part of a fit.

-s 0 (Newton, primal) and -s 6 (L1) leave the bias free with -R; -s 7 (dual) penalises it, less the larger -B is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import commands
from benchmarks.contestant import (
    Answer,
    Contestant,
    Ladder,
    Rung,
    Task,
    as_given,
    crossed,
    predicting_one,
    tolerances,
    weights,
)


def train(s: int, bias: str) -> Callable[..., Callable[[], Any]]:
    """Solver -s; ``bias`` is the options that come with an intercept."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        from liblinear.liblinearutil import parameter, problem
        from liblinear.liblinearutil import train as run
        from scipy.sparse import csr_matrix

        B = float(rung.get("B", 1.0)) if task.fit_intercept else -1.0
        free = bias if task.fit_intercept else ""
        C = rung.get("C", task.C)
        options = f"-s {s} -c {C!r} -e {rung['tol']!r} -B {B!r} {free} -q"
        return lambda: run(problem(2.0 * y - 1.0, csr_matrix(X)), parameter(options))

    return prepare


def of_model(model: Any, task: Task) -> Answer:
    coef, intercept = model.get_decfun()
    sign = 1.0 if model.get_labels()[0] == 1 else -1.0
    return Answer(weights(sign * np.array(coef), sign * intercept))


def path(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
    from liblinear.liblinearutil import parameter, problem
    from liblinear.liblinearutil import train as run
    from scipy.sparse import csr_matrix

    def walk() -> Any:
        made = problem(2.0 * y - 1.0, csr_matrix(X))
        return [run(made, parameter(f"-s 6 -c {C!r} -e {rung['tol']!r} -B 1 -R -q")) for C in task.Cs]

    return walk


def of_path(models: Any, task: Task) -> Answer:
    return Answer(np.array([of_model(model, task).result for model in models]))


def one(X: Any, y: Any) -> Callable[[Any], Any]:
    from liblinear.liblinearutil import parameter, predict, problem
    from liblinear.liblinearutil import train as run
    from scipy.sparse import csr_matrix

    model = run(problem(1.0 * y, csr_matrix(X)), parameter("-s 0 -B 1 -q"))
    return lambda row: predict([], [row], model, "-q")[0]


def two(task: Task) -> bool:
    return task.K == 2 and bool(np.isfinite(task.C))


def without(task: Task) -> bool:
    return two(task) and not task.fit_intercept


def within(task: Task) -> bool:
    return two(task) and task.fit_intercept


PRIMAL = tolerances(1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
DUAL = tolerances(1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
BIASED: Ladder = crossed(tolerances(1e-3, 1e-5), B=(10.0, 100.0, 1000.0))
HARD = crossed(tolerances(1e-2, 1e-4), C=(1e1, 1e2, 1e4), B=(1.0, 10.0))


def predict_file(folder: Path, X: Any, y: Any) -> tuple[list[str], Callable[[str], np.ndarray]]:
    """A libsvm file and a model of it, for the command line."""
    rows, model, out = (str(folder / name) for name in ("rows.libsvm", "model", "answers"))
    with Path(rows).open("w") as file:
        for x, label in zip(X.tolist(), y.tolist(), strict=True):
            file.write(f"{label} " + " ".join(f"{j + 1}:{v:.9g}" for j, v in enumerate(x)) + "\n")
    commands.quiet(["liblinear-train", "-s", "0", "-B", "1", "-q", rows, model])
    return ["liblinear-predict", rows, model, out], lambda printed: np.loadtxt(out).astype(np.int64)


CONTESTANTS = (
    Contestant("-s 0", "ridge", train(0, "-R"), of_model, PRIMAL, two),
    Contestant("-s 7", "ridge", train(7, ""), of_model, DUAL, without),
    Contestant("-s 7 with a large -B", "ridge", train(7, ""), of_model, BIASED, within),
    Contestant("-s 6", "lasso", train(6, "-R"), of_model, PRIMAL),
    Contestant("-s 6", "path", path, of_path, PRIMAL),
    Contestant("-s 1", "margin", train(1, ""), of_model, HARD),
    Contestant("-s 3", "margin", train(3, ""), of_model, HARD),
    Contestant("predict", "predict-one", predicting_one(one, lambda row: row.tolist()), as_given),
    *commands.contestants(["liblinear-predict"], [], predict_file),
)
