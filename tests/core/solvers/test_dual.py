"""Dual coordinate descent: the optimum with a free intercept, whatever the rows; the same bits; when it is chosen."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse import csr_array, random_array
from scipy.special import expit

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import threads
from separatrix.core.duality_bound import duality
from separatrix.core.kernels import sparse_rows
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers.driver import run, states
from separatrix.core.solvers.dual_descent import DualDescent, DualMemory, row_length
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.preconditioners import Diagonal
from separatrix.core.solvers.registry import choose
from separatrix.core.solvers.stopping import Stopping

from ... import reference
from .test_diagonal import posed, sparse_problem


def fitted(problem, tol=1e-8, solver=None):
    return run(solver or DualDescent(), problem, np.zeros(problem.shape), Stopping(tol=tol, max_iter=2000))


def text(n=3000, d=4000, seed=0):
    """Rows of length one whose columns come in topics."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 10, n)
    words = (topic[:, None] * 300 + rng.geometric(0.01, (n, 30))) % d
    X = csr_array((rng.uniform(0.5, 1.5, 30 * n), words.ravel(), np.arange(0, 30 * n + 1, 30)), shape=(n, d))
    X.sum_duplicates()
    X = csr_array(X / np.sqrt(X.multiply(X).sum(axis=1))[:, None])
    return X, X @ rng.standard_normal(d) * 3 + rng.logistic(size=n) > 1.0


