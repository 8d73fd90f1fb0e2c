"""The compiled walks against plain Python that adds in the same order: equal to the bit."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.kernels import perceptron as kernels


def _score(row, w):
    """The kernel's order for dense rows: four sums side by side, the rest into the first."""
    sums = [0.0] * 4
    whole = len(row) - len(row) % 4
    for j in range(len(row)):
        sums[j % 4 if j < whole else 0] += float(row[j]) * w[j + 1]
    return w[0] + ((sums[0] + sums[1]) + (sums[2] + sums[3]))


def _score_sparse(row, w):
    total = 0.0
    for j in np.flatnonzero(row):
        total += float(row[j]) * w[j + 1]
    return w[0] + total


def _wrong(t, z, zero_is_mistake):
    return t * z < 0 or (z == 0 and (zero_is_mistake or t < 0))


def _walk(X, t, order, w, eta, zero_is_mistake, fit_intercept, score, once=False):
    w, made = [float(x) for x in w], 0
    for position, i in enumerate(order):
        if _wrong(t[i], score(X[i], w), zero_is_mistake):
            step = eta * t[i]
            w[0] += step if fit_intercept else 0.0
            for j in range(X.shape[1]):
                w[j + 1] += step * float(X[i, j])
            made += 1
            if once:
                return w, made, position + 1
    return w, made, len(order)


def _draw(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 60)), int(rng.integers(1, 11))
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    t = rng.choice([-1.0, 1.0], n)
    return (
        X.astype([np.float64, np.float32][seed % 2]),
        t,
        rng.permutation(n),
        rng.standard_normal(d + 1) * (seed % 3 > 0),
    )


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("zero_is_mistake", [True, False])
@pytest.mark.parametrize("once", [True, False])
def test_a_walk_is_the_written_loop_to_the_bit(seed, zero_is_mistake, once):
    X, t, order, start = _draw(seed)
    fit_intercept = seed % 5 > 0
    rest = (0.7, zero_is_mistake, fit_intercept)
    for score, rows, walk in (
        (_score, (X,), kernels.walk_dense),
        (_score_sparse, (csr_array(X).data, csr_array(X).indices, csr_array(X).indptr), kernels.walk_sparse),
    ):
        w = start.copy()
        end, made = walk(*rows, t, order, 0, len(t), w, *rest, once)
        expected, count, position = _walk(X, t, order, start, *rest, score, once)
        assert w.tolist() == expected
        assert (made, end) == (count, position)


@pytest.mark.parametrize("seed", range(12))
def test_counting_mistakes_and_giving_up_at_a_limit(seed):
    X, t, _, w = _draw(seed)
    sparse = csr_array(X)
    for zero_is_mistake in (True, False):
        count = sum(_wrong(t[i], _score(X[i], w), zero_is_mistake) for i in range(len(t)))
        assert kernels.count_dense(X, t, w, zero_is_mistake, len(t) + 1) == count
        assert kernels.count_dense(X, t, w, zero_is_mistake, 1) == min(1, count)
        rest = (t, w, zero_is_mistake, len(t) + 1)
        count = sum(_wrong(t[i], _score_sparse(X[i], w), zero_is_mistake) for i in range(len(t)))
        assert kernels.count_sparse(sparse.data, sparse.indices, sparse.indptr, *rest) == count


def test_read_only_rows_are_walked_too():
    X, t, order, _ = _draw(4)
    X.setflags(write=False)
    w = np.zeros(X.shape[1] + 1)
    _, made = kernels.walk_dense(X, t, order, 0, len(t), w, 1.0, True, True, False)
    assert made > 0
