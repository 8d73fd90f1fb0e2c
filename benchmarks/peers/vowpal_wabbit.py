"""Vowpal Wabbit: it learns from lines of text, so writing them is part of a fit; its weights are float32."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import commands
from benchmarks.contestant import Answer, Contestant, Rung, Task

BITS = 18
PROGRAM = [sys.executable, "-m", "vowpalwabbit"]
# Where 18 bits put the constant; columns are numbered from 0 and must end below it.
CONSTANT = 11650396 & (2**BITS - 1)


def lines(X: Any, y: Any) -> Any:
    """±1 | column:value ..., a row a line."""
    for i, label in enumerate(y):
        if isinstance(X, np.ndarray):
            entries = enumerate(X[i].tolist())
        else:
            part = slice(X.indptr[i], X.indptr[i + 1])
            entries = zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)
        yield f"{1 if label else -1} | " + " ".join(f"{j}:{v:.9g}" for j, v in entries) + "\n"


def learn(options: Callable[[Task, Rung], str]) -> Callable[..., Callable[[], Any]]:
    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        def run() -> Any:
            from vowpalwabbit import Workspace

            with tempfile.TemporaryDirectory() as folder:
                text = Path(folder) / "rows.txt"
                with text.open("w") as file:
                    file.writelines(lines(X, y))
                return Workspace(f"-d {text} -c -k -b {BITS} --quiet {options(task, rung)}")

        return run

    return prepare


def of_workspace(workspace: Any, task: Task) -> Answer:
    coef = [workspace.get_weight(j) for j in range(task.d)]
    return Answer(np.array([[workspace.get_weight(CONSTANT) if task.fit_intercept else 0.0, *coef]]))


def batch(task: Task, rung: Rung) -> str:
    constant = "--no_bias_regularization" if task.fit_intercept else "--noconstant"
    goal = f"--passes {rung['passes']} --termination {rung['tol']}"
    return f"--bfgs --mem 20 --loss_function logistic --l2 {1.0 / task.C!r} {constant} {goal}"


def walk(task: Task, rung: Rung) -> str:
    """It has no perceptron: the hinge with plain steps of 1 is the nearest."""
    return f"--loss_function hinge --sgd -l 1 --power_t 0 --passes {task.epochs} --holdout_off"


def two(task: Task) -> bool:
    return task.K == 2 and bool(np.isfinite(task.C)) and task.d < CONSTANT


def predict_file(folder: Path, X: Any, y: Any) -> tuple[list[str], Callable[[str], np.ndarray]]:
    """A file of its own lines and a model of it, for the command line."""
    text, model, out = (str(folder / name) for name in ("rows.txt", "model", "answers"))
    with Path(text).open("w") as file:
        file.writelines(lines(X, y))
    learning = ["-c", "-k", "--passes", "50", "--loss_function", "logistic", "-f", model, "--quiet"]
    commands.quiet([*PROGRAM, "-d", text, *learning])
    labelling = [*PROGRAM, "-d", text, "-t", "-i", model, "-p", out, "--quiet"]
    return labelling, lambda printed: (np.loadtxt(out) >= 0).astype(np.int64)


CONTESTANTS = (
    Contestant(
        "bfgs", "ridge", learn(batch), of_workspace, ({"passes": 50, "tol": 1e-6}, {"passes": 500, "tol": 0}), two
    ),
    Contestant("hinge, sgd", "perceptron", learn(walk), of_workspace, where=two, note="hinge loss, not the perceptron"),
    *commands.contestants(PROGRAM, ["--help"], predict_file),
)
