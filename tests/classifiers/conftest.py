"""Rows that the tests of several classifiers share."""

import numpy as np
import pytest
from sklearn.datasets import load_iris


@pytest.fixture(scope="module")
def separable():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    z = X @ [1.0, -2.0, 0.5] + 0.2
    return X[np.abs(z) > 0.3], (z[np.abs(z) > 0.3] > 0).astype(int)


@pytest.fixture(scope="module")
def overlapping():
    """Iris versicolor and virginica: the best plane leaves one row of 100 wrong, and two are soon reached."""
    X, y = load_iris(return_X_y=True)
    return X[50:], y[50:]
