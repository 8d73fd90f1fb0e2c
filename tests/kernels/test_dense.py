"""The compiled sums over dense rows against the formula written out, and against the blocks of NumPy calls."""

import numpy as np
import pytest

from separatrix.concurrency import threads
from separatrix.kernels import dense
from separatrix.penalty import Penalty
from separatrix.posing import pose
from separatrix.solvers import compiled
from separatrix.solvers.compiled import CompiledSums


@pytest.mark.parametrize("value", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 3, 16, 37])
def test_logistic_pass_is_the_formula(d, value):
    rng = np.random.default_rng(d)
    n = 50
    X = rng.standard_normal((n, d)).astype(value)
    t, weight, w, b = rng.choice([-1.0, 1.0], n), rng.integers(0, 3, n).astype(float), rng.standard_normal(d), 0.3
    gradient = np.ones(d)
    found = dense.logistic_pass(X, 7, n, t, weight, w, b, gradient)
    wide, part = X.astype(np.float64), slice(7, n)
    m = t[part] * (wide[part] @ w + b)
    r = -t[part] * weight[part] / (1 + np.exp(m))
    np.testing.assert_allclose(found, [weight[part] @ np.logaddexp(0, -m), r.sum()], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gradient, 1 + r @ wide[part], rtol=1e-12, atol=1e-14)


def test_the_objective_is_the_same_and_its_bits_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(compiled, "FEWEST_DENSE", 1)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 7)) * np.logspace(-3, 3, 7) + 2.0
    weight = rng.integers(0, 3, 500).astype(float)
    problem = pose(X, (X[:, 6] > 0).astype(int), 2, weight, Penalty(0.5, np.ones(7)))
    W = rng.standard_normal(problem.shape)
    blocks = problem.value_gradient(W)
    found = []
    for count in (1, 2, 5):
        with threads(count):
            found.append(CompiledSums.of(problem).value_gradient(W))
    np.testing.assert_allclose(found[0].value, blocks.value, rtol=1e-13)
    np.testing.assert_allclose(found[0].gradient, blocks.gradient, rtol=1e-11, atol=1e-13)
    for other in found[1:]:
        assert other.value == found[0].value
        np.testing.assert_array_equal(other.gradient, found[0].gradient)
