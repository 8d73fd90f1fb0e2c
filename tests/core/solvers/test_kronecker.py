"""L-BFGS around a Kronecker product, and around blocks where a run is long."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import separatrix as sx
from separatrix.core.losses import LOSSES
from separatrix.core.objective_sums import ClassHessians
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers import preconditioners
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.preconditioners import Identity, Kronecker

from ... import reference


def _softmax(n=4000, d=40, K=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.7 * rng.standard_normal((d, d)) / np.sqrt(d))
    y = np.argmax(X @ rng.standard_normal((K, d)).T / np.sqrt(d) + rng.gumbel(size=(n, K)), axis=1)
    return X, y


def test_a_third_of_the_passes_of_plain_lbfgs():
    X, y = _softmax()
    around, plain = (
        sx.LogisticRegression(solver=s).fit(X, y).certificate_ for s in (LBFGS(Kronecker()), LBFGS(Identity()))
    )
    assert around.code == plain.code == "optimal"
    assert around.objective == pytest.approx(plain.objective, abs=2e-8 * plain.null_objective)
    assert 3 * around.passes < plain.passes


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_long_runs_turn_to_blocks(C):
    X, y = load_digits(return_X_y=True)
    around, plain = (sx.LogisticRegression(C, solver=s).fit(X, y).certificate_ for s in (LBFGS(Kronecker()), "newton"))
    assert around.code == "optimal"
    assert around.iterations > 24
    assert around.passes < 150
    assert around.objective == pytest.approx(plain.objective, abs=2e-8 * plain.null_objective)


def test_collinear_columns_without_a_penalty():
    X, y = _softmax(600, 4, 3)
    X = np.column_stack([X, 2 * X[:, 0]])
    around, newton = (
        sx.LogisticRegression(np.inf, solver=s).fit(X, y).certificate_ for s in (LBFGS(Kronecker()), "newton")
    )
    assert around.code == newton.code == "optimal"
    assert around.objective == pytest.approx(newton.objective, abs=2e-8)


@pytest.mark.parametrize("K", [2, 4])
def test_blocks_are_the_hessians_own(K):
    X, y = _softmax(50, 3, K)
    problem = build_objective(labelled_rows(X, y, K, np.ones(50)), K, Penalty.none(3), standard=False)
    W = np.random.default_rng(0).standard_normal(problem.shape)
    blocks = problem.rows.fold(ClassHessians(LOSSES["logistic" if K == 2 else "softmax"], W)) / 50
    H = reference.hessian(W, X, y, np.ones(50), np.zeros(3))
    for k, block in enumerate(blocks):
        np.testing.assert_allclose(block, H[4 * k : 4 * k + 4, 4 * k : 4 * k + 4], atol=1e-13)


@pytest.mark.parametrize(("K", "fit_intercept"), [(2, True), (4, True), (4, False)])
def test_product_is_exact_on_the_span_of_the_scores(K, fit_intercept):
    X, y = _softmax(200, 5, K)
    problem = build_objective(labelled_rows(X, y, K, np.ones(200)), K, Penalty(1.0, np.ones(5)), fit_intercept)
    W = 0.3 * np.random.default_rng(1).standard_normal(problem.shape)
    W[:, 0] *= fit_intercept
    null = preconditioners.null_product(problem)
    found = preconditioners.product(problem, null, W, problem.rows.resident())
    space, T = problem.subspace, found.T
    size = len(T) * problem.subspace.rank
    inverse = np.array([found.solve(e) for e in np.eye(size)])
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-12)
    assert np.linalg.eigvalsh(inverse)[0] > 0

    directions = np.kron(T, found.B.T)  # columns: T ⊗ B
    H = space.reduce_hessian(problem.hessian(W))
    inside = np.linalg.inv(directions.T @ H @ directions)
    Q = np.eye(1) if space.Q is None else space.Q
    A = Q.T @ _mean_curvature(problem, X, W) @ Q
    Z = np.eye(6) if space.Z is None else space.Z
    R = np.diag(problem.root_penalty**2)
    M = np.kron(A, Z.T @ problem.columns.gram @ Z) + np.kron(np.eye(len(T)), Z.T @ R @ Z)
    outside = np.linalg.inv(directions.T @ M @ directions)
    expected = np.linalg.inv(M) + directions @ (inside - outside) @ directions.T
    np.testing.assert_allclose(inverse, expected, rtol=1e-9, atol=1e-11)


def _mean_curvature(problem, X, W):
    """The mean of ∂²ℓ/∂z² by its definition."""
    z = problem.rows.resident().scores(W)
    if z.shape[1] == 1:
        p = 1 / (1 + np.exp(-z[:, 0]))
        return np.array([[np.mean(p * (1 - p))]])
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return np.mean([np.diag(row) - np.outer(row, row) for row in p], axis=0)


def test_the_span_saves_two_thirds_of_the_passes():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((6000, 60)) @ (np.eye(60) + 0.7 * rng.standard_normal((60, 60)) / np.sqrt(60))
    z = X @ rng.standard_normal((60, 8))
    y = np.argmax(3 * z / z.std() + rng.gumbel(size=z.shape), axis=1)
    found = sx.LogisticRegression(solver=LBFGS(Kronecker())).fit(X, y).certificate_
    assert found.code == "optimal"
    assert found.passes <= 22


def _nearly_separated(K, d, spread, seed):
    """Five rows of each class around its own centre, so that most rows have almost no curvature at the optimum."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((5 * K, d)), np.arange(5 * K) % K
    return X + spread * rng.standard_normal((K, d))[y], y


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("K", "d", "spread", "most"), [(100, 20, 2.0, 75), (200, 4, 3.0, 130)])
def test_steps_that_a_preconditioner_predicts_far_too_long_do_not_take_long_searches(K, d, spread, most, seed):
    found = sx.LogisticRegression(solver=LBFGS(Kronecker())).fit(*_nearly_separated(K, d, spread, seed)).certificate_
    assert found.code == "optimal"
    assert found.passes <= most


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_a_thousand_classes_reach_the_optimum(seed):
    found = sx.LogisticRegression().fit(*_nearly_separated(1000, 10, 2.0, seed)).certificate_
    assert found.code == "optimal"
    assert found.passes <= 250


def test_second_derivatives_of_many_classes_take_probabilities_once(monkeypatch):
    """A softmax for each of K classes made K² work of every row: 400 classes took ten times as long as plain L-BFGS."""
    import separatrix.core.objective_sums as sums

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = np.argmax(X @ rng.standard_normal((4, 60)) + rng.gumbel(size=(300, 60)), axis=1)
    y[:60] = np.arange(60)
    taken, softmax = [], sums.softmax
    monkeypatch.setattr(sums, "softmax", lambda z: taken.append(len(z)) or softmax(z))
    monkeypatch.setattr("separatrix.core.losses.Softmax.curvature_product", None)
    model = sx.LogisticRegression(solver=LBFGS(Kronecker())).fit(X, y)
    assert model.certificate_.met
    assert 0 < sum(taken) <= 300 * model.n_iter_
