"""Few passes over many rows, counted, on families that mislead a sample. Slow where they need many rows."""

import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.preconditioners import Sample

N, D = 100_000, 12


def _rare_levels(rng):
    """Five numbers, a column of twelve levels whose last has some ninety rows, and indicators of 15, 30, … rows."""
    X = np.zeros((N, 5 + 12 + 4))
    X[:, :5] = rng.standard_normal((N, 5))
    share = 1.0 / np.arange(1, 13) ** 2.5
    X[np.arange(N), 5 + rng.choice(12, N, p=share / share.sum())] = 1.0
    for k in range(4):
        X[rng.choice(N, 15 * (k + 1), replace=False), 17 + k] = 1.0
    return X


def _correlated(rng):
    return rng.standard_normal((N, D)) @ (np.eye(D) + 0.7 * rng.standard_normal((D, D)) / np.sqrt(D))


def _ill_conditioned(rng):
    left, right = (np.linalg.qr(rng.standard_normal((D, D)))[0] for _ in range(2))
    return rng.standard_normal((N, D)) @ (left * np.logspace(0, -6, D)) @ right


def _scaled_and_shifted(rng):
    scale = np.logspace(-3, 3, D)
    return (_correlated(rng) + 100 * rng.standard_normal(D)) * scale


FAMILIES = {
    "uncorrelated": lambda rng: rng.standard_normal((N, D)),
    "correlated": _correlated,
    "condition 1e6": _ill_conditioned,
    "scales and shifts": _scaled_and_shifted,
    "rare levels": _rare_levels,
    "heavy tails": lambda rng: rng.standard_t(2.5, (N, D)),
    "one in a thousand": _correlated,
}


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_passes_stay_below_ten(family, K):
    """Every reading of the rows counts: the columns' summary, the sample, each evaluation, the rank."""
    rng = np.random.default_rng(0)
    X = FAMILIES[family](rng)
    unit = X if family == "rare levels" else (X - X.mean(axis=0)) / X.std(axis=0)
    z = unit @ rng.standard_normal((K, X.shape[1])).T * (0.7 if family == "rare levels" else 2 / np.sqrt(D))
    z[:, 0] += 9.0 * (family == "one in a thousand")
    y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    for C in (1e-4, 1e-2, 1.0, 1e2, 1e4, np.inf):
        model = sx.LogisticRegression(C).fit(X, y)
        assert model.certificate_.why.startswith("L-BFGS around the Hessian of a sample")
        assert model.certificate_.code == "optimal"
        assert model.certificate_.passes < 10, C


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_optimum_as_newton(family):
    rng = np.random.default_rng(1)
    X = FAMILIES[family](rng)
    y = ((X[:, 0] - X[:, 0].mean()) / X[:, 0].std() + rng.logistic(size=N) > 0).astype(int)
    sampled, newton = (sx.LogisticRegression(solver=s).fit(X, y).certificate_ for s in (LBFGS(Sample(5000)), "newton"))
    assert sampled.code == "optimal"
    assert sampled.objective <= newton.objective + 1e-8 * newton.null_objective


def test_a_rare_class_is_drawn_as_often_as_the_other():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 5))
    y = (X[:, 0] + rng.logistic(size=N) > 7).astype(int)
    assert 20 < y.sum() < 400
    model = sx.LogisticRegression(solver=LBFGS(Sample(rows=2000))).fit(X, y)
    assert model.certificate_.code == "optimal"
    assert model.n_iter_ < 12


def test_a_sample_that_misleads_is_given_up():
    """One row carries all the curvature of a column, and no sample knows its size."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 3))
    X[:, 2] = rng.standard_cauchy(N) ** 3
    y = (X[:, 0] + rng.logistic(size=N) > 0).astype(int)
    model = sx.LogisticRegression(np.inf, solver=LBFGS(Sample(rows=500))).fit(X, y)
    assert model.certificate_.code == "optimal"


@pytest.mark.parametrize("K", [3, 5])
def test_softmax(K):
    rng = np.random.default_rng(K)
    X = rng.standard_normal((N, 6))
    y = np.argmax(X @ rng.standard_normal((6, K)) + rng.gumbel(size=(N, K)), axis=1)
    model = sx.LogisticRegression(solver=LBFGS(Sample(rows=5000))).fit(X, y)
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
            for solver in ("newton", LBFGS(Sample(rows=100))):
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
        sx.LogisticRegression(np.inf, solver=LBFGS(Sample(rows=1000))).fit(X, y)
    assert sx.LogisticRegression(1.0, solver=LBFGS(Sample(rows=1000))).fit(X, y).certificate_.code == "optimal"


def test_the_penalty_on_a_sample_is_that_on_all_rows():
    """A sample is centred and scaled when it is drawn, so it has a frame of its own."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 12)) * np.logspace(-3, 3, 12)
    problem = build_objective(labelled_rows(X, np.arange(len(X)) % 2, 2), 2, Penalty(1.0, np.ones(12)))
    sample = problem.framed.standing_sample
    np.testing.assert_array_equal(problem.restricted_to(sample).root_penalty, problem.root_penalty)
