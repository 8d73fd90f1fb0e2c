"""Slow and plain answers, by code of the benchmark's own, that contestants' are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contestant import PROBE
from benchmarks.data import Data


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


def likelihood(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Maximum likelihood by Newton's method, and standard errors: (b, w) and theirs."""
    A = np.column_stack([np.ones(len(X)), X])
    w = np.zeros(A.shape[1])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-(A @ w)))
        inverse = np.linalg.inv((A * (p * (1 - p))[:, None]).T @ A)
        step = inverse @ (A.T @ (y - p))
        w += step
        if np.max(np.abs(step)) < 1e-12:
            break
    return w, np.sqrt(np.diag(inverse))


# Scores of the first rows, by kind of task: one array for each way of dividing a covariance.
SCORES: dict[str, Any] = {"lda": lda, "qda": qda, "least-squares": squares}
