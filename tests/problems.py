"""Random classification problems, by a seed: one place, so that every law is tried on the same kinds of data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from separatrix.core.penalty import Penalty
from separatrix.core.problem import Objective, build_objective
from separatrix.core.rows.labelled_table import labelled_rows


@dataclass(frozen=True)
class Problem:
    X: np.ndarray
    codes: np.ndarray
    K: int
    weight: np.ndarray
    C: float
    factors: np.ndarray
    fit_intercept: bool
    l1_ratio: float = 0.0

    @property
    def ridge(self):
        """(1 − α) f/C by column."""
        return (1 - self.l1_ratio) * self.factors / self.C

    @property
    def lasso(self):
        """α f/C by column."""
        return self.l1_ratio * self.factors / self.C

    def objective(self, standard=True, sparse=False) -> Objective:
        strength = 0.0 if np.isinf(self.C) else 1.0 / self.C
        X = csr_array(self.X) if sparse else self.X
        penalty = Penalty(strength, self.factors, self.l1_ratio)
        return build_objective(
            labelled_rows(X, self.codes, self.K, self.weight), self.K, penalty, self.fit_intercept, standard
        )


def draw(
    seed: int, *, K: int | None = None, C: float | None = None, n: int | None = None, l1_ratio: float = 0.0
) -> Problem:
    """Overlapping classes, columns of unlike scales, sometimes weights, a rare class, a collinear column."""
    rng = np.random.default_rng(seed)
    K = K or int(rng.choice([2, 2, 3, 4]))
    n = n or int(rng.integers(4 * K, 60))
    d = int(rng.integers(1, 6))
    X = rng.standard_normal((n, d)) * np.exp(rng.normal(0, 2, d)) + rng.normal(0, 3, d) * (rng.random() < 0.5)
    if d > 2 and rng.random() < 0.15:
        X[:, -1] = X[:, 0] - 2 * X[:, 1]
    truth = rng.standard_normal((K, d)) / X.std(axis=0)
    noise = rng.gumbel(size=(n, K)) * np.exp(rng.normal(0, 1))
    codes = np.argmax((X - X.mean(axis=0)) @ truth.T + noise, axis=1)
    codes[:K] = np.arange(K)
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else np.ones(n)
    chosen = float(rng.choice([1e-3, 0.1, 1.0, 10.0, 1e3, np.inf]))
    factors = rng.uniform(0.1, 3.0, d) if rng.random() < 0.3 else np.ones(d)
    fit_intercept = bool(rng.random() < 0.85)
    return Problem(X, codes, K, weight, C if C is not None else chosen, factors, fit_intercept, l1_ratio)


def attained(problem: Problem) -> bool:
    """Whether maximum likelihood exists: no direction along which no row loses and some gain (a plain LP)."""
    n, d = problem.X.shape
    rows = np.hstack([np.full((n, 1), float(problem.fit_intercept)), problem.X / np.abs(problem.X).max(axis=0)])
    if problem.K == 2:
        A = rows * (2.0 * problem.codes - 1.0)[:, None]
    else:
        parts = []
        for k in range(problem.K):
            own = rows[problem.codes == k]
            for j in range(problem.K):
                if j != k:
                    part = np.zeros((len(own), problem.K, d + 1))
                    part[:, k], part[:, j] = own, -own
                    parts.append(part.reshape(len(own), -1))
        A = np.vstack(parts)
    found = linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1), method="highs")
    return bool(-found.fun < 1e-7)
