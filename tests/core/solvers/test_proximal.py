"""Absolute values in the penalty: both solvers against the slow way, scikit-learn, and the awkward cases."""

from dataclasses import replace
from functools import cache
from itertools import islice, product

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression as Peer

import separatrix as sx
from separatrix.core.base.errors import NotConvergedWarning, ParameterError
from separatrix.core.penalty import shortest
from separatrix.core.solvers import proximal
from separatrix.core.solvers.driver import run, states
from separatrix.core.solvers.proximal import Proximal, minimise, screened
from separatrix.core.solvers.registry import choose
from separatrix.core.solvers.stopping import Stopping

from ... import laws, problems, reference

SOLVERS = {"one model": Proximal(), "working set": Proximal(first=2)}
FORMS = {"dense": False, "CSR": True}


def _fit(solver, objective, tol=1e-8, max_iter=300):
    return run(solver, objective, np.zeros(objective.shape), Stopping(tol=tol, max_iter=max_iter))


@cache
def _solved(seed, l1_ratio):
    """A problem and its minimum by the slow way, which is that of all solvers and forms of rows."""
    problem = problems.draw(seed, C=float(10.0 ** (seed % 4 - 2)), l1_ratio=l1_ratio)
    return problem, laws.least(problem)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SOLVERS)
def test_the_minimum_of_the_slow_way(name, form):
    """Weights, factors (also of zero), with and without an intercept, two to four classes."""
    seen = set()
    for seed, l1_ratio in product(range(40, 60), (0.3, 0.9, 1.0)):
        problem, least = _solved(seed, l1_ratio)
        objective = problem.objective(sparse=FORMS[form])
        outcome = _fit(SOLVERS[name], objective)
        assert outcome.status.code == "optimal", (seed, l1_ratio, outcome.status)
        gap = outcome.state.at.value - least
        assert gap <= 1e-8 * objective.null_value
        assert gap <= outcome.bound.known + 1e-13
        seen.add((problem.K, problem.fit_intercept, bool(np.any(problem.weight != 1))))
    assert len(seen) >= 6


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("K", [2, 3])
def test_unpenalised_columns_are_always_fitted(name, K):
    for seed in range(6):
        drawn = problems.draw(seed, K=K, C=0.05, n=60, l1_ratio=1.0)
        problem = replace(drawn, factors=np.where(np.arange(drawn.X.shape[1]) == 0, 0.0, 1.0))
        if not problems.attained(replace(problem, C=np.inf)):
            continue
        outcome = _fit(SOLVERS[name], problem.objective())
        assert outcome.status.code == "optimal"
        assert outcome.state.at.value - laws.least(problem) <= 1e-8
        assert np.all(outcome.state.W[:, 1] != 0)


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=FORMS)
@pytest.mark.parametrize(("K", "l1_ratio"), [(2, 1.0), (2, 0.5), (3, 1.0), (3, 0.5)])
def test_scikit_learn_agrees(form, K, l1_ratio):
    rng = np.random.default_rng(K)
    X = rng.standard_normal((150, 6))
    y = np.argmax(X @ rng.standard_normal((6, K)) + rng.gumbel(size=(150, K)), axis=1)
    model = sx.LogisticRegression(0.2, l1_ratio=l1_ratio).fit(form(X), y)
    peer = Peer(C=0.2, l1_ratio=l1_ratio, solver="saga", tol=1e-10, max_iter=20_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_array_equal(model.coef_ == 0, np.abs(peer.coef_) < 1e-7)
    assert model.certificate_.verify(form(X), y)


def _wide(seed=0, n=60, d=900, K=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)
    codes = np.argmax(X[:, : 3 * K].reshape(n, K, 3).sum(axis=2) + rng.gumbel(size=(n, K)), axis=1)
    return problems.Problem(X, codes, K, np.ones(n), 2.0, np.ones(d), True, 1.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.7, 1.0])
