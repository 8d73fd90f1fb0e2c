"""Gradient and stochastic descent exactly as the lectures have them (docs/tour.md, R5, R6)."""

from itertools import pairwise

import numpy as np
import pytest

import separatrix as sx
from separatrix import LogisticRegression
from separatrix.core.base.errors import NotConvergedWarning, ParameterError
from separatrix.core.gap_bounds import largest_curvature
from separatrix.core.rows.protocol import Order
from separatrix.core.rows.sampling import chosen_rows
from separatrix.core.solvers.driver import run, states
from separatrix.core.solvers.gradient_descent import SCHEDULES, GradientDescent, StochasticDescent, row_eta
from separatrix.core.solvers.registry import SOLVERS
from separatrix.core.solvers.stopping import SmallGradient, Stopping

from ... import problems


def _take(solver, objective, count, budget=None):
    steps = states(solver, objective, np.zeros(objective.shape), budget)
    return [state for state, _ in zip(steps, range(count), strict=False)]


@pytest.fixture
def objective():
    drawn = problems.draw(7, K=2, C=np.inf, n=50)
    return problems.Problem(drawn.X, drawn.codes, 2, np.ones(50), np.inf, drawn.factors, True).objective(standard=False)


def test_fixed_step_is_minus_eta_times_the_gradient(objective):
    first, second = _take(GradientDescent(eta=0.05), objective, 2)
    np.testing.assert_array_equal(second.W, -0.05 * first.at.gradient)


def test_a_step_in_proportion_to_the_gradient_is_the_fixed_step(objective):
    fixed = _take(GradientDescent(eta=0.01), objective, 30)[-1].W
    proportional = _take(GradientDescent(eta=0.01, step_rule="proportional"), objective, 30)[-1].W
    np.testing.assert_allclose(fixed, proportional, rtol=1e-10)


def test_normalised_steps_all_have_the_length_eta(objective):
    trail = _take(GradientDescent(eta=0.01, step_rule="normalised"), objective, 20)
    lengths = [np.linalg.norm(b.W - a.W) for a, b in pairwise(trail)]
    np.testing.assert_allclose(lengths, 0.01, rtol=1e-12)


def test_eta_too_small_just_right_and_too_large(objective):
    safe = 2 / largest_curvature(objective)
    values = {share: _take(GradientDescent(eta=share * safe), objective, 60)[-1].at.value for share in (0.001, 0.5)}
    assert values[0.5] < values[0.001]
    trail = [state.at.value for state in _take(GradientDescent(eta=0.5 * safe), objective, 200)]
    assert np.all(np.diff(trail) <= 1e-12), "below 2/L every step goes down"


def test_a_step_that_diverges_is_diagnosed_and_never_returned_as_nan():
    rng = np.random.default_rng(0)
    X, y = 100 * rng.standard_normal((60, 2)), rng.integers(0, 2, 60)
    model = sx.LogisticRegression(C=0.1, solver=GradientDescent(eta=1e6))
    with pytest.warns(NotConvergedWarning, match=r"eta=1e\+06 is too large .* descent is certain below"):
        model.fit(X, y)
    assert model.certificate_.code == "diverged"
    assert np.all(np.isfinite(model.coef_))
    assert model.certificate_.objective <= np.log(2) + 1e-12


def test_a_single_row_step_adds_half_eta_t_x(objective):  # exact example "an SGD step adds η t x/2"
    solver = StochasticDescent(eta=0.2)
    state = _take(solver, objective, 2, budget=1)[1]
    block = chosen_rows(objective.rows, solver.order(50, 0)[:1])
    expected = 0.2 * block.t[0] * np.concatenate([[1.0], block.X[0]]) / 2
    np.testing.assert_allclose(state.W[0], expected, rtol=1e-14)


