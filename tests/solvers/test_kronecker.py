"""L-BFGS around a Kronecker product, and around blocks where a run is long."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import separatrix as sx
from separatrix.losses import LOSSES
from separatrix.objective import pose
from separatrix.penalty import Penalty
from separatrix.sums import ClassHessians

from .. import reference


def _softmax(n=4000, d=40, K=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.7 * rng.standard_normal((d, d)) / np.sqrt(d))
    y = np.argmax(X @ rng.standard_normal((K, d)).T / np.sqrt(d) + rng.gumbel(size=(n, K)), axis=1)
    return X, y


def test_a_third_of_the_passes_of_plain_lbfgs():
    X, y = _softmax()
    around, plain = (sx.LogisticRegression(solver=s).fit(X, y).certificate_ for s in ("kronecker", "lbfgs"))
    assert around.code == plain.code == "optimal"
    assert around.objective == pytest.approx(plain.objective, abs=2e-8 * plain.null_objective)
    assert 3 * around.passes < plain.passes


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_long_runs_turn_to_blocks(C):
    X, y = load_digits(return_X_y=True)
    around, plain = (sx.LogisticRegression(C, solver=s).fit(X, y).certificate_ for s in ("kronecker", "newton"))
    assert around.code == "optimal"
    assert around.iterations > 24
    assert around.passes < 150
    assert around.objective == pytest.approx(plain.objective, abs=2e-8 * plain.null_objective)


def test_collinear_columns_without_a_penalty():
    X, y = _softmax(600, 4, 3)
    X = np.column_stack([X, X[:, 0] - X[:, 1]])
    around, newton = (sx.LogisticRegression(np.inf, solver=s).fit(X, y).certificate_ for s in ("kronecker", "newton"))
    assert around.code == newton.code == "optimal"
    assert around.objective == pytest.approx(newton.objective, abs=2e-8)


@pytest.mark.parametrize("K", [2, 4])
def test_blocks_are_the_hessians_own(K):
    X, y = _softmax(50, 3, K)
    problem = pose(X, y, K, np.ones(50), Penalty.none(3), standard=False)
    W = np.random.default_rng(0).standard_normal(problem.shape)
    blocks = problem.rows.fold(ClassHessians(LOSSES["logistic" if K == 2 else "softmax"], W)) / 50
    H = reference.hessian(W, X, y, np.ones(50), np.zeros(3))
    for k, block in enumerate(blocks):
        np.testing.assert_allclose(block, H[4 * k : 4 * k + 4, 4 * k : 4 * k + 4], atol=1e-13)
