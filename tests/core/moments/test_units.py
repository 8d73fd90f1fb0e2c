"""Gaussians of columns whose units differ by more than a number can hold say the same as in a common unit."""

import numpy as np
import pytest

from separatrix import QuadraticDiscriminantAnalysis

UNITS = np.array([2.0**400, 2.0**-730])
X = np.random.default_rng(0).normal(size=(90, 2))
Y = (X[:, 0] + X[:, 1] ** 2 + X[::-1, 0] > 0.7).astype(int)
PLAIN, OTHER = QuadraticDiscriminantAnalysis().fit(X, Y), QuadraticDiscriminantAnalysis().fit(X * UNITS, Y)


@pytest.mark.parametrize("distance", [1.0, 1e100, 1e145])
def test_labels_near_and_far(distance):
    rows = distance * X
    assert OTHER.predict(rows * UNITS).tolist() == PLAIN.predict(rows).tolist()


def test_quick_scores():
    found, wanted = OTHER.scorer_.quick_scores()(X * UNITS), PLAIN.scorer_.quick_scores()(X)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
