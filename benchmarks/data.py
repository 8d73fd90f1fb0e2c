"""The data of every row, made by a seed or bundled with scikit-learn; ``shrink``: about so many times smaller.

Correlated columns: X = Z (I + 0.7 G/√d), Z and G standard normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SEED = 20240229


@dataclass(frozen=True)
class Data:
    """Rows X, dense or CSR, and class numbers y."""

    X: Any
    y: np.ndarray

    @property
    def sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)

    @property
    def nbytes(self) -> int:
        X = self.X
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if self.sparse else X.nbytes

    @property
    def entries(self) -> int:
        return int(self.X.nnz) if self.sparse else int(self.X.size)


Maker = Callable[[int], Data]


def fewer(count: int, shrink: int, least: int = 200) -> int:
    """count/shrink, though not below ``least``.

    >>> fewer(500_000, 50), fewer(1000, 50)
    (10000, 200)
    """
    return max(count // shrink, min(count, least))


def noisy(rng: np.random.Generator, z: np.ndarray) -> np.ndarray:
    """Labels with P(1) = σ(z), the scores spread to 2: classes that overlap."""
    z = 2.0 * (z - z.mean()) / z.std()
    return (rng.random(len(z)) < 1.0 / (1.0 + np.exp(-z))).astype(np.int64)


def gaussian(rng: np.random.Generator, n: int, d: int, correlated: bool = True) -> np.ndarray:
    Z = rng.standard_normal((n, d))
    return Z @ (np.eye(d) + 0.7 * rng.standard_normal((d, d)) / np.sqrt(d)) if correlated else Z


def tall(n: int = 500_000, d: int = 100, correlated: bool = True, dtype: str = "float64") -> Maker:
    def make(shrink: int) -> Data:
        rng = np.random.default_rng(SEED)
        X = gaussian(rng, fewer(n, shrink), d, correlated)
        y = noisy(rng, X @ rng.standard_normal(d))
        return Data(X.astype(dtype, copy=False), y)

    return make


def scales(shrink: int) -> Data:
    """tall, its columns scaled from 1e-3 to 1e3 and shifted by as much."""
    found = tall()(shrink)
    d = found.X.shape[1]
    rng = np.random.default_rng(SEED + 1)
    factors = rng.permutation(np.logspace(-3, 3, d))
    return Data((found.X + rng.normal(0, 3, d)) * factors, found.y)


def year(shrink: int) -> Data:
    """300 000 × 60, correlated, with one column that is a year: 2000 give or take ten."""
    found = tall(300_000, 60)(shrink)
    found.X[:, 7] = np.round(2000 + 10 * found.X[:, 7] / found.X[:, 7].std())
    return found


def onehot(sparse: bool) -> Maker:
    """10 numbers and 8 categories with 300 levels in all, the rarest a few rows each."""

    def make(shrink: int) -> Data:
        rng = np.random.default_rng(SEED + 2)
        n = fewer(500_000, shrink)
        parts = [gaussian(rng, n, 10)]
        for levels in (100, 60, 50, 40, 20, 15, 10, 5):
            odds = 1.0 / np.arange(1, levels + 1) ** 2
            code = rng.choice(levels, n, p=odds / odds.sum())
            columns = np.zeros((n, levels))
            columns[np.arange(n), code] = 1.0
            parts.append(columns)
        X = np.hstack(parts)
        y = noisy(rng, X @ rng.standard_normal(X.shape[1]))
        return Data(as_csr(X) if sparse else X, y)

    return make


def as_csr(X: np.ndarray) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(X)


def classes(n: int = 30_000, d: int = 300, K: int = 10) -> Maker:
    def make(shrink: int) -> Data:
        rng = np.random.default_rng(SEED + 3)
        X = gaussian(rng, fewer(n, shrink, 20 * K), fewer(d, max(1, shrink // 10), 5))
        z = X @ rng.standard_normal((X.shape[1], K))
        return Data(X, np.argmax(3.0 * z / z.std() + rng.gumbel(size=z.shape), axis=1))

    return make


def wide(n: int = 500, d: int = 20_000) -> Maker:
    """Few columns matter."""

    def make(shrink: int) -> Data:
        rng = np.random.default_rng(SEED + 4)
        X = rng.standard_normal((fewer(n, max(1, shrink // 10), 60), fewer(d, max(1, shrink // 5), 300)))
        return Data(X, noisy(rng, X[:, :20] @ rng.standard_normal(20)))

    return make


def zipf(n: int = 100_000, d: int = 50_000, per_row: int = 75) -> Maker:
    """Rows as of text: columns drawn with odds 1/(rank + 10), rows of length 1."""

    def make(shrink: int) -> Data:
        from scipy.sparse import csr_matrix

        rng = np.random.default_rng(SEED + 5)
        rows, columns = fewer(n, shrink), fewer(d, max(1, shrink // 10), 100)
        odds = np.cumsum(1.0 / (np.arange(columns) + 10.0))
        drawn = np.searchsorted(odds, rng.random(rows * per_row) * odds[-1]).astype(np.int32)
        where = np.arange(0, rows * per_row + 1, per_row, dtype=np.int32)
        X = csr_matrix((rng.exponential(size=drawn.size) + 0.5, drawn, where), shape=(rows, columns))
        X.sum_duplicates()
        lengths = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
        X.data /= np.repeat(lengths, np.diff(X.indptr))
        return Data(X, noisy(rng, X @ rng.standard_normal(columns)))

    return make


def populations(n: int = 500_000, d: int = 100) -> Maker:
    """Two Gaussians, unlike in mean and covariance."""

    def make(shrink: int) -> Data:
        rng = np.random.default_rng(SEED + 6)
        rows = fewer(n, shrink, 20 * d)
        y = (rng.random(rows) < 0.4).astype(np.int64)
        X = rng.standard_normal((rows, d))
        for k in (0, 1):
            mixing = np.eye(d) + 0.3 * rng.standard_normal((d, d)) / np.sqrt(d)
            X[y == k] = X[y == k] @ mixing + rng.normal(0, 0.15, d)
        return Data(X, y)

    return make


def separable(n: int = 20_000, d: int = 50, gap: float = 0.5) -> Maker:
    """Rows at least ``gap`` from a hyperplane."""

    def make(shrink: int) -> Data:
        rng = np.random.default_rng(SEED + 7)
        X = rng.standard_normal((fewer(n, shrink, 400), d))
        w = rng.standard_normal(d)
        w /= np.linalg.norm(w)
        side = np.where(X @ w > 0, 1.0, -1.0)
        return Data(X + gap * side[:, None] * w + rng.normal(0, 1, d), (side > 0).astype(np.int64))

    return make


def conflicting(n: int = 100_000, d: int = 50, rows: int = 10) -> Maker:
    """Rows at least 0.1 from a hyperplane, but for a few as far on the other side."""

    def make(shrink: int) -> Data:
        found = separable(n, d, 0.1)(shrink)
        y = found.y.copy()
        wrong = np.random.default_rng(SEED + 8).choice(len(y), rows, replace=False)
        y[wrong] = 1 - y[wrong]
        return Data(found.X, y)

    return make


def rare(n: int = 20_000, d: int = 20) -> Maker:
    """One row of a hundred in the second class, and a rare 0/1 column that has none of the first."""

    def make(shrink: int) -> Data:
        rng = np.random.default_rng(SEED + 9)
        X = gaussian(rng, fewer(n, shrink, 2000), d)
        z = X @ rng.standard_normal(d)
        y = (rng.random(len(X)) < 1.0 / (1.0 + np.exp(5.5 - z / z.std()))).astype(np.int64)
        X[:, -1] = np.where(y == 1, rng.random(len(X)) < 0.2, 0.0)
        return Data(X, y)

    return make


def iris(shrink: int) -> Data:
    """150 flowers (Fisher 1936), bundled with scikit-learn."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return Data(X, y.astype(np.int64))


