"""The objective is the written formula, its derivatives are its derivatives, in any frame, dense or sparse."""

from dataclasses import replace

import numpy as np
import pytest

from tests import laws, problems

SEEDS = range(40)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("standard", [False, True], ids=["raw", "standard"])
def test_formula_and_derivatives(standard, sparse):
    for seed in SEEDS:
        problem = problems.draw(seed)
        objective = problem.objective(standard, sparse)
        W = np.random.default_rng(seed).standard_normal(objective.shape) * 0.3
        if not standard:
            W[:, 1:] /= np.abs(problem.X).max(axis=0)
        if not problem.fit_intercept:
            W[:, 0] = 0.0
        laws.objective_is_the_written_formula(problem, objective, W)
        if standard:
            laws.objective_derivatives_are_numerical(objective, W)


def test_dense_and_sparse_rows_give_the_same_objective():
    for seed in SEEDS:
        problem = problems.draw(seed)
        dense, sparse = problem.objective(), problem.objective(sparse=True)
        W = np.random.default_rng(seed).standard_normal(dense.shape)
        np.testing.assert_allclose(dense.hessian(W), sparse.hessian(W), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(dense.columns.gram, sparse.columns.gram, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            dense.framed.root_second_moments, sparse.framed.root_second_moments, rtol=1e-9, atol=1e-12
        )
        assert dense.columns.rank == sparse.columns.rank


def test_null_value_is_that_of_the_best_constant():
    for seed in SEEDS:
        problem = problems.draw(seed)
        objective = problem.objective()
        share = np.bincount(problem.codes, problem.weight) / problem.weight.sum()
        W = np.zeros(objective.shape)
        if problem.fit_intercept:
            W[:, 0] = np.log(share[1] / share[0]) if problem.K == 2 else np.log(share)
        assert objective.null_value == pytest.approx(objective.value_gradient(W).value, rel=1e-12)


def test_at_zero_weights_as_lecture_002_has_it():  # exact example "At w = 0"
    problem = problems.draw(1, K=2, C=np.inf)
    objective = problem.objective(standard=False)
    at = objective.value_gradient(np.zeros(objective.shape))
    t = 2.0 * problem.codes - 1.0
    rows = np.hstack([np.full((len(t), 1), float(problem.fit_intercept)), problem.X])
    assert at.value == pytest.approx(np.log(2))
    expected = -(problem.weight * t) @ rows / (2 * problem.weight.sum())
    np.testing.assert_allclose(at.gradient[0], expected, rtol=1e-12, atol=1e-14)


def test_the_gradient_is_perpendicular_to_contours():  # R12
    problem = replace(problems.draw(4, K=2, C=1.0), fit_intercept=True)
    objective = problem.objective()
    rng = np.random.default_rng(0)
    W = rng.standard_normal(objective.shape)
    at = objective.value_gradient(W)
    along = rng.standard_normal(W.shape)
    along -= at.gradient * np.sum(along * at.gradient) / np.sum(at.gradient**2)
    steepest = -at.gradient / np.linalg.norm(at.gradient)
    eps = 1e-5
    change = abs(objective.value_gradient(W + eps * along).value - at.value)
    fall = at.value - objective.value_gradient(W + eps * steepest).value
    assert change < 1e-3 * fall
    for _ in range(20):
        other = rng.standard_normal(W.shape)
        other /= np.linalg.norm(other)
        assert at.value - objective.value_gradient(W + eps * other).value <= fall * (1 + 1e-4)
