"""Columns in like units, as scikit-learn's scalers bring them there."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

from separatrix.tables.encoder import Scaling

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5)) * [1, 1e-3, 1e6, 1, 1] + [0, 5, 1e8, 0, 0]
X[:, 3], X[:, 4] = 7.25, rng.random(200) < 0.1
TRAIN = rng.random(200) < 0.6


@pytest.mark.parametrize("train", [None, TRAIN], ids=["all", "some"])
def test_as_the_standard_scaler(train):
    found, peer = Scaling.of(X, train), StandardScaler().fit(X if train is None else X[train])
    np.testing.assert_allclose(found.center, peer.mean_, rtol=1e-13)
    np.testing.assert_allclose(found.scale, peer.scale_, rtol=1e-9)
    np.testing.assert_allclose(found.apply(X), peer.transform(X), rtol=1e-9, atol=1e-9)
    assert found.scale[3] == 1.0
    assert not found.apply(X)[:, 3].any()


def test_sparse_rows_are_scaled_and_not_centred():
    S = csr_array(np.where(rng.random((200, 5)) < 0.2, X, 0.0))
    found, peer = Scaling.of(S), StandardScaler(with_mean=False).fit(S)
    assert not found.center.any()
    np.testing.assert_allclose(found.scale, peer.scale_, rtol=1e-9)
    scaled = found.apply(S)
    assert scaled.nnz == S.nnz
    np.testing.assert_allclose(scaled.toarray(), peer.transform(S).toarray(), rtol=1e-9)
    centred = Scaling.of(X)
    assert np.array_equal(centred.apply(S), centred.apply(S.toarray()))


def test_values_at_the_ends_of_float64():
    far = np.array([[1e300, 1e-300], [-1e300, 3e-300], [1e300, 1e-300]])
    assert np.abs(Scaling.of(far).apply(far)).max() < 2


def test_one_after_the_other():
    first, second = Scaling.of(X), Scaling(np.arange(5.0), np.arange(1.0, 6.0))
    both = second.after(first)
    np.testing.assert_allclose(both.apply(X), second.apply(first.apply(X)), rtol=1e-9, atol=1e-12)
    assert second.after(None) is second


def test_rows_are_left_as_they_are():
    before = X.copy()
    Scaling.of(X).apply(X)
    assert np.array_equal(X, before)