@pytest.mark.parametrize("size", [1, 5])
def test_steps_by_batches_have_the_gradient_of_the_weighted_objective_on_average(size):
    drawn = problems.draw(7, K=2, C=1.0, n=50)
    weight = np.random.default_rng(7).integers(0, 4, 50).astype(float)
    objective = problems.Problem(drawn.X, drawn.codes, 2, weight, 1.0, drawn.factors, True).objective(standard=False)
    W = np.full(objective.shape, 0.3)
    each = [objective.block_value_gradient(W, block).gradient for block in objective.rows.blocks(Order(size))]
    np.testing.assert_allclose(np.mean(each, axis=0), objective.value_gradient(W).gradient, rtol=1e-12, atol=1e-14)


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
def test_stochastic_descent_by_single_rows_minimises_the_weighted_objective():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    y = (X[:, 0] + rng.standard_normal(100) > 0).astype(int)
    solver = StochasticDescent(eta=0.02, patience=100)
    model = sx.LogisticRegression(solver=solver, class_weight={0: 1.0, 1: 9.0}, max_iter=60).fit(X, y)
    best = sx.LogisticRegression(class_weight={0: 1.0, 1: 9.0}).fit(X, y)
    assert model.certificate_.objective < 1.02 * best.certificate_.objective


def test_a_budget_inside_the_epoch_changes_nothing_but_where_it_pauses(objective):
    solver = StochasticDescent(eta=0.01, batch_size=4, seed=3)
    whole = _take(solver, objective, 3)[-1]
    paused = next(s for s in states(solver, objective, np.zeros(objective.shape), 8) if s.memory.epoch == 2)
    np.testing.assert_array_equal(whole.W, paused.W)
    assert (whole.memory.idle, whole.halt) == (paused.memory.idle, paused.halt)
    np.testing.assert_array_equal(whole.memory.best_W, paused.memory.best_W)


def test_seed_and_order_decide_the_walk(objective):
    one, same, other = (_take(StochasticDescent(eta=0.05, seed=seed), objective, 3)[-1].W for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_patience_runs_out_and_the_last_or_on_request_the_best_weights_are_returned(objective):
    ends = {}
    for best in (False, True):
        solver = StochasticDescent(eta=0.05, batch_size=8, patience=3, best=best)
        ends[best] = run(solver, objective, np.zeros(objective.shape), Stopping(tol=1e-8))
    values = [record.value for record in ends[False].trace]
    assert [record.value for record in ends[True].trace] == values
    assert np.argmin(values) == len(values) - 4
    assert ends[False].state.at.value == values[-1]
    assert ends[True].state.at.value == min(values)
    said = "patience ran out: 3 epochs without a lower error; this method approaches the minimum, but does not reach"
    assert ends[False].status.code == "patience"
    assert ends[False].status.sentence.startswith(said)


def lectures_loop(X, t, eta, batch_size, epochs, C, orders):
    """Lecture 004's pseudo code, with lecture 002's update, for weights (b, w) of which w is penalised."""
    X, w, ridge = np.column_stack([np.ones(len(X)), X]), np.zeros(X.shape[1] + 1), 1 / (C * len(X))
    trail = [w]
    for k in range(epochs):
        for start in range(0, len(X), batch_size):
            g = np.zeros(len(w))
            batch = orders[k][start : start + batch_size]
            for i in batch:
                g -= t[i] * X[i] / (1 + np.exp(t[i] * (w @ X[i]))) / len(batch)
            w = w - eta[k] * (g + ridge * np.r_[0.0, w[1:]])
            trail.append(w)
    return np.array(trail)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("batch_size", [1, 7])
def test_every_update_is_that_of_the_lectures_loop(batch_size, schedule):
    drawn = problems.draw(7, K=2, C=2.0, n=30)
    X, t = drawn.X / np.abs(drawn.X).max(axis=0), 2.0 * drawn.codes - 1.0
    even = np.ones(X.shape[1])
    objective = problems.Problem(X, drawn.codes, 2, np.ones(30), 2.0, even, True).objective(standard=False)
    solver = StochasticDescent(0.7, batch_size, schedule, seed=5)
    orders = [solver.order(30, k) for k in range(3)]
    assert all(sorted(order) == list(range(30)) for order in orders)
    eta = {"constant": [0.7, 0.7, 0.7], "inverse": 0.7 / np.arange(1, 4), "inverse-root": 0.7 / np.arange(1, 4) ** 0.5}
    theirs = lectures_loop(X, t, eta[schedule], batch_size, 3, 2.0, orders)
    ours = [state.W[0] for state in _take(solver, objective, len(theirs), budget=1)]
    np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)


