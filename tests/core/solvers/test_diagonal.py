"""L-BFGS around a diagonal, and its compiled sums over sparse rows: the same numbers, a free intercept."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import separatrix as sx
from separatrix.core import objective_sums
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import threads
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers.driver import run
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.preconditioners import Diagonal
from separatrix.core.solvers.registry import choose
from separatrix.core.solvers.stopping import Stopping

from ... import problems, reference


def sparse_problem(seed, n=300, d=40, K=2, value=np.float64, **how):
    """Columns from common to absent, weights some of which are zero, factors; the classes lean to one side."""
    rng = np.random.default_rng(seed)
    X = random_array((n, d), density=0.1, random_state=rng, dtype=value, format="csr")
    X = csr_array(X * np.exp(rng.normal(0, 1, d)).astype(value))
    z = X @ rng.standard_normal((d, K)) * 2 + rng.gumbel(size=(n, K)) + np.arange(K)
    codes = np.argmax(z, axis=1)
    codes[:K] = np.arange(K)
    weight = rng.integers(0, 3, n).astype(float)
    weight[:K] = 1.0
    fit_intercept = how.get("fit_intercept", True)
    return X, problems.Problem(
        X.toarray().astype(np.float64), codes, K, weight, how.get("C", 1.0), rng.uniform(0.2, 2, d), fit_intercept
    )


def posed(X, drawn):
    penalty = Penalty(1.0 / drawn.C, drawn.factors)
    return build_objective(labelled_rows(X, drawn.codes, drawn.K, drawn.weight), drawn.K, penalty, drawn.fit_intercept)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("value", [np.float64, np.float32])
def test_compiled_sums_are_those_of_numpy(seed, value, monkeypatch):
    X, drawn = sparse_problem(seed, value=value, fit_intercept=seed % 2 == 0)
    problem = posed(X, drawn)
    assert not problem.is_compiled
    monkeypatch.setattr(objective_sums, "FEWEST_SPARSE_ROWS_TO_COMPILE", 1)
    compiled = problem.with_()
    assert compiled.is_compiled
    W = np.random.default_rng(seed).standard_normal(problem.shape)
    W[:, 0] *= problem.fit_intercept
    before = problem.passes
    found, expected = compiled.value_gradient(W), problem.value_gradient(W)
    assert problem.passes == before + 2
    assert found.value == pytest.approx(expected.value, rel=1e-13)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("K", [2, 3])
def test_the_optimum_on_sparse_rows_with_a_free_intercept(seed, K):
    """Against the slow reference, which penalises no intercept."""
    X, drawn = sparse_problem(seed, K=K, C=[0.01, 1.0, 100.0][seed % 3], fit_intercept=seed != 5)
    problem = posed(X, drawn)
    outcome = run(LBFGS(Diagonal()), problem, np.zeros(problem.shape), Stopping(tol=1e-10, max_iter=1000))
    assert outcome.status.code == "optimal"
    best, W = reference.optimum(drawn.X, drawn.codes, K, drawn.weight, drawn.ridge, drawn.fit_intercept)
    assert abs(outcome.state.at.value - best) <= 1e-10 * problem.null_value
    raw = problem.rows.frame.to_original(outcome.state.W)
    used = np.any(drawn.X[drawn.weight > 0] != 0, axis=0)
    np.testing.assert_allclose(
        (raw - raw.mean(axis=0))[:, 1:][:, used] if K > 2 else raw[:, 1:][:, used],
        (W - W.mean(axis=0))[:, 1:][:, used] if K > 2 else W[:, 1:][:, used],
        atol=2e-3 * np.abs(W).max(),
    )


def test_rows_that_nobody_has_tidied():
    """Repeated entries, indices out of order, explicit zeros, int64: the fit of the same rows tidied."""
    rng = np.random.default_rng(0)
    n, d = 200, 15
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 8, n))]).astype(np.int64)
    indices = rng.integers(0, d, indptr[-1])
    data = rng.standard_normal(indptr[-1]) * (rng.random(indptr[-1]) < 0.9)
    y = rng.random(n) < 0.4
    tidy = csr_array((data.copy(), indices.copy(), indptr.copy()), shape=(n, d))
    tidy.sum_duplicates()
    raw = csr_array((data, indices, indptr), shape=(n, d))
    a, b = (sx.LogisticRegression(solver=LBFGS(Diagonal()), tol=1e-12).fit(X, y) for X in (raw, tidy))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-5)
    assert raw.nnz == len(data)  # what was given is as it was


def test_same_bits_with_any_number_of_threads():
    rng = np.random.default_rng(1)
    X = csr_array(random_array((40_000, 300), density=0.05, random_state=rng, format="csr"))
    y = X @ rng.standard_normal(300) + rng.logistic(size=40_000) > 0
    answers = []
    for count in (1, 2, 5):
        with threads(count):
            answers.append(sx.LogisticRegression(solver=LBFGS(Diagonal())).fit(X, y))
    assert len(labelled_rows(X, y.astype(int), 2)._edges) > 2
    assert all(np.array_equal(answers[0].coef_, other.coef_) for other in answers)


def test_large_offsets_are_left_to_the_centred_sums(monkeypatch):
    monkeypatch.setattr(objective_sums, "FEWEST_SPARSE_ROWS_TO_COMPILE", 1)
    X, drawn = sparse_problem(0)
    X = X.toarray()
    X[:, 0] = 1e6 + np.random.default_rng(0).standard_normal(len(X))
    problem = posed(csr_array(X), drawn)
    assert not problem.is_compiled
    outcome = run(LBFGS(Diagonal()), problem, np.zeros(problem.shape), Stopping(tol=1e-8, max_iter=1000))
    assert outcome.status.code == "optimal"


def test_no_tolerance_ends_by_itself():
    X, drawn = sparse_problem(2)
    problem = posed(X, drawn)
    outcome = run(LBFGS(Diagonal()), problem, np.zeros(problem.shape), Stopping(tol=0.0, max_iter=5000))
    assert outcome.status.code == "rounding"
    assert outcome.bound.known <= 1e-12 * problem.null_value


def test_maximum_likelihood_without_a_penalty():
    X, _ = sparse_problem(3, n=2000, d=5)
    y = np.random.default_rng(0).random(2000) < 0.5
    a, b = (sx.LogisticRegression(np.inf, solver=s).fit(X, y) for s in (LBFGS(Diagonal()), "newton"))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-3)


def test_chosen_for_many_sparse_columns():
    X, drawn = sparse_problem(0, n=50, d=4000)
    solver, why = choose(posed(X, drawn))
    assert solver == LBFGS(Diagonal())
    assert "4000 columns" in why


def test_pairs_must_be_positive():
    with pytest.raises(ParameterError, match="pairs"):
        LBFGS(pairs=0)
