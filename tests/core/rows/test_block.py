"""A block's three products are what they say, in any frame, dense or CSR, in any float type."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.rows.block import Block, as_csr
from separatrix.core.rows.frame import LARGE_OFFSET, Frame


def _blocks(seed):
    """The same rows as dense, Fortran-ordered, float32-exact, and CSR, with the explicit framed matrix."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 30)), int(rng.integers(1, 7))
    X = rng.integers(-8, 9, (m, d)).astype(float)
    center = rng.integers(-4, 5, d) * (LARGE_OFFSET * 10 if seed % 4 == 0 else 1.0)
    scale = 2.0 ** rng.integers(-3, 4, d)
    frame = Frame(center, scale) if seed % 5 else Frame.identity(d)
    t, weight = rng.choice([-1.0, 1.0], m), rng.random(m)
    forms = [X, np.asfortranarray(X), X.astype(np.float32), csr_array(X)]
    explicit = np.hstack([np.ones((m, 1)), (X - frame.center) / frame.scale])
    return [Block(form, t, weight, 0, frame) for form in forms], explicit, rng


@pytest.mark.parametrize("seed", range(60))
def test_products(seed):
    blocks, rows, rng = _blocks(seed)
    K = int(rng.integers(1, 4))
    W, R = rng.standard_normal((K, rows.shape[1])), rng.standard_normal((len(rows), K))
    h = rng.random(len(rows))
    for block in blocks:
        size = np.abs(block.frame.center / block.frame.scale).max() + 10
        close = {"rtol": 1e-12, "atol": 1e-12 * size}
        np.testing.assert_allclose(block.scores(W), rows @ W.T, **close)
        np.testing.assert_allclose(block.adjoint(R), R.T @ rows, **close)
        for curvature in (h, -h, h - 0.5):
            expected = rows.T @ (rows * curvature[:, None])
            np.testing.assert_allclose(block.sandwich(curvature), expected, rtol=1e-11, atol=1e-12 * size**2)
        np.testing.assert_allclose(block.squares(h), h @ rows**2, rtol=1e-11, atol=1e-12 * size**2)
        np.testing.assert_allclose(block.homogeneous(), rows, **close)


def test_frame_there_and_back():
    rng = np.random.default_rng(0)
    scale = 2.0 ** np.array([-500, 3, 0, 500])
    frame = Frame(rng.standard_normal(4) * scale, scale)
    W = rng.standard_normal((2, 5))
    np.testing.assert_allclose(frame.from_original(frame.to_original(W)), W, rtol=1e-12)


def test_a_hidden_column_reads_zero_and_its_weight_goes_to_the_intercept():
    frame = Frame(np.array([3.0, 0.0]), np.array([np.inf, 2.0]))
    X = np.array([[3.0, 2.0], [3.0, 6.0]])
    for form in (X, csr_array(X)):
        block = Block(form, np.ones(2), np.ones(2), 0, frame)
        np.testing.assert_array_equal(block.homogeneous()[:, 1], 0.0)
        assert block.adjoint(np.ones((2, 1)))[0, 1] == 0
    W = frame.from_original(np.array([[1.0, 10.0, 4.0]]))
    np.testing.assert_array_equal(W, [[31.0, 0.0, 8.0]])
    np.testing.assert_array_equal(frame.to_original(W), [[31.0, 0.0, 4.0]])


def test_a_large_offset_loses_nothing():
    rng = np.random.default_rng(0)
    deviation = np.round(rng.standard_normal((500, 1)) * 2**20) / 2**20
    X = deviation + 2.0**30
    frame = Frame(np.array([2.0**30]), np.array([1.0]))
    for form in (X, csr_array(X)):
        block = Block(form, np.ones(500), np.ones(500), 0, frame)
        np.testing.assert_array_equal(block.scores(np.array([[0.0, 1.0]])), deviation)
        np.testing.assert_allclose(block.adjoint(deviation), [[deviation.sum(), np.sum(deviation**2)]], rtol=1e-13)


def test_canonical_csr_is_shared_and_other_matrices_are_copied():
    X = csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]]))
    shared = as_csr(X)
    assert all(np.shares_memory(getattr(shared, name), getattr(X, name)) for name in ("data", "indices", "indptr"))
    assert as_csr(shared) is shared
    unsorted = csr_array((X.data[::-1].copy(), X.indices[::-1].copy(), X.indptr), shape=X.shape)
    rows = as_csr(unsorted)
    assert not any(np.shares_memory(getattr(rows, name), getattr(unsorted, name)) for name in ("data", "indices"))
    assert rows.has_canonical_format
    assert np.array_equal(rows.toarray(), unsorted.toarray())
    assert not unsorted.has_sorted_indices