def test_a_learning_rate_that_is_too_large_is_said_and_the_last_weights_are_kept():
    rng = np.random.default_rng(0)
    X, y = 100 * rng.standard_normal((60, 2)), rng.integers(0, 2, 60)
    model = LogisticRegression(solver=StochasticDescent(eta=1e3))
    with pytest.warns(NotConvergedWarning, match=r"eta=1e\+03 is too large .*; by default it is 2\.18e-05"):
        model.fit(X, y)
    assert model.certificate_.code == "diverged"
    assert model.certificate_.objective == model.trace_[-1].value > 10 * np.log(2)


def test_the_certificate_names_what_ran_and_the_warning_what_to_use_instead(objective):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2))
    y = (X[:, 0] + rng.logistic(size=50) > 0).astype(int)
    model = LogisticRegression(solver=StochasticDescent(batch_size=5, schedule="inverse"), max_iter=7, random_state=3)
    with pytest.warns(
        NotConvergedWarning, match=r"stopped at max_iter=7; this method approaches .*; use solver='auto'"
    ):
        model.fit(X, y)
    certificate = model.certificate_
    eta = 0.1 / (np.mean(1 + (X**2).sum(axis=1)) / 4 + 1 / 50)
    assert certificate.why == (
        f"sgd: chosen by the user, with eta={eta:.4g}, batch_size=5, schedule='inverse', patience=10, best=False, "
        "seed=3; 7 epochs"
    )
    best = LogisticRegression().fit(X, y).certificate_.objective
    assert 0 < certificate.objective - best <= certificate.bound
    assert certificate.verify(X, y)


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
def test_it_starts_at_zero_or_at_random_by_the_seed():
    X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 2
    zero, one, same, other = (
        sx.steps(LogisticRegression(solver="sgd", start=start, random_state=seed, max_iter=2), X, y)[:3]
        for start, seed in (("zero", 1), ("random", 1), ("random", 1), ("random", 2))
    )
    assert not zero[0].w.any()
    assert one[0].w.all()
    assert [step.row for step in one] == [step.row for step in same] == [step.row for step in zero]
    np.testing.assert_array_equal(one[2].w, same[2].w)
    assert not np.array_equal(one[0].w, other[0].w)
    assert [step.row for step in one] != [step.row for step in other]


def test_the_default_learning_rate_lowers_the_error(objective):
    first, *_, last = _take(StochasticDescent(), objective, 3)
    assert first.memory.eta == row_eta(objective)
    assert last.at.value < first.at.value


def test_the_small_gradient_rule_is_named(objective):
    outcome = run(GradientDescent(), objective, np.zeros(objective.shape), Stopping([SmallGradient(1e-2)]))
    assert outcome.status.code == "gradient"
    assert outcome.trace[-1].gradient_norm <= 1e-2 < outcome.trace[-2].gradient_norm


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GradientDescent(eta=-1), "eta"),
        (lambda: GradientDescent(step_rule="bold"), "step_rule.*bold.*fixed"),
        (lambda: StochasticDescent(batch_size=0), "batch_size"),
        (lambda: StochasticDescent(patience=0), "patience"),
        (lambda: StochasticDescent(schedule="lots"), "schedule.*lots"),
        (lambda: LogisticRegression(solver="minibatch").fit([[0.0], [1.0]], [0, 1]), "choose one of auto, .*sgd"),
        (lambda: sx.solvers.LBFGS(pairs=0), "pairs"),
    ],
)
def test_settings_that_cannot_be_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_newton_and_lbfgs_need_fewer_passes(objective):  # R7
    passes = {}
    for name in ("newton", "lbfgs", "gradient-descent"):
        problem = objective if name == "gradient-descent" else problems.draw(7, K=2, C=np.inf, n=50).objective()
        before = problem.passes
        run(SOLVERS[name], problem, np.zeros(problem.shape), Stopping(tol=1e-8, max_iter=20_000))
        passes[name] = problem.passes - before
    assert passes["newton"] < passes["gradient-descent"] / 3
    assert passes["lbfgs"] < passes["gradient-descent"] / 3
