"""The perceptron's updates exactly as the lectures have them (docs/tour.md, P1–P5, P8, P11)."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import threads
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.hold_out import row_hashes
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.solvers.driver import run, states
from separatrix.core.solvers.perceptron_updates import UPDATES, BatchUpdates, OnlineUpdates, WorstUpdates
from separatrix.core.solvers.separation_problem import build_separation_objective, survey
from separatrix.core.solvers.separation_stopping import AllCorrect, OutOfSteps, ProvenInseparable
from separatrix.core.solvers.stopping import Stopping

XOR = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
T = np.array([-1.0, -1.0, 1.0, 1.0])


def _take(solver, problem, count, start=None, budget=None):
    start = np.zeros(problem.shape) if start is None else start
    return [state for state, _ in zip(states(solver, problem, start, budget), range(count), strict=False)]


def _random(seed, n=40, d=4, gap=None):
    """Rows and ±1; with a gap, separable."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    z = X @ rng.standard_normal(d) + 0.3
    if gap is not None:
        X, z = X[np.abs(z) > gap], z[np.abs(z) > gap]
    else:
        z = z + rng.standard_normal(n)
    t = np.where(z > 0, 1.0, -1.0)
    t[0], t[1] = (1.0, -1.0) if gap is None else (t[0], t[1])
    return X, t


def _homogeneous(X):
    return np.column_stack([np.ones(len(X)), X])


def test_xor_cycles():  # exact example
    trail = _take(OnlineUpdates(by_update=True), build_separation_objective(memory_rows(XOR, T)), 9)
    cycle = [[-1, 1, 1], [-2, 0, 0], [-1, -1, 1], [0, 0, 0]]
    assert [state.W[0].tolist() for state in trail[1:]] == cycle + cycle
    assert trail[-1].memory.mistakes == 8


def test_the_cost_and_its_gradient():  # P1
    X, t = _random(0)
    problem = build_separation_objective(memory_rows(X, t))
    W = np.random.default_rng(1).standard_normal((1, 5))
    m = t * (_homogeneous(X) @ W[0])
    found = survey(problem, W, "mistake")
    assert found.cost == pytest.approx(np.maximum(0, -m).sum())
    assert found.cost == pytest.approx(-m[m < 0].sum())
    np.testing.assert_allclose(found.pull, (t[m <= 0][:, None] * _homogeneous(X)[m <= 0]).sum(axis=0))
    at = problem.value_gradient(W)
    state = BatchUpdates().init(problem, W)
    assert state.at.value == pytest.approx(at.value)
    np.testing.assert_allclose(state.at.gradient, at.gradient, rtol=1e-12)


def test_the_cost_is_convex_and_piecewise_linear():  # P1
    X, t = _random(3)
    problem = build_separation_objective(memory_rows(X, t))
    rng = np.random.default_rng(0)
    for _ in range(50):
        U, V = rng.standard_normal((2, 1, 5))
        a, b, c = (survey(problem, W, "mistake").cost for W in (U, (U + V) / 2, V))
        assert b <= (a + c) / 2 + 1e-9
        near = survey(problem, U + 1e-9 * V, "mistake")
        here = survey(problem, U, "mistake")
        assert near.cost - here.cost == pytest.approx(-1e-9 * float(here.pull @ V[0]), abs=1e-12)


