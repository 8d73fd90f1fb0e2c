"""The nearest point of an affine hull: sparse points give what dense ones do, dependent ones included."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from separatrix.core.solvers.convex_hulls import affine_nearest


def _points(seed, k=40, d=600):
    rng = np.random.default_rng(seed)
    return random_array((k, d), density=0.04, random_state=rng, format="csr").toarray()


def _nearly_dependent(seed, apart):
    """Points of which the last three nearly repeat earlier ones, and one more is nearly the mean of others."""
    P = _points(seed)
    P[-3:] = P[:3] + apart * P[-3:]
    P[20] = P[:5].mean(axis=0) + apart * P[20]
    return P


@pytest.mark.parametrize("apart", [None, 0.0, 1e-4, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_sparse_points_give_the_nearest_point_of_dense_ones(seed, apart):
    P = _points(seed) if apart is None else _nearly_dependent(seed, apart)
    share, p = affine_nearest(csr_array(P))
    expected = affine_nearest(P)[1]
    assert share.sum() == pytest.approx(1.0, abs=1e-14 * np.abs(share).sum())
    np.testing.assert_allclose(share @ P, p, atol=1e-10 * np.linalg.norm(p))
    assert np.linalg.norm(p - expected) <= 1e-10 * np.linalg.norm(expected)
    differences = P[1:] - P[0]  # p is orthogonal to the hull
    assert np.max(np.abs(differences @ p)) <= 1e-12 * np.max(np.linalg.norm(P, axis=1)) ** 2


def test_equal_points():
    share, p = affine_nearest(csr_array(np.tile([[3.0, 0.0, 4.0]], (4, 1))))
    assert share.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert p.tolist() == [3.0, 0.0, 4.0]
