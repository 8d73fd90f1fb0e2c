"""Where a fit's own bound proves that there is an optimum there is one, and separated classes are never missed."""

import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import SeparationWarning
from separatrix.core.certificate import Bound
from separatrix.core.gap_bounds import affine, exists
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.proofs.verdicts import Inseparable
from separatrix.core.rows.labelled_table import labelled_rows
from tests.campaigns import seeds


def _draw(seed):
    """Numbers and rare categories, most of them of one class: K classes, with weights, without an intercept."""
    rng = np.random.default_rng(seed)
    K = int(rng.choice([2, 2, 3]))
    n, d = int(10 ** rng.uniform(1.2, 3)), int(rng.integers(0, 3))
    numbers = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, d)
    y = rng.integers(0, K, n)
    y[:K] = np.arange(K)
    rare = np.zeros((n, 2))
    for column in rare.T:
        rows = rng.choice(np.arange(K, n), int(rng.integers(1, 6)), replace=False)
        column[rows] = 1.0
        if rng.random() < 0.7:
            y[rows] = rng.integers(0, K)
    weight = np.ones(n) if rng.random() < 0.6 else 10.0 ** rng.uniform(-4, 4, n)
    return np.hstack([numbers, rare]), y, K, weight, bool(rng.random() < 0.8), rng


@pytest.mark.parametrize("seed", seeds(30, 60))
def test_a_fit_warns_exactly_where_there_is_no_optimum(seed):
    X, y, K, weight, fit_intercept, rng = _draw(seed)
    loss = "logistic" if K > 2 else str(rng.choice(["logistic", "probit", "cloglog"]))
    overlap = isinstance(sx.separability(X, y, fit_intercept), Inseparable)
    settings = {"loss": loss, "fit_intercept": fit_intercept, "tol": float(rng.choice([1e-10, 1e-8, 1e-4, 1e-2]))}
    offset = rng.standard_normal(len(y)) if K == 2 and rng.random() < 0.3 else None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sx.LogisticRegression(np.inf, **settings).fit(X, y, weight, offset)
    assert any(isinstance(warning.message, SeparationWarning) for warning in caught) != overlap
    assert (model.separation_ is None) == overlap
    assert overlap or model.certificate_.code == ("separated" if model.separation_ else "quasi-separated")


@pytest.mark.parametrize("seed", seeds(20, 40))
def test_no_weights_prove_an_optimum_of_separated_classes(seed):
    X, y, K, weight, fit_intercept, rng = _draw(seed)
    if isinstance(sx.separability(X, y, fit_intercept), Inseparable):
        y = np.where(X[:, -1] > 0, 0, y)
    problem = build_objective(labelled_rows(X, y, K, weight), K, Penalty(0.0, np.ones(X.shape[1])), fit_intercept)
    assert not isinstance(sx.separability(X, y, fit_intercept), Inseparable)
    for size in (0.0, 0.1, 1.0, 10.0, 40.0):
        W = size * rng.standard_normal(problem.shape) * ~problem.pinned
        assert not exists(problem, W, affine(problem, W, problem.value_gradient(W)))


def test_an_ordinary_fit_is_its_own_proof_and_costs_no_other(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = (X[:, 0] + rng.logistic(size=300) > 0).astype(int)

    def asked(*args):
        raise AssertionError("the rows were asked")

    monkeypatch.setattr("separatrix.classifiers.no_optimum.decide", asked)
    assert sx.LogisticRegression(np.inf).fit(X, y).separation_ is None


def test_other_bounds_and_none_prove_nothing():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 0])
    problem = build_objective(labelled_rows(X, y, 2, np.ones(4)), 2, Penalty(0.0, np.ones(1)))
    W = np.zeros(problem.shape)
    assert exists(problem, W, Bound(0.0, "self-concordance"))
    assert not exists(problem, W, Bound(0.0, "duality"))
    assert not exists(problem, W, Bound(None, "self-concordance", "no bound yet"))


def test_curvature_that_is_rounding_proves_nothing():
    """Three classes of which one gains on the others for ever, at weights of 27: the bound has a value by rounding."""
    X = np.zeros((40, 1))
    X[:2] = 1.0
    y = np.arange(40) % 3
    y[:2] = [0, 1]
    with pytest.warns(SeparationWarning, match="column 0 causes it"):
        sx.LogisticRegression(np.inf, fit_intercept=False).fit(X, y)
