"""The compiled walks against plain Python: the same rows are mistakes, and the weights are equal to the bit."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.kernels import perceptron, plane_perceptron
from separatrix.rows import memory_rows
from separatrix.solvers.separating.compiled_walks import compiled_walk_of_classes


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


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("zero_is_mistake", [True, False])
@pytest.mark.parametrize("once", [True, False])
def test_a_walk_is_the_written_loop_to_the_bit(seed, zero_is_mistake, once):
    X, t, order, start = _draw(seed)
    fit_intercept = seed % 5 > 0
    rest = (0.7, zero_is_mistake, fit_intercept)
    for rows, walk in (
        ((X,), perceptron.walk_dense),
        ((csr_array(X).data, csr_array(X).indices, csr_array(X).indptr), perceptron.walk_sparse),
    ):
        for given in (order, order[:0]):  # no order: as the rows lie
            w = start.copy()
            end, made, cost = walk(*rows, t, np.ones(len(t)), given, 0, len(t), w, *rest, once, w[:0], 0)
            expected, count, met, position = _walk(X, t, given if len(given) else range(len(t)), start, *rest, once)
            assert w.tolist() == expected
            assert (made, end) == (count, position)
            assert cost == pytest.approx(met, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("seed", range(12))
def test_counting_mistakes_and_giving_up_at_a_limit(seed):
    X, t, order, w = _draw(seed)
    sparse = csr_array(X)
    for zero_is_mistake in (True, False):
        wrong = [_wrong(t[i], _score(X[i], w), zero_is_mistake) for i in order]
        for rows, count in (
            ((X,), perceptron.count_dense),
            ((sparse.data, sparse.indices, sparse.indptr), perceptron.count_sparse),
        ):
            assert count(*rows, t, order, w, zero_is_mistake, len(t) + 1) == (sum(wrong), len(t))
            assert count(*rows, t, order[:0], w, zero_is_mistake, len(t) + 1) == (sum(wrong), len(t))
            first = wrong.index(True) + 1 if any(wrong) else len(t)
            assert count(*rows, t, order, w, zero_is_mistake, 1) == (min(1, sum(wrong)), first)


def test_read_only_rows_are_walked_too():
    X, t, order, _ = _draw(4)
    X.setflags(write=False)
    w = np.zeros(X.shape[1] + 1)
    _, made, _ = perceptron.walk_dense(X, t, np.ones(len(t)), order, 0, len(t), w, 1.0, True, True, False, w[:0], 0)
    assert made > 0


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("zero_is_mistake", [True, False])
def test_the_loop_for_two_columns_is_the_loop_for_any_number(seed, zero_is_mistake):
    rng = np.random.default_rng(seed)
    n, epochs = int(rng.integers(2, 60)), 5
    # Integers put rows exactly on the hyperplane, where all sums are exact.
    X = rng.integers(-3, 4, (n, 2)).astype(np.float64) if seed % 2 else rng.standard_normal((n, 2))
    t, s = rng.choice([-1.0, 1.0], n), rng.integers(1, 4, n).astype(np.float64)
    order = np.concatenate([rng.permutation(n) for _ in range(epochs)])
    how = (0.5, zero_is_mistake, seed % 5 > 0)
    w, u, other_w, other_u = (np.zeros(3) for _ in range(4))
    begin, seen = n // 2, 7
    ended = plane_perceptron.walk_plane(X, t, s, order, begin, len(order), w, *how, u, seen)
    other = perceptron.walk_dense(X, t, s, order, begin, len(order), other_w, *how, False, other_u, seen)
    assert (w.tolist(), u.tolist(), ended[:2]) == (other_w.tolist(), other_u.tolist(), other[:2])
    assert ended[2] == pytest.approx(other[2], rel=1e-12)
    assert w.any()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("zero_is_mistake", [True, False])
def test_the_loop_for_several_classes_is_that_of_each_class(seed, zero_is_mistake):
    rng = np.random.default_rng(seed)
    # More rows than the loop visits before it adds mistakes to its sums, and numbers of classes that leave some over.
    n, K = int(rng.integers(2, 90)), int(rng.integers(2, 6))
    X = rng.integers(-3, 4, (n, 2)).astype(np.float64) if seed % 2 else rng.standard_normal((n, 2))
    targets, s = rng.choice([-1.0, 1.0], (K, n)), rng.integers(1, 4, n).astype(np.float64)
    order = np.concatenate([rng.permutation(n) for _ in range(5)])
    how, seen = (0.5, zero_is_mistake, seed % 5 > 0), 7
    start = rng.integers(-1, 2, (K, 3)).astype(np.float64)
    W, U, rows = start.copy(), np.zeros((K, 3)), memory_rows(X, targets[0], s).resident()
    made, cost = compiled_walk_of_classes(rows, list(targets), order, W, how, U, seen)
    for k, t in enumerate(targets):
        w, u = start[k].copy(), np.zeros(3)
        _, updates, total = plane_perceptron.walk_plane(X, t, s, order, 0, len(order), w, *how, u, seen)
        assert (W[k].tolist(), U[k].tolist(), made[k], cost[k]) == (w.tolist(), u.tolist(), updates, total)
    assert made.any()