@pytest.mark.parametrize("zero", ["mistake", "positive"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_batch_and_worst_are_the_written_updates(zero, fit_intercept):  # P3, P4
    for seed in range(10):
        X, t = _random(seed)
        problem = build_separation_objective(memory_rows(X, t), fit_intercept)
        rows = _homogeneous(X) * ([1.0] * (1 + X.shape[1]) if fit_intercept else [0.0] + [1.0] * X.shape[1])
        w, v = np.zeros(5), np.zeros(5)
        batch = _take(BatchUpdates(0.5, zero), problem, 12)
        worst = _take(WorstUpdates(0.5, zero), problem, 12)
        for k in range(12):
            np.testing.assert_allclose(batch[k].W[0], w, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(worst[k].W[0], v, rtol=1e-9, atol=1e-12)
            z = rows @ w
            wrong = t * z <= 0 if zero == "mistake" else np.where(z >= 0, 1, -1) != t
            w = w + 0.5 * (t[wrong][:, None] * rows[wrong]).sum(axis=0)
            z = rows @ v
            m = t * z
            wrong = m <= 0 if zero == "mistake" else np.where(z >= 0, 1, -1) != t
            if wrong.any():
                i = int(np.argmin(np.where(wrong, m, np.inf)))
                v = v + 0.5 * t[i] * rows[i]


def test_an_update_lowers_the_cost_of_its_row_by_eta_times_its_squared_length():  # P11
    X, t = _random(5)
    problem, eta = build_separation_objective(memory_rows(X, t)), 0.25
    trail = _take(OnlineUpdates(eta, by_update=True), problem, 60)
    rows, rises = _homogeneous(X), 0
    for before, after in pairwise(trail):
        if after.memory.mistakes == before.memory.mistakes:
            continue
        i = (after.memory.position - 1) % len(t)
        lowered = -t[i] * rows[i] @ before.W[0] + t[i] * rows[i] @ after.W[0]
        assert lowered == pytest.approx(eta * rows[i] @ rows[i], rel=1e-12)
        rises += after.at.value > before.at.value
    assert rises > 0, "the total cost may rise"


def test_a_budget_pauses_inside_the_epoch_and_changes_nothing_else():
    X, t = _random(2)
    problem = build_separation_objective(memory_rows(X, t))
    solver = OnlineUpdates(shuffle=True, seed=4)
    whole = _take(solver, problem, 4)[-1]
    pieces = next(s for s in states(solver, problem, np.zeros(problem.shape), 7) if s.memory.epoch == 3)
    np.testing.assert_array_equal(whole.W, pieces.W)
    assert whole.memory.mistakes == pieces.memory.mistakes
    one = _take(solver, problem, 2, budget=1)[1]
    assert one.memory.position == 1


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("gap", [None, 0.2])
def test_steps_without_surveys_walk_the_same_way(gap, shuffle, monkeypatch):
    monkeypatch.setattr("separatrix.core.solvers.perceptron_updates.MOST_SURVEYED_ENTRIES", 0)
    for seed in range(8):
        X, t = _random(seed, n=80, gap=gap)
        problem, light = build_separation_objective(memory_rows(X, t)), build_separation_objective(memory_rows(X, t))
        whole = OnlineUpdates(shuffle=shuffle)
        spare = OnlineUpdates(shuffle=shuffle, survey_from=30)
        rules = [AllCorrect(), OutOfSteps(30, ProvenInseparable())]
        a, b = (run(solver, p, np.zeros((1, 5)), Stopping(rules)) for solver, p in ((whole, problem), (spare, light)))
        np.testing.assert_array_equal(a.state.W, b.state.W)
        assert a.status == b.status
        for field in ("mistakes", "errors"):
            assert getattr(a.state.memory, field) == getattr(b.state.memory, field)
        assert a.state.memory.survey.smallest == b.state.memory.survey.smallest
        assert a.state.at.value == b.state.at.value
        # An epoch that only confirms the last weights is recorded again under the same number.
        assert [record.iteration for record in a.trace] == sorted({record.iteration for record in b.trace})
        assert light.passes <= problem.passes


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_small_tables_are_surveyed_after_every_epoch_by_the_same_sums(form):
    for seed in range(6):
        X, t = _random(seed, n=60)
        rules = [AllCorrect(), OutOfSteps(12, ProvenInseparable())]
        whole, cheap = (
            run(
                OnlineUpdates(survey_from=at),
                build_separation_objective(memory_rows(form(X), t)),
                np.zeros((1, 5)),
                Stopping(rules),
            )
            for at in (0, 100)
        )
        np.testing.assert_array_equal(whole.state.W, cheap.state.W)
        for one, other in zip(whole.trace, cheap.trace, strict=True):
            assert other.value == pytest.approx(one.value, rel=1e-12, abs=1e-14)
            assert other.gradient_norm == pytest.approx(one.gradient_norm, rel=1e-12)
            assert other.met == one.met


def test_large_tables_hold_no_cost_that_was_not_computed(monkeypatch):
    monkeypatch.setattr("separatrix.core.solvers.perceptron_updates.MOST_SURVEYED_ENTRIES", 0)
    X, t = _random(0)
    problem = build_separation_objective(memory_rows(X, t))
    outcome = run(
        OnlineUpdates(survey_from=9), problem, np.zeros((1, 5)), Stopping([OutOfSteps(9, ProvenInseparable())])
    )
    values = [record.value for record in outcome.trace]
    assert np.isnan(values[1:-1]).all()
    assert values[-1] == survey(problem, outcome.state.W, "mistake").cost / len(t)
    assert all(record.met > 0 for record in outcome.trace[1:])


def test_what_an_epoch_met_and_what_its_weights_cost():  # P1, P2
    X, t = _random(4)
    problem = build_separation_objective(memory_rows(X, t))
    trail = _take(OnlineUpdates(), problem, 5)
    rows, w = _homogeneous(X), np.zeros(5)
    for state in trail[1:]:
        met = 0.0
        for x, sign in zip(rows, t, strict=True):
            m = sign * x @ w
            met += max(0.0, -m)
            w = w + sign * x if m <= 0 else w
        assert state.met == pytest.approx(met / len(t), rel=1e-12)
        assert state.at.value == pytest.approx(np.maximum(0, -t * (rows @ w)).mean(), rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("update", UPDATES)
def test_the_mean_is_that_of_all_weights_passed_through(update, form):
    X, t = _random(7)
    s = np.where(t > 0, 2.0, 0.5)
    problem = build_separation_objective(memory_rows(form(X), t, weight=s))
    solver = UPDATES[update](eta=0.5, average=True, weighted=True)
    final = solver.solution(problem, _take(solver, problem, 6)[-1])
    rows, w, total, count = _homogeneous(X), np.zeros(5), np.zeros(5), 0
    for _ in range(5):
        m = t * (rows @ w)
        if update == "online":
            for x, sign, weight in zip(rows, t, s, strict=True):
                w = w + 0.5 * weight * sign * x if sign * x @ w <= 0 else w
                total, count = total + w, count + 1
            continue
        i = int(np.argmin(m))
        batch = ((s * t)[m <= 0][:, None] * rows[m <= 0]).sum(axis=0)
        w = w + 0.5 * (batch if update == "batch" else s[i] * t[i] * rows[i] * (m[i] <= 0))
        total, count = total + w, count + 1
    np.testing.assert_allclose(final.W[0], total / count, rtol=1e-10, atol=1e-12)


def test_a_run_without_surveys_that_a_rule_ends_is_surveyed_at_the_end():
    solver, problem = OnlineUpdates(survey_from=100), build_separation_objective(memory_rows(XOR, T))
    outcome = run(solver, problem, np.zeros((1, 3)), Stopping([AllCorrect(), ProvenInseparable()]))
    assert outcome.status.code == "inseparable"
    assert outcome.state.memory.errors == survey(problem, outcome.state.W, "mistake").errors


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("pocket", [False, True])
def test_a_run_goes_on_from_a_state_with_the_same_bits(update, pocket):
    X, t = _random(6)
    solver = UPDATES[update](eta=0.3, pocket=pocket)
    through = _take(solver, build_separation_objective(memory_rows(X, t)), 9)
    half = pickle.loads(pickle.dumps(through[4]))
    resumed = _take(solver, build_separation_objective(memory_rows(X, t)), 5, start=half)
    np.testing.assert_array_equal(resumed[-1].W, through[-1].W)
    np.testing.assert_array_equal(resumed[-1].memory.best_W, through[-1].memory.best_W)
    assert resumed[-1].memory.mistakes == through[-1].memory.mistakes


@pytest.mark.parametrize("update", UPDATES)
def test_threads_change_no_bit(update):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 6))
    t = np.where(X @ rng.standard_normal(6) + rng.standard_normal(len(X)) > 0, 1.0, -1.0)
    answers = []
    for count in (1, 2, 5):
        with threads(count):
            answers.append(_take(UPDATES[update](), build_separation_objective(memory_rows(X, t)), 4)[-1].W)
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])


