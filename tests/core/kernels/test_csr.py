"""The compiled sums over CSR rows against the formula written out, on rows that nobody has tidied."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.kernels import sparse_rows


def untidy(seed, value=np.float64, index=np.int32):
    """Indices out of order, entries repeated, explicit zeros, empty rows and columns; and the same rows dense."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 12))
    lengths = rng.integers(0, 6, n) * (rng.random(n) < 0.8)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
    indices = rng.integers(0, d, indptr[-1]).astype(index)
    data = (rng.standard_normal(indptr[-1]) * (rng.random(indptr[-1]) < 0.8)).astype(value)
    dense = np.zeros((n, d))
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            dense[i, indices[k]] += data[k]
    return csr_array((data, indices, indptr), shape=(n, d)), dense


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("value", "index"), [(np.float64, np.int32), (np.float32, np.int64)])
def test_logistic_pass_is_the_formula(seed, value, index):
    X, dense = untidy(seed, value, index)
    rng = np.random.default_rng(100 + seed)
    n, d = X.shape
    t, weight, w, b = rng.choice([-1.0, 1.0], n), rng.integers(0, 3, n).astype(float), rng.standard_normal(d), 0.3
    gradient = np.ones(d)
    begin, end = n // 3, n
    found = sparse_rows.logistic_pass(X.data, X.indices, X.indptr, begin, end, t, weight, w, b, gradient)
    part = slice(begin, end)
    m = t[part] * (dense[part] @ w + b)
    r = -t[part] * weight[part] / (1 + np.exp(m))
    np.testing.assert_allclose(found, [weight[part] @ np.logaddexp(0, -m), r.sum()], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gradient, 1 + r @ dense[part], rtol=1e-12, atol=1e-14)


def test_scores_of_any_size():
    """No overflow, and a row without weight adds nothing even where its loss is infinite."""
    X = csr_array(np.array([[1e300], [-1e300], [1.0]]))
    gradient = np.zeros(1)
    rows = (X.data, X.indices, X.indptr, 0, 3, np.ones(3), np.array([1.0, 0.0, 1.0]))
    value, first = sparse_rows.logistic_pass(*rows, np.array([1e8]), 0.0, gradient)
    assert (value, first, gradient[0]) == (0.0, 0.0, 0.0)


def test_read_only_rows():
    X, _ = untidy(4)
    for array in (X.data, X.indices, X.indptr):
        array.setflags(write=False)
    gradient = np.zeros(X.shape[1])
    n = X.shape[0]
    value, _ = sparse_rows.logistic_pass(
        X.data, X.indices, X.indptr, 0, n, np.ones(n), np.ones(n), np.zeros(X.shape[1]), 0.0, gradient
    )
    assert value == pytest.approx(n * np.log(2))