def standard(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and variance 1; constant ones at 0."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def bundled(name: str) -> Maker:
    """A table of scikit-learn's, load_``name``, its columns standardised and its rows in a drawn order."""

    def make(shrink: int) -> Data:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        order = np.random.default_rng(SEED + 10).permutation(len(y))
        return Data(standard(X[order]), y[order].astype(np.int64))

    return make


def small(kind: str) -> Maker:
    """400 rows of 20 columns, correlated, with heavy tails, with 3 columns that matter, or with one row in 51 of the
    second class; or 100 rows of 500 columns (wide).
    """

    def make(shrink: int) -> Data:
        rng = np.random.default_rng(SEED + 11)
        n, d = (100, 500) if kind == "wide" else (400, 20)
        X = rng.standard_t(2, (n, d)) if kind == "heavy tails" else rng.standard_normal((n, d))
        w = rng.standard_normal(d) / 2
        if kind == "correlated":
            X = X @ np.linalg.cholesky(0.95 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))).T
        if kind == "sparse truth":
            w[3:] = 0.0
        if kind == "wide":
            w = np.where(np.arange(d) < 10, 1.0, 0.0)
        z = X @ w + rng.logistic(size=n)
        return Data(standard(X), (z > (np.quantile(z, 1 - 1 / 51) if kind == "imbalanced" else 0.0)).astype(np.int64))

    return make