@pytest.mark.parametrize("update", UPDATES)
def test_dense_and_sparse_rows_are_one_path(update):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (50, 6)).astype(float) * (rng.random((50, 6)) < 0.5)  # whole numbers: no rounding
    t = rng.choice([-1.0, 1.0], 50)
    dense, sparse = (
        _take(UPDATES[update](), build_separation_objective(memory_rows(R, t)), 8)[-1] for R in (X, csr_array(X))
    )
    np.testing.assert_array_equal(dense.W, sparse.W)
    assert dense.memory.mistakes == sparse.memory.mistakes


def test_the_pocket_keeps_the_best_weights_seen():  # P8
    X, t = _random(8, n=60)
    rows = _homogeneous(X)
    problem = build_separation_objective(memory_rows(X, t))
    seen = [s.W[0] for s in _take(OnlineUpdates(by_update=True), problem, 400)]
    solver = OnlineUpdates(pocket=True)
    state = _take(solver, problem, 6)[-1]
    seen = seen[: state.memory.mistakes + 1]
    fewest = min(int(np.sum(t * (rows @ w) <= 0)) for w in seen)
    answer = solver.solution(problem, state)
    assert state.memory.best_errors == answer.memory.errors == fewest
    assert int(np.sum(t * (rows @ answer.W[0]) <= 0)) == fewest
    assert fewest < state.memory.errors, "the last weights are not the best here"


