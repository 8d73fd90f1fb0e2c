"""The nearest point of two hulls, exactly (docs/tour.md, P10)."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array, eye_array, hstack

import separatrix as sx
from separatrix.core.certificate import Bound
from separatrix.core.objective_sums import Evaluation
from separatrix.core.proofs.linear_programs import least_violation
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.solvers.convex_hulls import NearestPoint, multipliers, nearly_nearest
from separatrix.core.solvers.driver import run, states
from separatrix.core.solvers.separation_problem import HullMemory, build_separation_objective
from separatrix.core.solvers.separation_stopping import (
    LargestMargin,
    OutOfSteps,
    ProvenInseparable,
)
from separatrix.core.solvers.state import Halt, State
from separatrix.core.solvers.stopping import Stopping


def _separable(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    z = X @ rng.standard_normal(d) + 0.2
    z /= np.abs(z).mean()
    keep = np.abs(z) > 0.1
    return X[keep], np.where(z[keep] > 0, 1.0, -1.0)


def _solve(X, t, fit_intercept=True, frame=None, head_start=True):
    problem, proof = build_separation_objective(memory_rows(X, t, frame=frame), fit_intercept), ProvenInseparable()
    rules = [LargestMargin(proof, relative=1e-11), OutOfSteps(5000, proof)]
    return run(NearestPoint(head_start), problem, np.zeros(problem.shape), Stopping(rules))


def _slow(X, t, fit_intercept):
    """minimise ½‖w‖² with t (w·x + b) ≥ 1 by sequential quadratic programming, from a feasible start."""
    d = X.shape[1]
    ones = np.ones((len(X), 1)) if fit_intercept else np.zeros((len(X), 1))
    A = t[:, None] * np.hstack([ones, X])
    start = _solve(X, t, fit_intercept).state.W[0]
    start = start / (t * (X @ start[1:] + start[0])).min() * 1.5 + 0.01
    found = minimize(
        lambda v: 0.5 * v[1:] @ v[1:],
        start,
        jac=lambda v: np.concatenate([[0.0], v[1:]]),
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1, "jac": lambda v: A},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return 1 / np.linalg.norm(found.x[1 : d + 1])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_against_a_slow_reference(d, fit_intercept):
    for seed in range(4):
        X, t = _separable(seed, 40, d)
        if not fit_intercept:
            X = (np.abs(X) + 0.2) * t[:, None]  # every t x in one orthant
        outcome = _solve(X, t, fit_intercept)
        assert outcome.status.code == "optimal"
        assert outcome.state.memory.lower == pytest.approx(_slow(X, t, fit_intercept), rel=1e-6)


@pytest.mark.parametrize("head_start", [True, False])
@pytest.mark.parametrize(("n", "d"), [(30, 1), (200, 2), (500, 10), (2000, 20)])
def test_the_conditions_of_karush_kuhn_and_tucker(n, d, head_start):
    X, t = _separable(n, n, d)
    state = _solve(X, t, head_start=head_start).state
    rows, weights = multipliers(state)
    w = state.W[0, 1:]
    np.testing.assert_allclose((weights * t[rows]) @ X[rows], w, atol=1e-9)  # w is a combination of support rows
    assert np.all(weights > 0)
    assert weights @ t[rows] == pytest.approx(0.0, abs=1e-12)
    m = t * (X @ w + state.W[0, 0])
    np.testing.assert_allclose(m[rows], m.min(), rtol=1e-8)  # and these are the nearest rows
    assert len(rows) <= d + 2
    assert state.memory.upper - state.memory.lower <= 1e-10 * state.memory.upper


def test_every_step_shortens_the_vector_and_the_bounds_hold():
    X, t = _separable(5, 300, 6)
    best = _solve(X, t).state.memory.lower
    problem = build_separation_objective(memory_rows(X, t))
    trail = []
    for state in states(NearestPoint(head_start=False), problem, np.zeros(problem.shape)):
        if state.halt is not None:
            break
        trail.append(state)
    for before, after in pairwise(trail):
        assert after.at.value < before.at.value
    for state in trail:
        assert state.memory.lower <= best * (1 + 1e-12)
        assert state.memory.upper >= best * (1 - 1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(3000, 8), (60, 100)])
def test_a_head_start_leads_to_the_same_margin_in_few_steps(n, d, fit_intercept):
    X, t = _separable(3, n, d)
    X = X if fit_intercept else (np.abs(X) + 0.2) * t[:, None]
    ahead, plain = (_solve(X, t, fit_intercept, head_start=head) for head in (True, False))
    assert ahead.status.code == plain.status.code == "optimal"
    assert ahead.state.memory.lower == pytest.approx(plain.state.memory.lower, rel=1e-10)
    assert ahead.state.iteration <= max(plain.state.iteration / 2, 2)
    np.testing.assert_array_equal(multipliers(ahead.state)[0], multipliers(plain.state)[0])


def test_many_rows_join_the_head_start_a_few_at_a_time():
    X, t = _separable(1, 5000, 3)
    problem = build_separation_objective(memory_rows(X, t))
    near = nearly_nearest(problem, np.array([1.0, 0.0, 0.0]))
    assert near.rounds == problem.passes - 1 > 1
    p = (near.weights * t[near.rows]) @ X[near.rows]
    best = _solve(X, t, head_start=False).state.memory.lower
    assert best <= 0.5 * np.linalg.norm(p) <= best * (1 + 1e-5)
    for sign in (-1, 1):
        assert near.weights[t[near.rows] == sign].sum() == pytest.approx(1.0)


def test_hulls_that_meet_get_no_head_start():
    X = np.array([[0.0], [1.0], [0.4], [0.6]])
    assert (
        nearly_nearest(build_separation_objective(memory_rows(X, np.array([-1.0, -1.0, 1.0, 1.0]))), np.array([1.0]))
        is None
    )


def test_a_frame_of_one_scale_gives_distances_in_raw_units():
    X, t = _separable(2, 60, 3)
    plain = _solve(X, t).state.memory.lower
    framed = _solve(X, t, frame=Frame(X.mean(axis=0), np.full(3, 0.25))).state.memory.lower
    assert framed == pytest.approx(plain, rel=1e-10)


def test_resumes_with_the_same_bits_and_sparse_is_one_path():
    X, t = _separable(7, 200, 5)
    problem = build_separation_objective(memory_rows(X, t))
    solver = NearestPoint(head_start=False)
    through = [s for s, _ in zip(states(solver, problem, np.zeros(problem.shape)), range(12), strict=False)]
    half = pickle.loads(pickle.dumps(through[3]))
    resumed = [s for s, _ in zip(states(solver, problem, half), range(len(through) - 3), strict=False)]
    np.testing.assert_array_equal(resumed[-1].W, through[-1].W)
    sparse = _solve(csr_array(X), t)
    assert sparse.state.memory.lower == pytest.approx(_solve(X, t).state.memory.lower, rel=1e-10)


def test_hulls_that_meet_are_proven_to():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    outcome = _solve(X, rng.choice([-1.0, 1.0], 200))
    assert outcome.status.code == "inseparable"
    assert "rows prove it" in outcome.status.sentence


def test_rounding_far_from_the_optimum_gives_both_bounds():
    memory = HullMemory(lower=1.0, upper=1.5, longest=1.0)
    rows = memory_rows(np.array([[0.0, 0.0], [2.0, 1e-12]]), np.array([-1.0, 1.0]))
    problem = build_separation_objective(rows, names=["length", "dust"])
    state = State(np.zeros((1, 3)), Evaluation(1.5, np.zeros((1, 3))), 3, memory, halt=Halt.STALLED)
    status = LargestMargin(ProvenInseparable())(problem, state, Bound(None, "none", ""), ())
    assert status is not None
    assert not status.met
    assert "a margin of 1, where no hyperplane has more than 1.5" in status.sentence
    assert "column 'length' differ by about 1e+00, those of column 'dust' by about 5e-13" in status.sentence
    assert "standardise the columns first" in status.sentence


def test_a_margin_above_its_ceiling_by_rounding_is_not_a_negative_excess():
    memory = HullMemory(lower=0.5, upper=0.5 - 1e-16, longest=1.0)
    state = State(np.zeros((1, 2)), Evaluation(0.5, np.zeros((1, 2))), 3, memory)
    problem = build_separation_objective(memory_rows(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0])))
    rule = LargestMargin(ProvenInseparable(), relative=1e-9)
    assert "by more than 0.0e+00" in rule(problem, state, Bound(None, "none", ""), ()).sentence


def test_overlapping_rows_are_proven_so_before_the_hulls_are_searched(monkeypatch):
    """The interior method factors hundreds of rows for nothing where a few rows prove that the hulls meet."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2))
    y = X[:, 0] + rng.standard_normal(2000) > 0
    monkeypatch.setattr("separatrix.core.solvers.convex_hulls.nearly_nearest", None)
    with pytest.warns(sx.errors.NotConvergedWarning):
        model = sx.MaxMarginClassifier().fit(X, y)
    assert model.certificate_.code == "inseparable"
    assert model.certificate_.verify(X, y)
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("n", [200, 5000])
def test_the_least_violation_is_that_of_the_plain_program(n):
    """Its dual has a basis of as many rows as there are columns; the minimum is the same."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3)) * [1.0, 1e4, 1e-3]
    t = np.where(X[:, 0] + rng.standard_normal(n) > 0.7, 1.0, -1.0)
    A = t[:, None] * np.column_stack([np.ones(n), X])
    share = np.where(t > 0, 1 / np.sum(t > 0), 1 / np.sum(t < 0))
    v = least_violation(A, t > 0)
    plain = linprog(
        np.concatenate([np.zeros(4), share]),
        A_ub=hstack([csr_array(-A), -eye_array(n)], format="csr"),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * 4 + [(0, None)] * n,
    )
    assert share @ np.maximum(0, 1 - A @ v) == pytest.approx(plain.fun, rel=1e-6)
