"""Gradient and stochastic descent exactly as the lectures have them (docs/tour.md, R5, R6)."""

from itertools import pairwise

import numpy as np
import pytest

import separatrix as sx
from separatrix import LogisticRegression
from separatrix.core.base.errors import NotConvergedWarning, ParameterError
from separatrix.core.gap_bounds import largest_curvature
from separatrix.core.rows.protocol import Order
from separatrix.core.solvers.driver import run, states
from separatrix.core.solvers.gradient_descent import GradientDescent, StochasticDescent, VarianceReduced
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
    solver = StochasticDescent(eta=0.2, draw="given")
    state = _take(solver, objective, 2, budget=1)[1]
    block = next(objective.rows.blocks(Order(1)))
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
    solver = StochasticDescent(eta=0.02, draw="shuffled", patience=100)
    model = sx.LogisticRegression(solver=solver, class_weight={0: 1.0, 1: 9.0}, max_iter=60).fit(X, y)
    best = sx.LogisticRegression(class_weight={0: 1.0, 1: 9.0}).fit(X, y)
    assert model.certificate_.objective < 1.02 * best.certificate_.objective


def test_a_budget_inside_the_epoch_changes_nothing_but_where_it_pauses(objective):
    solver = StochasticDescent(eta=0.01, batch_size=4, draw="shuffled", seed=3)
    whole = _take(solver, objective, 2)[-1]
    pieces = next(s for s in states(solver, objective, np.zeros(objective.shape), 8) if s.memory.epoch == 1)
    np.testing.assert_array_equal(whole.W, pieces.W)


def test_seed_and_order_decide_the_walk(objective):
    one, same, other = (_take(StochasticDescent(eta=0.05, seed=seed), objective, 3)[-1].W for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_patience_runs_out_and_the_best_weights_are_kept(objective):
    solver = StochasticDescent(eta=0.5, batch_size=8, draw="shuffled", patience=3)
    outcome = run(solver, objective, np.zeros(objective.shape), Stopping(tol=1e-8))
    assert outcome.status.code == "patience"
    assert outcome.state.at.value == min(record.value for record in outcome.trace)


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
        (lambda: VarianceReduced(batch_size=0), "batch_size"),
        (lambda: StochasticDescent(draw="lots"), "draw.*lots"),
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


# ------------------------------------------------------------------------------------- the named solvers converge

TEXTBOOK_TABLES = {
    "1-D": (np.arange(1.0, 9.0)[:, None], np.repeat([0, 1], 4)),
    "1-D, a far positive": (np.append(np.arange(1.0, 9.0), 30.0)[:, None], np.repeat([0, 1], [4, 5])),
    "2-D": (
        np.array([[i, i + 1.0] for i in range(5)] + [[i + 1.0, i] for i in range(5)] + [[20.0, -10.0], [21.0, -10.0]]),
        np.repeat([1, 0], [5, 7]),
    ),
    "XOR": (np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), np.repeat([0, 1], 2)),
}


def overlapping(n=60, K=2, seed=4):
    """Columns in units from a thousandth to a thousand, far from zero, and correlated."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 3)) @ np.array([[1.0, 0.9, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 1.0]])
    y = np.argmax(Z @ rng.standard_normal((3, K)) + rng.gumbel(size=(n, K)), axis=1)
    return Z * [1e-3, 1.0, 1e3] + [1.0, 5.0, -2e3], y


@pytest.mark.parametrize("name", ["sgd"])
@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("table", [*TEXTBOOK_TABLES, "overlapping", "three classes"])
def test_the_named_stochastic_solvers_reach_the_tolerance_that_they_state(table, C, name):
    X, y = TEXTBOOK_TABLES[table] if table in TEXTBOOK_TABLES else overlapping(K=2 + (table == "three classes"))
    found = LogisticRegression(C, solver=name).fit(X, y).certificate_
    best = LogisticRegression(C).fit(X, y).certificate_
    assert found.code == "optimal"
    assert found.objective - best.objective <= 1e-8 * found.null_objective
    assert found.verify(X, y)


@pytest.mark.parametrize("name", ["sgd"])
def test_the_named_stochastic_solvers_walk_over_few_rows_of_many(name):
    """A walk is of 8/η steps, whatever the number of rows; each iteration is one pass, and few are needed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 2))
    y = rng.random(5000) < 1 / (1 + np.exp(-X[:, 0]))
    model = LogisticRegression(solver=name).fit(X, y)
    assert model.certificate_.met
    assert model.certificate_.passes <= 40


def test_variance_reduced_steps_are_the_full_gradient_on_average(objective):
    """From W̃ the first step is −η P ∇E(W̃), whichever row is drawn."""
    one, other = (
        VarianceReduced(seed=seed)._walked(objective, *_short_walk(objective, VarianceReduced(seed=seed)))
        for seed in (1, 2)
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)


def _short_walk(objective, solver):
    """The first state, its metric, and the length of a walk of one step."""
    state = solver.init(objective, np.zeros(objective.shape))
    return state, state.memory.metric._replace(eta=8.0), state.memory.length
