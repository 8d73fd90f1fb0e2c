"""Few passes over many rows, counted, on families that mislead a sample. Slow where they need many rows."""

import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.solvers import SampledNewton

N, D = 60_000, 20


def _family(name, rng):
    Z = rng.standard_normal((N, D))
    mixed = Z @ (np.eye(D) + 0.7 * rng.standard_normal((D, D)) / np.sqrt(D))
    if name == "uncorrelated":
        return Z
    if name == "correlated":
        return mixed
    if name == "condition 1e6":
        left, right = (np.linalg.qr(rng.standard_normal((D, D)))[0] for _ in range(2))
        return Z @ (left * np.logspace(0, -3, D)) @ right
    if name == "scales and shifts":
        return mixed * np.logspace(-3, 3, D) + 100 * rng.standard_normal(D)
    if name == "rare levels":
        levels = np.minimum(rng.zipf(1.5, N) - 1, D - 6)
        X = np.zeros((N, D))
        X[:, :5] = Z[:, :5]
        X[np.arange(N), 5 + levels] = 1.0
        return X
    return rng.standard_t(2.5, (N, D))


FAMILIES = ["uncorrelated", "correlated", "condition 1e6", "scales and shifts", "rare levels", "heavy tails"]


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("family", FAMILIES)
def test_few_passes(family, C):
    rng = np.random.default_rng(FAMILIES.index(family))
    X = _family(family, rng)
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.standard_normal(D) * 2 / np.sqrt(D)
    y = (z + rng.logistic(size=N) > 0).astype(int)
    model = sx.LogisticRegression(C, solver=SampledNewton(rows=10_000)).fit(X, y)
    assert model.certificate_.code == "optimal"
    assert model.n_iter_ < 10
    newton = sx.LogisticRegression(C, solver="newton").fit(X, y)
    assert model.certificate_.objective <= newton.certificate_.objective + 1e-8 * newton.certificate_.null_objective


def test_a_rare_class_is_drawn_as_often_as_the_other():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 5))
    y = (X[:, 0] + rng.logistic(size=N) > 7).astype(int)
    assert 20 < y.sum() < 400
    model = sx.LogisticRegression(solver=SampledNewton(rows=2000)).fit(X, y)
    assert model.certificate_.code == "optimal"
    assert model.n_iter_ < 12


def test_a_sample_that_misleads_is_given_up():
    """One row carries all the curvature of a column, and no sample knows its size."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 3))
    X[:, 2] = rng.standard_cauchy(N) ** 3
    y = (X[:, 0] + rng.logistic(size=N) > 0).astype(int)
    model = sx.LogisticRegression(np.inf, solver=SampledNewton(rows=500)).fit(X, y)
    assert model.certificate_.code == "optimal"


@pytest.mark.parametrize("K", [3, 5])
def test_softmax(K):
    rng = np.random.default_rng(K)
    X = rng.standard_normal((N, 6))
    y = np.argmax(X @ rng.standard_normal((6, K)) + rng.gumbel(size=(N, K)), axis=1)
    model = sx.LogisticRegression(solver=SampledNewton(rows=5000)).fit(X, y)
    assert model.certificate_.code == "optimal"
    assert model.n_iter_ < 10


def test_few_rows_of_weight_among_many():
    """Their sample may be separated where they are not; rows without weight stand for nothing."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((N, 10))
        y = (rng.random(N) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(int)
        for k in (80, 200, 4000):
            weight = np.zeros(N)
            weight[rng.choice(N, k, replace=False)] = 1.0
            found = {}
            for solver in ("newton", SampledNewton(rows=100)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", sx.errors.NotConvergedWarning)
                    found[str(solver)] = sx.LogisticRegression(np.inf, solver=solver).fit(X, y, weight).certificate_
            newton, sampled = found.values()
            assert newton.code == sampled.code
            if newton.code == "optimal":
                assert sampled.objective == pytest.approx(newton.objective, rel=1e-6)


def test_a_sample_of_lower_rank_than_the_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 4))
    X[:, 3] = X[:, 2]
    X[50, 3] += 1.0
    y = (rng.random(N) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    with pytest.warns(sx.errors.SeparationWarning):
        sx.LogisticRegression(np.inf, solver=SampledNewton(rows=1000)).fit(X, y)
    assert sx.LogisticRegression(1.0, solver=SampledNewton(rows=1000)).fit(X, y).certificate_.code == "optimal"