@pytest.mark.parametrize("K", [0.0, 1e-3, 1.0, 50.0, 1e6])
def test_the_new_margin_is_the_root(K):
    """From any guess, against bisection."""
    for u in (-0.5 * K, -K - 30.0, -0.9 * K, 0.0, -0.5 * K + 1e-9, 25.0):
        root = brentq(lambda m, u=u: m - K * expit(-m) - u, u - 1.0, u + K + 1.0, xtol=1e-13, rtol=1e-14)
        for guess in (-100.0, -1.0, 0.0, root, 3.0, 100.0):
            assert sparse_rows.new_margin(guess, u, K) == pytest.approx(root, abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("value", [np.float64, np.float32])
@pytest.mark.parametrize("dense", [False, True])
def test_the_optimum_with_a_free_intercept(seed, value, dense):
    """Against the slow reference, which penalises no intercept; weights, some zero, and factors."""
    X, drawn = sparse_problem(seed, value=value, C=[0.01, 1.0, 100.0][seed % 3], fit_intercept=seed != 5)
    problem = posed(X.toarray() if dense else X, drawn)
    outcome = fitted(problem, 1e-10)
    assert outcome.status.code == "optimal"
    best, _ = reference.optimum(drawn.X, drawn.codes, 2, drawn.weight, drawn.ridge, drawn.fit_intercept)
    assert abs(outcome.state.at.value - best) <= 1e-10 * problem.null_value


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_epochs_alone_reach_the_optimum_of_short_rows(fit_intercept):
    X, drawn = sparse_problem(3, C=0.05, fit_intercept=fit_intercept)
    problem = posed(X, drawn)
    outcome = fitted(problem, 1e-9)
    assert outcome.status.code == "optimal"
    memory = outcome.state.memory
    assert isinstance(memory, DualMemory)
    assert np.all((memory.alpha >= 0) & (memory.alpha <= problem.rows.weight))
    if fit_intercept:
        assert abs(memory.balance) <= 1e-5 * problem.total_weight  # Σ αt = 0 is what a free intercept asks of α


def test_what_is_maintained_is_what_it_stands_for():
    X, drawn = sparse_problem(4, C=0.3)
    problem = posed(X, drawn)
    for state, _ in zip(states(DualDescent(), problem, np.zeros(problem.shape)), range(3), strict=False):
        memory, rows = state.memory, problem.rows
        v = X.T @ (memory.alpha * rows.t) / problem.penalty.quadratic
        v[np.isinf(rows.frame.scale)] = 0.0
        np.testing.assert_allclose(memory.v, v, atol=1e-11 * (1 + np.abs(v).max()))
        assert memory.balance == pytest.approx(memory.alpha @ rows.t, abs=1e-10)
        assert memory.cv == pytest.approx(v @ rows.frame.center, abs=1e-10)
        at = problem.value_gradient(state.W)
        assert state.at.value == pytest.approx(at.value, rel=1e-12)
        if state.iteration:
            assert abs(at.gradient[0, 0]) <= 1e-12  # b is at its best


def test_long_rows_are_handed_over():
    """At a large C epochs are slow: L-BFGS goes on from where they came to."""
    X, drawn = sparse_problem(2, C=1e4)
    problem = posed(X, drawn)
    seen = list(zip(states(DualDescent(), problem, np.zeros(problem.shape)), range(30), strict=False))
    epochs = [isinstance(state.memory, DualMemory) for state, _ in seen]
    assert epochs[:3] == [True] * 3
    assert not epochs[-1]
    values = [state.at.value for state, _ in seen]
    last = epochs.index(False)
    assert values[last] <= values[last - 1] < values[0]
    assert [state.iteration for state, _ in seen] == list(range(len(seen)))


def test_rows_that_nobody_has_tidied():
    """Repeated entries, indices out of order, explicit zeros, rows without entries: the fit of the same rows tidied."""
    rng = np.random.default_rng(0)
    n, d = 400, 15
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 8, n))]).astype(np.int64)
    indices = rng.integers(0, d, indptr[-1])
    indices[1::2] = indices[: len(indices[1::2]) * 2 : 2]  # many repeated
    data = rng.standard_normal(indptr[-1]) * (rng.random(indptr[-1]) < 0.9)
    y = rng.random(n) < 0.4
    raw = csr_array((data, indices, indptr), shape=(n, d))
    tidy = csr_array((data.copy(), indices.copy(), indptr.copy()), shape=(n, d))
    tidy.sum_duplicates()
    assert tidy.nnz < raw.nnz
    weight = np.ones(n)
    problems = [
        build_objective(labelled_rows(X, y.astype(int), 2, weight), 2, Penalty(10.0, np.ones(d))) for X in (raw, tidy)
    ]
    a, b = (next(s for s in states(DualDescent(), p, np.zeros(p.shape)) if s.iteration == 3) for p in problems)
    np.testing.assert_allclose(a.memory.square, b.memory.square, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(a.W, b.W, atol=1e-12)
    assert raw.nnz == len(data)  # what was given is as it was


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_few_epochs_whatever_columns_have_in_common(index):
    """Topics slow down L-BFGS around a diagonal; epochs are as many as ever."""
    X, y = text()
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    penalty = Penalty(1.0, np.ones(X.shape[1]))
    short, other = (build_objective(labelled_rows(X, y.astype(int), 2, np.ones(len(y))), 2, penalty) for _ in range(2))
    outcome, by_columns = fitted(short), fitted(other, solver=LBFGS(Diagonal()))
    assert outcome.status.code == by_columns.status.code == "optimal"
    assert outcome.state.memory.epoch <= 11
    assert short.passes < other.passes
    assert duality(short, outcome.state.W, outcome.state.at).known <= 1e-8 * short.null_value
    assert abs(outcome.state.at.value - by_columns.state.at.value) <= 1e-8 * short.null_value


def test_same_bits_with_any_number_of_threads():
    rng = np.random.default_rng(1)
    X = csr_array(random_array((20_000, 300), density=0.05, random_state=rng, format="csr"))
    y = X @ rng.standard_normal(300) + rng.logistic(size=20_000) > 0
    answers = []
    for count in (1, 2, 5):
        with threads(count):
            answers.append(sx.LogisticRegression(0.5, solver="dual").fit(X, y))
    assert answers[0].certificate_.code == "optimal"
    assert all(np.array_equal(answers[0].coef_, other.coef_) for other in answers)


def test_the_seed_shuffles_and_passes_are_counted():
    X, drawn = sparse_problem(1, C=0.1)
    ends = []
    for seed in (0, 0, 1):
        problem, solver = posed(X, drawn), DualDescent(seed=seed)
        state = solver.init(problem, np.zeros(problem.shape))
        before = problem.passes
        ends.append(solver.step(problem, state).W)
        assert problem.passes == before + 5 + 2  # epochs, the scores that b is fitted to, E
        assert not np.any(state.memory.alpha)  # a state stays what it was
    assert np.array_equal(ends[0], ends[1])
    assert not np.array_equal(ends[0], ends[2])


def test_no_tolerance_ends_by_itself():
    for C in (0.05, 1.0):
        X, drawn = sparse_problem(2, C=C)
        problem = posed(X, drawn)
        outcome = fitted(problem, 0.0)
        assert outcome.status.code == "rounding"
        assert outcome.bound.known <= 1e-12 * problem.null_value


def test_chosen_for_short_sparse_rows():
    X, y = text()

    def choice(C, rows=X, labels=1 * y, K=2):
        problem = build_objective(
            labelled_rows(rows, labels, K, np.ones(len(labels))), K, Penalty(1 / C, np.ones(X.shape[1]))
        )
        return choose(problem)[0].name

    assert choice(1.0) == "dual"
    assert choice(100.0) == choice(1.0, X * 10) == choice(np.inf) == "lbfgs"
    assert choice(1.0, labels=np.arange(len(y)) % 3, K=3) == "lbfgs"
    problem = build_objective(
        labelled_rows(X, y.astype(int), 2, np.full(len(y), 2.0)), 2, Penalty(1.0, np.full(X.shape[1], 0.5))
    )
    assert 3.5 < row_length(problem) <= 4.0  # s/q is 4, and centring shortens a little


def test_settings_are_checked():
    with pytest.raises(ParameterError, match="seed"):
        DualDescent(seed=-1)
    X, y = text(200)
    with pytest.raises(ParameterError, match="a penalty on every column"):
        sx.LogisticRegression(np.inf, solver="dual").fit(X, y)


@pytest.mark.parametrize("size", [1e-200, 1e10, 1e100])
def test_columns_of_any_size(size):
    X, drawn = sparse_problem(0)
    X = csr_array(X * np.where(np.arange(X.shape[1]) < 20, size, 1.0))
    problem = posed(X, drawn)
    assert row_length(problem) > 0
    outcome = fitted(problem)
    assert np.all(np.isfinite(outcome.state.W))
    assert outcome.status.code == "optimal"