def test_many_columns(form, K, l1_ratio):
    """More columns than rows: only the subgradient can say that this is the minimum; it proves it."""
    problem = replace(_wide(K=K), l1_ratio=l1_ratio)
    objective = problem.objective(sparse=FORMS[form])
    solver, _ = choose(objective)
    assert solver == Proximal()
    outcome = _fit(solver, objective)
    assert outcome.status.code == "optimal"
    W = objective.rows.frame.to_original(outcome.state.W)
    _, gradient = reference.objective(W, problem.X, problem.codes, problem.weight, problem.ridge)
    a = problem.lasso / problem.weight.sum()
    assert np.max(np.abs(reference.shortest_subgradient(W, gradient, a))) <= 1e-7 * a[0]
    assert 0 < np.sum(W[:, 1:] != 0) < 0.2 * W.size


def test_both_forms_of_columns_go_to_the_same_minimum(monkeypatch):
    for K in (2, 3):
        problem = replace(_wide(K=K), l1_ratio=0.8)
        matrix = _fit(Proximal(first=1024), problem.objective()).state
        monkeypatch.setattr(proximal, "MOST_MATRIX_PARAMETERS", 0)
        walked = _fit(Proximal(first=1024), problem.objective()).state
        monkeypatch.undo()
        np.testing.assert_allclose(walked.W, matrix.W, atol=1e-5)


def test_screening_discards_no_column_that_a_minimum_uses():
    """At every state on the way, with K classes and with ridges."""
    discarded = 0
    for seed, K, l1_ratio in product(range(4), (2, 3), (0.7, 1.0)):
        problem = replace(_wide(seed, d=400, K=K), l1_ratio=l1_ratio, C=0.7)
        objective = problem.objective()
        used = np.any(_fit(Proximal(first=1024), objective, tol=1e-12).state.W[:, 1:] != 0, axis=0)
        for state in islice(states(Proximal(first=16), objective, np.zeros(objective.shape)), 6):
            found = screened(objective, state)
            assert not np.any(found & used)
            discarded += int(found.sum())
    assert discarded > 1000


def test_columns_too_many_for_memory_are_taken_in_turns(monkeypatch):
    problem = _wide(n=200, d=400)
    whole = _fit(Proximal(first=1024), problem.objective())
    monkeypatch.setattr(proximal, "SMALLEST_ROOM_BYTES", 8 * 200 * 48)  # of more than 100 in use
    parts = _fit(Proximal(first=1024), problem.objective(), max_iter=1000)
    assert parts.status.code == "optimal"
    assert parts.state.at.value == pytest.approx(whole.state.at.value, abs=2e-8)


@pytest.mark.parametrize("name", SOLVERS)
def test_no_tolerance_ends_by_itself(name):
    for seed in range(8):
        objective = problems.draw(seed, C=1.0, l1_ratio=1.0).objective()
        outcome = _fit(SOLVERS[name], objective, tol=0.0, max_iter=1000)
        assert outcome.status.code == "rounding", (seed, outcome.status)
        assert outcome.state.iteration < 60