def test_rules_end_a_run_and_say_why():
    X, t = _random(1, gap=0.3)
    problem, proof = build_separation_objective(memory_rows(X, t)), ProvenInseparable()
    outcome = run(
        OnlineUpdates(), problem, np.zeros(problem.shape), Stopping([AllCorrect(), proof, OutOfSteps(500, proof)])
    )
    assert outcome.status.met
    assert "every row is on its own side" in outcome.status.sentence
    assert np.all(t * (_homogeneous(X) @ outcome.state.W[0]) > 0)
    outcome = run(WorstUpdates(), problem, np.zeros(problem.shape), Stopping([AllCorrect(), OutOfSteps(1, proof)]))
    assert "the rows are separable, so the search ends: raise max_iter" in outcome.status.sentence
    problem = build_separation_objective(memory_rows(XOR, T))
    outcome = run(OnlineUpdates(), problem, np.zeros((1, 3)), Stopping([AllCorrect(), proof]))
    assert outcome.status.code == "inseparable"
    assert outcome.state.iteration == 10


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_some_of_many_rows_prove_that_none_separates_all(form):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 3)), rng.integers(0, 2, 2000)
    proof = ProvenInseparable()
    status = proof.ask(build_separation_objective(memory_rows(form(X), np.where(y == 1, 1.0, -1.0))))
    assert status.code == "inseparable"
    assert proof.verdict.verify(X, y)
    # Twenty rows a column, those of each class whose numbers have the lowest hashes, were enough.
    lowest = [own[np.argsort(row_hashes(0, 2000, 0)[own])[:40]] for own in (np.flatnonzero(y == k) for k in (0, 1))]
    assert np.all(np.isin(proof.verdict.rows, np.concatenate(lowest)))


def test_some_rows_prove_it_though_labels_alternate():
    """Every eighth row would be of one class."""
    X = np.random.default_rng(0).standard_normal((500, 2))
    proof = ProvenInseparable()
    problem = build_separation_objective(memory_rows(X, np.where(np.arange(500) % 2, 1.0, -1.0)))
    assert proof.ask(problem, by_sample=True).code == "inseparable"


def test_where_some_rows_prove_nothing_all_are_asked():
    X = np.repeat(np.arange(2000.0)[:, None], 1, axis=1)
    t = np.where(X[:, 0] > 999.5, 1.0, -1.0)
    t[[1, -2]] *= -1  # two rows on the wrong side, which no even spread of forty finds
    proof = ProvenInseparable()
    assert proof.ask(build_separation_objective(memory_rows(X, t))).code == "inseparable"
    assert proof.verdict.verify(X, t)
    assert {1, 1998} & set(proof.verdict.rows.tolist())


def test_weights_that_overflow_are_never_returned():
    X = np.array([[1e150], [-1e150], [1e149]])
    problem = build_separation_objective(memory_rows(X, np.array([1.0, 1.0, -1.0])))
    proof = ProvenInseparable()
    outcome = run(OnlineUpdates(eta=1e200), problem, np.zeros((1, 2)), Stopping([AllCorrect(), OutOfSteps(20, proof)]))
    assert not outcome.status.met
    assert np.all(np.isfinite(outcome.state.W))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OnlineUpdates(eta=0.0), "eta: got 0.0"),
        (lambda: BatchUpdates(zero="maybe"), "zero: got 'maybe'"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_rows_seen_through_a_frame_are_refused():
    problem = build_separation_objective(memory_rows(XOR, T, frame=Frame(np.ones(2), np.ones(2))))
    with pytest.raises(ParameterError, match="frame"):
        OnlineUpdates().init(problem, np.zeros((1, 3)))
