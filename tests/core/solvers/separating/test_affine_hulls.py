"""The nearest point of an affine hull: sparse points give what dense ones do, dependent ones included."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from separatrix.core.solvers.convex_hulls import affine_hulls


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
@pytest.mark.parametrize("largest_copy", [0, 1 << 24])
@pytest.mark.parametrize("seed", range(3))
def test_sparse_points_give_the_nearest_point_of_dense_ones(seed, apart, largest_copy, monkeypatch):
    monkeypatch.setattr("separatrix.core.solvers.convex_hulls.LARGEST_DENSE_COPY", largest_copy)
    P = _points(seed) if apart is None else _nearly_dependent(seed, apart)
    kept = np.arange(1, len(P))
    share, p = affine_hulls(csr_array(P))(kept)
    expected = affine_hulls(P)(kept)[1]
    assert share.sum() == pytest.approx(1.0, abs=1e-14 * np.abs(share).sum())
    np.testing.assert_allclose(share @ P[kept], p, atol=1e-10 * np.linalg.norm(p))
    assert np.linalg.norm(p - expected) <= 1e-10 * np.linalg.norm(expected)


@pytest.mark.parametrize("apart", [1e-10, 1e-9, 1e-8, 1e-7])
@pytest.mark.parametrize("seed", range(3))
def test_points_nearer_than_rounding_resolves_count_as_one(seed, apart):
    kept = np.arange(1, 40)
    p = affine_hulls(csr_array(_nearly_dependent(seed, apart)))(kept)[1]
    expected = affine_hulls(csr_array(_nearly_dependent(seed, 0.0)))(kept)[1]
    assert np.linalg.norm(p - expected) <= 1e-5 * np.linalg.norm(expected)


def test_equal_points():
    P = csr_array(np.tile([[3.0, 0.0, 4.0]], (4, 1)))
    share, p = affine_hulls(P)(np.arange(4))
    assert share.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert p.tolist() == [3.0, 0.0, 4.0]