@pytest.mark.parametrize("solver", ["auto", Proximal(first=1024)])
@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=FORMS)
class TestAwkward:
    def test_a_penalty_so_strong_that_all_weights_are_zero(self, form, solver):
        drawn = problems.draw(1, K=2)
        model = sx.LogisticRegression(1e-9, l1_ratio=1.0, solver=solver).fit(form(drawn.X), drawn.codes)
        assert np.all(model.coef_ == 0)
        assert model.certificate_.objective == pytest.approx(model.certificate_.null_objective, rel=1e-12)

    def test_one_column(self, form, solver):
        X, y = np.arange(10.0)[:, None], np.array([0, 0, 0, 1, 0, 1, 0, 1, 1, 1])
        model = sx.LogisticRegression(1.0, l1_ratio=1.0, solver=solver).fit(form(X), y)
        assert model.certificate_.met
        assert model.coef_[0, 0] > 0

    def test_a_constant_column_has_no_weight(self, form, solver):
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.standard_normal(40), np.full(40, 3.0)])
        model = sx.LogisticRegression(1.0, l1_ratio=1.0, solver=solver).fit(form(X), (X[:, 0] > 0.1).astype(int))
        assert model.coef_[0, 1] == 0
        assert model.certificate_.met

    def test_copies_of_a_column(self, form, solver):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((60, 2))
        y = (x[:, 0] + rng.logistic(size=60) > 0).astype(int)
        once = sx.LogisticRegression(1.0, l1_ratio=1.0, solver=solver).fit(form(x), y)
        twice = sx.LogisticRegression(1.0, l1_ratio=1.0, solver=solver).fit(form(np.hstack([x, x])), y)
        assert twice.certificate_.met
        assert twice.certificate_.objective == pytest.approx(once.certificate_.objective, abs=1e-8)

    @pytest.mark.parametrize("scale", [1e100, 1e-100])
    def test_a_column_of_any_scale(self, form, solver, scale):
        """Near 1e100 a penalty in raw units is none, near 1e−100 it leaves no weight."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 3))
        y = (X @ [1.0, -1.0, 1.0] + rng.logistic(size=60) > 0).astype(int)
        factors = [1.0, 1.0, 0.0 if scale > 1 else 1e100]
        plain = sx.LogisticRegression(1.0, l1_ratio=1.0, penalty_factors=factors, tol=1e-12).fit(X, y)
        model = sx.LogisticRegression(1.0, l1_ratio=1.0, solver=solver, tol=1e-12).fit(form(X * [1.0, 1.0, scale]), y)
        np.testing.assert_allclose(model.coef_ * [1.0, 1.0, scale], plain.coef_, atol=1e-5)
        assert model.certificate_.met

    def test_columns_far_from_zero(self, form, solver):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((60, 3))
        y = (X @ [1.0, -1.0, 1.0] + rng.logistic(size=60) > 0).astype(int)
        near = sx.LogisticRegression(1.0, l1_ratio=1.0, solver=solver).fit(form(X), y)
        far = sx.LogisticRegression(1.0, l1_ratio=1.0, solver=solver).fit(form(X + np.array([0.0, 1e6, -1e6])), y)
        np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-4)
        assert far.certificate_.objective == pytest.approx(near.certificate_.objective, abs=2e-8)

    def test_rows_of_four_byte_numbers(self, form, solver):
        drawn = problems.draw(4, K=3, n=50)
        X = drawn.X.astype(np.float32)
        short, long = (
            sx.LogisticRegression(0.5, l1_ratio=0.9, solver=solver).fit(form(rows), drawn.codes)
            for rows in (X, X.astype(np.float64))
        )
        np.testing.assert_allclose(short.coef_, long.coef_, atol=1e-5)
        assert short.certificate_.met


@pytest.mark.parametrize("loss", ["probit", "cloglog", "squared-sigmoid"])
def test_other_losses(loss):
    """No bound is known for them; the subgradient is zero at a minimum all the same."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 4))
    y = (X[:, 0] + rng.standard_normal(100) > 0).astype(int)
    model = sx.LogisticRegression(0.1, l1_ratio=1.0, loss=loss).fit(X, y)
    assert model.certificate_.met
    assert model.certificate_.gradient_norm <= 1e-6
    assert np.any(model.coef_ == 0)
    assert np.any(model.coef_ != 0)


def test_without_a_penalty_there_is_nothing_absolute():
    drawn = problems.draw(7, K=2, C=np.inf, n=60)
    model = sx.LogisticRegression(np.inf, l1_ratio=1.0).fit(drawn.X, drawn.codes)
    assert model.certificate_.solver == "newton"


