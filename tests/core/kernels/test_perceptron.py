"""The compiled walks against plain Python: the same rows are mistakes, and the weights are equal to the bit."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.kernels import perceptron_loops


def _score(row, w):
    return w[0] + sum(float(row[j]) * w[j + 1] for j in range(len(row)))


def _wrong(t, z, zero_is_mistake):
    return t * z < 0 or (z == 0 and (zero_is_mistake or t < 0))


def _walk(X, t, order, w, eta, zero_is_mistake, fit_intercept, once=False):
    w, made, cost = [float(x) for x in w], 0, 0.0
    for position, i in enumerate(order):
        z = _score(X[i], w)
        if _wrong(t[i], z, zero_is_mistake):
            cost += max(0.0, -t[i] * z)
            step = eta * t[i]
            w[0] += step if fit_intercept else 0.0
            for j in range(X.shape[1]):
                w[j + 1] += step * float(X[i, j])
            made += 1
            if once:
                return w, made, cost, position + 1
    return w, made, cost, len(order)


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


def _forms(X):
    """Dense and CSR rows as the loops take them."""
    sparse = csr_array(X)
    return (X, None, None), (sparse.data, sparse.indices, sparse.indptr)


NOTHING = np.zeros(0)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("zero_is_mistake", [True, False])
@pytest.mark.parametrize("once", [True, False])
def test_a_walk_is_the_written_loop_to_the_bit(seed, zero_is_mistake, once):
    X, t, order, start = _draw(seed)
    how = (0.7, zero_is_mistake, seed % 5 > 0, once)
    for rows in _forms(X):
        for given in (order, order[:0]):  # no order: as the rows lie
            w = start.copy()
            ones = np.ones(len(t))
            end, made, cost, _ = perceptron_loops.walk(
                *rows, t, ones, given, 0, len(t), w, *how, NOTHING, 0, NOTHING, 0
            )
            expected, count, met, position = _walk(X, t, given if len(given) else range(len(t)), start, *how)
            assert w.tolist() == expected
            assert (made, end) == (count, position)
            assert cost == pytest.approx(met, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("zero_is_mistake", [True, False])
def test_the_pocket_holds_the_weights_with_the_fewest_mistakes(seed, zero_is_mistake):
    X, t, order, start = _draw(seed)
    how, seen = (0.7, zero_is_mistake, True), [start.tolist()]
    for position in range(len(t)):
        seen.append(_walk(X, t, order[position : position + 1], seen[-1], *how)[0])
    wrong = [sum(_wrong(t[i], _score(X[i], w), zero_is_mistake) for i in range(len(t))) for w in seen]
    for rows in _forms(X):
        w, best = start.copy(), start.copy()
        rest = (order, 0, len(t), w, *how, False, NOTHING, 0, best, wrong[0])
        assert perceptron_loops.walk(*rows, t, np.ones(len(t)), *rest)[3] == min(wrong)
        assert best.tolist() == seen[wrong.index(min(wrong))]
        assert w.tolist() == seen[-1]


def test_read_only_rows_are_walked_too():
    X, t, order, _ = _draw(4)
    X.setflags(write=False)
    w, ones = np.zeros(X.shape[1] + 1), np.ones(len(t))
    _, made, _, _ = perceptron_loops.walk(
        X, None, None, t, ones, order, 0, len(t), w, 1.0, True, True, False, NOTHING, 0, NOTHING, 0
    )
    assert made > 0
