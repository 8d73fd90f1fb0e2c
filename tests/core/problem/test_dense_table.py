"""A small dense table is evaluated without a fold; the sums over rows of ``partials`` are the reference."""

import numpy as np
import pytest

from separatrix.core import objective_sums
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows


def _problem(seed, K=2, n=40, d=3, scale=1.0, offset=0.0, fit_intercept=True, weighted=True, loss="logistic"):
    dice = np.random.default_rng(seed)
    X = scale * (dice.normal(size=(n, d)) + offset)
    codes = np.arange(n) % K
    weight = dice.uniform(0.0, 3.0, n) if weighted else None
    if weighted:
        weight[3] = 0.0
    penalty = Penalty(2.0, dice.uniform(0.0, 2.0, d))
    return build_objective(labelled_rows(X, codes, K, weight), K, penalty, fit_intercept, loss=loss)


def _by_sums(problem, monkeypatch):
    """The same problem, evaluated by sums over its rows."""
    monkeypatch.setattr(objective_sums, "MOST_ENTRIES", -1)
    other = problem.with_(penalty=problem.penalty.times(1.0))
    assert other.dense_table is None
    return other


CASES = [
    {},
    {"K": 3},
    {"K": 5, "d": 20},
    {"d": 20, "n": 300},
    {"scale": 1e150},
    {"scale": 1e-150},
    {"offset": 1e6},
    {"fit_intercept": False},
    {"fit_intercept": False, "K": 4},
    {"weighted": False},
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("size", [0.0, 1.0, 300.0])
def test_a_table_agrees_with_the_sums_over_its_rows(case, size, monkeypatch):
    problem = _problem(1, **case)
    assert problem.dense_table is not None
    W = size * np.random.default_rng(2).normal(size=problem.shape)
    with np.errstate(all="raise"):
        ours = problem.value_gradient(W)
    hessian = problem.hessian(W)
    reference = _by_sums(problem, monkeypatch)
    theirs = reference.value_gradient(W)
    np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-12)
    np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-10, atol=1e-13 * (1 + size))
    np.testing.assert_allclose(hessian, reference.hessian(W), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("K", [2, 3])
def test_second_derivatives_follow_from_an_evaluation_at_the_same_point(K):
    problem = _problem(3, K)
    W = np.random.default_rng(4).normal(size=problem.shape)
    assert np.array_equal(problem.hessian(W, at=problem.value_gradient(W)), problem.hessian(W))


@pytest.mark.parametrize("K", [2, 3])
def test_passes_are_counted_as_for_sums(K, monkeypatch):
    problem = _problem(5, K)
    W, counts = np.zeros(problem.shape), []
    for each in (problem, _by_sums(problem, monkeypatch)):
        assert each.root_penalty.size  # the penalty needs the rows' total weight, which may take a pass
        before = each.passes
        each.value_gradient(W)
        each.hessian(W)
        counts.append(each.passes - before)
    assert counts == [2, 2]


def test_large_sparse_and_other_problems_have_no_table():
    from scipy.sparse import csr_array

    dice, codes = np.random.default_rng(6), np.arange(600) % 2
    X = dice.normal(size=(600, 4))
    ridge = Penalty(1.0, np.ones(4))
    sparse = build_objective(labelled_rows(csr_array(X), codes, 2), 2, ridge)
    wide = build_objective(labelled_rows(dice.normal(size=(600, 200)), codes, 2), 2, Penalty(1.0, np.ones(200)))
    probit = build_objective(labelled_rows(X, codes, 2), 2, ridge, loss="probit")
    assert [problem.dense_table for problem in (sparse, wide, probit)] == [None] * 3


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.5, 2e3])
def test_the_slope_along_a_direction_is_the_gradients(case, alpha):
    problem = _problem(7, **case)
    V = np.random.default_rng(8).normal(size=(1 if case.get("K", 2) == 2 else case["K"], case.get("d", 3) + 1))
    if not case.get("fit_intercept", True):
        V[:, 0] = 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # as within a step of Newton's method
        slope = problem.slope_along(V)(alpha)
    np.testing.assert_allclose(slope, np.vdot(problem.value_gradient(alpha * V).gradient, V), rtol=1e-9, atol=1e-12)
