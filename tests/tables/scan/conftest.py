"""A table of more than one block of rows, as arrays, as an Arrow table, and as files."""

import numpy as np
import pyarrow as pa
import pytest


@pytest.fixture(scope="session")
def rows():
    """X (150 000, 8), which makes three blocks, and labels."""
    rng = np.random.default_rng(0)
    n, d = 150_000, 8
    X = rng.standard_normal((n, d)) * np.logspace(-1, 1, d)
    y = np.where(X[:, 0] + X[:, 3] > rng.logistic(size=n), "yes", "no")
    return X, y


@pytest.fixture(scope="session")
def arrow(rows):
    """The rows as an Arrow table with columns x0, …, x7 and y."""
    X, y = rows
    return pa.table({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "y": y})