def test_a_solver_of_smooth_penalties_is_refused():
    with pytest.raises(ParameterError, match="l1_ratio=0"):
        sx.LogisticRegression(l1_ratio=0.5, solver="newton").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match="first"):
        Proximal(first=0)


def test_max_iter_is_said():
    problem = _wide()
    model = sx.LogisticRegression(2.0, l1_ratio=1.0, max_iter=1, tol=1e-14, solver=Proximal(first=8))
    with pytest.warns(NotConvergedWarning, match="max_iter=1"):
        model.fit(problem.X, problem.codes)


def test_the_quadratic_model_against_all_sign_patterns():
    """Three coordinates have 27 patterns of signs; on each the minimum is a linear system."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        root = rng.standard_normal((3, 3)) * np.exp(rng.normal(0, 1, 3))
        H, g, w = root.T @ root + 1e-3 * np.eye(3), 3 * rng.standard_normal(3), rng.standard_normal(3)
        a = rng.uniform(0, 3, 3) * (rng.random(3) < 0.8)

        def value(u, H=H, g=g, w=w, a=a):
            return g @ (u - w) + 0.5 * (u - w) @ H @ (u - w) + a @ np.abs(u)

        best = np.inf
        for signs in product((-1.0, 0.0, 1.0), repeat=3):
            face = np.flatnonzero(np.array(signs))
            u = np.zeros(3)
            rest = g + H @ (u - w) + a * signs
            u[face] = -np.linalg.solve(H[np.ix_(face, face)], rest[face])
            best = min(best, value(u))
        found = minimise(H, g, w, a)
        assert value(found) <= best + 1e-10 * (1 + abs(best))


# ----------------------------------------------------------------------------- the model of a step, and its work


def zigzag(seed):
    """A table on which sweeps and steps on a face undid each other: few rows, units from a millionth to a million."""
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(8, 40)), int(rng.integers(2, 8)), int(rng.integers(2, 5))
    X = rng.standard_normal((n, d))[rng.integers(0, n, n)]
    y = np.argmax(X @ rng.standard_normal((d, K)) + rng.choice([0.0, 1.0]) * rng.gumbel(size=(n, K)), axis=1)
    y[:K] = np.arange(K)
    return X * 10.0 ** rng.integers(-6, 7, size=d), np.unique(y, return_inverse=True)[1]


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("solver", [Proximal(), Proximal(first=1024)])
@pytest.mark.parametrize("seed", range(12))
def test_a_fit_of_few_rows_ends_after_few_iterations(seed, solver):
    """Where it ends short of the tolerance it says why, and does not run to max_iter."""
    X, y = zigzag(seed)
    for l1_ratio, C in ((0.5, 1.0), (1.0, 1.0), (0.5, 1e6), (1.0, 1e6)):
        model = sx.LogisticRegression(C, l1_ratio=l1_ratio, solver=solver, fit_intercept=bool(seed % 2)).fit(X, y)
        assert model.certificate_.code in ("optimal", "rounding")
        assert model.n_iter_ <= 150
        assert model.certificate_.passes <= 600


def test_a_model_with_copies_of_columns_and_a_free_shift_is_minimised():
    """Where H is singular, steps go along what has no curvature as far as the kinks are."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((20, 4))
    A = np.column_stack([A, A[:, 0]])
    H, g, a = A.T @ A, rng.standard_normal(5) * 10, np.ones(5)
    g[4] = g[0]
    for w in (np.zeros(5), rng.standard_normal(5)):
        u = minimise(H, g, w, a)
        slope = shortest(u, g + H @ (u - w), a)
        assert np.max(np.abs(slope)) <= 1e-12 * np.max(np.abs(g))


def test_weights_that_are_not_free_stay():
    H, g = np.eye(3), np.array([-3.0, -3.0, -3.0])
    u = minimise(H, g, np.ones(3), np.zeros(3), free=np.array([True, False, True]))
    assert u.tolist() == [4.0, 1.0, 4.0]
