"""How good is an answer? One judge a kind of task, in a registry.

``value(result)`` is an array, the smaller the better; ``shortfall(value, best)`` is compared with the row's accuracy,
``best`` being the least value that anyone reached, entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from benchmarks.contestant import Task, training_rows
from benchmarks.data import Data
from benchmarks.objective import blocks, losses, objective, scores
from benchmarks.references import SCORES, likelihood


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
        self.references = SCORES[task.kind](data)

    def value(self, result: np.ndarray) -> np.ndarray:
        gaps = [np.max(np.abs(result - z)) / np.max(np.abs(z)) for z in self.references]
        return np.array([min(gaps)])

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return float(value[0])


@dataclass(frozen=True)
class Evidence:
    """0 where a verdict's evidence supports it, else 1.

    The evidence: 1 and (b, w) with all rows on their sides; or 0 and λ ≥ 0, one a row and not all zero, with
    Σ λ_i t_i x̄_i = 0 to the tolerance of linear programs.
    """

    task: Task
    data: Data
    shown: ClassVar[str] = "unsupported"

    def value(self, result: np.ndarray) -> np.ndarray:
        t, X = 2.0 * self.data.y - 1.0, self.data.X
        if result[0] == 1.0:
            return np.array([float(np.min(t * (X @ result[2:] + result[1])) <= 0)])
        pull = t * result[1:]
        size = np.abs(result[1:]) @ np.abs(X).max(axis=1)
        left = max(abs(float(pull.sum())), float(np.max(np.abs(pull @ X))))
        return np.array([float(not (size > 0 and np.all(result[1:] >= 0) and left <= 1e-6 * size))])

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return float(value[0])


class Inference:
    """The largest deviation of coefficients and standard errors, (2, d + 1), from plain Newton's, in its errors."""

    shown = "deviation"

    def __init__(self, task: Task, data: Data) -> None:
        self.reference = np.array(likelihood(data.X, data.y))

    def value(self, result: np.ndarray) -> np.ndarray:
        return np.array([np.max(np.abs(result - self.reference) / self.reference[1])])

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return float(value[0])


@dataclass(frozen=True)
class HeldOut:
    """The mean log loss on the last fifth of the rows, which no contestant has seen."""

    task: Task
    data: Data
    shown: ClassVar[str] = "held-out log loss"

    def value(self, result: np.ndarray) -> np.ndarray:
        rest = slice(training_rows(len(self.data.y)), None)
        return np.array([np.mean(losses(scores(self.data.X[rest], result), self.data.y[rest]))])

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return float((value[0] - best[0]) / best[0])


@dataclass(frozen=True)
class Firth:
    """−ln L − ½ ln |I| against the least."""

    task: Task
    data: Data
    shown: ClassVar[str] = "penalised −ln L"

    def value(self, result: np.ndarray) -> np.ndarray:
        A = np.column_stack([np.ones(len(self.data.y)), self.data.X])
        p = 1.0 / (1.0 + np.exp(-(A @ result[0])))
        _, information = np.linalg.slogdet((A * (p * (1 - p))[:, None]).T @ A)
        return np.array([np.sum(losses(scores(self.data.X, result), self.data.y)) - 0.5 * information])

    def shortfall(self, value: np.ndarray, best: np.ndarray) -> float:
        return float((value[0] - best[0]) / abs(best[0]))


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
    "cli-help": Labels,
    "cli-predict": Labels,
    "separability": Evidence,
    "summary": Inference,
    "auto-C": HeldOut,
    "firth": Firth,
}
