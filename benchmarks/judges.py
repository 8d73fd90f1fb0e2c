"""How good is an answer? One judge a kind of task, in a registry.

``value(result)`` is an array, the smaller the better; ``shortfall(value, best)`` is compared with the row's accuracy,
``best`` being the least value that anyone reached, entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from benchmarks.contestant import PROBE, Task
from benchmarks.data import Data
from benchmarks.objective import blocks, objective, scores


class Judge(Protocol):
    shown: ClassVar[str]

    def value(self, result: np.ndarray) -> np.ndarray: ...

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float: ...


@dataclass(frozen=True)
class Objective:
    """(E − best)/best of the worst fit asked for."""

    task: Task
    data: Data
    shown: ClassVar[str] = "objective"

    def value(self, result: np.ndarray) -> np.ndarray:
        fits = result if self.task.Cs else result[None]
        pairs = zip(fits, self.task.strengths, strict=True)
        return np.array([objective(self.data.X, self.data.y, W, C, self.task.l1_ratio) for W, C in pairs])

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return float(np.max((value - best) / best))


@dataclass(frozen=True)
class Margin:
    """1 − margin/best, the margin being min_i t_i (w·x_i + b)/‖w‖."""

    task: Task
    data: Data
    shown: ClassVar[str] = "− margin"

    def value(self, result: np.ndarray) -> np.ndarray:
        t = 2.0 * self.data.y - 1.0
        return -np.min(t * scores(self.data.X, result)[:, 0]) / np.linalg.norm(result[0, 1:])[None]

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return float(1.0 - value[0] / best[0]) if best[0] < 0 else float("inf")


@dataclass(frozen=True)
class Mistakes:
    """Rows on the wrong side after the epochs asked for: shown, and no reason to leave anyone out."""

    task: Task
    data: Data
    shown: ClassVar[str] = "rows wrong"

    def value(self, result: np.ndarray) -> np.ndarray:
        t = 2.0 * self.data.y - 1.0
        wrong = sum(int(np.sum(t[rows] * scores(self.data.X[rows], result)[:, 0] <= 0)) for rows in blocks(self.data.X))
        return np.array([float(wrong)])

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return 0.0


@dataclass(frozen=True)
class Labels:
    """The share of rows labelled wrongly, against the best."""

    task: Task
    data: Data
    shown: ClassVar[str] = "share wrong"

    def value(self, result: np.ndarray) -> np.ndarray:
        if result.ndim == 0:  # the share itself
            return result[None]
        return np.array([np.mean(result != self.data.y[: len(result)])])

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return float(value[0] - best[0])


class Moments:
    """max |score − reference|/max |reference| on the first rows, the reference by float64 sums of (1, x, xxᵀ).

    Covariances are divided by n or by its degrees of freedom, as packages differ: the nearer counts.
    """

    shown = "deviation"

    def __init__(self, task: Task, data: Data) -> None:
        self.references = REFERENCES[task.kind](data)

    def value(self, result: np.ndarray) -> np.ndarray:
        gaps = [np.max(np.abs(result - z)) / np.max(np.abs(z)) for z in self.references]
        return np.array([min(gaps)])

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return float(value[0])


def by_class(data: Data) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Count, mean and scatter of each class."""
    found = []
    for k in (0, 1):
        rows = data.X[data.y == k].astype(np.float64)
        mean = rows.mean(axis=0)
        rows -= mean
        found.append((len(rows), mean, rows.T @ rows))
    return found


def lda(data: Data) -> list[np.ndarray]:
    (n0, m0, S0), (n1, m1, S1) = by_class(data)
    n = n0 + n1
    found = []
    for divisor in (n, n - 2):
        w = np.linalg.solve((S0 + S1) / divisor, m1 - m0)
        found.append((data.X[:PROBE] - (m0 + m1) / 2) @ w + np.log(n1 / n0))
    return found


def qda(data: Data) -> list[np.ndarray]:
    found = []
    for lost in (0, 1):
        parts = []
        for count, mean, S in by_class(data):
            L = np.linalg.cholesky(S / (count - lost))
            u = np.linalg.solve(L, (data.X[:PROBE] - mean).T)
            parts.append(np.log(count) - np.sum(np.log(np.diag(L))) - 0.5 * np.sum(u**2, axis=0))
        found.append(parts[1] - parts[0])
    return found


def squares(data: Data) -> list[np.ndarray]:
    t = 2.0 * data.y - 1.0
    center = data.X.mean(axis=0)
    centred = data.X - center
    w = np.linalg.solve(centred.T @ centred, centred.T @ (t - t.mean()))
    return [(data.X[:PROBE] - center) @ w + t.mean()]


REFERENCES: dict[str, Any] = {"lda": lda, "qda": qda, "least-squares": squares}

JUDGES: dict[str, Any] = {
    "ridge": Objective,
    "lasso": Objective,
    "path": Objective,
    "margin": Margin,
    "perceptron": Mistakes,
    "lda": Moments,
    "qda": Moments,
    "least-squares": Moments,
    "predict-one": Labels,
    "predict-many": Labels,
    "start": Labels,
}
